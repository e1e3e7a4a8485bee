// SPDX-License-Identifier: Apache-2.0
/* The Status object of the Kubernetes API (meta/v1): every failure of this server is one. Functions of
 * store/ and api/ that can fail return NULL for success or a Status that the caller owns. */
#pragma once

#include "local/server/store/resource.h"

#include <stdarg.h>

cJSON *store_status_new(int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* With details.name, group and kind (the plural, as the API server does). r may be NULL. */
cJSON *store_status_about(cJSON *status_take, const struct store_resource *r, const char *name);
cJSON *store_status_not_found(const struct store_resource *r, const char *name);
cJSON *store_status_exists(
	const struct store_resource *r, const char *name, bool being_deleted);
cJSON *store_status_conflict(const struct store_resource *r, const char *name, const char *why);
cJSON *store_status_bad_request(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* 422 from a list of causes {reason, message, field} (taken). */
cJSON *store_status_invalid(
	const struct store_resource *r, const char *name, cJSON *causes_take);
void store_status_add_cause(cJSON *causes, const char *reason, const char *field,
	const char *format, ...) __attribute__((format(printf, 4, 5)));
int store_status_code(const cJSON *status);
