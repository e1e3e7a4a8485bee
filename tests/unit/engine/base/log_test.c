// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_levels_per_module(void **state)
{
	(void)state;
	struct err err;
	assert_true(log_configure("warn,kube:debug,h2:trace", &err));
	assert_true(log_is_on("fleet", LOG_WARN));
	assert_false(log_is_on("fleet", LOG_INFO));
	assert_true(log_is_on("kube", LOG_DEBUG));
	assert_false(log_is_on("kube", LOG_TRACE));
	assert_true(log_is_on("h2", LOG_TRACE));
	assert_true(log_configure("", &err));
	assert_true(log_is_on("kube", LOG_INFO));
	assert_false(log_is_on("kube", LOG_DEBUG));
}

static void test_bad_spec_changes_nothing(void **state)
{
	(void)state;
	static const char *const bad[] = { "loud", "kube:", ":debug", "info,kube:loud",
		"info,,x", "a-module-with-a-name-that-is-too-long:info" };
	struct err err;
	assert_true(log_configure("error", &err));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err.code = ERR_NONE;
		assert_false(log_configure(bad[i], &err));
		assert_int_equal(err.code, ERR_ARG_INVALID);
		assert_false(log_is_on("kube", LOG_WARN));
	}
	assert_true(log_configure("info", &err));
}

struct heard {
	size_t n;
	struct log_line last;
	char module[24], text[5000], first[100];
};

static void on_line(void *arg, const struct log_line *line)
{
	struct heard *heard = arg;
	heard->last = *line;
	snprintf(heard->module, sizeof heard->module, "%s", line->module);
	assert_int_equal(strlen(line->text.p), line->text.n);
	snprintf(heard->text, sizeof heard->text, "%s", line->text.p);
	if (heard->n++ == 0)
		snprintf(heard->first, sizeof heard->first, "%s", line->text.p);
}

static void test_receivers(void **state)
{
	(void)state;
	struct heard one = { 0 }, two = { 0 };
	struct log_receiver to_one = { .fn = on_line, .arg = &one };
	struct log_receiver to_two = { .fn = on_line, .arg = &two };
	for (int i = 0; i < 1200; i++)
		LOG("test", LOG_INFO, "line %d", i);
	LOG("test", LOG_TRACE, "not %s", "seen");
	int64_t now_ns = clock_wall_ns();
	/* the first one gets what came before it, the last of it, once */
	log_add_receiver(&to_one);
	assert_int_equal(one.n, 500);
	assert_string_equal(one.first, "line 700");
	assert_string_equal(one.text, "line 1199");
	assert_int_equal(one.last.level, LOG_INFO);
	assert_string_equal(one.module, "test");
	assert_true(one.last.wall_ns <= now_ns && one.last.wall_ns > now_ns - 60000000000);
	log_add_receiver(&to_two);
	assert_int_equal(two.n, 0);
	LOG("other", LOG_ERROR, "both");
	assert_int_equal(one.n, 501);
	assert_int_equal(two.n, 1);
	assert_string_equal(two.module, "other");
	log_remove_receiver(&to_one);
	log_remove_receiver(&to_one);
	LOG("test", LOG_ERROR, "one of them");
	assert_int_equal(one.n, 501);
	assert_int_equal(two.n, 2);
	log_remove_receiver(&to_two);
	LOG("test", LOG_WARN, "nobody");
	assert_int_equal(two.n, 2);
	one.n = 0;
	log_add_receiver(&to_one);
	assert_int_equal(one.n, 1);
	assert_string_equal(one.text, "nobody");
	log_remove_receiver(&to_one);
}

static void test_foreign_bytes_come_raw_and_bounded(void **state)
{
	(void)state;
	struct heard heard = { 0 };
	struct log_receiver to = { .fn = on_line, .arg = &heard };
	log_add_receiver(&to);
	LOG("test", LOG_ERROR, "name=%s", "a\x1B[2J\nb\xFF");
	assert_string_equal(heard.text, "name=a\x1B[2J\nb\xFF");
	char *long_text = malloc(100001);
	assert_non_null(long_text);
	memset(long_text, '\x1B', 100000);
	long_text[100000] = '\0';
	LOG("test", LOG_ERROR, "%s", long_text);
	assert_int_equal(strlen(heard.text), 1024);
	free(long_text);
	log_remove_receiver(&to);
}

static void test_file(void **state)
{
	(void)state;
	char path[] = "/tmp/sandmux-log-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	struct err err;
	assert_true(log_open_file(path, &err));
	LOG("test", LOG_WARN, "hello\n%s", "world");
	LOG("test", LOG_ERROR, "name=%s", "a\x1B[2J\nb\xFF");
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	char *content = file_read(path, 1000, NULL, &err);
	assert_non_null(strstr(content, " warn  test: hello^Jworld\n"));
	assert_non_null(strstr(content, " error test: name=a^[[2J^Jb\\xFF\n"));
	free(content);
	unlink(path);
	assert_false(log_open_file("/nonexistent/x", &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

static void test_stderr(void **state)
{
	(void)state;
	char got[200] = "";
	int ends[2], old = dup(STDERR_FILENO);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	LOG("test", LOG_ERROR, "not there");
	log_set_stderr(true);
	LOG("test", LOG_ERROR, "there");
	log_set_stderr(false);
	LOG("test", LOG_ERROR, "not there either");
	dup2(old, STDERR_FILENO);
	close(old);
	close(ends[1]);
	ssize_t n = read(ends[0], got, sizeof got - 1);
	close(ends[0]);
	assert_true(n > 0);
	const char *text = strstr(got, " error test: there\n");
	assert_non_null(text);
	assert_int_equal(strlen(text), strlen(" error test: there\n"));
	assert_int_equal(strspn(got, "0123456789"), text - got);
}

static void test_another_file(void **state)
{
	(void)state;
	char dir[] = "/tmp/sandmux-log-test-XXXXXX", one[60], two[60];
	struct err err;
	assert_non_null(mkdtemp(dir));
	snprintf(one, sizeof one, "%s/one", dir);
	snprintf(two, sizeof two, "%s/two", dir);
	assert_true(log_open_file(one, &err));
	LOG("test", LOG_ERROR, "first");
	assert_true(log_open_file(two, &err));
	LOG("test", LOG_ERROR, "second");
	assert_true(log_open_file(one, &err)); /* what is there stays */
	LOG("test", LOG_ERROR, "third");
	char *content = file_read(one, 1000, NULL, &err);
	assert_non_null(strstr(content, " error test: first\n"));
	assert_non_null(strstr(content, " error test: third\n"));
	assert_null(strstr(content, "second"));
	free(content);
	content = file_read(two, 1000, NULL, &err);
	assert_non_null(strstr(content, " error test: second\n"));
	assert_null(strstr(content, "third"));
	free(content);
	unlink(one);
	unlink(two);
	rmdir(dir);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels_per_module),
		cmocka_unit_test(test_bad_spec_changes_nothing),
		cmocka_unit_test(test_receivers),
		cmocka_unit_test(test_foreign_bytes_come_raw_and_bounded),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_stderr),
		cmocka_unit_test(test_another_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
