// SPDX-License-Identifier: Apache-2.0
/* A mount whose server is gone: whoever opens something there hangs, and nobody else does. */
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/files/removal.h"
#include "engine/net/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OTHERS = 8, WAIT_MS = 10000 };

static sem_t server; /* an answer for one of those that hang */
static atomic_int n_hanging;
static struct net_loop *loop;
static int n_told;
static enum err_code code;

static void hang_at(const char *path)
{
	if (strncmp(path, "/hang", strlen("/hang")) != 0)
		return;
	n_hanging++;
	while (sem_wait(&server) < 0 && errno == EINTR) {
	}
	n_hanging--;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	hang_at(path);
	return __real_open(path, flags, mode);
}

int __real_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st);
int __wrap_stat(const char *path, struct stat *st)
{
	hang_at(path);
	return __real_stat(path, st);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
	hang_at(path);
	return __real_mkdir(path, mode);
}

static const struct files_place local = { 0 };

#define UNTIL(condition)                                                                       \
	do {                                                                                   \
		int64_t end_ = clock_mono_ms() + WAIT_MS;                                      \
		while (!(condition) && clock_mono_ms() < end_)                                 \
			net_loop_run_once(loop, 10);                                           \
		assert_true(condition);                                                        \
	} while (0)

static void told(const struct err *err)
{
	n_told++;
	code = err ? err->code : ERR_NONE;
}

static void on_listed(void *arg, const struct err *err, struct files_listing *listing)
{
	(void)arg;
	(void)listing;
	told(err);
}

static void on_stat(void *arg, const struct err *err, const struct files_entry *entry)
{
	(void)arg;
	(void)entry;
	told(err);
}

static void on_made(void *arg, const struct err *err)
{
	(void)arg;
	told(err);
}

static void on_planned(void *arg, const struct err *err, const struct files_plan *plan)
{
	(void)arg;
	assert_true(err || !plan->is_counted);
	told(err);
}

static int set_up(void **state)
{
	(void)state;
	n_told = 0;
	sem_init(&server, 0, 0);
	loop = net_loop_new(NULL);
	return 0;
}

/* Nobody waits for what hangs; it is answered afterwards, so that nothing is left. */
static int tear_down(void **state)
{
	(void)state;
	net_loop_free(loop);
	for (int64_t end = clock_mono_ms() + WAIT_MS; n_hanging && clock_mono_ms() < end;) {
		sem_post(&server);
		usleep(1000);
	}
	usleep(20000); /* the threads free what they had */
	return n_hanging;
}

static void others_go_on(void **state)
{
	(void)state;
	struct files_op *hung =
		files_list_start(loop, &local, "/hang/dir", NULL, on_listed, NULL);
	UNTIL(n_hanging == 1);
	for (int i = 0; i < OTHERS; i++) {
		int before = n_told;
		files_list_start(loop, &local, "/", NULL, on_listed, NULL);
		UNTIL(n_told == before + 1);
		assert_int_equal(code, ERR_NONE);
	}
	files_cancel(hung);
}

/* Somebody who tries again and again there does not take the place of all others. */
static void those_given_up_take_no_place(void **state)
{
	(void)state;
	for (int i = 0; i < OTHERS; i++) {
		struct files_op *hung =
			files_list_start(loop, &local, "/hang/dir", NULL, on_listed, NULL);
		UNTIL(n_hanging == i + 1);
		files_cancel(hung);
	}
	files_list_start(loop, &local, "/", NULL, on_listed, NULL);
	UNTIL(n_told == 1);
	assert_int_equal(code, ERR_NONE);
}

static void each_operation_may_hang_and_end(void **state)
{
	struct err err = { 0 };
	static const struct files_entry entry = { .name = "x" };
	const struct files_entry *const entries[] = { &entry };
	(void)state;
	files_list_start(loop, &local, "/hang/dir", NULL, on_listed, NULL);
	files_stat_start(loop, &local, "/hang/file", on_stat, NULL);
	files_mkdir_start(loop, &local, "/hang/new", on_made, NULL, &err);
	struct files_removal *removal = files_removal_plan_start(
		loop, &local, "/hang/dir", entries, 1, on_planned, NULL, &err);
	UNTIL(n_hanging == 4);
	for (int i = 0; i < OTHERS; i++)
		net_loop_run_once(loop, 1);
	assert_int_equal(n_told, 0);
	/* the server is back */
	for (int i = 0; i < 4; i++)
		sem_post(&server);
	UNTIL(n_told == 4);
	net_loop_run_once(loop, 0);
	files_removal_free(removal);
}

static void given_up_at_the_end_of_the_program(void **state)
{
	struct err err = { 0 };
	static const struct files_entry entry = { .name = "x" };
	const struct files_entry *const entries[] = { &entry };
	(void)state;
	struct files_op *made =
		files_mkdir_start(loop, &local, "/hang/new", on_made, NULL, &err);
	struct files_op *stat_op = files_stat_start(loop, &local, "/hang/f", on_stat, NULL);
	struct files_removal *removal = files_removal_plan_start(
		loop, &local, "/hang/dir", entries, 1, on_planned, NULL, &err);
	UNTIL(n_hanging == 3);
	files_cancel(made);
	files_cancel(stat_op);
	files_removal_free(removal);
	net_loop_run_once(loop, 0);
	assert_int_equal(n_told, 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(others_go_on),
		CASE(those_given_up_take_no_place),
		CASE(each_operation_may_hang_and_end),
		CASE(given_up_at_the_end_of_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
