// SPDX-License-Identifier: Apache-2.0
/* pods/portforward as API server and kubelet answer it together: WebSocket channels, SPDY, and SPDY in a WebSocket. Each
 * connection that the client opens is one TCP connection to a port of the pod's daemon. */
#pragma once

struct api_request;
struct store_object;

void api_portforward(struct api_request *req, const struct store_object *pod);
