// SPDX-License-Identifier: Apache-2.0
/* Lists in pages and the watches that follow, from a server that does not offer streaming lists. */
#include "reflector_server.h"

#include "engine/base/settings.h"

/* ---- the cases */

static void lists_in_pages_then_watches(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	assert_int_equal(1, t->streams);
	assert_int_equal(3, t->lists);
	assert_string_equal("2", api_query(&t->api.log[1], "limit"));
	assert_string_equal("a in (b,c)", api_query(&t->api.log[1], "labelSelector"));
	assert_null(api_query(&t->api.log[1], "continue"));
	assert_string_equal("4", api_query(&t->api.log[3], "continue"));
	assert_string_equal(
		"/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/demo/sandboxclaims",
		t->api.log[1].path);
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	assert_string_equal("true", api_query(last(t), "allowWatchBookmarks"));
	int seconds = (int)number(api_query(last(t), "timeoutSeconds"));
	assert_in_range(seconds, 300, 600);
	assert_int_equal(2, t->syncs_begun); /* the refused stream's too */
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
	assert_int_equal(3, t->syncs_begun);
	assert_null(api_query(&t->api.log[3], "continue"));
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
	assert_int_equal(2, t->syncs_begun);
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

static void a_pause_ends_when_the_server_is_known_to_answer(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	api_cut(t->watch); /* younger than a second: that waits 800 ms at least */
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_RETRYING, 2000);
	int64_t hurried = clock_mono_ms();
	kube_reflector_hurry(t->reflector, false);
	API_UNTIL(&t->api, t->watches == 2, 700);
	assert_true(clock_mono_ms() - hurried < 700);
	assert_string_equal("105", api_query(last(t), "resourceVersion"));
	until_live(t);
	assert_same(t);
	/* what is open is left alone */
	kube_reflector_hurry(t->reflector, false);
	API_FOR(&t->api, 100);
	assert_int_equal(2, t->watches);
}

static void a_pause_that_the_server_has_named_is_waited_out(void **state)
{
	struct test *t = *state;
	t->throttle_watch = 1;
	start(t, 0);
	API_UNTIL(&t->api, t->watches == 1 && t->state == KUBE_REFLECTOR_RETRYING, 3000);
	kube_reflector_hurry(t->reflector, false);
	kube_reflector_hurry(t->reflector, true);
	API_UNTIL(&t->api, t->watches == 2, 5000);
	assert_true(last(t)->at_ms - t->api.log[t->api.n - 2].at_ms >= 980);
}

static void what_goes_over_a_dead_connection_is_opened_anew(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	change(t, "a", false, true);
	API_UNTIL(&t->api, find(&t->copy, "a")->revision == t->revision, 2000);
	kube_reflector_hurry(t->reflector, true);
	API_UNTIL(&t->api, t->watches == 2, 2000);
	assert_string_equal("106", api_query(last(t), "resourceVersion"));
	assert_int_equal(3, t->lists);
	until_live(t);
	change(t, "b", false, true);
	API_UNTIL(&t->api, find(&t->copy, "b")->revision == t->revision, 2000);
	assert_same(t);
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

static void forbidden_stays_the_reason_until_it_is_over(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->forbid_list = 1;
	kube_reflector_resync(t->reflector);
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_FORBIDDEN, 2000);
	t->was_retrying = false;
	t->refuse_first_list = 1; /* asked again, and the server is in trouble */
	int lists = t->lists;
	kube_reflector_resync(t->reflector);
	assert_int_equal(KUBE_REFLECTOR_FORBIDDEN, t->state);
	API_UNTIL(&t->api, t->lists > lists, 2000);
	API_FOR(&t->api, 200);
	assert_false(t->was_retrying);
	until_live(t);
	assert_same(t);
}

/* The interval is a second at least, and up to a quarter more. */
static void what_may_not_be_watched_is_listed_again_and_again(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	assert_true(setting_set("poll-interval", "1s", &err));
	t->page_objects = 500;
	t->forbid_watch = 3;
	start(t, 0);
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_POLLED, 2000);
	assert_int_equal(ERR_KUBE_FORBIDDEN, t->error);
	assert_string_equal("User cannot watch", t->message);
	assert_same(t);
	assert_int_equal(1, t->lists);
	API_FOR(&t->api, 500);
	assert_int_equal(1, t->lists);
	change(t, "a", true, false);
	change(t, "new", false, false);
	API_UNTIL(&t->api, t->lists == 2 && t->watches == 2, 2000);
	assert_same(t);
	assert_int_equal(KUBE_REFLECTOR_POLLED, t->state);
	t->garbage_list = 1; /* a poll that fails is a trouble like any other */
	API_UNTIL(&t->api, t->was_retrying, 4000);
	t->was_deaf = t->was_relisting = false;
	until_live(t); /* the right has come */
	assert_same(t);
	assert_int_equal(4, t->watches);
	assert_int_equal(0, t->forbid_watch);
	assert_true(setting_set("poll-interval", "30s", &err));
}

static void the_right_to_watch_taken_away_is_no_forbidden_list(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->forbid_watch = 100;
	change(t, "late", false, false);
	int lists = t->lists;
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
	API_UNTIL(&t->api, t->state == KUBE_REFLECTOR_POLLED, 4000);
	assert_same(t);
	assert_true(t->was_relisting);
	assert_true(t->lists > lists);
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
		.resource = &k8s_pods, .label_selector = "a in b", .on_object = on_object
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
		net_loop_run_once(t->api.loop, 20);
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
		CASE(a_pause_ends_when_the_server_is_known_to_answer),
		CASE(a_pause_that_the_server_has_named_is_waited_out),
		CASE(what_goes_over_a_dead_connection_is_opened_anew),
		CASE(forbidden_is_not_asked_again_soon),
		CASE(forbidden_stays_the_reason_until_it_is_over),
		CASE(what_may_not_be_watched_is_listed_again_and_again),
		CASE(the_right_to_watch_taken_away_is_no_forbidden_list),
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
