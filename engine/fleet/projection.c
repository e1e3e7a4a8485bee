// SPDX-License-Identifier: Apache-2.0
/* Objects of the API (Agent Sandbox v1beta1, core/v1) to the facts that rows show. Foreign bytes: any field may be
 * missing or of another type. */
#include "engine/fleet/projection.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/k8s/labels.h"
#include "engine/k8s/time.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "agents.x-k8s.io/"

static const char *label(const cJSON *object, const char *key)
{
	return json_str(object, "metadata", "labels", key, NULL);
}

static const char *annotation(const cJSON *object, const char *key)
{
	return json_str(object, "metadata", "annotations", key, NULL);
}

/* Decimal in practice; anything else is compared by equality of a hash only (never "older"). */
uint64_t fleet_revision_of(const cJSON *object)
{
	const char *text = json_str(object, "metadata", "resourceVersion", NULL);
	uint64_t number;
	return text != NULL && num_parse_u64(text, UINT64_MAX, &number) ? number : 0;
}

static bool same_uid(const struct fleet_uid *a, const struct fleet_uid *b)
{
	return fleet_uid_equals(a, b);
}

void fleet_projection_set_uid(
	struct fleet_store *store, struct fleet_uid *slot, const char *text)
{
	struct fleet_uid uid = fleet_uid_parse(store, text);
	if (same_uid(slot, &uid)) {
		fleet_uid_drop(store, &uid);
		return;
	}
	fleet_uid_drop(store, slot);
	*slot = uid;
}

/* ---- shared fields */

/* The first valid IPv4 address of a list, else the first valid address. */
const char *fleet_projection_first_ip(const cJSON *list, const char *field)
{
	const char *v6 = NULL;
	unsigned char bytes[16];
	const cJSON *item;
	cJSON_ArrayForEach(item, list)
	{
		const char *text =
			field ? json_str(item, field, NULL) : cJSON_GetStringValue(item);
		if (text == NULL)
			continue;
		if (inet_pton(AF_INET, text, bytes) == 1)
			return text;
		if (v6 == NULL && inet_pton(AF_INET6, text, bytes) == 1)
			v6 = text;
	}
	return v6;
}

/* Why an object that is being deleted is still there. */
static void read_finalizers(struct fleet_store *store, const char **slot, const cJSON *object)
{
	struct str names;
	str_init(&names, STORE_MAX_NAME);
	const cJSON *item;
	if (json_str(object, "metadata", "deletionTimestamp", NULL) != NULL) {
		cJSON_ArrayForEach(item, json_get(object, "metadata", "finalizers", NULL))
		{
			const char *name = cJSON_GetStringValue(item);
			if (name != NULL)
				str_addf(&names, "%s%s", names.n ? ", " : "", name);
		}
	}
	fleet_projection_set_name(store, slot, names.p);
	str_deinit(&names);
}

static void read_labels(struct fleet_store *store, const char **slot, const cJSON *object)
{
	struct str text;
	str_init(&text, K8S_LABELS_BYTES_MAX);
	k8s_labels_format(object, &text);
	fleet_string_pool_set(&store->texts, slot, text.p, K8S_LABELS_BYTES_MAX);
	str_deinit(&text);
}

int64_t fleet_projection_deletion_ms(const cJSON *object)
{
	const char *text = json_str(object, "metadata", "deletionTimestamp", NULL);
	if (text == NULL)
		return 0;
	int64_t ms = k8s_time_ms(text);
	return ms != 0 ? ms : 1; /* a date we cannot read is a deletion all the same */
}

/* ---- SandboxClaim */

/* How its start went, in the controller's own dates. */
static void read_start(struct fleet_claim *claim, const cJSON *object)
{
	int64_t seen_ns = 0, ready_ns = 0;
	claim->first_ready_s = claim->ready_after_ms = 0;
	const char *seen = annotation(object, PREFIX "controller-first-observed-at");
	if (!k8s_time_parse(annotation(object, PREFIX "claim-first-ready-at"), &ready_ns) ||
		ready_ns <= 0 || ready_ns / 1000000000 > UINT32_MAX)
		return;
	claim->first_ready_s = (uint32_t)(ready_ns / 1000000000);
	if (k8s_time_parse(seen, &seen_ns) && ready_ns > seen_ns &&
		(ready_ns - seen_ns) / 1000000 < UINT32_MAX)
		claim->ready_after_ms = (uint32_t)((ready_ns - seen_ns) / 1000000);
}

void fleet_claim_read(struct fleet_store *store, struct fleet_claim *claim, const cJSON *object)
{
	const char *sandbox = json_str(object, "status", "sandbox", "name", NULL);
	if (sandbox == NULL || !sandbox[0]) /* of a very old controller */
		sandbox = json_str(object, "status", "sandbox", "Name", NULL);
	if (sandbox == NULL || !sandbox[0]) /* written before the status */
		sandbox = annotation(object, PREFIX "sandbox-name");
	fleet_projection_set_name(
		store, &claim->namespace_, json_str(object, "metadata", "namespace", NULL));
	fleet_projection_set_name(
		store, &claim->name, json_str(object, "metadata", "name", NULL));
	fleet_projection_set_name(
		store, &claim->pool, json_str(object, "spec", "warmPoolRef", "name", NULL));
	fleet_projection_set_name(store, &claim->sandbox, sandbox);
	fleet_projection_set_name(store, &claim->pod_ip,
		fleet_projection_first_ip(
			json_get(object, "status", "sandbox", "podIPs", NULL), NULL));
	fleet_projection_set_name(
		store, &claim->created_by, label(object, PREFIX "created-by"));
	read_finalizers(store, &claim->finalizers, object);
	read_labels(store, &claim->labels, object);
	claim->created_ms =
		k8s_time_ms(json_str(object, "metadata", "creationTimestamp", NULL));
	claim->deleted_ms = fleet_projection_deletion_ms(object);
	claim->shutdown_ms =
		k8s_time_ms(json_str(object, "spec", "lifecycle", "shutdownTime", NULL));
	claim->revision = fleet_revision_of(object);
	fleet_condition_read(store, &claim->ready, object, "Ready");
	fleet_condition_read_rare(store, &claim->finished, object, "Finished", false);
	/* up to v0.5.6 it carries the Sandbox's generation: no gate */
	claim->ready.is_current = true;
	read_start(claim, object);
}

void fleet_claim_drop(struct fleet_store *store, struct fleet_claim *claim)
{
	const char **texts[] = { &claim->namespace_, &claim->name, &claim->pool,
		&claim->sandbox, &claim->pod_ip, &claim->created_by, &claim->finalizers,
		&claim->labels };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fleet_projection_drop_text(store, texts[i]);
	fleet_condition_drop(store, &claim->ready);
	fleet_condition_drop_rare(store, &claim->finished);
	fleet_uid_drop(store, &claim->uid);
}

/* ---- Sandbox */

static void read_owner(
	struct fleet_store *store, struct fleet_sandbox *sandbox, const cJSON *object)
{
	const char *claim_uid = label(object, PREFIX "claim-uid");
	const char *pool = NULL;
	enum fleet_owner owner = OWNER_NONE;
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "metadata", "ownerReferences", NULL))
	{
		const char *kind = json_str(item, "kind", NULL);
		if (kind == NULL || !json_bool(item, false, "controller", NULL))
			continue;
		if (strcmp(kind, "SandboxClaim") == 0) {
			owner = OWNER_CLAIM;
			if (claim_uid == NULL || !claim_uid[0])
				claim_uid = json_str(item, "uid", NULL);
		} else if (strcmp(kind, "SandboxWarmPool") == 0) {
			owner = OWNER_POOL;
			pool = json_str(item, "name", NULL);
		} else {
			owner = OWNER_OTHER;
		}
	}
	sandbox->owner = (uint8_t)owner;
	fleet_projection_set_name(store, &sandbox->pool, pool);
	fleet_projection_set_uid(store, &sandbox->claim_uid, claim_uid);
}

void fleet_sandbox_read(
	struct fleet_store *store, struct fleet_sandbox *sandbox, const cJSON *object)
{
	const char *mode = json_str(object, "spec", "operatingMode", NULL);
	const char *launch = label(object, PREFIX "launch-type");
	fleet_projection_set_name(
		store, &sandbox->namespace_, json_str(object, "metadata", "namespace", NULL));
	fleet_projection_set_name(
		store, &sandbox->name, json_str(object, "metadata", "name", NULL));
	fleet_projection_set_name(
		store, &sandbox->template_, annotation(object, PREFIX "sandbox-template-ref"));
	fleet_projection_set_name(
		store, &sandbox->node, json_str(object, "status", "nodeName", NULL));
	fleet_projection_set_name(store, &sandbox->pod_ip,
		fleet_projection_first_ip(json_get(object, "status", "podIPs", NULL), NULL));
	fleet_projection_set_name(
		store, &sandbox->service_fqdn, json_str(object, "status", "serviceFQDN", NULL));
	fleet_projection_set_name(
		store, &sandbox->created_by, label(object, PREFIX "created-by"));
	fleet_projection_set_name(store, &sandbox->runtime_class,
		json_str(object, "spec", "podTemplate", "spec", "runtimeClassName", NULL));
	sandbox->runtime =
		fleet_projection_runtime(json_get(object, "spec", "podTemplate", "spec", NULL));
	fleet_projection_set_name(
		store, &sandbox->pod_name, annotation(object, PREFIX "pod-name"));
	read_finalizers(store, &sandbox->finalizers, object);
	read_labels(store, &sandbox->labels, object);
	read_owner(store, sandbox, object);
	sandbox->created_ms =
		k8s_time_ms(json_str(object, "metadata", "creationTimestamp", NULL));
	sandbox->deleted_ms = fleet_projection_deletion_ms(object);
	sandbox->shutdown_ms = k8s_time_ms(json_str(object, "spec", "shutdownTime", NULL));
	sandbox->revision = fleet_revision_of(object);
	fleet_condition_read(store, &sandbox->ready, object, "Ready");
	fleet_condition_read(store, &sandbox->suspended, object, "Suspended");
	fleet_condition_read_rare(store, &sandbox->scheduled, object, "PodScheduled", true);
	fleet_condition_read_rare(store, &sandbox->finished, object, "Finished", false);
	sandbox->is_suspended_mode = mode != NULL && strcmp(mode, "Suspended") == 0;
	sandbox->is_warm_start = launch != NULL && strcmp(launch, "warm") == 0;
	if (sandbox->is_suspended_mode || sandbox->suspended.status == CONDITION_TRUE ||
		sandbox->ready.code == REASON_SandboxSuspended)
		sandbox->was_suspended = true;
}

void fleet_sandbox_drop(struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	const char **texts[] = { &sandbox->namespace_, &sandbox->name, &sandbox->pool,
		&sandbox->template_, &sandbox->node, &sandbox->pod_ip, &sandbox->service_fqdn,
		&sandbox->created_by, &sandbox->runtime_class, &sandbox->pod_name,
		&sandbox->finalizers, &sandbox->labels };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fleet_projection_drop_text(store, texts[i]);
	fleet_condition_drop(store, &sandbox->ready);
	fleet_condition_drop(store, &sandbox->suspended);
	fleet_condition_drop_rare(store, &sandbox->scheduled);
	fleet_condition_drop_rare(store, &sandbox->finished);
	fleet_uid_drop(store, &sandbox->uid);
	fleet_uid_drop(store, &sandbox->claim_uid);
}

/* ---- SandboxWarmPool, SandboxTemplate */

static int count_of(int64_t number)
{
	return number < 0 ? 0 : number > INT32_MAX ? INT32_MAX : (int)number;
}

void fleet_pool_read(
	struct fleet_store *store, struct fleet_store_pool *pool, const cJSON *object)
{
	fleet_projection_set_name(
		store, &pool->namespace_, json_str(object, "metadata", "namespace", NULL));
	fleet_projection_set_name(
		store, &pool->name, json_str(object, "metadata", "name", NULL));
	fleet_projection_set_name(store, &pool->template_,
		json_str(object, "spec", "sandboxTemplateRef", "name", NULL));
	pool->desired = count_of(json_int(object, 1, "spec", "replicas", NULL));
	/* absent when zero */
	pool->ready = count_of(json_int(object, 0, "status", "readyReplicas", NULL));
	pool->revision = fleet_revision_of(object);
}

void fleet_pool_drop(struct fleet_store *store, struct fleet_store_pool *pool)
{
	fleet_projection_drop_text(store, &pool->namespace_);
	fleet_projection_drop_text(store, &pool->name);
	fleet_projection_drop_text(store, &pool->template_);
	fleet_uid_drop(store, &pool->uid);
}

void fleet_template_read(
	struct fleet_store *store, struct fleet_template *template_, const cJSON *object)
{
	fleet_projection_set_name(
		store, &template_->namespace_, json_str(object, "metadata", "namespace", NULL));
	fleet_projection_set_name(
		store, &template_->name, json_str(object, "metadata", "name", NULL));
	fleet_projection_set_name(store, &template_->runtime_class,
		json_str(object, "spec", "podTemplate", "spec", "runtimeClassName", NULL));
	template_->runtime =
		fleet_projection_runtime(json_get(object, "spec", "podTemplate", "spec", NULL));
	template_->revision = fleet_revision_of(object);
}

void fleet_template_drop(struct fleet_store *store, struct fleet_template *template_)
{
	fleet_projection_drop_text(store, &template_->namespace_);
	fleet_projection_drop_text(store, &template_->name);
	fleet_projection_drop_text(store, &template_->runtime_class);
	fleet_uid_drop(store, &template_->uid);
}
