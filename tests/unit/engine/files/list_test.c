// SPDX-License-Identifier: Apache-2.0
/* The local disk: what a listing says of each kind, one entry, new folders, plans and removal. */
#include "tests/unit/engine/transfer/box.h"

#include "engine/base/mem.h"
#include "engine/files/files.h"
#include "engine/files/folder.h"
#include "engine/files/removal.h"

static const struct files_place local = { 0 };

static struct told {
	int n;
	enum err_code code;
	char msg[ERR_MESSAGE_BYTES];
	struct files_listing listing;
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
	assert_ptr_equal(arg, &told);
	take_err(err);
	told.listing = *listing;
	*listing = (struct files_listing){ 0 };
}

static void on_stat(void *arg, const struct err *err, const struct files_entry *entry)
{
	assert_ptr_equal(arg, &told);
	take_err(err);
	if (entry)
		told.entry = *entry;
}

static void on_made(void *arg, const struct err *err)
{
	assert_ptr_equal(arg, &told);
	take_err(err);
}

static void on_planned(void *arg, const struct err *err, const struct files_plan *plan)
{
	assert_ptr_equal(arg, &told);
	take_err(err);
	told.plan = plan;
}

static void on_removed(void *arg, const struct files_result *result)
{
	assert_ptr_equal(arg, &told);
	take_err(result->n_failed ? &result->first : NULL);
	told.result = *result;
}

static void forget(void)
{
	files_listing_clear(&told.listing);
	told = (struct told){ 0 };
}

static const struct files_entry *entry_named(const char *name)
{
	for (size_t i = 0; i < told.listing.n; i++)
		if (strcmp(told.listing.entries[i].name, name) == 0)
			return &told.listing.entries[i];
	fail_msg("no %s", name);
	return NULL;
}

static void list(const char *path)
{
	forget();
	files_list_start(box_loop, &local, path, NULL, on_listed, &told);
	assert_int_equal(told.n, 0); /* never from inside the start */
	BOX_UNTIL(told.n);
}

static void each_kind(void **state)
{
	(void)state;
	here_fill("d/ d/f=text d/sub/ d/link->f d/folder->sub d/lost->nothing d/.hidden=");
	assert_int_equal(mkfifo(here("d/pipe"), 0640), 0);
	assert_int_equal(chmod(here("d/f"), 04751), 0);
	list(here("d"));
	assert_int_equal(told.code, ERR_NONE);
	assert_int_equal(told.listing.n, 7);
	assert_int_equal(entry_named("f")->kind, FILES_PLAIN);
	assert_int_equal(entry_named("f")->size_bytes, 4);
	assert_int_equal(entry_named("f")->mode, 04751);
	assert_true(entry_named("f")->modified_s > 1000000000);
	assert_int_equal(entry_named("sub")->kind, FILES_FOLDER);
	assert_int_equal(entry_named("link")->kind, FILES_LINK);
	assert_int_equal(entry_named("folder")->kind, FILES_LINK_FOLDER);
	assert_int_equal(entry_named("lost")->kind, FILES_LINK_BROKEN);
	assert_int_equal(entry_named("pipe")->kind, FILES_FIFO);
	assert_int_equal(entry_named("pipe")->mode, 0640);
	list("/dev");
	assert_int_equal(entry_named("null")->kind, FILES_DEVICE);
	list(here("missing"));
	assert_int_equal(told.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(told.listing.n, 0);
	list(here("d/f"));
	assert_int_equal(told.code, ERR_FILE_NOT_DIR);
	list(here("d/pipe")); /* opening it would hang */
	assert_int_equal(told.code, ERR_FILE_NOT_DIR);
	forget();
}

static void many_names(void **state)
{
	enum { N = 3000 };
	char name[300];
	bool is_there[N] = { false };
	(void)state;
	for (int i = 0; i < N; i++) {
		snprintf(name, sizeof name, "%04d%0*d", i, i % 200 + 1, 7);
		here_put(name, "");
	}
	list(here(""));
	assert_int_equal(told.listing.n, N);
	for (size_t i = 0; i < N; i++) {
		const char *is = told.listing.entries[i].name;
		int number = (is[0] - '0') * 1000 + (is[1] - '0') * 100 + (is[2] - '0') * 10 +
			     is[3] - '0';
		snprintf(name, sizeof name, "%04d%0*d", number, number % 200 + 1, 7);
		assert_string_equal(is, name);
		assert_false(is_there[number]);
		is_there[number] = true;
	}
	forget();
}

static void one_entry(void **state)
{
	(void)state;
	here_fill("f=text d/ link->f lost->nothing");
	static const struct {
		const char *name;
		enum err_code code;
		enum files_kind kind;
	} rows[] = { { "f", 0, FILES_PLAIN }, { "d", 0, FILES_FOLDER },
		{ "link", 0, FILES_PLAIN }, /* followed */
		{ "lost", ERR_FILE_NOT_FOUND, 0 }, { "none", ERR_FILE_NOT_FOUND, 0 } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		forget();
		files_stat_start(box_loop, &local, here(rows[i].name), on_stat, &told);
		assert_int_equal(told.n, 0);
		BOX_UNTIL(told.n);
		assert_int_equal(told.code, rows[i].code);
		assert_int_equal(told.entry.kind, rows[i].kind);
		if (!rows[i].code && rows[i].kind == FILES_PLAIN)
			assert_int_equal(told.entry.size_bytes, 4);
	}
}

static void a_new_folder(void **state)
{
	struct err err = { 0 };
	struct stat st;
	(void)state;
	forget();
	assert_non_null(files_mkdir_start(box_loop, &local, here("new"), on_made, &told, &err));
	assert_int_equal(told.n, 0);
	BOX_UNTIL(told.n);
	assert_int_equal(told.code, ERR_NONE);
	assert_int_equal(stat(here("new"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755); /* the umask */
	forget();
	files_mkdir_start(box_loop, &local, here("new"), on_made, &told, &err);
	BOX_UNTIL(told.n);
	assert_int_equal(told.code, ERR_FILE_EXISTS);
	forget();
	files_mkdir_start(box_loop, &local, here("no/such"), on_made, &told, &err);
	BOX_UNTIL(told.n);
	assert_int_equal(told.code, ERR_FILE_NOT_FOUND);
}

/* Entries of the folder, planned; and removed when told so. */
static struct files_removal *plan(const struct files_entry *const *entries, size_t n)
{
	struct err err = { 0 };
	forget();
	struct files_removal *removal = files_removal_plan_start(
		box_loop, &local, here(""), entries, n, on_planned, &told, &err);
	assert_non_null(removal);
	assert_int_equal(told.n, 0);
	BOX_UNTIL(told.n);
	return removal;
}

static void planned_and_removed(void **state)
{
	static const struct files_entry tree = { .name = "t", .kind = FILES_FOLDER },
					link = { .name = "link", .kind = FILES_LINK },
					gone = { .name = "gone", .size_bytes = 7 };
	const struct files_entry *const entries[] = { &tree, &link, &gone };
	(void)state;
	here_fill("kept=1 link->kept t/ t/a=1234 t/u/ t/u/b=56 t/u/out->../../kept");
	struct files_removal *removal = plan(entries, 3);
	assert_int_equal(told.code, ERR_NONE);
	assert_true(told.plan->is_counted);
	assert_false(told.plan->follows_links);
	assert_int_equal(told.plan->n, 3);
	assert_string_equal(told.plan->targets[0].name, "t");
	assert_true(told.plan->targets[0].is_folder);
	assert_true(told.plan->targets[1].is_link);
	assert_int_equal(told.plan->totals.files, 2);
	assert_int_equal(told.plan->totals.folders, 2);
	assert_int_equal(told.plan->totals.links, 2);
	assert_int_equal(told.plan->totals.bytes, 6);
	assert_int_equal(files_removal_n_gone(removal), 0);
	assert_int_equal(access(here("t/u/b"), F_OK), 0); /* nothing yet */
	forget();
	files_removal_start(removal, &local, on_removed, &told);
	assert_int_equal(told.n, 0);
	BOX_UNTIL(told.n);
	assert_int_equal(told.code, ERR_NONE);
	assert_int_equal(told.result.n_removed, 3);
	assert_string_equal(here_text(), "kept=1");
	files_removal_free(removal);
}

static void what_cannot_be_removed(void **state)
{
	static const struct files_entry tree = { .name = "t", .kind = FILES_FOLDER };
	static const struct files_entry no_name = { .name = "../t" };
	const struct files_entry *const entries[] = { &tree };
	const struct files_entry *const bad[] = { &no_name };
	struct err err = { 0 };
	(void)state;
	assert_null(files_removal_plan_start(
		box_loop, &local, here(""), entries, 0, on_planned, &told, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	assert_null(files_removal_plan_start(
		box_loop, &local, here(""), bad, 1, on_planned, &told, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	/* the folder goes away while the question is open */
	here_fill("d/ d/t/ d/t/a=1");
	forget();
	struct files_removal *removal = files_removal_plan_start(
		box_loop, &local, here("d"), entries, 1, on_planned, &told, &err);
	BOX_UNTIL(told.n);
	assert_int_equal(rename(here("d"), here("e")), 0);
	forget();
	files_removal_start(removal, &local, on_removed, &told);
	BOX_UNTIL(told.n);
	assert_int_equal(told.result.n_failed, 1);
	assert_int_equal(told.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(told.result.n_removed, 0);
	files_removal_free(removal);
	assert_string_equal(here_text(), "e/ e/t/ e/t/a=1");
}

/* ---- a folder, some entries at a time */
static struct walked {
	int n_calls;
	size_t n, most;
	bool is_last;
	enum err_code code;
	bool is_there[600];
} walked;

static void on_entries(void *arg, const struct err *err,
	const struct files_folder_entry *entries, size_t n, bool is_last)
{
	assert_ptr_equal(arg, &walked);
	walked.n_calls++;
	walked.code = err ? err->code : ERR_NONE;
	walked.is_last = is_last;
	walked.most = n > walked.most ? n : walked.most;
	for (size_t i = 0; i < n; i++) {
		int number = (int)strtol(entries[i].name, NULL, 10);
		assert_int_equal(entries[i].error, 0);
		assert_int_equal(entries[i].st.st_size, number % 3);
		assert_false(walked.is_there[number]);
		walked.is_there[number] = true;
	}
	walked.n += n;
}

static struct files_folder *open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	struct files_folder *folder = files_folder_new(box_loop, fd, NULL);
	close(fd); /* it has its own */
	walked = (struct walked){ 0 };
	return folder;
}

static void some_entries_at_a_time(void **state)
{
	static const char *const text[] = { "", "1", "12" };
	char name[20];
	(void)state;
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof name, "%d", i);
		here_put(name, text[i % 3]);
	}
	struct files_folder *folder = open_folder(here(""));
	while (!walked.is_last) {
		int before = walked.n_calls;
		files_folder_next(folder, on_entries, &walked);
		assert_int_equal(walked.n_calls, before);
		BOX_UNTIL(walked.n_calls > before);
	}
	assert_int_equal(walked.n, 600);
	assert_true(walked.n_calls > 2 && walked.most < 600);
	files_folder_free(folder);
	/* given up between calls, and in one */
	folder = open_folder(here(""));
	files_folder_next(folder, on_entries, &walked);
	BOX_UNTIL(walked.n_calls == 1);
	files_folder_free(folder);
	folder = open_folder(here(""));
	files_folder_next(folder, on_entries, &walked);
	files_folder_free(folder);
	box_turns(3);
	assert_int_equal(walked.n_calls, 0);
	folder = open_folder(here("0"));
	files_folder_next(folder, on_entries, &walked);
	BOX_UNTIL(walked.n_calls == 1);
	assert_int_equal(walked.code, ERR_FILE_NOT_DIR);
	assert_true(walked.is_last);
	files_folder_free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOX_TEST(each_kind),
		BOX_TEST(many_names),
		BOX_TEST(one_entry),
		BOX_TEST(a_new_folder),
		BOX_TEST(planned_and_removed),
		BOX_TEST(what_cannot_be_removed),
		BOX_TEST(some_entries_at_a_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
