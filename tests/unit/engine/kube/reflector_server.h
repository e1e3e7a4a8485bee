// SPDX-License-Identifier: Apache-2.0
/* A reflector against a scripted API server. The server keeps the truth; after every fault the copy that the reflector
 * feeds must equal it. */
#pragma once

#include "api.h"

#include "engine/base/num.h"
#include "engine/k8s/resource.h"
#include "engine/kube/reflector.h"

enum { MAX_OBJECTS = 64 };

struct object {
	char name[16];
	int revision;
	bool seen;
};

struct set {
	struct object items[MAX_OBJECTS];
	size_t n;
};

static inline int64_t number(const char *text)
{
	int64_t value;
	assert_true(num_parse_i64(text, 0, INT64_MAX, &value));
	return value;
}

static inline struct object *find(struct set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++) {
		if (strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	}
	return NULL;
}

static inline void put(struct set *set, const char *name, int revision)
{
	struct object *object = find(set, name);
	if (object == NULL) {
		assert_true(set->n < MAX_OBJECTS);
		object = &set->items[set->n++];
		snprintf(object->name, sizeof object->name, "%s", name);
	}
	object->revision = revision;
	object->seen = true;
}

static inline void drop(struct set *set, const char *name)
{
	struct object *object = find(set, name);
	if (object != NULL)
		*object = set->items[--set->n];
}

struct test {
	struct api api;
	struct kube_reflector *reflector;
	struct set truth, copy;
	int revision;
	int syncs_begun, syncs_ended;
	enum kube_reflector_state state;
	enum err_code error;
	char message[ERR_MESSAGE_BYTES]; /* the last one */
	bool was_deaf, was_relisting, was_retrying;
	struct evhttp_request *watch; /* open */
	int watches, lists;
	int page_objects;
	const char *field_selector;
	/* faults: how many of the next requests of a kind fail so */
	int expire_continue, expire_watch_http, expire_watch_event, throttle_watch, forbid_list,
		forbid_watch, break_watch, garbage_list, silent_watch, refuse_first_list;
	int not_served;
	/* answers requests for a streaming list; NULL: 422, as a server that does not offer them */
	void (*stream)(struct test *t, struct evhttp_request *request);
	int streams;       /* asked for */
	const char *group; /* what /apis/<group> answers; NULL: 404 too */
	bool stop_at_first_object, stop_at_sync_end;
	int objects, stop_at_object; /* given to us; 0: never */
	int64_t object_cost_us;
	int remaining_at_expiry;
};

static inline void assert_same(struct test *t)
{
	assert_int_equal(t->truth.n, t->copy.n);
	for (size_t i = 0; i < t->truth.n; i++) {
		const struct object *is = find(&t->copy, t->truth.items[i].name);
		assert_non_null(is);
		assert_int_equal(t->truth.items[i].revision, is->revision);
	}
}

/* ---- the server */

static inline void add_object(struct str *out, const struct object *object)
{
	str_addf(out,
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\","
		"\"managedFields\":[{\"a\":\"}]\\\"\"}]}}",
		object->name, object->name, object->revision);
}

static inline void send_page(
	struct test *t, struct evhttp_request *request, const struct api_request *is)
{
	const char *token = api_query(is, "continue");
	size_t from = token ? (size_t)number(token) : 0, limit = (size_t)t->page_objects;
	size_t to = from + limit < t->truth.n ? from + limit : t->truth.n;
	struct str page;
	str_init(&page, 1 << 20);
	str_addf(&page, "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%d\"",
		t->revision);
	if (to < t->truth.n)
		str_addf(&page, ",\"continue\":\"%zu\",\"remainingItemCount\":%zu", to,
			t->truth.n - to);
	str_add(&page, "},\"items\":[");
	for (size_t i = from; i < to; i++) {
		if (i > from)
			str_add(&page, ",");
		add_object(&page, &t->truth.items[i]);
	}
	str_add(&page, "]}");
	api_reply(request, 200, "%s", page.p);
	str_deinit(&page);
}

static inline void send_event(struct test *t, const char *type, const struct object *object)
{
	struct str line;
	str_init(&line, 4096);
	str_addf(&line, "{\"type\":\"%s\",\"object\":", type);
	add_object(&line, object);
	str_add(&line, "}\n");
	api_send(t->watch, line.p);
	str_deinit(&line);
}

/* A change that the open watch (if any) is told. */
static inline void change(struct test *t, const char *name, bool gone, bool tell)
{
	t->revision++;
	const char *type = gone ? "DELETED" : find(&t->truth, name) ? "MODIFIED" : "ADDED";
	struct object object = { .revision = t->revision };
	snprintf(object.name, sizeof object.name, "%s", name);
	if (gone)
		drop(&t->truth, name);
	else
		put(&t->truth, name, t->revision);
	if (tell && t->watch != NULL)
		send_event(t, type, &object);
}

static inline void on_watch_closed(struct evhttp_connection *connection, void *arg)
{
	struct test *t = arg;
	(void)connection;
	if (t->watch != NULL)
		evhttp_request_free(t->watch);
	t->watch = NULL;
}

static inline void begin_watch(struct test *t, struct evhttp_request *request)
{
	t->watch = request;
	evhttp_connection_set_closecb(
		evhttp_request_get_connection(request), on_watch_closed, t);
	evhttp_send_reply_start(request, 200, "OK");
}

/* What a streaming list says: objects, then the bookmark that ends them. */
static inline void send_initial(struct test *t, size_t from, size_t to)
{
	for (size_t i = from; i < to && i < t->truth.n; i++)
		send_event(t, "ADDED", &t->truth.items[i]);
}

static inline void send_bookmark(struct test *t, bool ends_initial)
{
	char *line = x_asprintf(
		"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"SandboxClaim\",\"metadata\":{%s"
		"\"resourceVersion\":\"%d\"}}}\n",
		ends_initial ? "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}," : "",
		t->revision);
	api_send(t->watch, line);
	free(line);
}

static inline void serve_stream(struct test *t, struct evhttp_request *request)
{
	t->streams++;
	if (t->stream != NULL)
		t->stream(t, request);
	else
		api_status(request, 422, "Invalid",
			"sendInitialEvents is forbidden for watch unless the WatchList feature "
			"gate is enabled");
}

/* A whole streaming list that goes on as a watch. */
static inline void stream_all(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	send_initial(t, 0, t->truth.n);
	send_bookmark(t, true);
}

static inline bool take(int *count)
{
	if (*count == 0)
		return false;
	--*count;
	return true;
}

static inline void serve_watch(struct test *t, struct evhttp_request *request)
{
	t->watches++;
	if (take(&t->expire_watch_http)) {
		api_status(request, 410, "Expired", "too old resource version");
	} else if (take(&t->forbid_watch)) {
		api_status(request, 403, "Forbidden", "User cannot watch");
	} else if (take(&t->break_watch)) {
		api_status(request, 500, "InternalError", "etcdserver: leader changed");
	} else if (take(&t->throttle_watch)) {
		evhttp_add_header(
			evhttp_request_get_output_headers(request), "Retry-After", "1");
		api_status(request, 429, "TooManyRequests", "slow down");
	} else if (take(&t->expire_watch_event)) {
		begin_watch(t, request);
		api_send(request,
			"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
			"\"message\":\"too old resource version: 1 (2)\",\"reason\":\"Expired\","
			"\"code\":410}}\n");
		evhttp_send_reply_end(request);
		t->watch = NULL;
	} else {
		begin_watch(t, request);
	}
}

static inline void serve_list(
	struct test *t, struct evhttp_request *request, const struct api_request *is)
{
	t->lists++;
	if (take(&t->not_served)) {
		api_reply(request, 404, "404 page not found\n");
	} else if (take(&t->forbid_list)) {
		api_status(request, 403, "Forbidden", "User cannot list");
	} else if (take(&t->garbage_list)) {
		api_reply(request, 200, "{\"metadata\":{},\"items\":[{]}");
	} else if (take(&t->refuse_first_list)) {
		api_cut(request);
	} else if (api_query(is, "continue") != NULL && take(&t->expire_continue)) {
		const char *token = api_query(is, "continue");
		api_reply(request, 410,
			"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\","
			"\"code\":410,\"message\":\"old\",\"metadata\":{\"continue\":\"%s\"}}",
			token);
	} else {
		send_page(t, request, is);
	}
}

static inline void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct test *t = api->test;
	assert_string_equal("", is->authorization); /* there is one, and no TLS */
	if (strcmp(is->path, "/apis/extensions.agents.x-k8s.io") == 0)
		api_reply(request, t->group ? 200 : 404, "%s",
			t->group ? t->group : "404 page not found\n");
	else if (api_query(is, "sendInitialEvents") != NULL)
		serve_stream(t, request);
	else if (api_query(is, "watch") != NULL)
		serve_watch(t, request);
	else
		serve_list(t, request, is);
}

/* ---- the client */

static inline void on_object(void *arg, enum kube_change is, const cJSON *object)
{
	struct test *t = arg;
	const char *name = json_str(object, "metadata", "name", NULL);
	const char *revision = json_str(object, "metadata", "resourceVersion", NULL);
	assert_non_null(name);
	assert_non_null(revision);
	if (is == KUBE_DELETED)
		drop(&t->copy, name);
	else
		put(&t->copy, name, (int)number(revision));
	t->objects++;
	for (int64_t end = clock_mono_ns() + t->object_cost_us * 1000; clock_mono_ns() < end;)
		;
	if ((t->stop_at_first_object || t->objects == t->stop_at_object) &&
		t->reflector != NULL) {
		kube_reflector_stop(t->reflector);
		t->reflector = NULL;
	}
}

static inline void on_sync(void *arg, bool begin)
{
	struct test *t = arg;
	if (begin) {
		t->syncs_begun++;
		for (size_t i = 0; i < t->copy.n; i++)
			t->copy.items[i].seen = false;
		return;
	}
	t->syncs_ended++;
	for (size_t i = t->copy.n; i-- > 0;) {
		if (!t->copy.items[i].seen)
			drop(&t->copy, t->copy.items[i].name);
	}
	if (t->stop_at_sync_end) {
		kube_reflector_stop(t->reflector);
		t->reflector = NULL;
	}
}

static inline void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
{
	struct test *t = arg;
	t->state = state;
	t->error = err ? err->code : ERR_NONE;
	if (err != NULL)
		snprintf(t->message, sizeof t->message, "%s", err->msg);
	t->was_deaf |= state == KUBE_REFLECTOR_DEAF;
	t->was_relisting |= state == KUBE_REFLECTOR_RELISTING;
	t->was_retrying |= state == KUBE_REFLECTOR_RETRYING;
}

static inline void start(struct test *t, int64_t read_idle_ms)
{
	struct err err = { 0 };
	const struct kube_reflector_opts opts = {
		.resource = &k8s_sandboxclaims,
		.namespace_ = "demo",
		.label_selector = t->field_selector ? NULL : "a in (b,c)",
		.field_selector = t->field_selector,
		.page_objects = t->page_objects,
		.read_idle_ms = read_idle_ms,
		.on_object = on_object,
		.on_sync = on_sync,
		.on_state = on_state,
		.arg = t,
	};
	t->reflector = kube_reflector_start(t->api.client, &opts, &err);
	assert_non_null(t->reflector);
}

static inline int setup(void **state)
{
	struct test *t = x_calloc(1, sizeof *t);
	t->page_objects = 2;
	t->revision = 100;
	api_start(&t->api, NULL, handle, t);
	const char *names[] = { "a", "b", "c", "d", "e" };
	for (size_t i = 0; i < 5; i++)
		change(t, names[i], false, false);
	*state = t;
	return 0;
}

static inline int teardown(void **state)
{
	struct test *t = *state;
	kube_reflector_stop(t->reflector);
	api_stop(&t->api);
	free(t);
	return 0;
}

static inline const struct api_request *last(struct test *t)
{
	return &t->api.log[t->api.n - 1];
}

static inline void until_live(struct test *t)
{
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_LIVE && t->watch != NULL, 5000);
}
