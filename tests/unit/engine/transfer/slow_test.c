// SPDX-License-Identifier: Apache-2.0
/* A look that takes long: what is it really? All copies wait at the same time, for the wait is long. */
#include "tests/unit/engine/transfer/box.h"

enum { FROM, TO };

static struct row {
	const char *path;
	int side;
	const char *says; /* of stat; NULL: there is no such program */
	enum err_code code;
	const char *msg;
	bool is_still_waiting; /* it is only slow */
	bool has_no_processes;
	/* what came */
	int n_done;
	enum err_code got;
	char got_msg[200];
	uint64_t bytes;
} rows[] = {
	{ "to-pipe", TO, "1:2:11a4\n", ERR_FILE_DENIED,
		"to-pipe is a device, pipe or socket there", 0, 0, 0, 0, "", 0 },
	{ "to-file", TO, "1:2:81a4\n", ERR_NONE, "", 1, 0, 0, 0, "", 0 },
	{ "to-folder", TO, "1:2:41ed\n", ERR_NONE, "", 1, 0, 0, 0, "", 0 },
	{ "to-nothing", TO, NULL, ERR_NONE, "", 1, 0, 0, 0, "", 0 },
	{ "from-pipe", FROM, "1:2:11a4\n", ERR_NONE, "", 0, 0, 0, 0, "", 0 },
	{ "from-file", FROM, "1:2:81a4\n", ERR_NONE, "", 1, 0, 0, 0, "", 0 },
	{ "no-processes", TO, "1:2:11a4\n", ERR_NONE, "", 1, 1, 0, 0, "", 0 },
};
static struct runtime boxes[COUNT(rows)];

static void says(const char *const *argv, struct box_answer *answer)
{
	answer->code = ERR_PROC_COMMAND_NOT_FOUND;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(argv[0], "stat") == 0 && strcmp(argv[5] + 2, rows[i].path) == 0 &&
			rows[i].says) {
			answer->code = ERR_NONE;
			snprintf(answer->out, sizeof answer->out, "%s", rows[i].says);
		}
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct row *row = arg;

	row->n_done++;
	row->got = err ? err->code : ERR_NONE;
	snprintf(row->got_msg, sizeof row->got_msg, "%.199s", err ? err->msg : "");
	row->bytes = progress->bytes_done;
}

static void what_it_is_when_it_takes_long(void **state)
{
	struct transfer *transfers[COUNT(rows)];
	int n_ended = 0;

	(void)state;
	here_fill("f=five");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct runtime *in = &boxes[i];
		box_open(in, box_loop);
		/* it stands in no listing, so it is looked at by itself */
		in->faults[0] = (struct box_fault){ BOX_LIST, NULL, ERR_FILE_DENIED, 0, 0, 0 };
		in->is_held[BOX_STAT] = true;
		in->execute = says;
		in->has_no_processes = rows[i].has_no_processes;
		if (rows[i].side == FROM)
			box_put(in, rows[i].path, "bytes");
		char to[40];
		snprintf(to, sizeof to, "out%zu", i);
		struct transfer_opts opts =
			rows[i].side == FROM ? copy_opts(in, rows[i].path, NULL, here(to))
					     : copy_opts(NULL, here("f"), in, rows[i].path);
		opts.on_progress = NULL;
		opts.on_note = NULL;
		opts.done = on_done;
		opts.arg = &rows[i];
		transfers[i] = transfer_start(box_loop, &opts, NULL);
		assert_non_null(transfers[i]);
		n_ended += !rows[i].is_still_waiting;
	}
	box_turns(5);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(box_times(&boxes[i], "execute"), 0);
	int64_t began = clock_mono_ms();
	for (int n = 0; n < n_ended; n = 0) {
		net_loop_run_once(box_loop, 20);
		for (size_t i = 0; i < COUNT(rows); i++)
			n += rows[i].n_done;
		if (n >= n_ended || clock_mono_ms() - began > 10000)
			break;
	}
	box_turns(5);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(rows[i].n_done, !rows[i].is_still_waiting);
		assert_int_equal(
			box_times(&boxes[i], "execute stat"), !rows[i].has_no_processes);
		/* in time the look ends after all */
		box_release(&boxes[i], BOX_STAT);
	}
	began = clock_mono_ms();
	for (int n = 0; n < (int)COUNT(rows) && clock_mono_ms() - began < 10000;) {
		net_loop_run_once(box_loop, 20);
		n = 0;
		for (size_t i = 0; i < COUNT(rows); i++)
			n += rows[i].n_done;
	}
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(rows[i].n_done, 1);
		assert_int_equal(rows[i].got, rows[i].code);
		assert_string_equal(rows[i].got_msg, rows[i].msg);
		if (!rows[i].code)
			assert_int_equal(rows[i].bytes, rows[i].side == FROM ? 5 : 4);
	}
	assert_int_equal(box_times(&boxes[4], "start cat -- ./from-pipe\n"), 1);
	assert_int_equal(box_times(&boxes[4], "read"), 0);
	assert_int_equal(box_times(&boxes[5], "read from-file"), 1);
	box_turns(3);
	for (size_t i = 0; i < COUNT(rows); i++)
		box_close(&boxes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { BOX_TEST(what_it_is_when_it_takes_long) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
