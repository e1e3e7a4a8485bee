// SPDX-License-Identifier: Apache-2.0
/* What is left to programs in the sandbox: sums, kinds and identities, times and modes, folders without files, pipes. Each
 * with what they say when all is well, when one of many is gone, when they answer nonsense and when they are not there. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/base/digest.h"
#include "engine/base/settings.h"

/* ---- sha256sum */
static void sum_line(struct str *out, const char *text, const char *name)
{
	struct digest *digest = digest_new();
	char hex[DIGEST_SHA256_HEX];

	digest_add(digest, text, strlen(text));
	digest_finish_hex(digest, hex);
	digest_free(digest);
	str_addf(out, "%s  %s\n", hex, name);
}

static const char *wrong_file; /* its sum is another one */
static const char *gone_file;  /* sha256sum cannot read it */
static const char *garbage;    /* said instead */
static int garbage_exit;

static void sums(const char *const *argv, struct box_answer *answer)
{
	struct str out;

	if (strcmp(argv[0], "sha256sum") != 0) {
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
		return;
	}
	assert_string_equal(argv[1], "--");
	str_init(&out, sizeof answer->out - 1);
	for (int i = 2; argv[i]; i++) {
		const char *path = argv[i] + 2;
		assert_memory_equal(argv[i], "./", 2);
		const struct box_node *node = box_find(&box, path);
		if (!node || (gone_file && strcmp(path, gone_file) == 0)) {
			answer->exit_code = 1;
			snprintf(answer->err_out, sizeof answer->err_out,
				"sha256sum: %s: no such file", path);
			continue;
		}
		if (strchr(path, '\\'))
			str_add_char(&out, '\\'); /* as it does for names that it escapes */
		sum_line(&out,
			wrong_file && strcmp(path, wrong_file) == 0 ? "other" : node->body,
			path);
	}
	snprintf(answer->out, sizeof answer->out, "%s", garbage ? garbage : out.p);
	if (garbage)
		answer->exit_code = garbage_exit;
	str_deinit(&out);
}

static struct transfer_opts verified(bool is_upload, const char *from, const char *to)
{
	struct transfer_opts opts = is_upload ? copy_opts(NULL, here(from), &box, to)
					      : copy_opts(&box, from, NULL, here(to));

	opts.verify = true;
	opts.conflict = TRANSFER_OVERWRITE;
	box.execute = sums;
	return opts;
}

static void sums_that_are_right(void **state)
{
	(void)state;
	wrong_file = gone_file = garbage = NULL;
	box_fill(&box, "d/ d/a=one d/b\\c=two d/e=");
	struct transfer_opts opts = verified(false, "d", "in");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(here_text(), "in/ in/a=one in/b\\c=two in/e=");
	/* all of them together */
	assert_int_equal(box_times(&box, "execute sha256sum"), 1);
	assert_int_equal(box_times(&box, "read"), 3);
	opts = verified(true, "in", "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(box_logged(&box, "execute sha256sum -- ./up/"));
	assert_int_equal(box_times(&box, "execute sha256sum"), 2);
	assert_string_equal(box_find(&box, "up/b\\c")->body, "two");
}

static void sums_that_differ(void **state)
{
	static const struct {
		bool is_upload;
		const char *wrong, *gone;
		const char *msg, *text;
		int n_calls, n_reads; /* of sha256sum; of files */
	} rows[] = {
		/* up: what is there is not what was sent */
		{ 1, "up/a", NULL, "a: the SHA-256 differs on the two sides", NULL, 1, 0 },
		{ 1, NULL, "up/b",
			"sha256sum failed in the sandbox: sha256sum: up/b: no such file", NULL,
			4, 0 },
		/* down: the source may have grown: it is read once more */
		{ 0, "d/a", NULL, NULL, "in/ in/a=one in/b=two in/c=three", 1, 4 },
		{ 0, NULL, "d/b",
			"sha256sum failed in the sandbox: sha256sum: d/b: no such file",
			"in/ in/a=one in/c=three", 4, 3 },
	};
	(void)state;
	garbage = NULL;
	for (size_t i = 0; i < COUNT(rows); i++) {
		wrong_file = rows[i].wrong;
		gone_file = rows[i].gone;
		box_fill(&box, "d/ d/a=one d/b=two d/c=three");
		if (rows[i].is_upload)
			here_fill("l/ l/a=one l/b=two l/c=three");
		struct transfer_opts opts = verified(rows[i].is_upload,
			rows[i].is_upload ? "l" : "d", rows[i].is_upload ? "up" : "in");
		copy_run(&opts);
		if (copy.code != (rows[i].msg ? ERR_FILE_VERIFY : ERR_NONE))
			fail_msg("row %zu: %s", i, box.log.p);
		assert_string_equal(copy.msg, rows[i].msg ? rows[i].msg : "");
		assert_int_equal(copy.end.files_done, rows[i].msg ? 2 : 3);
		assert_int_equal(copy.end.files_failed, rows[i].msg ? 1 : 0);
		assert_int_equal(box_times(&box, "execute sha256sum"), rows[i].n_calls);
		assert_int_equal(box_times(&box, "read"), rows[i].n_reads);
		if (rows[i].text)
			assert_string_equal(here_text(), rows[i].text);
		here_clear();
		box_clear(&box);
	}
}

static void sums_that_are_none(void **state)
{
	static const struct {
		const char *said;
		int exit_code;
		bool is_up;
		enum err_code code;
	} rows[] = {
		{ "", 0, 1, ERR_FILE_VERIFY },
		{ "abc  ./up\n", 0, 1, ERR_FILE_VERIFY },
		/* no line, or one more */
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  ./up", 0,
			1, ERR_FILE_VERIFY },
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  ./up\n\n",
			0, 1, ERR_FILE_VERIFY },
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\n", 0, 1,
			ERR_FILE_VERIFY },
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431edx\n", 0, 1,
			ERR_FILE_VERIFY },
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  ./up\n", 1,
			1, ERR_FILE_VERIFY },
		/* the shortest that is one */
		{ "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed \n", 0, 1,
			ERR_NONE },
		{ "\\7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed  ./up\n",
			0, 1, ERR_NONE },
		{ "\\7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed\n", 0, 1,
			ERR_FILE_VERIFY },
	};
	(void)state;
	wrong_file = gone_file = NULL;
	for (size_t i = 0; i < COUNT(rows); i++) {
		garbage = rows[i].said;
		garbage_exit = rows[i].exit_code;
		here_fill("f=one");
		struct transfer_opts opts = verified(true, "f", "up");
		copy_run(&opts);
		if (copy.code != rows[i].code)
			fail_msg("row %zu: %s", i, copy.msg);
		here_clear();
		box_clear(&box);
	}
	garbage = NULL;
}

static void reads_another(struct runtime *in, const char *path)
{
	box_put(in, path, "another");
	in->after_read = NULL;
}

static void grows_after_read(struct runtime *in, const char *path)
{
	box_put(in, path, "one and more");
	in->after_read = NULL;
}

/* Without the program, or without processes, what arrived is read back; what came is compared with the beginning. */
static void sums_of_what_is_read_back(void **state)
{
	static const struct {
		bool is_upload, is_tree;
		int how; /* 0: no program, 1: no processes, 2: denied */
		void (*after_read)(struct runtime *in, const char *path);
		enum err_code fault; /* of the second read */
		bool at_start;
		enum err_code code;
		const char *notes;
	} rows[] = {
		{ 1, 0, 0, NULL, 0, 0, ERR_NONE, "" },
		{ 1, 0, 1, NULL, 0, 0, ERR_NONE, "" },
		{ 1, 0, 2, NULL, 0, 0, ERR_NONE, "" },
		{ 1, 1, 0, NULL, 0, 0, ERR_NONE, NULL },
		{ 1, 0, 0, NULL, ERR_CONN_LOST, 0, ERR_CONN_LOST, "" },
		{ 1, 0, 0, NULL, ERR_OP_CLOSED, 1, ERR_OP_CLOSED, "" },
		{ 0, 0, 0, NULL, 0, 0, ERR_NONE, "" },
		{ 0, 1, 1, NULL, 0, 0, ERR_NONE, "" },
		{ 0, 1, 0, reads_another, 0, 0, ERR_FILE_VERIFY, "" },
		{ 0, 1, 0, grows_after_read, 0, 0, ERR_NONE,
			"grew f: it grew while it was copied; its first 3 bytes are there\n" },
		{ 0, 0, 0, grows_after_read, 0, 0, ERR_NONE,
			"grew f: it grew while it was copied; its first 3 bytes are there\n" },
		{ 0, 1, 0, NULL, ERR_CONN_LOST, 0, ERR_CONN_LOST, "" },
		{ 0, 1, 0, NULL, ERR_OP_CLOSED, 1, ERR_OP_CLOSED, "" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, "d/ d/f=one");
		here_fill("l/ l/f=one");
		const char *from = rows[i].is_upload ? rows[i].is_tree ? "l" : "l/f"
				   : rows[i].is_tree ? "d"
						     : "d/f";
		struct transfer_opts opts =
			verified(rows[i].is_upload, from, rows[i].is_tree ? "new" : "f");
		box.execute = NULL;
		box.has_no_processes = rows[i].how == 1;
		box.after_read = rows[i].after_read;
		if (rows[i].how == 2)
			box.faults[1] = (struct box_fault){ BOX_EXECUTE, NULL, ERR_PROC_DENIED,
				0, 0, 0 };
		if (rows[i].fault)
			box.faults[0] = (struct box_fault){ BOX_READ, NULL, rows[i].fault,
				rows[i].at_start, 2, rows[i].is_upload ? 0 : 1 };
		copy_run(&opts);
		if (copy.code != rows[i].code)
			fail_msg("row %zu: %d %s", i, (int)copy.code, copy.msg);
		if (rows[i].notes)
			assert_string_equal(copy.notes, rows[i].notes);
		assert_int_equal(box_times(&box, "read"), rows[i].is_upload ? 1 : 2);
		assert_int_equal(copy.end.bytes_done, rows[i].code ? 0 : 3);
		assert_int_equal(copy.end.bytes_total, rows[i].code ? 0 : 3);
		here_clear();
		box_clear(&box);
	}
}

static void many_sums_share_a_process(void **state)
{
	char name[20];

	(void)state;
	wrong_file = gone_file = garbage = NULL;
	here_fill("l/");
	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof name, "l/f%03d", i);
		here_put(name, "text");
	}
	struct transfer_opts opts = verified(true, "l", "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_done, 150);
	assert_int_equal(box_times(&box, "execute sha256sum"), 3); /* 64 of them each */
	assert_int_equal(box_times(&box, "read"), 0);
	assert_int_equal(box.n_most[BOX_WRITE], 6);
	box_clear(&box);
	/* read back: four at a time */
	opts = verified(true, "l", "up");
	box.execute = NULL;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(box_times(&box, "read"), 150);
	assert_int_equal(box.n_most[BOX_READ], 4);
}

/* What waits for its sum holds a file open here: not too many of them. */
static void not_too_many_wait_for_their_sum(void **state)
{
	char name[20];

	(void)state;
	wrong_file = gone_file = garbage = NULL;
	box_dir(&box, "d");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "d/f%03d", i);
		box_put(&box, name, "x");
	}
	box.is_held[BOX_EXECUTE] = true;
	struct transfer_opts opts = verified(false, "d", "in");
	copy_begin(&opts);
	BOX_UNTIL(box_times(&box, "read") >= 128);
	box_turns(30);
	int n = box_times(&box, "read");
	assert_true(n >= 128 && n < 128 + 6);
	assert_int_equal(box.n_most[BOX_EXECUTE], 1);
	box_release(&box, BOX_EXECUTE);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.files_done, 200);
}

/* ---- stat */
static const char *stat_says[8]; /* one after the other */
static int stat_exit[8], n_stats;

static void stats(const char *const *argv, struct box_answer *answer)
{
	int i = n_stats++;

	if (strcmp(argv[0], "stat") != 0 || i >= (int)COUNT(stat_says) || !stat_says[i]) {
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
		return;
	}
	assert_string_equal(argv[1], "-L");
	assert_string_equal(argv[2], "-c");
	assert_string_equal(argv[3], "%d:%i:%f");
	assert_string_equal(argv[4], "--");
	answer->exit_code = stat_exit[i];
	snprintf(answer->out, sizeof answer->out, "%s", stat_says[i]);
}

#define FILE_MODE "81a4"
#define DIR_MODE "41ed"
static void kinds_of_a_tree(void **state)
{
	/* asked: e (says that it is empty), s (a folder), then d itself */
	static const struct {
		const char *said[6];
		int exit[6];
		const char *text, *notes;
		int n_skipped, n_calls;
	} rows[] = {
		{ { "1:2:" FILE_MODE "\n1:3:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/e= in/f=five in/s/", "", 0, 2 },
		{ { "1:2:11a4\n1:3:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/f=five in/s/", "kind e: a pipe: not copied\n", 1, 2 },
		{ { "1:2:c1a4\n1:3:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/f=five in/s/", "kind e: a socket: not copied\n", 1, 2 },
		{ { "1:2:21a4\n1:3:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/f=five in/s/", "kind e: a device: not copied\n", 1, 2 },
		/* s is d again */
		{ { "1:2:" FILE_MODE "\n1:1:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/e= in/f=five",
			"loop s: it leads back to a folder that it is in\n", 1, 1 },
		/* the same number on another device is another folder */
		{ { "1:2:" FILE_MODE "\n2:1:" DIR_MODE "\n1:1:" DIR_MODE "\n" }, { 0 },
			"in/ in/e= in/f=five in/s/", "", 0, 2 },
		/* one failed: each is asked about alone */
		{ { "", "1:2:11a4\n", "", "1:1:" DIR_MODE "\n", NULL }, { 1, 0, 1, 0 },
			"in/ in/f=five in/s/", "kind e: a pipe: not copied\n", 1, 5 },
		/* nonsense is as good as nothing */
		{ { "1:2:11a4\n1:3:" DIR_MODE "\n1:1:" DIR_MODE "\nx\n", "1:2:11a4 x\n",
			  "1:2\n", "1:1:" DIR_MODE },
			{ 0 }, "in/ in/e= in/f=five in/s/", "", 0, 5 },
		{ { "1:2:11a4\n",
			  "99999999999999999999999999999999999999999999999999999999"
			  "99999999999999999999999999:1:11a4\n",
			  "\n", "" },
			{ 0 }, "in/ in/e= in/f=five in/s/", "", 0, 5 },
		{ { NULL }, { 0 }, "in/ in/e= in/f=five in/s/", "", 0, 1 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		n_stats = 0;
		memset(stat_says, 0, sizeof stat_says);
		memcpy(stat_says, rows[i].said, sizeof rows[i].said);
		memset(stat_exit, 0, sizeof stat_exit);
		memcpy(stat_exit, rows[i].exit, sizeof rows[i].exit);
		box_fill(&box, "d/ d/e= d/s/ d/f=five");
		box.execute = stats;
		struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
		copy_run(&opts);
		if (copy.code != ERR_NONE || strcmp(here_text(), rows[i].text) != 0)
			fail_msg("row %zu: %s %s\n%s", i, copy.msg, here_text(), box.log.p);
		assert_string_equal(copy.notes, rows[i].notes);
		assert_int_equal(copy.end.files_skipped, rows[i].n_skipped);
		assert_int_equal(copy.end.n_notes, rows[i].n_skipped);
		assert_true(
			box_logged(&box, "execute stat -L -c %d:%i:%f -- ./d/e ./d/s ./d\n"));
		here_clear();
		box_clear(&box);
	}
}

/* Within one sandbox a link may lead to where the copy goes. */
static void a_tree_copied_beside_itself(void **state)
{
	static const struct {
		const char *says; /* of d/s, d and t */
		enum err_code code;
		const char *msg, *notes, *text;
	} rows[] = {
		{ "1:3:" DIR_MODE "\n1:1:" DIR_MODE "\n1:2:" DIR_MODE "\n", ERR_NONE, "", "",
			"d/ d/f=x(640) d/s/ d/s/g=y(640) t/ t/d/f=x(640) t/d/s/g=y(640)" },
		{ "1:2:" DIR_MODE "\n1:1:" DIR_MODE "\n1:2:" DIR_MODE "\n", ERR_NONE, "",
			"loop s: it leads to where the copy goes\n",
			"d/ d/f=x(640) d/s/ d/s/g=y(640) t/ t/d/f=x(640)" },
		{ "1:3:" DIR_MODE "\n1:2:" DIR_MODE "\n1:2:" DIR_MODE "\n", ERR_ARG_INVALID,
			"d cannot be copied into itself", "",
			"d/ d/f=x(640) d/s/ d/s/g=y(640) t/" },
		/* what is no folder is nobody */
		{ "1:3:" DIR_MODE "\n1:2:" FILE_MODE "\n1:2:" FILE_MODE "\n", ERR_NONE, "", "",
			"d/ d/f=x(640) d/s/ d/s/g=y(640) t/ t/d/f=x(640) t/d/s/g=y(640)" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		n_stats = 0;
		memset(stat_says, 0, sizeof stat_says);
		memset(stat_exit, 0, sizeof stat_exit);
		stat_says[0] = rows[i].says;
		box_fill(&box, "d/ d/s/ d/f=x d/s/g=y t/");
		box.execute = stats;
		struct transfer_opts opts = copy_opts(&box, "d", &box, "t");
		copy_run(&opts);
		char *kept = strstr(copy.notes, "notKept");
		if (kept)
			*kept = 0;
		if (copy.code != rows[i].code || strcmp(box_text(&box), rows[i].text) != 0)
			fail_msg("row %zu: %s %s", i, copy.msg, box_text(&box));
		assert_string_equal(copy.msg, rows[i].msg);
		assert_string_equal(copy.notes, rows[i].notes);
		assert_true(box_logged(&box, "execute stat -L -c %d:%i:%f -- ./d/s ./d ./t\n"));
		box_clear(&box);
	}
}

/* A pipe that was named is read to its end by cat. */
static void a_named_pipe_is_read_by_cat(void **state)
{
	static const struct {
		const char *says, *text;
		bool is_cat;
	} rows[] = {
		{ "1:2:11a4\n", "f=", 1 },
		{ "1:2:21a4\n", "f=", 1 },
		{ "1:2:" FILE_MODE "\n", "f=", 0 },
		{ "", "f=", 0 },
		{ NULL, "f=", 0 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		n_stats = 0;
		memset(stat_says, 0, sizeof stat_says);
		memset(stat_exit, 0, sizeof stat_exit);
		stat_says[0] = rows[i].says;
		box_fill(&box, "p=");
		box.execute = stats;
		struct transfer_opts opts = copy_opts(&box, "p", NULL, here("f"));
		copy_run(&opts);
		assert_int_equal(copy.code, ERR_NONE);
		assert_string_equal(here_text(), rows[i].text);
		assert_int_equal(box_times(&box, "start cat -- ./p\n"), rows[i].is_cat);
		assert_int_equal(box_times(&box, "read"), !rows[i].is_cat);
		assert_int_equal(box_times(&box, "free"), rows[i].is_cat);
		here_clear();
		box_clear(&box);
	}
}

static void fills(struct runtime *in, size_t n)
{
	char *bytes = malloc(n);

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)('a' + i % 26);
	box_put_bytes(in, "p", bytes, n, 0600);
	free(bytes);
}

/* It says that it is empty, and gives bytes when it is opened. */
static void is_a_pipe(const char *const *argv, struct box_answer *answer)
{
	if (strcmp(argv[0], "stat") != 0) {
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
		return;
	}
	snprintf(answer->out, sizeof answer->out, "1:2:11a4\n");
	fills(&box, 100000);
}

static void what_cat_gives(void **state)
{
	static const struct {
		const char *to; /* NULL: another sandbox */
		const char *stderr_text;
		int exit_code;
		const char *limit;
		enum err_code fault;
		bool at_start;
		enum err_code code;
		const char *msg;
	} rows[] = {
		{ "f", NULL, 0, "none", 0, 0, ERR_NONE, "" },
		{ "f", "a warning", 0, "none", 0, 0, ERR_NONE, "" },
		{ NULL, NULL, 0, "none", 0, 0, ERR_NONE, "" },
		{ "f", "cat: p: denied", 1, "none", 0, 0, ERR_FILE_SERVER,
			"cat failed in the sandbox: cat: p: denied" },
		{ NULL, "cat: p: denied", 1, "none", 0, 0, ERR_FILE_SERVER,
			"cat failed in the sandbox: cat: p: denied" },
		{ "f", NULL, -1, "none", 0, 0, ERR_FILE_SERVER, "cat failed in the sandbox: " },
		{ "f", NULL, 0, "100000", 0, 0, ERR_NONE, "" },
		{ "f", NULL, 0, "99999", 0, 0, ERR_LIMIT_DOWNLOAD, "the limit is 99999 bytes" },
		{ "f", NULL, 0, "none", ERR_PROC_LOST, 0, ERR_PROC_LOST, "no p" },
		{ "f", NULL, 0, "none", ERR_OP_CLOSED, 1, ERR_OP_CLOSED, "no p" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, "p=");
		box.execute = is_a_pipe;
		box.cat_text = rows[i].stderr_text;
		box.cat_exit = rows[i].exit_code;
		box.faults[0] = (struct box_fault){ BOX_PROCESS, NULL, rows[i].fault,
			rows[i].at_start, 0, 0 };
		assert_true(setting_set("download-limit", rows[i].limit, NULL));
		struct transfer_opts opts =
			rows[i].to ? copy_opts(&box, "p", NULL, here(rows[i].to))
				   : copy_opts(&box, "p", &other, "f");
		copy_run(&opts);
		if (copy.code != rows[i].code || strcmp(copy.msg, rows[i].msg) != 0)
			fail_msg("row %zu: %d %s", i, (int)copy.code, copy.msg);
		if (copy.code == ERR_NONE) {
			size_t text_n = rows[i].stderr_text ? strlen(rows[i].stderr_text) : 0;
			assert_string_equal(rows[i].to ? here_text() : box_text(&other),
				rows[i].to ? "f=100000 bytes" : "f=100000 bytes(640)");
			assert_int_equal(box.n_consumed, 100000 + text_n);
			assert_int_equal(copy.end.bytes_done, 100000);
			assert_int_equal(copy.end.bytes_total, 100000);
		} else {
			assert_string_equal(here_text(), "");
			assert_int_equal(copy.end.bytes_done, 0);
			assert_int_equal(copy.end.bytes_total, 0);
		}
		here_clear();
		box_clear(&box);
		box_clear(&other);
	}
	assert_true(setting_set("download-limit", "none", NULL));
}

/* What cat says is kept to a length; all of it is taken from the process. */
static void a_long_reason_is_cut(void **state)
{
	char reason[400];

	(void)state;
	memset(reason, 'r', sizeof reason - 1);
	reason[sizeof reason - 1] = 0;
	box_fill(&box, "p=");
	box.execute = is_a_pipe;
	box.cat_text = reason;
	box.cat_exit = 1;
	struct transfer_opts opts = copy_opts(&box, "p", NULL, here("f"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_SERVER);
	assert_int_equal(strlen(copy.msg), strlen("cat failed in the sandbox: ") + 160);
	assert_true(box.n_consumed >= sizeof reason - 1);
}

static void a_pause_stops_cat(void **state)
{
	(void)state;
	box_fill(&box, "p=");
	box.execute = is_a_pipe;
	struct transfer_opts opts = copy_opts(&box, "p", NULL, here("f"));
	copy_begin(&opts);
	BOX_UNTIL(box.n_consumed > 0);
	transfer_pause(copy.transfer, true);
	box_turns(40);
	size_t n = box.n_consumed;
	assert_true(n < 100000);
	box_turns(10);
	assert_int_equal(box.n_consumed, n);
	assert_int_equal(copy.n_done, 0);
	transfer_pause(copy.transfer, false);
	BOX_UNTIL(copy.n_done);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(box.n_consumed, 100000);
	assert_string_equal(here_text(), "f=100000 bytes");
	/* and a cancel ends the process */
	here_clear();
	box_clear(&box);
	box_fill(&box, "p=");
	box.execute = is_a_pipe;
	copy_begin(&opts);
	BOX_UNTIL(box.n_consumed > 0);
	transfer_cancel(copy.transfer);
	box_turns(3);
	assert_int_equal(copy.n_done, 0);
	assert_int_equal(box_times(&box, "free"), 1);
	assert_string_equal(here_text(), "");
}

/* ---- times and modes */
static int sets_exit[10], n_sets;
static const char *sets_err;
static bool has_sh, has_touch;

static void sets(const char *const *argv, struct box_answer *answer)
{
	bool is_sh = strcmp(argv[0], "sh") == 0;

	if (is_sh ? !has_sh : !has_touch) {
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
		return;
	}
	answer->exit_code = n_sets < (int)COUNT(sets_exit) ? sets_exit[n_sets] : 0;
	if (answer->exit_code)
		snprintf(answer->err_out, sizeof answer->err_out, "%s", sets_err);
	n_sets++;
}

static void set_time(const char *name, time_t at)
{
	const struct timespec times[2] = { { at, 0 }, { at, 0 } };

	assert_int_equal(utimensat(AT_FDCWD, here(name), times, 0), 0);
}

/* "l/f" of time 7, "l/g" of 7, "l/d/h" of 9, folders of 8. */
static struct transfer_opts timed(void)
{
	here_fill("l/ l/f=one l/g=two l/d/ l/d/h=three");
	set_time("l/f", 7);
	set_time("l/g", 7);
	set_time("l/d/h", 9);
	set_time("l/d", 8);
	set_time("l", 8);
	assert_int_equal(chmod(here("l/d"), 0700), 0);
	set_time("l/d", 8);
	n_sets = 0;
	memset(sets_exit, 0, sizeof sets_exit);
	box.execute = sets;
	has_sh = has_touch = true;
	sets_err = "touch: cannot touch\nmore";
	return copy_opts(NULL, here("l"), &box, "up");
}

static void times_are_set_by_one_shell(void **state)
{
	(void)state;
	struct transfer_opts opts = timed();
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(n_sets, 1);
	assert_string_equal(copy.notes, "");
	/* one touch for each time, then modes, the deepest folder first */
	assert_true(box_logged(&box, "touch -c -d @8 --"));
	assert_true(box_logged(&box, "chmod 0700 --"));
	assert_true(strstr(box.log.p, "chmod 0700") < strstr(box.log.p, "chmod 0755"));
	assert_true(box_logged(&box, "chmod 0755 -- \"${5}\" || s=1\nexit $s\n sh "));
	assert_true(box_logged(&box, " ./up/d ./up\n"));
	assert_int_equal(box_times(&box, "touch"), 3);
}

static void without_a_shell_each_alone(void **state)
{
	(void)state;
	struct transfer_opts opts = timed();
	has_sh = false;
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(copy.notes, "");
	assert_int_equal(box_times(&box, "execute sh"), 1); /* asked for once */
	assert_int_equal(box_times(&box, "execute touch -c -d @7 --"), 1);
	assert_int_equal(box_times(&box, "execute touch -c -d @9 -- ./up/d/h\n"), 1);
	assert_int_equal(box_times(&box, "execute touch -c -d @8 -- ./up/d ./up\n"), 1);
	assert_int_equal(box_times(&box, "execute chmod 0700 -- ./up/d\n"), 1);
	assert_int_equal(box_times(&box, "execute chmod 0755 -- ./up\n"), 1);
	assert_int_equal(n_sets, 5);
}

static void times_that_cannot_be_set(void **state)
{
	static const struct {
		bool has_sh, has_touch;
		int exits[8];
		enum err_code fault;
		bool at_start;
		int n_notes, n_calls;
		const char *note;
	} rows[] = {
		/* one of them: each alone, the rest is done */
		{ 1, 1, { 1, 0, 1 }, 0, 0, 1, 6,
			"mode or time not kept: touch: cannot touch\n" },
		{ 1, 1, { 1, 1, 1, 1, 1, 1 }, 0, 0, 5, 6,
			"mode or time not kept: touch: cannot touch\n" },
		/* none: said once */
		{ 0, 0, { 0 }, 0, 0, 1, 2,
			"notKept up: times, or modes of folders, not kept (5 entries): "
			"touch did not run\n" },
		{ 1, 1, { 0 }, ERR_PROC_DENIED, 0, 1, 1,
			"notKept up: times, or modes of folders, not kept (5 entries): no sh\n" },
		{ 1, 1, { 0 }, ERR_OP_CLOSED, 1, 1, 1,
			"notKept up: times, or modes of folders, not kept (5 entries): no sh\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transfer_opts opts = timed();
		has_sh = rows[i].has_sh;
		has_touch = rows[i].has_touch;
		memcpy(sets_exit, rows[i].exits, sizeof rows[i].exits);
		box.faults[0] = (struct box_fault){ BOX_EXECUTE, NULL, rows[i].fault,
			rows[i].at_start, 0, 0 };
		copy_run(&opts);
		assert_int_equal(copy.code, ERR_NONE); /* it is no failure */
		assert_int_equal(copy.end.files_done, 3);
		if ((int)copy.end.n_notes != rows[i].n_notes ||
			!strstr(copy.notes, rows[i].note))
			fail_msg("row %zu: %s", i, copy.notes);
		assert_int_equal(box_times(&box, "execute"), rows[i].n_calls);
		here_clear();
		box_clear(&box);
	}
}

static void after_twenty_failures_the_rest_is_not_tried(void **state)
{
	char name[20];

	(void)state;
	here_fill("l/");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "l/f%02d", i);
		here_put(name, "");
	}
	has_sh = true;
	n_sets = 0;
	sets_err = "no";
	for (size_t i = 0; i < COUNT(sets_exit); i++)
		sets_exit[i] = 1;
	box.execute = sets;
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	copy_run(&opts);
	/* the tenth and later go well: the batch of all, nine alone, the rest */
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.n_notes, 9);
	assert_int_equal(n_sets, 32);
}

static void always_fails(const char *const *argv, struct box_answer *answer)
{
	if (strcmp(argv[0], "sh") != 0)
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
	answer->exit_code = 1;
}

static void it_gives_up_at_last(void **state)
{
	char name[20];

	(void)state;
	here_fill("l/");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "l/f%02d", i);
		here_put(name, "");
	}
	box.execute = always_fails;
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(box_times(&box, "execute sh"), 21); /* all together, then twenty */
	assert_int_equal(copy.end.n_notes, 21);
	assert_true(strstr(copy.notes, "not kept (11 entries): too many could not be set"));
}

/* A single file goes without its time unless that is wanted; the old runtime is told its mode afterwards. */
static void what_of_a_single_file_is_kept(void **state)
{
	static const struct {
		bool keeps, is_legacy;
		const char *script;
	} rows[] = {
		{ 0, 0, NULL },
		{ 1, 0, "execute sh -c s=0\ntouch -c -d @7 -- \"${1}\" || s=1\nexit $s\n sh ./x\n" },
		{ 0, 1, "execute sh -c s=0\nchmod 0640 -- \"${1}\" || s=1\nexit $s\n sh ./x\n" },
		{ 1, 1,
			"execute sh -c s=0\ntouch -c -d @7 -- \"${1}\" || s=1\n"
			"chmod 0640 -- \"${1}\" || s=1\nexit $s\n sh ./x\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		here_fill("f=one");
		assert_int_equal(chmod(here("f"), 04640), 0);
		set_time("f", 7);
		has_sh = true;
		n_sets = sets_exit[0] = 0;
		box.execute = sets;
		box.kind = rows[i].is_legacy ? RUNTIME_LEGACY : RUNTIME_SANDBOXD;
		struct transfer_opts opts = copy_opts(NULL, here("f"), &box, "x");
		opts.keep_times = rows[i].keeps;
		copy_run(&opts);
		assert_int_equal(copy.code, ERR_NONE);
		assert_int_equal(box_times(&box, "execute"), rows[i].script != NULL);
		if (rows[i].script && !box_logged(&box, rows[i].script))
			fail_msg("row %zu: %s", i, box.log.p);
		here_clear();
		box_clear(&box);
	}
}

/* A mode of 0000 and the first second of 1970 are known ones. */
static void zero_is_a_value(void **state)
{
	struct stat st;

	(void)state;
	struct box_node *dir = box_dir(&box, "d"), *inner = box_dir(&box, "d/e");
	struct box_node *file = box_put(&box, "d/f", "x");
	dir->modified_s = inner->modified_s = file->modified_s = 0;
	inner->mode = file->mode = 0;
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(copy.notes, "");
	assert_int_equal(stat(here("in"), &st), 0);
	assert_int_equal(st.st_mtime, 0);
	assert_int_equal(stat(here("in/e"), &st), 0);
	assert_int_equal(st.st_mtime, 0);
	assert_int_equal(st.st_mode & 07777, 0);
	assert_int_equal(chmod(here("in/e"), 0700), 0);
	assert_int_equal(stat(here("in/f"), &st), 0);
	assert_int_equal(st.st_mtime, 0);
	assert_int_equal(st.st_mode & 07777, 0);
	/* to another sandbox */
	other.execute = sets;
	has_sh = true;
	n_sets = 0;
	memset(sets_exit, 0, sizeof sets_exit);
	opts = copy_opts(&box, "d", &other, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(box_logged(&other, "write up/f 1 bytes mode 0\n"));
	assert_true(
		box_logged(&other, "touch -c -d @0 -- \"${1}\" \"${2}\" \"${3}\" || s=1\n"));
	assert_true(box_logged(&other, "chmod 0000 -- \"${2}\" || s=1\n"));
	assert_true(box_logged(&other, "chmod 0750 -- \"${3}\" || s=1\nexit $s\n"));
	/* by single programs */
	str_clear(&other.log);
	has_sh = false;
	has_touch = true;
	opts.to.path = "up2";
	copy_run(&opts);
	assert_true(box_logged(&other, "execute touch -c -d @0 -- ./up2/f\n"));
	assert_true(box_logged(&other, "execute touch -c -d @0 -- ./up2/e ./up2\n"));
	assert_true(box_logged(&other, "execute chmod 0000 -- ./up2/e\n"));
	assert_true(box_logged(&other, "execute chmod 0750 -- ./up2\n"));
	/* a file was written with its mode: nothing sets it again */
	assert_int_equal(box_times(&other, "execute chmod"), 2);
	/* up, from here */
	box_clear(&other);
	here_clear();
	here_fill("l/ l/f=x");
	set_time("l/f", 0);
	set_time("l", 0);
	other.execute = sets;
	has_sh = true;
	opts = copy_opts(NULL, here("l"), &other, "up");
	copy_run(&opts);
	assert_true(box_logged(&other, "touch -c -d @0 -- \"${1}\" \"${2}\" || s=1\n"));
	box_clear(&other);
}

/* What is not known is left as it is. */
static void what_is_unknown_is_left(void **state)
{
	struct stat st;

	(void)state;
	struct box_node *dir = box_dir(&box, "d"), *file = box_put(&box, "d/f", "x");
	dir->modified_s = file->modified_s = -1;
	dir->mode = file->mode = -1;
	struct transfer_opts opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_string_equal(copy.notes, "");
	assert_int_equal(stat(here("in/f"), &st), 0);
	assert_true(st.st_mtime > 1000000000);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(stat(here("in"), &st), 0);
	assert_true(st.st_mtime > 1000000000);
	assert_int_equal(st.st_mode & 07777, 0755);
	opts = copy_opts(&box, "d", &other, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_true(box_logged(&other, "write up/f 1 bytes\n"));
	assert_int_equal(box_times(&other, "execute"), 0);
}

/* ---- folders without files */
static int mkdir_exit;
static bool has_mkdir;

static void makes(const char *const *argv, struct box_answer *answer)
{
	if (strcmp(argv[0], "mkdir") != 0 || !has_mkdir) {
		answer->code = ERR_PROC_COMMAND_NOT_FOUND;
		return;
	}
	assert_string_equal(argv[1], "-p");
	assert_string_equal(argv[2], "--");
	answer->exit_code = mkdir_exit;
	for (int i = 3; argv[i] && !mkdir_exit; i++)
		box_dir(&box, argv[i] + 2);
}

static void folders_without_files(void **state)
{
	static const struct {
		bool has_mkdir, has_no_processes;
		int exit_code;
		struct box_fault fault;
		enum err_code code;
		int n_writes, n_deletes, n_failed;
	} rows[] = {
		{ 1, 0, 0, { 0 }, ERR_NONE, 0, 0, 0 },
		{ 1, 0, 1, { 0 }, ERR_NONE, 2, 2, 0 },
		{ 0, 0, 0, { 0 }, ERR_NONE, 2, 2, 0 },
		{ 0, 1, 0, { 0 }, ERR_NONE, 2, 2, 0 },
		{ 0, 0, 0, { BOX_WRITE, NULL, ERR_FILE_DENIED, 0, 0, 0 }, ERR_FILE_DENIED, 2, 0,
			2 },
		{ 0, 0, 0, { BOX_WRITE, NULL, ERR_FILE_DENIED, 1, 0, 0 }, ERR_FILE_DENIED, 2, 0,
			2 },
		{ 0, 0, 0, { BOX_DELETE, NULL, ERR_FILE_DENIED, 0, 0, 0 }, ERR_FILE_DENIED, 2,
			2, 2 },
		{ 0, 0, 0, { BOX_DELETE, NULL, ERR_FILE_DENIED, 1, 0, 0 }, ERR_FILE_DENIED, 2,
			2, 2 },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		here_fill("l/ l/a/ l/b/");
		box.execute = makes;
		box.has_no_processes = rows[i].has_no_processes;
		has_mkdir = rows[i].has_mkdir;
		mkdir_exit = rows[i].exit_code;
		box.faults[0] = rows[i].fault;
		struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
		copy_run(&opts);
		if (copy.code != rows[i].code)
			fail_msg("row %zu: %s", i, copy.msg);
		assert_int_equal(copy.end.files_failed, rows[i].n_failed);
		assert_int_equal(copy.end.files_total, 0); /* folders are no files */
		assert_int_equal(copy.end.files_done, 0);
		assert_int_equal(box_times(&box, "write up/"), rows[i].n_writes);
		assert_int_equal(box_times(&box, "delete up/"), rows[i].n_deletes);
		assert_int_equal(box_times(&box, "execute mkdir"), !rows[i].has_no_processes);
		if (rows[i].n_writes) {
			const char *at = strstr(box.log.p, "/.sandmux-tmp-");
			assert_int_equal(strspn(at + 14, "0123456789abcdef"), 16);
			assert_memory_equal(at + 30, " 0 bytes\n", 9);
		}
		if (rows[i].code == ERR_NONE)
			assert_string_equal(
				box_text(&box), rows[i].n_writes ? "" : "up/a/ up/b/");
		here_clear();
		box_clear(&box);
	}
}

/* ---- many of them share a process */
static void all_is_well(const char *const *argv, struct box_answer *answer)
{
	size_t at = 0;

	for (int i = 5; argv[i] && strcmp(argv[0], "stat") == 0; i++)
		at += (size_t)snprintf(answer->out + at, sizeof answer->out - at,
			"1:%zu:" DIR_MODE "\n", strlen(box.log.p) + (size_t)i);
}

static int most_arguments(const char *program)
{
	int most = 0;

	for (const char *line = box.log.p; *line; line = strchr(line, '\n') + 1) {
		int n = 0;
		if (strncmp(line, program, strlen(program)) != 0)
			continue;
		for (const char *p = line; *p != '\n'; p++)
			n += strncmp(p, " ./", 3) == 0;
		most = n > most ? n : most;
	}
	return most;
}

static void many_share_a_process(void **state)
{
	char name[20];

	(void)state;
	here_fill("l/");
	box_dir(&box, "d");
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof name, "l/e%03d", i);
		assert_int_equal(mkdir(here(name), 0755), 0);
		snprintf(name, sizeof name, "d/e%03d", i);
		box_dir(&box, name);
	}
	box.execute = all_is_well;
	struct transfer_opts opts = copy_opts(NULL, here("l"), &box, "up");
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(box_times(&box, "execute mkdir"), 3); /* 128 each */
	assert_int_equal(most_arguments("execute mkdir"), 128);
	assert_int_equal(box_times(&box, "execute sh"), 3); /* of 300 folders and theirs */
	assert_int_equal(box.n_most[BOX_EXECUTE], 1);
	assert_int_equal(box_times(&box, "write"), 0);
	str_clear(&box.log);
	opts = copy_opts(&box, "d", NULL, here("in"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_NONE);
	assert_int_equal(copy.end.n_notes, 0);
	assert_int_equal(box_times(&box, "execute stat"), 3);
	assert_int_equal(most_arguments("execute stat"), 128);
	/* without mkdir it is asked for once */
	box_clear(&box);
	box.execute = NULL;
	opts = copy_opts(NULL, here("l"), &box, "up");
	copy_run(&opts);
	assert_int_equal(box_times(&box, "execute mkdir"), 1);
	assert_int_equal(box_times(&box, "write"), 300);
	assert_int_equal(box_times(&box, "delete"), 300);
	assert_int_equal(copy.code, ERR_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(sums_that_are_right),
		BOX_TEST(sums_that_differ),
		BOX_TEST(sums_that_are_none),
		BOX_TEST(sums_of_what_is_read_back),
		BOX_TEST(many_sums_share_a_process),
		BOX_TEST(not_too_many_wait_for_their_sum),
		BOX_TEST(kinds_of_a_tree),
		BOX_TEST(a_tree_copied_beside_itself),
		BOX_TEST(a_named_pipe_is_read_by_cat),
		BOX_TEST(what_cat_gives),
		BOX_TEST(a_long_reason_is_cut),
		BOX_TEST(a_pause_stops_cat),
		BOX_TEST(times_are_set_by_one_shell),
		BOX_TEST(without_a_shell_each_alone),
		BOX_TEST(times_that_cannot_be_set),
		BOX_TEST(after_twenty_failures_the_rest_is_not_tried),
		BOX_TEST(it_gives_up_at_last),
		BOX_TEST(what_of_a_single_file_is_kept),
		BOX_TEST(zero_is_a_value),
		BOX_TEST(what_is_unknown_is_left),
		BOX_TEST(folders_without_files),
		BOX_TEST(many_share_a_process),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
