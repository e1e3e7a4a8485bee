// SPDX-License-Identifier: Apache-2.0
/* Events by the controllers, stored as core/v1. The same thing about the same object within its life raises
 * a count instead of adding an object. Kept for an hour, at most 5,000. */
#include "local/server/controller/controller.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EVENTS = 5000, KEEP_SECONDS = 3600, NOTE_BYTES = 1024 };

static cJSON *reference_to(const struct store_object *o)
{
	char version[K8S_API_VERSION_BYTES];
	const struct store_resource *r = store_resource_of(o->kind);
	cJSON *ref = cJSON_CreateObject();
	cJSON_AddStringToObject(ref, "kind", r->api->kind);
	if (*o->ns)
		cJSON_AddStringToObject(ref, "namespace", o->ns);
	cJSON_AddStringToObject(ref, "name", o->name);
	cJSON_AddStringToObject(ref, "uid", o->uid);
	cJSON_AddStringToObject(ref, "apiVersion", k8s_api_version(r->api, version));
	cJSON_AddStringToObject(
		ref, "resourceVersion", json_str(o->json, "metadata", "resourceVersion", NULL));
	return ref;
}

/* The event of this name counts one more. */
static bool count_again(struct controller *c, const char *ns, const char *name)
{
	char now[CLOCK_RFC3339_BYTES];
	struct store_object *old = store_get(c->server->store, KIND_EVENT, ns, name);
	if (!old)
		return false;
	cJSON *json = cJSON_Duplicate(old->json, true);
	int64_t count = json_int(json, 1, "count", NULL) + 1;
	controller_unstructured_set_number(json, "count", (double)count);
	controller_unstructured_set(json, "lastTimestamp", k8s_time_now(K8S_TIME, now));
	cJSON *series = controller_unstructured_object(json, "series");
	controller_unstructured_set_number(series, "count", (double)count);
	controller_unstructured_set(
		series, "lastObservedTime", k8s_time_now(K8S_MICRO_TIME, now));
	controller_update(c, old, json, OBJECTS_MAIN);
	return true;
}

void controller_events_record(struct controller *c, const struct store_object *about,
	enum controller_event_type type, const char *reason, const char *action,
	const char *format, ...)
{
	char now[CLOCK_RFC3339_BYTES], name[320], hash[HASH8_BYTES];
	struct str note, key;
	va_list args;
	const char *ns = *about->ns ? about->ns : "default";
	str_init(&note, NOTE_BYTES);
	str_init(&key, NOTE_BYTES + 128);
	va_start(args, format);
	str_vaddf(&note, format, args);
	va_end(args);
	str_addf(&key, "%s/%s/%s", about->uid, reason, note.p);
	snprintf(name, sizeof name, "%.230s.%s%.8s", about->name, controller_hash8(key.p, hash),
		about->uid);
	if (!count_again(c, ns, name)) {
		cJSON *e = cJSON_CreateObject();
		controller_unstructured_set(
			controller_unstructured_object(e, "metadata"), "name", name);
		cJSON_AddItemToObject(e, "involvedObject", reference_to(about));
		controller_unstructured_set(e, "reason", reason);
		controller_unstructured_set(e, "message", note.p);
		controller_unstructured_set(controller_unstructured_object(e, "source"),
			"component", "sandmux-locald");
		controller_unstructured_set(e, "firstTimestamp", k8s_time_now(K8S_TIME, now));
		controller_unstructured_set(e, "lastTimestamp", now);
		controller_unstructured_set_number(e, "count", 1);
		controller_unstructured_set(
			e, "type", type == EVENT_WARNING ? "Warning" : "Normal");
		controller_unstructured_set(e, "eventTime", k8s_time_now(K8S_MICRO_TIME, now));
		controller_unstructured_set(e, "action", action);
		controller_unstructured_set(e, "reportingComponent", "sandmux-locald");
		controller_unstructured_set(e, "reportingInstance", "sandmux-locald");
		controller_create(c, KIND_EVENT, ns, e, NULL);
	}
	str_deinit(&note);
	str_deinit(&key);
	if (store_count(c->server->store, KIND_EVENT) > MAX_EVENTS)
		controller_events_prune(c);
}

static int64_t last_seen_ns(const struct store_object *o)
{
	int64_t ns = 0;
	const char *text = json_str(o->json, "series", "lastObservedTime", NULL);
	if (!text)
		text = json_str(o->json, "lastTimestamp", NULL);
	if (!text)
		text = json_str(o->json, "metadata", "creationTimestamp", NULL);
	k8s_time_parse(text, &ns);
	return ns;
}

static int by_last_seen(const void *a, const void *b)
{
	int64_t x = last_seen_ns(*(struct store_object *const *)a);
	int64_t y = last_seen_ns(*(struct store_object *const *)b);
	return x < y ? -1 : x > y;
}

void controller_events_prune(struct controller *c)
{
	struct store *s = c->server->store;
	size_t n, over;
	struct store_object **v = store_list(s, KIND_EVENT, NULL, store_revision(s), &n);
	int64_t oldest = clock_wall_ns() - (int64_t)KEEP_SECONDS * 1000000000;
	over = n > MAX_EVENTS ? n - MAX_EVENTS * 9 / 10 : 0;
	if (n > 1)
		qsort(v, n, sizeof *v, by_last_seen);
	for (size_t i = 0; i < n && (i < over || last_seen_ns(v[i]) < oldest); i++) {
		struct store_object *o = store_get(s, KIND_EVENT, v[i]->ns, v[i]->name);
		if (o)
			store_remove(s, o, NULL);
	}
	store_list_free(v, n);
}
