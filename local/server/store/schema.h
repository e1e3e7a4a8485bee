// SPDX-License-Identifier: Apache-2.0
/* Structural schemas (schemas.json), used three times: to check and prune what clients send, to fill
 * defaults, and as the OpenAPI documents. The dialect is that of CustomResourceDefinition schemas: type,
 * properties, required, enum, minimum, maximum, minLength, minItems, additionalProperties, format date-time
 * and micro-time, default, x-kubernetes-int-or-string, x-kubernetes-preserve-unknown-fields, $ref. */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

extern const unsigned char store_schema_json[];
extern const unsigned long store_schema_json_bytes;

/* The whole set {name: schema}, parsed once; aborts if the program's own text is broken. */
const cJSON *store_schema_all(void);
const cJSON *store_schema_find(const char *name);       /* NULL if there is none */
const cJSON *store_schema_resolve(const cJSON *schema); /* follows $ref */

struct store_schema_check {
	cJSON *unknown; /* array of paths that the schema does not know (removed from the object) */
	cJSON *causes; /* array of {reason, message, field} */
};
/* Removes nulls and unknown fields from object, fills defaults, and reports. Free with store_schema_check_deinit. */
void store_schema_check(struct store_schema_check *out, const char *name, cJSON *object);
void store_schema_check_deinit(struct store_schema_check *out);
