// SPDX-License-Identifier: Apache-2.0
/* What runs: found by its id, and whether nothing does any more. */
#include "local/daemon/service_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"

struct daemon_process *daemon_service_find(
	struct daemon_service *service, struct daemon_h2_call *call, int32_t id)
{
	struct daemon_process *process;
	DL_FOREACH(service->processes, process) {
		if (process->id == id)
			return process;
	}
	daemon_h2_call_finish(call, RPC_NOT_FOUND, "process %d not found", id);
	return NULL;
}

bool daemon_service_is_idle(const struct daemon_service *service)
{
	return service->processes == NULL && service->executions == NULL;
}

void daemon_service_on_idle(struct daemon_service *service, void (*fn)(void *arg), void *arg)
{
	service->on_idle = fn;
	service->on_idle_arg = arg;
}

void daemon_service_check_idle(struct daemon_service *service)
{
	if (service->on_idle != NULL && daemon_service_is_idle(service))
		net_loop_defer(service->loop, service->on_idle, service->on_idle_arg);
}
