// SPDX-License-Identifier: Apache-2.0
#include "cli/jsonpath.h"
#include "cli/jsonpath_tree.h"

#include "engine/base/mem.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

enum { RESULTS_MAX = 1 << 20 };

struct results {
	const cJSON **items;
	size_t n, capacity;
};

static void add(struct results *to, const cJSON *value)
{
	if (value == NULL || to->n >= RESULTS_MAX)
		return;
	array_grow(&to->items, &to->capacity, to->n + 1, sizeof *to->items);
	to->items[to->n++] = value;
}

/* Steps on from one value to all that they lead to. */
static void walk(const struct cli_jsonpath_step *step, const cJSON *root, const cJSON *value,
	struct results *out);

static bool has_children(const cJSON *value)
{
	return cJSON_IsArray(value) || cJSON_IsObject(value);
}

static const cJSON *operand_value(
	const struct cli_jsonpath_operand *operand, const cJSON *root, const cJSON *value)
{
	struct results found = { 0 };
	if (operand->literal != NULL)
		return operand->literal;
	walk(operand->steps, root, operand->is_from_root ? root : value, &found);
	const cJSON *first = found.n > 0 ? found.items[0] : NULL;
	free(found.items);
	return first;
}

/* Below, equal, above: -1, 0, 1; 2: these two cannot be compared. */
static int compare(const cJSON *a, const cJSON *b)
{
	if (cJSON_IsNumber(a) && cJSON_IsNumber(b))
		return (a->valuedouble > b->valuedouble) - (a->valuedouble < b->valuedouble);
	if (cJSON_IsString(a) && cJSON_IsString(b)) {
		int order = strcmp(a->valuestring, b->valuestring);
		return (order > 0) - (order < 0);
	}
	return cJSON_Compare(a, b, true) ? 0 : 2;
}

static bool passes(const struct cli_jsonpath_step *step, const cJSON *root, const cJSON *value)
{
	const cJSON *left = operand_value(&step->left, root, value);
	if (step->op == JSONPATH_EXISTS || left == NULL)
		return left != NULL;
	const cJSON *right = operand_value(&step->right, root, value);
	int order = right ? compare(left, right) : 2;
	switch (step->op) {
	case JSONPATH_EQ:
		return order == 0;
	case JSONPATH_NE:
		return order != 0;
	case JSONPATH_LT:
		return order == -1;
	case JSONPATH_LE:
		return order == -1 || order == 0;
	case JSONPATH_GT:
		return order == 1;
	case JSONPATH_GE:
		return order == 1 || order == 0;
	case JSONPATH_EXISTS:
		break;
	}
	return true;
}

static void walk_slice(const struct cli_jsonpath_step *step, const cJSON *root,
	const cJSON *value, struct results *out)
{
	if (!cJSON_IsArray(value))
		return;
	long n = cJSON_GetArraySize(value), at = 0;
	long from = step->has_from ? step->from : 0, to = step->has_to ? step->to : n;
	from += from < 0 ? n : 0;
	to += to < 0 ? n : 0;
	for (const cJSON *item = value->child; item != NULL; item = item->next, at++)
		if (at >= from && at < to && (at - from) % step->by == 0)
			walk(step->next, root, item, out);
}

static void walk_descend(const struct cli_jsonpath_step *step, const cJSON *root,
	const cJSON *value, struct results *out)
{
	walk(step->next, root, value, out);
	if (!has_children(value))
		return;
	for (const cJSON *item = value->child; item != NULL; item = item->next)
		walk_descend(step, root, item, out);
}

static void walk_union(const struct cli_jsonpath_step *step, const cJSON *root,
	const cJSON *value, struct results *out)
{
	for (const struct cli_jsonpath_step *part = step->parts; part; part = part->next_part) {
		struct results found = { 0 };
		walk(part, root, value, &found);
		for (size_t i = 0; i < found.n; i++)
			walk(step->next, root, found.items[i], out);
		free(found.items);
	}
}

static void walk(const struct cli_jsonpath_step *step, const cJSON *root, const cJSON *value,
	struct results *out)
{
	if (step == NULL) {
		add(out, value);
		return;
	}
	switch (step->kind) {
	case JSONPATH_FIELD: {
		const cJSON *member = cJSON_IsObject(value) ? cJSON_GetObjectItemCaseSensitive(
								      value, step->name)
							    : NULL;
		if (member != NULL)
			walk(step->next, root, member, out);
		break;
	}
	case JSONPATH_ALL:
	case JSONPATH_FILTER:
		if (!has_children(value))
			break;
		for (const cJSON *item = value->child; item != NULL; item = item->next)
			if (step->kind == JSONPATH_ALL || passes(step, root, item))
				walk(step->next, root, item, out);
		break;
	case JSONPATH_DESCEND:
		walk_descend(step, root, value, out);
		break;
	case JSONPATH_SLICE:
		walk_slice(step, root, value, out);
		break;
	case JSONPATH_UNION:
		walk_union(step, root, value, out);
		break;
	}
}

static void format_value(const cJSON *value, struct str *out)
{
	if (cJSON_IsString(value)) {
		str_add(out, value->valuestring);
	} else if (!cJSON_IsNull(value)) {
		char *text = cJSON_PrintUnformatted(value);
		str_add(out, text ? text : "");
		free(text);
	}
}

static void format_nodes(const struct cli_jsonpath_node *node, const cJSON *root,
	const cJSON *current, struct str *out)
{
	for (; node != NULL; node = node->next) {
		struct results found = { 0 };
		if (node->kind == JSONPATH_TEXT) {
			str_add(out, node->text);
			continue;
		}
		walk(node->steps, root, node->is_from_root ? root : current, &found);
		for (size_t i = 0; i < found.n; i++) {
			if (node->kind == JSONPATH_RANGE) {
				format_nodes(node->body, root, found.items[i], out);
				continue;
			}
			str_add(out, i > 0 ? " " : "");
			format_value(found.items[i], out);
		}
		free(found.items);
	}
}

void cli_jsonpath_format(const struct cli_jsonpath *path, const cJSON *root, struct str *out)
{
	format_nodes(path->nodes, root, root, out);
}

const cJSON *cli_jsonpath_first(const struct cli_jsonpath *path, const cJSON *root)
{
	struct results found = { 0 };
	walk(path->nodes->steps, root, root, &found);
	const cJSON *first = found.n > 0 ? found.items[0] : NULL;
	free(found.items);
	return first;
}
