// SPDX-License-Identifier: Apache-2.0
/* The words of bubblewrap, and what is said where it does not work. */
#include "tests/unit/local/isolation/parts.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Each guard has its words, and without it they are gone, and those of no other. */
static void guards_have_words(void **state)
{
	static const struct {
		enum isolation_spawn_guard guard;
		const char *a, *b;
		bool only_without;
	} rows[] = { { SPAWN_GUARD_NETWORK, "--unshare-net", NULL, false },
		{ SPAWN_GUARD_IPC, "--unshare-ipc", NULL, false },
		{ SPAWN_GUARD_PIDS, "--unshare-pid", NULL, false },
		{ SPAWN_GUARD_PIDS, "--as-pid-1", NULL, false },
		{ SPAWN_GUARD_SIZES, "--remount-ro", "/dev", false },
		{ SPAWN_GUARD_MASKS, "/proc/sys", "/proc/sys", false },
		{ SPAWN_GUARD_MASKS, "/dev/null", "/proc/interrupts", false },
		{ SPAWN_GUARD_SYSTEM, "--bind", "/", true } };
	(void)state;
	for (int guard = 0; guard <= SPAWN_GUARD_COUNT; guard++) {
		struct isolation_bwrap_args args = { 0 };
		struct err err = { 0 };
		uint32_t bits = guard < SPAWN_GUARD_COUNT ? 1u << guard : 0;
		if (!isolation_bwrap_base(&args, "box", bits, &err)) {
			assert_int_equal(err.code, ERR_LOCAL_ISOLATION);
			isolation_bwrap_free(&args);
			skip();
		}
		for (size_t i = 0; i < COUNT(rows); i++) {
			bool is_off = (int)rows[i].guard == guard;
			if (has_words(&args, rows[i].a, rows[i].b) !=
				(is_off == rows[i].only_without))
				fail_msg("guard %d, row %zu", guard, i);
		}
		assert_true(has_words(&args, "--die-with-parent", NULL));
		assert_true(has_words(&args, "--unshare-user", "--unshare-uts"));
		assert_true(has_words(&args, "--new-session", "--clearenv"));
		assert_true(has_words(&args, "--cap-drop", "ALL"));
		assert_null(args.words[args.n]);
		for (size_t i = 0; i < args.n_fds; i++)
			assert_int_equal(fcntl(args.fds[i], F_GETFD), FD_CLOEXEC);
		isolation_bwrap_free(&args);
	}
}

static void an_environment_goes_by_descriptor(void **state)
{
	struct isolation_bwrap_args args = { 0 };
	struct err err = { 0 };
	char *const env[] = { (char[]){ "A=b=c" }, (char[]){ "NONE" }, (char[]){ "E=" }, NULL };
	static const char wanted[] = "--setenv\0A\0b=c\0--setenv\0E\0";
	char bytes[200], number[16];
	(void)state;
	assert_true(isolation_bwrap_add_env(&args, env, &err));
	snprintf(number, sizeof number, "%d", args.fds[0]);
	assert_true(has_words(&args, "--args", number));
	assert_int_equal(read(args.fds[0], bytes, sizeof bytes), sizeof wanted);
	assert_memory_equal(bytes, wanted, sizeof wanted);
	isolation_bwrap_free(&args);
	/* what does not fit is not cut */
	char *large = x_malloc(BWRAP_ENV_BYTES + 1);
	memset(large, 'x', BWRAP_ENV_BYTES);
	memcpy(large, "A=", 2);
	large[BWRAP_ENV_BYTES] = '\0';
	char *const too_large[] = { large, NULL };
	assert_false(isolation_bwrap_add_env(&args, too_large, &err));
	assert_int_equal(err.code, ERR_LIMIT_UPLOAD);
	isolation_bwrap_free(&args);
	free(large);
}

/* ---- is it possible here? */

static const char *fake_script;

static int check_fake(void)
{
	struct err err = { 0 };
	char *path = x_asprintf("%s/bwrap", dir),
	     *search = x_asprintf(":/nowhere:%s:/usr/bin:/bin", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	dprintf(fd, "#!/bin/sh\n%s\n", fake_script);
	close(fd);
	setenv("PATH", search, 1);
	bool ok = isolation_check(&err);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	dprintf(fd, "%d %s", ok, ok ? "" : err.msg);
	close(fd);
	free(path);
	free(search);
	return ok || err.code == ERR_LOCAL_ISOLATION ? 0 : 1;
}

static void what_bubblewrap_says(void **state)
{
	static const struct {
		const char *script, *result;
	} rows[] = { { "exit 0", "1 " },
		{ "echo \"$@\" | grep -q -- '--remount-ro / -- /bin/true$'", "1 " },
		{ "exit 3", "0 bubblewrap does not work here: it failed without a word" },
		{ "kill -9 $$", "0 bubblewrap does not work here: it failed without a word" },
		{ "echo to-stdout; printf 'one\\ntwo\\n\\n' >&2; exit 1",
			"0 bubblewrap does not work here: one\ntwo" },
		{ "echo 'bwrap: Creating new namespace: Operation not permitted' >&2; exit 1",
			"0 bubblewrap does not work here: bwrap: Creating new namespace: "
			"Operation not permitted; creating namespaces is not allowed here (a "
			"container or a seccomp profile)" },
		{ "echo 'Permission denied' >&2; exit 1",
			"0 bubblewrap does not work here: Permission denied; creating "
			"namespaces is not allowed here (a container or a seccomp profile)" },
		{ "echo \"Can't mount proc: Operation not permitted\" >&2; exit 1",
			"0 bubblewrap does not work here: Can't mount proc: Operation not "
			"permitted; an outer container hides parts of /proc, so no new one can "
			"be mounted: run it unconfined (for Docker: --security-opt "
			"systempaths=unconfined)" },
		{ "head -c 3000 /dev/zero | tr '\\0' x >&2; exit 1",
			"0 bubblewrap does not work here: xxx" } };
	char path[100], text[600];
	(void)state;
	snprintf(path, sizeof path, "%s/bwrap", dir);
	for (size_t i = 0; i < COUNT(rows); i++) {
		fake_script = rows[i].script;
		in_child(check_fake);
		memset(text, 0, sizeof text);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(read(fd, text, sizeof text - 1) > 0);
		close(fd);
		/* switches of this machine may be blamed first */
		if (strstr(text, "sysctl ") != NULL)
			continue;
		if (i + 1 == COUNT(rows))
			text[strlen(rows[i].result)] = '\0';
		if (strcmp(text, rows[i].result) != 0)
			fail_msg("row %zu: %s", i, text);
	}
}

/* Where the linker puts the waiting through here, it passes at once. */
static bool is_quick;
static int64_t passed_ms;

int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int64_t __real_clock_mono_ms(void);
int64_t __wrap_clock_mono_ms(void);

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	if (!is_quick)
		return __real_poll(fds, n, timeout_ms);
	passed_ms += timeout_ms;
	fds->revents = 0;
	return 0;
}

int64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + passed_ms;
}

static int check_silent(void)
{
	struct err err = { 0 };
	char *path = x_asprintf("%s/bwrap", dir), *search = x_asprintf("%s:/usr/bin:/bin", dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	dprintf(fd, "#!/bin/sh\n[ \"$1\" = --help ] || exec sleep 100\n");
	close(fd);
	setenv("PATH", search, 1);
	is_quick = true;
	bool ok = isolation_check(&err);
	free(path);
	free(search);
	WANT(!ok && err.code == ERR_LOCAL_ISOLATION, 1);
	WANT(strcmp(err.msg, "bubblewrap did not answer in 5 s") == 0, 2);
	WANT(passed_ms >= 4000 && passed_ms <= 5000, 3);
	WANT(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, 4); /* killed and gone */
	return 0;
}

static void a_bubblewrap_that_says_nothing(void **state)
{
	(void)state;
	in_child(check_silent);
}

static int check_none(void)
{
	struct err err = { 0 };
	setenv("PATH", dir, 1);
	WANT(!isolation_bwrap_has_sizes(), 1);
	WANT(!isolation_check(&err) && err.code == ERR_LOCAL_ISOLATION, 2);
	WANT(strcmp(err.msg, "bubblewrap (bwrap) is not installed") == 0, 3);
	return 0;
}

static int check_sizes(void)
{
	return isolation_bwrap_has_sizes() ? 10 : 11;
}

static void a_bubblewrap_that_is_old(void **state)
{
	static const char *const scripts[] = { "echo '  --size BYTES  of the next' >&2",
		"echo '  --tmpfs DEST'" };
	char path[100], before[4096];
	int status;
	(void)state;
	in_child(check_none);
	snprintf(path, sizeof path, "%s/bwrap", dir);
	snprintf(before, sizeof before, "%s", getenv("PATH"));
	setenv("PATH", dir, 1);
	for (size_t i = 0; i < COUNT(scripts); i++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
		dprintf(fd, "#!/bin/sh\n%s\n", scripts[i]);
		close(fd);
		pid_t pid = fork();
		if (pid == 0)
			_exit(check_sizes());
		waitpid(pid, &status, 0);
		assert_int_equal(WEXITSTATUS(status), 10 + (int)i);
	}
	setenv("PATH", before, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* before this process has asked the real one what it can do */
		TEST(a_bubblewrap_that_is_old),
		TEST(what_bubblewrap_says),
		TEST(a_bubblewrap_that_says_nothing),
		TEST(guards_have_words),
		TEST(an_environment_goes_by_descriptor),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
