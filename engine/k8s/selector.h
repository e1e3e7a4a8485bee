// SPDX-License-Identifier: Apache-2.0
/* Selectors: a list of requirements that all must hold. Label selectors (label_selector.c) and field selectors
 * (field_selector.c) are read from text of their own and matched alike; how a key finds its value is the caller's.
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
struct k8s_selector; /* NULL matches everything */

/* The grammar of k8s.io/apimachinery labels.Parse. Text without a requirement gives a selector that matches everything.
 * ERR_ARG_INVALID with the column. */
struct k8s_selector *k8s_label_selector_parse(const char *text, struct err *err);

/* Says whether a field may be selected by. */
typedef bool k8s_field_fn(const void *arg, const char *field);
/* "field=value", "==" or "!=", with commas between (k8s.io/apimachinery fields.ParseSelector); a backslash escapes ',',
 * '=' and itself. A field that is_supported refuses is an error, as on a real server. ERR_ARG_INVALID. */
struct k8s_selector *k8s_field_selector_parse(
	const char *text, k8s_field_fn *is_supported, const void *arg, struct err *err);

void k8s_selector_free(struct k8s_selector *selector);

/* The value of a label or field, or NULL if there is none; borrowed until the next call. */
typedef const char *k8s_value_fn(const void *arg, const char *key);
bool k8s_selector_matches(
	const struct k8s_selector *selector, k8s_value_fn *get, const void *arg);
/* The one value that key must have, or NULL if it is free. Borrowed from the selector. */
const char *k8s_selector_value(const struct k8s_selector *selector, const char *key);
