// SPDX-License-Identifier: Apache-2.0
/* pods/exec as API server and kubelet answer it together: WebSocket channels (v5, v4) and SPDY (v4). The command runs as a job of
 * the sandbox. */
#pragma once

struct api_request;
struct store_object;

void api_exec(struct api_request *req, const struct store_object *pod);
