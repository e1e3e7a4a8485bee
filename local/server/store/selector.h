// SPDX-License-Identifier: Apache-2.0
/* Selectors on stored objects (engine/k8s/selector.h): labels, and the fields that each resource supports. */
#pragma once

#include "engine/k8s/selector.h"
#include "local/server/store/resource.h"

/* NULL and *ok = true for an empty text. On failure *ok = false and ERR_KUBE_BAD_REQUEST. */
struct k8s_selector *store_selector_parse_labels(const char *text, bool *ok, struct err *err);
/* A field that the resource does not support is an error, as on a real server. */
struct k8s_selector *store_selector_parse_fields(
	const char *text, const struct store_resource *r, bool *ok, struct err *err);
bool store_selector_matches_labels(const struct k8s_selector *selector, const cJSON *object);
bool store_selector_matches_fields(const struct k8s_selector *selector, const cJSON *object);
/* The value that metadata.name must have, or NULL if it is free. */
const char *store_selector_name(const struct k8s_selector *fields);
