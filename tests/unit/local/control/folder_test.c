// SPDX-License-Identifier: Apache-2.0
/* The state folder as it is seen from outside: where it is, who holds it, what of it is ours, and what is put aside. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "local/control/quarantine.h"
#include "local/control/remove.h"
#include "local/control/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char dir[64];
static struct control_opts opts;

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-folder-XXXXXX");
	assert_non_null(mkdtemp(dir));
	opts = (struct control_opts){ .state_dir = dir };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return 0; /* the test has removed it */
	assert_true(control_remove_content(fd, NULL));
	close(fd);
	return rmdir(dir);
}

static const char *at(const char *name)
{
	static char path[4][300];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", dir, name);
	return out;
}

static bool is_there(const char *name)
{
	return faccessat(AT_FDCWD, at(name), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void put(const char *name, const char *text)
{
	assert_true(file_write_atomic(at(name), slice_of(text), 0600, NULL));
}

/* ---- where it is ---- */

static void test_where_it_is(void **state)
{
	struct control_status status;
	struct err err = { 0 };
	char here[PATH_MAX], long_name[PATH_MAX + 10];
	(void)state;
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, dir);
	assert_string_equal(status.kubeconfig, at("kubeconfig"));
	assert_string_equal(status.log, at("locald.log"));
	assert_false(status.is_running);
	/* what is not there is trusted: it will be made */
	opts.state_dir = at("none");
	assert_true(control_state_find(&opts, &status, &err));
	/* by the environment, unless it is said */
	setenv("SANDMUX_LOCAL_DIR", at("env"), 1);
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, at("none"));
	opts.state_dir = NULL;
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, at("env"));
	setenv("SANDMUX_LOCAL_DIR", "", 1);
	setenv("XDG_STATE_HOME", dir, 1);
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, at("sandmux/local"));
	unsetenv("SANDMUX_LOCAL_DIR");
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, at("sandmux/local"));
	/* from where we are */
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(dir), 0);
	opts.state_dir = "below";
	assert_true(control_state_find(&opts, &status, &err));
	assert_string_equal(status.state_dir, at("below"));
	assert_int_equal(chdir(here), 0);
	/* too long, by the name of the longest file in it */
	for (int n = 0; n < 2; n++) {
		size_t length = PATH_MAX - 1 - strlen("/kubeconfig") + (size_t)n;
		memset(long_name, 'x', sizeof long_name);
		for (size_t i = 0; i < length; i += 100)
			long_name[i] = '/';
		long_name[length] = '\0';
		opts.state_dir = long_name;
		assert_int_equal(control_state_find(&opts, &status, &err), n == 0);
	}
	assert_int_equal(err.code, ERR_ARG_INVALID);
	/* and one that others may change is refused */
	assert_int_equal(chmod(dir, 0777), 0);
	opts.state_dir = dir;
	assert_false(control_state_find(&opts, &status, &err));
	assert_int_equal(err.code, ERR_FILE_DENIED);
}

static void test_who_holds_it(void **state)
{
	static const struct {
		const char *pid; /* file */
		pid_t is;
		uint16_t port;
	} rows[] = {
		{ "123 4567\n", 123, 4567 },
		{ "123 4567", 123, 4567 },
		{ "2147483647 65535\nmore", INT32_MAX, 65535 },
		{ "2 1", 2, 1 },
		{ "1 80", 0, 80 },
		{ "2147483648 80", 0, 80 },
		{ "x 80", 0, 80 },
		{ "123 0", 123, 0 },
		{ "123 65536", 123, 0 },
		{ "123 x", 123, 0 },
		{ "123", 123, 0 },
		{ "123\n", 123, 0 },
		{ "", 0, 0 },
		{ NULL, 0, 0 },
	};
	struct control_status status;
	struct err err = { 0 };
	(void)state;
	put("lock", "");
	put("pid", "123 4567\n");
	/* nobody: whatever the file says */
	assert_true(control_get_status(&opts, &status, &err));
	assert_false(status.is_running || status.is_ready || status.pid || status.port);
	int fd = open(at("lock"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].pid)
			put("pid", rows[i].pid);
		else
			unlink(at("pid"));
		control_state_look(&status);
		assert_true(status.is_running);
		if (status.pid != rows[i].is || status.port != rows[i].port ||
			status.is_ready != (rows[i].port != 0))
			fail_msg("row %zu: %d %u", i, (int)status.pid, status.port);
	}
	/* a backend that was started for looking shares it */
	assert_int_equal(flock(fd, LOCK_SH), 0);
	control_state_look(&status);
	assert_false(status.is_running);
	close(fd);
	assert_int_equal(unlink(at("lock")), 0);
	control_state_look(&status);
	assert_false(status.is_running);
}

/* Somebody else's process is not signalled, and nothing is deleted. */
static void test_a_stranger_holds_it(void **state)
{
	struct err err = { 0 };
	char number[40];
	(void)state;
	put("lock", "");
	put("token", "t");
	int fd = open(at("lock"), O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	snprintf(number, sizeof number, "%d 80\n", (int)getpid());
	const char *const pids[] = { number, "1 80", "", "2147483647 80" };
	for (size_t i = 0; i < COUNT(pids); i++) {
		put("pid", pids[i]);
		assert_false(control_down(&opts, &err));
		assert_int_equal(err.code, ERR_SYSTEM);
		assert_non_null(strstr(err.msg, "is held by a process that is not known"));
		assert_false(control_reset(&opts, &err));
	}
	assert_true(is_there("token"));
	assert_false(control_ends_at_logout(&(struct control_status){ .is_running = false }));
	assert_false(control_ends_at_logout(
		&(struct control_status){ .is_running = true, .pid = getpid() }));
	close(fd);
}

static void test_words_of_a_failure(void **state)
{
	static const struct {
		const char *line;
		enum err_code code;
		const char *msg;
	} rows[] = {
		{ "kube.conflict: it is there", ERR_KUBE_CONFLICT, "it is there" },
		{ "kube.conflict: a: b", ERR_KUBE_CONFLICT, "a: b" },
		{ "local.store: x", ERR_LOCAL_STORE, "x" },
		{ "kube.conflic: x", ERR_LOCAL_NOT_RUNNING, "kube.conflic: x" },
		{ "kube.conflictx: x", ERR_LOCAL_NOT_RUNNING, "kube.conflictx: x" },
		{ "kube.conflict", ERR_LOCAL_NOT_RUNNING, "kube.conflict" },
		{ "kube.conflict:x", ERR_LOCAL_NOT_RUNNING, "kube.conflict:x" },
		{ ": x", ERR_LOCAL_NOT_RUNNING, ": x" },
		{ "", ERR_LOCAL_NOT_RUNNING, "the local backend ended before it was ready" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = { 0 };
		control_state_parse_failure(rows[i].line, &err);
		if (err.code != rows[i].code || strcmp(err.msg, rows[i].msg) != 0)
			fail_msg("row %zu: %s %s", i, err_name(&err), err.msg);
	}
}

/* ---- what is ours ---- */

static const char *const ours[] = { "objects.db", "objects.db-wal", "objects.db-shm",
	"objects.db-journal", "tls", "token", "daemon-token", "kubeconfig", "pods", "volumes",
	"quarantine", "trash", "pid", "limits.json", "locald.log", "locald.stderr" };

static void test_all_of_ours_goes_and_nothing_else(void **state)
{
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < COUNT(ours); i++)
		put(ours[i], "x");
	put("lock", "");
	put(".removing-0123456789abcdef", "");
	put("token.tmp-0123456789ab", "");
	put("notes", "mine");
	put("removing-x", "mine");
	put(".removingx", "mine");
	if (!control_reset(&opts, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < COUNT(ours); i++)
		if (is_there(ours[i]))
			fail_msg("%s", ours[i]);
	assert_false(is_there("lock") || is_there(".removing-0123456789abcdef") ||
		     is_there("token.tmp-0123456789ab"));
	assert_true(is_there("notes") && is_there("removing-x") && is_there(".removingx"));
	/* what has nothing of ours any more is no mistake, and one that is not there neither */
	assert_true(control_reset(&opts, &err));
	assert_int_equal(unlink(at("notes")), 0);
	assert_int_equal(unlink(at("removing-x")), 0);
	assert_int_equal(unlink(at(".removingx")), 0);
	put("lock", "");
	assert_true(control_reset(&opts, &err));
	assert_int_not_equal(access(dir, F_OK), 0);
	assert_true(control_reset(&opts, &err));
}

/* Another program's folder may have a file of such a name. */
static void test_a_folder_that_is_not_ours(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(ours); i++) {
		struct err err = { 0 };
		bool is_sign = strcmp(ours[i], "objects.db") == 0 ||
			       strcmp(ours[i], "locald.stderr") == 0;
		put(ours[i], "x");
		put("kept", "x");
		if (control_reset(&opts, &err) != is_sign || is_there(ours[i]) == is_sign)
			fail_msg("%s: %s", ours[i], err.msg);
		if (!is_sign) {
			assert_int_equal(err.code, ERR_ARG_INVALID);
			assert_non_null(strstr(err.msg, "is not a state folder"));
			assert_int_equal(unlink(at(ours[i])), 0);
		}
		assert_true(is_there("kept"));
	}
}

/* ---- the quarantine ---- */

static const char *text_of(const char *name, const char *key)
{
	static char value[300];
	size_t n;
	char *text = file_read(at(name), 65536, &n, NULL);
	cJSON *json = text ? cJSON_Parse(text) : NULL;
	const char *found = json_str(json, key, NULL);
	snprintf(value, sizeof value, "%s", found ? found : "(none)");
	cJSON_Delete(json);
	free(text);
	return value;
}

static void must_put(const char *uid, const char *why)
{
	struct err err = { 0 };
	if (!control_quarantine_put(dir, "volumes", uid, why, &err))
		fail_msg("%s", err.msg);
}

static void test_files_are_put_aside(void **state)
{
	struct stat st;
	struct err err = { 0 };
	(void)state;
	assert_true(file_make_dirs(at("volumes/v"), 0700, &err));
	put("volumes/v/file", "x");
	put("volumes/v.json", "{\"claim\":\"c\",\"why\":\"old\",\"uid\":\"other\"}");
	must_put("v", "lost");
	assert_true(is_there("quarantine/volumes-v/file"));
	assert_false(is_there("volumes/v") || is_there("volumes/v.json"));
	assert_string_equal(text_of("quarantine/volumes-v.json", "claim"), "c");
	assert_string_equal(text_of("quarantine/volumes-v.json", "folder"), "volumes");
	assert_string_equal(text_of("quarantine/volumes-v.json", "uid"), "v");
	assert_string_equal(text_of("quarantine/volumes-v.json", "why"), "lost");
	assert_string_equal(text_of("quarantine/volumes-v.json", "movedFrom"), at("volumes/v"));
	assert_int_equal(strlen(text_of("quarantine/volumes-v.json", "movedAt")), 20);
	assert_int_equal(stat(at("quarantine"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(stat(at("quarantine/volumes-v.json"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	/* again, under another name; a manifest that is none is no hindrance */
	for (int i = 2; i < 5; i++) {
		char name[100];
		assert_true(file_make_dirs(at("volumes/v"), 0700, &err));
		put("volumes/v.json", i == 2 ? "[]" : "{");
		must_put("v", "again");
		snprintf(name, sizeof name, "quarantine/volumes-v.%d", i);
		assert_true(is_there(name));
		snprintf(name, sizeof name, "quarantine/volumes-v.%d.json", i);
		assert_string_equal(text_of(name, "why"), "again");
		assert_string_equal(text_of(name, "claim"), "(none)");
	}
	assert_string_equal(text_of("quarantine/volumes-v.json", "why"), "lost");
	/* what is not there cannot be moved; its manifest stays */
	put("volumes/w.json", "{}");
	assert_false(control_quarantine_put(dir, "volumes", "w", "lost", &err));
	assert_int_equal(err.sys, ENOENT);
	assert_true(is_there("volumes/w.json"));
}

struct seen {
	int n;
	char text[1000];
};

static void on_quarantined(void *arg, const struct control_quarantined *q)
{
	struct seen *seen = arg;
	size_t n = strlen(seen->text);
	seen->n++;
	snprintf(seen->text + n, sizeof seen->text - n, "<%s|%s|%s|%s|%s|%s>",
		strrchr(q->path, '/') + 1, q->claim, q->sandbox, q->ns, q->why, q->at);
}

static void test_what_is_in_the_quarantine(void **state)
{
	struct seen seen = { 0 };
	struct err err = { 0 };
	(void)state;
	control_quarantine_list(dir, on_quarantined, &seen);
	assert_int_equal(seen.n, 0);
	assert_true(file_make_dirs(at("quarantine/a"), 0700, &err));
	assert_true(file_make_dirs(at("quarantine/b"), 0700, &err));
	assert_true(file_make_dirs(at("quarantine/.hidden"), 0700, &err));
	put("quarantine/a.json",
		"{\"claim\":\"c\",\"sandbox\":\"s\",\"namespace\":\"n\",\"why\":\"w\",\"movedAt\":\"m\"}");
	put("quarantine/file", "x");
	assert_int_equal(symlink(at("quarantine/a"), at("quarantine/link")), 0);
	control_quarantine_list(dir, on_quarantined, &seen);
	assert_int_equal(seen.n, 2);
	assert_non_null(strstr(seen.text, "<a|c|s|n|w|m>"));
	assert_non_null(strstr(seen.text, "<b|||||>"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_where_it_is),
		TEST(test_who_holds_it),
		TEST(test_a_stranger_holds_it),
		cmocka_unit_test(test_words_of_a_failure),
		TEST(test_all_of_ours_goes_and_nothing_else),
		TEST(test_a_folder_that_is_not_ours),
		TEST(test_files_are_put_aside),
		TEST(test_what_is_in_the_quarantine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
