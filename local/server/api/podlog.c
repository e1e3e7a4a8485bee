// SPDX-License-Identifier: Apache-2.0
/* The log subresource of pods. */
#include "local/server/api/api.h"

#include "local/server/store/status.h"

void api_pod_log(struct request *req, const struct api_target *t)
{
	request_fail_take(req, status_not_found(t->r, t->name));
}
