// SPDX-License-Identifier: Apache-2.0
/* Quantities (k8s.io/apimachinery resource.Quantity): "500m", "2", "256Mi", "1G". */
#pragma once

#include <stdint.h>

struct cJSON;

/* In thousandths of the unit, so that "m" is whole. 0 if it is none, not positive, or above 1e15. */
uint64_t k8s_quantity_milli(const char *text);
/* Of a string or a number in JSON. */
uint64_t k8s_quantity_milli_of(const struct cJSON *value);
