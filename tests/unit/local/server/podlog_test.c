// SPDX-License-Identifier: Apache-2.0
/* What of a daemon's output is kept: so much a second, so much a line, so much in all. */
#include "tests/unit/local/server/world.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "local/control/remove.h"
#include "local/server/kubelet/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* "2026-01-01T00:00:00.000000000Z " and the end of the line */
enum { LINE = 1000, STAMPED = 31 + LINE + 1, A_SECOND = 508, IN_A_FILE = 4064 };

static char folder[64];
static struct world *world;
static struct kubelet_podlog *podlog;
static int fifo;
static int64_t now_ms;

static void at_ms(int64_t ms)
{
	now_ms = ms;
	clock_set_for_tests(ms * 1000000, 1767225600000000000);
}

static int set_up(void **state)
{
	struct err err = { 0 };
	world_set_up(state);
	world = *state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-podlog-XXXXXX");
	assert_non_null(mkdtemp(folder));
	at_ms(50000);
	podlog = kubelet_podlog_open(&world->server, folder, &err);
	assert_non_null(podlog);
	fifo = open(kubelet_podlog_path(podlog), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fifo >= 0);
	return 0;
}

static int tear_down(void **state)
{
	clock_set_for_tests(-1, -1);
	kubelet_podlog_close(podlog);
	close(fifo);
	int fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	rmdir(folder);
	return world_tear_down(state);
}

static void say(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fifo, text, n);
		if (put > 0) {
			text += put;
			n -= (size_t)put;
		}
		net_loop_run_once(world->server.loop, 0);
	}
	for (int i = 0; i < 8; i++) /* as much as a pipe holds */
		net_loop_run_once(world->server.loop, 0);
}

static void say_lines(int n)
{
	static char line[LINE + 1];
	memset(line, 'x', LINE);
	line[LINE] = '\n';
	for (int i = 0; i < n; i++)
		say(line, sizeof line);
}

static char *content(const char *name, size_t *n)
{
	char path[100];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	return file_read(path, 16 << 20, n, NULL);
}

static size_t size_of(const char *name)
{
	size_t n = 0;
	free(content(name, &n));
	return n;
}

static void test_so_much_a_second(void **state)
{
	size_t n;
	(void)state;
	say_lines(600);
	assert_int_equal(size_of("log"), A_SECOND * STAMPED);
	at_ms(now_ms + 999);
	say_lines(1);
	assert_int_equal(size_of("log"), A_SECOND * STAMPED);
	at_ms(now_ms + 1);
	say("next\n", 5);
	say("more\n", 5);
	char *text = content("log", &n);
	assert_string_equal(text + A_SECOND * STAMPED,
		"2026-01-01T00:00:00.000000000Z (93 lines dropped: too many at once)\n"
		"2026-01-01T00:00:00.000000000Z next\n"
		"2026-01-01T00:00:00.000000000Z more\n");
	free(text);
	/* it is said once */
	at_ms(now_ms + 1000);
	say("last\n", 5);
	text = content("log", &n);
	assert_string_equal(text + n - 72, "2026-01-01T00:00:00.000000000Z more\n"
					   "2026-01-01T00:00:00.000000000Z last\n");
	free(text);
}

static void test_so_much_in_all(void **state)
{
	size_t n;
	(void)state;
	for (int i = 0; i < 8; i++) {
		say_lines(A_SECOND);
		at_ms(now_ms + 1000);
	}
	assert_int_equal(size_of("log"), IN_A_FILE * STAMPED);
	assert_int_equal(size_of("log.1"), 0);
	say_lines(1);
	assert_int_equal(size_of("log.1"), IN_A_FILE * STAMPED);
	assert_int_equal(size_of("log"), STAMPED);
	say("more\n", 5);
	char *text = content("log", &n);
	assert_int_equal(n, STAMPED + 36);
	free(text);
}

static void test_so_much_a_line(void **state)
{
	static char line[20000];
	size_t n;
	(void)state;
	memset(line, 'y', sizeof line);
	say(line, sizeof line);
	say("\n\nz", 3);
	char *text = content("log", &n);
	assert_int_equal(n, 31 + 16383 + 1 + 31 + (20000 - 16383) + 1 + 31 + 1);
	assert_int_equal(text[31 + 16382], 'y');
	assert_int_equal(text[31 + 16383], '\n');
	free(text);
	/* a line without an end is one when the run is over */
	kubelet_podlog_rotate(podlog);
	size_t older;
	text = content("log.1", &older);
	assert_int_equal(older, n + 33);
	assert_string_equal(text + n, "2026-01-01T00:00:00.000000000Z z\n");
	free(text);
	assert_int_equal(size_of("log"), 0);
	close(fifo);
	fifo = -1;
	for (int i = 0; i < 4; i++) /* nobody writes: nothing is read again and again */
		net_loop_run_once(world->server.loop, 0);
	assert_int_equal(size_of("log"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_so_much_a_second),
		TEST(test_so_much_in_all),
		TEST(test_so_much_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
