// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/selector.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/requirement.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct k8s_selector {
	struct k8s_requirement *requirements;
	size_t n, capacity;
};

struct k8s_selector *k8s_selector_new(const char *text, struct err *err)
{
	if (strlen(text) > K8S_SELECTOR_MAX_BYTES) {
		err_set(err, ERR_ARG_INVALID, "the selector is longer than %d bytes",
			K8S_SELECTOR_MAX_BYTES);
		return NULL;
	}
	return x_calloc(1, sizeof(struct k8s_selector));
}

bool k8s_selector_is_empty(const struct k8s_selector *selector)
{
	return selector->n == 0;
}

struct k8s_requirement *k8s_selector_add(struct k8s_selector *selector)
{
	if (selector->n == K8S_SELECTOR_MAX_REQUIREMENTS)
		return NULL;
	array_grow(&selector->requirements, &selector->capacity, selector->n + 1,
		sizeof *selector->requirements);
	struct k8s_requirement *requirement = &selector->requirements[selector->n++];
	memset(requirement, 0, sizeof *requirement);
	return requirement;
}

bool k8s_requirement_add_value(struct k8s_requirement *requirement, char *value_take)
{
	if (requirement->n_values == K8S_REQUIREMENT_MAX_VALUES) {
		free(value_take);
		return false;
	}
	array_grow(&requirement->values, &requirement->values_capacity,
		requirement->n_values + 1, sizeof *requirement->values);
	requirement->values[requirement->n_values++] = value_take;
	return true;
}

void k8s_selector_free(struct k8s_selector *selector)
{
	if (selector == NULL)
		return;
	for (size_t i = 0; i < selector->n; i++) {
		struct k8s_requirement *requirement = &selector->requirements[i];
		for (size_t j = 0; j < requirement->n_values; j++)
			free(requirement->values[j]);
		free(requirement->values);
		free(requirement->key);
	}
	free(selector->requirements);
	free(selector);
}

static bool has_value(const struct k8s_requirement *requirement, const char *value)
{
	for (size_t i = 0; i < requirement->n_values; i++) {
		if (strcmp(requirement->values[i], value) == 0)
			return true;
	}
	return false;
}

static bool requirement_matches(const struct k8s_requirement *requirement, const char *value)
{
	int64_t is, than;
	switch (requirement->op) {
	case K8S_OP_EXISTS:
		return value != NULL;
	case K8S_OP_MISSING:
		return value == NULL;
	case K8S_OP_IN:
		return value != NULL && has_value(requirement, value);
	case K8S_OP_NOT_IN:
		return value == NULL || !has_value(requirement, value);
	case K8S_OP_GREATER:
	case K8S_OP_LESS:
		if (value == NULL || !num_parse_i64(value, INT64_MIN, INT64_MAX, &is) ||
			!num_parse_i64(requirement->values[0], INT64_MIN, INT64_MAX, &than))
			return false;
		return requirement->op == K8S_OP_GREATER ? is > than : is < than;
	}
	return false;
}

bool k8s_selector_matches(
	const struct k8s_selector *selector, k8s_value_fn *get, const void *arg)
{
	for (size_t i = 0; selector != NULL && i < selector->n; i++) {
		const struct k8s_requirement *requirement = &selector->requirements[i];
		if (!requirement_matches(requirement, get(arg, requirement->key)))
			return false;
	}
	return true;
}

const char *k8s_selector_value(const struct k8s_selector *selector, const char *key)
{
	for (size_t i = 0; selector != NULL && i < selector->n; i++) {
		const struct k8s_requirement *requirement = &selector->requirements[i];
		if (requirement->op == K8S_OP_IN && requirement->n_values == 1 &&
			strcmp(requirement->key, key) == 0)
			return requirement->values[0];
	}
	return NULL;
}
