// SPDX-License-Identifier: Apache-2.0
/* From where to where: names of both ends in every combination, what is in the way there, what is asked of the sandbox
 * for it and what is not. */
#include "tests/unit/engine/transfer/box.h"

static void assert_row(
	size_t i, enum err_code code, const char *msg, const char *text, const char *is)
{
	struct err got = { .code = copy.code }, wanted = { .code = code };

	if (copy.code != code)
		fail_msg("row %zu: %s (%s) instead of %s", i, err_name(&got), copy.msg,
			err_name(&wanted));
	if (msg && !strstr(copy.msg, msg))
		fail_msg("row %zu: \"%s\" instead of \"%s\"", i, copy.msg, msg);
	if (strcmp(text, is) != 0)
		fail_msg("row %zu: \"%s\" instead of \"%s\"", i, is, text);
}

static void downloads(void **state)
{
	static const char *const tree = "d/ d/f=hello d/e/ d/e/g=deep f=five z/";
	static const struct {
		const char *from, *to, *here;
		bool is_lone; /* without -r */
		enum transfer_conflict conflict;
		enum err_code code;
		const char *msg, *text;
	} rows[] = {
		{ "f", "in", "in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five" },
		{ "f", "in/", "in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five" },
		{ "f", "in/.", "in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five" },
		{ "./f", "in", "in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five" },
		{ "f", "g", "", 1, TRANSFER_FAIL, 0, NULL, "g=five" },
		{ "f", "in/", "", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five" },
		{ "f", "in/g", "in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/g=five" },
		{ "d/e/g", "in", "in/", 0, TRANSFER_FAIL, 0, NULL, "in/ in/g=deep" },
		{ "f", "l", "l->in in/", 1, TRANSFER_FAIL, 0, NULL, "in/ in/f=five l=->" },
		{ "f", "in", "in/ in/f=old", 1, TRANSFER_FAIL, ERR_FILE_EXISTS,
			"f exists already", "in/ in/f=old" },
		{ "f", "in", "in/ in/f=old", 1, TRANSFER_SKIP, 0, NULL, "in/ in/f=old" },
		{ "f", "in", "in/ in/f=old", 1, TRANSFER_OVERWRITE, 0, NULL, "in/ in/f=five" },
		{ "f", "in", "in/ in/f=old", 1, TRANSFER_RENAME, 0, NULL,
			"in/ in/f=old in/f (1)=five" },
		{ "f", "in", "in/ in/f/", 1, TRANSFER_OVERWRITE, ERR_FILE_IS_DIR,
			"f is a folder at the target", "in/ in/f/" },
		{ "f", "in", "in/ in/f/", 1, TRANSFER_FAIL, ERR_FILE_IS_DIR,
			"f is a folder at the target", "in/ in/f/" },
		{ "f", "in", "in/ in/f/", 1, TRANSFER_RENAME, 0, NULL,
			"in/ in/f/ in/f (1)=five" },
		{ "f", "no/g", "", 1, TRANSFER_FAIL, ERR_FILE_NOT_FOUND, "no: ", "" },
		{ "f", "x/g", "x=", 1, TRANSFER_FAIL, ERR_FILE_NOT_DIR, "x", "x=" },
		{ "d", "in", "in/", 0, TRANSFER_FAIL, 0, NULL,
			"in/ in/d/ in/d/e/ in/d/e/g=deep in/d/f=hello" },
		{ "d/", "in", "in/", 0, TRANSFER_FAIL, 0, NULL,
			"in/ in/d/ in/d/e/ in/d/e/g=deep in/d/f=hello" },
		{ "d", "n", "", 0, TRANSFER_FAIL, 0, NULL, "n/ n/e/ n/e/g=deep n/f=hello" },
		{ "d", "n/", "", 0, TRANSFER_FAIL, 0, NULL,
			"n/ n/d/ n/d/e/ n/d/e/g=deep n/d/f=hello" },
		{ "d/.", "in", "in/", 0, TRANSFER_FAIL, 0, NULL,
			"in/ in/e/ in/e/g=deep in/f=hello" },
		{ "d/.", "n", "", 0, TRANSFER_FAIL, 0, NULL, "n/ n/e/ n/e/g=deep n/f=hello" },
		{ ".", "in", "in/", 0, TRANSFER_FAIL, 0, NULL,
			"in/ in/d/ in/d/e/ in/d/e/g=deep in/d/f=hello in/f=five in/z/" },
		{ "z", "in", "in/", 0, TRANSFER_FAIL, 0, NULL, "in/ in/z/" },
		{ "d", "in", "in/ in/d/ in/d/e=old", 0, TRANSFER_FAIL, ERR_FILE_NOT_DIR, "e",
			"in/ in/d/ in/d/e=old in/d/f=hello" },
		{ "d", "x", "x=file", 0, TRANSFER_FAIL, ERR_FILE_NOT_DIR, "x is a file",
			"x=file" },
		{ "d", "in", "in/", 1, TRANSFER_FAIL, ERR_FILE_IS_DIR, "d is a directory",
			"in/" },
		{ "d/.", "in", "in/", 1, TRANSFER_FAIL, ERR_FILE_IS_DIR, "d is a directory",
			"in/" },
		{ "no", "in", "in/", 0, TRANSFER_FAIL, ERR_FILE_NOT_FOUND, "no no", "in/" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, tree);
		here_fill(rows[i].here);
		struct transfer_opts opts =
			copy_opts(&box, rows[i].from, NULL, here(rows[i].to));
		opts.recursive = !rows[i].is_lone;
		opts.conflict = rows[i].conflict;
		copy_run(&opts);
		assert_row(i, rows[i].code, rows[i].msg, rows[i].text, here_text());
		assert_int_equal(box_times(&box, "write"), 0);
		here_clear();
		box_clear(&box);
	}
}

#define HERE "f=five d/ d/f=hello d/e/ d/e/g=deep z/"
static void uploads(void **state)
{
	static const struct {
		const char *from, *to, *there;
		bool is_lone;
		enum transfer_conflict conflict;
		enum err_code code;
		const char *msg, *text;
	} rows[] = {
		{ "f", "t", "t/", 1, TRANSFER_FAIL, 0, NULL, "t/ t/f=five(644)" },
		{ "f", "./t/", "t/", 1, TRANSFER_FAIL, 0, NULL, "t/ t/f=five(644)" },
		{ "f", "t", "", 1, TRANSFER_FAIL, 0, NULL, "t=five(644)" },
		{ "f", "t/", "", 1, TRANSFER_FAIL, 0, NULL, "t/f=five(644)" },
		{ "f", ".", "", 1, TRANSFER_FAIL, 0, NULL, "f=five(644)" },
		{ "f", "t", "t=old", 1, TRANSFER_FAIL, ERR_FILE_EXISTS, "t exists already",
			"t=old(640)" },
		{ "f", "t", "t=old", 1, TRANSFER_SKIP, 0, NULL, "t=old(640)" },
		{ "f", "t", "t=old", 1, TRANSFER_OVERWRITE, 0, NULL, "t=five(644)" },
		{ "f", "t", "t=old", 1, TRANSFER_RENAME, 0, NULL,
			"t=old(640) t (1)=five(644)" },
		{ "f", "t", "t/ t/f/", 1, TRANSFER_FAIL, ERR_FILE_IS_DIR,
			"f is a folder at the target", "t/ t/f/" },
		/* a link that leads nowhere is there */
		{ "f", "l", "l->", 1, TRANSFER_FAIL, ERR_FILE_EXISTS, "l exists already",
			"l=->(777)" },
		{ "f", "l", "l->", 1, TRANSFER_SKIP, 0, NULL, "l=->(777)" },
		{ "f", "l", "l->", 1, TRANSFER_RENAME, 0, NULL, "l=->(777) l (1)=five(644)" },
		{ "f", "l", "l->", 1, TRANSFER_OVERWRITE, 0, NULL, "l=five(644)" },
		{ "d", "l", "l->", 0, TRANSFER_OVERWRITE, ERR_FILE_NOT_DIR,
			"l is a link that leads nowhere", "l=->(777)" },
		{ "d", "t", "t/ t/d->", 0, TRANSFER_OVERWRITE, ERR_FILE_NOT_DIR,
			"d is a link that leads nowhere", "t/ t/d=->(777)" },
		{ "d", "t", "t/ t/d=old", 0, TRANSFER_OVERWRITE, ERR_FILE_NOT_DIR,
			"d is a file there", "t/ t/d=old(640)" },
		{ "d", "t", "t=old", 0, TRANSFER_OVERWRITE, ERR_FILE_NOT_DIR, "t is a file",
			"t=old(640)" },
		{ "d", "t", "t/", 0, TRANSFER_FAIL, 0, NULL,
			"t/ t/d/e/g=deep(644) t/d/f=hello(644)" },
		{ "d", "t", "", 0, TRANSFER_FAIL, 0, NULL, "t/e/g=deep(644) t/f=hello(644)" },
		{ "d", "t/", "", 0, TRANSFER_FAIL, 0, NULL,
			"t/d/e/g=deep(644) t/d/f=hello(644)" },
		{ "d/.", "t", "t/", 0, TRANSFER_FAIL, 0, NULL,
			"t/ t/e/g=deep(644) t/f=hello(644)" },
		{ "d", "t", "t/ t/d/ t/d/f=old", 0, TRANSFER_FAIL, ERR_FILE_EXISTS,
			"f exists already", "t/ t/d/ t/d/e/g=deep(644) t/d/f=old(640)" },
		{ "d", "t", "t/ t/d/ t/d/f=old", 0, TRANSFER_OVERWRITE, 0, NULL,
			"t/ t/d/ t/d/e/g=deep(644) t/d/f=hello(644)" },
		{ "d", "t", "t/ t/d/ t/d/f->", 0, TRANSFER_SKIP, 0, NULL,
			"t/ t/d/ t/d/e/g=deep(644) t/d/f=->(777)" },
		{ "d", "t", "", 1, TRANSFER_FAIL, ERR_FILE_IS_DIR, "d is a directory", "" },
		{ "no", "t", "", 0, TRANSFER_FAIL, ERR_FILE_NOT_FOUND, "no does not exist",
			"" },
		{ "f/x", "t", "", 0, TRANSFER_FAIL, ERR_FILE_NOT_DIR, "f/x", "" },
		{ "", "t", "", 0, TRANSFER_FAIL, 0, NULL,
			"t/d/e/g=deep(644) t/d/f=hello(644) t/f=five(644)" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, rows[i].there);
		here_fill(HERE);
		assert_int_equal(chdir(here("")), 0);
		const char *from = *rows[i].from ? rows[i].from : ".";
		struct transfer_opts opts = copy_opts(NULL, from, &box, rows[i].to);
		opts.recursive = !rows[i].is_lone;
		opts.conflict = rows[i].conflict;
		copy_run(&opts);
		assert_row(i, rows[i].code, rows[i].msg, rows[i].text, box_text(&box));
		assert_int_equal(chdir("/"), 0);
		here_clear();
		box_clear(&box);
	}
}

static void from_sandbox_to_sandbox(void **state)
{
	static const struct {
		const char *from, *to;
		bool is_other; /* another sandbox */
		enum err_code code;
		const char *msg, *text;
	} rows[] = {
		{ "d", "d", 1, 0, NULL, "d/f=hello(640)" },
		{ "d/f", "f", 1, 0, NULL, "f=hello(640)" },
		{ "d", "d", 0, ERR_ARG_INVALID, "d cannot be copied into itself", NULL },
		{ "d", "d/new", 0, ERR_ARG_INVALID, "d cannot be copied into itself", NULL },
		{ "d", "./d//x", 0, ERR_ARG_INVALID, "d cannot be copied into itself", NULL },
		{ ".", "new", 0, ERR_ARG_INVALID,
			"the sandbox root cannot be copied into itself", NULL },
		{ "d/f", "d/f", 0, ERR_ARG_INVALID, "d/f cannot be copied into itself", NULL },
		{ "d/f", "d", 0, ERR_ARG_INVALID, "d/f cannot be copied into itself", NULL },
		{ "d/f", "d/./f", 0, ERR_ARG_INVALID, "d/f cannot be copied into itself",
			NULL },
		{ "d", "dd", 0, 0, NULL, "d/ d/f=hello(640) dd/f=hello(640)" },
		{ "d/f", "d/ff", 0, 0, NULL, "d/ d/f=hello(640) d/ff=hello(640)" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct runtime *to = rows[i].is_other ? &other : &box;
		box_fill(&box, "d/ d/f=hello");
		struct transfer_opts opts = copy_opts(&box, rows[i].from, to, rows[i].to);
		opts.conflict = TRANSFER_OVERWRITE;
		copy_run(&opts);
		assert_row(i, rows[i].code, rows[i].msg,
			rows[i].text ? rows[i].text : "d/ d/f=hello(640)", box_text(to));
		box_clear(&box);
		box_clear(&other);
	}
}

/* What is asked, in which order: nothing twice that is known, nothing that opens a pipe. */
static void what_is_asked(void **state)
{
	static const struct {
		const char *from, *to, *there;
		enum transfer_conflict conflict;
		const char *log;
	} rows[] = {
		{ "f", "x", "", TRANSFER_FAIL,
			"stat x\nstat x\nlinks 1: x\nwrite x 4 bytes mode 644\nstat x\n" },
		{ "f", "x", "", TRANSFER_OVERWRITE,
			"stat x\nwrite x 4 bytes mode 644\nstat x\n" },
		{ "f", "x/", "", TRANSFER_FAIL,
			"stat x/\nwrite x/f 4 bytes mode 644\nstat x/f\n" },
		{ "d", "x", "", TRANSFER_FAIL,
			"stat x\nlinks 1: x\nwrite x/f 5 bytes mode 644\nstat x/f\n"
			"execute sh -c s=0\ntouch -c -d @7 -- \"${1}\" || s=1\n"
			"touch -c -d @8 -- \"${2}\" || s=1\n"
			"chmod 0755 -- \"${2}\" || s=1\nexit $s\n sh ./x/f ./x\n"
			"execute touch -c -d @7 -- ./x/f\n" },
		{ "d", "x", "x/", TRANSFER_FAIL,
			"stat x\nstat x/d\nlinks 1: x/d\nwrite x/d/f 5 bytes mode 644\n"
			"stat x/d/f\nexecute sh" },
		{ "d", "x", "x/ x/d/", TRANSFER_FAIL,
			"stat x\nstat x/d\nstat x/d/f\nlinks 1: x/d/f\n"
			"write x/d/f 5 bytes mode 644\nstat x/d/f\nexecute sh -c s=0\n"
			"touch -c -d @7 -- \"${1}\" || s=1\nexit $s\n sh ./x/d/f\n" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct timespec f[2] = { { 7, 0 }, { 7, 0 } },
				      d[2] = { { 8, 0 }, { 8, 0 } };
		box_fill(&box, rows[i].there);
		here_fill("f=five d/ d/f=hello");
		utimensat(AT_FDCWD, here("d/f"), f, 0);
		utimensat(AT_FDCWD, here("d"), d, 0);
		struct transfer_opts opts =
			copy_opts(NULL, here(rows[i].from), &box, rows[i].to);
		opts.conflict = rows[i].conflict;
		copy_run(&opts);
		assert_int_equal(copy.code, ERR_NONE);
		if (strncmp(box.log.p, rows[i].log, strlen(rows[i].log)) != 0)
			fail_msg("row %zu: %s", i, box.log.p);
		here_clear();
		box_clear(&box);
	}
}

/* A look that does not begin, or ends badly, ends the copy with its reason. */
static void looks_that_fail(void **state)
{
	static const struct {
		bool is_upload;
		const char *from, *to, *there;
		struct box_fault fault;
		enum err_code code;
	} rows[] = {
		{ 0, "f", "x", "f=five", { BOX_LIST, "", ERR_FILE_DENIED, 0, 0, 0 }, ERR_NONE },
		{ 0, "f", "x", "f=five", { BOX_LIST, "", ERR_CONN_LOST, 1, 0, 0 }, ERR_NONE },
		{ 0, "f", "x", "", { BOX_STAT, "f", ERR_FILE_DENIED, 0, 0, 0 },
			ERR_FILE_DENIED },
		{ 0, "f", "x", "", { BOX_STAT, "f", ERR_OP_CLOSED, 1, 0, 0 }, ERR_OP_CLOSED },
		{ 0, ".", "x", "f=", { BOX_LIST, "", ERR_FILE_DENIED, 0, 0, 0 },
			ERR_FILE_DENIED },
		{ 0, ".", "x", "f=", { BOX_LIST, "", ERR_OP_CLOSED, 1, 0, 0 }, ERR_OP_CLOSED },
		{ 0, "f", "x", "f=five", { BOX_READ, "f", ERR_CONN_LOST, 0, 2, 0 },
			ERR_CONN_LOST },
		{ 0, "f", "x", "f=five", { BOX_READ, "f", ERR_OP_CLOSED, 1, 0, 0 },
			ERR_OP_CLOSED },
		{ 0, "f", "x", "f=five", { BOX_STAT, "f", ERR_FILE_DENIED, 0, 0, 0 },
			ERR_FILE_DENIED }, /* is it still the same? */
		{ 0, "f", "x", "f=five", { BOX_STAT, "f", ERR_OP_CLOSED, 1, 0, 0 },
			ERR_OP_CLOSED },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_OP_TIMEOUT, 0, 0, 0 }, ERR_OP_TIMEOUT },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_OP_CLOSED, 1, 0, 0 }, ERR_OP_CLOSED },
		/* it may be there, and cannot be looked at */
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_FILE_LOOP, 0, 0, 0 }, ERR_FILE_LOOP },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_FILE_DENIED, 0, 0, 0 },
			ERR_FILE_DENIED },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_FILE_SERVER, 0, 0, 0 },
			ERR_FILE_SERVER },
		{ 1, "f", "x", "x->", { BOX_STAT, "x", ERR_FILE_LOOP, 0, 0, 0 },
			ERR_FILE_EXISTS },
		{ 1, "d", "x", "", { BOX_STAT, "x", ERR_FILE_LOOP, 0, 0, 0 }, ERR_FILE_LOOP },
		/* the job's own look */
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_OP_TIMEOUT, 0, 0, 1 }, ERR_OP_TIMEOUT },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_OP_CLOSED, 1, 0, 1 }, ERR_OP_CLOSED },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_FILE_DENIED, 0, 0, 1 },
			ERR_FILE_DENIED },
		/* did it arrive? */
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_FILE_DENIED, 0, 0, 2 },
			ERR_FILE_DENIED },
		{ 1, "f", "x", "", { BOX_STAT, "x", ERR_OP_CLOSED, 1, 0, 2 }, ERR_OP_CLOSED },
		{ 1, "f", "x", "", { BOX_WRITE, "x", ERR_FILE_NO_SPACE, 0, 0, 0 },
			ERR_FILE_NO_SPACE },
		{ 1, "f", "x", "", { BOX_WRITE, "x", ERR_OP_READ_ONLY, 1, 0, 0 },
			ERR_OP_READ_ONLY },
		/* links that cannot be asked about are none */
		{ 1, "f", "x", "", { BOX_LINKS, "x", ERR_PROC_DENIED, 0, 0, 0 }, ERR_NONE },
		{ 1, "f", "x", "", { BOX_LINKS, "x", ERR_OP_CLOSED, 1, 0, 0 }, ERR_NONE },
		{ 1, "d", "x", "", { BOX_LINKS, "x", ERR_PROC_DENIED, 0, 0, 0 }, ERR_NONE },
		{ 1, "d", "x", "", { BOX_LINKS, "x", ERR_OP_CLOSED, 1, 0, 0 }, ERR_NONE },
		{ 1, "d", "x", "x/", { BOX_STAT, "x/d", ERR_FILE_DENIED, 0, 0, 0 },
			ERR_FILE_DENIED },
		{ 1, "d", "x", "x/", { BOX_STAT, "x/d", ERR_OP_CLOSED, 1, 0, 0 },
			ERR_OP_CLOSED },
		{ 1, "d", "x", "x/", { BOX_LINKS, "x/d", ERR_PROC_DENIED, 0, 0, 0 }, ERR_NONE },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		box_fill(&box, rows[i].there);
		here_fill("f=five d/ d/f=hello");
		box.faults[0] = rows[i].fault;
		struct transfer_opts opts =
			rows[i].is_upload
				? copy_opts(NULL, here(rows[i].from), &box, rows[i].to)
				: copy_opts(&box, rows[i].from, NULL, here(rows[i].to));
		copy_run(&opts);
		if (copy.code != rows[i].code)
			fail_msg("row %zu: %d %s", i, (int)copy.code, copy.msg);
		if (copy.code == ERR_NONE)
			assert_int_equal(copy.end.files_done, 1);
		else
			assert_int_equal(copy.end.files_failed, 1);
		if (copy.code != ERR_NONE && !rows[i].is_upload)
			assert_string_equal(here_text(), "d/ d/f=hello f=five");
		here_clear();
		box_clear(&box);
	}
}

static void streams_have_no_name(void **state)
{
	static const struct {
		bool is_upload;
		const char *path;
		enum err_code code;
		const char *msg;
	} rows[] = {
		{ 1, "x", ERR_NONE, NULL },
		{ 1, "d/x", ERR_NONE, NULL },
		{ 1, "d", ERR_ARG_INVALID, "d: name the file to write" },
		{ 1, "new/", ERR_ARG_INVALID, "new/: name the file to write" },
		{ 1, ".", ERR_ARG_INVALID, ".: name the file to write" },
		{ 0, "f", ERR_NONE, NULL },
		{ 0, "d", ERR_FILE_IS_DIR, "a folder cannot go to a stream" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int ends[2];
		char got[10] = "";
		assert_int_equal(pipe(ends), 0);
		box_fill(&box, "d/ d/f=hello f=five");
		struct transfer_opts opts = rows[i].is_upload
						    ? copy_opts(NULL, NULL, &box, rows[i].path)
						    : copy_opts(&box, rows[i].path, NULL, NULL);
		if (rows[i].is_upload) {
			assert_int_equal(write(ends[1], "text", 4), 4);
			close(ends[1]);
			opts.from.fd = ends[0];
		} else {
			opts.to.fd = ends[1];
		}
		copy_run(&opts);
		assert_int_equal(copy.code, rows[i].code);
		if (rows[i].msg)
			assert_string_equal(copy.msg, rows[i].msg);
		else
			assert_int_equal(copy.end.bytes_done, 4);
		if (!rows[i].is_upload) {
			close(ends[1]);
			assert_int_equal(read(ends[0], got, sizeof got), rows[i].code ? 0 : 4);
			assert_string_equal(got, rows[i].code ? "" : "five");
		} else if (!rows[i].code) {
			assert_string_equal(box_find(&box, rows[i].path)->body, "text");
			assert_true(
				box_logged(&box, "-1 bytes\n")); /* its length is not known */
		}
		close(ends[0]);
		box_clear(&box);
	}
}

static void ends_that_cannot_be(void **state)
{
	static const struct {
		bool is_from_remote, is_to_remote;
		const char *from, *to;
		enum err_code code;
		const char *msg;
	} rows[] = {
		{ 0, 0, "a", "b", ERR_OP_UNSUPPORTED, "neither end is in a sandbox" },
		{ 1, 0, "../x", "b", ERR_ARG_PATH, NULL },
		{ 0, 1, "a", "x/../../y", ERR_ARG_PATH, NULL },
		{ 0, 1, "", "b", ERR_ARG_INVALID, "an empty path" },
		{ 1, 0, "a", "", ERR_ARG_INVALID, "an empty path" },
		{ 1, 0, "a", NULL, ERR_ARG_INVALID, "an empty path" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct transfer_opts opts = copy_opts(rows[i].is_from_remote ? &box : NULL,
			rows[i].from, rows[i].is_to_remote ? &box : NULL, rows[i].to);
		copy_begin(&opts);
		assert_null(copy.transfer);
		assert_int_equal(copy.code, rows[i].code);
		if (rows[i].msg)
			assert_string_equal(copy.msg, rows[i].msg);
		box_turns(2);
		assert_int_equal(copy.n_done, 0);
	}
	/* a device as the target, a socket as the source */
	assert_int_equal(mkfifo(here("pipe"), 0600), 0);
	box_fill(&box, "f=five");
	struct transfer_opts opts = copy_opts(&box, "f", NULL, here("pipe"));
	copy_run(&opts);
	assert_int_equal(copy.code, ERR_FILE_DENIED);
	assert_non_null(strstr(copy.msg, "pipe is neither a file nor a folder"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(downloads),
		BOX_TEST(uploads),
		BOX_TEST(from_sandbox_to_sandbox),
		BOX_TEST(what_is_asked),
		BOX_TEST(looks_that_fail),
		BOX_TEST(streams_have_no_name),
		BOX_TEST(ends_that_cannot_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
