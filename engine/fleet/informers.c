// SPDX-License-Identifier: Apache-2.0
/* The watches: six collections of one namespace or all, or (headless verbs) single objects by name. */
#include "engine/fleet/fleet_internal.h"

#include "engine/base/mem.h"
#include "engine/k8s/resource.h"
#include "engine/net/loop.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every pod of a Sandbox carries it; other pods of the cluster are none of our business. */
#define POD_SELECTOR "agents.x-k8s.io/sandbox-name-hash"

_Static_assert((int)FLEET_CLAIMS == (int)STORE_CLAIMS &&
		       (int)FLEET_SANDBOXES == (int)STORE_SANDBOXES &&
		       (int)FLEET_PODS == (int)STORE_PODS &&
		       (int)FLEET_POOLS == (int)STORE_POOLS &&
		       (int)FLEET_TEMPLATES == (int)STORE_TEMPLATES &&
		       (int)FLEET_EVENTS == (int)STORE_EVENTS &&
		       (int)FLEET_KIND_COUNT == (int)STORE_KIND_COUNT,
	"the kinds of the outside are those of the store");

static const struct k8s_resource *const resources[] = {
	[STORE_CLAIMS] = &k8s_sandboxclaims,
	[STORE_SANDBOXES] = &k8s_sandboxes,
	[STORE_PODS] = &k8s_pods,
	[STORE_POOLS] = &k8s_sandboxwarmpools,
	[STORE_TEMPLATES] = &k8s_sandboxtemplates,
	[STORE_EVENTS] = &k8s_events,
};
_Static_assert(sizeof resources / sizeof *resources == STORE_KIND_COUNT, "each kind");

static void focus_follow(
	struct fleet_single_watch *focus, enum fleet_store_kind kind, const cJSON *object);

/* ---- callbacks of the reflectors */

static void on_object(void *arg, enum kube_change change, const cJSON *object)
{
	struct fleet_informer *source = arg;
	const char *uid = json_str(object, "metadata", "uid", NULL);
	if (source->focus != NULL && change != KUBE_DELETED && uid != NULL)
		snprintf(source->seen_uid, sizeof source->seen_uid, "%s", uid);
	fleet_store_apply(&source->fleet->store, source->kind, change, object);
	if (source->focus != NULL && change != KUBE_DELETED)
		focus_follow(source->focus, source->kind, object);
}

static void on_sync(void *arg, bool begin)
{
	struct fleet_informer *source = arg;
	struct fleet *fleet = source->fleet;
	if (begin)
		source->seen_uid[0] = '\0';
	else
		source->synced = true;
	if (source->focus == NULL)
		fleet_store_sync(&fleet->store, source->kind, begin);
	else if (!begin)
		fleet_store_forget_named(&fleet->store, source->kind, source->focus->namespace_,
			source->name, source->seen_uid);
	if (source->focus != NULL && !begin && source->kind == STORE_CLAIMS) {
		/* a Sandbox may be shown by itself only once its claim has been looked for */
		fleet->store.is_synced[STORE_CLAIMS] = true;
		fleet_store_show_hidden(&fleet->store);
	}
	fleet_note_change(fleet);
}

static void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
{
	struct fleet_informer *source = arg;
	source->state = state;
	if (err != NULL)
		source->err = *err;
	else
		source->err.code = ERR_NONE;
	bool is_forbidden = state == KUBE_REFLECTOR_FORBIDDEN;
	struct fleet_store *store = &source->fleet->store;
	if (source->focus == NULL) {
		fleet_store_set_forbidden(store, source->kind, is_forbidden);
	} else if (is_forbidden && source->kind == STORE_CLAIMS) {
		store->is_forbidden[STORE_CLAIMS] = true;
		fleet_store_show_hidden(store);
	}
	fleet_note_change(source->fleet);
}

static void source_start(
	struct fleet_informer *source, const char *label_selector, const char *field_selector)
{
	const struct kube_reflector_opts opts = {
		.resource = resources[source->kind],
		.namespace_ =
			source->focus ? source->focus->namespace_ : source->fleet->namespace_,
		.label_selector = label_selector,
		.field_selector = field_selector,
		.on_object = on_object,
		.on_sync = on_sync,
		.on_state = on_state,
		.arg = source,
	};
	source->synced = false;
	source->err.code = ERR_NONE;
	source->state = KUBE_REFLECTOR_STARTING;
	source->reflector = kube_reflector_start(source->fleet->kube, &opts, &source->err);
}

static void source_stop(struct fleet_informer *source)
{
	kube_reflector_stop(source->reflector);
	source->reflector = NULL;
	free(source->name);
	source->name = NULL;
}

/* ---- whole collections */

void fleet_informers_start_whole(struct fleet *fleet)
{
	fleet->is_watching = true;
	for (size_t i = 0; i < STORE_KIND_COUNT; i++) {
		struct fleet_informer *source = &fleet->whole[i];
		source->fleet = fleet;
		source->kind = (enum fleet_store_kind)i;
		const char *selector = i == STORE_CLAIMS ? fleet->label_selector
				       : i == STORE_PODS ? POD_SELECTOR
							 : NULL;
		source_start(source, selector, NULL);
	}
}

/* ---- one claim */

/* DNS-1123 subdomain: nothing else can be the name of an object of ours, and it needs no escaping. */
static bool is_object_name(const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i < n; i++) {
		char c = name[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
			return false;
	}
	return n > 0 && n <= 253;
}

static void want(struct fleet_single_watch *focus, enum fleet_single_watch_slot slot,
	enum fleet_store_kind kind, const char *field, const char *name)
{
	struct fleet_informer *source = &focus->slots[slot];
	if (name == NULL || !name[0] || (source->name && strcmp(source->name, name) == 0))
		return;
	source_stop(source);
	source->fleet = focus->fleet;
	source->focus = focus;
	source->kind = kind;
	source->name = x_strdup(name);
	if (!is_object_name(name)) {
		source->synced = true; /* it cannot exist */
		fleet_note_change(focus->fleet);
		return;
	}
	char *selector = x_asprintf("%s=%s", field, name);
	source_start(source, NULL, selector);
	free(selector);
}

static const char *controller_name(const cJSON *object, const char *kind)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "metadata", "ownerReferences", NULL))
	{
		const char *is = json_str(item, "kind", NULL);
		if (is != NULL && strcmp(is, kind) == 0)
			return json_str(item, "name", NULL);
	}
	return NULL;
}

static const char *annotation(const cJSON *object, const char *key)
{
	const char *text = json_str(object, "metadata", "annotations", key, NULL);
	return text && text[0] ? text : NULL;
}

/* The first PersistentVolumeClaim of a pod that waits: what it waits for may be told of that one. */
static const char *volume_name(const cJSON *pod)
{
	const char *phase = json_str(pod, "status", "phase", NULL);
	const cJSON *item;
	if (phase != NULL && strcmp(phase, "Pending") != 0)
		return NULL;
	cJSON_ArrayForEach(item, json_get(pod, "spec", "volumes", NULL))
	{
		const char *name = json_str(item, "persistentVolumeClaim", "claimName", NULL);
		if (name != NULL)
			return name;
	}
	return NULL;
}

/* What one object says about the next to look at. */
static void focus_follow(
	struct fleet_single_watch *focus, enum fleet_store_kind kind, const cJSON *object)
{
	const char *name = json_str(object, "metadata", "name", NULL);
	if (kind == STORE_CLAIMS) {
		const char *sandbox = json_str(object, "status", "sandbox", "name", NULL);
		if (sandbox == NULL || !sandbox[0])
			sandbox = annotation(object, "agents.x-k8s.io/sandbox-name");
		want(focus, FOCUS_SANDBOX, STORE_SANDBOXES, "metadata.name", sandbox);
		want(focus, FOCUS_POOL, STORE_POOLS, "metadata.name",
			json_str(object, "spec", "warmPoolRef", "name", NULL));
		want(focus, FOCUS_CLAIM_EVENTS, STORE_EVENTS, "involvedObject.name", name);
		if (sandbox == NULL) /* what keeps its pool from giving it one */
			want(focus, FOCUS_POOL_EVENTS, STORE_EVENTS, "involvedObject.name",
				json_str(object, "spec", "warmPoolRef", "name", NULL));
	} else if (kind == STORE_PODS) {
		want(focus, FOCUS_VOLUME_EVENTS, STORE_EVENTS, "involvedObject.name",
			volume_name(object));
	} else if (kind == STORE_SANDBOXES) {
		const char *pod = annotation(object, "agents.x-k8s.io/pod-name");
		const struct fleet_informer *events = &focus->slots[FOCUS_CLAIM_EVENTS];
		if (focus->slots[FOCUS_CLAIM].name == NULL)
			want(focus, FOCUS_CLAIM, STORE_CLAIMS, "metadata.name",
				controller_name(object, "SandboxClaim"));
		want(focus, FOCUS_POD, STORE_PODS, "metadata.name", pod ? pod : name);
		if (name != NULL && (events->name == NULL || strcmp(events->name, name) != 0))
			want(focus, FOCUS_SANDBOX_EVENTS, STORE_EVENTS, "involvedObject.name",
				name);
	}
}

/* `<claim>.<8 hex digits>`: the claim's part, or NULL. free() */
static char *short_form(const char *name)
{
	const char *dot = strrchr(name, '.');
	if (dot == NULL || dot == name || strlen(dot + 1) != 8)
		return NULL;
	for (const char *p = dot + 1; *p; p++) {
		if (!isdigit((unsigned char)*p) && !(*p >= 'a' && *p <= 'f'))
			return NULL;
	}
	return x_strndup(name, (size_t)(dot - name));
}

void fleet_informers_focus(struct fleet *fleet, const char *namespace_, const char *name)
{
	for (struct fleet_single_watch *known = fleet->focuses; known != NULL;
		known = known->next) {
		if (strcmp(known->namespace_, namespace_) == 0 &&
			strcmp(known->name, name) == 0)
			return;
	}
	struct fleet_single_watch *focus = x_calloc(1, sizeof *focus);
	focus->fleet = fleet;
	focus->namespace_ = x_strdup(namespace_);
	focus->name = x_strdup(name);
	focus->next = fleet->focuses;
	fleet->focuses = focus;
	if (strncmp(name, "sandbox/", 8) == 0) {
		want(focus, FOCUS_SANDBOX, STORE_SANDBOXES, "metadata.name", name + 8);
		return;
	}
	want(focus, FOCUS_CLAIM, STORE_CLAIMS, "metadata.name", name);
	char *claim = short_form(name);
	if (claim != NULL)
		want(focus, FOCUS_CLAIM_SHORT, STORE_CLAIMS, "metadata.name", claim);
	free(claim);
}

static bool is_settled(const struct fleet_informer *source)
{
	return source->name == NULL || source->synced ||
	       source->state == KUBE_REFLECTOR_FORBIDDEN;
}

static bool focus_is_synced(const struct fleet_single_watch *focus)
{
	return is_settled(&focus->slots[FOCUS_CLAIM]) &&
	       is_settled(&focus->slots[FOCUS_CLAIM_SHORT]) &&
	       is_settled(&focus->slots[FOCUS_SANDBOX]);
}

bool fleet_is_synced(const struct fleet *fleet)
{
	if (fleet->is_watching) {
		static const enum fleet_store_kind deciding[] = { STORE_CLAIMS,
			STORE_SANDBOXES };
		for (size_t i = 0; i < 2; i++) {
			const struct fleet_informer *source = &fleet->whole[deciding[i]];
			if (!source->synced && source->state != KUBE_REFLECTOR_FORBIDDEN)
				return false;
		}
		return true;
	}
	for (const struct fleet_single_watch *focus = fleet->focuses; focus;
		focus = focus->next) {
		if (!focus_is_synced(focus))
			return false;
	}
	return fleet->focuses != NULL;
}

bool fleet_is_settled(const struct fleet *fleet)
{
	struct fleet_informer_state sources[STORE_KIND_COUNT];
	size_t n = fleet_informers(fleet, sources, STORE_KIND_COUNT);
	for (size_t i = 0; i < n; i++) {
		if (!sources[i].synced && sources[i].err == NULL)
			return false;
	}
	return true;
}

bool fleet_is_listed(const struct fleet *fleet, enum fleet_kind kind)
{
	for (const struct fleet_single_watch *focus = fleet->focuses; focus;
		focus = focus->next) {
		for (size_t i = 0; i < FOCUS_SLOT_COUNT; i++) {
			const struct fleet_informer *source = &focus->slots[i];
			if ((int)source->kind == (int)kind && source->name && source->synced)
				return true;
		}
	}
	return fleet->whole[kind].synced;
}

const struct err *fleet_failure(const struct fleet *fleet, enum fleet_kind kind)
{
	const struct fleet_informer *whole = &fleet->whole[kind];
	if (whole->err.code == ERR_NONE || whole->state == KUBE_REFLECTOR_FORBIDDEN ||
		whole->state == KUBE_REFLECTOR_POLLED)
		return NULL;
	return &whole->err;
}

const struct err *fleet_unwatched(const struct fleet *fleet, enum fleet_kind kind)
{
	const struct fleet_informer *whole = &fleet->whole[kind];
	return whole->state == KUBE_REFLECTOR_POLLED ? &whole->err : NULL;
}

const struct err *fleet_forbidden(const struct fleet *fleet, enum fleet_kind kind)
{
	const struct fleet_informer *whole = &fleet->whole[kind];
	if (whole->state == KUBE_REFLECTOR_FORBIDDEN)
		return fleet->store.is_forbidden[kind] ? &whole->err : NULL;
	for (const struct fleet_single_watch *focus = fleet->focuses; focus;
		focus = focus->next) {
		for (size_t i = 0; i < FOCUS_SLOT_COUNT; i++) {
			const struct fleet_informer *source = &focus->slots[i];
			if (source->name != NULL && (int)source->kind == (int)kind &&
				source->state == KUBE_REFLECTOR_FORBIDDEN)
				return &source->err;
		}
	}
	return NULL;
}

bool fleet_informers_sandboxes_unknown(const struct fleet *fleet)
{
	if (fleet->is_watching)
		return fleet->whole[STORE_SANDBOXES].state == KUBE_REFLECTOR_FORBIDDEN;
	for (const struct fleet_single_watch *focus = fleet->focuses; focus;
		focus = focus->next) {
		if (focus->slots[FOCUS_SANDBOX].state == KUBE_REFLECTOR_FORBIDDEN)
			return true;
	}
	return false;
}

/* ---- all of them */

void fleet_informers_stop(struct fleet *fleet)
{
	for (size_t i = 0; i < STORE_KIND_COUNT; i++)
		source_stop(&fleet->whole[i]);
	while (fleet->focuses != NULL) {
		struct fleet_single_watch *focus = fleet->focuses;
		fleet->focuses = focus->next;
		for (size_t i = 0; i < FOCUS_SLOT_COUNT; i++)
			source_stop(&focus->slots[i]);
		free(focus->namespace_);
		free(focus->name);
		free(focus);
	}
}

void fleet_hurry(struct fleet *fleet, bool is_lane_dead)
{
	for (size_t i = 0; i < STORE_KIND_COUNT; i++) {
		if (fleet->whole[i].reflector != NULL)
			kube_reflector_hurry(fleet->whole[i].reflector, is_lane_dead);
	}
}

void fleet_resync(struct fleet *fleet)
{
	for (size_t i = 0; i < STORE_KIND_COUNT; i++) {
		if (fleet->whole[i].reflector != NULL)
			kube_reflector_resync(fleet->whole[i].reflector);
	}
	for (struct fleet_single_watch *focus = fleet->focuses; focus != NULL;
		focus = focus->next) {
		for (size_t i = 0; i < FOCUS_SLOT_COUNT; i++) {
			if (focus->slots[i].reflector != NULL)
				kube_reflector_resync(focus->slots[i].reflector);
		}
	}
}

/* Several sources of one kind (a focus each) show as one: not synced until all are, as old as the oldest. */
static void merge(struct fleet_informer_state *out, const struct fleet_informer *source)
{
	bool has_err = source->err.code != ERR_NONE;
	int64_t age = source->reflector ? kube_reflector_age_ms(source->reflector) : 0;
	out->synced = out->synced && source->synced;
	if (age > out->age_ms)
		out->age_ms = age;
	if (out->state_name == NULL || (has_err && out->err == NULL)) {
		out->state = (int)source->state;
		out->state_name = kube_reflector_state_name(source->state);
		out->err = has_err ? &source->err : NULL;
		out->error = has_err ? source->err.msg : "";
		out->not_before_ms = has_err && source->reflector
					     ? kube_reflector_not_before_ms(source->reflector)
					     : 0;
	}
}

size_t fleet_informers(const struct fleet *fleet, struct fleet_informer_state *out, size_t max)
{
	size_t n = 0;
	for (size_t kind = 0; kind < STORE_KIND_COUNT && n < max; kind++) {
		struct fleet_informer_state merged = {
			.resource = resources[kind]->plural, .error = "", .synced = true
		};
		const struct fleet_informer *whole = &fleet->whole[kind];
		if (whole->reflector != NULL || whole->err.code != ERR_NONE)
			merge(&merged, whole);
		for (const struct fleet_single_watch *focus = fleet->focuses; focus;
			focus = focus->next) {
			for (size_t i = 0; i < FOCUS_SLOT_COUNT; i++) {
				const struct fleet_informer *source = &focus->slots[i];
				if (source->name != NULL && source->kind == kind)
					merge(&merged, source);
			}
		}
		if (merged.state_name != NULL)
			out[n++] = merged;
	}
	return n;
}
