// SPDX-License-Identifier: Apache-2.0
/* The labels of an object as one text, "key=value,key=value": what rows keep of them, filters ask and tables show. Neither
 * keys nor values may hold '=' or ',' (meta/v1 ObjectMeta.labels); an entry that does, or is no text, is left out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cJSON;
struct str;

enum { K8S_LABELS_BYTES_MAX = 4096 }; /* what does not fit is left out, whole */

void k8s_labels_format(const struct cJSON *object, struct str *out);
/* The value of that key in such a text: *n bytes at the result, which is borrowed from it; NULL: there is none. */
const char *k8s_labels_find(const char *labels, const char *key, size_t *n);
