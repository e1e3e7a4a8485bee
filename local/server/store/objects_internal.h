// SPDX-License-Identifier: Apache-2.0
/* What objects.c and store_objects_delete.c share. */
#pragma once

#include "local/server/store/objects.h"

struct err;

void store_objects_set_string(
	cJSON *object, const char *key, const char *value); /* NULL drops */
void store_objects_bump_generation(
	const struct store_resource *r, const cJSON *old, cJSON *body);
cJSON *store_objects_system_status(const struct err *err); /* a failure of the store */
