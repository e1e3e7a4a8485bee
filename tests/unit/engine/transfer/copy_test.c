// SPDX-License-Identifier: Apache-2.0
/* Copies between a temporary folder and a daemon whose files are a table here, with hostile names, cuts at every
 * stage and changes under way. After each failure: the old file or none, and no temp file. */
#include "engine/transfer/transfer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/base/settings.h"
#include "tests/unit/engine/runtime/rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the daemon */
struct entry {
	const char *path;    /* percent-encoded as in the URL */
	const char *listing; /* a folder: its JSON; or NULL */
	const char *body;
};
static const struct entry *tree;
static int cut_after = -1; /* bytes of a body before the connection is cut */
static const char *mtime = "Fri, 02 Jan 2026 03:04:05 GMT";
static bool changes_after_read, refuses_puts;
/* after the first whole read: how many bytes more HEAD and GET tell; -1: it is gone */
static int grows_by, grown_by;
static struct put {
	char path[256];
	char body[64];
	size_t n;
} puts_seen[64];
static int n_puts, n_deletes;
static int shrinks_fd; /* cut when the daemon has seen the head of a PUT */

static const struct entry *find(const char *path)
{
	for (const struct entry *entry = tree; entry && entry->path; entry++)
		if (strcmp(entry->path, path) == 0)
			return entry;
	/* a folder that contains itself, for ever */
	const char *last = strrchr(path, '/');
	if (tree && tree[0].listing && strstr(tree[0].listing, "\"loop\"") &&
		strcmp(last ? last + 1 : path, "loop") == 0)
		return &tree[0];
	return NULL;
}

static void get(struct fake_request *request, const struct entry *entry)
{
	char head[512];
	size_t n;

	if (entry->listing) {
		fake_json(request, "200 OK", entry->listing);
		return;
	}
	n = strlen(entry->body);
	if (grown_by < 0) {
		fake_json(request, "404 Not Found",
			"{\"code\":\"NOT_FOUND\",\"message\":\"gone\"}");
		return;
	}
	char body[64];
	snprintf(body, sizeof body, "%s%.*s", entry->body, grown_by, "and more");
	n = strlen(body);
	snprintf(head, sizeof head,
		"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nLast-Modified: %s\r\n"
		"Content-Length: %zu\r\n\r\n",
		mtime, n);
	fake_text(request, head);
	if (strcmp(request->method, "HEAD") == 0)
		return;
	if (cut_after >= 0) {
		fake_send(request, body, (size_t)cut_after < n ? (size_t)cut_after : n);
		fake_close(request);
		return;
	}
	fake_text(request, body);
	grown_by = grows_by;
	if (changes_after_read)
		mtime = "Sat, 03 Jan 2026 03:04:05 GMT";
}

static const struct put *find_put(const char *path)
{
	for (int i = n_puts - 1; i >= 0; i--)
		if (strcmp(puts_seen[i].path, path) == 0)
			return &puts_seen[i];
	return NULL;
}

static void handle(struct fake_request *request, void *arg)
{
	char path[8192];

	(void)arg;
	snprintf(path, sizeof path, "%s", request->path + strlen("/v1/files/"));
	path[strcspn(path, "?")] = 0;
	if (request->is_headers_only) {
		assert_int_equal(ftruncate(shrinks_fd, 100), 0);
		fake_text(request, "HTTP/1.1 100 Continue\r\n\r\n");
		return;
	}
	if (strcmp(request->method, "PUT") == 0) {
		if (refuses_puts) {
			fake_json(request, "403 Forbidden",
				"{\"code\":\"PERMISSION_DENIED\",\"message\":\"no\"}");
			return;
		}
		struct put *put = &puts_seen[n_puts++ % 64];
		snprintf(put->path, sizeof put->path, "%.255s", path);
		put->n = request->body_n;
		snprintf(put->body, sizeof put->body, "%.*s", (int)request->body_n,
			request->body);
		fake_text(request, "HTTP/1.1 204 No Content\r\n\r\n");
		return;
	}
	if (strcmp(request->method, "DELETE") == 0) {
		n_deletes++;
		fake_text(request, "HTTP/1.1 204 No Content\r\n\r\n");
		return;
	}
	const struct entry *entry = find(path);
	const struct put *put = find_put(path);
	if (entry) {
		get(request, entry);
	} else if (put) {
		char body[65];
		memset(body, 'x', sizeof body);
		fake_reply(request, "200 OK", "application/octet-stream", body, put->n);
	} else {
		fake_json(request, "404 Not Found",
			"{\"code\":\"NOT_FOUND\",\"message\":\"gone\"}");
	}
}

/* ---- the rig */
static char folder[64];
static struct rig rig;
static struct transfer_progress last;
static struct transfer *transfer;
static int n_conflicts, n_notes, n_limits;
static enum transfer_note last_note;

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-copy-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("outside", 0755), 0);
	assert_int_equal(mkdir("in", 0755), 0);
	rig_open(&rig, handle, NULL);
	tree = NULL;
	cut_after = -1;
	n_puts = n_deletes = n_conflicts = 0;
	changes_after_read = refuses_puts = false;
	grows_by = grown_by = 0;
	n_notes = n_limits = 0;
	last_note = TRANSFER_NOTE_COUNT;
	mtime = "Fri, 02 Jan 2026 03:04:05 GMT";
	return 0;
}

static void remove_all(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			unlinkat(fd, entry->d_name, 0) < 0)
			remove_all(fd, entry->d_name);
	if (stream)
		closedir(stream);
	unlinkat(at, name, AT_REMOVEDIR);
}

static int tear_down(void **state)
{
	(void)state;
	rig_close(&rig);
	assert_int_equal(chdir("/"), 0);
	remove_all(AT_FDCWD, folder);
	return 0;
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void assert_file(const char *path, const char *text)
{
	char got[256] = "";
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, got, sizeof got - 1);
	close(fd);
	assert_int_equal(n, strlen(text));
	assert_string_equal(got, text);
}

/* How many entries a folder has; temp files are found by it too. */
static int count(const char *path)
{
	DIR *stream = opendir(path);
	int n = 0;

	assert_non_null(stream);
	while (readdir(stream))
		n++;
	closedir(stream);
	return n - 2;
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	(void)arg;
	last = *progress;
	last.current = NULL;
	transfer = NULL;
	rig_done(&rig, err);
}

static void on_conflict(void *arg, const char *target, int64_t existing, int64_t new_bytes)
{
	(void)arg;
	(void)target;
	(void)existing;
	(void)new_bytes;
	n_conflicts++;
}

static void on_note(void *arg, enum transfer_note note, const char *path, const char *text)
{
	(void)arg;
	assert_true(*path && *text);
	n_notes++;
	last_note = note;
}

static void on_limit(void *arg, uint64_t n)
{
	(void)arg;
	(void)n;
	n_limits++;
}

static struct transfer_opts base_opts(void)
{
	return (struct transfer_opts){
		.on_note = on_note,
		.from = { NULL, "", -1 },
		.to = { NULL, "", -1 },
		.conflict = TRANSFER_FAIL,
		.done = on_done,
	};
}

static void run(const struct transfer_opts *opts)
{
	struct err err = { 0 };

	rig.n_done = 0;
	transfer = transfer_start(rig.loop, opts, &err);
	if (!transfer)
		fail_msg("%s %s", err_name(&err), err.msg);
	rig_wait(&rig, 1);
}

static void download(
	const char *from, const char *to, bool recursive, enum transfer_conflict conflict)
{
	struct transfer_opts opts = base_opts();

	opts.from = (struct transfer_end){ rig.runtime, from, -1 };
	opts.to.path = to;
	opts.recursive = recursive;
	opts.conflict = conflict;
	run(&opts);
}

static void upload(
	const char *from, const char *to, bool recursive, enum transfer_conflict conflict)
{
	struct transfer_opts opts = base_opts();

	opts.from.path = from;
	opts.to = (struct transfer_end){ rig.runtime, to, -1 };
	opts.recursive = recursive;
	opts.conflict = conflict;
	run(&opts);
}

#define FILE_ENTRY(name)                                                                       \
	"{\"name\":\"" name "\",\"size\":5,\"type\":\"file\",\"mode\":\"0640\"}"
#define DIR_ENTRY(name)                                                                        \
	"{\"name\":\"" name "\",\"size\":0,\"type\":\"directory\",\"mode\":\"0755\"}"

/* ---- downloads */
static void a_file_arrives_with_its_mode(void **state)
{
	static const struct entry files[] = {
		{ "", "{\"entries\":[" FILE_ENTRY("a.txt") "]}", NULL },
		{ "a.txt", NULL, "hello" },
		{ 0 },
	};
	struct stat st;

	(void)state;
	tree = files;
	umask(022);
	download("a.txt", "in", false, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_file("in/a.txt", "hello");
	stat("in/a.txt", &st);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(last.files_done, 1);
	assert_int_equal(last.bytes_done, 5);
	assert_int_equal(last.bytes_total, 5);
	assert_int_equal(count("in"), 1);
}

static void every_cut_leaves_the_old_file(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };

	(void)state;
	tree = files;
	for (cut_after = 0; cut_after < 5; cut_after++) {
		put_file("in/a", "old");
		download("a", "in/a", false, TRANSFER_OVERWRITE);
		assert_int_equal(rig.err.code, ERR_CONN_LOST);
		assert_file("in/a", "old");
		assert_int_equal(count("in"), 1);
		/* what did not arrive is not counted */
		assert_int_equal(last.bytes_done, 0);
		assert_int_equal(last.bytes_total, 0);
	}
	cut_after = -1;
	download("a", "in/a", false, TRANSFER_OVERWRITE);
	assert_false(rig.failed);
	assert_file("in/a", "hello");
}

static void a_file_that_changes_under_way_is_refused(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };

	(void)state;
	tree = files;
	changes_after_read = true;
	download("a", "in/a", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_CHANGED);
	assert_int_equal(count("in"), 0);
}

static void hostile_names_stay_inside(void **state)
{
	static const struct entry files[] = {
		{ "t",
			"{\"entries\":[" FILE_ENTRY("../x") "," FILE_ENTRY("/etc/x") "," FILE_ENTRY("..") "," FILE_ENTRY("a\\u0000b") "," FILE_ENTRY("new\\nline") "," FILE_ENTRY(
				"\\u001b]0;x\\u0007") "," FILE_ENTRY("-rf") "," FILE_ENTRY("ok") "," DIR_ENTRY("..") "," DIR_ENTRY("d/../../x") "]}",
			NULL },
		{ "t/new%0Aline", NULL, "hello" },
		{ "t/%1B%5D0%3Bx%07", NULL, "hello" },
		{ "t/-rf", NULL, "hello" },
		{ "t/ok", NULL, "hello" },
		{ 0 },
	};

	(void)state;
	tree = files;
	download("t", "in", true, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_int_equal(count("in"), 1);
	assert_int_equal(count("in/t"), 4);
	assert_file("in/t/new\nline", "hello");
	assert_file("in/t/\x1b]0;x\x07", "hello");
	assert_file("in/t/-rf", "hello");
	assert_int_equal(last.files_done, 4);
	assert_int_equal(last.files_skipped, 6);
	assert_int_equal(count("outside"), 0);
	assert_int_equal(count("."), 2);
}

static void links_in_the_target_are_not_followed(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" DIR_ENTRY("link") "," FILE_ENTRY("file") "]}", NULL },
		{ "t/link", "{\"entries\":[" FILE_ENTRY("evil") "]}", NULL },
		{ "t/link/evil", NULL, "evil!" },
		{ "t/file", NULL, "hello" },
		{ 0 },
	};

	(void)state;
	tree = files;
	assert_int_equal(mkdir("in/t", 0755), 0);
	assert_int_equal(symlink("../../outside", "in/t/link"), 0);
	put_file("outside/secret", "old");
	assert_int_equal(symlink("../../outside/secret", "in/t/file"), 0);
	download("t", "in", true, TRANSFER_OVERWRITE);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_DIR);
	assert_int_equal(last.files_failed, 1);
	assert_int_equal(last.files_done, 1);
	assert_int_equal(count("outside"), 1);
	assert_file("outside/secret", "old");
	assert_file("in/t/file", "hello");
}

static void special_files_are_not_replaced(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct stat st;

	(void)state;
	tree = files;
	assert_int_equal(mkfifo("in/a", 0600), 0);
	download("a", "in", false, TRANSFER_OVERWRITE);
	assert_int_equal(rig.err.code, ERR_FILE_DENIED);
	lstat("in/a", &st);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(count("in"), 1);
	download("a", "in/a", false, TRANSFER_OVERWRITE);
	assert_int_equal(rig.err.code, ERR_FILE_DENIED);
}

static void an_endless_tree_ends(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" DIR_ENTRY("loop") "]}", NULL },
		{ 0 },
	};

	(void)state;
	tree = files;
	download("t", "in", true, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_LOOP);
}

static void folders_and_files_do_not_replace_each_other(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" FILE_ENTRY("x") "," DIR_ENTRY("y") "]}", NULL },
		{ "t/x", NULL, "hello" },
		{ "t/y", "{\"entries\":[]}", NULL },
		{ 0 },
	};

	(void)state;
	tree = files;
	assert_int_equal(mkdir("in/t", 0755), 0);
	assert_int_equal(mkdir("in/t/x", 0755), 0);
	put_file("in/t/y", "old");
	download("t", "in", true, TRANSFER_OVERWRITE);
	assert_true(rig.failed);
	assert_int_equal(last.files_failed, 2);
	assert_file("in/t/y", "old");
	assert_int_equal(count("in/t/x"), 0);
	assert_int_equal(count("in/t"), 2);
}

/* ---- conflicts */
static void each_policy_does_what_it_says(void **state)
{
	static const struct entry files[] = { { "a.txt", NULL, "hello" }, { 0 } };

	(void)state;
	tree = files;
	put_file("in/a.txt", "old");
	download("a.txt", "in", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_EXISTS);
	assert_file("in/a.txt", "old");
	download("a.txt", "in", false, TRANSFER_ASK); /* nobody to ask */
	assert_int_equal(rig.err.code, ERR_FILE_EXISTS);
	download("a.txt", "in", false, TRANSFER_SKIP);
	assert_false(rig.failed);
	assert_int_equal(last.files_skipped, 1);
	assert_file("in/a.txt", "old");
	download("a.txt", "in", false, TRANSFER_RENAME);
	download("a.txt", "in", false, TRANSFER_RENAME);
	assert_file("in/a (1).txt", "hello");
	assert_file("in/a (2).txt", "hello");
	assert_file("in/a.txt", "old");
	download("a.txt", "in", false, TRANSFER_OVERWRITE);
	assert_file("in/a.txt", "hello");
	assert_int_equal(count("in"), 3);
}

static void late_answers_hold_up_only_their_file(void **state)
{
	static const struct entry files[] = {
		{ "t",
			"{\"entries\":[" FILE_ENTRY("a") "," FILE_ENTRY("b") "," FILE_ENTRY(
				"c") "," FILE_ENTRY("d") "]}",
			NULL },
		{ "t/a", NULL, "hello" },
		{ "t/b", NULL, "hello" },
		{ "t/c", NULL, "hello" },
		{ "t/d", NULL, "hello" },
		{ 0 },
	};
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	mkdir("in/t", 0755);
	put_file("in/t/a", "old");
	put_file("in/t/b", "old");
	put_file("in/t/c", "old");
	opts.from = (struct transfer_end){ rig.runtime, "t", -1 };
	opts.to.path = "in";
	opts.recursive = true;
	opts.conflict = TRANSFER_ASK;
	opts.on_conflict = on_conflict;
	transfer = transfer_start(rig.loop, &opts, NULL);
	rig_turns(&rig, 200);
	assert_int_equal(n_conflicts, 1);
	assert_int_equal(rig.n_done, 0);
	assert_file("in/t/d", "hello");
	transfer_answer(transfer, TRANSFER_SKIP, false);
	rig_turns(&rig, 100);
	assert_int_equal(n_conflicts, 2);
	transfer_answer(transfer, TRANSFER_OVERWRITE, true);
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(n_conflicts, 2);
	assert_int_equal(last.files_done, 3);
	assert_int_equal(last.files_skipped, 1);
	assert_file("in/t/a", "old");
	assert_file("in/t/b", "hello");
	assert_file("in/t/c", "hello");
}

static void a_cancel_leaves_nothing(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" FILE_ENTRY("a") "," FILE_ENTRY("b") "]}", NULL },
		{ "t/a", NULL, "hello" },
		{ "t/b", NULL, "hello" },
		{ 0 },
	};
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "t", -1 };
	opts.to.path = "in";
	opts.recursive = true;
	for (int turns = 0; turns < 40; turns++) {
		rig.n_done = 0;
		transfer = transfer_start(rig.loop, &opts, NULL);
		for (int i = 0; i < turns && !rig.n_done; i++)
			net_loop_run_once(rig.loop, 1);
		if (!rig.n_done)
			transfer_cancel(transfer);
		rig_turns(&rig, 5);
		DIR *stream = opendir("in/t");
		for (struct dirent *entry; stream && (entry = readdir(stream));)
			assert_null(strstr(entry->d_name, "tmp"));
		if (stream)
			closedir(stream);
		remove_all(AT_FDCWD, "in");
		mkdir("in", 0755);
	}
}

static void the_umask_takes_what_it_takes(void **state)
{
	static const struct {
		const char *mode;
		mode_t mask, is;
	} cases[] = {
		{ "0644", 077, 0600 },
		{ "0644", 022, 0644 },
		{ "0777", 027, 0750 },
		{ "0600", 0, 0600 },
		{ "04755", 022, 0755 },
		{ "?", 077, 0600 },
		{ "?", 022, 0644 },
	};
	char listing[128];
	const struct entry files[] = { { "", listing, NULL }, { "a", NULL, "hello" }, { 0 } };
	struct stat st;

	(void)state;
	tree = files;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(listing, sizeof listing,
			"{\"entries\":[{\"name\":\"a\",\"size\":5,\"type\":\"file\",\"mode\":\"%s\"}]}",
			cases[i].mode);
		mode_t old = umask(cases[i].mask);
		download("a", "in/a", false, TRANSFER_OVERWRITE);
		umask(old);
		assert_false(rig.failed);
		stat("in/a", &st);
		assert_int_equal(st.st_mode & 07777, cases[i].is);
	}
}

/* A link is what is there, wherever it leads; nothing is written through it. */
static void a_link_at_the_target_is_there(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	static const char *const targets[] = { "nowhere", "../outside", "../outside/f", "a",
		"/dev/null" };

	(void)state;
	tree = files;
	for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
		put_file("outside/f", "kept");
		assert_int_equal(symlink(targets[i], "in/a"), 0);
		download("a", "in/", false, TRANSFER_FAIL);
		assert_int_equal(rig.err.code, ERR_FILE_EXISTS);
		download("a", "in/", false, TRANSFER_SKIP);
		assert_false(rig.failed);
		assert_int_equal(last.files_skipped, 1);
		download("a", "in/", false, TRANSFER_RENAME);
		assert_file("in/a (1)", "hello");
		char is[64] = "";
		assert_int_equal(readlink("in/a", is, sizeof is - 1), strlen(targets[i]));
		assert_string_equal(is, targets[i]);
		download("a", "in/", false, TRANSFER_OVERWRITE);
		assert_false(rig.failed);
		assert_file("in/a", "hello");
		assert_file("outside/f", "kept");
		assert_int_equal(count("outside"), 1);
		assert_int_equal(count("in"), 2);
		unlink("in/a");
		unlink("in/a (1)");
	}
}

/* Two entries that are one name here: as on a disk that does not tell upper case from lower. */
static void one_file_of_a_copy_does_not_replace_another(void **state)
{
	static const struct entry files[] = {
		{ "t",
			"{\"entries\":[" FILE_ENTRY("a") "," FILE_ENTRY("b") "," FILE_ENTRY(
				"a") "]}",
			NULL },
		{ "t/a", NULL, "hello" },
		{ "t/b", NULL, "hello" },
		{ 0 },
	};

	(void)state;
	tree = files;
	for (int again = 0; again < 2; again++) {
		/* the second time what is there is an older copy's */
		download("t", "in", true, TRANSFER_OVERWRITE);
		assert_int_equal(rig.err.code, ERR_FILE_EXISTS);
		assert_int_equal(last.files_done, 2);
		assert_int_equal(last.files_failed, 1);
		assert_int_equal(count("in/t"), 2);
	}
}

static void a_file_that_grows_comes_as_far_as_it_went(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "a", -1 };
	opts.to.path = "in/a";
	for (int verify = 0; verify < 2; verify++) {
		opts.verify = verify;
		opts.conflict = TRANSFER_OVERWRITE;
		grown_by = 0;
		grows_by = 4;
		run(&opts);
		assert_false(rig.failed);
		assert_file("in/a", "hello");
		assert_int_equal(n_notes, verify + 1);
		assert_int_equal(last_note, TRANSFER_NOTE_GREW);
		assert_int_equal(last.bytes_done, 5);
		assert_int_equal(last.bytes_total, 5);
	}
}

static void a_file_that_is_removed_is_kept(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };

	(void)state;
	tree = files;
	grows_by = -1;
	download("a", "in/a", false, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_file("in/a", "hello");
	assert_int_equal(last_note, TRANSFER_NOTE_GONE);
}

static void times_are_kept_where_they_should_be(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" FILE_ENTRY("a") "]}", NULL },
		{ "t/a", NULL, "hello" },
		{ 0 },
	};
	const time_t then = 1767323045; /* as the header says */
	struct transfer_opts opts = base_opts();
	struct stat st;

	(void)state;
	tree = files;
	download("t", "in", true, TRANSFER_FAIL);
	stat("in/t/a", &st);
	assert_int_equal(st.st_mtime, then);
	download("t/a", "in/lone", false, TRANSFER_FAIL); /* as cp does */
	stat("in/lone", &st);
	assert_int_not_equal(st.st_mtime, then);
	opts.from = (struct transfer_end){ rig.runtime, "t/a", -1 };
	opts.to.path = "in/kept";
	opts.keep_times = true;
	run(&opts);
	stat("in/kept", &st);
	assert_int_equal(st.st_mtime, then);
}

static void a_large_tree_asks(void **state)
{
	static const struct entry files[] = {
		{ "t",
			"{\"entries\":[" FILE_ENTRY("a") "," FILE_ENTRY("b") "," FILE_ENTRY(
				"c") "]}",
			NULL },
		{ "t/a", NULL, "hello" },
		{ "t/b", NULL, "hello" },
		{ "t/c", NULL, "hello" },
		{ 0 },
	};
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "t", -1 };
	opts.to.path = "in/t";
	opts.recursive = true;
	assert_true(setting_set("transfer-max-entries", "3", NULL));
	run(&opts); /* exactly so many */
	assert_false(rig.failed);
	assert_true(setting_set("transfer-max-entries", "2", NULL));
	opts.to.path = "in/t2";
	run(&opts); /* nobody to ask */
	assert_int_equal(rig.err.code, ERR_LIMIT_ENTRIES);
	assert_int_equal(access("in/t2", F_OK), -1);
	opts.on_limit = on_limit;
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		rig.n_done = n_limits = 0;
		transfer = transfer_start(rig.loop, &opts, NULL);
		rig_turns(&rig, 100);
		assert_int_equal(n_limits, 1); /* asked once, and nothing begins */
		assert_int_equal(rig.n_done, 0);
		assert_int_equal(access("in/t2", F_OK), -1);
		transfer_go_on(transfer, goes_on);
		rig_wait(&rig, 1);
		assert_int_equal(rig.err.code, goes_on ? ERR_NONE : ERR_LIMIT_ENTRIES);
	}
	assert_int_equal(count("in/t2"), 3);
	assert_true(setting_set("transfer-max-entries", "none", NULL));
	opts.to.path = "in/t3";
	opts.on_limit = NULL;
	run(&opts);
	assert_false(rig.failed);
	assert_true(setting_set("transfer-max-entries", "200000", NULL));
}

/* ---- uploads */
static void what_is_written_to_a_named_pipe_goes_up(void **state)
{
	struct transfer_opts opts = base_opts();

	(void)state;
	assert_int_equal(mkfifo("in/pipe", 0600), 0);
	opts.from.path = "in/pipe";
	opts.to = (struct transfer_end){ rig.runtime, "x", -1 };
	rig.n_done = 0;
	transfer = transfer_start(rig.loop, &opts, NULL);
	rig_turns(&rig, 50); /* its end is not the absence of a writer */
	assert_int_equal(rig.n_done, 0);
	int fd = open("in/pipe", O_WRONLY | O_NONBLOCK);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "one ", 4), 4);
	rig_turns(&rig, 20);
	assert_int_equal(rig.n_done, 0);
	assert_int_equal(write(fd, "two", 3), 3);
	close(fd);
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_string_equal(find_put("x")->body, "one two");
}

static void a_folder_of_nothing_but_links_is_made(void **state)
{
	(void)state;
	mkdir("in/t", 0755);
	assert_int_equal(symlink("nowhere", "in/t/link"), 0);
	upload("in/t", "there", true, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_int_equal(last.files_skipped, 1);
	assert_int_equal(n_puts, 1);
	assert_int_equal(n_deletes, 1);
}

static void a_tree_goes_up_without_links_and_devices(void **state)
{
	(void)state;
	mkdir("in/t", 0755);
	mkdir("in/t/empty", 0755);
	put_file("in/t/a", "hello");
	put_file("outside/secret", "secret");
	assert_int_equal(symlink("../../outside/secret", "in/t/link"), 0);
	assert_int_equal(symlink("../../outside", "in/t/dirlink"), 0);
	assert_int_equal(mkfifo("in/t/fifo", 0600), 0);
	upload("in/t", "there", true, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_int_equal(last.files_done, 1);
	assert_int_equal(last.files_skipped, 3);
	assert_non_null(find_put("there/a"));
	assert_string_equal(find_put("there/a")->body, "hello");
	/* the empty folder: a file in it that is deleted again */
	assert_int_equal(n_puts, 2);
	assert_int_equal(n_deletes, 1);
}

static void a_named_link_is_followed_up(void **state)
{
	(void)state;
	put_file("outside/f", "text");
	assert_int_equal(symlink("../outside/f", "in/link"), 0);
	upload("in/link", "x", false, TRANSFER_FAIL);
	assert_false(rig.failed);
	assert_string_equal(find_put("x")->body, "text");
}

static void an_upload_asks_before_it_replaces(void **state)
{
	static const struct entry files[] = { { "x", NULL, "there" },
		{ "d", "{\"entries\":[]}", NULL }, { "d/f", "{\"entries\":[]}", NULL }, { 0 } };

	(void)state;
	tree = files;
	put_file("in/f", "text");
	upload("in/f", "x", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_EXISTS);
	upload("in/f", "x", false, TRANSFER_SKIP);
	assert_int_equal(last.files_skipped, 1);
	assert_int_equal(n_puts, 0);
	upload("in/f", "x", false, TRANSFER_RENAME);
	assert_non_null(find_put("x%20%281%29"));
	upload("in/f", "d", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_IS_DIR);
}

static void a_refused_upload_tells_why(void **state)
{
	(void)state;
	put_file("in/f", "text");
	refuses_puts = true;
	upload("in/f", "x", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_DENIED);
	assert_int_equal(last.files_failed, 1);
}

static void a_lost_daemon_ends_the_whole_tree(void **state)
{
	char name[32];

	(void)state;
	mkdir("in/t", 0755);
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof name, "in/t/f%d", i);
		put_file(name, "text");
	}
	struct transfer_opts opts = base_opts();
	opts.from.path = "in/t";
	opts.to = (struct transfer_end){ rig.runtime, "there", -1 };
	opts.recursive = true;
	rig.n_done = 0;
	transfer = transfer_start(rig.loop, &opts, NULL);
	while (n_puts < 5)
		net_loop_run_once(rig.loop, 10);
	fake_rest_close(&rig.fake);
	rig_wait(&rig, 1);
	assert_true(rig.err.code == ERR_CONN_LOST || rig.err.code == ERR_CONN_REFUSED);
	assert_true(last.files_done < 50);
}

static void without_sha256sum_the_file_is_read_back(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct transfer_opts opts = base_opts();

	(void)state;
	opts.verify = true;
	opts.from.path = "in/f";
	opts.to = (struct transfer_end){ rig.runtime, "x", -1 };
	/* this daemon gives back as many x as it was given bytes */
	put_file("in/f", "xxxxx");
	run(&opts);
	if (rig.failed)
		fail_msg("%s %s", err_name(&rig.err), rig.err.msg);
	put_file("in/f", "xxxyx");
	opts.to.path = "y";
	run(&opts);
	assert_int_equal(rig.err.code, ERR_FILE_VERIFY);
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "a", -1 };
	opts.to = (struct transfer_end){ NULL, "in/a", -1 };
	run(&opts);
	assert_false(rig.failed);
	assert_file("in/a", "hello");
}

/* ---- sandbox to sandbox */
static void a_relay_touches_no_disk(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" FILE_ENTRY("a") "," DIR_ENTRY("d") "]}", NULL },
		{ "t/a", NULL, "hello" },
		{ "t/d", "{\"entries\":[" FILE_ENTRY("b") "]}", NULL },
		{ "t/d/b", NULL, "" },
		{ 0 },
	};
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "t", -1 };
	opts.to = (struct transfer_end){ rig.runtime, "there/", -1 };
	opts.recursive = true;
	run(&opts);
	if (rig.failed)
		fail_msg("%s %s", err_name(&rig.err), rig.err.msg);
	assert_string_equal(find_put("there/t/a")->body, "hello");
	assert_non_null(find_put("there/t/d/b"));
	assert_int_equal(last.files_done, 2);
	assert_int_equal(count("."), 2);
	/* broken off at the source: nothing arrives */
	cut_after = 3;
	n_puts = 0;
	opts.from.path = "t/a";
	opts.to.path = "x";
	run(&opts);
	assert_int_equal(rig.err.code, ERR_CONN_LOST);
	assert_null(find_put("x"));
}

static void nothing_is_copied_into_itself(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" DIR_ENTRY("d") "]}", NULL },
		{ "t/d", "{\"entries\":[]}", NULL },
		{ "f", NULL, "x" },
		{ 0 },
	};
	static const char *const pairs[][2] = { { "t", "t" }, { "t", "t/d" }, { "t", "t/new" },
		{ "f", "f" }, { "./f", "f" } };
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.recursive = true;
	opts.conflict = TRANSFER_OVERWRITE;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		opts.from = (struct transfer_end){ rig.runtime, pairs[i][0], -1 };
		opts.to = (struct transfer_end){ rig.runtime, pairs[i][1], -1 };
		run(&opts);
		if (rig.err.code != ERR_ARG_INVALID)
			fail_msg("%s to %s: %s", pairs[i][0], pairs[i][1], err_name(&rig.err));
		assert_int_equal(n_puts, 0);
	}
}

/* ---- pausing */
static void a_paused_transfer_waits(void **state)
{
	static const struct entry files[] = {
		{ "t", "{\"entries\":[" FILE_ENTRY("a") "," FILE_ENTRY("b") "]}", NULL },
		{ "t/a", NULL, "hello" },
		{ "t/b", NULL, "hello" },
		{ 0 },
	};
	struct transfer_opts opts = base_opts();

	(void)state;
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "t", -1 };
	opts.to.path = "in";
	opts.recursive = true;
	rig.n_done = 0;
	transfer = transfer_start(rig.loop, &opts, NULL);
	transfer_pause(transfer, true);
	rig_turns(&rig, 200);
	assert_int_equal(rig.n_done, 0);
	transfer_pause(transfer, false);
	rig_wait(&rig, 1);
	assert_false(rig.failed);
	assert_int_equal(last.files_done, 2);
}

/* ---- the source changes */
static void a_local_file_that_shrinks_is_not_sent(void **state)
{
	static char large[3 << 20];
	struct transfer_opts opts = base_opts();

	(void)state;
	int fd = open("in/f", O_RDWR | O_CREAT, 0644);
	memset(large, 'x', sizeof large);
	assert_int_equal(write(fd, large, sizeof large), sizeof large);
	opts.from.path = "in/f";
	opts.to = (struct transfer_end){ rig.runtime, "x", -1 };
	rig.fake.wants_headers = true;
	shrinks_fd = fd;
	run(&opts);
	close(fd);
	assert_int_equal(rig.err.code, ERR_FILE_CHANGED);
	assert_null(find_put("x"));
}

/* ---- streams */
static void streams_go_both_ways(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct transfer_opts opts = base_opts();
	int ends[2];
	char got[16] = "";

	(void)state;
	tree = files;
	assert_int_equal(pipe(ends), 0);
	opts.from = (struct transfer_end){ rig.runtime, "a", -1 };
	opts.to = (struct transfer_end){ NULL, "-", ends[1] };
	run(&opts);
	assert_false(rig.failed);
	assert_int_equal(read(ends[0], got, sizeof got), 5);
	assert_string_equal(got, "hello");
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(ends[1], "piped", 5), 5);
	close(ends[1]);
	opts.from = (struct transfer_end){ NULL, "-", ends[0] };
	opts.to = (struct transfer_end){ rig.runtime, "p", -1 };
	run(&opts);
	assert_false(rig.failed);
	assert_string_equal(find_put("p")->body, "piped");
	close(ends[0]);
}

static void a_full_device_says_so(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct transfer_opts opts = base_opts();
	int full = open("/dev/full", O_WRONLY);

	(void)state;
	if (full < 0)
		skip();
	tree = files;
	opts.from = (struct transfer_end){ rig.runtime, "a", -1 };
	opts.to = (struct transfer_end){ NULL, "-", full };
	run(&opts);
	assert_int_equal(rig.err.code, ERR_FILE_NO_SPACE);
	close(full);
}

static void a_closed_pipe_is_a_failure(void **state)
{
	static const struct entry files[] = { { "a", NULL, "hello" }, { 0 } };
	struct transfer_opts opts = base_opts();
	int ends[2];

	(void)state;
	tree = files;
	assert_int_equal(pipe(ends), 0);
	close(ends[0]);
	opts.from = (struct transfer_end){ rig.runtime, "a", -1 };
	opts.to = (struct transfer_end){ NULL, "-", ends[1] };
	run(&opts);
	assert_true(rig.failed);
	close(ends[1]);
}

/* ---- what cannot be */
static void wrong_ends_are_refused(void **state)
{
	static const struct entry files[] = { { "t", "{\"entries\":[]}", NULL },
		{ "f", NULL, "x" }, { 0 } };
	struct transfer_opts opts = base_opts();
	struct err err = { 0 };

	(void)state;
	tree = files;
	opts.from.path = "in";
	opts.to.path = "out";
	assert_null(transfer_start(rig.loop, &opts, &err));
	assert_int_equal(err.code, ERR_OP_UNSUPPORTED);
	opts.from = (struct transfer_end){ rig.runtime, "../x", -1 };
	assert_null(transfer_start(rig.loop, &opts, &err));
	assert_int_equal(err.code, ERR_ARG_PATH);
	download("t", "in", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_IS_DIR);
	download("nope", "in", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_FOUND);
	download("f", "nowhere/f", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_FOUND);
	upload("in/none", "x", false, TRANSFER_FAIL);
	assert_int_equal(rig.err.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(count("in"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_arrives_with_its_mode),
		TEST(every_cut_leaves_the_old_file),
		TEST(a_file_that_changes_under_way_is_refused),
		TEST(hostile_names_stay_inside),
		TEST(links_in_the_target_are_not_followed),
		TEST(special_files_are_not_replaced),
		TEST(an_endless_tree_ends),
		TEST(folders_and_files_do_not_replace_each_other),
		TEST(each_policy_does_what_it_says),
		TEST(late_answers_hold_up_only_their_file),
		TEST(a_cancel_leaves_nothing),
		TEST(the_umask_takes_what_it_takes),
		TEST(a_link_at_the_target_is_there),
		TEST(one_file_of_a_copy_does_not_replace_another),
		TEST(a_file_that_grows_comes_as_far_as_it_went),
		TEST(a_file_that_is_removed_is_kept),
		TEST(times_are_kept_where_they_should_be),
		TEST(a_large_tree_asks),
		TEST(what_is_written_to_a_named_pipe_goes_up),
		TEST(a_folder_of_nothing_but_links_is_made),
		TEST(a_tree_goes_up_without_links_and_devices),
		TEST(a_named_link_is_followed_up),
		TEST(an_upload_asks_before_it_replaces),
		TEST(a_refused_upload_tells_why),
		TEST(a_lost_daemon_ends_the_whole_tree),
		TEST(without_sha256sum_the_file_is_read_back),
		TEST(a_relay_touches_no_disk),
		TEST(nothing_is_copied_into_itself),
		TEST(a_paused_transfer_waits),
		TEST(a_local_file_that_shrinks_is_not_sent),
		TEST(streams_go_both_ways),
		TEST(a_full_device_says_so),
		TEST(a_closed_pipe_is_a_failure),
		TEST(wrong_ends_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
