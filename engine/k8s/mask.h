// SPDX-License-Identifier: Apache-2.0
/* What of an object is not for everybody's eyes on a screen: the values of a Secret (core/v1 Secret data, stringData), of
 * environment variables whose names look like credentials, and of annotations that look like tokens. Names are judged as
 * sandboxd v0.5.6 judges the variables of its metadata: TOKEN, SECRET, PASSWORD, PASSWD, CRED, KEY, AUTH, BEARER, PRIVATE or
 * CERT in any case, anywhere. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cJSON;

#define K8S_MASK "********"

/* Puts K8S_MASK in their places. Returns how many. */
size_t k8s_mask(struct cJSON *object);
bool k8s_looks_like_credential(const char *name);
