// SPDX-License-Identifier: Apache-2.0
/* What a WebSocket that failed means for a port-forward: the API server's status, or a connection that broke. */
#pragma once

#include <stdbool.h>

struct err;

void kube_portforward_error(
	struct err *err, const char *pod, bool is_open, const struct err *from);
