// SPDX-License-Identifier: Apache-2.0
/* What a failed call says beside the Status in its answer (engine/k8s/status.h): that there was none, and when to come again.
 * Errors: ERR_KUBE_PROTOCOL, ERR_KUBE_TLS, ERR_KUBE_TRANSPORT. */
#pragma once

#include <stdint.h>

struct cJSON;
struct err;
struct net_http_reply;

/* Errors of the transport as the API's: ERR_CONN_* to ERR_KUBE_TRANSPORT or ERR_KUBE_TLS, ERR_RUNTIME_PROTOCOL to
 * ERR_KUBE_PROTOCOL; others stay. */
void kube_transport_err(const struct err *from, const char *server, struct err *to);
/* Retry-After (seconds or a date) or details.retryAfterSeconds, in ms; -1 if neither. At most 5 min. */
int64_t kube_retry_after_ms(const struct net_http_reply *reply, const struct cJSON *object);
