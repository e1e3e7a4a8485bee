// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/binding_lease.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/op_create.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/time.h"

#include <string.h>

#define CLAIM_UID "sandmux/claim-uid" /* annotation */

void fleet_binding_digits(const char *key, char out[FLEET_BINDING_DIGITS + 1])
{
	char hex[DIGEST_SHA256_HEX];
	struct digest *digest = digest_new();
	digest_add(digest, key, strlen(key));
	digest_finish_hex(digest, hex);
	digest_free(digest);
	memcpy(out, hex, FLEET_BINDING_DIGITS);
	out[FLEET_BINDING_DIGITS] = '\0';
}

char *fleet_binding_name(const char *digits)
{
	return x_asprintf("%s%s", setting_text(SETTING_BINDING_PREFIX), digits);
}

cJSON *fleet_binding_lease(const char *namespace_, const char *name, const char *key,
	const char *claim_name, int64_t now_ns)
{
	char date[CLOCK_RFC3339_BYTES];
	cJSON *lease = cJSON_CreateObject();
	cJSON_AddStringToObject(lease, "apiVersion", "coordination.k8s.io/v1");
	cJSON_AddStringToObject(lease, "kind", "Lease");
	cJSON *metadata = cJSON_AddObjectToObject(lease, "metadata");
	cJSON_AddStringToObject(metadata, "name", name);
	cJSON_AddStringToObject(metadata, "namespace", namespace_);
	cJSON_AddStringToObject(cJSON_AddObjectToObject(metadata, "labels"),
		"agents.x-k8s.io/created-by", "sandmux");
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(metadata, "annotations"), FLEET_BINDING_KEY, key);
	cJSON *spec = cJSON_AddObjectToObject(lease, "spec");
	cJSON_AddStringToObject(spec, "holderIdentity", claim_name);
	cJSON_AddStringToObject(
		spec, "acquireTime", k8s_time_format(now_ns, K8S_MICRO_TIME, date));
	cJSON_AddNumberToObject(spec, "leaseDurationSeconds",
		(double)(setting_get(SETTING_BINDING_RESERVATION) / 1000));
	return lease;
}

const char *fleet_binding_holder(const cJSON *lease)
{
	const char *holder = json_str(lease, "spec", "holderIdentity", NULL);
	return holder != NULL && holder[0] ? holder : NULL;
}

const char *fleet_binding_recorded_uid(const cJSON *lease)
{
	const cJSON *owner;
	cJSON_ArrayForEach(owner, json_get(lease, "metadata", "ownerReferences", NULL))
	{
		const char *kind = json_str(owner, "kind", NULL);
		if (kind != NULL && strcmp(kind, "SandboxClaim") == 0)
			return json_str(owner, "uid", NULL);
	}
	return json_str(lease, "metadata", "annotations", CLAIM_UID, NULL);
}

void fleet_binding_record_in(cJSON *lease, const char *claim_name, const char *claim_uid)
{
	char version[K8S_API_VERSION_BYTES];
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(lease, "metadata");
	cJSON *annotations = cJSON_GetObjectItemCaseSensitive(metadata, "annotations");
	if (annotations == NULL)
		annotations = cJSON_AddObjectToObject(metadata, "annotations");
	cJSON_DeleteItemFromObjectCaseSensitive(annotations, CLAIM_UID);
	cJSON_AddStringToObject(annotations, CLAIM_UID, claim_uid);
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "ownerReferences");
	cJSON *owner = cJSON_CreateObject();
	cJSON_AddStringToObject(
		owner, "apiVersion", k8s_api_version(&k8s_sandboxclaims, version));
	cJSON_AddStringToObject(owner, "kind", k8s_sandboxclaims.kind);
	cJSON_AddStringToObject(owner, "name", claim_name);
	cJSON_AddStringToObject(owner, "uid", claim_uid);
	cJSON_AddItemToArray(cJSON_AddArrayToObject(metadata, "ownerReferences"), owner);
}

/* The server itself says when it was made; an acquireTime is a creator's word, and taken where it is later but past. */
int64_t fleet_binding_left_ms(const cJSON *lease, int64_t server_now_ms)
{
	int64_t made_ns = 0, acquired_ns = 0;
	const char *made = json_str(lease, "metadata", "creationTimestamp", NULL);
	const char *acquired = json_str(lease, "spec", "acquireTime", NULL);
	int64_t duration_s = json_int(lease, 0, "spec", "leaseDurationSeconds", NULL);
	if (made == NULL || !k8s_time_parse(made, &made_ns))
		made_ns = 0;
	if (acquired == NULL || !k8s_time_parse(acquired, &acquired_ns))
		acquired_ns = 0;
	int64_t from_ms = made_ns / 1000000, acquired_ms = acquired_ns / 1000000;
	if (from_ms == 0 || (acquired_ms > from_ms && acquired_ms <= server_now_ms))
		from_ms = acquired_ms;
	return from_ms + duration_s * 1000 - server_now_ms;
}

cJSON *fleet_binding_delete_options(const cJSON *lease)
{
	const char *uid = json_str(lease, "metadata", "uid", NULL);
	const char *revision = json_str(lease, "metadata", "resourceVersion", NULL);
	cJSON *options = fleet_op_delete_options(uid ? uid : "");
	cJSON_AddStringToObject(cJSON_GetObjectItem(options, "preconditions"),
		"resourceVersion", revision ? revision : "");
	return options;
}

/* ---- giving it back: what fails is said in the log alone, since it goes with its claim, or lapses */

struct fleet_unbind {
	struct fleet *fleet;
	char *namespace_, *name, *claim_name, *claim_uid;
	struct kube_call *call;
	struct fleet_unbind *prev, *next;
};

static void unbind_free(struct fleet_unbind *unbind)
{
	DL_DELETE(unbind->fleet->unbinds, unbind);
	kube_call_cancel(unbind->call);
	free(unbind->namespace_);
	free(unbind->name);
	free(unbind->claim_name);
	free(unbind->claim_uid);
	free(unbind);
}

static void unbind_end(struct fleet_unbind *unbind, const struct err *err)
{
	if (err != NULL && err->code != ERR_KUBE_NOT_FOUND && err->code != ERR_KUBE_CONFLICT)
		LOG("fleet", LOG_INFO, "Lease %s was not freed: %s", unbind->name, err->msg);
	unbind_free(unbind);
}

static void unbind_call(struct fleet_unbind *unbind, const char *method, const char *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object))
{
	struct err err = { 0 };
	char *path = kube_path(&k8s_leases, unbind->namespace_, unbind->name, NULL);
	const struct kube_call_opts opts = {
		.method = method,
		.path = path,
		.body = slice_of(body),
		.done = done,
		.arg = unbind,
	};
	unbind->call = kube_call_start(unbind->fleet->kube, &opts, &err);
	free(path);
	if (unbind->call == NULL)
		unbind_end(unbind, &err);
}

static void on_deleted(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_unbind *unbind = arg;
	(void)object;
	unbind->call = NULL;
	unbind_end(unbind, err);
}

static void on_read(void *arg, const struct err *err, const cJSON *lease)
{
	struct fleet_unbind *unbind = arg;
	unbind->call = NULL;
	const char *holder = err == NULL ? fleet_binding_holder(lease) : NULL;
	const char *uid = err == NULL ? fleet_binding_recorded_uid(lease) : NULL;
	bool is_same = holder != NULL && strcmp(holder, unbind->claim_name) == 0 &&
		       (uid == NULL || (unbind->claim_uid != NULL &&
					       strcmp(uid, unbind->claim_uid) == 0));
	if (!is_same) {
		unbind_end(unbind, err);
		return;
	}
	cJSON *options = fleet_binding_delete_options(lease);
	char *body = cJSON_PrintUnformatted(options);
	unbind_call(unbind, "DELETE", body, on_deleted);
	free(body);
	cJSON_Delete(options);
}

void fleet_unbind_start(struct fleet *fleet, const char *namespace_, const char *digits,
	const char *claim_name, const char *claim_uid)
{
	struct fleet_unbind *unbind = x_calloc(1, sizeof *unbind);
	unbind->fleet = fleet;
	unbind->namespace_ = x_strdup(namespace_);
	unbind->name = fleet_binding_name(digits);
	unbind->claim_name = x_strdup(claim_name);
	unbind->claim_uid = x_strdup(claim_uid);
	DL_APPEND(fleet->unbinds, unbind);
	unbind_call(unbind, "GET", NULL, on_read);
}

void fleet_unbinds_free(struct fleet *fleet)
{
	while (fleet->unbinds != NULL)
		unbind_free(fleet->unbinds);
}

size_t fleet_unbinds_pending(const struct fleet *fleet)
{
	size_t n = 0;
	for (const struct fleet_unbind *unbind = fleet->unbinds; unbind; unbind = unbind->next)
		n++;
	return n;
}
