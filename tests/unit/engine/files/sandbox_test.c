// SPDX-License-Identifier: Apache-2.0
/* The same in a sandbox: what its daemon is asked, which programs are run there with which arguments, and what is made of
 * their answers. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/base/mem.h"
#include "engine/files/files.h"
#include "engine/files/removal.h"

static const struct files_place there = { .runtime = &box };

static struct told {
	int n, n_unseen;
	enum err_code code;
	char msg[ERR_MESSAGE_BYTES], path[300], entries[1000];
	size_t n_hidden;
	struct files_entry entry;
	struct files_result result;
	const struct files_plan *plan;
} told;

static void take_err(const struct err *err)
{
	told.n++;
	told.code = err ? err->code : ERR_NONE;
	snprintf(told.msg, sizeof told.msg, "%s", err ? err->msg : "");
}

static void on_listed(void *arg, const struct err *err, struct files_listing *listing)
{
	(void)arg;
	take_err(err);
	told.n_hidden = listing->n_hidden;
	for (size_t i = 0; i < listing->n; i++) {
		const struct files_entry *entry = &listing->entries[i];
		size_t used = strlen(told.entries);
		snprintf(told.entries + used, sizeof told.entries - used, "%s%s:%lld:%o ",
			entry->name, entry->kind == FILES_FOLDER ? "/" : "",
			(long long)entry->size_bytes, (unsigned)entry->mode);
	}
}

static void on_stat(void *arg, const struct err *err, const struct files_entry *entry)
{
	(void)arg;
	take_err(err);
	if (entry)
		told.entry = *entry;
}

static void on_end(void *arg, const struct err *err)
{
	(void)arg;
	take_err(err);
}

static void on_path(void *arg, const struct err *err, const char *path)
{
	(void)arg;
	take_err(err);
	snprintf(told.path, sizeof told.path, "%s", path ? path : "(none)");
}

static void on_planned(void *arg, const struct err *err, const struct files_plan *plan)
{
	(void)arg;
	take_err(err);
	told.plan = plan;
}

static void on_removed(void *arg, const struct files_result *result)
{
	(void)arg;
	take_err(result->n_failed ? &result->first : NULL);
	told.result = *result;
}

static void on_unseen(void *arg, const struct err *why)
{
	(void)arg;
	told.n_unseen++;
	assert_int_not_equal(why->code, ERR_NONE);
}

static void forget(void)
{
	told = (struct told){ 0 };
	str_deinit(&box.log);
	str_init(&box.log, BOX_LOG_BYTES);
}

#define TOLD()                                                                                 \
	do {                                                                                   \
		assert_int_equal(told.n, 0); /* never from inside the start */                 \
		BOX_UNTIL(told.n);                                                             \
		box_turns(2);                                                                  \
		assert_int_equal(told.n, 1);                                                   \
	} while (0)

/* ---- programs of the sandbox */
static struct box_answer says[4]; /* by the program: pwd, mkdir, rm, find */
static void run(const char *const *argv, struct box_answer *answer)
{
	static const char *const names[] = { "pwd", "mkdir", "rm", "find" };
	for (size_t i = 0; i < COUNT(names); i++)
		if (strcmp(argv[0], names[i]) == 0)
			*answer = says[i];
}
enum { PWD, MKDIR, RM, FIND };

static void with_programs(void)
{
	memset(says, 0, sizeof says);
	box.execute = run;
}

/* ---- */
static void listings(void **state)
{
	(void)state;
	box_fill(&box, "d/ d/f=text d/sub/");
	forget();
	files_list_start(box_loop, &there, "d", NULL, on_listed, NULL);
	TOLD();
	assert_int_equal(told.code, ERR_NONE);
	assert_non_null(strstr(told.entries, "f:4:"));
	assert_non_null(strstr(told.entries, "sub/:"));
	forget();
	files_list_start(box_loop, &there, "none", NULL, on_listed, NULL);
	TOLD();
	assert_int_equal(told.code, ERR_FILE_NOT_FOUND);
	/* what is refused at once is told in a turn of its own */
	box.faults[0] = (struct box_fault){
		.call = BOX_LIST, .code = ERR_OP_READ_ONLY, .at_start = true
	};
	forget();
	files_list_start(box_loop, &there, "d", NULL, on_listed, NULL);
	TOLD();
	assert_int_equal(told.code, ERR_OP_READ_ONLY);
	box.faults[0] = (struct box_fault){ 0 };
	forget();
	files_cancel(files_list_start(box_loop, &there, "d", NULL, on_listed, NULL));
	box_turns(3);
	assert_int_equal(told.n, 0);
}

static void one_entry(void **state)
{
	(void)state;
	box_fill(&box, "f=text d/");
	forget();
	files_stat_start(box_loop, &there, "f", on_stat, NULL);
	TOLD();
	assert_int_equal(told.entry.kind, FILES_PLAIN);
	assert_int_equal(told.entry.size_bytes, 4);
	forget();
	files_stat_start(box_loop, &there, "d", on_stat, NULL);
	TOLD();
	assert_int_equal(told.entry.kind, FILES_FOLDER);
	forget();
	files_stat_start(box_loop, &there, "none", on_stat, NULL);
	TOLD();
	assert_int_equal(told.code, ERR_FILE_NOT_FOUND);
}

static void new_folders(void **state)
{
	struct err err = { 0 };
	(void)state;
	with_programs();
	forget();
	assert_non_null(files_mkdir_start(box_loop, &there, "-p/x y", on_end, NULL, &err));
	TOLD();
	assert_int_equal(told.code, ERR_NONE);
	assert_true(box_logged(&box, "execute mkdir -- ./-p/x y"));
	says[MKDIR] = (struct box_answer){ .exit_code = 1, .err_out = "it exists" };
	forget();
	assert_non_null(files_mkdir_start(box_loop, &there, "x", on_end, NULL, &err));
	TOLD();
	assert_int_equal(told.code, ERR_FILE_SERVER);
	assert_string_equal(told.msg, "it exists");
	box.has_no_processes = true;
	assert_null(files_mkdir_start(box_loop, &there, "x", on_end, NULL, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
}

static void paths_as_they_are_said(void **state)
{
	static const struct {
		const char *root; /* what pwd says; NULL: there is none */
		const char *said, *path;
	} rows[] = {
		{ "/workspace\n", "a/b", "a/b" },
		{ "/workspace\n", "/workspace/a/b", "a/b" },
		{ "/workspace\n", "/workspace", "" },
		{ "/workspace\n", "/workspace//a", "a" },
		{ "/workspace\n", "/workspaces/a", "(none)" },
		{ "/home/me\r\n", "/home/me/x", "x" },
		{ "/\n", "/etc/passwd", "etc/passwd" },
		{ "nonsense", "/workspace/x", "x" },
		{ NULL, "/workspace/x", "x" },
		{ NULL, "/else/x", "(none)" },
	};
	(void)state;
	with_programs();
	for (size_t i = 0; i < COUNT(rows); i++) {
		says[PWD] = (struct box_answer){ 0 };
		box.has_no_processes = !rows[i].root;
		if (rows[i].root)
			snprintf(says[PWD].out, sizeof says[PWD].out, "%s", rows[i].root);
		forget();
		files_path_start(box_loop, &box, rows[i].said, on_path, NULL);
		TOLD();
		assert_string_equal(told.path, rows[i].path);
		assert_int_equal(told.code,
			strcmp(rows[i].path, "(none)") == 0 ? ERR_ARG_PATH : ERR_NONE);
	}
}

/* ---- removal */
static const struct files_entry tree = { .name = "t", .kind = FILES_FOLDER },
				link_entry = { .name = "-l" },
				file = { .name = "f", .size_bytes = 3 };
static const struct files_entry *const entries[] = { &tree, &link_entry, &file };

static struct files_removal *plan(void)
{
	struct err err = { 0 };
	forget();
	struct files_removal *removal = files_removal_plan_start(
		box_loop, &there, "d", entries, 3, on_planned, NULL, &err);
	assert_non_null(removal);
	TOLD();
	return removal;
}

static void go(struct files_removal *removal)
{
	forget();
	files_removal_start(removal, &there, on_removed, NULL);
	TOLD();
	files_removal_free(removal);
}

static void by_the_sandboxs_own_rm(void **state)
{
	(void)state;
	with_programs();
	snprintf(says[FIND].out, sizeof says[FIND].out,
		"0 d 4096\n1 f 10\n1 d 4096\n2 l 5\n0 l 9\n0 f 3\n");
	struct files_removal *removal = plan();
	assert_int_equal(told.code, ERR_NONE);
	assert_true(box_logged(&box, "execute find ./d/t ./d/-l ./d/f -printf %d %y %s\n"));
	assert_true(told.plan->is_counted);
	assert_false(told.plan->follows_links);
	assert_int_equal(told.plan->totals.files, 2);
	assert_int_equal(told.plan->totals.folders, 2);
	assert_int_equal(told.plan->totals.links, 2);
	assert_int_equal(told.plan->totals.bytes, 13);
	assert_false(told.plan->targets[0].is_link);
	assert_true(told.plan->targets[1].is_link); /* a listing does not tell */
	go(removal);
	assert_int_equal(told.code, ERR_NONE);
	assert_int_equal(told.result.n_removed, 3);
	assert_true(box_logged(&box, "execute rm -rf -- ./d/t ./d/-l ./d/f"));
	/* what rm says */
	removal = plan();
	says[RM] = (struct box_answer){ .exit_code = 1,
		.err_out = "rm: cannot remove './d/t': Permission denied\nrm: more\n" };
	go(removal);
	assert_int_equal(told.code, ERR_FILE_DENIED);
	assert_string_equal(told.msg, "rm: cannot remove './d/t': Permission denied");
	assert_int_equal(told.result.n_removed, 0);
	removal = plan();
	says[RM] = (struct box_answer){ .exit_code = 3 };
	go(removal);
	assert_string_equal(told.msg, "rm ended with 3");
}

static void what_cannot_be_counted(void **state)
{
	static const char *const outs[] = { "", "0 d 1\n0 l 1\n",
		"0 d 1\n0 l 1\n0 f 1\n0 f 1\n", "nonsense\n", "0 d 1\n0 f\n",
		"0 d 111111111111111111111111111111111111111111111111111111111111111111111\n" };
	(void)state;
	with_programs();
	for (size_t i = 0; i < COUNT(outs) + 1; i++) {
		says[FIND] = (struct box_answer){ 0 };
		if (i < COUNT(outs))
			snprintf(says[FIND].out, sizeof says[FIND].out, "%s", outs[i]);
		else
			says[FIND].code = ERR_PROC_COMMAND_NOT_FOUND;
		struct files_removal *removal = plan();
		assert_int_equal(told.code, ERR_NONE);
		assert_false(told.plan->is_counted);
		assert_false(told.plan->follows_links);
		assert_false(told.plan->targets[1].is_link);
		files_removal_free(removal);
	}
}

static void by_the_daemon_where_there_is_no_rm(void **state)
{
	(void)state;
	box_fill(&box, "d/ d/t/ d/-l=1 d/f=one");
	with_programs();
	says[RM].code = ERR_PROC_COMMAND_NOT_FOUND;
	for (int i = 0; i < 2; i++) {
		box.has_no_processes = i;
		struct files_removal *removal = plan();
		assert_int_equal(told.code, ERR_NONE);
		assert_true(told.plan->follows_links);
		assert_false(told.plan->is_counted);
		assert_false(
			box_logged(&box, "execute find ./d/t ./d/-l ./d/f -printf %d %y %s\n"));
		go(removal); /* the second time they have gone already, as was wanted */
		assert_int_equal(told.code, ERR_NONE);
		assert_int_equal(told.result.n_removed, 3);
		assert_true(box_logged(&box, "delete d/t and all in it"));
		assert_true(box_logged(&box, "delete d/f"));
	}
	assert_string_equal(box_text(&box), "d/");
}

static void nothing_is_removed_when_it_cannot_be_planned(void **state)
{
	struct err err = { 0 };
	(void)state;
	with_programs();
	says[RM].code = ERR_CONN_LOST;
	struct files_removal *removal = plan();
	assert_int_equal(told.code, ERR_CONN_LOST);
	files_removal_free(removal);
	box.faults[0] = (struct box_fault){
		.call = BOX_EXECUTE, .code = ERR_OP_READ_ONLY, .at_start = true
	};
	assert_null(files_removal_plan_start(
		box_loop, &there, "d", entries, 3, on_planned, NULL, &err));
	assert_int_equal(err.code, ERR_OP_READ_ONLY);
}

/* Some paths a call: neither too many nor too long. */
static void many_targets(void **state)
{
	enum { N = 500 };
	static struct files_entry many[N];
	static char names[N][200];
	const struct files_entry *all[N];
	struct err err = { 0 };
	(void)state;
	with_programs();
	for (int i = 0; i < N; i++) {
		snprintf(names[i], sizeof names[i], "%0180d", i);
		many[i] = (struct files_entry){ .name = names[i] };
		all[i] = &many[i];
	}
	forget();
	struct files_removal *removal =
		files_removal_plan_start(box_loop, &there, "", all, N, on_planned, NULL, &err);
	TOLD();
	assert_false(told.plan->is_counted); /* too many for one find */
	go(removal);
	assert_int_equal(told.result.n_removed, N);
	assert_int_equal(box_times(&box, "execute rm"), 3);
}

static void one_path(void **state)
{
	(void)state;
	box_fill(&box, "f=one l->nowhere d/ d/x=1");
	with_programs();
	static const struct {
		const char *path;
		bool recursive, has_no_processes;
		enum err_code code;
		const char *does;
		int n_unseen;
	} rows[] = {
		{ "f", false, false, 0, "delete f", 0 },
		{ "l", false, false, 0, "execute rm -f -- ./l", 0 },
		{ "d", true, false, 0, "delete d and all in it", 0 },
		{ "f", false, true, 0, "delete f", 0 }, /* nobody to ask */
		{ "", true, false, ERR_ARG_PATH, NULL, 0 },
		{ "../f", true, false, ERR_ARG_PATH, NULL, 0 },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		box.has_no_processes = rows[i].has_no_processes;
		forget();
		files_remove_path_start(box_loop, &box, rows[i].path, rows[i].recursive,
			on_unseen, on_end, NULL);
		TOLD();
		assert_int_equal(told.code, rows[i].code);
		assert_int_equal(told.n_unseen, rows[i].n_unseen);
		if (rows[i].does)
			assert_true(box_logged(&box, rows[i].does));
		else
			assert_int_equal(box.log.n, 0);
	}
	box.has_no_processes = false;
	box.has_no_shell = true;
	box_fill(&box, "g=1");
	forget();
	files_remove_path_start(box_loop, &box, "g", false, on_unseen, on_end, NULL);
	TOLD();
	assert_int_equal(told.code, ERR_NONE);
	assert_int_equal(told.n_unseen, 1); /* the daemon may follow a link */
	assert_true(box_logged(&box, "delete g"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(listings),
		BOX_TEST(one_entry),
		BOX_TEST(new_folders),
		BOX_TEST(paths_as_they_are_said),
		BOX_TEST(by_the_sandboxs_own_rm),
		BOX_TEST(what_cannot_be_counted),
		BOX_TEST(by_the_daemon_where_there_is_no_rm),
		BOX_TEST(nothing_is_removed_when_it_cannot_be_planned),
		BOX_TEST(many_targets),
		BOX_TEST(one_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
