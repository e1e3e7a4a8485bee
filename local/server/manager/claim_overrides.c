// SPDX-License-Identifier: Apache-2.0
/* What a claim may ask for beyond its template: pod metadata, environment, volumes. */
#include "local/server/manager/internal.h"

#include "engine/base/json.h"
#include "engine/k8s/name.h"

#include <stdio.h>
#include <string.h>

/* ---- additionalPodMetadata ---- */

static bool ends_with_domain(const char *key, const char *domain)
{
	const char *slash = strchr(key, '/');
	size_t n = slash ? (size_t)(slash - key) : 0, m = strlen(domain);
	if (n < m || strncmp(key + n - m, domain, m) != 0)
		return false;
	return n == m || key[n - m - 1] == '.';
}

const char *manager_claim_check_metadata(const cJSON *claim, char *message, size_t n)
{
	static const char *const closed[] = { "kubernetes.io", "k8s.io", "agents.x-k8s.io" };
	const cJSON *wishes = json_get(claim, "spec", "additionalPodMetadata", NULL), *e;
	cJSON_ArrayForEach(e, json_get(wishes, "labels", NULL))
	{
		if (!k8s_is_label_key(e->string, strlen(e->string)) ||
			!ends_with_domain(e->string, "sandbox.users.io")) {
			snprintf(message, n,
				"label \"%.253s\" is not allowed: its domain must be sandbox.users.io"
				" or below",
				e->string);
			return "InvalidMetadata";
		}
		if (cJSON_IsString(e) &&
			!k8s_is_label_value(e->valuestring, strlen(e->valuestring))) {
			snprintf(
				message, n, "label \"%.253s\" has an invalid value", e->string);
			return "InvalidMetadata";
		}
	}
	cJSON_ArrayForEach(e, json_get(wishes, "annotations", NULL))
	{
		bool is_excepted =
			strcmp(e->string, "cluster-autoscaler.kubernetes.io/safe-to-evict") ==
			0;
		for (size_t i = 0; i < 3 && !is_excepted; i++)
			if (ends_with_domain(e->string, closed[i])) {
				snprintf(message, n, "annotation \"%.253s\" is restricted",
					e->string);
				return "InvalidMetadata";
			}
	}
	return NULL;
}

bool manager_claim_apply_metadata(const cJSON *claim, cJSON *sandbox, char *message, size_t n)
{
	static const char *const maps[] = { "labels", "annotations" };
	cJSON *template = controller_unstructured_object(
		controller_unstructured_object(sandbox, "spec"), "podTemplate");
	for (int m = 0; m < 2; m++) {
		const cJSON *e;
		cJSON_ArrayForEach(
			e, json_get(claim, "spec", "additionalPodMetadata", maps[m], NULL))
		{
			cJSON *map = controller_unstructured_object(
				controller_unstructured_object(template, "metadata"), maps[m]);
			const char *old = json_str(map, e->string, NULL);
			if (!cJSON_IsString(e))
				continue;
			if (old && strcmp(old, e->valuestring) != 0) {
				snprintf(message, n,
					"Error seen: metadata override conflict for key \"%.253s\"",
					e->string);
				return false;
			}
			controller_unstructured_set(map, e->string, e->valuestring);
		}
	}
	return true;
}

/* ---- env ---- */

static const char *policy_of(const cJSON *template_spec, const char *key)
{
	const char *policy = json_str(template_spec, key, NULL);
	return policy ? policy : "Disallowed";
}

/* The container a variable is meant for; NULL if there is none of that name. */
static cJSON *container_for(const cJSON *pod_spec, const cJSON *variable)
{
	const char *wanted = json_str(variable, "containerName", NULL);
	const cJSON *containers = json_get(pod_spec, "containers", NULL);
	if (!wanted || !*wanted)
		return containers ? containers->child : NULL;
	return controller_unstructured_named(containers, wanted);
}

static cJSON *find_variable(const cJSON *container, const char *name)
{
	return controller_unstructured_named(json_get(container, "env", NULL), name);
}

const char *manager_claim_check_env(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n)
{
	static const char reason[] = "EnvVarsInjectionRejected";
	const cJSON *env = json_get(claim, "spec", "env", NULL), *v;
	const cJSON *pod = json_get(template_spec, "podTemplate", "spec", NULL);
	const char *policy = policy_of(template_spec, "envVarsInjectionPolicy");
	if (cJSON_GetArraySize(env) == 0)
		return NULL;
	if (strcmp(policy, "Disallowed") == 0) {
		snprintf(message, n,
			"environment variable injection is not allowed by the template");
		return reason;
	}
	if (strcmp(policy, "Overrides") == 0)
		return NULL;
	cJSON_ArrayForEach(v, env)
	{
		const cJSON *container = container_for(pod, v);
		if (cJSON_GetArraySize(json_get(container, "envFrom", NULL)) > 0) {
			snprintf(message, n,
				"environment variables cannot be injected into a container with"
				" envFrom under policy Allowed");
			return reason;
		}
	}
	return NULL;
}

static bool apply_env(const cJSON *claim, cJSON *sandbox, char *message, size_t n)
{
	const cJSON *v, *pod = json_get(sandbox, "spec", "podTemplate", "spec", NULL);
	cJSON_ArrayForEach(v, json_get(claim, "spec", "env", NULL))
	{
		cJSON *container = container_for(pod, v);
		const char *name = json_str(v, "name", NULL),
			   *value = json_str(v, "value", NULL);
		if (!container) {
			snprintf(message, n, "Error seen: container \"%.63s\" not found",
				json_str(v, "containerName", NULL));
			return false;
		}
		cJSON *old = find_variable(container, name);
		if (!old) {
			old = cJSON_CreateObject();
			controller_unstructured_set(old, "name", name);
			cJSON_AddItemToArray(
				controller_unstructured_array(container, "env"), old);
		}
		controller_unstructured_drop(old, "valueFrom");
		controller_unstructured_set(old, "value", value);
	}
	return true;
}

/* Allowed lets a claim add variables, not change what the template sets. */
static bool check_overrides(
	const cJSON *claim, const cJSON *sandbox, const char *policy, char *message, size_t n)
{
	const cJSON *v, *pod = json_get(sandbox, "spec", "podTemplate", "spec", NULL);
	if (strcmp(policy, "Overrides") == 0)
		return true;
	cJSON_ArrayForEach(v, json_get(claim, "spec", "env", NULL))
	{
		const char *name = json_str(v, "name", NULL);
		const cJSON *old = find_variable(container_for(pod, v), name);
		const char *is = json_str(old, "value", NULL);
		if (old && (!is || strcmp(is, json_str(v, "value", NULL)) != 0)) {
			snprintf(message, n,
				"Error seen: environment variable override is not allowed for"
				" \"%.200s\"",
				name);
			return false;
		}
	}
	return true;
}

/* ---- volumes ---- */

static bool has_volume(const cJSON *list, const char *name)
{
	const cJSON *t;
	cJSON_ArrayForEach(t, list)
	{
		const char *is = json_str(t, "metadata", "name", NULL);
		if (is && name && strcmp(is, name) == 0)
			return true;
	}
	return false;
}

const char *manager_claim_check_volumes(
	const cJSON *claim, const cJSON *template_spec, char *message, size_t n)
{
	static const char reason[] = "VolumeClaimTemplatesError";
	const cJSON *wanted = json_get(claim, "spec", "volumeClaimTemplates", NULL), *t;
	const cJSON *have = json_get(template_spec, "volumeClaimTemplates", NULL);
	const char *policy = policy_of(template_spec, "volumeClaimTemplatesPolicy");
	if (cJSON_GetArraySize(wanted) == 0)
		return NULL;
	if (strcmp(policy, "Disallowed") == 0) {
		snprintf(message, n, "volumeClaimTemplates are not allowed by the template");
		return reason;
	}
	cJSON_ArrayForEach(t, wanted)
	{
		const char *name = json_str(t, "metadata", "name", NULL);
		if (!name || !*name) {
			snprintf(message, n, "a volumeClaimTemplate has no name");
			return reason;
		}
		if (strcmp(policy, "Overrides") != 0 && has_volume(have, name)) {
			snprintf(message, n,
				"volumeClaimTemplate \"%.200s\" may not override the template's",
				name);
			return reason;
		}
	}
	return NULL;
}

static void apply_volumes(const cJSON *claim, cJSON *sandbox)
{
	cJSON *spec = controller_unstructured_object(sandbox, "spec"), *list;
	const cJSON *t;
	cJSON_ArrayForEach(t, json_get(claim, "spec", "volumeClaimTemplates", NULL))
	{
		const char *name = json_str(t, "metadata", "name", NULL);
		list = cJSON_GetObjectItemCaseSensitive(spec, "volumeClaimTemplates");
		if (!list)
			list = cJSON_AddArrayToObject(spec, "volumeClaimTemplates");
		for (cJSON *old = list->child, *next; old; old = next) {
			const char *is = json_str(old, "metadata", "name", NULL);
			next = old->next;
			if (is && strcmp(is, name) == 0)
				cJSON_Delete(cJSON_DetachItemViaPointer(list, old));
		}
		cJSON_AddItemToArray(list, cJSON_Duplicate(t, true));
	}
}

bool manager_claim_apply_overrides(const cJSON *claim, const struct store_object *template,
	cJSON *sandbox, char *message, size_t n)
{
	const char *policy =
		policy_of(json_get(template->json, "spec", NULL), "envVarsInjectionPolicy");
	bool ok = check_overrides(claim, sandbox, policy, message, n) &&
		  apply_env(claim, sandbox, message, n) &&
		  manager_claim_apply_metadata(claim, sandbox, message, n);
	if (ok)
		apply_volumes(claim, sandbox);
	return ok;
}
