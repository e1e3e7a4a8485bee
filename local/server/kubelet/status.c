// SPDX-License-Identifier: Apache-2.0
/* The status of a pod, made from its run. */
#include "local/server/kubelet/run.h"

#include "engine/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_pod_condition(
	cJSON *status, const char *type, bool value, const char *reason, const char *message)
{
	controller_condition_set(status, type, value ? "True" : "False", reason, message, 0);
}

static cJSON *current_state(const struct kubelet_run *r)
{
	cJSON *state = cJSON_CreateObject(), *detail;
	switch (r->state) {
	case RUN_STARTING:
	case RUN_READY:
	case RUN_UNREADY:
		controller_unstructured_set(
			cJSON_AddObjectToObject(state, "running"), "startedAt", r->started_at);
		break;
	case RUN_WAITING:
		detail = cJSON_AddObjectToObject(state, "waiting");
		controller_unstructured_set(detail, "reason", r->waiting);
		controller_unstructured_set(detail, "message", r->message);
		break;
	case RUN_ENDED:
		cJSON_Delete(state);
		return cJSON_Duplicate(r->last_state, true);
	}
	return state;
}

static cJSON *container_status(const struct kubelet_run *r, const struct store_object *pod)
{
	const cJSON *containers = json_get(pod->json, "spec", "containers", NULL);
	const cJSON *container = containers ? containers->child : NULL;
	const char *name = json_str(container, "name", NULL);
	const char *image = json_str(container, "image", NULL);
	cJSON *c = cJSON_CreateObject();
	struct {
		char text[96];
	} id;
	controller_unstructured_set(c, "name", name ? name : "sandbox");
	controller_unstructured_set_item(c, "state", current_state(r));
	controller_unstructured_set_item(c, "lastState",
		r->last_state && r->state != RUN_ENDED ? cJSON_Duplicate(r->last_state, true)
						       : cJSON_CreateObject());
	controller_unstructured_set_item(c, "ready", cJSON_CreateBool(r->state == RUN_READY));
	controller_unstructured_set_item(c, "started", cJSON_CreateBool(r->daemon != NULL));
	controller_unstructured_set_number(c, "restartCount", r->restarts);
	controller_unstructured_set(c, "image", image ? image : "sandmux.local/sandboxd");
	controller_unstructured_set(c, "imageID", "");
	snprintf(id.text, sizeof id.text, "sandmux://%s/%d", r->uid, r->restarts);
	controller_unstructured_set(c, "containerID", id.text);
	return c;
}

static const char *phase_of(const struct kubelet_run *r)
{
	if (r->state == RUN_ENDED)
		return r->exit_code == 0 && !kubelet_run_is_evicted(r) ? "Succeeded" : "Failed";
	return r->state == RUN_WAITING && r->restarts == 0 ? "Pending" : "Running";
}

/* As the kubelet has it for one container; a limit without a request is a request too. */
static const char *qos_of(const struct store_object *pod)
{
	const cJSON *resources = json_get(kubelet_pod_first_container(pod), "resources", NULL);
	const cJSON *limits = json_get(resources, "limits", NULL);
	const cJSON *requests = json_get(resources, "requests", NULL);
	static const char *const names[] = { "cpu", "memory" };
	int n_asked = 0, n_equal = 0;
	for (int i = 0; i < 2; i++) {
		const cJSON *limit = json_get(limits, names[i], NULL);
		const cJSON *request = json_get(requests, names[i], NULL);
		n_asked += limit || request;
		n_equal += limit && (!request || cJSON_Compare(limit, request, true));
	}
	return n_equal == 2 ? "Guaranteed" : n_asked > 0 ? "Burstable" : "BestEffort";
}

void kubelet_run_write_status(struct kubelet_run *r)
{
	struct store_object *pod = kubelet_run_pod(r);
	if (!pod)
		return;
	cJSON *json = cJSON_Duplicate(pod->json, true);
	cJSON *status = controller_unstructured_object(json, "status");
	bool is_ready = r->state == RUN_READY && !r->is_stopping;
	const char *reason = is_ready ? NULL : "ContainersNotReady";
	controller_unstructured_set(status, "phase", phase_of(r));
	if (kubelet_run_is_evicted(r)) {
		controller_unstructured_set(status, "reason", r->stopped_for);
		controller_unstructured_set(status, "message", r->stopped_why);
	}
	set_pod_condition(status, "PodScheduled", true, "PodScheduled", "");
	set_pod_condition(status, "Initialized", true, NULL, NULL);
	set_pod_condition(status, "ContainersReady", is_ready, reason, r->message);
	set_pod_condition(status, "Ready", is_ready, reason, r->message);
	if (r->restarted)
		controller_condition_put(status, r->restarted);
	if (!json_str(status, "startTime", NULL))
		controller_unstructured_set(
			status, "startTime", r->started_at[0] ? r->started_at : NULL);
	controller_unstructured_set(status, "hostIP", "127.0.0.1");
	if (r->address[0] && r->state != RUN_ENDED) {
		cJSON *ips = cJSON_CreateArray(), *ip = cJSON_CreateObject();
		controller_unstructured_set(status, "podIP", r->address);
		controller_unstructured_set(ip, "ip", r->address);
		cJSON_AddItemToArray(ips, ip);
		controller_unstructured_set_item(status, "podIPs", ips);
	}
	controller_unstructured_set(status, "qosClass", qos_of(pod));
	cJSON *list = cJSON_CreateArray();
	cJSON_AddItemToArray(list, container_status(r, pod));
	controller_unstructured_set_item(status, "containerStatuses", list);
	controller_update(r->c, pod, json, OBJECTS_STATUS);
}
