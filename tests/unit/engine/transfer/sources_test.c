// SPDX-License-Identifier: Apache-2.0
/* What comes from here and changes, or does not say how long it is; and what goes to a stream that somebody reads slowly,
 * or not at all. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/transfer/internal.h"

#include <signal.h>
#include <sys/resource.h>

static void appends(void)
{
	int fd = open(here("l/f"), O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write(fd, "more", 4), 4);
	close(fd);
}

static void truncates(void)
{
	assert_int_equal(truncate(here("l/f"), 3), 0);
}

static void rewrites(void)
{
	const struct timespec times[2] = { { 5, 0 }, { 5, 0 } };

	here_put("l/f", "FOUR");
	assert_int_equal(utimensat(AT_FDCWD, here("l/f"), times, 0), 0);
}

static void removes(void)
{
	assert_int_equal(unlink(here("l/f")), 0);
}

static void becomes_a_pipe(void)
{
	removes();
	assert_int_equal(mkfifo(here("l/f"), 0600), 0);
}

static void becomes_a_link(void)
{
	removes();
	here_put("l/other", "else");
	assert_int_equal(symlink("other", here("l/f")), 0);
}

static void its_folder_goes(void)
{
	char away[300];

	snprintf(away, sizeof away, "%s", here("away"));
	assert_int_equal(rename(here("l"), away), 0);
}

static void nothing(void)
{
}

static void files_that_change(void **state)
{
	static const struct {
		enum box_call held; /* it changes when it has been opened, or before */
		void (*change)(void);
		bool is_tree;
		enum err_code code;
		const char *msg, *text, *notes;
	} rows[] = {
		{ BOX_WRITE, nothing, 0, ERR_NONE, "", "four", "" },
		{ BOX_WRITE, appends, 0, ERR_NONE, "", "four",
			"grew f: it grew while it was copied; its first 4 bytes are there\n" },
		{ BOX_WRITE, appends, 1, ERR_NONE, "", "four",
			"grew f: it grew while it was copied; its first 4 bytes are there\n" },
		{ BOX_WRITE, truncates, 0, ERR_FILE_CHANGED, "it changed while it was copied",
			NULL, "" },
		{ BOX_WRITE, truncates, 1, ERR_FILE_CHANGED,
			"f: it changed while it was copied", NULL, "" },
		{ BOX_WRITE, rewrites, 0, ERR_FILE_CHANGED, "it changed while it was copied",
			NULL, "" },
		{ BOX_WRITE, removes, 0, ERR_NONE, "", "four", "" },
		{ BOX_LINKS, appends, 1, ERR_NONE, "", "fourmore", "" },
		{ BOX_LINKS, truncates, 1, ERR_NONE, "", "fou", "" },
		{ BOX_LINKS, removes, 1, ERR_FILE_NOT_FOUND, "cannot read f: ", NULL, "" },
		{ BOX_LINKS, becomes_a_pipe, 1, ERR_FILE_CHANGED, "f is no file any more", NULL,
			"" },
		{ BOX_LINKS, becomes_a_link, 1, ERR_FILE_LOOP, "cannot read f: ", NULL, "" },
		{ BOX_LINKS, its_folder_goes, 1, ERR_FILE_NOT_FOUND, "l/.: ", NULL, "" },
		{ BOX_LINKS, its_folder_goes, 0, ERR_FILE_NOT_FOUND, "l: ", NULL, "" },
		{ BOX_LINKS, becomes_a_link, 0, ERR_NONE, "", "else", "" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		here_fill("l/ l/f=four");
		box_fill(&box, "up/");
		box.is_held[rows[i].held] = true;
		box.chunk_bytes = i % 2 ? 2 : 4096;
		struct transfer_opts opts =
			copy_opts(NULL, here(rows[i].is_tree ? "l/." : "l/f"), &box, "up");
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[rows[i].held] == 1);
		rows[i].change();
		box_release(&box, rows[i].held);
		BOX_UNTIL(copy.n_done);
		if (copy.code != rows[i].code || !strstr(copy.msg, rows[i].msg))
			fail_msg("row %zu: %d %s", i, (int)copy.code, copy.msg);
		/* of a tree the times are wanted too, and there is no touch */
		char *kept = strstr(copy.notes, "notKept");
		if (rows[i].is_tree && kept)
			*kept = 0;
		assert_string_equal(copy.notes, rows[i].notes);
		const struct box_node *node = box_find(&box, "up/f");
		assert_int_equal(node != NULL, rows[i].text != NULL);
		size_t n = node ? strlen(rows[i].text) : 0;
		if (node)
			assert_string_equal(node->body, rows[i].text);
		assert_int_equal(copy.end.bytes_done, n);
		assert_int_equal(copy.end.bytes_total, n);
		here_clear();
		box_clear(&box);
	}
}

static void sizes_that_are_not_true(void **state)
{
	/* the kernel's files say 0, or a page */
	static const struct {
		const char *path, *wrote[2];
	} rows[] = {
		{ "/proc/version", { "write up -1 bytes", NULL } },
		{ "/sys/kernel/mm/transparent_hugepage/enabled",
			{ "write up 4096 bytes", "write up -1 bytes" } },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int verifies = 0; verifies < 2; verifies++) {
			char bytes[4096] = "";
			int fd = open(rows[i].path, O_RDONLY | O_CLOEXEC);
			if (fd < 0)
				continue;
			ssize_t n = read(fd, bytes, sizeof bytes - 1);
			close(fd);
			assert_true(n > 0 && n < 4000);
			struct transfer_opts opts = copy_opts(NULL, rows[i].path, &box, "up");
			opts.conflict = TRANSFER_OVERWRITE;
			opts.verify = verifies;
			copy_run(&opts);
			assert_string_equal(copy.msg, "");
			assert_string_equal(box_find(&box, "up")->body, bytes);
			assert_int_equal(copy.end.bytes_done, n);
			assert_int_equal(copy.end.bytes_total, n);
			assert_true(copy.end.is_planned);
			for (int k = 0; k < 2 && rows[i].wrote[k]; k++)
				assert_true(box_logged(&box, rows[i].wrote[k]));
			assert_int_equal(box_times(&box, "write"), rows[i].wrote[1] ? 2 : 1);
			box_clear(&box);
		}
	/* an empty one says so, and is */
	here_fill("f=");
	struct transfer_opts opts = copy_opts(NULL, here("f"), &box, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(box_logged(&box, "write up 0 bytes mode 644"));
	assert_int_equal(box_find(&box, "up")->n, 0);
}

static void standard_input_from_a_file(void **state)
{
	static const struct {
		off_t at;
		const char *text;
	} rows[] = { { 0, "hello" }, { 2, "llo" }, { 4, "o" }, { 5, "" }, { 9, "" } };
	(void)state;
	here_fill("f=hello");
	for (size_t i = 0; i < COUNT(rows); i++) {
		char line[40];
		int fd = open(here("f"), O_RDONLY | O_CLOEXEC);
		assert_int_equal(lseek(fd, rows[i].at, SEEK_SET), rows[i].at);
		struct transfer_opts opts = copy_opts(NULL, "-", &box, "up");
		opts.from.fd = fd;
		copy_run(&opts);
		assert_string_equal(copy.msg, "");
		assert_string_equal(box_find(&box, "up")->body, rows[i].text);
		snprintf(line, sizeof line, "write up %zu bytes\n", strlen(rows[i].text));
		assert_true(box_logged(&box, line)); /* the daemon's mode */
		assert_int_equal(copy.end.bytes_done, strlen(rows[i].text));
		close(fd);
		box_clear(&box);
	}
}

static void standard_input_that_cannot_be(void **state)
{
	(void)state;
	struct transfer_opts opts = copy_opts(NULL, "-", &box, "up");
	opts.from.fd = open(box_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_IS_DIR);
	assert_string_equal(copy.msg, "standard input is a directory");
	close(opts.from.fd);
	copy_run(&opts); /* closed */
	assert_int_equal(copy.code, ERR_SYSTEM);
	assert_int_equal(box_times(&box, "write"), 0);
	/* one that can be written only */
	here_fill("f=text");
	opts.from.fd = open(here("f"), O_WRONLY | O_CLOEXEC);
	copy_run(&opts);
	assert_true(copy.code != ERR_NONE);
	close(opts.from.fd);
}

static void a_pipe_without_hurry(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	struct transfer_opts opts = copy_opts(NULL, "-", &box, "up");
	opts.from.fd = ends[0];
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_WRITE] == 1);
	assert_true(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	for (int i = 0; i < 3; i++) {
		box_turns(5);
		assert_int_equal(copy.n_done, 0);
		assert_int_equal(write(ends[1], "part ", 5), 5);
	}
	BOX_UNTIL(copy.n_reports && copy.now.bytes_done == 15);
	assert_int_equal(copy.now.bytes_total, 15);
	assert_false(copy.now.is_planned);
	assert_false(copy.now.is_finishing);
	transfer_pause(copy.transfer, true);
	assert_int_equal(write(ends[1], "end", 3), 3);
	close(ends[1]);
	box_turns(20);
	assert_null(box_find(&box, "up"));
	transfer_pause(copy.transfer, false);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(box_find(&box, "up")->body, "part part part end");
	assert_false(fcntl(ends[0], F_GETFL) & O_NONBLOCK); /* as it was */
	close(ends[0]);
}

static void a_named_pipe_waits_for_its_writer(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(here("p"), 0600), 0);
	struct transfer_opts opts = copy_opts(NULL, here("p"), &box, "up");
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_WRITE] == 1);
	box_turns(10);
	transfer_pause(copy.transfer, true);
	transfer_pause(copy.transfer, false);
	box_turns(10);
	assert_int_equal(copy.n_done, 0);
	int fd = open(here("p"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "text", 4), 4);
	BOX_UNTIL(copy.n_reports && copy.now.bytes_done == 4);
	close(fd);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(box_find(&box, "up")->body, "text");
	assert_true(
		box_logged(&box, "write up -1 bytes\n")); /* a pipe's mode is not a file's */
}

/* ---- to a stream */
enum { STREAM_BYTES = 200000 };

static void fill_stream(void)
{
	char *bytes = malloc(STREAM_BYTES);

	for (int i = 0; i < STREAM_BYTES; i++)
		bytes[i] = (char)(i * 13 + i / 251);
	box_put_bytes(&box, "f", bytes, STREAM_BYTES, 0600);
	free(bytes);
}

static void drain(int fd, char *got, size_t *n)
{
	ssize_t done;

	while (*n < STREAM_BYTES && (done = read(fd, got + *n, STREAM_BYTES - *n)) > 0)
		*n += (size_t)done;
}

static void a_slow_reader_holds_it_up(void **state)
{
	char *got = malloc(STREAM_BYTES + 1);
	size_t n = 0;
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	fill_stream();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
	int room = fcntl(ends[1], F_GETPIPE_SZ);
	struct transfer_opts opts = copy_opts(&box, "f", NULL, "-");
	opts.to.fd = ends[1];
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_READ] == 1);
	box_turns(20);
	/* not more than the pipe and one piece is taken */
	struct runtime_op *op = box.ops;
	assert_int_equal(op->call, BOX_READ);
	assert_true(op->is_paused);
	assert_true(op->at <= (size_t)room + box.chunk_bytes);
	/* in a pause what was taken is written, and no more is asked for */
	transfer_pause(copy.transfer, true);
	for (int i = 0; i < 20; i++) {
		drain(ends[0], got, &n);
		box_turns(2);
	}
	assert_true(n <= op->at && n < STREAM_BYTES / 2);
	assert_true(op->at <= (size_t)room + 2 * box.chunk_bytes);
	assert_int_equal(copy.n_done, 0);
	transfer_pause(copy.transfer, false);
	while (!copy.n_done) {
		net_loop_run_once(box_loop, 1);
		drain(ends[0], got, &n);
	}
	drain(ends[0], got, &n);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(n, STREAM_BYTES);
	assert_memory_equal(got, box_find(&box, "f")->body, STREAM_BYTES);
	assert_int_equal(copy.end.bytes_done, STREAM_BYTES);
	assert_int_equal(copy.end.bytes_total, STREAM_BYTES);
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	close(ends[0]);
	close(ends[1]);
	free(got);
}

/* Each time it has read a little: pieces larger and smaller than what the pipe holds. */
static void a_reader_that_reads_now_and_then(void **state)
{
	static const size_t pieces[] = { 3000, 4096, 10000, 150000 };
	char *got = malloc(STREAM_BYTES + 1);

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		size_t n = 0;
		int ends[2];
		fill_stream();
		box.chunk_bytes = pieces[i];
		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
		assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 4096);
		struct transfer_opts opts = copy_opts(&box, "f", NULL, "-");
		opts.to.fd = ends[1];
		copy_begin(&opts);
		int64_t until = clock_mono_ms() + 10000;
		while (!copy.n_done && clock_mono_ms() < until) {
			for (int turn = 0; turn < 4; turn++)
				net_loop_run_once(box_loop, 0);
			/* what waits is not more than a piece */
			assert_true(box.ops->at <= n + 4096 + pieces[i] || copy.n_done);
			drain(ends[0], got, &n);
		}
		drain(ends[0], got, &n);
		assert_int_equal(copy.code, ERR_NONE);
		assert_int_equal(n, STREAM_BYTES);
		assert_memory_equal(got, box_find(&box, "f")->body, STREAM_BYTES);
		assert_int_equal(copy.end.bytes_done, STREAM_BYTES);
		close(ends[0]);
		close(ends[1]);
		box_clear(&box);
	}
	free(got);
}

static void a_reader_that_goes(void **state)
{
	char got[100];
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	fill_stream();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct transfer_opts opts = copy_opts(&box, "f", NULL, "-");
	opts.to.fd = ends[1];
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_READ] == 1);
	box_turns(50);
	assert_int_equal(read(ends[0], got, sizeof got), sizeof got);
	close(ends[0]);
	BOX_UNTIL(copy.n_done);
	assert_true(copy.code != ERR_NONE);
	assert_non_null(strstr(copy.msg, "cannot write"));
	assert_int_equal(copy.end.files_failed, 1);
	assert_int_equal(copy.end.bytes_done, 0);
	close(ends[1]);
	/* a closed descriptor, and a full device */
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_SYSTEM);
	opts.to.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_NO_SPACE);
	close(opts.to.fd);
}

/* Cut off while bytes wait for the reader: it fails, and what was not written is not. */
static void a_source_that_breaks_off(void **state)
{
	int ends[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	fill_stream();
	box.faults[0] = (struct box_fault){ BOX_READ, NULL, ERR_CONN_LOST, 0, 10000, 0 };
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	struct transfer_opts opts = copy_opts(&box, "f", NULL, "-");
	opts.to.fd = ends[1];
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_CONN_LOST);
	assert_int_equal(copy.end.bytes_done, 0);
	close(ends[0]);
	close(ends[1]);
}

/* ---- to the disk */

/* A file that may not become so large here: the old one stays. */
static void a_file_that_is_too_large_here(void **state)
{
	struct rlimit old, low;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	low = old;
	low.rlim_cur = STREAM_BYTES - 1;
	fill_stream();
	here_fill("f=old");
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
	opts.conflict = TRANSFER_OVERWRITE;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	copy_run(&opts);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(copy.code, ERR_SYSTEM);
	assert_memory_equal(copy.msg, "cannot write: ", 14);
	assert_int_equal(copy.end.bytes_done, 0);
	assert_string_equal(here_text(), "f=old");
	/* exactly so large is fine */
	low.rlim_cur = STREAM_BYTES;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	copy_run(&opts);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_string_equal(copy.msg, "");
	assert_string_equal(here_text(), "f=200000 bytes");
}

/* While a large file replaces another the disk begins early; nothing of it shows in what comes. */
static void a_large_file_replaces_another(void **state)
{
	enum { BYTES = 17 << 20 };
	char *bytes = malloc(BYTES), *got = malloc(BYTES);

	(void)state;
	for (int i = 0; i < BYTES; i++)
		bytes[i] = (char)(i ^ i >> 9);
	box_put_bytes(&box, "f", bytes, BYTES, 0600);
	box.chunk_bytes = 1 << 20;
	here_fill("f=old");
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
	opts.conflict = TRANSFER_OVERWRITE;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	int fd = open(here("f"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, got, BYTES), BYTES);
	close(fd);
	assert_memory_equal(got, bytes, BYTES);
	free(bytes);
	free(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(files_that_change),
		BOX_TEST(sizes_that_are_not_true),
		BOX_TEST(standard_input_from_a_file),
		BOX_TEST(standard_input_that_cannot_be),
		BOX_TEST(a_pipe_without_hurry),
		BOX_TEST(a_named_pipe_waits_for_its_writer),
		BOX_TEST(a_slow_reader_holds_it_up),
		BOX_TEST(a_reader_that_reads_now_and_then),
		BOX_TEST(a_reader_that_goes),
		BOX_TEST(a_source_that_breaks_off),
		BOX_TEST(a_file_that_is_too_large_here),
		BOX_TEST(a_large_file_replaces_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
