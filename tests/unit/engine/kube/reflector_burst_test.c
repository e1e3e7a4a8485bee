// SPDX-License-Identifier: Apache-2.0
/* Many events at once: others get their turn between them, and nothing of the burst is lost however it ends. */
#include "reflector_server.h"

enum { BURST = 2000, OBJECT_COST_US = 100 };

/* BURST changes of "a" in one piece, and more after them. */
static void send_burst(struct test *t, const char *after)
{
	struct str lines;
	str_init(&lines, 4 << 20);
	for (int i = 0; i < BURST; i++) {
		const struct object object = { .name = "a", .revision = ++t->revision };
		str_add(&lines, "{\"type\":\"MODIFIED\",\"object\":");
		add_object(&lines, &object);
		str_add(&lines, "}\n");
	}
	str_add(&lines, after);
	assert_false(lines.truncated);
	put(&t->truth, "a", t->revision);
	api_send(t->watch, lines.p);
	str_deinit(&lines);
}

struct heart {
	struct net_loop_timer *timer;
	int64_t last_ms, longest_ms;
	int beats;
};

static void on_beat(void *arg)
{
	struct heart *heart = arg;
	int64_t now = clock_mono_ms();
	if (heart->beats++ > 0 && now - heart->last_ms > heart->longest_ms)
		heart->longest_ms = now - heart->last_ms;
	heart->last_ms = now;
}

static bool is_whole(struct test *t)
{
	const struct object *a = find(&t->copy, "a");
	return a != NULL && a->revision == t->revision;
}

/* The longest time in which nothing else ran, for one burst, in thousandths of what the burst took. */
static int64_t longest_share(struct test *t)
{
	struct heart heart = { 0 };
	int objects = t->objects;
	heart.timer = net_loop_timer_new(t->api.loop, on_beat, &heart);
	net_loop_timer_arm_every(heart.timer, 1);
	API_FOR(&t->api, 20);
	int64_t began_ms = clock_mono_ms();
	send_burst(t, "");
	API_UNTIL(&t->api, is_whole(t), 20000);
	int64_t took_ms = clock_mono_ms() - began_ms;
	net_loop_timer_free(heart.timer);
	assert_int_equal(BURST, t->objects - objects);
	assert_true(took_ms >= BURST * OBJECT_COST_US / 1000);
	return heart.longest_ms * 1000 / took_ms;
}

static void others_get_their_turn(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->object_cost_us = OBJECT_COST_US; /* 200 ms in all */
	/* in one turn it would be 200; the best of three, for this process may have to wait for others */
	int64_t best = 1000;
	for (int i = 0; i < 3 && best > 100; i++) {
		int64_t share = longest_share(t);
		best = share < best ? share : best;
	}
	assert_same(t);
	if (best > 100)
		fail_msg("nothing else ran for %d thousandths of a burst", (int)best);
}

static void a_cut_right_after_it_loses_nothing(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	API_FOR(&t->api, 1100);
	int watches = t->watches;
	t->object_cost_us = 20;
	send_burst(t, "{\"type\":\"MODIFIED\",\"obj");
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
	API_UNTIL(&t->api, t->watches > watches, 20000);
	assert_int_equal(t->revision, number(api_query(last(t), "resourceVersion")));
	assert_same(t);
	assert_int_equal(BURST + 5, t->objects);
}

static void an_error_in_it_ends_the_watch_there(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	API_FOR(&t->api, 1100);
	t->object_cost_us = 20;
	send_burst(t,
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
		"\"message\":\"too old resource version: 1 (2)\",\"reason\":\"Expired\","
		"\"code\":410}}\n"
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"never\",\"uid\":\"u\","
		"\"resourceVersion\":\"9\"}}}\n");
	API_UNTIL(&t->api, t->was_relisting, 20000);
	assert_int_equal(BURST + 5, t->objects);
	assert_null(find(&t->copy, "never"));
	until_live(t);
	API_UNTIL(&t->api, t->syncs_ended == 2, 5000);
	assert_same(t);
}

static void stopping_in_the_middle_is_the_end(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->object_cost_us = 20;
	t->stop_at_object = BURST / 2;
	send_burst(t, "");
	API_UNTIL(&t->api, t->reflector == NULL, 20000);
	API_FOR(&t->api, 50);
	assert_int_equal(BURST / 2, t->objects);
}

static void a_resync_in_the_middle_forgets_the_rest(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	t->object_cost_us = OBJECT_COST_US;
	send_burst(t, "");
	API_UNTIL(&t->api, t->objects > 100, 20000);
	kube_reflector_resync(t->reflector);
	t->object_cost_us = 0;
	API_UNTIL(&t->api, t->syncs_ended == 2, 5000);
	assert_true(t->objects < BURST);
	until_live(t);
	assert_same(t);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(others_get_their_turn),
		CASE(a_cut_right_after_it_loses_nothing),
		CASE(an_error_in_it_ends_the_watch_there),
		CASE(stopping_in_the_middle_is_the_end),
		CASE(a_resync_in_the_middle_forgets_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
