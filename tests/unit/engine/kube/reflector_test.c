// SPDX-License-Identifier: Apache-2.0
/* The reflector against a scripted API server. The server keeps the truth; after every fault the copy that the reflector
 * feeds must equal it. */
#include "api.h"

#include "engine/base/num.h"
#include "engine/kube/reflector.h"
#include "engine/kube/resources.h"

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

static int64_t number(const char *text)
{
	int64_t value;
	assert_true(num_parse_i64(text, 0, INT64_MAX, &value));
	return value;
}

static struct object *find(struct set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++) {
		if (strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	}
	return NULL;
}

static void put(struct set *set, const char *name, int revision)
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

static void drop(struct set *set, const char *name)
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
	/* faults: how many of the next requests of a kind fail so */
	int expire_continue, expire_watch_http, expire_watch_event, throttle_watch, forbid_list,
		garbage_list, silent_watch, refuse_first_list;
	int not_served;
	const char *group; /* what /apis/<group> answers; NULL: 404 too */
	bool stop_at_first_object;
	int remaining_at_expiry;
};

static void assert_same(struct test *t)
{
	assert_int_equal(t->truth.n, t->copy.n);
	for (size_t i = 0; i < t->truth.n; i++) {
		const struct object *is = find(&t->copy, t->truth.items[i].name);
		assert_non_null(is);
		assert_int_equal(t->truth.items[i].revision, is->revision);
	}
}

/* ---- the server */

static void add_object(struct str *out, const struct object *object)
{
	str_addf(out,
		"{\"metadata\":{\"name\":\"%s\",\"uid\":\"u-%s\",\"resourceVersion\":\"%d\","
		"\"managedFields\":[{\"a\":\"}]\\\"\"}]}}",
		object->name, object->name, object->revision);
}

static void send_page(
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

static void send_event(struct test *t, const char *type, const struct object *object)
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
static void change(struct test *t, const char *name, bool gone, bool tell)
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

static void on_watch_closed(struct evhttp_connection *connection, void *arg)
{
	struct test *t = arg;
	(void)connection;
	if (t->watch != NULL)
		evhttp_request_free(t->watch);
	t->watch = NULL;
}

static void begin_watch(struct test *t, struct evhttp_request *request)
{
	t->watch = request;
	evhttp_connection_set_closecb(
		evhttp_request_get_connection(request), on_watch_closed, t);
	evhttp_send_reply_start(request, 200, "OK");
}

static bool take(int *count)
{
	if (*count == 0)
		return false;
	--*count;
	return true;
}

static void serve_watch(struct test *t, struct evhttp_request *request)
{
	t->watches++;
	if (take(&t->expire_watch_http)) {
		api_status(request, 410, "Expired", "too old resource version");
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

static void serve_list(
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

static void handle(
	struct api *api, struct evhttp_request *request, const struct api_request *is)
{
	struct test *t = api->test;
	assert_string_equal("Bearer t0ken", is->authorization);
	if (strcmp(is->path, "/apis/extensions.agents.x-k8s.io") == 0)
		api_reply(request, t->group ? 200 : 404, "%s",
			t->group ? t->group : "404 page not found\n");
	else if (api_query(is, "watch") != NULL)
		serve_watch(t, request);
	else
		serve_list(t, request, is);
}

/* ---- the client */

static void on_object(void *arg, enum kube_change is, const cJSON *object)
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
	if (t->stop_at_first_object) {
		kube_reflector_stop(t->reflector);
		t->reflector = NULL;
	}
}

static void on_sync(void *arg, bool begin)
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
}

static void on_state(void *arg, enum kube_reflector_state state, const struct err *err)
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

static void start(struct test *t, int64_t read_idle_ms)
{
	struct err err = { 0 };
	const struct kube_reflector_opts opts = {
		.resource = &kube_sandboxclaims,
		.namespace_ = "demo",
		.label_selector = "a in (b,c)",
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

static int setup(void **state)
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

static int teardown(void **state)
{
	struct test *t = *state;
	kube_reflector_stop(t->reflector);
	api_stop(&t->api);
	free(t);
	return 0;
}

static const struct api_request *last(struct test *t)
{
	return &t->api.log[t->api.n - 1];
}

static void until_live(struct test *t)
{
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_LIVE && t->watch != NULL, 5000);
}

/* ---- the cases */

static void lists_in_pages_then_watches(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	assert_int_equal(3, t->lists);
	assert_string_equal("2", api_query(&t->api.log[0], "limit"));
	assert_string_equal("a in (b,c)", api_query(&t->api.log[0], "labelSelector"));
	assert_null(api_query(&t->api.log[0], "continue"));
	assert_string_equal("4", api_query(&t->api.log[2], "continue"));
	assert_string_equal(
		"/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/demo/sandboxclaims",
		t->api.log[0].path);
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	assert_string_equal("true", api_query(last(t), "allowWatchBookmarks"));
	int seconds = (int)number(api_query(last(t), "timeoutSeconds"));
	assert_in_range(seconds, 300, 600);
	assert_int_equal(1, t->syncs_begun);
	assert_int_equal(1, t->syncs_ended);
	assert_same(t);
	assert_true(kube_reflector_age_ms(t->reflector) < 2000);
}

static void follows_events_over_any_chunks(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	change(t, "a", false, true);
	change(t, "f", false, true);
	change(t, "b", true, true);
	API_UNTIL(&t->api, t->copy.n == 5 && find(&t->copy, "f") && !find(&t->copy, "b"), 2000);
	assert_same(t);
	/* one event in three pieces, two events in one */
	t->revision = 200;
	put(&t->truth, "g", 200);
	api_send(t->watch, "{\"type\":\"ADDED\",\"obj");
	API_FOR(&t->api, 50);
	api_send(t->watch, "ect\":{\"metadata\":{\"name\":\"g\",\"uid\":\"u-g\",\"resourc");
	API_FOR(&t->api, 50);
	api_send(t->watch,
		"eVersion\":\"200\"}}}\n"
		"{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"c\","
		"\"resourceVersion\":\"201\"}}}\n{\"type\":\"NEWTYPE\",\"object\":{}}\n");
	drop(&t->truth, "c");
	API_UNTIL(&t->api, find(&t->copy, "g") && !find(&t->copy, "c"), 2000);
	assert_same(t);
	assert_int_equal(5, kube_reflector_stats_of(t->reflector).events);
	assert_false(t->was_retrying);
}

static void resumes_from_a_bookmark(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	api_send(t->watch, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"SandboxClaim\","
			   "\"metadata\":{\"resourceVersion\":\"777\"}}}\n");
	API_FOR(&t->api, 1200); /* it has lived: taken up again at once */
	int watches = t->watches;
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
	API_UNTIL(&t->api, t->watches > watches, 3000);
	assert_string_equal("777", api_query(last(t), "resourceVersion"));
	assert_int_equal(3, t->lists);
	assert_int_equal(1, kube_reflector_stats_of(t->reflector).bookmarks);
	assert_false(t->was_retrying);
}

static void resumes_after_a_cut_in_mid_line(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	change(t, "a", false, true); /* 106 */
	API_FOR(&t->api, 1200);
	api_send(t->watch,
		"{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"b\",\"reso");
	API_FOR(&t->api, 50);
	int watches = t->watches;
	api_cut(t->watch);
	API_UNTIL(&t->api, t->watches > watches, 3000);
	assert_string_equal("106", api_query(last(t), "resourceVersion"));
	until_live(t);
	assert_true(t->was_retrying);
	assert_int_equal(3, t->lists);
	assert_same(t);
}

static void relists_after_410_as_status(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	API_FOR(&t->api, 1200);
	t->expire_watch_http = 1;
	change(t, "a", true, false); /* missed */
	change(t, "z", false, false);
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	assert_true(t->was_relisting);
	until_live(t);
	assert_same(t);
}

static void relists_after_410_as_event(void **state)
{
	struct test *t = *state;
	t->expire_watch_event = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->watches == 1, 3000);
	change(t, "b", true, false);
	change(t, "c", false, false);
	API_UNTIL(&t->api, t->syncs_ended == 2, 5000);
	until_live(t);
	assert_same(t);
	assert_int_equal(ERR_NONE, t->error);
}

static void an_expired_token_early_starts_over(void **state)
{
	struct test *t = *state;
	t->expire_continue = 1; /* 2 of 5 are in: fewer than half */
	start(t, 0);
	API_UNTIL(&t->api, t->syncs_ended == 1, 5000);
	assert_int_equal(2, t->syncs_begun);
	assert_null(api_query(&t->api.log[2], "continue"));
	until_live(t);
	assert_same(t);
}

static void an_expired_token_late_goes_on_and_lists_again(void **state)
{
	struct test *t = *state;
	t->page_objects = 3; /* 3 of 5 are in */
	t->expire_continue = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->syncs_ended == 1, 3000);
	assert_int_equal(1, t->syncs_begun);
	assert_same(t);
	API_UNTIL(&t->api, t->syncs_ended == 2, 5000); /* pages of two revisions: once more */
	until_live(t);
	assert_same(t);
}

static void waits_as_long_as_429_says(void **state)
{
	struct test *t = *state;
	t->throttle_watch = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->watches == 2, 5000);
	int64_t waited = last(t)->at_ms - t->api.log[t->api.n - 2].at_ms;
	assert_true(waited >= 980); /* timers round */
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	until_live(t);
	assert_int_equal(3, t->lists);
}

static void a_deaf_watch_is_replaced_on_a_new_connection(void **state)
{
	struct test *t = *state;
	start(t, 1000);
	until_live(t);
	uint16_t before = last(t)->peer_port;
	API_UNTIL(&t->api, t->was_deaf, 5000);
	API_UNTIL(&t->api, t->watches >= 2, 5000);
	assert_true(last(t)->peer_port != before);
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	assert_int_equal(3, t->lists);
	/* bytes keep it alive */
	until_live(t);
	int watches = t->watches;
	for (int i = 0; i < 5; i++) {
		api_send(t->watch, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":"
				   "{\"resourceVersion\":\"105\"}}}\n");
		API_FOR(&t->api, 300);
	}
	assert_int_equal(watches, t->watches);
}

static void forbidden_is_not_asked_again_soon(void **state)
{
	struct test *t = *state;
	t->forbid_list = 100;
	start(t, 0);
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_FORBIDDEN, 2000);
	assert_int_equal(ERR_KUBE_FORBIDDEN, t->error);
	API_FOR(&t->api, 2000);
	assert_int_equal(1, t->lists);
	t->forbid_list = 0;
	kube_reflector_resync(t->reflector); /* a person asked */
	until_live(t);
	assert_same(t);
}

static void a_cut_list_keeps_the_copy_and_comes_back(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->refuse_first_list = 1;
	change(t, "a", true, false);
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(5, t->copy.n); /* nothing was taken away */
	API_UNTIL(&t->api, t->syncs_ended == 2, 5000);
	until_live(t);
	assert_same(t);
}

static void garbage_is_an_error_that_is_retried(void **state)
{
	struct test *t = *state;
	t->garbage_list = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_PROTOCOL, t->error);
	until_live(t);
	assert_same(t);
}

static void what_is_not_served_names_the_versions(void **state)
{
	struct test *t = *state;
	t->not_served = 2;
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_NOT_SERVED, t->error);
	assert_non_null(strstr(t->message, "does not serve sandboxclaims.extensions.agents"));
	t->was_retrying = false;
	t->group = "{\"kind\":\"APIGroup\",\"versions\":[{\"version\":\"v1alpha1\"}]}";
	API_UNTIL(&t->api, strstr(t->message, "has v1alpha1 of") != NULL, 5000);
	until_live(t); /* the CRDs were installed meanwhile */
	assert_same(t);
}

static void stopping_from_a_callback_is_allowed(void **state)
{
	struct test *t = *state;
	t->stop_at_first_object = true;
	start(t, 0);
	API_UNTIL(&t->api, t->reflector == NULL, 2000);
	API_FOR(&t->api, 100);
	assert_int_equal(1, t->copy.n);
	assert_int_equal(0, t->syncs_ended);
}

static void a_bad_selector_is_refused_at_once(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	const struct kube_reflector_opts opts = {
		.resource = &kube_pods, .label_selector = "a in b", .on_object = on_object
	};
	assert_null(kube_reflector_start(t->api.client, &opts, &err));
	assert_int_equal(ERR_ARG_INVALID, err.code);
}

static void a_machine_that_slept_reconnects(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	uint16_t before = last(t)->peer_port;
	change(t, "a", true, false); /* the event is lost in a dead connection */
	/* an hour on the wall, none of it on the monotonic clock */
	clock_set_for_tests(clock_mono_ns(), clock_wall_ns() + (int64_t)3600 * 1000000000);
	for (int i = 0; i < 400 && t->watches < 2; i++)
		loop_run_once(t->api.loop, 20);
	clock_set_for_tests(-1, -1);
	assert_int_equal(2, t->watches);
	assert_true(t->was_retrying);
	assert_true(last(t)->peer_port != before);
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	until_live(t);
}

/* Many changes over many kinds of faults: the copy equals the truth in the end. */
static void survives_a_storm(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	unsigned random = 12345;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 20; i++) {
			char name[16];
			random = random * 1103515245u + 12345u;
			snprintf(name, sizeof name, "n%u", random >> 16 & 15);
			bool gone = (random >> 24 & 3) == 0 && find(&t->truth, name);
			/* some are missed: the watch that follows must bring them */
			change(t, name, gone, round % 2 == 0);
		}
		API_FOR(&t->api, 30);
		if (round % 2 == 1) {
			t->expire_watch_http = 1;
			API_FOR(&t->api, 1100); /* lived: no pause before the next */
			if (t->watch != NULL)
				api_cut(t->watch);
			int syncs = t->syncs_ended;
			API_UNTIL(&t->api, t->syncs_ended > syncs, 10000);
			until_live(t);
		}
	}
	API_FOR(&t->api, 100);
	assert_same(t);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(lists_in_pages_then_watches),
		CASE(follows_events_over_any_chunks),
		CASE(resumes_from_a_bookmark),
		CASE(resumes_after_a_cut_in_mid_line),
		CASE(relists_after_410_as_status),
		CASE(relists_after_410_as_event),
		CASE(an_expired_token_early_starts_over),
		CASE(an_expired_token_late_goes_on_and_lists_again),
		CASE(waits_as_long_as_429_says),
		CASE(a_deaf_watch_is_replaced_on_a_new_connection),
		CASE(forbidden_is_not_asked_again_soon),
		CASE(a_cut_list_keeps_the_copy_and_comes_back),
		CASE(garbage_is_an_error_that_is_retried),
		CASE(what_is_not_served_names_the_versions),
		CASE(stopping_from_a_callback_is_allowed),
		CASE(a_bad_selector_is_refused_at_once),
		CASE(a_machine_that_slept_reconnects),
		CASE(survives_a_storm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
