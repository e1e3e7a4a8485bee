// SPDX-License-Identifier: Apache-2.0
/* What a program is given: where it is found, its environment, its limits, its descriptors; and what a failed start says. */
#include "tests/unit/unit.h"

#include "local/daemon/exec_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof folder, "/tmp/sandmux-child-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	return 0;
}

static const char *at(const char *name)
{
	static char path[4][200];
	static unsigned next;
	char *out = path[next++ % 4];
	snprintf(out, sizeof path[0], "%s/%s", folder, name);
	return out;
}

static void put(const char *name, mode_t mode)
{
	int fd = open(at(name), O_WRONLY | O_CREAT | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	close(fd);
}

static void programs_are_looked_for_in_the_path(void **state)
{
	char before[4096], path[1000];
	(void)state;
	snprintf(before, sizeof before, "%s", getenv("PATH"));
	assert_int_equal(mkdir(at("one"), 0700), 0);
	assert_int_equal(mkdir(at("two"), 0700), 0);
	assert_int_equal(mkdir(at("two/dir"), 0700), 0);
	put("two/both", 0700);
	put("one/both", 0700);
	put("two/only", 0700);
	put("one/plain", 0600);
	put("two/plain", 0700);
	snprintf(path, sizeof path, ":relative:%s::%s", at("one"), at("two"));
	setenv("PATH", path, 1);
	const struct {
		const char *name, *is; /* NULL: nowhere */
	} rows[] = { { "both", at("one/both") }, { "only", at("two/only") },
		{ "plain", at("two/plain") }, { "none", NULL }, { "dir", NULL } };
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *is = daemon_exec_child_find(rows[i].name);
		if ((is == NULL) != (rows[i].is == NULL) || (is && strcmp(is, rows[i].is) != 0))
			fail_msg("%s: %s", rows[i].name, is ? is : "nowhere");
		free(is);
	}
	/* a path is taken as it is, there or not */
	char *is = daemon_exec_child_find("./none");
	assert_string_equal(is, "./none");
	free(is);
	unsetenv("PATH");
	assert_null(daemon_exec_child_find("both"));
	setenv("PATH", before, 1);
}

static const char *value_of(char **env, const char *name, int *n)
{
	const char *value = NULL;
	size_t length = strlen(name);
	*n = 0;
	for (; *env; env++)
		if (strncmp(*env, name, length) == 0 && (*env)[length] == '=') {
			value = *env + length + 1;
			++*n;
		}
	return value;
}

static void variables_are_laid_over_our_own(void **state)
{
	char *const extra[] = { (char[]){ "SANDMUX_A=new" }, (char[]){ "SANDMUX_AB=x" },
		(char[]){ "SANDMUX_AB=y=z" }, (char[]){ "SANDMUX_E=" } };
	int n;
	(void)state;
	setenv("SANDMUX_A", "old", 1);
	setenv("SANDMUX_O", "own", 1);
	char **env = daemon_exec_child_env(extra, COUNT(extra));
	assert_string_equal(value_of(env, "SANDMUX_A", &n), "new");
	assert_int_equal(n, 1);
	assert_string_equal(value_of(env, "SANDMUX_AB", &n), "y=z");
	assert_int_equal(n, 1);
	assert_string_equal(value_of(env, "SANDMUX_E", &n), "");
	assert_string_equal(value_of(env, "SANDMUX_O", &n), "own");
	assert_int_equal(n, 1);
	assert_string_equal(getenv("SANDMUX_A"), "old");
	daemon_exec_child_env_free(env);
	env = daemon_exec_child_env(NULL, 0);
	assert_string_equal(value_of(env, "SANDMUX_A", &n), "old");
	daemon_exec_child_env_free(env);
	daemon_exec_child_env_free(NULL);
	unsetenv("SANDMUX_A");
	unsetenv("SANDMUX_O");
}

/* What `sh -c script` writes, and its status. */
static int run(const char *script, const struct daemon_exec_child_limits *limits, char *out,
	size_t size)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	int ends[2], status;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *copy[COUNT(argv)];
	for (size_t i = 0; i < COUNT(argv); i++)
		copy[i] = argv[i] ? strdup(argv[i]) : NULL;
	const struct daemon_exec_child_opts opts = { .argv = copy,
		.dir_fd = dir,
		.in = null,
		.out = ends[1],
		.err = null,
		.limits = limits };
	pid_t pid = daemon_exec_child_start("/bin/sh", &opts);
	assert_true(pid > 0);
	close(ends[1]);
	size_t used = 0;
	ssize_t n;
	while ((n = read(ends[0], out + used, size - 1 - used)) > 0)
		used += (size_t)n;
	out[used] = '\0';
	close(ends[0]);
	close(null);
	close(dir);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (size_t i = 0; i < COUNT(copy); i++)
		free(copy[i]);
	return status;
}

static void it_runs_where_and_as_it_should(void **state)
{
	char out[400], wanted[300];
	(void)state;
	int status = run("pwd; exit 3", NULL, out, sizeof out);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	snprintf(wanted, sizeof wanted, "%s\n", folder);
	assert_string_equal(out, wanted);
	/* a group of its own, no signal blocked or ignored */
	static const int ignored[] = { SIGHUP, SIGUSR1, NSIG - 1 };
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_IGN);
	run("read pid name state parent group rest < /proc/$$/stat; test $pid = $group && echo own;"
	    "grep -E 'SigBlk|SigIgn' /proc/self/status",
		NULL, out, sizeof out);
	for (size_t i = 0; i < COUNT(ignored); i++)
		signal(ignored[i], SIG_DFL);
	assert_non_null(strstr(out, "SigBlk:\t0000000000000000\n"));
	assert_non_null(strstr(out, "SigIgn:\t0000000000000000\n"));
	assert_memory_equal(out, "own\n", 4);
}

static void limits_hold(void **state)
{
	const struct daemon_exec_child_limits limits = { .open_files = 20,
		.file_bytes = 1 << 20 };
	char out[400];
	(void)state;
	run("ulimit -n; ulimit -Hn; ulimit -f", &limits, out, sizeof out);
	assert_string_equal(out, "20\n20\n2048\n");
}

static void a_start_that_fails_says_why(void **state)
{
	static const struct {
		const char *program;
		int errnum;
	} rows[] = { { "/nowhere/at/all", ENOENT }, { "/etc/passwd", EACCES },
		{ "/", EACCES } };
	(void)state;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *argv[] = { (char[]){ "x" }, NULL };
	const struct daemon_exec_child_opts opts = {
		.argv = argv, .dir_fd = dir, .in = null, .out = null, .err = null
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(
			daemon_exec_child_start(rows[i].program, &opts), -rows[i].errnum);
	/* and leaves no child behind */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(null);
	close(dir);
}

/* In a process of its own, since it changes what that one may do. */
static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int soft_files(void)
{
	struct rlimit files;
	return getrlimit(RLIMIT_NOFILE, &files) == 0 ? (int)files.rlim_cur : -1;
}

/* The daemon takes what the system allows; a program gets what there was, or less. */
static int raise_files(void)
{
	const struct rlimit before = { 100, 200 };
	const struct daemon_exec_child_limits few = { .open_files = 50 },
					      many = { .open_files = 150 },
					      more = { .open_files = 500 };
	char out[100];
	setrlimit(RLIMIT_NOFILE, &before);
	daemon_exec_child_raise_own_limits();
	if (soft_files() != 200)
		return 1;
	run("ulimit -Sn; ulimit -Hn", NULL, out, sizeof out);
	if (strcmp(out, "100\n200\n") != 0)
		return 2;
	run("ulimit -Sn; ulimit -Hn", &few, out, sizeof out);
	if (strcmp(out, "50\n50\n") != 0)
		return 3;
	run("ulimit -Sn; ulimit -Hn", &many, out, sizeof out);
	if (strcmp(out, "150\n150\n") != 0)
		return 4;
	/* never more than there was */
	run("ulimit -Sn; ulimit -Hn", &more, out, sizeof out);
	if (strcmp(out, "200\n200\n") != 0)
		return 5;
	return soft_files() == 200 ? 0 : 6;
}

static void files_of_the_daemon_and_of_programs(void **state)
{
	(void)state;
	assert_int_equal(in_child(raise_files), 0);
}

static int own_score(void)
{
	char text[20] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	return n > 0 ? (int)strtol(text, NULL, 10) : -1;
}

/* A job goes first when memory runs out, whoever starts it; and not because it cannot be run. */
static int raise_score(void)
{
	char out[100];
	char *argv[] = { (char[]){ "x" }, NULL };
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (write(fd, "123", 3) != 3)
		return 1;
	close(fd);
	daemon_exec_child_raise_own_limits();
	run("cat /proc/self/oom_score_adj", NULL, out, sizeof out);
	if (strcmp(out, "800\n") != 0)
		return 2;
	if (own_score() != 123)
		return 3;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct daemon_exec_child_opts opts = {
		.argv = argv, .dir_fd = AT_FDCWD, .in = null, .out = null, .err = null
	};
	return daemon_exec_child_start("/nowhere", &opts) < 0 && own_score() == 123 ? 0 : 4;
}

static void a_job_goes_before_the_daemon(void **state)
{
	(void)state;
	assert_int_equal(in_child(raise_score), 0);
}

static void each_limit_is_that_of_its_kind(void **state)
{
	const struct daemon_exec_child_limits limits = { .processes = 5000,
		.open_files = 33,
		.file_bytes = 3 << 20,
		.address_space_bytes = 1 << 30,
		.data_bytes = 512 << 20 };
	char out[400];
	(void)state;
	run("sed -n 's/Max processes *//p' /proc/self/limits | tr -s ' '; ulimit -n; ulimit -f; ulimit -Sv; ulimit -Hv; ulimit -d",
		&limits, out, sizeof out);
	assert_string_equal(out, "5000 5000 processes \n33\n6144\n1048576\n1048576\n524288\n");
}

/* Its own session, with the terminal as that of the session. */
static void a_program_on_a_terminal(void **state)
{
	char name[64], out[400] = "", wanted[100];
	char *argv[] = { (char[]){ "sh" }, (char[]){ "-c" },
		(char[]){ "set -- $(cat /proc/self/stat); echo $6 $8; tty; echo $$; exec "
			  "</dev/tty; tty" },
		NULL };
	int status;
	(void)state;
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	assert_int_equal(ptsname_r(master, name, sizeof name), 0);
	int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	int dir = open("/", O_PATH | O_CLOEXEC);
	const struct daemon_exec_child_opts opts = { .argv = argv,
		.dir_fd = dir,
		.in = slave,
		.out = slave,
		.err = slave,
		.is_tty = true };
	pid_t pid = daemon_exec_child_start("/bin/sh", &opts);
	assert_true(pid > 0);
	close(slave);
	size_t used = 0;
	ssize_t n;
	while ((n = read(master, out + used, sizeof out - 1 - used)) > 0)
		used += (size_t)n;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(wanted, sizeof wanted, "%d %d\r\n%s\r\n%d\r\n/dev/tty\r\n", (int)pid, (int)pid,
		name, (int)pid);
	assert_string_equal(out, wanted);
	close(master);
	close(dir);
}

static void a_folder_that_is_gone(void **state)
{
	char *argv[] = { (char[]){ "x" }, NULL };
	(void)state;
	int file = open("/etc/passwd", O_PATH | O_CLOEXEC);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct daemon_exec_child_opts opts = {
		.argv = argv, .dir_fd = file, .in = null, .out = null, .err = null
	};
	assert_int_equal(daemon_exec_child_start("/bin/true", &opts), -ENOTDIR);
	const struct daemon_exec_child_opts closed = {
		.argv = argv, .dir_fd = AT_FDCWD, .in = 999, .out = null, .err = null
	};
	assert_true(daemon_exec_child_start("/bin/true", &closed) < 0);
	close(file);
	close(null);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_start_that_fails_says_why),
		TEST(programs_are_looked_for_in_the_path),
		TEST(variables_are_laid_over_our_own),
		TEST(it_runs_where_and_as_it_should),
		TEST(limits_hold),
		TEST(files_of_the_daemon_and_of_programs),
		TEST(a_job_goes_before_the_daemon),
		TEST(each_limit_is_that_of_its_kind),
		TEST(a_program_on_a_terminal),
		TEST(a_folder_that_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
