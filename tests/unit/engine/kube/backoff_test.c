// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/kube/backoff.h"

#include <stdbool.h>

/* A thousand clients that lost the same server do not come back at the same moment. */
static void draws_are_spread(void **state)
{
	(void)state;
	int64_t least = INT64_MAX, most = 0;
	for (int i = 0; i < 2000; i++) {
		struct kube_backoff backoff = { 0 };
		int64_t ms = kube_backoff_next_ms(&backoff);
		assert_in_range(ms, KUBE_BACKOFF_FIRST_MS, 2 * KUBE_BACKOFF_FIRST_MS);
		least = ms < least ? ms : least;
		most = ms > most ? ms : most;
	}
	assert_true(least < KUBE_BACKOFF_FIRST_MS + KUBE_BACKOFF_FIRST_MS / 10);
	assert_true(most > 2 * KUBE_BACKOFF_FIRST_MS - KUBE_BACKOFF_FIRST_MS / 10);
}

static void both_ends_are_drawn(void **state)
{
	(void)state;
	bool has[4] = { false };
	for (int i = 0; i < 400; i++) {
		int64_t ms = kube_jitter_ms(5, 7);
		assert_in_range(ms, 5, 7);
		has[ms - 5] = true;
	}
	assert_true(has[0] && has[1] && has[2]);
	assert_int_equal(kube_jitter_ms(9, 9), 9);
}

static void it_doubles_up_to_the_cap_and_starts_over(void **state)
{
	(void)state;
	struct kube_backoff backoff = { 0 };
	int64_t base = KUBE_BACKOFF_FIRST_MS;
	for (int i = 0; i < 20; i++) {
		int64_t ms = kube_backoff_next_ms(&backoff);
		assert_in_range(ms, base, 2 * base);
		base = base * 2 > KUBE_BACKOFF_CAP_MS ? KUBE_BACKOFF_CAP_MS : base * 2;
	}
	assert_int_equal(base, KUBE_BACKOFF_CAP_MS);
	kube_backoff_reset(&backoff);
	assert_in_range(kube_backoff_next_ms(&backoff), KUBE_BACKOFF_FIRST_MS,
		2 * KUBE_BACKOFF_FIRST_MS);
	assert_in_range(kube_backoff_next_ms(&backoff), 2 * KUBE_BACKOFF_FIRST_MS,
		4 * KUBE_BACKOFF_FIRST_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_spread),
		cmocka_unit_test(both_ends_are_drawn),
		cmocka_unit_test(it_doubles_up_to_the_cap_and_starts_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
