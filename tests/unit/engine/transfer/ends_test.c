// SPDX-License-Identifier: Apache-2.0
/* Where a copy goes, as cp sees it: into a folder that is there or was meant, else to that very name; of a tree itself or
 * its content. And what is refused because of what the ends are. */
#include "engine/transfer/transfer.h"
#include "tests/unit/unit.h"

#include "tests/unit/engine/runtime/rig.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define DATE "Fri, 02 Jan 2026 03:04:05 GMT"
#define FILE_ENTRY(name)                                                                       \
	"{\"name\":\"" name "\",\"size\":5,\"type\":\"file\",\"mode\":\"0640\"}"
#define DIR_ENTRY(name)                                                                        \
	"{\"name\":\"" name "\",\"size\":0,\"type\":\"directory\",\"mode\":\"0755\"}"

/* What is in the sandbox: folders with their listings, files of five bytes. */
static const struct {
	const char *path, *listing; /* NULL: a file */
} there[] = {
	{ "", "{\"entries\":[" DIR_ENTRY("d") "," FILE_ENTRY("f") "," DIR_ENTRY(
		      "g") "," DIR_ENTRY("r") "]}" },
	{ "d", "{\"entries\":[" DIR_ENTRY("t") "]}" },
	{ "d/t", "{\"entries\":[]}" },
	{ "f", NULL },
	{ "g", "{\"entries\":[" FILE_ENTRY("t") "]}" },
	{ "g/t", NULL },
	{ "r", "{\"entries\":[" FILE_ENTRY("x") "]}" },
	{ "r/x", NULL },
};

enum { MOST = 16 };
static char put[MOST][100];
static int n_put;

static bool is_put(const char *path)
{
	for (int i = 0; i < n_put; i++)
		if (strcmp(put[i], path) == 0)
			return true;
	return false;
}

static void handle(struct fake_request *request, void *arg)
{
	char path[100];
	(void)arg;
	snprintf(path, sizeof path, "%.99s", request->path + strlen("/v1/files/"));
	path[strcspn(path, "?")] = 0;
	if (strcmp(request->method, "PUT") == 0) {
		assert_int_equal(request->body_n, 5);
		assert_true(n_put < MOST);
		snprintf(put[n_put++], sizeof put[0], "%s", path);
		fake_text(request, "HTTP/1.1 204 No Content\r\n\r\n");
		return;
	}
	size_t n = strlen(path);
	if (n > 0 && path[n - 1] == '/')
		path[n - 1] = 0;
	bool is_file = is_put(path);
	for (size_t i = 0; i < COUNT(there); i++) {
		if (strcmp(there[i].path, path) != 0)
			continue;
		if (there[i].listing != NULL) {
			fake_json(request, "200 OK", there[i].listing);
			return;
		}
		is_file = true;
	}
	if (!is_file) {
		fake_json(request, "404 Not Found",
			"{\"code\":\"NOT_FOUND\",\"message\":\"gone\"}");
		return;
	}
	fake_text(request, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
			   "Last-Modified: " DATE "\r\nContent-Length: 5\r\n\r\n");
	if (strcmp(request->method, "HEAD") != 0)
		fake_text(request, "hello");
}

static char folder[64];
static struct rig rig;

static void put_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "hello", 5), 5);
	close(fd);
}

static void remove_folder(void)
{
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
}

/* A folder "in", a file "a", a tree "t". */
static void begin(void)
{
	snprintf(folder, sizeof folder, "/tmp/sandmux-ends-XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkdir("in", 0755), 0);
	assert_int_equal(mkdir("t", 0755), 0);
	assert_int_equal(mkdir("t/s", 0755), 0);
	put_file("a");
	put_file("t/x");
	put_file("t/s/y");
	n_put = 0;
	rig_open(&rig, handle, NULL);
}

static void end(void)
{
	rig_close(&rig);
	assert_int_equal(chdir("/"), 0);
	remove_folder();
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	(void)arg;
	(void)progress;
	rig_done(&rig, err);
}

/* The code of the copy, or of its refusal. */
static enum err_code copy(const char *from, const char *to, bool is_up, bool is_recursive)
{
	struct err err = { 0 };
	const struct transfer_opts opts = {
		.from = { is_up ? NULL : rig.runtime, from, -1 },
		.to = { is_up ? rig.runtime : NULL, to, -1 },
		.recursive = is_recursive,
		.conflict = TRANSFER_FAIL,
		.done = on_done,
	};
	rig.n_done = 0;
	if (transfer_start(rig.loop, &opts, &err) == NULL)
		return err.code;
	rig_wait(&rig, 1);
	return rig.err.code;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void where_files_go_up(void **state)
{
	static const struct {
		const char *from, *to;
		bool is_recursive;
		enum err_code code;
		const char *put; /* in order of their names */
	} rows[] = {
		{ "a", "new", false, ERR_NONE, "new " },
		{ "a", "d", false, ERR_NONE, "d/a " },
		{ "a", "d/", false, ERR_NONE, "d/a " },
		{ "a", "./d", false, ERR_NONE, "d/a " },
		{ "a", "new/", false, ERR_NONE, "new/a " },
		{ "a", "d/new", false, ERR_NONE, "d/new " },
		{ "a", "", false, ERR_NONE, "a " },
		{ "a", ".", false, ERR_NONE, "a " },
		{ "./a", "d", false, ERR_NONE, "d/a " },
		{ "a", "f", false, ERR_FILE_EXISTS, "" },
		{ "a", "g/t", false, ERR_FILE_EXISTS, "" },
		{ "none", "new", false, ERR_FILE_NOT_FOUND, "" },
		{ "t", "new", false, ERR_FILE_IS_DIR, "" },
		{ "t", "new", true, ERR_NONE, "new/s/y new/x " },
		{ "t/", "new", true, ERR_NONE, "new/s/y new/x " },
		{ "t", "new/", true, ERR_NONE, "new/t/s/y new/t/x " },
		{ "t", "d", true, ERR_NONE, "d/t/s/y d/t/x " },
		{ "t", "r", true, ERR_NONE, "r/t/s/y r/t/x " },
		{ "t/.", "new", true, ERR_NONE, "new/s/y new/x " },
		{ "t/.", "d", true, ERR_NONE, "d/s/y d/x " },
		{ "t/s", "", true, ERR_NONE, "s/y " },
		{ "t", "f", true, ERR_FILE_NOT_DIR, "" },
		{ "t", "g", true, ERR_FILE_NOT_DIR, "" },
		{ "/dev/null/x", "new", false, ERR_FILE_NOT_DIR, "" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char is[400] = "";
		begin();
		enum err_code code = copy(rows[i].from, rows[i].to, true, rows[i].is_recursive);
		qsort(put, (size_t)n_put, sizeof put[0], by_text);
		for (int k = 0; k < n_put; k++)
			snprintf(is + strlen(is), sizeof is - strlen(is), "%s ", put[k]);
		if (code != rows[i].code || strcmp(is, rows[i].put) != 0)
			fail_msg("%s to %s: %s '%s' (%s)", rows[i].from, rows[i].to,
				err_code_name(code), is, rig.err.msg);
		end();
	}
}

static void where_files_come_down(void **state)
{
	static const struct {
		const char *from, *to;
		bool is_recursive;
		enum err_code code;
		const char *made; /* NULL: nothing */
	} rows[] = {
		{ "f", "in", false, ERR_NONE, "in/f" },
		{ "f", "in/", false, ERR_NONE, "in/f" },
		{ "./f", "in", false, ERR_NONE, "in/f" },
		{ "f", ".", false, ERR_NONE, "f" },
		{ "f", "new", false, ERR_NONE, "new" },
		{ "f", "in/new", false, ERR_NONE, "in/new" },
		{ "f", "new/", false, ERR_NONE, "new/f" },
		{ "r/x", "in", false, ERR_NONE, "in/x" },
		{ "f", "no/where", false, ERR_FILE_NOT_FOUND, NULL },
		{ "f", "a", false, ERR_FILE_EXISTS, NULL },
		{ "f", "/dev/null", false, ERR_FILE_DENIED, NULL },
		{ "none", "in", false, ERR_FILE_NOT_FOUND, NULL },
		{ "r", "in", false, ERR_FILE_IS_DIR, NULL },
		{ "r", "new", true, ERR_NONE, "new/x" },
		{ "r", "in", true, ERR_NONE, "in/r/x" },
		{ "r/", "in", true, ERR_NONE, "in/r/x" },
		{ "r", "new/", true, ERR_NONE, "new/r/x" },
		{ "r/.", "in", true, ERR_NONE, "in/x" },
		{ "r/.", "new", true, ERR_NONE, "new/x" },
		{ "r", "a", true, ERR_FILE_NOT_DIR, NULL },
		{ "", "new", true, ERR_NONE, "new/r/x" },
		{ "", "in", true, ERR_NONE, "in/g/t" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stat st;
		begin();
		enum err_code code =
			copy(rows[i].from, rows[i].to, false, rows[i].is_recursive);
		if (code != rows[i].code ||
			(rows[i].made && (stat(rows[i].made, &st) != 0 || st.st_size != 5)))
			fail_msg("%s to %s: %s (%s)", rows[i].from, rows[i].to,
				err_code_name(code), rig.err.msg);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_files_go_up),
		cmocka_unit_test(where_files_come_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
