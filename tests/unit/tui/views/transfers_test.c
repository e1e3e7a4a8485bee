// SPDX-License-Identifier: Apache-2.0
// The queue of copies: states, sums, failures, retry, what the views show of it. The bytes themselves are copied in
// the tests on a real daemon.
#include "tests/unit/tui/views/fake.h"

#include <unistd.h>

static bool start(struct fake *fake, const char *path, int64_t bytes, struct err *err)
{
	const char *paths[] = { path };
	struct transfer_request request = {
		.from = { .is_local = true },
		.paths = paths,
		.sizes = &bytes,
		.n = 1,
		.to_dir = "in",
	};
	return transfer_queue_start(fake->host.copies, &request, err);
}

static int setup(void **state)
{
	*state = fake_new(false);
	return 0;
}

static int teardown(void **state)
{
	fake_free(*state);
	return 0;
}

static void test_refusals(void **state)
{
	struct fake *fake = *state;
	struct err err;
	const char *paths[] = { "/x" };
	struct transfer_request request = { .to_dir = "", .paths = paths };
	assert_false(transfer_queue_start(fake->host.copies, &request, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	request = (struct transfer_request){
		.from = { .is_local = true },
		.to = { .is_local = true },
		.paths = paths,
		.n = 1,
		.to_dir = "/y",
	};
	assert_false(transfer_queue_start(fake->host.copies, &request, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	request.to_dir = "/";
	assert_false(transfer_queue_start(fake->host.copies, &request, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	assert_int_equal(transfer_queue_count(fake->host.copies), 0);
}

static void test_a_failure_is_shown_and_kept(void **state)
{
	struct fake *fake = *state;
	struct transfer_queue *copies = fake->host.copies;
	struct err err;
	const char *path;
	const struct err *why;
	uint64_t seen = 0;
	struct transfer_place to = { 0 };
	assert_true(start(fake, "/nonexistent/file", 5, &err));
	assert_int_equal(transfer_queue_at(copies, 0).state, TRANSFER_COPY_WAITING);
	assert_int_equal(transfer_queue_running(copies), 1);
	FAKE_UNTIL(fake, transfer_copy_is_over(transfer_queue_at(copies, 0).state));
	struct transfer_copy_info info = transfer_queue_at(copies, 0);
	assert_int_equal(info.state, TRANSFER_COPY_FAILED);
	assert_int_equal(info.files_failed, 1);
	assert_int_equal(info.n_failures, 1);
	assert_true(transfer_queue_failure(copies, info.id, 0, &path, &why));
	assert_string_equal(path, "/nonexistent/file");
	assert_int_equal(why->code, ERR_FILE_NOT_FOUND);
	assert_false(transfer_queue_failure(copies, info.id, 1, &path, &why));
	assert_string_equal(fake->failure_code, "file.not_found");
	assert_int_equal(transfer_queue_running(copies), 0);
	assert_true(transfer_queue_has_arrived(copies, &seen, &to, "in"));
	assert_false(transfer_queue_has_arrived(copies, &seen, &to, "in"));
	/* again: it fails again, and counts once */
	assert_true(transfer_queue_retry(copies, info.id, &err));
	FAKE_UNTIL(fake, transfer_copy_is_over(transfer_queue_at(copies, 0).state));
	assert_int_equal(transfer_queue_at(copies, 0).n_failures, 1);
	assert_false(transfer_queue_has_arrived(copies, &seen, &to, "elsewhere"));
	transfer_queue_clear(copies);
	assert_int_equal(transfer_queue_count(copies), 0);
}

static void test_waiting_pausing_cancelling(void **state)
{
	struct fake *fake = *state;
	struct transfer_queue *copies = fake->host.copies;
	struct err err;
	struct str line;
	char path[] = "/tmp/views-copies-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	for (int i = 0; i < TRANSFER_COPIES_PARALLEL + 1; i++)
		assert_true(start(fake, path, 100, &err));
	FAKE_UNTIL(fake, transfer_queue_at(copies, TRANSFER_COPIES_PARALLEL).state ==
				 TRANSFER_COPY_RUNNING);
	/* nobody answers at that address: they run, one waits */
	assert_int_equal(
		transfer_queue_at(copies, 0).state, TRANSFER_COPY_WAITING); /* the newest */
	unsigned oldest = transfer_queue_at(copies, TRANSFER_COPIES_PARALLEL).id;
	transfer_queue_pause(copies, oldest, true);
	assert_int_equal(transfer_queue_at(copies, TRANSFER_COPIES_PARALLEL).state,
		TRANSFER_COPY_PAUSED);
	str_init(&line, 256);
	assert_true(views_transfers_summary(copies, &line));
	assert_non_null(strstr(line.p, "3 copies 0%"));
	str_deinit(&line);
	transfer_queue_pause(copies, oldest, false);
	assert_int_equal(transfer_queue_at(copies, TRANSFER_COPIES_PARALLEL).state,
		TRANSFER_COPY_RUNNING);
	while (transfer_queue_running(copies))
		for (size_t i = 0; i < transfer_queue_count(copies); i++)
			transfer_queue_cancel(copies, transfer_queue_at(copies, i).id);
	assert_int_equal(transfer_queue_at(copies, 0).state, TRANSFER_COPY_CANCELLED);
	assert_non_null(strstr(fake->note, "cancelled"));
	unlink(path);
}

/* Empty files move the number too, and 100 is what only the end says. */
static void test_percent(void **state)
{
	static const struct {
		uint64_t bytes_done, bytes_total, files_done, files_total;
		enum transfer_copy_state state;
		unsigned percent;
	} cases[] = {
		{ 0, 0, 0, 0, TRANSFER_COPY_WAITING, 0 },
		{ 0, 0, 0, 20000, TRANSFER_COPY_RUNNING, 0 },
		{ 0, 0, 10000, 20000, TRANSFER_COPY_RUNNING, 50 },
		{ 0, 0, 20000, 20000, TRANSFER_COPY_RUNNING, 99 },
		{ 1 << 30, 1 << 30, 0, 1, TRANSFER_COPY_RUNNING, 99 },
		{ 1 << 30, 1 << 30, 1, 1, TRANSFER_COPY_DONE, 100 },
		{ 1 << 29, 1 << 30, 0, 1, TRANSFER_COPY_RUNNING, 49 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct transfer_copy_info info = {
			.state = cases[i].state,
			.work_done = transfer_work(cases[i].bytes_done, cases[i].files_done),
			.work_total = transfer_work(cases[i].bytes_total, cases[i].files_total),
		};
		assert_int_equal(transfer_copy_percent(&info), cases[i].percent);
	}
}

static void test_many_at_once_and_the_end_of_the_program(void **state)
{
	struct fake *fake = *state;
	struct err err;
	for (int i = 0; i < 10; i++)
		assert_true(start(fake, "/etc/hostname", -1, &err));
	net_loop_run_once(fake->host.loop, 10);
	/* teardown frees everything with copies under way */
	assert_int_equal(transfer_queue_running(fake->host.copies), 10);
}

static void test_the_view(void **state)
{
	struct fake *fake = *state;
	struct err err;
	struct view_args args = { 0 };
	struct view *view = view_copies.open(&fake->host, &args, &err);
	char *text = fake_draw(view, 80, 10);
	assert_non_null(strstr(text, "No copies yet."));
	free(text);
	assert_false(fake_command(view, "cancel", "", &err));
	assert_true(start(fake, "/nonexistent/a\x1b[31m.txt", 2048, &err));
	FAKE_UNTIL(fake, transfer_copy_is_over(transfer_queue_at(fake->host.copies, 0).state));
	text = fake_draw(view, 80, 10);
	assert_non_null(
		strstr(text, " failed    a^[[31m.txt  local → http://127.0.0.1:1:/in\n"));
	assert_non_null(strstr(text, "0 files  1 failed  0 B"));
	assert_non_null(strstr(text, "file.not_found"));
	assert_null(strchr(text, '\x1b'));
	free(text);
	assert_true(fake_command(view, "retry", "", &err));
	FAKE_UNTIL(fake, transfer_copy_is_over(transfer_queue_at(fake->host.copies, 0).state));
	assert_true(fake_command(view, "clear", "", &err));
	text = fake_draw(view, 80, 10);
	assert_non_null(strstr(text, "No copies yet."));
	free(text);
	view->class->free(view);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_refusals),
		CASE(test_a_failure_is_shown_and_kept),
		CASE(test_waiting_pausing_cancelling),
		CASE(test_many_at_once_and_the_end_of_the_program),
		CASE(test_the_view),
		CASE(test_percent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
