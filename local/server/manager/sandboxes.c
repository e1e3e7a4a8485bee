// SPDX-License-Identifier: Apache-2.0
/* The Sandbox controller: keeps one Pod (and Service, and volume claims) as the spec wants them, and writes
 * down what it sees. Reasons and messages are those of the Agent Sandbox controller v0.5. */
#include "local/server/manager/internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/time.h"
#include "local/server/kubelet/kubelet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 512 };

/* What one pass found out. */
struct manager_view {
	struct controller *c;
	struct store_object *o;
	struct store_object *pod;     /* ours, or NULL */
	struct store_object *service; /* ours or kept, or NULL */
	bool is_suspended;
	bool is_expired;
	char error[MESSAGE_BYTES]; /* not empty: ReconcilerError */
};

cJSON *manager_sandbox_from_template(const struct store_object *t)
{
	static const char *const copied[] = { "podTemplate", "volumeClaimTemplates",
		"service" };
	char hash[HASH8_BYTES];
	cJSON *json = cJSON_CreateObject();
	cJSON *spec = cJSON_AddObjectToObject(json, "spec");
	for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
		const cJSON *part = json_get(t->json, "spec", copied[i], NULL);
		if (part)
			cJSON_AddItemToObject(spec, copied[i], cJSON_Duplicate(part, true));
	}
	cJSON *pod = controller_unstructured_object(
		controller_unstructured_object(spec, "podTemplate"), "spec");
	if (!cJSON_GetObjectItemCaseSensitive(pod, "automountServiceAccountToken"))
		cJSON_AddBoolToObject(pod, "automountServiceAccountToken", false);
	controller_unstructured_set_label(
		json, LABEL_TEMPLATE_REF, controller_hash8(t->name, hash));
	controller_unstructured_set_annotation(json, ANNOTATION_TEMPLATE_REF, t->name);
	return json;
}

static const char *pod_name(const struct store_object *o)
{
	const char *name = controller_unstructured_annotation(o->json, ANNOTATION_POD_NAME);
	return name && *name ? name : o->name;
}

static bool is_adoptable(const struct store_object *o)
{
	const char *label = controller_unstructured_label(o->json, LABEL_ADOPTABLE);
	return label && strcmp(label, "true") == 0 && !controller_owner_of(o->json);
}

/* An object of this name that is ours, or that lets us take it over; else an error. */
static struct store_object *find_child(
	struct manager_view *v, enum store_kind kind, const char *name)
{
	struct store_object *child = store_get(v->c->server->store, kind, v->o->ns, name);
	if (!child || controller_is_owned_by(child->json, v->o->uid))
		return child;
	if (is_adoptable(child)) {
		cJSON *json = cJSON_Duplicate(child->json, true);
		controller_unstructured_set_owner(json, v->o);
		return controller_update(v->c, child, json, OBJECTS_MAIN);
	}
	if (kind == KIND_POD || json_bool(v->o->json, false, "spec", "service", NULL))
		snprintf(v->error, sizeof v->error,
			"Error seen: %s \"%.200s\" exists and is not owned by this Sandbox",
			store_resource_of(kind)->singular, name);
	return NULL;
}

static void set_child_basics(const struct manager_view *v, cJSON *child, const char *name)
{
	char hash[HASH8_BYTES];
	controller_unstructured_set(
		controller_unstructured_object(child, "metadata"), "name", name);
	controller_unstructured_set_label(
		child, LABEL_NAME_HASH, controller_hash8(v->o->name, hash));
	controller_unstructured_set_owner(child, v->o);
}

/* Labels and annotations of the pod template, and lists of what came from there. */
static void propagate(const struct manager_view *v, cJSON *pod)
{
	static const char *const maps[][2] = { { "labels", ANNOTATION_PROPAGATED_LABELS },
		{ "annotations", ANNOTATION_PROPAGATED_ANNOTATIONS } };
	for (int m = 0; m < 2; m++) {
		const cJSON *entry;
		struct str names;
		str_init(&names, 8192);
		cJSON_ArrayForEach(entry, json_get(v->o->json, "spec", "podTemplate",
						  "metadata", maps[m][0], NULL))
		{
			if (!cJSON_IsString(entry))
				continue;
			if (m == 0)
				controller_unstructured_set_label(
					pod, entry->string, entry->valuestring);
			else
				controller_unstructured_set_annotation(
					pod, entry->string, entry->valuestring);
			str_addf(&names, "%s%s", names.n ? "," : "", entry->string);
		}
		if (names.n > 0)
			controller_unstructured_set_annotation(pod, maps[m][1], names.p);
		str_deinit(&names);
	}
	const char *template_hash =
		controller_unstructured_label(v->o->json, LABEL_TEMPLATE_REF);
	if (template_hash)
		controller_unstructured_set_label(pod, LABEL_TEMPLATE_REF, template_hash);
}

static void claim_name(const struct manager_view *v, const cJSON *template, struct str *out)
{
	const char *name = json_str(template, "metadata", "name", NULL);
	str_addf(out, "%s-%s", name ? name : "volume", v->o->name);
}

/* A volume claim per template; they outlive the pod and go with the Sandbox. */
static void ensure_volumes(struct manager_view *v)
{
	const cJSON *t;
	cJSON_ArrayForEach(t, json_get(v->o->json, "spec", "volumeClaimTemplates", NULL))
	{
		struct str name;
		str_init(&name, 512);
		claim_name(v, t, &name);
		if (!store_get(v->c->server->store, KIND_PVC, v->o->ns, name.p)) {
			cJSON *pvc = cJSON_CreateObject(), *status;
			const cJSON *spec = json_get(t, "spec", NULL);
			const cJSON *size = json_get(spec, "resources", "requests", NULL);
			set_child_basics(v, pvc, name.p);
			cJSON_AddItemToObject(pvc, "spec", cJSON_Duplicate(spec, true));
			status = cJSON_AddObjectToObject(pvc, "status");
			controller_unstructured_set(status, "phase", "Bound");
			if (size)
				cJSON_AddItemToObject(
					status, "capacity", cJSON_Duplicate(size, true));
			struct err err = { 0 };
			if (!controller_create(v->c, KIND_PVC, v->o->ns, pvc, &err))
				snprintf(v->error, sizeof v->error, "Error seen: %.480s",
					err.msg);
		}
		str_deinit(&name);
	}
}

static void ensure_service(struct manager_view *v)
{
	const cJSON *wanted = json_get(v->o->json, "spec", "service", NULL), *container, *port;
	v->service = find_child(v, KIND_SERVICE, v->o->name);
	if (wanted && !cJSON_IsTrue(wanted)) {
		if (v->service)
			controller_delete(v->c, v->service, OBJECTS_BACKGROUND);
		v->service = NULL;
		return;
	}
	if (!cJSON_IsTrue(wanted) || v->service || v->error[0])
		return;
	char hash[HASH8_BYTES];
	cJSON *service = cJSON_CreateObject();
	set_child_basics(v, service, v->o->name);
	cJSON *spec = cJSON_AddObjectToObject(service, "spec");
	controller_unstructured_set(spec, "clusterIP", "None");
	controller_unstructured_set(spec, "type", "ClusterIP");
	controller_unstructured_set(controller_unstructured_object(spec, "selector"),
		LABEL_NAME_HASH, controller_hash8(v->o->name, hash));
	cJSON *ports = cJSON_AddArrayToObject(spec, "ports");
	cJSON_ArrayForEach(container,
		json_get(v->o->json, "spec", "podTemplate", "spec", "containers", NULL))
	{
		cJSON_ArrayForEach(port, json_get(container, "ports", NULL))
		{
			cJSON *entry = cJSON_CreateObject();
			double number = (double)json_int(port, 1, "containerPort", NULL);
			controller_unstructured_set(
				entry, "name", json_str(port, "name", NULL));
			controller_unstructured_set(entry, "protocol", "TCP");
			controller_unstructured_set_number(entry, "port", number);
			controller_unstructured_set_number(entry, "targetPort", number);
			cJSON_AddItemToArray(ports, entry);
		}
	}
	v->service = controller_create(v->c, KIND_SERVICE, v->o->ns, service, NULL);
}

/* As the API server defaults it: a limit without a request is a request too. */
static void request_limits(cJSON *spec)
{
	cJSON *c, *limit;
	cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(spec, "containers"))
	{
		cJSON *resources = cJSON_GetObjectItemCaseSensitive(c, "resources");
		cJSON *limits = cJSON_GetObjectItemCaseSensitive(resources, "limits");
		cJSON_ArrayForEach(limit, limits)
		{
			cJSON *requests = controller_unstructured_object(resources, "requests");
			if (!cJSON_GetObjectItemCaseSensitive(requests, limit->string))
				cJSON_AddItemToObject(
					requests, limit->string, cJSON_Duplicate(limit, true));
		}
	}
}

static void create_pod(struct manager_view *v)
{
	struct err err = { 0 };
	const cJSON *t;
	cJSON *pod = cJSON_CreateObject();
	set_child_basics(v, pod, pod_name(v->o));
	propagate(v, pod);
	if (controller_unstructured_label(v->o->json, LABEL_WARM_POOL))
		controller_unstructured_set_annotation(
			pod, "cluster-autoscaler.kubernetes.io/safe-to-evict", "true");
	cJSON *spec =
		cJSON_Duplicate(json_get(v->o->json, "spec", "podTemplate", "spec", NULL), 1);
	controller_unstructured_set(spec, "nodeName", STORE_NODE_NAME);
	request_limits(spec);
	if (!json_str(spec, "restartPolicy", NULL))
		controller_unstructured_set(spec, "restartPolicy", "Always");
	cJSON_ArrayForEach(t, json_get(v->o->json, "spec", "volumeClaimTemplates", NULL))
	{
		struct str name;
		cJSON *volumes = cJSON_GetObjectItemCaseSensitive(spec, "volumes");
		cJSON *volume = cJSON_CreateObject();
		const char *volume_name = json_str(t, "metadata", "name", NULL);
		str_init(&name, 512);
		claim_name(v, t, &name);
		controller_unstructured_set(
			volume, "name", volume_name ? volume_name : "volume");
		controller_unstructured_set(
			controller_unstructured_object(volume, "persistentVolumeClaim"),
			"claimName", name.p);
		str_deinit(&name);
		if (!volumes)
			volumes = cJSON_AddArrayToObject(spec, "volumes");
		cJSON_AddItemToArray(volumes, volume);
	}
	cJSON_AddItemToObject(pod, "spec", spec);
	controller_unstructured_set(
		controller_unstructured_object(pod, "status"), "phase", "Pending");
	v->pod = controller_create(v->c, KIND_POD, v->o->ns, pod, &err);
	if (!v->pod)
		snprintf(v->error, sizeof v->error, "Error seen: %.480s", err.msg);
}

/* A claim that adopted this Sandbox may have brought labels for the running pod. */
static void sync_pod_metadata(struct manager_view *v)
{
	cJSON *json = cJSON_Duplicate(v->pod->json, true);
	propagate(v, json);
	if (!controller_unstructured_label(v->o->json, LABEL_WARM_POOL))
		controller_unstructured_set_annotation(
			json, "cluster-autoscaler.kubernetes.io/safe-to-evict", NULL);
	struct store_object *updated = controller_update(v->c, v->pod, json, OBJECTS_MAIN);
	if (updated)
		v->pod = updated;
}

/* ---- status ---- */

static const char *pod_phase(const struct store_object *pod)
{
	const char *phase = json_str(pod->json, "status", "phase", NULL);
	return phase ? phase : "Pending";
}

static bool has_ended(const struct store_object *pod)
{
	return strcmp(pod_phase(pod), "Succeeded") == 0 ||
	       strcmp(pod_phase(pod), "Failed") == 0;
}

/* The real controller leaves it at "Pod failed"; why a pod was evicted is worth a word more. */
static void say_why_failed(const struct store_object *pod, struct str *message)
{
	const char *reason = json_str(pod->json, "status", "reason", NULL);
	const char *why = json_str(pod->json, "status", "message", NULL);
	if (reason)
		str_addf(message, ": %s%s%s", reason, why ? ": " : "", why ? why : "");
}

/* Reason and message of Ready; true if it is ready. */
static bool judge(const struct manager_view *v, const char **reason, struct str *message)
{
	const cJSON *wanted = json_get(v->o->json, "spec", "service", NULL);
	bool is_ready = false;
	*reason = "DependenciesNotReady";
	if (v->error[0]) {
		*reason = "ReconcilerError";
		str_add(message, v->error);
		return false;
	}
	if (v->is_expired) {
		*reason = "SandboxExpired";
		str_add(message, "Sandbox has expired");
		return false;
	}
	if (v->is_suspended) {
		*reason = "SandboxSuspended";
		str_add(message, v->pod ? "Sandbox is suspending" : "Sandbox is suspended");
		return false;
	}
	if (!v->pod) {
		str_add(message, "Pod does not exist");
	} else if (has_ended(v->pod)) {
		bool ok = strcmp(pod_phase(v->pod), "Succeeded") == 0;
		*reason = ok ? "PodSucceeded" : "PodFailed";
		str_add(message, ok ? "Pod succeeded" : "Pod failed");
		say_why_failed(v->pod, message);
		return false;
	} else if (strcmp(pod_phase(v->pod), "Running") != 0 ||
		   store_objects_is_terminating(v->pod)) {
		str_addf(message, "Pod exists with phase: %s", pod_phase(v->pod));
	} else if (!k8s_condition_is_true(v->pod->json, "Ready")) {
		str_add(message, "Pod is Running but not Ready");
	} else if (!json_str(v->pod->json, "status", "podIP", NULL)) {
		str_add(message, "Pod is Ready but has no podIPs yet");
	} else {
		is_ready = true;
		str_add(message, "Pod is Ready");
	}
	if (cJSON_IsTrue(wanted) && !v->service)
		is_ready = false;
	if (v->service)
		str_add(message, "; Service Exists");
	else if (cJSON_IsTrue(wanted))
		str_add(message, "; Service does not exist");
	if (is_ready)
		*reason = "DependenciesReady";
	return is_ready;
}

static void set_suspended(const struct manager_view *v, cJSON *status, int64_t generation)
{
	if (!v->is_suspended)
		controller_condition_set(status, "Suspended", "False", "NotSuspended",
			"Sandbox is not suspended", generation);
	else if (v->pod)
		controller_condition_set(status, "Suspended", "False", "PodTerminating",
			"Pod is being terminated", generation);
	else
		controller_condition_set(status, "Suspended", "True", "PodTerminated",
			"Pod has been terminated", generation);
}

static void set_addresses(const struct manager_view *v, cJSON *status)
{
	char hash[HASH8_BYTES];
	struct str text;
	const cJSON *ip;
	bool is_up = v->pod && !v->is_suspended && !v->is_expired && !has_ended(v->pod) &&
		     json_str(v->pod->json, "status", "podIP", NULL);
	controller_unstructured_drop(status, "podIPs");
	controller_unstructured_set(status, "nodeName",
		is_up ? json_str(v->pod->json, "spec", "nodeName", NULL) : NULL);
	if (is_up) {
		cJSON *ips = cJSON_AddArrayToObject(status, "podIPs");
		cJSON_ArrayForEach(ip, json_get(v->pod->json, "status", "podIPs", NULL))
		{
			const char *address = json_str(ip, "ip", NULL);
			if (address)
				cJSON_AddItemToArray(ips, cJSON_CreateString(address));
		}
	}
	str_init(&text, 1024);
	str_addf(&text, "%s.%s.svc.cluster.local", v->o->name, v->o->ns);
	controller_unstructured_set(status, "service", v->service ? v->o->name : NULL);
	controller_unstructured_set(status, "serviceFQDN", v->service ? text.p : NULL);
	str_clear(&text);
	str_addf(&text, LABEL_NAME_HASH "=%s", controller_hash8(v->o->name, hash));
	controller_unstructured_set(status, "selector", text.p);
	str_deinit(&text);
}

static void write_status(struct manager_view *v)
{
	cJSON *json = cJSON_Duplicate(v->o->json, true);
	cJSON *status = controller_unstructured_object(json, "status");
	int64_t generation = json_int(json, 1, "metadata", "generation", NULL);
	const char *reason;
	struct str message;
	const cJSON *copied;
	str_init(&message, MESSAGE_BYTES);
	bool is_ready = judge(v, &reason, &message);
	controller_condition_set(
		status, "Ready", is_ready ? "True" : "False", reason, message.p, generation);
	set_suspended(v, status, generation);
	copied = v->pod ? k8s_condition_find(v->pod->json, "PodScheduled") : NULL;
	if (copied)
		controller_condition_put(status, copied);
	else
		controller_condition_drop(status, "PodScheduled");
	copied = v->pod ? k8s_condition_find(v->pod->json, CONDITION_RESTARTED) : NULL;
	if (copied)
		controller_condition_put(status, copied);
	else if (!v->pod)
		controller_condition_drop(status, CONDITION_RESTARTED);
	if (v->pod && has_ended(v->pod))
		controller_condition_set(
			status, "Finished", "True", reason, message.p, generation);
	else if (!v->is_expired)
		controller_condition_drop(status, "Finished");
	set_addresses(v, status);
	str_deinit(&message);
	struct store_object *updated = controller_update(v->c, v->o, json, OBJECTS_STATUS);
	if (updated)
		v->o = updated;
}

/* ---- one pass ---- */

/* Ms until date; INT64_MAX if there is none. */
static int64_t ms_until(const char *date)
{
	int64_t ns;
	if (!k8s_time_parse(date, &ns))
		return INT64_MAX;
	int64_t left = (ns - clock_wall_ns()) / 1000000;
	return left > 0 ? left + 1 : 0;
}

static void remove_pod(struct manager_view *v)
{
	if (v->pod)
		controller_delete(v->c, v->pod, OBJECTS_BACKGROUND);
	v->pod = store_get(v->c->server->store, KIND_POD, v->o->ns, pod_name(v->o));
}

int64_t manager_reconcile_sandbox(struct controller *c, struct store_object *o)
{
	struct manager_view v = { .c = c, .o = o };
	const char *mode = json_str(o->json, "spec", "operatingMode", NULL);
	const char *policy = json_str(o->json, "spec", "shutdownPolicy", NULL);
	int64_t left = ms_until(json_str(o->json, "spec", "shutdownTime", NULL));
	if (store_objects_is_terminating(o))
		return 0;
	v.is_expired = left == 0;
	v.is_suspended = mode && strcmp(mode, "Suspended") == 0;
	if (v.is_expired && policy && strcmp(policy, "Delete") == 0) {
		controller_delete(c, o, OBJECTS_BACKGROUND);
		return 0;
	}
	v.pod = find_child(&v, KIND_POD, pod_name(o));
	if (v.is_expired || v.is_suspended) {
		remove_pod(&v);
		if (v.is_expired) {
			v.service = find_child(&v, KIND_SERVICE, o->name);
			if (v.service)
				controller_delete(c, v.service, OBJECTS_BACKGROUND);
			v.service = NULL;
		} else {
			ensure_service(&v);
		}
	} else {
		ensure_volumes(&v);
		ensure_service(&v);
		if (!v.pod && !v.error[0])
			create_pod(&v);
		else if (v.pod && !store_objects_is_terminating(v.pod))
			sync_pod_metadata(&v);
	}
	write_status(&v);
	if (v.error[0])
		return 5000;
	return left == INT64_MAX || v.is_expired ? 0 : left > 3600000 ? 3600000 : left;
}
