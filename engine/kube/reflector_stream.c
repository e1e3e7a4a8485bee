// SPDX-License-Identifier: Apache-2.0
/* The requests of a reflector: a page of a list, a streaming list, or a watch; bytes to objects, one at a time. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/k8s/status.h"
#include "engine/kube/managed_fields.h"

#include <stdio.h>
#include <string.h>

enum {
	LIST_TIMEOUT_MS = 5 * 60 * 1000,
	HEADERS_TIMEOUT_MS = 60 * 1000, /* the server itself gives up after 60 s */
	STALL_TIMEOUT_MS = 30 * 1000,
	QUERY_MAX_BYTES = 16 << 10,
};
/* A server that ignores `limit` sends everything at once: parsed as it comes, but not without end. */
#define LIST_MAX_BYTES ((size_t)4 << 30)

static bool protocol(struct err *err, const char *what)
{
	return err_set(err, ERR_KUBE_PROTOCOL, "%s", what);
}

static cJSON *parse(struct kube_reflector *reflector, struct slice value, struct err *err)
{
	cJSON *object =
		json_parse(kube_without_managed_fields(value, &reflector->scratch), err);
	if (object == NULL && err != NULL && err->code == ERR_RUNTIME_PROTOCOL)
		err->code = ERR_KUBE_PROTOCOL;
	return object;
}

/* ---- a page of a list */

static bool on_item(void *arg, struct slice value, struct err *err)
{
	struct kube_reflector *reflector = arg;
	cJSON *object = parse(reflector, value, err);
	if (object == NULL)
		return false;
	reflector->seen++;
	if (cJSON_IsObject(object))
		reflector->opts.on_object(reflector->opts.arg, KUBE_ADDED, object);
	cJSON_Delete(object);
	return !reflector->is_dead;
}

static bool on_page_rest(void *arg, struct slice value, struct err *err)
{
	struct kube_reflector *reflector = arg;
	cJSON *rest = parse(reflector, value, err);
	if (rest == NULL)
		return false;
	const char *revision = json_str(rest, "metadata", "resourceVersion", NULL);
	const char *token = json_str(rest, "metadata", "continue", NULL);
	bool ok = true;
	if (json_get(rest, "items", NULL) == NULL)
		ok = protocol(err, "the answer is not a list");
	else if (revision == NULL || !revision[0])
		ok = protocol(err, "the list has no resourceVersion");
	if (ok) {
		str_clear(&reflector->list_revision);
		str_add(&reflector->list_revision, revision);
		str_clear(&reflector->token);
		str_add(&reflector->token, token ? token : "");
		if (reflector->token.truncated || reflector->list_revision.truncated)
			ok = protocol(err, "the list's continue token is too long");
		reflector->remaining =
			json_int(rest, -1, "metadata", "remainingItemCount", NULL);
		reflector->page_has_rest = true;
	}
	cJSON_Delete(rest);
	return ok;
}

/* ---- events of a watch */

static bool take_error(struct kube_reflector *reflector, const cJSON *object, struct err *err)
{
	reflector->event_status = (int)json_int(object, 500, "code", NULL);
	k8s_status_to_err(reflector->event_status, object, (struct slice){ "", 0 },
		&reflector->event_err);
	err_copy(err, &reflector->event_err);
	return false; /* the server ends the stream too */
}

static bool ends_initial_events(const cJSON *object)
{
	const char *is =
		json_str(object, "metadata", "annotations", "k8s.io/initial-events-end", NULL);
	return is != NULL && strcmp(is, "true") == 0;
}

/* Before the end of the initial events no revision is one to go on from: they come in the order of their names. */
static bool take_initial(struct kube_reflector *reflector, bool is_bookmark,
	const cJSON *object, struct err *err)
{
	if (!is_bookmark) {
		reflector->seen++;
		return true;
	}
	if (!ends_initial_events(object))
		return protocol(err, "the API server does not mark the end of initial events");
	const char *revision = json_str(object, "metadata", "resourceVersion", NULL);
	return reflector->events->initial_ended(reflector, revision, err);
}

static bool take_event(struct kube_reflector *reflector, const cJSON *event, struct err *err)
{
	static const struct {
		const char *type;
		enum kube_change change;
	} changes[] = { { "ADDED", KUBE_ADDED }, { "MODIFIED", KUBE_MODIFIED },
		{ "DELETED", KUBE_DELETED } };
	const char *type = json_str(event, "type", NULL);
	const cJSON *object = json_get(event, "object", NULL);
	if (type == NULL || !cJSON_IsObject(object))
		return protocol(err, "a watch event without type or object");
	if (strcmp(type, "ERROR") == 0)
		return take_error(reflector, object, err);
	const char *revision = json_str(object, "metadata", "resourceVersion", NULL);
	bool is_initial = reflector->phase == REFLECTOR_INITIAL;
	bool is_bookmark = strcmp(type, "BOOKMARK") == 0;
	reflector->stats.bookmarks += is_bookmark;
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		if (strcmp(type, changes[i].type) != 0)
			continue;
		reflector->stats.events += !is_initial;
		reflector->opts.on_object(reflector->opts.arg, changes[i].change, object);
	}
	if (reflector->is_dead)
		return false;
	if (is_initial)
		return take_initial(reflector, is_bookmark, object, err);
	if (revision != NULL && revision[0]) {
		str_clear(&reflector->revision);
		str_add(&reflector->revision, revision);
	}
	return true;
}

static bool on_event(void *arg, struct slice value, struct err *err)
{
	struct kube_reflector *reflector = arg;
	cJSON *event = parse(reflector, value, err);
	if (event == NULL)
		return false;
	bool ok = take_event(reflector, event, err);
	cJSON_Delete(event);
	return ok;
}

/* ---- requests */

static void on_begin(void *arg)
{
	struct kube_reflector *reflector = arg;
	reflector->last_byte_ms = clock_mono_ms();
	reflector->events->began(reflector);
}

struct json_split *kube_reflector_split_new(
	struct kube_reflector *reflector, enum kube_reflector_phase phase)
{
	bool is_page = phase == REFLECTOR_PAGE;
	return json_split_new(is_page ? JSON_SPLIT_ITEMS : JSON_SPLIT_VALUES, JSON_MAX_BYTES,
		is_page ? on_item : on_event, is_page ? on_page_rest : NULL, reflector);
}

bool kube_reflector_feed(struct kube_reflector *reflector, struct slice bytes, struct err *err)
{
	struct err why = { 0 };
	if (reflector->phase == REFLECTOR_INITIAL) {
		reflector->stream_bytes += bytes.n;
		reflector->window_bytes += bytes.n;
		if (reflector->stream_bytes > LIST_MAX_BYTES)
			return protocol(err, "the list does not end");
	}
	if (json_split_feed(reflector->split, bytes.p, bytes.n, &why))
		return true;
	if (reflector->is_dead) /* stopped by a callback: the request is cancelled already */
		return false;
	if (why.code == ERR_RUNTIME_PROTOCOL)
		why.code = ERR_KUBE_PROTOCOL;
	if (why.code == ERR_NONE)
		protocol(&why, "the stream ended early");
	err_copy(err, &why);
	return false;
}

static bool on_body(void *arg, struct slice bytes, struct err *err)
{
	struct kube_reflector *reflector = arg;
	reflector->last_byte_ms = clock_mono_ms();
	return kube_work_queue_add(&reflector->queue, bytes, err);
}

static void on_done(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct kube_reflector *reflector = arg;
	struct err why = { 0 };
	reflector->request = NULL;
	if (!kube_work_queue_finish(&reflector->queue, &why)) {
		if (reflector->is_dead)
			return;
		err = &why;
	}
	if (err == NULL && !json_split_finish(reflector->split, &why)) {
		why.code = ERR_KUBE_TRANSPORT; /* cut inside an object */
		err = &why;
	} else if (err == NULL && reflector->phase == REFLECTOR_PAGE &&
		   !reflector->page_has_rest) {
		protocol(&why, "the answer is not a list");
		err = &why;
	}
	reflector->events->ended(reflector, err, answer);
}

static void start(struct kube_reflector *reflector, struct kube_request_opts *opts)
{
	json_split_free(reflector->split);
	reflector->split = kube_reflector_split_new(reflector, reflector->phase);
	reflector->event_err.code = ERR_NONE;
	reflector->event_status = 0;
	reflector->began_ms = clock_mono_ms();
	reflector->pool_key = kube_client_lane_number(reflector->client);
	opts->method = "GET";
	opts->path = reflector->path;
	opts->headers_timeout_ms = HEADERS_TIMEOUT_MS;
	opts->on_begin = on_begin;
	opts->on_body = on_body;
	opts->done = on_done;
	opts->arg = reflector;
	struct err err = { 0 };
	reflector->request = kube_request_start(reflector->client, opts, &err);
	if (reflector->request == NULL) {
		const struct kube_answer none = { .retry_after_ms = -1 };
		reflector->events->ended(reflector, &err, &none);
	}
}

static void add_selectors(const struct kube_reflector *reflector, struct str *query)
{
	if (reflector->opts.label_selector != NULL)
		kube_query_add(query, "labelSelector", reflector->opts.label_selector);
	if (reflector->opts.field_selector != NULL)
		kube_query_add(query, "fieldSelector", reflector->opts.field_selector);
}

static enum kube_rate list_rate(const struct kube_reflector *reflector)
{
	return reflector->has_listed ? KUBE_RATE_BACKGROUND : KUBE_RATE_PERSON;
}

void kube_reflector_start_page(struct kube_reflector *reflector)
{
	struct str query;
	char number[24];
	bool is_first = reflector->token.n == 0;
	str_init(&query, QUERY_MAX_BYTES);
	snprintf(number, sizeof number, "%d",
		reflector->opts.page_objects > 0 ? reflector->opts.page_objects
						 : (int)setting_get(SETTING_LIST_PAGE));
	kube_query_add(&query, "limit", number);
	if (!is_first)
		kube_query_add(&query, "continue", reflector->token.p);
	add_selectors(reflector, &query);
	reflector->phase = REFLECTOR_PAGE;
	reflector->page_has_rest = false;
	if (is_first)
		reflector->stats.lists++;
	struct kube_request_opts opts = {
		.query = query.p,
		.rate = is_first ? list_rate(reflector) : KUBE_RATE_NONE,
		.timeout_ms = LIST_TIMEOUT_MS,
		.stall_timeout_ms = STALL_TIMEOUT_MS,
		.max_body_bytes = LIST_MAX_BYTES,
	};
	start(reflector, &opts);
	str_deinit(&query);
}

static void start_watch(struct kube_reflector *reflector, bool is_initial)
{
	struct str query;
	char number[24];
	str_init(&query, QUERY_MAX_BYTES);
	/* at random, so that a thousand clients do not come back in the same second */
	int64_t length_ms = kube_jitter_ms(
		setting_get(SETTING_WATCH_TIMEOUT), 2 * setting_get(SETTING_WATCH_TIMEOUT));
	snprintf(number, sizeof number, "%lld", (long long)(length_ms / 1000));
	kube_query_add(&query, "watch", "true");
	if (is_initial) { /* without a revision it is as new as a quorum read */
		kube_query_add(&query, "sendInitialEvents", "true");
		kube_query_add(&query, "resourceVersionMatch", "NotOlderThan");
	} else {
		kube_query_add(&query, "resourceVersion", reflector->revision.p);
	}
	kube_query_add(&query, "allowWatchBookmarks", "true");
	kube_query_add(&query, "timeoutSeconds", number);
	add_selectors(reflector, &query);
	struct kube_request_opts opts = {
		.query = query.p,
		.rate = is_initial ? list_rate(reflector) : KUBE_RATE_NONE,
		/* the server ends it; should it forget to, we do not */
		.timeout_ms = length_ms + 60 * 1000,
		.max_body_bytes = SIZE_MAX,
		.no_gzip = true, /* each event is wanted at once */
	};
	start(reflector, &opts);
	str_deinit(&query);
}

void kube_reflector_start_streaming_list(struct kube_reflector *reflector)
{
	reflector->phase = REFLECTOR_INITIAL;
	reflector->stats.streams++;
	reflector->stream_bytes = reflector->window_bytes = 0;
	start_watch(reflector, true);
}

void kube_reflector_start_watch(struct kube_reflector *reflector)
{
	reflector->phase = REFLECTOR_WATCH;
	reflector->stats.watches++;
	start_watch(reflector, false);
}

void kube_reflector_drop_request(struct kube_reflector *reflector)
{
	kube_request_cancel(reflector->request);
	kube_work_queue_clear(&reflector->queue);
	kube_version_question_cancel(&reflector->versions);
	reflector->request = NULL;
}

static bool on_piece(void *arg, struct slice bytes, struct err *err)
{
	return kube_reflector_feed(arg, bytes, err);
}

/* Outside of the request: it ends here as it would have from inside. */
static void on_piece_failed(void *arg, const struct err *err)
{
	struct kube_reflector *reflector = arg;
	const struct kube_answer answer = { .status = 200, .retry_after_ms = -1 };
	kube_reflector_drop_request(reflector);
	reflector->events->ended(reflector, err, &answer);
}

void kube_reflector_stream_init(struct kube_reflector *reflector, struct net_loop *loop)
{
	reflector->queue = (struct kube_work_queue){ .feed = on_piece,
		.failed = on_piece_failed,
		.arg = reflector,
		.is_dead = &reflector->is_dead };
	kube_work_queue_init(&reflector->queue, loop);
}

void kube_reflector_stream_deinit(struct kube_reflector *reflector)
{
	kube_work_queue_deinit(&reflector->queue);
	json_split_free(reflector->split);
}
