// SPDX-License-Identifier: Apache-2.0
/* How a copy goes on: how many files at a time, questions and answers, pauses, cancels at every stage, what is counted,
 * what ends all of it, and what changes under way. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/base/settings.h"

static void many_here(const char *folder, int n, const char *text)
{
	char name[40];

	here_fill(folder);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "%sf%03d", folder, i);
		here_put(name, text);
	}
}

static void many_there(int n, const char *text)
{
	char name[40];

	box_dir(&box, "d");
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof name, "d/f%03d", i);
		box_put(&box, name, text);
	}
}

/* ---- how many */
static void six_at_a_time(void **state)
{
	(void)state;
	many_there(40, "text");
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_done, 40);
	assert_int_equal(copy.end.files_total, 40);
	assert_int_equal(copy.end.bytes_done, 160);
	assert_int_equal(copy.end.bytes_total, 160);
	assert_int_equal(copy.end.files_failed + copy.end.files_skipped + copy.end.n_notes, 0);
	assert_true(copy.end.is_planned);
	assert_int_equal(box.n_most[BOX_READ], 6);
	/* into another sandbox, whole */
	opts = copy_opts(&box, "d", &other, "in");
	copy_run(&opts);
	assert_int_equal(copy.end.files_done, 40);
	assert_int_equal(box.n_most[BOX_READ], 6);
	assert_int_equal(other.n_most[BOX_WRITE], 6);
}

static void a_large_file_in_pieces(void **state)
{
	enum { BYTES = 3000000 };
	char *bytes = malloc(BYTES);
	struct stat st;

	(void)state;
	for (int i = 0; i < BYTES; i++)
		bytes[i] = (char)(i * 7 + i / 1000);
	box_put_bytes(&box, "f", bytes, BYTES, 0604);
	box.chunk_bytes = other.chunk_bytes = 300000;
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
	opts.verify = true; /* read back, for there is no sha256sum */
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.bytes_done, BYTES);
	assert_int_equal(stat(here("f"), &st), 0);
	assert_int_equal(st.st_size, BYTES);
	assert_int_equal(st.st_mode & 07777, 0604);
	opts = copy_opts(NULL, here("f"), &other, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_memory_equal(box_find(&other, "up")->body, bytes, BYTES);
	/* between two sandboxes not more than a megabyte is held */
	other.is_held[BOX_WRITE] = true;
	opts = copy_opts(&box, "f", &other, "relayed");
	copy_begin(&opts);
	BOX_UNTIL(other.n_now[BOX_WRITE] == 1);
	box_turns(20);
	assert_true(box.ops->at < 1700000);
	assert_int_equal(copy.n_done, 0);
	transfer_pause(copy.transfer, true);
	box_release(&other, BOX_WRITE);
	box_turns(20);
	assert_null(box_find(&other, "relayed"));
	transfer_pause(copy.transfer, false);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.bytes_done, BYTES);
	assert_int_equal(copy.end.bytes_total, BYTES);
	assert_memory_equal(box_find(&other, "relayed")->body, bytes, BYTES);
	assert_int_equal(box_find(&other, "relayed")->mode, 0604);
	free(bytes);
}

/* ---- questions */
static void answers(void **state)
{
	static const struct {
		enum transfer_conflict answer;
		bool for_all;
		int n_asked;
		const char *text;
		enum err_code code;
		int n_done, n_skipped, n_failed;
	} rows[] = {
		{ TRANSFER_SKIP, 0, 3, "in/ in/a=old in/b=old in/c=old in/d=4", 0, 1, 3, 0 },
		{ TRANSFER_SKIP, 1, 1, "in/ in/a=old in/b=old in/c=old in/d=4", 0, 1, 3, 0 },
		{ TRANSFER_OVERWRITE, 0, 3, "in/ in/a=one in/b=two in/c=3 in/d=4", 0, 4, 0, 0 },
		{ TRANSFER_OVERWRITE, 1, 1, "in/ in/a=one in/b=two in/c=3 in/d=4", 0, 4, 0, 0 },
		{ TRANSFER_RENAME, 1, 1,
			"in/ in/a=old in/a (1)=one in/b=old in/b (1)=two in/c=old in/c (1)=3 "
			"in/d=4",
			0, 4, 0, 0 },
		{ TRANSFER_RENAME, 0, 3,
			"in/ in/a=old in/a (1)=one in/b=old in/b (1)=two in/c=old in/c (1)=3 "
			"in/d=4",
			0, 4, 0, 0 },
		{ TRANSFER_FAIL, 1, 1, "in/ in/a=old in/b=old in/c=old in/d=4", ERR_FILE_EXISTS,
			1, 0, 3 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, "s/ s/a=one s/b=two s/c=3 s/d=4");
		here_fill("in/ in/a=old in/b=old in/c=old");
		struct transfer_opts opts = copy_opts(&box, "s/.", NULL, here("in"));
		opts.conflict = TRANSFER_ASK;
		opts.on_conflict = copy_on_conflict;
		copy_begin(&opts);
		for (int asked = 1; !copy.n_done && asked <= 3; asked++) {
			BOX_UNTIL(copy.n_conflicts == asked || copy.n_done);
			if (copy.n_done)
				break;
			assert_non_null(strstr(copy.asked, "/in/"));
			assert_int_equal(copy.asked_bytes[0], 3);
			assert_int_equal(copy.asked_bytes[1],
				strchr("ab", copy.asked[strlen(copy.asked) - 1]) ? 3 : 1);
			box_turns(10);
			assert_int_equal(copy.n_conflicts, asked);          /* one at a time */
			transfer_answer(copy.transfer, TRANSFER_ASK, true); /* no answer */
			assert_int_equal(copy.n_done, 0);
			transfer_answer(copy.transfer, rows[i].answer, rows[i].for_all);
		}
		BOX_UNTIL(copy.n_done);
		assert_int_equal(copy.n_conflicts, rows[i].n_asked);
		assert_int_equal(copy.code, rows[i].code);
		assert_string_equal(here_text(), rows[i].text);
		assert_int_equal(copy.end.files_done, rows[i].n_done);
		assert_int_equal(copy.end.files_skipped, rows[i].n_skipped);
		assert_int_equal(copy.end.files_failed, rows[i].n_failed);
		assert_int_equal(copy.end.files_total, 4);
		here_clear();
		box_clear(&box);
	}
}

static void a_folder_in_the_way_is_no_question(void **state)
{
	(void)state;
	box_fill(&box, "s/ s/a=one");
	here_fill("in/ in/a/");
	struct transfer_opts opts = copy_opts(&box, "s/.", NULL, here("in"));
	opts.conflict = TRANSFER_ASK;
	opts.on_conflict = copy_on_conflict;
	copy_run(&opts);
	assert_int_equal(copy.n_conflicts, 0);
	assert_int_equal(copy.code, ERR_FILE_IS_DIR);
	/* nobody to ask: it fails */
	here_clear();
	here_fill("in/ in/a=old");
	opts.on_conflict = NULL;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_EXISTS);
	/* up: an answer of a file that is there, a link, and one whose free name is searched */
	box_clear(&box);
	box_fill(&box, "in/ in/a->");
	opts = copy_opts(NULL, here("in/a"), &box, "in");
	opts.conflict = TRANSFER_ASK;
	opts.on_conflict = copy_on_conflict;
	copy_begin(&opts);
	BOX_UNTIL(copy.n_conflicts == 1);
	assert_string_equal(copy.asked, "in/a");
	assert_int_equal(copy.asked_bytes[0], -1);
	assert_int_equal(copy.asked_bytes[1], 3);
	box_put(&box, "in/a (1)", "taken");
	box_link(&box, "in/a (2)");
	transfer_answer(copy.transfer, TRANSFER_RENAME, false);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.n_conflicts, 1);
	assert_string_equal(box_text(&box),
		"in/ in/a=->(777) in/a (1)=taken(640) in/a (2)=->(777) in/a (3)=old(644)");
}

static void names_run_out(void **state)
{
	static char name[40];

	(void)state;
	here_fill("in/ in/a=old");
	for (int i = 1; i <= 1001; i++) {
		snprintf(name, sizeof name, "in/a (%d)", i);
		if (i != 1000)
			here_put(name, "");
	}
	box_fill(&box, "a=new");
	struct transfer_opts opts = copy_opts(&box, "a", NULL, here("in"));
	opts.conflict = TRANSFER_RENAME;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(access(here("in/a (1000)"), F_OK), 0);
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_EXISTS);
	assert_int_equal(access(here("in/a (1002)"), F_OK), -1);
}

/* ---- pauses and cancels */
static void nothing_begins_in_a_pause(void **state)
{
	(void)state;
	for (int is_up = 0; is_up < 2; is_up++) {
		many_there(20, "text");
		many_here("l/", 20, "text");
		struct transfer_opts opts = is_up ? copy_opts(NULL, here("l"), &box, "up")
						  : copy_opts(&box, "d", NULL, here("in"));
		enum box_call call = is_up ? BOX_WRITE : BOX_READ;
		box.is_held[call] = true;
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[call] == 6);
		transfer_pause(copy.transfer, true);
		transfer_pause(copy.transfer, true);
		box_release(&box, call);
		box_turns(40);
		/* what had begun may end, nothing more begins */
		assert_int_equal(box_times(&box, is_up ? "write" : "read"), 6);
		assert_int_equal(copy.n_done, 0);
		transfer_pause(copy.transfer, false);
		BOX_UNTIL(copy.n_done);
		assert_int_equal(copy.code, ERR_NONE);
		assert_int_equal(copy.end.files_done, 20);
		assert_int_equal(copy.end.bytes_done, 80);
		here_clear();
		box_clear(&box);
	}
}

static void a_paused_walk_lists_nothing(void **state)
{
	(void)state;
	box_fill(&box, "a/ a/f=one b/ b/f=two");
	struct transfer_opts opts = copy_opts(&box, ".", NULL, here("in"));
	box.is_held[BOX_LIST] = true;
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_LIST] == 1);
	transfer_pause(copy.transfer, true);
	box_release(&box, BOX_LIST);
	box_turns(20);
	assert_int_equal(box_times(&box, "list"), 1);
	transfer_pause(copy.transfer, false);
	BOX_UNTIL(copy.n_done);
	assert_string_equal(here_text(), "in/ in/a/ in/a/f=one in/b/ in/b/f=two");
}

/* Held at each kind of call: after a cancel nothing is left here, no callback comes, and nothing is under way. */
static void cancels_at_every_stage(void **state)
{
	static const struct {
		int way; /* 0 down, 1 up, 2 between, 3 a tree down, 4 a tree up */
		enum box_call held;
		int skips;
	} rows[] = {
		{ 0, BOX_LIST, 0 },
		{ 0, BOX_READ, 0 },
		{ 0, BOX_STAT, 0 },
		{ 1, BOX_STAT, 0 },
		{ 1, BOX_LINKS, 0 },
		{ 1, BOX_WRITE, 0 },
		{ 2, BOX_READ, 0 },
		{ 2, BOX_WRITE, 0 },
		{ 3, BOX_LIST, 0 },
		{ 3, BOX_EXECUTE, 0 },
		{ 3, BOX_READ, 0 },
		{ 4, BOX_STAT, 0 },
		{ 4, BOX_LINKS, 0 },
		{ 4, BOX_WRITE, 0 },
		{ 4, BOX_EXECUTE, 0 },
		{ 4, BOX_DELETE, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, "f=five d/ d/s/ d/f=two");
		here_fill("l/ l/s/ l/f=three in/");
		struct transfer_opts opts;
		struct runtime *to = rows[i].way == 2 ? &other : &box;
		switch (rows[i].way) {
		case 0:
			opts = copy_opts(&box, "f", NULL, here("in"));
			break;
		case 1:
			opts = copy_opts(NULL, here("l/f"), &box, "up");
			break;
		case 2:
			opts = copy_opts(&box, "f", &other, "up");
			break;
		case 3:
			opts = copy_opts(&box, "d/.", NULL, here("in"));
			break;
		default:
			opts = copy_opts(NULL, here("l"), &box, "up");
		}
		box.is_held[rows[i].held] = other.is_held[rows[i].held] = true;
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[rows[i].held] || to->n_now[rows[i].held]);
		box_turns(3);
		transfer_cancel(copy.transfer);
		for (int call = 0; call < BOX_CALLS; call++)
			if (call != BOX_DELETE) /* nobody waits for that */
				assert_int_equal(box.n_now[call] + other.n_now[call], 0);
		box.is_held[rows[i].held] = other.is_held[rows[i].held] = false;
		box_release(&box, BOX_DELETE);
		box_turns(4);
		assert_int_equal(copy.n_done, 0);
		int n = 0;
		const char *text = here_text();
		for (const char *at = text; (at = strstr(at, "sandmux-tmp")); at++)
			n++;
		assert_int_equal(n, 0);
		/* the file that made a folder is taken away */
		if (rows[i].held == BOX_DELETE || rows[i].held == BOX_WRITE)
			assert_null(strstr(box_text(&box), "sandmux-tmp"));
		here_clear();
		box_clear(&box);
		box_clear(&other);
	}
	transfer_cancel(NULL);
}

/* In its own callbacks it may be cancelled, too. */
static void cancels_in_on_progress(void *arg, const struct transfer_progress *progress)
{
	copy_on_progress(arg, progress);
	transfer_cancel(copy.transfer);
	copy.transfer = NULL;
}

static void a_cancel_in_a_report(void **state)
{
	(void)state;
	box_fill(&box, "f=five");
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
	opts.on_progress = cancels_in_on_progress;
	copy_begin(&opts);
	BOX_UNTIL(copy.n_reports);
	box_turns(3);
	assert_int_equal(copy.n_done, 0);
	assert_int_equal(copy.n_reports, 1);
}

/* ---- what is counted */
static void what_a_report_says(void **state)
{
	(void)state;
	many_there(8, "12345");
	box.is_held[BOX_READ] = true;
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_READ] == 6);
	copy.n_reports = 0;
	BOX_UNTIL(copy.n_reports >= 2);
	assert_int_equal(copy.now.files_total, 8);
	assert_int_equal(copy.now.files_done, 0);
	assert_int_equal(copy.now.bytes_total, 40);
	assert_int_equal(copy.now.bytes_done, 0);
	assert_true(copy.now.is_planned);
	assert_false(copy.now.is_finishing);
	assert_true(copy.now.elapsed_ms >= 100 && copy.now.elapsed_ms < 10000);
	assert_int_equal(copy.now.bytes_per_s, 0);
	assert_memory_equal(copy.current, "f00", 3);
	box_release(&box, BOX_READ);
	BOX_UNTIL(copy.n_done);
	assert_false(copy.end.elapsed_ms < copy.now.elapsed_ms);
	assert_true(copy.end.bytes_per_s > 0);
	/* the last one says all of it */
	assert_int_equal(copy.now.files_done, 8);
	assert_int_equal(copy.now.bytes_done, 40);
	assert_true(copy.now.is_planned);
	assert_true(copy.now.is_finishing);
}

/* While a listing is out the plan grows; a source without a size leaves it open. */
static void what_is_planned(void **state)
{
	(void)state;
	box_fill(&box, "d/ d/f=five");
	box.is_held[BOX_LIST] = true;
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_begin(&opts);
	BOX_UNTIL(copy.n_reports >= 1);
	assert_false(copy.now.is_planned);
	assert_false(copy.now.is_finishing);
	assert_string_equal(copy.current, "");
	box_release(&box, BOX_LIST);
	BOX_UNTIL(copy.n_done);
	box_clear(&box);
	here_clear();
	/* its size is said to be unknown */
	box_fill(&box, "f=five");
	box.knows_no_size = true;
	box.is_held[BOX_STAT] = true;
	opts = copy_opts(&box, "f", NULL, here("f"));
	copy_begin(&opts);
	BOX_UNTIL(box.n_now[BOX_STAT] == 1); /* all of it has come; is it still the same? */
	copy.n_reports = 0;
	BOX_UNTIL(copy.n_reports);
	assert_false(copy.now.is_planned);
	assert_true(copy.now.is_finishing);
	assert_int_equal(copy.now.bytes_done, 4);
	assert_int_equal(copy.now.bytes_total, 4);
	box_release(&box, BOX_STAT);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(copy.end.is_planned);
}

static void sizes_that_change(void **state)
{
	static const struct {
		const char *before, *after; /* of the listing, and of the file */
		bool is_tree;
		enum err_code code;
		uint64_t bytes;
	} rows[] = {
		{ "four", "seven..", 0, ERR_NONE, 7 },
		{ "seven..", "four", 0, ERR_NONE, 4 },
		{ "four", "seven..", 1, ERR_NONE, 7 },
		{ "seven..", "four", 1, ERR_NONE, 4 },
		{ "x", "", 1, ERR_NONE, 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_dir(&box, "d");
		box_put(&box, "d/f", rows[i].before);
		box.is_held[BOX_READ] = true;
		struct transfer_opts opts =
			copy_opts(&box, rows[i].is_tree ? "d" : "d/f", NULL, here("in"));
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[BOX_READ] == 1);
		box_put(&box, "d/f", rows[i].after);
		box_release(&box, BOX_READ);
		BOX_UNTIL(copy.n_done);
		assert_int_equal(copy.code, rows[i].code);
		assert_int_equal(copy.end.bytes_done, rows[i].bytes);
		assert_int_equal(copy.end.bytes_total, rows[i].bytes);
		here_clear();
		box_clear(&box);
	}
}

/* ---- what happens to the source when all of it has come */
static const char *text_after;
static int64_t time_after;

static void changes(struct runtime *in, const char *path)
{
	if (!text_after) {
		box_remove(in, path);
		return;
	}
	if (strcmp(text_after, "/") == 0)
		box_dir(in, path);
	else
		box_put(in, path, text_after);
	box_find(in, path)->modified_s = time_after;
}

static void a_source_that_changes(void **state)
{
	static const struct {
		const char *text;
		int64_t modified_s;
		bool is_relay;
		enum err_code code;
		const char *notes;
	} rows[] = {
		{ "four", 1000, 0, ERR_NONE, "" },
		{ "four", 1001, 0, ERR_FILE_CHANGED, "" },
		{ "thr", 1000, 0, ERR_FILE_CHANGED, "" },
		{ "/", 1000, 0, ERR_FILE_CHANGED, "" },
		{ "fourfive", 1001, 0, ERR_NONE,
			"grew f: it grew while it was copied; its first 4 bytes are there\n" },
		{ NULL, 0, 0, ERR_NONE,
			"gone f: it was removed while it was copied; all of it is there\n" },
		{ "four", 1001, 1, ERR_FILE_CHANGED, "" },
		{ "fourfive", 1000, 1, ERR_NONE,
			"grew f: it grew while it was copied; its first 4 bytes are there\n" },
		{ NULL, 0, 1, ERR_NONE,
			"gone f: it was removed while it was copied; all of it is there\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, "f=four");
		text_after = rows[i].text;
		time_after = rows[i].modified_s;
		box.after_read = changes;
		struct transfer_opts opts = rows[i].is_relay
						    ? copy_opts(&box, "f", &other, "f")
						    : copy_opts(&box, "f", NULL, here("f"));
		copy_run(&opts);
		if (copy.code != rows[i].code)
			fail_msg("row %zu: %s", i, copy.msg);
		assert_string_equal(copy.notes, rows[i].notes);
		if (rows[i].code) {
			assert_string_equal(copy.msg, "f changed while it was copied");
			assert_string_equal(here_text(), "");
			assert_int_equal(copy.end.bytes_done, 0);
		} else if (!rows[i].is_relay) {
			assert_string_equal(here_text(), "f=four");
		}
		here_clear();
		box_clear(&box);
		box_clear(&other);
	}
}

/* What arrived is not as long as it was: another one wrote there. */
static void what_arrived_is_measured(void **state)
{
	static const struct {
		const char *there; /* when it is asked about */
		const char *msg;
	} rows[] = {
		{ "four", "" },
		{ "fou", "up has 3 bytes there instead of 4" },
		{ "fours", "up has 5 bytes there instead of 4" },
		{ "/", "up has -1 bytes there instead of 4" },
		{ NULL, "no up" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		here_fill("f=four");
		struct transfer_opts opts = copy_opts(NULL, here("f"), &box, "up");
		opts.conflict = TRANSFER_OVERWRITE;
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[BOX_WRITE] == 1);
		box.is_held[BOX_STAT] = true;
		BOX_UNTIL(box.n_now[BOX_STAT] == 1);
		if (!rows[i].there)
			box_remove(&box, "up");
		else if (strcmp(rows[i].there, "/") == 0)
			box_dir(&box, "up");
		else
			box_put(&box, "up", rows[i].there);
		box_release(&box, BOX_STAT);
		BOX_UNTIL(copy.n_done);
		assert_string_equal(copy.msg, rows[i].msg);
		assert_int_equal(copy.code, !*rows[i].msg   ? ERR_NONE
					    : rows[i].there ? ERR_FILE_VERIFY
							    : ERR_FILE_NOT_FOUND);
		here_clear();
		box_clear(&box);
	}
}

/* ---- what ends all of it */
static void what_ends_all(void **state)
{
	static const struct {
		enum err_code code;
		bool is_fatal;
	} rows[] = {
		{ ERR_FILE_NO_SPACE, 1 },
		{ ERR_OP_READ_ONLY, 1 },
		{ ERR_OP_UNSUPPORTED, 1 },
		{ ERR_OP_CLOSED, 1 },
		{ ERR_KUBE_TRANSPORT, 1 },
		{ ERR_RUNTIME_AUTH, 1 },
		{ ERR_RUNTIME_UNAVAILABLE, 1 },
		{ ERR_PROC_LOST, 1 },
		{ ERR_CONN_REFUSED, 1 },
		{ ERR_CONN_LOST, 1 },
		{ ERR_CONN_PLAINTEXT_TOKEN, 1 },
		{ ERR_PORTFWD_DENIED, 1 },
		{ ERR_PORTFWD_RUNTIME, 1 },
		{ ERR_SANDBOX_NOT_FOUND, 1 },
		{ ERR_SANDBOX_MOVED, 1 },
		{ ERR_FILE_DENIED, 0 },
		{ ERR_FILE_NOT_FOUND, 0 },
		{ ERR_LIMIT_UPLOAD, 0 },
		{ ERR_FILE_SERVER, 0 },
		{ ERR_OP_TIMEOUT, 0 },
		{ ERR_RUNTIME_PROTOCOL, 0 },
		{ ERR_GATEWAY_DELETED, 0 },
		{ ERR_BIND_CONTENDED, 0 },
		{ ERR_RUNTIME_VERSION, 0 },
	};
	(void)state;
	many_here("l/", 30, "x");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
		box.faults[0] = (struct box_fault){ BOX_WRITE, NULL, rows[i].code, 0, 0, 3 };
		box.faults[1] = (struct box_fault){ BOX_WRITE, NULL, ERR_FILE_DENIED, 0, 0, 0 };
		box.faults[1].path = "up/f000";
		copy_run(&opts);
		if (rows[i].is_fatal
				? copy.end.files_failed > 7
				: rows[i].code != ERR_OP_TIMEOUT && copy.end.files_failed < 27)
			fail_msg("row %zu: %d failed", i, (int)copy.end.files_failed);
		if (rows[i].is_fatal)
			assert_int_equal(copy.code, rows[i].code);
		box_clear(&box);
	}
}

/* Six in a row that do not answer are a daemon that is gone; one that answers in between is not. */
static void six_timeouts_in_a_row(void **state)
{
	(void)state;
	many_here("l/", 30, "x");
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	box.faults[0] = (struct box_fault){ BOX_WRITE, NULL, ERR_OP_TIMEOUT, 0, 0, 0 };
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_OP_TIMEOUT);
	assert_int_equal(copy.end.files_failed, 6);
	assert_int_equal(copy.end.files_done, 0);
	box_clear(&box);
	here_clear();
	many_here("l/", 5, "x");
	opts = copy_opts(NULL, here("l"), &box, "up");
	box.faults[0] = (struct box_fault){ BOX_WRITE, NULL, ERR_OP_TIMEOUT, 0, 0, 0 };
	copy_run(&opts);
	assert_int_equal(copy.end.files_failed, 5);
}

static void the_first_failure_is_told(void **state)
{
	(void)state;
	here_fill("l/ l/a=1 l/b=2 l/c=3");
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	box.faults[0] = (struct box_fault){ BOX_WRITE, "up/b", ERR_FILE_DENIED, 0, 0, 0 };
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_DENIED);
	assert_string_equal(copy.msg, "no up/b"); /* it names the file already */
	assert_int_equal(copy.end.files_failed, 1);
	assert_int_equal(copy.end.files_done, 2);
	assert_int_equal(copy.end.files_total, 3);
	assert_int_equal(copy.end.bytes_done, 2);
	assert_int_equal(copy.end.bytes_total, 2);
}

/* ---- limits of the walk */
static void the_limit_of_entries(void **state)
{
	(void)state;
	for (int is_up = 0; is_up < 2; is_up++) {
		many_there(10, "x");
		many_here("l/", 10, "x");
		assert_true(setting_set("transfer-max-entries", "3", NULL));
		struct transfer_opts opts = is_up ? copy_opts(NULL, here("l"), &box, "up")
						  : copy_opts(&box, "d", NULL, here("in"));
		copy_run(&opts);
		assert_int_equal(copy.code, ERR_LIMIT_ENTRIES);
		assert_non_null(strstr(copy.msg, " has more than 3 entries"));
		opts.on_limit = copy_on_limit;
		copy_begin(&opts);
		BOX_UNTIL(copy.n_limits == 1);
		assert_int_equal(copy.asked_limit, 3);
		box_turns(10);
		assert_int_equal(copy.n_limits, 1);
		transfer_go_on(copy.transfer, true);
		if (is_up) { /* a folder here is read as far as it may be */
			BOX_UNTIL(copy.n_limits == 2);
			assert_int_equal(copy.asked_limit, 6);
			transfer_go_on(copy.transfer, true);
		}
		BOX_UNTIL(copy.n_done);
		assert_int_equal(copy.code, ERR_NONE);
		assert_int_equal(copy.end.files_done, 10);
		if (is_up)
			box_clear(&box);
		here_clear();
		many_here("l/", 10, "x");
		opts = copy_opts(NULL, here("l"), &box, "down");
		opts.on_limit = copy_on_limit;
		copy_begin(&opts);
		transfer_go_on(copy.transfer, false); /* nothing was asked */
		BOX_UNTIL(copy.n_limits == 1);
		transfer_go_on(copy.transfer, false);
		BOX_UNTIL(copy.n_done);
		assert_int_equal(copy.code, ERR_LIMIT_ENTRIES);
		assert_non_null(strstr(copy.msg, " has more than 3 entries"));
		here_clear();
		box_clear(&box);
	}
	assert_true(setting_set("transfer-max-entries", "200000", NULL));
}

static void entries_that_are_hidden(void **state)
{
	(void)state;
	box_fill(&box, "d/ d/f=x");
	box.n_hidden = 3;
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_total, 4);
	assert_int_equal(copy.end.files_skipped, 3);
	assert_int_equal(copy.end.files_done, 1);
	/* they count for the limit */
	assert_true(setting_set("transfer-max-entries", "3", NULL));
	opts.to.path = here("in2");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_LIMIT_ENTRIES);
	assert_true(setting_set("transfer-max-entries", "4", NULL));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(setting_set("transfer-max-entries", "200000", NULL));
}

static void how_deep(void **state)
{
	static const char deep[] =
		"d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/"
		"d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d/d";
	char path[sizeof deep];
	struct transfer_opts opts;

	(void)state;
	/* 64 folders below the top are one too many where identities are not known */
	for (int i = 0; i <= 63; i++) {
		snprintf(path, sizeof path, "%.*s", 2 * i + 1, deep);
		box_dir(&box, path);
	}
	opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	box_dir(&box, deep);
	opts = copy_opts(&box, "d", NULL, here("in2"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_LOOP);
	assert_non_null(strstr(copy.msg, ": more than 64 folders deep"));
}

static void folders_that_cannot_be_read(void **state)
{
	(void)state;
	box_fill(&box, "d/ d/a/ d/a/f=x d/b/ d/b/g=y");
	box.faults[0] = (struct box_fault){ BOX_LIST, "d/a", ERR_FILE_DENIED, 0, 0, 0 };
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_DENIED);
	assert_string_equal(copy.msg, "a: no d/a");
	assert_int_equal(copy.end.files_failed, 1);
	assert_string_equal(here_text(), "in/ in/b/ in/b/g=y");
	here_clear();
	box.faults[0].at_start = true;
	opts.to.path = here("in");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_DENIED);
	assert_string_equal(copy.msg, "a: no d/a");
	assert_string_equal(here_text(), "in/ in/b/ in/b/g=y");
}

static void folders_that_go_away_here(void **state)
{
	(void)state;
	here_fill("l/ l/a/ l/a/f=x l/g=y");
	box_fill(&box, "up/");
	box.is_held[BOX_STAT] = true;
	box.held_path = "up/a";
	struct transfer_opts opts = copy_opts(NULL, here("l/."), &box, "up");
	copy_begin(&opts);
	BOX_UNTIL(box_times(&box, "stat up/a\n"));
	box_turns(3);
	assert_int_equal(unlink(here("l/a/f")), 0);
	assert_int_equal(rmdir(here("l/a")), 0);
	box_release(&box, BOX_STAT);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_FILE_NOT_FOUND);
	assert_memory_equal(copy.msg, "a: a: ", 6);
	assert_int_equal(copy.end.files_failed, 1);
	assert_string_equal(box_text(&box), "up/ up/g=y(644)");
}

/* More folders than jobs that begin in one turn. */
static void many_folders_without_files(void **state)
{
	char name[20];
	struct stat st;

	(void)state;
	box_dir(&box, "d");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "d/e%03d", i);
		box_dir(&box, name)->modified_s = 5000 + i;
	}
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_total, 0);
	assert_int_equal(copy.end.files_done, 0);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "in/e%03d", i);
		assert_int_equal(stat(here(name), &st), 0);
		assert_true(S_ISDIR(st.st_mode));
		assert_int_equal(st.st_mode & 07777, 0750);
		assert_int_equal(st.st_mtime, 5000 + i);
	}
	assert_int_equal(stat(here("in"), &st), 0);
	assert_int_equal(st.st_mtime, 1000); /* in the end, when nothing more is put into it */
	/* a folder that was there keeps what it has */
	assert_int_equal(chmod(here("in/e000"), 0700), 0);
	opts = copy_opts(&box, "d/.", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(stat(here("in/e000"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

/* Up into what is there: each folder is asked about once, and new ones are not looked into. */
static void folders_are_asked_about_once(void **state)
{
	(void)state;
	here_fill("l/ l/a/ l/a/f=x l/a/n/ l/a/n/g=y l/b/ l/b/h=z");
	box_fill(&box, "up/ up/a/ up/a/f=old");
	struct transfer_opts opts = copy_opts(NULL, here("l/."), &box, "up");
	opts.conflict = TRANSFER_SKIP;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(
		box_text(&box), "up/ up/a/ up/a/f=old(640) up/a/n/g=y(644) up/b/h=z(644)");
	assert_int_equal(box_times(&box, "stat up/a\n"), 1);
	assert_int_equal(box_times(&box, "stat up/a/n\n"), 1);
	assert_int_equal(box_times(&box, "stat up/b\n"), 1);
	/* of files: those of new folders only when they have arrived */
	assert_int_equal(box_times(&box, "stat up/a/f\n"), 1);
	assert_int_equal(box_times(&box, "stat up/a/n/g\n"), 1);
	assert_int_equal(box_times(&box, "stat up/b/h\n"), 1);
	assert_int_equal(box_times(&box, "links"), 0);
}

/* New files are asked about together, as many as one question may hold. */
static void many_are_asked_about_together(void **state)
{
	(void)state;
	many_here("l/", 600, "");
	box_dir(&box, "up");
	box.is_held[BOX_LINKS] = true;
	struct transfer_opts opts = copy_opts(NULL, here("l/."), &box, "up");
	copy_begin(&opts);
	BOX_UNTIL(box_times(&box, "stat up/f") == 600);
	box_turns(5);
	assert_int_equal(box_times(&box, "links"), 1); /* one question at a time */
	assert_int_equal(box_times(&box, "write"), 0);
	box_release(&box, BOX_LINKS);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_done, 600);
	assert_true(box_logged(&box, "links 512:\n"));
	assert_int_equal(box_times(&box, "links"), 3);
	assert_int_equal(box.n_most[BOX_LINKS], 1);
	assert_int_equal(box.n_most[BOX_WRITE], 6);
}

/* Of those that were asked about together one may be there. */
static void one_of_many_is_a_link(void **state)
{
	(void)state;
	many_here("l/", 5, "x");
	box_dir(&box, "up");
	box_link(&box, "up/f002");
	struct transfer_opts opts = copy_opts(NULL, here("l/."), &box, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_EXISTS);
	assert_string_equal(copy.msg, "f002 exists already");
	assert_int_equal(copy.end.files_done, 4);
	assert_int_equal(copy.end.files_failed, 1);
	assert_true(box_find(&box, "up/f002")->is_link);
}

/* ---- what is special here */
static void only_files_and_folders_go_up(void **state)
{
	(void)state;
	here_fill("l/ l/f=x l/link->f l/nowhere->gone");
	assert_int_equal(mkfifo(here("l/pipe"), 0600), 0);
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(box_text(&box), "up/f=x(644)");
	assert_int_equal(copy.end.files_skipped, 3);
	assert_int_equal(copy.end.files_total, 4);
	assert_non_null(strstr(copy.notes, "kind link: a link: not copied\n"));
	assert_non_null(strstr(copy.notes, "kind nowhere: a link: not copied\n"));
	assert_non_null(strstr(copy.notes, "kind pipe: a pipe: not copied\n"));
}

static void what_appears_meanwhile_stays(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		bool replaces = i >= 2;
		box_fill(&box, "f=new");
		box.is_held[BOX_READ] = true;
		struct transfer_opts opts = copy_opts(&box, "f", NULL, here("f"));
		opts.conflict = replaces ? TRANSFER_OVERWRITE : TRANSFER_FAIL;
		copy_begin(&opts);
		BOX_UNTIL(box.n_now[BOX_READ] == 1);
		if (i % 2 == 0)
			here_put("f", "theirs");
		else
			assert_int_equal(mkfifo(here("f"), 0600), 0);
		box_release(&box, BOX_READ);
		BOX_UNTIL(copy.n_done);
		static const struct {
			enum err_code code;
			const char *msg, *text;
		} rows[] = {
			{ ERR_FILE_EXISTS, "f appeared meanwhile", "f=theirs" },
			{ ERR_FILE_EXISTS, "f appeared meanwhile", "f=?" },
			{ ERR_NONE, "", "f=new" },
			{ ERR_FILE_DENIED, "f is not a file here", "f=?" },
		};
		assert_int_equal(copy.code, rows[i].code);
		assert_string_equal(copy.msg, rows[i].msg);
		assert_string_equal(here_text(), rows[i].text);
		here_clear();
		box_clear(&box);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(six_at_a_time),
		BOX_TEST(a_large_file_in_pieces),
		BOX_TEST(answers),
		BOX_TEST(a_folder_in_the_way_is_no_question),
		BOX_TEST(names_run_out),
		BOX_TEST(nothing_begins_in_a_pause),
		BOX_TEST(a_paused_walk_lists_nothing),
		BOX_TEST(cancels_at_every_stage),
		BOX_TEST(a_cancel_in_a_report),
		BOX_TEST(what_a_report_says),
		BOX_TEST(what_is_planned),
		BOX_TEST(sizes_that_change),
		BOX_TEST(a_source_that_changes),
		BOX_TEST(what_arrived_is_measured),
		BOX_TEST(what_ends_all),
		BOX_TEST(six_timeouts_in_a_row),
		BOX_TEST(the_first_failure_is_told),
		BOX_TEST(the_limit_of_entries),
		BOX_TEST(entries_that_are_hidden),
		BOX_TEST(how_deep),
		BOX_TEST(folders_that_cannot_be_read),
		BOX_TEST(folders_that_go_away_here),
		BOX_TEST(many_folders_without_files),
		BOX_TEST(folders_are_asked_about_once),
		BOX_TEST(many_are_asked_about_together),
		BOX_TEST(one_of_many_is_a_link),
		BOX_TEST(only_files_and_folders_go_up),
		BOX_TEST(what_appears_meanwhile_stays),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
