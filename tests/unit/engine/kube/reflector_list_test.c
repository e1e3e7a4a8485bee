// SPDX-License-Identifier: Apache-2.0
/* Streaming lists: one request that goes on as the watch, and when pages take over. */
#include "reflector_server.h"

static void end_watch(struct test *t)
{
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
}

static void error_event(struct test *t, int code, const char *reason, const char *message)
{
	char *line = x_asprintf(
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
		"\"message\":\"%s\",\"reason\":\"%s\",\"code\":%d}}\n",
		message, reason, code);
	api_send(t->watch, line);
	free(line);
	end_watch(t);
}

/* ---- when it is offered */

static void one_request_lists_and_watches(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	start(t, 0);
	until_live(t);
	const struct api_request *is = &t->api.log[0];
	assert_string_equal("true", api_query(is, "watch"));
	assert_string_equal("true", api_query(is, "sendInitialEvents"));
	assert_string_equal("NotOlderThan", api_query(is, "resourceVersionMatch"));
	assert_string_equal("true", api_query(is, "allowWatchBookmarks"));
	assert_string_equal("a in (b,c)", api_query(is, "labelSelector"));
	assert_null(api_query(is, "resourceVersion"));
	assert_null(api_query(is, "limit"));
	assert_in_range((int)number(api_query(is, "timeoutSeconds")), 300, 600);
	assert_int_equal(1, t->syncs_begun);
	assert_int_equal(1, t->syncs_ended);
	assert_same(t);
	change(t, "a", false, true);
	change(t, "f", false, true);
	change(t, "b", true, true);
	API_UNTIL(&t->api, find(&t->copy, "f") && !find(&t->copy, "b"), 2000);
	assert_same(t);
	assert_int_equal(1, t->api.n);
	struct kube_reflector_stats stats = kube_reflector_stats_of(t->reflector);
	assert_int_equal(1, stats.streams);
	assert_int_equal(0, stats.lists);
	assert_int_equal(0, stats.watches);
	assert_int_equal(3, stats.events);
}

static void goes_on_from_the_end_bookmark(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	t->revision = 300; /* of other objects: those of this list are older */
	start(t, 0);
	until_live(t);
	API_FOR(&t->api, 1200);
	end_watch(t);
	API_UNTIL(&t->api, t->watches == 1, 3000);
	assert_string_equal("300", api_query(last(t), "resourceVersion"));
	assert_null(api_query(last(t), "sendInitialEvents"));
	assert_false(t->was_retrying);
	assert_int_equal(1, t->syncs_begun);
}

static void stream_two(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	send_initial(t, 0, 2);
}

static void only_the_bookmark_makes_it_live(void **state)
{
	struct test *t = *state;
	t->stream = stream_two;
	start(t, 0);
	API_UNTIL(&t->api, t->copy.n == 2, 2000); /* shown as they come */
	API_FOR(&t->api, 200);
	assert_int_equal(KUBE_REFLECTOR_STARTING, kube_reflector_state_of(t->reflector));
	assert_int_equal(0, t->syncs_ended);
	send_initial(t, 2, t->truth.n);
	send_bookmark(t, true);
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_LIVE, 2000);
	assert_same(t);
}

static void changes_may_come_before_the_bookmark(void **state)
{
	struct test *t = *state;
	t->stream = stream_two;
	start(t, 0);
	API_UNTIL(&t->api, t->watch != NULL, 2000);
	change(t, "a", true, true);
	send_initial(t, 0, t->truth.n); /* some a second time */
	change(t, "c", false, true);
	change(t, "z", false, true);
	send_bookmark(t, true);
	until_live(t);
	assert_same(t);
}

/* ---- cuts */

static void a_cut_stream_takes_nothing_away_and_starts_again(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	start(t, 0);
	until_live(t);
	t->stream = stream_two;
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->streams == 2 && t->watch != NULL, 3000);
	t->stream = stream_all;
	change(t, "e", true, false);
	API_FOR(&t->api, 100);
	int64_t cut_ms = clock_mono_ms();
	api_cut(t->watch);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(5, t->copy.n);
	assert_int_equal(1, t->syncs_ended);
	API_UNTIL(&t->api, t->streams == 3, 5000);
	assert_true(last(t)->at_ms - cut_ms >= 780); /* a pause */
	assert_null(api_query(last(t), "resourceVersion"));
	until_live(t);
	assert_int_equal(2, t->syncs_ended);
	assert_int_equal(0, t->lists);
	assert_same(t);
}

static void cut_stream(struct test *t, struct evhttp_request *request)
{
	stream_two(t, request);
	end_watch(t); /* not even an error: it just ends */
}

static void a_stream_that_is_cut_again_gives_way_to_pages(void **state)
{
	struct test *t = *state;
	t->stream = cut_stream;
	start(t, 0);
	API_UNTIL(&t->api, t->syncs_ended == 1, 8000);
	until_live(t);
	assert_int_equal(2, t->streams);
	assert_int_equal(3, t->lists);
	assert_same(t);
	t->stream = stream_all; /* that was this connection, not this server */
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	assert_int_equal(3, t->streams);
	assert_int_equal(3, t->lists);
}

static struct evhttp_request *held;

static void hold(struct test *t, struct evhttp_request *request)
{
	(void)t;
	held = request;
}

static void a_machine_that_slept_starts_the_stream_again(void **state)
{
	struct test *t = *state;
	t->stream = hold;
	start(t, 0);
	API_UNTIL(&t->api, t->streams == 1, 2000);
	API_FOR(&t->api, 1500); /* the clock is looked at before the pace is */
	stream_two(t, held);
	API_UNTIL(&t->api, t->copy.n == 2, 2000);
	t->stream = stream_all;
	drop(&t->truth, "a");
	clock_set_for_tests(clock_mono_ns(), clock_wall_ns() + (int64_t)3600 * 1000000000);
	for (int i = 0; i < 400 && t->streams < 2; i++)
		net_loop_run_once(t->api.loop, 20);
	clock_set_for_tests(-1, -1);
	assert_int_equal(2, t->streams);
	until_live(t);
	assert_int_equal(1, t->syncs_ended);
	assert_int_equal(0, t->lists);
	assert_same(t);
}

/* ---- refusals */

static void a_refusal_is_remembered_for_all_lists(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	assert_int_equal(1, t->streams);
	assert_false(t->was_retrying); /* nothing is wrong */
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	kube_reflector_stop(t->reflector);
	start(t, 0); /* another one of the same client */
	API_UNTIL(&t->api, t->syncs_ended == 3, 3000);
	assert_int_equal(1, t->streams);
	assert_same(t);
}

static void old_etcd(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	error_event(t, 500, "InternalError", "etcdserver: no progress notifications");
}

static void an_error_event_gives_way_to_pages_at_once(void **state)
{
	struct test *t = *state;
	t->stream = old_etcd;
	start(t, 0);
	until_live(t);
	assert_true(t->api.log[1].at_ms - t->api.log[0].at_ms < 500);
	assert_false(t->was_retrying);
	assert_same(t);
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	assert_int_equal(1, t->streams);
}

static void expired_stream(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	t->stream = stream_all;
	error_event(t, 410, "Expired", "too old resource version");
}

static void expired_is_no_refusal(void **state)
{
	struct test *t = *state;
	t->stream = expired_stream;
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_EXPIRED, t->error);
	until_live(t);
	assert_int_equal(2, t->streams);
	assert_int_equal(0, t->lists);
	assert_same(t);
}

static void late_stream(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	t->stream = stream_all;
	error_event(t, 504, "Timeout", "Too large resource version: 9, current: 8");
}

static void a_server_that_is_behind_is_no_refusal(void **state)
{
	struct test *t = *state;
	t->stream = late_stream;
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_SERVER, t->error);
	until_live(t);
	assert_int_equal(2, t->streams);
	assert_int_equal(0, t->lists);
	assert_same(t);
}

static void throttled_stream(struct test *t, struct evhttp_request *request)
{
	t->stream = stream_all;
	evhttp_add_header(evhttp_request_get_output_headers(request), "Retry-After", "2");
	api_status(request, 429, "TooManyRequests", "slow down");
}

static void throttled_waits_and_asks_again(void **state)
{
	struct test *t = *state;
	t->stream = throttled_stream;
	start(t, 0);
	API_UNTIL(&t->api, t->streams == 2, 5000);
	assert_true(last(t)->at_ms - t->api.log[0].at_ms >= 1980);
	until_live(t);
	assert_int_equal(0, t->lists);
}

static void broken_stream(struct test *t, struct evhttp_request *request)
{
	t->stream = stream_all;
	api_status(request, 500, "InternalError", "etcdserver: no leader");
}

static void a_server_error_is_retried(void **state)
{
	struct test *t = *state;
	t->stream = broken_stream;
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_SERVER, t->error);
	until_live(t);
	assert_int_equal(2, t->streams);
	assert_int_equal(0, t->lists);
}

static void forbidden_stream(struct test *t, struct evhttp_request *request)
{
	(void)t;
	api_status(request, 403, "Forbidden", "User cannot watch");
}

static void without_the_right_to_watch_the_list_still_comes(void **state)
{
	struct test *t = *state;
	t->stream = forbidden_stream;
	start(t, 0);
	until_live(t);
	assert_int_equal(3, t->lists);
	assert_same(t);
	assert_int_equal(1, t->streams);
}

static void without_any_right_it_is_forbidden(void **state)
{
	struct test *t = *state;
	t->stream = forbidden_stream;
	t->forbid_list = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_FORBIDDEN, 2000);
	assert_string_equal("User cannot list", t->message);
	API_FOR(&t->api, 1500);
	assert_int_equal(2, t->api.n);
}

static void not_served(struct test *t, struct evhttp_request *request)
{
	t->stream = stream_all;
	api_reply(request, 404, "404 page not found\n");
}

static void what_is_not_served_is_said(void **state)
{
	struct test *t = *state;
	t->stream = not_served;
	t->group = "{\"kind\":\"APIGroup\",\"versions\":[{\"version\":\"v1alpha1\"}]}";
	start(t, 0);
	API_UNTIL(&t->api, t->was_retrying, 2000);
	assert_int_equal(ERR_KUBE_NOT_SERVED, t->error);
	assert_non_null(strstr(t->message, "has v1alpha1 of"));
	until_live(t);
	assert_int_equal(0, t->lists);
}

/* ---- servers that do not know it */

static void list_instead(struct test *t, struct evhttp_request *request)
{
	send_page(t, request, &t->api.log[t->api.n - 1]);
}

static void ordinary_watch(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	send_initial(t, 0, t->truth.n);
	send_bookmark(t, false);
}

static void bookmark_without_revision(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	api_send(request, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"annotations\":"
			  "{\"k8s.io/initial-events-end\":\"true\"}}}}\n");
}

static void garbage(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
	api_send(request, "{\"type\":\"ADDED\",\"object\":{]}\n");
}

static void what_is_no_streaming_list_gives_way_to_pages(void **state)
{
	struct test *t = *state;
	void (*const answers[])(struct test *, struct evhttp_request *) = { list_instead,
		ordinary_watch, bookmark_without_revision, garbage };
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		teardown(state);
		setup(state);
		t = *state;
		t->page_objects = 9; /* so that list_instead sends all */
		t->stream = answers[i];
		start(t, 0);
		API_UNTIL(&t->api, t->syncs_ended == 1, 2000);
		until_live(t);
		assert_int_equal(1, t->streams);
		assert_int_equal(1, t->lists);
		assert_false(t->was_retrying);
		assert_same(t);
	}
}

static void silent(struct test *t, struct evhttp_request *request)
{
	begin_watch(t, request);
}

static void silence_gives_way_to_pages_on_a_new_connection(void **state)
{
	struct test *t = *state;
	t->stream = silent;
	start(t, 0);
	API_UNTIL(&t->api, t->lists == 3, 8000);
	until_live(t);
	assert_true(t->api.log[1].at_ms - t->api.log[0].at_ms >= 4900);
	assert_true(t->api.log[1].peer_port != t->api.log[0].peer_port);
	assert_int_equal(1, t->streams);
	assert_same(t);
	kube_reflector_resync(t->reflector); /* remembered */
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	assert_int_equal(1, t->streams);
}

/* Signs of life all the time, the end never: a slow line, or a busy server that does not know the parameter. */
static void a_trickle_gives_way_to_pages(void **state)
{
	struct test *t = *state;
	t->stream = stream_two;
	start(t, 0);
	API_UNTIL(&t->api, t->copy.n == 2, 2000);
	drop(&t->truth, "b"); /* seen in the stream, gone before the list */
	for (int i = 0; i < 40 && t->lists == 0; i++) {
		if (t->watch != NULL)
			send_event(t, "MODIFIED", find(&t->truth, "a"));
		API_FOR(&t->api, 200);
	}
	API_UNTIL(&t->api, t->syncs_ended == 1, 3000);
	until_live(t);
	assert_int_equal(2, t->syncs_begun);
	assert_same(t);
}

/* ---- the rest */

static void one_object_is_a_list_and_a_watch(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	t->field_selector = "metadata.name=a";
	start(t, 0);
	until_live(t);
	assert_int_equal(0, t->streams);
}

static void relists_by_stream_after_410(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	start(t, 0);
	until_live(t);
	API_FOR(&t->api, 1200);
	t->expire_watch_event = 1;
	change(t, "a", true, false); /* missed */
	change(t, "z", false, false);
	end_watch(t);
	API_UNTIL(&t->api, t->syncs_ended == 2, 3000);
	assert_true(t->was_relisting);
	until_live(t);
	assert_int_equal(2, t->streams);
	assert_int_equal(0, t->lists);
	assert_same(t);
}

static void stopping_from_a_callback_is_allowed(void **state)
{
	struct test *t = *state;
	t->stream = stream_all;
	t->stop_at_first_object = true;
	start(t, 0);
	API_UNTIL(&t->api, t->reflector == NULL, 2000);
	API_FOR(&t->api, 100);
	assert_int_equal(1, t->copy.n);
	t->stop_at_first_object = false;
	t->stop_at_sync_end = true;
	start(t, 0);
	API_UNTIL(&t->api, t->reflector == NULL, 2000);
	API_FOR(&t->api, 100);
	assert_int_equal(1, t->syncs_ended);
	assert_int_equal(KUBE_REFLECTOR_STARTING, t->state); /* never told that it is live */
}

/* A stream that ends somewhere, sometimes after its end bookmark. */
static void ragged_stream(struct test *t, struct evhttp_request *request)
{
	stream_two(t, request);
	if (t->streams % 3 == 0) {
		end_watch(t);
		return;
	}
	send_initial(t, 2, t->truth.n);
	send_bookmark(t, true);
}

static void survives_a_storm(void **state)
{
	struct test *t = *state;
	t->stream = ragged_stream;
	start(t, 0);
	until_live(t);
	unsigned random = 54321;
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 20; i++) {
			char name[16];
			random = random * 1103515245u + 12345u;
			snprintf(name, sizeof name, "n%u", random >> 16 & 15);
			bool gone = (random >> 24 & 3) == 0 && find(&t->truth, name);
			change(t, name, gone, round % 2 == 0);
		}
		API_FOR(&t->api, 30);
		int syncs = t->syncs_ended;
		kube_reflector_resync(t->reflector);
		API_UNTIL(&t->api, t->syncs_ended > syncs, 10000);
		until_live(t);
		assert_same(t);
	}
	assert_true(t->streams >= 5);
	assert_int_equal(0, t->lists);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(one_request_lists_and_watches),
		CASE(goes_on_from_the_end_bookmark),
		CASE(only_the_bookmark_makes_it_live),
		CASE(changes_may_come_before_the_bookmark),
		CASE(a_cut_stream_takes_nothing_away_and_starts_again),
		CASE(a_stream_that_is_cut_again_gives_way_to_pages),
		CASE(a_machine_that_slept_starts_the_stream_again),
		CASE(a_refusal_is_remembered_for_all_lists),
		CASE(an_error_event_gives_way_to_pages_at_once),
		CASE(expired_is_no_refusal),
		CASE(a_server_that_is_behind_is_no_refusal),
		CASE(throttled_waits_and_asks_again),
		CASE(a_server_error_is_retried),
		CASE(without_the_right_to_watch_the_list_still_comes),
		CASE(without_any_right_it_is_forbidden),
		CASE(what_is_not_served_is_said),
		CASE(what_is_no_streaming_list_gives_way_to_pages),
		CASE(silence_gives_way_to_pages_on_a_new_connection),
		CASE(a_trickle_gives_way_to_pages),
		CASE(one_object_is_a_list_and_a_watch),
		CASE(relists_by_stream_after_410),
		CASE(stopping_from_a_callback_is_allowed),
		CASE(survives_a_storm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
