// SPDX-License-Identifier: Apache-2.0
/* What a new start of the backend says about the pods that it finds. */
#include "local/server/kubelet/run.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/k8s/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_ended(const struct store_object *pod)
{
	const char *phase = json_str(pod->json, "status", "phase", NULL);
	return phase && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);
}

/* A pod that is here when the backend starts has lost its daemon, and everything that ran in it. */
static void note_one(struct controller *c, struct store_object *pod, bool was_clean)
{
	char now[CLOCK_RFC3339_BYTES], message[512];
	char *key = x_asprintf("procs/%s", pod->uid);
	char *names = store_meta_get(c->server->store, key);
	const cJSON *list = json_get(pod->json, "status", "containerStatuses", NULL);
	const cJSON *owner = controller_owner_of(pod->json);
	const char *sandbox_uid = json_str(owner, "uid", NULL);
	snprintf(message, sizeof message,
		"the local backend %s and was started again; %s%.380s",
		was_clean ? "was stopped" : "died",
		names && *names ? "processes that died: " : "no process was running",
		names ? names : "");
	if (list && list->child) {
		cJSON *json = cJSON_Duplicate(pod->json, true);
		cJSON *status = controller_unstructured_object(json, "status");
		cJSON *container =
			cJSON_GetObjectItemCaseSensitive(status, "containerStatuses")->child;
		cJSON *state = cJSON_CreateObject();
		cJSON *t = cJSON_AddObjectToObject(state, "terminated");
		controller_unstructured_set_number(t, "exitCode", was_clean ? 143 : 137);
		controller_unstructured_set(t, "reason", "BackendRestarted");
		controller_unstructured_set(t, "message", message);
		controller_unstructured_set(t, "finishedAt", k8s_time_now(K8S_TIME, now));
		controller_unstructured_set_number(container, "restartCount",
			(double)json_int(container, 0, "restartCount", NULL) + 1);
		controller_unstructured_set_item(container, "lastState", state);
		controller_unstructured_set_item(container, "ready", cJSON_CreateFalse());
		controller_condition_set(
			status, "Ready", "False", "ContainersNotReady", message, 0);
		controller_condition_drop(status, CONDITION_RESTARTED);
		controller_condition_set(
			status, CONDITION_RESTARTED, "True", "BackendRestarted", message, 0);
		pod = controller_update(c, pod, json, OBJECTS_STATUS);
	}
	if (pod) {
		struct store_object *sandbox =
			sandbox_uid ? store_by_uid(c->server->store, sandbox_uid) : NULL;
		controller_events_record(
			c, pod, EVENT_WARNING, "BackendRestarted", "Restart", "%s", message);
		if (sandbox)
			controller_events_record(c, sandbox, EVENT_WARNING, "BackendRestarted",
				"Restart", "%s", message);
	}
	store_meta_set(c->server->store, key, NULL, NULL);
	free(names);
	free(key);
}

void kubelet_note_restart(struct controller *c)
{
	struct store *s = c->server->store;
	size_t n;
	char *clean = store_meta_get(s, "clean-stop");
	struct store_object **v = store_list(s, KIND_POD, NULL, store_revision(s), &n);
	for (size_t i = 0; i < n; i++) {
		struct store_object *pod = store_get(s, KIND_POD, v[i]->ns, v[i]->name);
		if (pod && !store_objects_is_terminating(pod) && !has_ended(pod))
			note_one(c, pod, clean != NULL);
	}
	store_list_free(v, n);
	free(clean);
	store_meta_set(s, "clean-stop", NULL, NULL);
}
