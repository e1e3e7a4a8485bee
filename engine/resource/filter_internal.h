// SPDX-License-Identifier: Apache-2.0
/* What filter_parse.c makes and filter.c asks. */
#pragma once

#include "engine/resource/filter.h"

#include <regex.h>

enum { RESOURCE_ANY_COLUMN = -1 };

enum resource_term_form { TERM_TEXT, TERM_REGEX, TERM_SELECTOR, TERM_COMPARISON, TERM_EQUAL };
enum resource_comparison { TERM_LESS, TERM_LESS_EQUAL, TERM_SAME, TERM_MORE_EQUAL, TERM_MORE };

struct resource_term {
	enum resource_term_form form;
	bool is_not;
	bool is_amount; /* of TERM_COMPARISON: with the column's amount */
	int column;     /* of the kind, or RESOURCE_ANY_COLUMN */
	int group;
	char *text; /* lower case; of the others as it was typed */
	enum resource_comparison comparison;
	int64_t number; /* in the unit of the column; a span for its times */
	bool has_regex;
	regex_t regex;
	struct k8s_selector *selector;
};

struct resource_filter {
	const struct resource_kind *kind;
	int n_groups;
	size_t n;
	struct resource_term terms[RESOURCE_FILTER_TERMS_MAX];
};
