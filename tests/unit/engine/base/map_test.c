// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/map.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
	char key[24];
	int value;
	UT_hash_handle hh;
};

static void test_hash_depends_on_every_byte(void **state)
{
	(void)state;
	char bytes[40] = { 0 };
	for (size_t n = 0; n <= sizeof bytes; n++) {
		uint32_t before = map_hash(bytes, n);
		assert_int_equal(map_hash(bytes, n), before);
		for (size_t i = 0; i < n; i++) {
			bytes[i] ^= 1;
			assert_int_not_equal(map_hash(bytes, n), before);
			bytes[i] ^= 1;
		}
		if (n > 0)
			assert_int_not_equal(map_hash(bytes, n - 1), before);
	}
}

static void test_hash_spreads(void **state)
{
	(void)state;
	unsigned buckets[256] = { 0 };
	for (uint32_t i = 0; i < 25600; i++)
		buckets[map_hash(&i, sizeof i) & 255]++;
	for (size_t i = 0; i < 256; i++)
		assert_in_range(buckets[i], 40, 180);
}

static void test_table(void **state)
{
	(void)state;
	struct item *items = NULL, *found, *next;
	for (int i = 0; i < 5000; i++) {
		struct item *item = x_calloc(1, sizeof *item);
		snprintf(item->key, sizeof item->key, "key-%d", i);
		item->value = i;
		HASH_ADD_STR(items, key, item);
	}
	HASH_FIND_STR(items, "key-4321", found);
	assert_non_null(found);
	assert_int_equal(found->value, 4321);
	HASH_FIND_STR(items, "key-5000", found);
	assert_null(found);
	assert_int_equal(HASH_COUNT(items), 5000);
	HASH_ITER(hh, items, found, next) {
		HASH_DEL(items, found);
		free(found);
	}
	assert_null(items);
}

/* Whoever chooses keys cannot know which ones collide: the seed is another one in each process. */
static uint32_t hash_of_another_process(void)
{
	int ends[2];
	uint32_t hash = 0;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		hash = map_hash("key", 3);
		_exit(write(ends[1], &hash, sizeof hash) == sizeof hash ? 0 : 1);
	}
	assert_int_equal(read(ends[0], &hash, sizeof hash), sizeof hash);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(ends[0]);
	close(ends[1]);
	return hash;
}

/* Comes first: what has a seed already hands it to its children. */
static void test_every_process_has_a_seed(void **state)
{
	(void)state;
	uint32_t first = hash_of_another_process(), second = hash_of_another_process();
	uint32_t third = hash_of_another_process();
	assert_true(first != second || second != third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_process_has_a_seed),
		cmocka_unit_test(test_hash_depends_on_every_byte),
		cmocka_unit_test(test_hash_spreads),
		cmocka_unit_test(test_table),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
