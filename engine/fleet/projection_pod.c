// SPDX-License-Identifier: Apache-2.0
/* Pods (core/v1) to the facts that rows show: who they belong to, and what is wrong with them. Memory only for pods that
 * have something to say. Foreign bytes: any field may be missing or of another type. */
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/fleet/limits.h"
#include "engine/fleet/projection.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/time.h"

#include <stdlib.h>
#include <string.h>

/* How much a container explains: a named reason to wait, a bad end, an end before, an ordinary wait. */
static int container_weight(const cJSON *status)
{
	const char *waiting = json_str(status, "state", "waiting", "reason", NULL);
	if (waiting != NULL && strcmp(waiting, "ContainerCreating") != 0 &&
		strcmp(waiting, "PodInitializing") != 0)
		return 4;
	if (json_int(status, 0, "state", "terminated", "exitCode", NULL) != 0)
		return 3;
	if (json_get(status, "lastState", "terminated", NULL) != NULL)
		return 2;
	return waiting != NULL ? 1 : 0;
}

static void trouble_drop(struct fleet_store *store, const struct fleet_container_status **slot)
{
	union {
		const struct fleet_container_status *borrowed;
		struct fleet_container_status *owned;
	} trouble = { *slot };
	if (*slot != NULL && *slot != &fleet_no_container_status) {
		const char **texts[] = { &trouble.owned->container, &trouble.owned->waiting,
			&trouble.owned->waiting_message, &trouble.owned->image,
			&trouble.owned->ended, &trouble.owned->ended_message };
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			fleet_projection_drop_text(store, texts[i]);
		free(trouble.owned);
	}
	*slot = &fleet_no_container_status;
}

static int small_count(int64_t number)
{
	return number > 0 && number < INT32_MAX ? (int)number : 0;
}

static uint32_t seconds_of(const char *date)
{
	int64_t ms = k8s_time_ms(date);
	return ms > 0 && ms / 1000 <= UINT32_MAX ? (uint32_t)(ms / 1000) : 0;
}

/* Its status says a resolved name, or none before it was pulled. */
static const char *image_of(const cJSON *object, const char *list, const char *container)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "spec", list, NULL))
	{
		const char *name = json_str(item, "name", NULL);
		if (name != NULL && container != NULL && strcmp(name, container) == 0)
			return json_str(item, "image", NULL);
	}
	return NULL;
}

static void read_trouble(struct fleet_store *store, struct fleet_container_status *trouble,
	const cJSON *object, const cJSON *status)
{
	const cJSON *ended = json_get(status, "state", "terminated", NULL);
	if (ended == NULL)
		ended = json_get(status, "lastState", "terminated", NULL);
	const char *name = json_str(status, "name", NULL);
	int64_t code = json_int(ended, 0, "exitCode", NULL);
	trouble->exit_code = code > INT32_MIN && code < INT32_MAX ? (int)code : 0;
	trouble->restarts = small_count(json_int(status, 0, "restartCount", NULL));
	trouble->ended_s = seconds_of(json_str(ended, "finishedAt", NULL));
	fleet_projection_set_name(store, &trouble->container, name);
	fleet_projection_set_name(
		store, &trouble->waiting, json_str(status, "state", "waiting", "reason", NULL));
	fleet_projection_set_message(store, &trouble->waiting_message,
		json_str(status, "state", "waiting", "message", NULL));
	fleet_projection_set_name(store, &trouble->image,
		image_of(object, trouble->is_init ? "initContainers" : "containers", name));
	fleet_projection_set_name(store, &trouble->ended, json_str(ended, "reason", NULL));
	fleet_projection_set_message(
		store, &trouble->ended_message, json_str(ended, "message", NULL));
}

static void read_containers(
	struct fleet_store *store, struct fleet_pod *pod, const cJSON *object)
{
	static const char *const lists[] = { "containerStatuses", "initContainerStatuses" };
	const cJSON *item, *telling = NULL;
	int weight = 0;
	int64_t restarts = 0;
	bool is_init = false;
	for (size_t i = 0; i < 2; i++) {
		cJSON_ArrayForEach(item, json_get(object, "status", lists[i], NULL))
		{
			if (i == 0)
				restarts += json_int(item, 0, "restartCount", NULL);
			int is = container_weight(item);
			if (is > weight) {
				weight = is;
				telling = item;
				is_init = i == 1;
			}
		}
	}
	pod->restarts = small_count(restarts);
	trouble_drop(store, &pod->trouble);
	if (telling == NULL)
		return;
	struct fleet_container_status *trouble = x_calloc(1, sizeof *trouble);
	trouble->is_init = is_init;
	read_trouble(store, trouble, object, telling);
	pod->trouble = trouble;
}

static void verdict_drop(struct fleet_store *store, const struct fleet_pod_verdict **slot)
{
	union {
		const struct fleet_pod_verdict *borrowed;
		struct fleet_pod_verdict *owned;
	} verdict = { *slot };
	if (*slot != NULL && *slot != &fleet_no_pod_verdict) {
		fleet_projection_drop_text(store, &verdict.owned->reason);
		fleet_projection_drop_text(store, &verdict.owned->message);
		fleet_projection_drop_text(store, &verdict.owned->disruption);
		fleet_projection_drop_text(store, &verdict.owned->disruption_message);
		free(verdict.owned);
	}
	*slot = &fleet_no_pod_verdict;
}

static void read_verdict(struct fleet_store *store, struct fleet_pod *pod, const cJSON *object)
{
	const char *reason = json_str(object, "status", "reason", NULL);
	const cJSON *disrupted = k8s_condition_find(object, "DisruptionTarget");
	if (disrupted != NULL && !k8s_condition_is_true(object, "DisruptionTarget"))
		disrupted = NULL;
	verdict_drop(store, &pod->verdict);
	if ((reason == NULL || !reason[0]) && disrupted == NULL)
		return;
	struct fleet_pod_verdict *verdict = x_calloc(1, sizeof *verdict);
	verdict->disrupted_s = seconds_of(json_str(disrupted, "lastTransitionTime", NULL));
	fleet_projection_set_name(store, &verdict->reason, reason);
	fleet_projection_set_message(
		store, &verdict->message, json_str(object, "status", "message", NULL));
	fleet_projection_set_name(
		store, &verdict->disruption, json_str(disrupted, "reason", NULL));
	fleet_projection_set_message(
		store, &verdict->disruption_message, json_str(disrupted, "message", NULL));
	pod->verdict = verdict;
}

static void read_volumes(struct fleet_store *store, struct fleet_pod *pod, const cJSON *object)
{
	struct str names;
	const cJSON *item;
	str_init(&names, STORE_MAX_NAME);
	cJSON_ArrayForEach(item, json_get(object, "spec", "volumes", NULL))
	{
		const char *name = json_str(item, "persistentVolumeClaim", "claimName", NULL);
		if (name != NULL && names.n + strlen(name) + 2 < STORE_MAX_NAME)
			str_addf(&names, "%s%s", names.n ? ", " : "", name);
	}
	fleet_projection_set_name(store, &pod->volumes, names.p);
	str_deinit(&names);
}

void fleet_pod_read(struct fleet_store *store, struct fleet_pod *pod, const cJSON *object)
{
	const char *owner = NULL;
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "metadata", "ownerReferences", NULL))
	{
		const char *kind = json_str(item, "kind", NULL);
		if (kind != NULL && strcmp(kind, "Sandbox") == 0)
			owner = json_str(item, "uid", NULL);
	}
	const char *ip =
		fleet_projection_first_ip(json_get(object, "status", "podIPs", NULL), "ip");
	const char *phase = json_str(object, "status", "phase", NULL);
	fleet_projection_set_uid(store, &pod->owner_uid, owner);
	fleet_projection_set_name(
		store, &pod->namespace_, json_str(object, "metadata", "namespace", NULL));
	fleet_projection_set_name(
		store, &pod->name, json_str(object, "metadata", "name", NULL));
	fleet_projection_set_name(
		store, &pod->node, json_str(object, "spec", "nodeName", NULL));
	fleet_projection_set_name(
		store, &pod->pod_ip, ip ? ip : json_str(object, "status", "podIP", NULL));
	fleet_projection_set_name(
		store, &pod->runtime_class, json_str(object, "spec", "runtimeClassName", NULL));
	pod->runtime = fleet_projection_runtime(json_get(object, "spec", NULL));
	fleet_limits_read(&pod->limits, json_get(object, "spec", NULL));
	pod->created_ms = k8s_time_ms(json_str(object, "metadata", "creationTimestamp", NULL));
	pod->deleted_ms = fleet_projection_deletion_ms(object);
	pod->revision = fleet_revision_of(object);
	pod->phase =
		phase != NULL && strchr("PRSF", phase[0]) && phase[0] ? (uint8_t)phase[0] : 'U';
	fleet_condition_read(store, &pod->ready, object, "Ready");
	fleet_condition_read_rare(store, &pod->scheduled, object, "PodScheduled", true);
	read_containers(store, pod, object);
	read_verdict(store, pod, object);
	read_volumes(store, pod, object);
}

void fleet_pod_drop(struct fleet_store *store, struct fleet_pod *pod)
{
	const char **texts[] = { &pod->namespace_, &pod->name, &pod->node, &pod->pod_ip,
		&pod->runtime_class, &pod->volumes };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fleet_projection_drop_text(store, texts[i]);
	fleet_condition_drop(store, &pod->ready);
	fleet_condition_drop_rare(store, &pod->scheduled);
	trouble_drop(store, &pod->trouble);
	verdict_drop(store, &pod->verdict);
	fleet_uid_drop(store, &pod->uid);
	fleet_uid_drop(store, &pod->owner_uid);
}
