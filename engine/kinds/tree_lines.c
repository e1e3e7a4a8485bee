// SPDX-License-Identifier: Apache-2.0
// A tree as lines. What several refer to stands once: where it is owned, else where it comes first.
#include "engine/kinds/tree_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT_BYTES = 8 * (KINDS_TREE_DEPTH_MAX * 2 + 2), LABEL_BYTES = 32 };

struct kinds_tree_walk {
	const struct kinds_tree *tree;
	void (*fn)(void *arg, const struct kinds_tree_line *line);
	void *arg;
};

static bool is_same(const struct kinds_tree_node *a, const struct kinds_tree_node *b)
{
	return strcmp(a->api_kind, b->api_kind) == 0 && strcmp(a->name, b->name) == 0 &&
	       strcmp(a->namespace_, b->namespace_) == 0;
}

/* The first that is the same object, among those that are owned or those that are referred to. */
static const struct kinds_tree_node *find(const struct kinds_tree_node *at,
	const struct kinds_tree_node *wanted, bool is_reference)
{
	const struct kinds_tree_node *child, *found;
	if (at->is_reference == is_reference && is_same(at, wanted))
		return at;
	DL_FOREACH(at->children, child) {
		found = find(child, wanted, is_reference);
		if (found)
			return found;
	}
	return NULL;
}

static bool is_shown(const struct kinds_tree_walk *walk, const struct kinds_tree_node *node)
{
	if (!node->is_reference)
		return true;
	return !find(walk->tree->root, node, false) &&
	       find(walk->tree->root, node, true) == node;
}

static int depth_of(const struct kinds_tree_node *node)
{
	int depth = 0;
	while ((node = node->parent) != NULL)
		depth++;
	return depth;
}

static void tell(
	struct kinds_tree_walk *walk, const struct kinds_tree_node *node, const char *prefix)
{
	const struct kinds_tree_line line = {
		.prefix = prefix,
		.depth = depth_of(node),
		.kind = node->kind,
		.api_kind = node->api_kind,
		.namespace_ = node->namespace_,
		.name = node->name,
		.uid = node->uid ? node->uid : "",
		.row = node->row,
		.problem = node->problem,
		.is_asked = node == walk->tree->asked,
		.is_reference = node->is_reference,
	};
	walk->fn(walk->arg, &line);
}

static void tell_more(
	struct kinds_tree_walk *walk, const struct kinds_tree_node *node, const char *indent)
{
	char prefix[INDENT_BYTES];
	snprintf(prefix, sizeof prefix, "%s└─ ", indent);
	const struct kinds_tree_line line = { .prefix = prefix,
		.depth = depth_of(node) + 1,
		.api_kind = "",
		.namespace_ = "",
		.name = "",
		.uid = "",
		.n_more = node->n_more };
	walk->fn(walk->arg, &line);
}

static void walk_children(
	struct kinds_tree_walk *walk, const struct kinds_tree_node *node, const char *indent)
{
	const struct kinds_tree_node *child, *last = NULL;
	char prefix[INDENT_BYTES], below[INDENT_BYTES];
	DL_FOREACH(node->children, child)
		if (is_shown(walk, child))
			last = child;
	DL_FOREACH(node->children, child) {
		bool is_last = child == last && !node->n_more;
		if (!is_shown(walk, child))
			continue;
		snprintf(prefix, sizeof prefix, "%s%s%s ", indent, is_last ? "└" : "├",
			child->is_reference ? "→" : "─");
		snprintf(below, sizeof below, "%s%s", indent, is_last ? "   " : "│  ");
		tell(walk, child, prefix);
		walk_children(walk, child, below);
	}
	if (node->n_more)
		tell_more(walk, node, indent);
}

void kinds_tree_each(const struct kinds_tree *tree,
	void (*fn)(void *arg, const struct kinds_tree_line *line), void *arg)
{
	struct kinds_tree_walk walk = { tree, fn, arg };
	if (tree->err.code != ERR_NONE)
		return;
	tell(&walk, tree->root, "");
	walk_children(&walk, tree->root, "");
}

/* ---- in brief */

static void add_cell(const struct resource_column *column, const void *row, struct str *out)
{
	char cell[RESOURCE_CELL_BYTES], label[LABEL_BYTES];
	const char *text = resource_text(column, row, clock_wall_ms(), cell);
	if (!*text)
		return;
	if (column->format == RESOURCE_TEXT) {
		str_addf(out, "%s%s", out->n ? "  " : "", text);
		return;
	}
	snprintf(label, sizeof label, "%s", column->title);
	for (char *c = label; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	str_addf(out, "%s%s %s", out->n ? "  " : "", label, text);
}

enum resource_tone kinds_tree_brief(const struct kinds_tree_line *line, struct str *out)
{
	enum resource_tone tone = RESOURCE_PLAIN;
	int i;
	if (line->problem) {
		str_add(out, line->problem);
		return RESOURCE_BAD;
	}
	if (!line->row || !line->kind->brief)
		return RESOURCE_DIM;
	RESOURCE_EACH(i, line->kind->brief) {
		const struct resource_column *column = &line->kind->columns[i];
		add_cell(column, line->row, out);
		if (tone == RESOURCE_PLAIN)
			tone = resource_tone(column, line->row);
	}
	return tone;
}
