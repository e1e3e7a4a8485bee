// SPDX-License-Identifier: Apache-2.0
/* The output of a process on its way to stdout and stderr: limits, readers that are slow or gone, what is collected. */
#include "tests/unit/unit.h"

#include "cli/execute.h"
#include "cli/run_output.h"
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "tests/unit/cli/written.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct cli cli;
static struct cli_run_output output;
static int out_fd, err_fd, kept_out, kept_err, n_lost, n_flushed;

static void on_lost(void *arg)
{
	assert_ptr_equal(arg, &cli);
	n_lost++;
}

static void on_flushed(void *arg)
{
	assert_ptr_equal(arg, &cli);
	n_flushed++;
}

/* stdout and stderr are pipes that nobody waits for. */
static int pipe_for(int fd, int *kept)
{
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	*kept = dup(fd);
	dup2(ends[1], fd);
	close(ends[1]);
	return ends[0];
}

static int set_up(void **state)
{
	(void)state;
	fflush(NULL);
	signal(SIGPIPE, SIG_IGN);
	out_fd = pipe_for(STDOUT_FILENO, &kept_out);
	err_fd = pipe_for(STDERR_FILENO, &kept_err);
	n_lost = n_flushed = 0;
	cli = (struct cli){ .loop = net_loop_new(NULL) };
	output = (struct cli_run_output){
		.cli = &cli, .on_lost = on_lost, .on_flushed = on_flushed, .arg = &cli
	};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cli_run_output_deinit(&output);
	net_loop_free(cli.loop);
	dup2(kept_out, STDOUT_FILENO);
	dup2(kept_err, STDERR_FILENO);
	close(kept_out);
	close(kept_err);
	if (out_fd >= 0)
		close(out_fd);
	close(err_fd);
	return 0;
}

static void take(int stream, const char *text)
{
	cli_run_output_take(&output, stream, slice_of(text));
}

/* What comes in one turn is written at its end. */
static void turn(void)
{
	for (int i = 0; i < 3; i++)
		net_loop_run_once(cli.loop, 0);
}

static void expect(int fd, const char *text)
{
	char bytes[200] = "";
	turn();
	ssize_t n = read(fd, bytes, sizeof bytes - 1);
	assert_string_equal(bytes, text);
	assert_int_equal(n, text[0] ? (ssize_t)strlen(text) : -1);
}

static void each_stream_to_its_own(void **state)
{
	(void)state;
	cli_run_output_init(&output);
	take(1, "out");
	take(2, "err");
	take(1, "more");
	assert_true(cli_run_output_is_waiting(&output));
	expect(out_fd, "outmore");
	expect(err_fd, "err");
	assert_false(cli_run_output_is_waiting(&output));
	assert_false(cli_run_output_is_lost(&output));
	assert_int_equal(n_lost, 0);
	assert_int_equal(n_flushed, 1);
}

/* Both streams together; the last byte that is allowed still comes. */
static void a_limit(void **state)
{
	(void)state;
	output.limit_bytes = 6;
	cli_run_output_init(&output);
	take(1, "123");
	take(2, "456");
	assert_false(cli_run_output_is_lost(&output));
	assert_int_equal(n_lost, 0);
	take(1, "78");
	assert_true(cli_run_output_is_lost(&output));
	assert_int_equal(n_lost, 1);
	take(1, "9");
	assert_int_equal(n_lost, 1);
	expect(out_fd, "123");
	expect(err_fd, "456");
	assert_int_equal(cli_run_output_fail(&output), STATUS_OWN_FAILURE);
	expect(err_fd, "sandmux: limit.output: it wrote more than 6 B and was killed\n");
}

static void a_limit_in_the_middle(void **state)
{
	(void)state;
	output.limit_bytes = 4;
	cli_run_output_init(&output);
	take(1, "123");
	take(1, "456");
	assert_true(cli_run_output_is_lost(&output));
	expect(out_fd, "1234");
}

static void what_is_collected(void **state)
{
	struct written written;
	(void)state;
	output.collects = true;
	output.limit_bytes = 5;
	cli.opt.output = CLI_JSON;
	cli_run_output_init(&output);
	take(1, "ab");
	take(2, "c");
	take(1, "de");
	assert_false(cli_run_output_is_lost(&output));
	expect(out_fd, "");
	written_begin(&written);
	cli_run_output_print(&output, 3, 2000);
	written_end(&written);
	assert_string_equal(written.out,
		"{\n\t\"stdout\":\t\"abde\",\n\t\"stderr\":\t\"c\",\n\t\"exitCode\":\t3,\n"
		"\t\"duration\":\t2\n}\n");
	free(written.out);
	free(written.err);
	take(2, "f");
	assert_int_equal(n_lost, 1);
}

/* Nobody reads: what does not fit waits, in order, and then it is told. */
static void a_slow_reader(void **state)
{
	static char block[1 << 16], bytes[1 << 16];
	size_t sent = 0, got = 0;
	(void)state;
	cli_run_output_init(&output);
	memset(block, 'x', sizeof block);
	for (; sent < 8 * sizeof block; sent += sizeof block)
		cli_run_output_take(&output, 1, (struct slice){ block, sizeof block });
	turn();
	assert_true(cli_run_output_is_waiting(&output));
	take(1, "end");
	sent += 3;
	net_loop_run_once(cli.loop, 30);
	assert_int_equal(n_flushed, 0);
	char last = 0;
	for (int64_t until = clock_mono_ms() + 9000; got < sent && clock_mono_ms() < until;) {
		ssize_t n = read(out_fd, bytes, sizeof bytes);
		if (n > 0) {
			got += (size_t)n;
			last = bytes[n - 1];
		} else {
			net_loop_run_once(cli.loop, 20);
		}
	}
	assert_int_equal(got, sent);
	assert_int_equal(last, 'd');
	assert_int_equal(n_flushed, 1);
	assert_false(cli_run_output_is_waiting(&output));
	assert_int_equal(n_lost, 0);
	take(1, "on");
	expect(out_fd, "on");
}

static void no_reader(void **state)
{
	(void)state;
	cli_run_output_init(&output);
	close(out_fd);
	out_fd = -1;
	take(1, "x");
	turn();
	assert_int_equal(n_lost, 1);
	assert_true(cli_run_output_is_lost(&output));
	take(2, "nothing");
	expect(err_fd, "");
	assert_int_equal(cli_run_output_fail(&output), 141);
	expect(err_fd, "");
}

static void a_reader_that_leaves(void **state)
{
	static char block[1 << 16];
	(void)state;
	cli_run_output_init(&output);
	for (int i = 0; i < 8; i++)
		cli_run_output_take(&output, 1, (struct slice){ block, sizeof block });
	turn();
	assert_true(cli_run_output_is_waiting(&output));
	close(out_fd);
	out_fd = -1;
	for (int64_t until = clock_mono_ms() + 9000; !n_flushed && clock_mono_ms() < until;)
		net_loop_run_once(cli.loop, 20);
	assert_int_equal(n_lost, 1);
	assert_int_equal(n_flushed, 1);
	assert_false(cli_run_output_is_waiting(&output));
	assert_int_equal(cli_run_output_fail(&output), 141);
}

static void a_full_disk(void **state)
{
	(void)state;
	cli_run_output_init(&output);
	int full = open("/dev/full", O_WRONLY);
	assert_true(full >= 0);
	dup2(full, STDOUT_FILENO);
	close(full);
	take(1, "x");
	turn();
	assert_int_equal(n_lost, 1);
	assert_int_equal(cli_run_output_fail(&output), STATUS_OWN_FAILURE);
	char bytes[200] = "";
	assert_true(read(err_fd, bytes, sizeof bytes - 1) > 0);
	assert_non_null(strstr(bytes, "cannot write its output: No space left on device"));
}

#define PIPED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PIPED(each_stream_to_its_own),
		PIPED(a_limit),
		PIPED(a_limit_in_the_middle),
		PIPED(what_is_collected),
		PIPED(a_slow_reader),
		PIPED(no_reader),
		PIPED(a_reader_that_leaves),
		PIPED(a_full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
