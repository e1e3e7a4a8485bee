// SPDX-License-Identifier: Apache-2.0
/* What a run is about: its pod, the container and the volume claim of it that count here. */
#include "local/server/kubelet/run.h"

#include "engine/base/json.h"

#include <string.h>

struct store_object *kubelet_run_pod(const struct kubelet_run *r)
{
	struct store_object *o = store_by_uid(r->c->server->store, r->uid);
	return o && o->kind == KIND_POD ? o : NULL;
}

const cJSON *kubelet_pod_first_container(const struct store_object *pod)
{
	const cJSON *list = json_get(pod->json, "spec", "containers", NULL);
	return list ? list->child : NULL;
}

const struct store_object *kubelet_run_workspace_claim(
	const struct kubelet_run *r, const struct store_object *pod)
{
	const cJSON *mount, *volume;
	const char *name = NULL;
	cJSON_ArrayForEach(
		mount, json_get(kubelet_pod_first_container(pod), "volumeMounts", NULL))
	{
		const char *path = json_str(mount, "mountPath", NULL);
		if (path && strcmp(path, "/workspace") == 0)
			name = json_str(mount, "name", NULL);
	}
	if (!name)
		return NULL;
	cJSON_ArrayForEach(volume, json_get(pod->json, "spec", "volumes", NULL))
	{
		const char *is = json_str(volume, "name", NULL);
		const char *claim =
			json_str(volume, "persistentVolumeClaim", "claimName", NULL);
		if (is && claim && strcmp(is, name) == 0)
			return store_get(r->c->server->store, KIND_PVC, pod->ns, claim);
	}
	return NULL;
}

bool kubelet_run_is_evicted(const struct kubelet_run *r)
{
	return r->stopped_for && strcmp(r->stopped_for, "Evicted") == 0;
}
