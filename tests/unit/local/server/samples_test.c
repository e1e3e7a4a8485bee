// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "local/server/store/samples.h"

static void test_the_last_one_is_kept(void **state)
{
	struct store_samples samples = { 0 };
	(void)state;
	assert_null(store_samples_get(&samples, "a"));
	store_samples_drop(&samples, "a");
	store_samples_put(&samples, "a", &(struct store_sample){ .cpu_nano = 1 });
	store_samples_put(&samples, "", &(struct store_sample){ .cpu_nano = 2 });
	store_samples_put(&samples, "a", &(struct store_sample){ .cpu_nano = 3 });
	assert_int_equal(store_samples_get(&samples, "a")->cpu_nano, 3);
	assert_int_equal(store_samples_get(&samples, "")->cpu_nano, 2);
	store_samples_drop(&samples, "a");
	assert_null(store_samples_get(&samples, "a"));
	store_samples_deinit(&samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_last_one_is_kept) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
