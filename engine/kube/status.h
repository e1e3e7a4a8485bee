// SPDX-License-Identifier: Apache-2.0
/* A failed answer of the API server to one of our codes (Kubernetes meta/v1 Status). */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct cJSON;
struct err;
struct net_http_reply;

/* http_status: of the answer, or the code of a Status that came as a watch event. object: the decoded body,
 * NULL if it was not JSON; text is the raw body (its beginning is shown when there is no object).
 * Always writes *err (a kube.* code, err.sys = the status) and returns false. */
bool kube_status_to_err(
	int http_status, const struct cJSON *object, struct slice text, struct err *err);
/* Errors of the transport as the API's: conn.* to kube.transport or kube.tls, runtime.protocol to
 * kube.protocol; others stay. */
void kube_transport_err(const struct err *from, const char *server, struct err *to);
/* Retry-After (seconds or a date) or details.retryAfterSeconds, in ms; -1 if neither. At most 5 min. */
int64_t kube_retry_after_ms(const struct net_http_reply *reply, const struct cJSON *object);
