// SPDX-License-Identifier: Apache-2.0
/* What a WebSocket that failed means for a port-forward: the API server's status, or a connection that broke.
 * Errors: ERR_PORTFWD_DENIED, ERR_PORTFWD_LOST, ERR_PORTFWD_NO_POD, ERR_PORTFWD_PROTOCOL. */
#pragma once

#include <stdbool.h>

struct err;

void kube_portforward_error(
	struct err *err, const char *pod, bool is_open, const struct err *from);
