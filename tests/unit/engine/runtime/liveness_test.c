// SPDX-License-Identifier: Apache-2.0
/* Whether a daemon still answers while a process runs: long silences, that pass at once. */
#include "tests/unit/engine/runtime/both.h"

/* ---- does it still answer? */
static void asks(int n)
{
	UNTIL(rig.fake.n_health >= n);
}

static void it_is_asked_while_a_process_runs(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	asks(5);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	health = REFUSES; /* is an answer too */
	asks(8);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_UP);
	assert_int_equal(n_exit, 0);
	assert_memory_equal(waits.p, "20000 20000 20000 20000 20000 20000 ", 36);
	assert_null(strstr(waits.p, "5000 5000"));
	health = ANSWERS;
	end(1);
	/* and no longer than that */
	turns(50);
	int n = rig.fake.n_health;
	turns(50);
	assert_int_equal(rig.fake.n_health, n);
	run(3);
	asks(n + 2);
	end(3);
}

static void silence_and_an_answer(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	health = HANGS_UP;
	UNTIL(strstr(waits.p, "20000 5000 ") != NULL);
	UNTIL(runtime_state_of(rig.runtime) == RUNTIME_DOWN);
	/* said at the second, not at the first */
	assert_non_null(strstr(waits.p, "20000 5000 5000 "));
	assert_int_equal(n_exit, 0);
	health = ANSWERS;
	UNTIL(runtime_state_of(rig.runtime) == RUNTIME_UP);
	assert_int_equal(n_exit, 0);
	end(1);
}

static size_t count_of(const char *word)
{
	size_t n = 0;

	for (const char *at = waits.p; (at = strstr(at, word)); at += strlen(word))
		n++;
	return n;
}

static void silence_for_too_long(void **state)
{
	(void)state;
	is_quick = true;
	health = ANSWERS;
	run(1);
	health = HANGS_UP;
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_PROC_LOST)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 9"));
	/* 20 s to the first question, then every 5 s up to 90 s */
	assert_int_equal(count_of(" 5000"), 14);
	assert_int_equal(runtime_state_of(rig.runtime), RUNTIME_DOWN);
	size_t n = waits.n;
	turns(50);
	assert_int_equal(waits.n, n); /* nothing is asked any more */
	runtime_process_free(process);
}

/* After the machine has slept nobody wants to wait that long. */
static void silence_after_a_sleep(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	assert_non_null(woken);
	health = HANGS_UP;
	str_clear(&waits);
	woken(woken_arg);
	UNTIL(n_exit == 1);
	if (exit_err.code != ERR_PROC_LOST)
		fail_msg("%s: %s", err_name(&exit_err), exit_err.msg);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 20 s"));
	assert_string_equal(waits.p, "5000 5000 5000 5000 ");
	runtime_process_free(process);
	/* with no process there is nothing to ask */
	int n = rig.fake.n_health;
	woken(woken_arg);
	turns(30);
	assert_int_equal(rig.fake.n_health, n);
}

static void an_answer_after_a_sleep(void **state)
{
	(void)state;
	is_quick = true;
	run(1);
	woken(woken_arg);
	asks(2);
	asks(4);
	/* the usual patience again */
	health = HANGS_UP;
	UNTIL(n_exit == 1);
	assert_non_null(strstr(exit_err.msg, "the-box has not answered for 9"));
	runtime_process_free(process);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_is_asked_while_a_process_runs),
		TEST(silence_and_an_answer),
		TEST(silence_for_too_long),
		TEST(silence_after_a_sleep),
		TEST(an_answer_after_a_sleep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
