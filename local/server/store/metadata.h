// SPDX-License-Identifier: Apache-2.0
/* Checks of metadata that every kind shares. Used by objects.c and by the claim controller. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

bool metadata_is_label_value(const char *value);
bool metadata_is_label_key(const char *key);
/* Adds causes for bad labels, annotations, ownerReferences and finalizers. */
void metadata_check(const cJSON *object, cJSON *causes);
