// SPDX-License-Identifier: Apache-2.0
/* Events about our objects (core/v1 view), newest first by object, kept after they expire on the server. Bounded: so
 * many by object, so many in all; the objects unheard of for longest go first. Events about objects that we do not hold
 * (other pods of the namespace, or a pod whose own watch is a moment behind) have a small room of their own. */
#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/fleet/store.h"
#include "engine/k8s/time.h"

#include <string.h>

static struct fleet_event_list *find_list(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	size_t cursor = INDEX_FIRST;
	struct fleet_event_list *list;
	while ((list = fleet_index_next(&store->event_index, fleet_uid_hash(uid), &cursor)) !=
		NULL) {
		if (fleet_uid_equals(&list->about, uid))
			return list;
	}
	return NULL;
}

const struct fleet_event_list *fleet_events_about(
	const struct fleet_store *store, const struct fleet_uid *uid)
{
	return find_list(store, uid);
}

static size_t bytes_of(const struct fleet_store_event *event)
{
	const char *const texts[] = { event->reason, event->message, event->object };
	size_t n = sizeof *event;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		n += texts[i] ? strlen(texts[i]) : 0;
	return n;
}

static void event_free(struct fleet_store *store, struct fleet_event_list *list,
	struct fleet_store_event *event)
{
	DL_DELETE(list->events, event);
	list->n--;
	store->n_events--;
	store->event_bytes -= bytes_of(event);
	fleet_string_pool_unref(&store->texts, event->reason);
	fleet_string_pool_unref(&store->texts, event->message);
	fleet_string_pool_unref(&store->texts, event->object);
	fleet_uid_drop(store, &event->uid);
	free(event);
}

static void unlink_list(struct fleet_store *store, struct fleet_event_list *list)
{
	if (list->is_known) {
		DL_DELETE(store->known_events, list);
	} else {
		DL_DELETE(store->unknown_events, list);
		store->n_unknown_lists--;
	}
}

static void link_list(struct fleet_store *store, struct fleet_event_list *list, bool is_known)
{
	list->is_known = is_known;
	if (is_known) {
		DL_APPEND(store->known_events, list);
	} else {
		DL_APPEND(store->unknown_events, list);
		store->n_unknown_lists++;
	}
}

static void list_free(struct fleet_store *store, struct fleet_event_list *list)
{
	while (list->events != NULL)
		event_free(store, list, list->events);
	unlink_list(store, list);
	fleet_index_remove(&store->event_index, fleet_uid_hash(&list->about), list);
	fleet_uid_drop(store, &list->about);
	free(list);
}

void fleet_events_deinit(struct fleet_store *store)
{
	while (store->known_events != NULL)
		list_free(store, store->known_events);
	while (store->unknown_events != NULL)
		list_free(store, store->unknown_events);
	fleet_index_deinit(&store->event_index);
}

void fleet_events_now_known(struct fleet_store *store, const struct fleet_uid *uid)
{
	struct fleet_event_list *list = find_list(store, uid);
	if (list == NULL || list->is_known)
		return;
	unlink_list(store, list);
	link_list(store, list, true);
}

/* The latest of what the different generations of the API fill in. */
static int64_t when_of(const cJSON *object)
{
	const char *dates[] = {
		json_str(object, "series", "lastObservedTime", NULL),
		json_str(object, "lastTimestamp", NULL),
		json_str(object, "eventTime", NULL),
		json_str(object, "metadata", "creationTimestamp", NULL),
	};
	for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
		int64_t ns;
		if (k8s_time_parse(dates[i], &ns))
			return ns / 1000000;
	}
	return 0;
}

/* The rows that an event may explain; false if the object is not one of ours. */
static bool row_about(const struct fleet_store *store, const struct fleet_uid *uid,
	struct fleet_store_row **row)
{
	const struct fleet_pod *pod = fleet_pod_of_uid(store, uid);
	const struct fleet_sandbox *sandbox =
		pod ? pod->sandbox : fleet_sandbox_of_uid(store, uid);
	const struct fleet_claim *claim =
		pod || sandbox ? NULL : fleet_claim_of_uid(store, uid);
	*row = sandbox ? sandbox->row : claim ? claim->row : NULL;
	return pod != NULL || sandbox != NULL || claim != NULL;
}

static bool is_our_kind(const char *kind)
{
	return strcmp(kind, "Pod") == 0 || strcmp(kind, "Sandbox") == 0 ||
	       strcmp(kind, "SandboxClaim") == 0 || strcmp(kind, "SandboxWarmPool") == 0 ||
	       strcmp(kind, "PersistentVolumeClaim") == 0;
}

/* PersistentVolumeClaims are not held: pods know their names only. */
static struct fleet_uid volume_key(
	struct fleet_store *store, const char *namespace_, const char *name)
{
	struct str key;
	str_init(&key, 2 * STORE_MAX_NAME);
	str_addf(&key, "pvc/%s/%s", namespace_ ? namespace_ : "", name);
	struct fleet_uid uid = fleet_uid_parse(store, key.p);
	str_deinit(&key);
	return uid;
}

const struct fleet_store_event *fleet_events_about_volume(
	const struct fleet_store *store, const char *namespace_, const char *name)
{
	/* the store is not changed by a look-up, but the key is interned for its length */
	union {
		const struct fleet_store *borrowed;
		struct fleet_store *owned;
	} access = { store };
	struct fleet_uid key = volume_key(access.owned, namespace_, name);
	const struct fleet_event_list *list = find_list(store, &key);
	fleet_uid_drop(access.owned, &key);
	for (const struct fleet_store_event *e = list ? list->events : NULL; e; e = e->next) {
		if (e->is_warning)
			return e;
	}
	return NULL;
}

static struct fleet_store_event *find_event(
	struct fleet_event_list *list, const struct fleet_uid *uid)
{
	for (struct fleet_store_event *event = list->events; event != NULL;
		event = event->next) {
		if (fleet_uid_equals(&event->uid, uid))
			return event;
	}
	return NULL;
}

static void insert(struct fleet_event_list *list, struct fleet_store_event *event)
{
	struct fleet_store_event *before = list->events;
	while (before != NULL && before->when_ms > event->when_ms)
		before = before->next;
	if (before == NULL)
		DL_APPEND(list->events, event);
	else
		DL_PREPEND_ELEM(list->events, before, event);
}

static void put(struct fleet_store *store, struct fleet_event_list *list, struct fleet_uid *uid,
	const cJSON *object, const char *about)
{
	struct fleet_store_event *event = find_event(list, uid);
	if (event != NULL) {
		DL_DELETE(list->events, event);
		store->event_bytes -= bytes_of(event);
	} else {
		event = x_calloc(1, sizeof *event);
		event->uid = *uid;
		memset(uid, 0, sizeof *uid);
		list->n++;
		store->n_events++;
	}
	const char *type = json_str(object, "type", NULL);
	int64_t count = json_int(object, 0, "series", "count", NULL);
	if (count == 0)
		count = json_int(object, 1, "count", NULL);
	event->when_ms = when_of(object);
	event->count = count > 0 && count < INT32_MAX ? (int)count : 1;
	event->is_warning = type != NULL && strcmp(type, "Warning") == 0;
	fleet_string_pool_set(&store->texts, &event->reason, json_str(object, "reason", NULL),
		STORE_MAX_NAME);
	fleet_string_pool_set(&store->texts, &event->message, json_str(object, "message", NULL),
		STORE_MAX_MESSAGE);
	fleet_string_pool_set(&store->texts, &event->object, about, STORE_MAX_NAME);
	store->event_bytes += bytes_of(event);
	insert(list, event);
	if (list->n > STORE_MAX_EVENTS_EACH)
		event_free(store, list, list->events->prev); /* the oldest */
}

static void make_room(struct fleet_store *store, const struct fleet_event_list *not_this)
{
	while (store->n_unknown_lists > STORE_MAX_UNKNOWN_LISTS &&
		store->unknown_events != not_this)
		list_free(store, store->unknown_events);
	while (store->n_events > STORE_MAX_EVENTS ||
		store->event_bytes > STORE_MAX_EVENT_BYTES) {
		struct fleet_event_list *oldest =
			store->unknown_events && store->unknown_events != not_this
				? store->unknown_events
				: store->known_events;
		if (oldest == NULL || oldest == not_this)
			break;
		list_free(store, oldest);
	}
}

/* The row whose pod waits for that volume. Few objects have such warnings, and few pods volumes. */
static struct fleet_store_row *row_of_volume(
	const struct fleet_store *store, const char *namespace_, const char *name)
{
	for (size_t i = 0; i < store->pods.capacity; i++) {
		const struct fleet_pod *pod = fleet_index_at(&store->pods, i);
		if (pod == NULL || !pod->volumes[0] || pod->sandbox == NULL ||
			strcmp(pod->namespace_, namespace_) != 0)
			continue;
		const char *at = strstr(pod->volumes, name);
		size_t n = strlen(name);
		if (at != NULL && (at[n] == '\0' || at[n] == ',') &&
			(at == pod->volumes || at[-1] == ' '))
			return pod->sandbox->row;
	}
	return NULL;
}

struct fleet_store_row *fleet_events_apply(struct fleet_store *store, const cJSON *object)
{
	const char *kind = json_str(object, "involvedObject", "kind", NULL);
	const char *name = json_str(object, "involvedObject", "name", NULL);
	const char *about_uid = json_str(object, "involvedObject", "uid", NULL);
	const char *own_uid = json_str(object, "metadata", "uid", NULL);
	if (kind == NULL || name == NULL || about_uid == NULL || own_uid == NULL ||
		!is_our_kind(kind) || !about_uid[0] || !own_uid[0])
		return NULL;
	bool is_volume = strcmp(kind, "PersistentVolumeClaim") == 0;
	const char *in = json_str(object, "involvedObject", "namespace", NULL);
	struct fleet_uid about = is_volume ? volume_key(store, in, name)
					   : fleet_uid_parse(store, about_uid),
			 own = fleet_uid_parse(store, own_uid);
	struct fleet_store_row *row;
	bool is_known = strcmp(kind, "SandboxWarmPool") == 0;
	is_known |= row_about(store, &about, &row);
	struct fleet_event_list *list = find_list(store, &about);
	if (list == NULL) {
		list = x_calloc(1, sizeof *list);
		list->about = about;
		memset(&about, 0, sizeof about);
		fleet_index_add(&store->event_index, fleet_uid_hash(&list->about), list);
	} else {
		unlink_list(store, list);
	}
	link_list(store, list, is_known);
	struct str object_name;
	str_init(&object_name, STORE_MAX_NAME);
	str_addf(&object_name, "%s/%s", kind, name);
	put(store, list, &own, object, object_name.p);
	str_deinit(&object_name);
	make_room(store, list);
	if (is_volume && in != NULL)
		row = row_of_volume(store, in, name);
	fleet_uid_drop(store, &about);
	fleet_uid_drop(store, &own);
	return row;
}
