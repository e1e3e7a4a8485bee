// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/mem.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* More bytes than there can be: it says so and ends, instead of handing out less. */
static void too_much_ends_the_program(void **state)
{
	const struct rlimit no_core = { 0, 0 };
	char said[100] = "";
	int ends[2], status = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGABRT, SIG_DFL);
		dup2(ends[1], STDERR_FILENO);
		x_realloc(NULL, SIZE_MAX / 2, 3);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_true(read(ends[0], said, sizeof said - 1) > 0);
	assert_string_equal(said, "sandmux: out of memory\n");
	close(ends[0]);
}

static void nothing_is_something(void **state)
{
	(void)state;
	/* none of them is NULL */
	void *all[] = { x_malloc(0), x_calloc(0, 0), x_calloc(0, 8), x_calloc(8, 0),
		x_realloc(NULL, 0, 8), x_strdup(""), x_strndup("", 5) };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_non_null(all[i]);
		free(all[i]);
	}
	assert_null(x_strdup(NULL));
	assert_null(x_strndup(NULL, 5));
	x_free_secret(NULL);
	x_free_secret(x_strdup("secret"));
	mem_trim(); /* only gives back what is free */
}

static void what_is_made(void **state)
{
	(void)state;
	static const char zero[40];
	char *text = x_asprintf("%d-%s", 5, "x");
	assert_string_equal(text, "5-x");
	free(text);
	text = x_strndup("abcdef", 3);
	assert_string_equal(text, "abc");
	free(text);
	char *bytes = x_calloc(4, 10);
	assert_memory_equal(bytes, zero, 40);
	memset(bytes, 'b', 40);
	bytes = x_realloc(bytes, 100, 10);
	assert_int_equal(bytes[39], 'b');
	memset(bytes, 'c', 1000); /* as many as were asked for */
	free(bytes);
}

static void arrays_grow(void **state)
{
	static const struct {
		size_t capacity, need, becomes;
	} rows[] = { { 0, 0, 0 }, { 0, 1, 8 }, { 0, 8, 8 }, { 0, 9, 16 }, { 8, 8, 8 },
		{ 8, 9, 16 }, { 8, 7, 8 }, { 16, 100, 128 }, { 3, 4, 6 }, { 3, 7, 12 } };
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t capacity = rows[i].capacity;
		uint64_t *array = capacity ? x_calloc(capacity, sizeof *array) : NULL;
		for (size_t k = 0; k < capacity; k++)
			array[k] = k + 7;
		array_grow(&array, &capacity, rows[i].need, sizeof *array);
		assert_int_equal(capacity, rows[i].becomes);
		for (size_t k = 0; k < rows[i].capacity; k++)
			assert_int_equal(array[k], k + 7);
		for (size_t k = 0; k < capacity; k++)
			array[k] = 1; /* there is room for all of them */
		free(array);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_much_ends_the_program),
		cmocka_unit_test(nothing_is_something),
		cmocka_unit_test(what_is_made),
		cmocka_unit_test(arrays_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
