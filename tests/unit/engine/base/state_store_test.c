// SPDX-License-Identifier: Apache-2.0
// What is remembered: from one run to the next, and whatever the file is like.
#include "engine/base/state_store.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
	char dir[64];
	char *path, *aside;
};

static int set_up(void **state)
{
	struct place *place = x_calloc(1, sizeof *place);
	snprintf(place->dir, sizeof place->dir, "/tmp/state_store.XXXXXX");
	assert_non_null(mkdtemp(place->dir));
	place->path = x_asprintf("%s/interface.json", place->dir);
	place->aside = x_asprintf("%s.damaged", place->path);
	*state = place;
	return 0;
}

static int tear_down(void **state)
{
	struct place *place = *state;
	chmod(place->path, 0600);
	unlink(place->path);
	unlink(place->aside);
	assert_int_equal(rmdir(place->dir), 0); /* and nothing else was left there */
	free(place->path);
	free(place->aside);
	free(place);
	return 0;
}

static void write_file(const char *path, const char *text)
{
	assert_true(file_write_replace(path, slice_of(text), 0600, NULL));
}

static char *read_file(const char *path)
{
	size_t n;
	char *text = file_read(path, 1 << 20, &n, NULL);
	assert_non_null(text);
	return text;
}

static void collect(void *arg, const char *rest, const char *value)
{
	struct str *out = arg;
	str_addf(out, "%s=%s;", rest, value);
}

static void from_one_run_to_the_next(void **state)
{
	struct place *place = *state;
	struct state_store *store = state_store_new(place->path);
	assert_string_equal(state_store_problem(store), "");
	assert_null(state_store_get(store, "theme"));
	assert_true(state_store_set(store, "theme", "light"));
	assert_true(state_store_set(store, "filter.b", "state=ready"));
	assert_true(state_store_set(store, "filter.a", "größe > 3"));
	assert_true(state_store_set(store, "gone", "x"));
	assert_true(state_store_set(store, "gone", NULL));
	assert_true(state_store_set_on(store, "files.hidden", true));
	assert_true(state_store_save(store, NULL));
	state_store_free(store);
	struct stat st;
	assert_int_equal(stat(place->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);

	store = state_store_new(place->path);
	struct str all;
	str_init(&all, 4096);
	state_store_each(store, "filter.", collect, &all);
	assert_string_equal(all.p, "a=größe > 3;b=state=ready;");
	assert_string_equal(state_store_get(store, "theme"), "light");
	assert_null(state_store_get(store, "gone"));
	assert_true(state_store_is_on(store, "files.hidden", false));
	assert_true(state_store_is_on(store, "theme", true)); /* neither on nor off */
	str_deinit(&all);
	state_store_free(store);
}

static void what_is_not_kept(void **state)
{
	struct place *place = *state;
	struct state_store *memory = state_store_new(NULL);
	assert_true(state_store_set(memory, "theme", "light"));
	assert_string_equal(state_store_get(memory, "theme"), "light");
	assert_true(state_store_save(memory, NULL));
	state_store_free(memory);
	assert_null(state_store_get(NULL, "theme"));
	assert_false(state_store_set(NULL, "theme", "light"));

	struct state_store *store = state_store_new(place->path);
	char *long_value = x_calloc(STATE_STORE_VALUE_BYTES + 2, 1);
	memset(long_value, 'x', STATE_STORE_VALUE_BYTES + 1);
	assert_false(state_store_set(store, "a", long_value));
	assert_false(state_store_set(store, "a", "\033[31m"));
	assert_false(state_store_set(store, "a", "two\nlines"));
	assert_false(state_store_set(store, "a", "\xff"));
	assert_false(state_store_set(store, "", "x"));
	assert_true(state_store_save(store, NULL)); /* nothing to write */
	assert_int_equal(access(place->path, F_OK), -1);
	for (int i = 0; i < STATE_STORE_PAIRS_MAX; i++) {
		char key[16];
		snprintf(key, sizeof key, "%d", i);
		assert_true(state_store_set(store, key, "x"));
	}
	assert_false(state_store_set(store, "one more", "x"));
	assert_true(state_store_set(store, "0", "another"));
	free(long_value);
	state_store_free(store);
}

static void two_programs_share_it(void **state)
{
	struct place *place = *state;
	struct state_store *a = state_store_new(place->path), *b = state_store_new(place->path);
	state_store_set(a, "theme", "light");
	state_store_set(a, "both", "a");
	assert_true(state_store_save(a, NULL));
	state_store_set(b, "sort", "age");
	state_store_set(b, "both", "b");
	assert_true(state_store_save(b, NULL));
	assert_string_equal(state_store_get(b, "theme"), "light");
	state_store_set(a, "third", "x");
	assert_true(state_store_save(a, NULL));
	assert_string_equal(state_store_get(a, "both"), "b");
	assert_string_equal(state_store_get(a, "sort"), "age");
	state_store_free(a);
	state_store_free(b);
}

static void a_damaged_file_is_put_aside(void **state)
{
	static const char *const rows[] = { "", "{", "[1,2]", "null", "{\"version\":1}",
		"{\"version\":0,\"values\":{}}", "{\"version\":\"1\",\"values\":{}}",
		"{\"version\":1,\"values\":[\"a\"]}", "\x01\x02\xff" };
	struct place *place = *state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		write_file(place->path, rows[i]);
		struct state_store *store = state_store_new(place->path);
		assert_non_null(strstr(state_store_problem(store), "is damaged"));
		char *aside = read_file(place->aside);
		assert_string_equal(aside, rows[i]);
		free(aside);
		assert_true(state_store_set(store, "theme", "dark"));
		assert_true(state_store_save(store, NULL));
		state_store_free(store);
		store = state_store_new(place->path);
		assert_string_equal(state_store_get(store, "theme"), "dark");
		state_store_free(store);
	}
}

static void hostile_entries_are_forgotten(void **state)
{
	struct place *place = *state;
	write_file(place->path,
		"{\"version\":1,\"values\":{\"theme\":\"light\",\"a\":\"\\u001b]0;x\\u0007\","
		"\"b\":1,\"c\":{\"d\":\"e\"},\"\":\"x\",\"\\u0001\":\"x\"}}");
	struct state_store *store = state_store_new(place->path);
	assert_non_null(strstr(state_store_problem(store), "5 of the entries"));
	assert_string_equal(state_store_get(store, "theme"), "light");
	assert_null(state_store_get(store, "a"));
	state_store_free(store);
}

static void a_newer_file_is_left_alone(void **state)
{
	static const char newer[] = "{\"version\":2,\"values\":{\"theme\":\"light\"}}";
	struct place *place = *state;
	write_file(place->path, newer);
	struct state_store *store = state_store_new(place->path);
	assert_non_null(strstr(state_store_problem(store), "newer sandmux"));
	assert_null(state_store_get(store, "theme"));
	state_store_set(store, "theme", "dark");
	assert_true(state_store_save(store, NULL));
	state_store_free(store);
	char *text = read_file(place->path);
	assert_string_equal(text, newer);
	free(text);
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void each_change_is_told_once(void **state)
{
	(void)state;
	int n = 0;
	struct state_store *store = state_store_new(NULL);
	state_store_on_change(store, count, &n);
	state_store_set(store, "a", "1");
	state_store_set(store, "a", "1");
	state_store_set(store, "b", NULL);
	assert_int_equal(n, 1);
	state_store_set(store, "a", NULL);
	assert_int_equal(n, 2);
	state_store_free(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(from_one_run_to_the_next, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_kept, set_up, tear_down),
		cmocka_unit_test_setup_teardown(two_programs_share_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_damaged_file_is_put_aside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			hostile_entries_are_forgotten, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_newer_file_is_left_alone, set_up, tear_down),
		cmocka_unit_test(each_change_is_told_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
