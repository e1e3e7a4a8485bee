// SPDX-License-Identifier: Apache-2.0
/* Label selectors (the whole grammar of k8s.io/apimachinery/pkg/labels: =, ==, !=, in, notin, key, !key, >, <,
 * comma = and) and field selectors (=, ==, != on named fields). */
#pragma once

#include "local/server/store/resource.h"

struct err;
struct selector; /* NULL matches everything */

/* NULL and *ok = true for an empty text. On failure *ok = false and ERR_KUBE_BAD_REQUEST. */
struct selector *selector_parse_labels(const char *text, bool *ok, struct err *err);
/* A field that the resource does not support is an error, as on a real server. */
struct selector *selector_parse_fields(
	const char *text, const struct resource *r, bool *ok, struct err *err);
void selector_free(struct selector *sel);
bool selector_matches_labels(const struct selector *sel, const cJSON *object);
bool selector_matches_fields(const struct selector *sel, const cJSON *object);
/* The value that metadata.name must have, or NULL if it is free. */
const char *selector_name(const struct selector *fields);
