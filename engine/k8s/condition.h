// SPDX-License-Identifier: Apache-2.0
/* Conditions of an object (meta/v1 Condition): a list in its status with one entry a type. Of two entries of a type the
 * first counts, as in meta.FindStatusCondition of apimachinery. */
#pragma once

#include <stdbool.h>

struct cJSON;

/* The entry of a status, or NULL. Borrowed from status. */
struct cJSON *k8s_condition_in(const struct cJSON *status, const char *type);
/* The entry of an object's status, or NULL. */
const struct cJSON *k8s_condition_find(const struct cJSON *object, const char *type);
/* Is that a good thing to say? Most types are fine when True, some when False (Suspended, Finished, DisruptionTarget, those
 * of a node under pressure). */
bool k8s_condition_is_fine(const char *type, const char *status);
bool k8s_condition_is_true(const struct cJSON *object, const char *type);
