// SPDX-License-Identifier: Apache-2.0
/* What a sandbox is made of, piece by piece: the command line of its daemon, the fork, the stage of root, the libraries. */
#include "tests/unit/local/isolation/parts.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "local/isolation/bwrap.h"
#include "local/isolation/child.h"
#include "local/isolation/launch.h"
#include "local/isolation/libs.h"
#include "local/isolation/owner.h"
#include "local/isolation/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

int outside(void); /* outside.c */

/* ---- the command line of the daemon */

static struct isolation_spawn_opts opts_for(enum isolation_mode mode)
{
	return (struct isolation_spawn_opts){ .name = "box",
		.workspace = dir,
		.address = "127.77.0.3",
		.token_sha256 = "abc",
		.limits = { .memory_bytes = 4096, .file_bytes = 3, .pids = 2, .open_files = 1 },
		.host_uid = geteuid() == 0 ? OWNER_FIRST + 3 : 0,
		.mode = mode };
}

static void without_isolation(void **state)
{
	struct isolation_launch launch;
	struct err err = { 0 };
	struct isolation_spawn_opts opts = opts_for(ISOLATION_NONE);
	char rest[16], grpc[16];
	(void)state;
	isolation_launch_init(&launch);
	assert_true(isolation_launch_prepare(&launch, &opts, "/daemon", NULL, &err));
	snprintf(rest, sizeof rest, "%d", launch.rest_fd);
	snprintf(grpc, sizeof grpc, "%d", launch.grpc_fd);
	const char *const words[] = { "/daemon", "--root-dir", dir, "--auth-token-sha256",
		"abc", "--limit-processes", "2", "--limit-open-files", "1", "--limit-file-size",
		"3", "--limit-data", "4096", "--rest-fd", rest, "--grpc-fd", grpc };
	assert_int_equal(launch.args.n, COUNT(words));
	for (size_t i = 0; i < COUNT(words); i++)
		assert_string_equal(launch.args.words[i], words[i]);
	assert_true(launch.rest_port != 0 && launch.grpc_port != 0);
	assert_int_not_equal(launch.rest_port, launch.grpc_port);
	assert_false(launch.is_env_inside);
	assert_int_equal(launch.ready_read, -1);
	assert_int_equal(launch.info_read, -1);
	assert_false(launch.keeps_keyring || launch.may_dump_core);
	char *home = x_asprintf("HOME=%s", dir);
	assert_string_equal(launch.env[launch.n_env - 1], home);
	assert_null(launch.env[launch.n_env]);
	free(home);
	isolation_launch_deinit(&launch);
	/* nothing that was not asked for */
	opts.token_sha256 = NULL;
	opts.limits = (struct isolation_spawn_limits){ 0 };
	isolation_launch_init(&launch);
	assert_true(isolation_launch_prepare(&launch, &opts, "/daemon", NULL, &err));
	assert_int_equal(launch.args.n, 7);
	isolation_launch_deinit(&launch);
}

static void guards_of_the_daemon(void **state)
{
	static const struct {
		enum isolation_spawn_guard guard;
		const char *word;
		bool only_without;
	} rows[] = { { SPAWN_GUARD_CLOSED, "--closed", false },
		{ SPAWN_GUARD_LANDLOCK, "--landlock", false },
		{ SPAWN_GUARD_FILTER, "--filter-fd", false },
		{ SPAWN_GUARD_PROXY, "--socket-dir", false },
		{ SPAWN_GUARD_PROXY, "--ready-fd", false },
		{ SPAWN_GUARD_PROXY, "--rest-fd", true },
		{ SPAWN_GUARD_PROXY, "--grpc-fd", true } };
	(void)state;
	for (int guard = 0; guard <= SPAWN_GUARD_COUNT; guard++) {
		struct isolation_launch launch;
		struct err err = { 0 };
		struct isolation_spawn_opts opts = opts_for(ISOLATION_BWRAP);
		opts.unguarded = guard < SPAWN_GUARD_COUNT ? 1u << guard : 0;
		isolation_launch_init(&launch);
		if (!isolation_launch_prepare(&launch, &opts, "/bin/true", NULL, &err)) {
			isolation_launch_deinit(&launch);
			if (err.code != ERR_LOCAL_ISOLATION)
				fail_msg("%s", err.msg);
			skip();
		}
		for (size_t i = 0; i < COUNT(rows); i++) {
			bool is_off = (int)rows[i].guard == guard;
			if (has_words(&launch.args, rows[i].word, NULL) !=
				(is_off == rows[i].only_without))
				fail_msg("guard %d, row %zu", guard, i);
		}
		assert_true(has_words(&launch.args, "--own-userns", NULL));
		assert_true(launch.is_env_inside);
		assert_int_equal(launch.filter_fd >= 0, guard != SPAWN_GUARD_FILTER);
		assert_int_equal(launch.ready_read >= 0, guard != SPAWN_GUARD_PROXY);
		assert_int_equal(launch.keeps_keyring, guard == SPAWN_GUARD_KEYRING);
		assert_int_equal(launch.may_dump_core, guard == SPAWN_GUARD_CORE);
		if (geteuid() == 0)
			assert_int_equal(launch.host_uid,
				guard == SPAWN_GUARD_HOST_USER ? 0 : OWNER_FIRST + 3);
		isolation_launch_deinit(&launch);
	}
}

static void our_programs_are_found(void **state)
{
	struct err err = { 0 };
	char self[PATH_MAX], *slash;
	(void)state;
	self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	struct isolation_spawn_opts opts = { .daemon_path = NULL };
	const char *const names[] = { "sandmux-sandboxd", "sandmux-port-proxy" };
	for (size_t i = 0; i < COUNT(names); i++) {
		char *wanted = x_asprintf("%s/%s", self, names[i]);
		char *found = i == 0 ? isolation_launch_find_daemon(&opts, &err)
				     : isolation_launch_find_proxy(&opts, &err);
		assert_string_equal(found, wanted);
		free(found);
		free(wanted);
	}
	/* the proxy beside a daemon that was named; if it may be run */
	char *daemon = x_asprintf("%s/daemon", dir),
	     *proxy = x_asprintf("%s/%s", dir, names[1]);
	close(open(daemon, O_WRONLY | O_CREAT | O_CLOEXEC, 0755));
	close(open(proxy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	opts.daemon_path = daemon;
	char *found = isolation_launch_find_daemon(&opts, &err);
	assert_string_equal(found, daemon);
	free(found);
	found = isolation_launch_find_proxy(&opts, &err);
	assert_string_not_equal(found, proxy);
	free(found);
	chmod(proxy, 0755);
	found = isolation_launch_find_proxy(&opts, &err);
	assert_string_equal(found, proxy);
	free(found);
	opts.daemon_path = "/nowhere/daemon";
	assert_null(isolation_launch_find_daemon(&opts, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	free(daemon);
	free(proxy);
}

static void libraries_outside_the_system(void **state)
{
	char self[PATH_MAX];
	(void)state;
	assert_int_equal(outside(), 7);
	self[readlink("/proc/self/exe", self, sizeof self - 1)] = '\0';
	for (int again = 0; again < 2; again++) {
		char **paths = isolation_libs_outside_system(self);
		assert_non_null(paths[0]);
		assert_null(paths[1]); /* not those of /usr and /lib */
		assert_non_null(strstr(paths[0], "/libisolation_outside.so"));
		assert_int_equal(paths[0][0], '/');
		assert_int_equal(access(paths[0], R_OK), 0);
		isolation_libs_free(paths);
		/* the answer is that of the program */
		paths = isolation_libs_outside_system(again ? "/nowhere" : "/bin/true");
		assert_null(paths[0]);
		isolation_libs_free(paths);
	}
	isolation_libs_free(NULL);
}

/* ---- the fork */

static int told[2], extra;
static bool keeps_core;

static void tell(void *arg)
{
	struct rlimit core;
	sigset_t blocked;
	struct sigaction act;
	int parent_dies = 0;
	char link[3][64] = { "", "", "" };
	(void)arg;
	for (int fd = 0; fd < 3; fd++) {
		char path[32];
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (readlink(path, link[fd], sizeof link[fd] - 1) < 0)
			link[fd][0] = '\0';
	}
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	bool all_default = true;
	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &act) == 0)
			all_default = all_default && act.sa_handler == SIG_DFL;
	prctl(PR_GET_PDEATHSIG, &parent_dies);
	getrlimit(RLIMIT_CORE, &core);
	dprintf(told[1], "%s %s %s|%d %d %d|%d %d|%d %d\n", link[0], link[1], link[2],
		sigismember(&blocked, SIGUSR2), all_default, parent_dies, getsid(0) == getpid(),
		core.rlim_max == 0, fcntl(extra, F_GETFD), fcntl(told[1], F_GETFD));
	if (isolation_child_pass(extra) && isolation_child_pass(-1) &&
		fcntl(extra, F_GETFD) == 0)
		execl("/bin/true", "true", (char *)NULL);
}

static void a_child_begins_anew(void **state)
{
	struct err err = { 0 };
	char text[400] = "", wanted[400];
	sigset_t set, old;
	struct rlimit core, before;
	int status;
	(void)state;
	/* something to be taken away */
	getrlimit(RLIMIT_CORE, &before);
	core = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	bool has_core = setrlimit(RLIMIT_CORE, &core) == 0 || before.rlim_max != 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, &old);
	static const int ignored[] = { SIGHUP, SIGUSR1, NSIG - 1 };
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	extra = open("/", O_RDONLY | O_DIRECTORY);
	char *log = x_asprintf("%s/log", dir);
	for (int i = 0; i < 2; i++) {
		int log_fd = i == 0 ? -1 : open(log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		keeps_core = i == 1;
		assert_int_equal(pipe(told), 0);
		const struct isolation_child_opts opts = {
			.name = "it", .log_fd = log_fd, .may_dump_core = keeps_core, .run = tell
		};
		pid_t pid = isolation_child_start(&opts, &err);
		if (pid <= 0)
			fail_msg("%s", err.msg);
		close(told[1]);
		memset(text, 0, sizeof text);
		assert_true(read(told[0], text, sizeof text - 1) > 0);
		close(told[0]);
		snprintf(wanted, sizeof wanted, "/dev/null /dev/null %s|0 1 9|1 %d|1 1\n",
			i == 0 ? "/dev/null" : log, i == 0 || !has_core);
		assert_string_equal(text, wanted);
		waitpid(pid, &status, 0);
		assert_int_equal(status, 0);
		if (log_fd >= 0)
			close(log_fd);
	}
	setrlimit(RLIMIT_CORE, &before);
	/* ours are as they were */
	sigprocmask(SIG_SETMASK, &old, &set);
	assert_true(sigismember(&set, SIGUSR2));
	assert_false(sigismember(&set, SIGTERM));
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_DFL);
	close(extra);
	free(log);
}

static void fail_with(void *arg)
{
	errno = *(int *)arg;
}

static void a_child_that_cannot_run_says_why(void **state)
{
	struct err err = { 0 };
	int errnum = ELOOP;
	(void)state;
	const struct isolation_child_opts opts = {
		.name = "/the/name", .log_fd = -1, .run = fail_with, .arg = &errnum
	};
	assert_int_equal(isolation_child_start(&opts, &err), 0);
	assert_non_null(strstr(err.msg, "cannot run /the/name"));
	assert_non_null(strstr(err.msg, strerror(ELOOP)));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* reaped */
	assert_int_equal(errno, ECHILD);
}

static int check_become(void)
{
	const uid_t uid = OWNER_FIRST + 4;
	int signal_number = 0;
	uid_t r, e, s;
	gid_t rg, eg, sg;
	WANT(isolation_child_become(0) && geteuid() == 0, 1);
	WANT(isolation_child_become(uid), 2);
	WANT(getresuid(&r, &e, &s) == 0 && r == uid && e == uid && s == uid, 3);
	WANT(getresgid(&rg, &eg, &sg) == 0 && rg == uid && eg == uid && sg == uid, 4);
	WANT(getgroups(0, NULL) == 0, 5);
	WANT(prctl(PR_GET_PDEATHSIG, &signal_number) == 0 && signal_number == SIGKILL, 6);
	WANT(setresuid(0, 0, 0) != 0, 7);
	WANT(!isolation_child_become(uid + 1), 8);
	return 0;
}

static void becoming_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	in_child(check_become);
}

/* ---- the stage */

static char run_file[] = "/run/parts-test-XXXXXX"; /* others may run the same test */

static int check_stage(void)
{
	struct isolation_stage stage = { 0 };
	struct stat here, there;
	char file[100], folder[100];
	snprintf(file, sizeof file, "%s/file", dir);
	snprintf(folder, sizeof folder, "%s/folder", dir);
	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
	mkdir(folder, 0700);
	const char *const from[] = { file, folder, run_file };
	const char *to[COUNT(from)];
	for (size_t i = 0; i < COUNT(from); i++)
		to[i] = isolation_stage_add(&stage, from[i]);
	WANT(isolation_stage_add(&stage, folder) == to[1] && stage.n == COUNT(from), 1);
	WANT(strcmp(to[0], "/run/0") == 0 && strcmp(to[2], "/run/2") == 0, 2);
	umask(077);
	WANT(isolation_stage_enter(&stage), 3);
	WANT(umask(0) == 077, 4);
	WANT(stat(run_file, &here) != 0 && errno == ENOENT, 5); /* hidden, but held */
	for (size_t i = 0; i < 2; i++) {
		WANT(stat(from[i], &here) == 0 && stat(to[i], &there) == 0, 6);
		WANT(here.st_ino == there.st_ino && here.st_dev == there.st_dev, 7);
		WANT(here.st_mode == there.st_mode, 8);
	}
	WANT(stat(to[2], &there) == 0 && (there.st_mode & 0777) == 0600, 9);
	WANT(stat("/run", &there) == 0 && (there.st_mode & 07777) == 0755, 10);
	isolation_stage_deinit(&stage);
	isolation_stage_add(&stage, "/nowhere/at/all");
	WANT(!isolation_stage_enter(&stage) && errno == ENOENT, 11);
	isolation_stage_deinit(&stage);
	return 0;
}

static int check_full_stage(void)
{
	enum { MOST = 64 };
	struct isolation_stage stage = { 0 };
	for (int i = 0; i <= MOST; i++) {
		char path[100];
		snprintf(path, sizeof path, "%s/%d", dir, i);
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		isolation_stage_add(&stage, path);
	}
	WANT(!isolation_stage_enter(&stage) && errno == E2BIG, 1);
	free(stage.entries[MOST].from);
	free(stage.entries[MOST].to);
	stage.n--;
	WANT(isolation_stage_enter(&stage), 2);
	WANT(access("/run/63", F_OK) == 0, 3);
	isolation_stage_deinit(&stage);
	return 0;
}

static void the_stage_of_root(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	int fd = mkstemp(run_file);
	assert_true(fd >= 0);
	close(fd);
	in_child(check_stage);
	assert_int_equal(unlink(run_file), 0); /* the mounts were the child's own */
	in_child(check_full_stage);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_isolation),
		TEST(guards_of_the_daemon),
		TEST(our_programs_are_found),
		TEST(libraries_outside_the_system),
		TEST(a_child_begins_anew),
		TEST(a_child_that_cannot_run_says_why),
		TEST(becoming_another_user),
		TEST(the_stage_of_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
