// SPDX-License-Identifier: Apache-2.0
// How fast a pool is used up, and when it will be empty.
#include "tests/unit/unit.h"

#include "engine/kinds/drain.h"

static void test_nothing_is_said_too_early(void **state)
{
	struct kinds_drain drain = { 0 };
	int64_t rate, ms;
	(void)state;
	assert_false(kinds_drain_rate(&drain, 100000, &rate));
	kinds_drain_see(&drain, 1000, 10, 10);
	kinds_drain_see(&drain, 2000, 10, 8);
	assert_false(kinds_drain_rate(&drain, 1000 + DRAIN_LEAST_MS - 1, &rate));
	assert_true(kinds_drain_rate(&drain, 1000 + DRAIN_LEAST_MS, &rate));
	assert_int_equal(rate, 12000); /* two in ten seconds: twelve a minute */
	assert_true(kinds_drain_empty_in(&drain, 1000 + DRAIN_LEAST_MS, &ms));
	assert_int_equal(ms, 40000); /* eight left */
}

static void test_what_is_made_again_counts_against_it(void **state)
{
	struct kinds_drain drain = { 0 };
	int64_t rate, ms;
	(void)state;
	kinds_drain_see(&drain, 0, 4, 4);
	kinds_drain_see(&drain, 10000, 4, 1);
	kinds_drain_see(&drain, 20000, 4, 3);
	assert_true(kinds_drain_empty_in(&drain, 60000, &ms));
	assert_int_equal(ms, 180000); /* one less in a minute, three left */
	kinds_drain_see(&drain, 30000, 4, 4);
	assert_true(kinds_drain_rate(&drain, 60000, &rate));
	assert_int_equal(rate, 3000);
	assert_false(kinds_drain_empty_in(&drain, 60000, &ms)); /* it keeps up */
}

static void test_old_use_is_forgotten(void **state)
{
	enum { WINDOW = DRAIN_BUCKETS * DRAIN_BUCKET_MS };
	struct kinds_drain drain = { 0 };
	int64_t rate;
	(void)state;
	kinds_drain_see(&drain, 0, 4, 4);
	kinds_drain_see(&drain, 1000, 4, 2);
	assert_true(kinds_drain_rate(&drain, WINDOW - 1, &rate));
	assert_true(rate > 0);
	assert_true(kinds_drain_rate(&drain, WINDOW + 1, &rate));
	assert_int_equal(rate, 0);
	kinds_drain_see(&drain, 10 * WINDOW, 4, 1); /* long after */
	assert_true(kinds_drain_rate(&drain, 10 * WINDOW + 30000, &rate));
	assert_true(rate > 0);
}

static void test_scaling_is_no_use(void **state)
{
	struct kinds_drain drain = { 0 };
	int64_t rate, ms;
	(void)state;
	kinds_drain_see(&drain, 0, 8, 8);
	kinds_drain_see(&drain, 10000, 2, 8); /* another wish: anew */
	assert_false(kinds_drain_rate(&drain, 12000, &rate));
	kinds_drain_see(&drain, 20000, 2, 2); /* those too many went */
	assert_true(kinds_drain_rate(&drain, 30000, &rate));
	assert_int_equal(rate, 0);
	kinds_drain_see(&drain, 40000, 2, 0);
	assert_false(kinds_drain_empty_in(&drain, 40000, &ms)); /* it is */
	kinds_drain_see(&drain, 50000, 2, -5);
	assert_true(kinds_drain_rate(&drain, 60000, &rate));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_said_too_early),
		cmocka_unit_test(test_what_is_made_again_counts_against_it),
		cmocka_unit_test(test_old_use_is_forgotten),
		cmocka_unit_test(test_scaling_is_no_use),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
