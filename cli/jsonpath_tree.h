// SPDX-License-Identifier: Apache-2.0
/* What jsonpath_parse.c makes of a template and jsonpath.c walks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum cli_jsonpath_step_kind {
	JSONPATH_FIELD,   /* name */
	JSONPATH_ALL,     /* every element or member */
	JSONPATH_DESCEND, /* itself and everything below */
	JSONPATH_SLICE,   /* from, to, by */
	JSONPATH_UNION,   /* the results of each of its parts, a step list each */
	JSONPATH_FILTER,  /* elements for which left op right */
};

enum cli_jsonpath_op {
	JSONPATH_EXISTS,
	JSONPATH_EQ,
	JSONPATH_NE,
	JSONPATH_LT,
	JSONPATH_LE,
	JSONPATH_GT,
	JSONPATH_GE,
};

/* One side of a comparison: a path, or a literal. */
struct cli_jsonpath_operand {
	struct cli_jsonpath_step *steps;
	struct cJSON *literal; /* NULL: steps */
	bool is_from_root;
};

struct cli_jsonpath_step {
	enum cli_jsonpath_step_kind kind;
	char *name;
	long from, to, by;
	bool has_from, has_to;
	struct cli_jsonpath_operand left, right;
	enum cli_jsonpath_op op;
	struct cli_jsonpath_step *parts; /* of a union: linked by next_part */
	struct cli_jsonpath_step *next_part;
	struct cli_jsonpath_step *next;
};

enum cli_jsonpath_node_kind { JSONPATH_TEXT, JSONPATH_PATH, JSONPATH_RANGE };

struct cli_jsonpath_node {
	enum cli_jsonpath_node_kind kind;
	char *text;
	bool is_from_root;
	struct cli_jsonpath_step *steps;
	struct cli_jsonpath_node *body; /* of a range */
	struct cli_jsonpath_node *next;
};

struct cli_jsonpath {
	struct cli_jsonpath_node *nodes;
};
