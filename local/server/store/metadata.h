// SPDX-License-Identifier: Apache-2.0
/* Checks of metadata that every kind shares. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Adds causes for bad labels, annotations, ownerReferences and finalizers. */
void store_metadata_check(const cJSON *object, cJSON *causes);
