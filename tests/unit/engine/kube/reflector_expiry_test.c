// SPDX-License-Identifier: Apache-2.0
/* Watches that expire or fail: at once once, and then not in a loop. */
#include "reflector_server.h"

/* How long it took until the list began. */
static int64_t expire_now(struct test *t)
{
	int syncs = t->syncs_ended;
	API_FOR(&t->api, 1200); /* it has lived */
	t->expire_watch_http = 1;
	evhttp_send_reply_end(t->watch);
	t->watch = NULL;
	API_UNTIL(&t->api, t->expire_watch_http == 0, 3000);
	int64_t expired_ms = last(t)->at_ms;
	int lists = t->lists;
	API_UNTIL(&t->api, t->lists > lists, 5000);
	int64_t took_ms = last(t)->at_ms - expired_ms;
	API_UNTIL(&t->api, t->syncs_ended > syncs, 3000);
	until_live(t);
	return took_ms;
}

/* A list at once is only refused to a server that expires everything at once. */
static void a_second_410_after_a_life_is_listed_at_once_too(void **state)
{
	struct test *t = *state;
	start(t, 0);
	until_live(t);
	expire_now(t);
	int64_t second_ms = expire_now(t), third_ms = expire_now(t);
	/* the shortest pause would be 800; one of the two may be late on a busy machine */
	assert_true(second_ms < 700 || third_ms < 700);
	assert_same(t);
}

static void two_410_in_a_row_are_not_listed_in_a_loop(void **state)
{
	struct test *t = *state;
	t->expire_watch_http = 2;
	start(t, 0);
	API_UNTIL(&t->api, t->expire_watch_http == 0, 3000);
	int64_t expired_ms = last(t)->at_ms;
	int lists = t->lists;
	API_UNTIL(&t->api, t->lists > lists, 5000);
	assert_true(last(t)->at_ms - expired_ms >= 780);
	until_live(t);
	assert_same(t);
}

/* A revision that the server cannot watch from is given up after three errors in a row. */
static void the_third_early_error_lists(void **state)
{
	struct test *t = *state;
	t->page_objects = 500;
	t->break_watch = 3;
	start(t, 0);
	API_UNTIL(&t->api, t->break_watch == 0, 9000);
	assert_int_equal(1, t->lists);
	assert_int_equal(3, t->watches);
	API_UNTIL(&t->api, t->lists == 2, 9000);
	until_live(t);
	assert_same(t);
	assert_int_equal(4, t->watches);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_second_410_after_a_life_is_listed_at_once_too),
		CASE(two_410_in_a_row_are_not_listed_in_a_loop),
		CASE(the_third_early_error_lists),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
