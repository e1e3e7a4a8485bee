// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	snprintf(dir, sizeof dir, "/tmp/sandmux-file-test-XXXXXX");
	return mkdtemp(dir) == NULL;
}

static int remove_dir(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", dir, (char *)NULL);
		_exit(127);
	}
	return pid < 0 || waitpid(pid, NULL, 0) != pid;
}

static char *in_dir(const char *name)
{
	return x_asprintf("%s/%s", dir, name);
}

static size_t count_entries(void)
{
	DIR *d = opendir(dir);
	size_t n = 0;
	for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void test_write_then_read(void **state)
{
	(void)state;
	char *path = in_dir("a");
	struct err err;
	mode_t old = umask(077);
	assert_true(file_write_atomic(path, (struct slice){ "one\0two", 7 }, 0640, &err));
	umask(old);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	size_t n;
	char *content = file_read(path, 7, &n, &err);
	assert_non_null(content);
	assert_int_equal(n, 7);
	assert_memory_equal(content, "one\0two", 8); /* with the NUL behind it */
	free(content);
	assert_true(file_write_atomic(path, slice_of("new"), 0600, &err));
	content = file_read(path, 100, NULL, &err);
	assert_string_equal(content, "new");
	free(content);
	assert_int_equal(count_entries(), 1); /* no temp file is left */
	free(path);
}

static void test_read_has_a_limit(void **state)
{
	(void)state;
	char *path = in_dir("a");
	struct err err = { .code = ERR_NONE };
	assert_true(file_write_atomic(path, slice_of("12345"), 0600, &err));
	assert_null(file_read(path, 4, NULL, &err));
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	assert_null(file_read("/dev/zero", 100000, NULL, &err)); /* and stops */
	assert_int_equal(err.code, ERR_LIMIT_RESPONSE);
	free(path);
}

static void test_errors_have_their_code(void **state)
{
	(void)state;
	struct err err;
	char *missing = in_dir("no/such");
	assert_null(file_read(missing, 10, NULL, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_false(file_write_atomic(missing, slice_of("x"), 0600, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	assert_null(file_read(dir, 10, NULL, &err));
	assert_int_equal(err.code, ERR_FILE_IS_DIR);
	assert_false(file_write_atomic(dir, slice_of("x"), 0600, &err));
	free(missing);
}

static void test_failed_write_keeps_the_old_file(void **state)
{
	(void)state;
	char *path = in_dir("taken");
	char *inside = in_dir("taken/x");
	struct err err;
	assert_true(file_make_dirs(inside, 0700, &err));
	size_t before = count_entries();
	assert_false(file_write_atomic(path, slice_of("x"), 0600, &err));
	assert_int_equal(count_entries(), before);
	free(path);
	free(inside);
}

static void test_replaced_without_waiting_for_the_disk(void **state)
{
	(void)state;
	char *path = in_dir("quick");
	struct err err = { 0 };
	struct stat st;
	size_t n = 0;
	mode_t mask = umask(077);
	assert_true(file_write_replace(path, slice_of("one"), 0640, &err));
	assert_true(file_write_replace(path, (struct slice){ "t\0o", 3 }, 0644, &err));
	umask(mask);
	char *content = file_read(path, 3, &n, &err);
	assert_int_equal(n, 3);
	assert_memory_equal(content, "t\0o", 4); /* and a NUL after it */
	free(content);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644); /* whatever the umask says */
	size_t before = count_entries();
	char *below = in_dir("quick/x");
	assert_false(file_write_replace(below, slice_of("x"), 0600, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_DIR);
	assert_int_equal(count_entries(), before);
	/* a name without a folder is in this one */
	char old[1000];
	char *inner = in_dir("here");
	assert_non_null(getcwd(old, sizeof old));
	assert_true(file_make_dirs(inner, 0700, &err));
	assert_int_equal(chdir(inner), 0);
	assert_true(file_write_atomic("bare", slice_of("x"), 0600, &err));
	assert_true(file_make_dirs("a/b", 0700, &err));
	assert_int_equal(access("a/b", F_OK), 0);
	assert_true(file_make_dirs("a//b//c/", 0700, &err));
	assert_int_equal(access("a/b/c", F_OK), 0);
	assert_int_equal(chdir(old), 0);
	free(inner);
	free(below);
	free(path);
}

static void test_places(void **state)
{
	static const struct {
		enum file_xdg kind;
		const char *variable, *value, *home, *path; /* path NULL: none */
	} rows[] = {
		{ FILE_CONFIG, "XDG_CONFIG_HOME", NULL, "/h", "/h/.config/sandmux" },
		{ FILE_CONFIG, "XDG_CONFIG_HOME", "/c", "/h", "/c/sandmux" },
		{ FILE_CONFIG, "XDG_CONFIG_HOME", "c", "/h", "/h/.config/sandmux" },
		{ FILE_CONFIG, "XDG_CONFIG_HOME", "", NULL, NULL },
		{ FILE_STATE, "XDG_STATE_HOME", NULL, "/h", "/h/.local/state/sandmux" },
		{ FILE_STATE, "XDG_STATE_HOME", "/s", NULL, "/s/sandmux" },
		{ FILE_STATE, "XDG_STATE_HOME", NULL, "h", NULL },
		{ FILE_CACHE, "XDG_CACHE_HOME", NULL, "/h", "/h/.cache/sandmux" },
		{ FILE_CACHE, "XDG_CACHE_HOME", "/k", "/h", "/k/sandmux" },
		{ FILE_CACHE, "XDG_CACHE_HOME", NULL, NULL, NULL },
		{ FILE_RUNTIME, "XDG_RUNTIME_DIR", "/r", NULL, "/r/sandmux" },
	};
	char wanted[100];
	struct err err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (rows[i].value)
			setenv(rows[i].variable, rows[i].value, 1);
		else
			unsetenv(rows[i].variable);
		if (rows[i].home)
			setenv("HOME", rows[i].home, 1);
		else
			unsetenv("HOME");
		char *path = file_xdg_path(rows[i].kind, &err);
		if (rows[i].path) {
			assert_string_equal(path, rows[i].path);
		} else {
			assert_null(path);
			assert_int_equal(err.code, ERR_CONFIG_FILE);
			snprintf(wanted, sizeof wanted, "neither %s nor HOME is set",
				rows[i].variable);
			assert_string_equal(err.msg, wanted);
			assert_null(file_xdg_dir(rows[i].kind, &err));
		}
		free(path);
	}
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(wanted, sizeof wanted, "/tmp/sandmux-%u", (unsigned)geteuid());
	char *path = file_xdg_path(FILE_RUNTIME, &err);
	assert_string_equal(path, wanted);
	free(path);
}

static void test_make_dirs(void **state)
{
	(void)state;
	struct err err;
	char *path = in_dir("p/q/r");
	char *file = in_dir("p/file");
	char *below = in_dir("p/file/x");
	assert_true(file_make_dirs(path, 0700, &err));
	assert_true(file_make_dirs(path, 0700, &err));
	assert_true(file_write_atomic(file, slice_of("x"), 0600, &err));
	assert_false(file_make_dirs(file, 0700, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_DIR);
	assert_false(file_make_dirs(below, 0700, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_DIR);
	free(path);
	free(file);
	free(below);
}

static void test_xdg_dirs(void **state)
{
	(void)state;
	struct err err;
	char *home = in_dir("home");
	setenv("HOME", home, 1);
	unsetenv("XDG_STATE_HOME");
	setenv("XDG_CONFIG_HOME", "relative", 1); /* ignored */
	char *got = file_xdg_dir(FILE_STATE, &err);
	char *expected = in_dir("home/.local/state/sandmux");
	assert_string_equal(got, expected);
	struct stat st;
	assert_int_equal(stat(got, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	free(got);
	free(expected);
	got = file_xdg_dir(FILE_CONFIG, &err);
	expected = in_dir("home/.config/sandmux");
	assert_string_equal(got, expected);
	free(got);
	free(expected);
	char *runtime = in_dir("run");
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	got = file_xdg_dir(FILE_RUNTIME, &err);
	assert_non_null(got);
	chmod(got, 0755); /* open to others: not to be trusted */
	assert_null(file_xdg_dir(FILE_RUNTIME, &err));
	assert_int_equal(err.code, ERR_FILE_DENIED);
	free(got);
	free(home);
	free(runtime);
}

static void test_names_of_temp_files(void **state)
{
	(void)state;
	assert_true(file_is_temp("token.tmp-0123456789ab"));
	assert_false(file_is_temp(".tmp-0123456789ab"));
	assert_false(file_is_temp("token.tmp-0123456789ax"));
	assert_false(file_is_temp("token.tmp-0123456789abc"));
	assert_false(file_is_temp("token"));
	assert_true(file_is_temp("t.tmp-0123456789ab"));
	assert_false(file_is_temp("token.tmp_0123456789ab"));
	assert_false(file_is_temp("token.tmp-x123456789ab"));
	assert_false(file_is_temp(""));
}

static void test_our_programs(void **state)
{
	(void)state;
	struct err err;
	char *found = file_find_program("base_file_test", &err);
	assert_non_null(found);
	char *self = realpath("/proc/self/exe", NULL);
	assert_string_equal(found, self);
	free(self);
	free(found);
	assert_null(file_find_program("no-such-program", &err));
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.msg, "no-such-program is neither beside this program"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_then_read),
		cmocka_unit_test(test_read_has_a_limit),
		cmocka_unit_test(test_errors_have_their_code),
		cmocka_unit_test(test_failed_write_keeps_the_old_file),
		cmocka_unit_test(test_names_of_temp_files),
		cmocka_unit_test(test_replaced_without_waiting_for_the_disk),
		cmocka_unit_test(test_make_dirs),
		cmocka_unit_test(test_xdg_dirs),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_our_programs),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
