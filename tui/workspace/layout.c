// SPDX-License-Identifier: Apache-2.0
// The tree of panes. A split keeps a share in thousandths, so a resize of the terminal keeps proportions.
#include "tui/workspace/layout.h"

#include "engine/base/mem.h"

#include <stdlib.h>

enum { SHARE_WHOLE = 1000 };

struct workspace_layout {
	struct workspace_layout *parent, *first, *second; /* children of a split */
	bool is_columns;                                  /* side by side */
	int share;                                        /* of the first child */
	void *data;
	struct workspace_rect rect;
};

struct workspace_layout *workspace_layout_new(void *data)
{
	struct workspace_layout *leaf = x_calloc(1, sizeof *leaf);
	leaf->data = data;
	return leaf;
}

void workspace_layout_free(struct workspace_layout *root)
{
	if (!root)
		return;
	workspace_layout_free(root->first);
	workspace_layout_free(root->second);
	free(root);
}

bool workspace_layout_is_leaf(const struct workspace_layout *node)
{
	return !node->first;
}

void *workspace_layout_data(const struct workspace_layout *leaf)
{
	return leaf->data;
}

void workspace_layout_set_data(struct workspace_layout *leaf, void *data)
{
	leaf->data = data;
}

struct workspace_rect workspace_layout_rect(const struct workspace_layout *node)
{
	return node->rect;
}

static void replace(struct workspace_layout **root, struct workspace_layout *old,
	struct workspace_layout *new)
{
	new->parent = old->parent;
	if (!old->parent)
		*root = new;
	else if (old->parent->first == old)
		old->parent->first = new;
	else
		old->parent->second = new;
}

struct workspace_layout *workspace_layout_split(struct workspace_layout **root,
	struct workspace_layout *leaf, enum workspace_layout_way way, void *data)
{
	struct workspace_layout *split = x_calloc(1, sizeof *split);
	replace(root, leaf, split);
	split->is_columns = way == LAYOUT_RIGHT || way == LAYOUT_LEFT;
	split->share = SHARE_WHOLE / 2;
	split->first = leaf;
	split->second = workspace_layout_new(data);
	leaf->parent = split->second->parent = split;
	return split->second;
}

static struct workspace_layout *first_leaf(struct workspace_layout *node)
{
	while (node->first)
		node = node->first;
	return node;
}

static struct workspace_layout *last_leaf(struct workspace_layout *node)
{
	while (node->first)
		node = node->second;
	return node;
}

struct workspace_layout *workspace_layout_remove(
	struct workspace_layout **root, struct workspace_layout *leaf)
{
	struct workspace_layout *split = leaf->parent;
	if (!split) {
		*root = NULL;
		free(leaf);
		return NULL;
	}
	struct workspace_layout *rest = split->first == leaf ? split->second : split->first;
	replace(root, split, rest);
	free(leaf);
	free(split);
	return first_leaf(rest);
}

static int first_size(const struct workspace_layout *split, int whole, int least)
{
	int size = whole * split->share / SHARE_WHOLE;
	if (size > whole - least)
		size = whole - least;
	return size < least ? least : size;
}

void workspace_layout_place(struct workspace_layout *node, struct workspace_rect rect)
{
	node->rect = rect;
	if (!node->first)
		return;
	struct workspace_rect a = rect, b = rect;
	if (node->is_columns) {
		a.cols = first_size(node, rect.cols - 1, LAYOUT_COLS_MIN);
		b.col = rect.col + a.cols + 1;
		b.cols = rect.cols - a.cols - 1;
	} else {
		a.rows = first_size(node, rect.rows, LAYOUT_ROWS_MIN);
		b.row = rect.row + a.rows;
		b.rows = rect.rows - a.rows;
	}
	if (b.cols < 0)
		b.cols = 0;
	if (b.rows < 0)
		b.rows = 0;
	workspace_layout_place(node->first, a);
	workspace_layout_place(node->second, b);
}

static bool inside(struct workspace_rect rect, int col, int row)
{
	return col >= rect.col && row >= rect.row && col < rect.col + rect.cols &&
	       row < rect.row + rect.rows;
}

struct workspace_layout *workspace_layout_at(
	struct workspace_layout *node, int col, int row, bool *is_border)
{
	*is_border = false;
	if (!inside(node->rect, col, row))
		return NULL;
	while (node->first) {
		struct workspace_rect second = node->second->rect;
		bool on_border = node->is_columns ? col == second.col - 1
						  : row == second.row && second.rows > 0;
		if (on_border) {
			*is_border = true;
			return node;
		}
		node = inside(node->first->rect, col, row) ? node->first : node->second;
		if (!inside(node->rect, col, row))
			return NULL;
	}
	return node;
}

void workspace_layout_drag(struct workspace_layout *split, int col, int row)
{
	int whole = split->is_columns ? split->rect.cols - 1 : split->rect.rows;
	int size = split->is_columns ? col - split->rect.col : row - split->rect.row;
	int least = split->is_columns ? LAYOUT_COLS_MIN : LAYOUT_ROWS_MIN;
	if (whole <= 2 * least)
		return;
	if (size < least)
		size = least;
	if (size > whole - least)
		size = whole - least;
	/* rounded up, so that placing gives this very size again */
	split->share = (size * SHARE_WHOLE + whole - 1) / whole;
}

bool workspace_layout_grow(struct workspace_layout *root, struct workspace_layout *leaf,
	enum workspace_layout_way way, int by)
{
	bool is_columns = way == LAYOUT_LEFT || way == LAYOUT_RIGHT;
	(void)root;
	struct workspace_layout *split = leaf->parent;
	while (split && split->is_columns != is_columns)
		split = split->parent;
	if (!split)
		return false;
	struct workspace_rect second = split->second->rect;
	int sign = way == LAYOUT_RIGHT || way == LAYOUT_DOWN ? by : -by;
	if (is_columns)
		workspace_layout_drag(split, second.col - 1 + sign, second.row);
	else
		workspace_layout_drag(split, second.col, second.row + sign);
	return true;
}

struct workspace_layout *workspace_layout_next(
	struct workspace_layout *root, struct workspace_layout *leaf, bool forward)
{
	struct workspace_layout *node = leaf;
	while (node->parent) {
		struct workspace_layout *other =
			forward ? node->parent->second : node->parent->first;
		if (other != node)
			return forward ? first_leaf(other) : last_leaf(other);
		node = node->parent;
	}
	return forward ? first_leaf(root) : last_leaf(root);
}

struct workspace_layout *workspace_layout_toward(struct workspace_layout *root,
	struct workspace_layout *leaf, enum workspace_layout_way way)
{
	struct workspace_rect r = leaf->rect;
	int col = r.col + r.cols / 2, row = r.row + r.rows / 2;
	switch (way) {
	case LAYOUT_LEFT:
		col = r.col - 2;
		break;
	case LAYOUT_RIGHT:
		col = r.col + r.cols + 1;
		break;
	case LAYOUT_UP:
		row = r.row - 1;
		break;
	case LAYOUT_DOWN:
		row = r.row + r.rows + 1;
		break;
	}
	bool is_border;
	struct workspace_layout *there = workspace_layout_at(root, col, row, &is_border);
	return there && !is_border ? there : NULL;
}

void workspace_layout_each(struct workspace_layout *node,
	void (*fn)(void *arg, struct workspace_layout *leaf), void *arg)
{
	if (!node->first) {
		fn(arg, node);
		return;
	}
	workspace_layout_each(node->first, fn, arg);
	workspace_layout_each(node->second, fn, arg);
}

void workspace_layout_lines(struct workspace_layout *node,
	void (*fn)(void *arg, int col, int row, int rows), void *arg)
{
	if (!node->first)
		return;
	if (node->is_columns)
		fn(arg, node->second->rect.col - 1, node->rect.row, node->rect.rows);
	workspace_layout_lines(node->first, fn, arg);
	workspace_layout_lines(node->second, fn, arg);
}
