// SPDX-License-Identifier: Apache-2.0
/* The inside of a selector, for the two parsers that fill one (not for use outside of this folder).
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include "engine/k8s/selector.h"

enum {
	K8S_SELECTOR_MAX_BYTES = 16 << 10,
	K8S_SELECTOR_MAX_REQUIREMENTS = 256,
	K8S_REQUIREMENT_MAX_VALUES = 1024,
};

enum k8s_operator {
	K8S_OP_EXISTS,
	K8S_OP_MISSING,
	K8S_OP_IN,
	K8S_OP_NOT_IN,
	K8S_OP_GREATER,
	K8S_OP_LESS,
};

struct k8s_requirement {
	enum k8s_operator op;
	char *key;
	char **values;
	size_t n_values, values_capacity;
};

/* NULL if the text is longer than any selector may be (err: ERR_ARG_INVALID). */
struct k8s_selector *k8s_selector_new(const char *text, struct err *err);
bool k8s_selector_is_empty(const struct k8s_selector *selector);
/* An empty requirement at the end, or NULL when there are too many. Borrowed until the next one is added. */
struct k8s_requirement *k8s_selector_add(struct k8s_selector *selector);
/* False when there are too many. value is taken in both cases. */
bool k8s_requirement_add_value(struct k8s_requirement *requirement, char *value_take);
