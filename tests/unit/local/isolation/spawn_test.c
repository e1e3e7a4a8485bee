// SPDX-License-Identifier: Apache-2.0
/* Real sandboxes are started: what the daemon answers is asked over its passed-in sockets. Where
 * bubblewrap cannot work the isolated ones are skipped, except on CI. */
#include "local/isolation/spawn.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/owner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char address[16]; /* of this run alone, as every sandbox has one of its own */

struct test {
	struct net_loop *loop;
	struct isolation_spawn *spawn;
	char dir[64], uid[32];
	bool is_over, is_listening;
	int status;
	char reason[128];
};

static void on_exit_seen(void *arg, int status, const char *reason)
{
	struct test *t = arg;
	t->is_over = true;
	t->status = status;
	snprintf(t->reason, sizeof t->reason, "%s", reason);
	t->spawn = NULL;
}

static void on_listening(void *arg)
{
	struct test *t = arg;
	t->is_listening = true;
}

static bool run_until_listening(struct test *t)
{
	int64_t end = clock_mono_ms() + 60000;
	isolation_spawn_on_listening(t->spawn, on_listening);
	while (!t->is_listening && !t->is_over && clock_mono_ms() < end)
		net_loop_run_once(t->loop, 50);
	return t->is_listening;
}

static void run_until_over(struct test *t, int64_t ms)
{
	int64_t end = clock_mono_ms() + ms;
	while (!t->is_over && clock_mono_ms() < end)
		net_loop_run_once(t->loop, 50);
}

static int set_up(void **state)
{
	struct test *t = calloc(1, sizeof *t);
	t->loop = net_loop_new(NULL);
	snprintf(t->dir, sizeof t->dir, "/tmp/spawn-test-XXXXXX");
	snprintf(address, sizeof address, "127.77.%d.%d", (int)getpid() >> 8 & 255,
		((int)getpid() & 127) + 1);
	/* names a cgroup of the machine, which another run of this program must not end */
	snprintf(t->uid, sizeof t->uid, "%d-test", (int)getpid());
	*state = t;
	return t->loop == NULL || mkdtemp(t->dir) == NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static int tear_down(void **state)
{
	struct test *t = *state;
	isolation_spawn_kill(t->spawn);
	net_loop_free(t->loop);
	int rc = nftw(t->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(t);
	return rc;
}

static char uid[40]; /* names the cgroup; another run may be under way */

static struct isolation_spawn_opts opts_for(struct test *t, enum isolation_mode mode)
{
	return (struct isolation_spawn_opts){ .name = "box-1",
		.uid = t->uid,
		.workspace = t->dir,
		.address = address,
		.daemon_path = DAEMON_PATH,
		.limits = { .pids = 64, .open_files = 256 },
		.host_uid = geteuid() == 0 ? OWNER_FIRST + (uid_t)getpid() : 0,
		.mode = mode };
}

/* One request, the whole answer. */
static void ask(uint16_t port, const char *request, char *answer, size_t size)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, address, &in.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = 10 };
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof in), 0);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	size_t n = 0;
	ssize_t got;
	while (n < size - 1 && (got = read(fd, answer + n, size - 1 - n)) > 0)
		n += (size_t)got;
	answer[n] = 0;
	close(fd);
}

static void check_serves(struct test *t, enum isolation_mode mode)
{
	struct err err = { 0 };
	struct isolation_spawn_opts opts = opts_for(t, mode);
	char answer[4096];
	t->spawn = isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err);
	if (t->spawn == NULL)
		fail_msg("%s", err.msg);
	if (mode == ISOLATION_BWRAP)
		assert_true(run_until_listening(t));
	ask(isolation_spawn_rest_port(t->spawn),
		"GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", answer,
		sizeof answer);
	assert_non_null(strstr(answer, "200 OK"));
	ask(isolation_spawn_rest_port(t->spawn),
		"PUT /v1/files/a/b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
		"Content-Length: 5\r\n\r\nhello",
		answer, sizeof answer);
	assert_non_null(strstr(answer, "204 No Content"));
	char path[128], content[16] = "";
	snprintf(path, sizeof path, "%s/a/b", t->dir);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, content, sizeof content - 1), 5);
	close(fd);
	assert_string_equal(content, "hello");
	isolation_spawn_stop(t->spawn, 5000);
	run_until_over(t, 20000);
	assert_true(t->is_over);
	assert_string_equal(t->reason, "exited with status 0");
}

static void serves_without_isolation(void **state)
{
	check_serves(*state, ISOLATION_NONE);
}

static bool can_isolate(void)
{
	struct err err;
	if (isolation_check(&err))
		return true;
	if (getenv("CI") != NULL)
		fail_msg("%s", err.msg);
	print_message("skipped: %s\n", err.msg);
	return false;
}

static void serves_in_bubblewrap(void **state)
{
	if (!can_isolate())
		skip();
	check_serves(*state, ISOLATION_BWRAP);
}

static void kill_ends_the_daemon_at_once(void **state)
{
	struct test *t = *state;
	if (!can_isolate())
		skip();
	struct isolation_spawn_opts opts = opts_for(t, ISOLATION_BWRAP);
	t->spawn = isolation_spawn_start(t->loop, &opts, on_exit_seen, t, NULL);
	assert_non_null(t->spawn);
	kill(isolation_spawn_pid(t->spawn), SIGKILL);
	run_until_over(t, 20000);
	assert_true(t->is_over);
	assert_string_equal(t->reason, "killed by signal 9 (Killed)");
}

static bool is_listening(uint16_t port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	inet_pton(AF_INET, address, &in.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = connect(fd, (struct sockaddr *)&in, sizeof in) == 0;
	close(fd);
	return ok;
}

/* The backend is killed: nothing of its sandboxes may stay. */
static void check_dies_with_parent(struct test *t, enum isolation_mode mode)
{
	int fds[2];
	uint16_t port = 0;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid ==
		0) { /* nothing is asserted here: who fails would go on as a second run of the tests */
		struct isolation_spawn_opts opts = opts_for(t, mode);
		t->loop = net_loop_new(NULL);
		t->spawn = isolation_spawn_start(t->loop, &opts, on_exit_seen, t, NULL);
		if (t->spawn == NULL || (mode == ISOLATION_BWRAP && !run_until_listening(t)))
			_exit(1);
		port = isolation_spawn_rest_port(t->spawn);
		if (write(fds[1], &port, sizeof port) != (ssize_t)sizeof port)
			_exit(1);
		pause();
	}
	close(fds[1]); /* a child that ends without a word is heard of */
	assert_int_equal(read(fds[0], &port, sizeof port), sizeof port);
	assert_true(port != 0);
	char answer[512];
	ask(port, "GET /v1/health HTTP/1.0\r\n\r\n", answer, sizeof answer);
	assert_true(is_listening(port));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	int64_t end = clock_mono_ms() + 20000;
	while (is_listening(port) && clock_mono_ms() < end)
		usleep(10000);
	assert_false(is_listening(port));
	close(fds[0]);
}

/* The grace is over in the turn of the loop that sees the end: nobody else may be killed. */
static void grace_ends_with_the_daemon(void **state)
{
	struct test *t = *state;
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		siginfo_t info;
		setpgid(0, 0);
		struct net_loop *loop = net_loop_new(NULL);
		struct isolation_spawn_opts opts = opts_for(t, ISOLATION_NONE);
		struct isolation_spawn *spawn =
			isolation_spawn_start(loop, &opts, on_exit_seen, t, NULL);
		if (spawn == NULL)
			_exit(2);
		kill(isolation_spawn_pid(spawn), SIGKILL);
		waitid(P_PID, (id_t)isolation_spawn_pid(spawn), &info, WEXITED | WNOWAIT);
		isolation_spawn_stop(spawn, 0);
		usleep(20000);
		net_loop_run_once(loop, 50);
		_exit(t->is_over ? 0 : 3);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void dies_with_its_parent(void **state)
{
	check_dies_with_parent(*state, ISOLATION_NONE);
}

static void dies_with_its_parent_in_bubblewrap(void **state)
{
	if (!can_isolate())
		skip();
	check_dies_with_parent(*state, ISOLATION_BWRAP);
}

static void refuses_to_be_root_on_the_host(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	struct isolation_spawn_opts opts = opts_for(t, ISOLATION_BWRAP);
	if (geteuid() != 0)
		skip();
	opts.host_uid = 0;
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	opts.host_uid = 1000; /* somebody's */
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
}

static void refuses_what_cannot_work(void **state)
{
	struct test *t = *state;
	struct err err = { 0 };
	struct isolation_spawn_opts opts = opts_for(t, ISOLATION_NONE);
	opts.address = "192.168.0.1";
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_int_equal(err.code, ERR_ARG_INVALID);
	opts = opts_for(t, ISOLATION_NONE);
	opts.workspace = "/tmp/spawn-test-not-there";
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	opts = opts_for(t, ISOLATION_NONE);
	opts.daemon_path = "/nonexistent/sandboxd";
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	/* an address that is taken */
	opts = opts_for(t, ISOLATION_NONE);
	t->spawn = isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err);
	assert_non_null(t->spawn);
	opts.rest_port = isolation_spawn_rest_port(t->spawn);
	assert_null(isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err));
	assert_non_null(strstr(err.msg, "in use"));
}

static void modes_have_names(void **state)
{
	(void)state;
	enum isolation_mode mode = ISOLATION_BWRAP;
	assert_true(isolation_mode_parse("none", &mode));
	assert_int_equal(mode, ISOLATION_NONE);
	assert_false(isolation_mode_parse("docker", &mode));
	assert_int_equal(mode, ISOLATION_NONE);
	assert_string_equal(isolation_mode_name(ISOLATION_BWRAP), "bwrap");
}

static void start_in(struct test *t, enum isolation_mode mode, uint64_t memory_bytes)
{
	struct err err = { 0 };
	struct isolation_spawn_opts opts = opts_for(t, mode);
	opts.limits.memory_bytes = memory_bytes;
	t->spawn = isolation_spawn_start(t->loop, &opts, on_exit_seen, t, &err);
	if (t->spawn == NULL)
		fail_msg("%s", err.msg);
}

/* The only child of this process with that name. */
static pid_t child_named(const char *name)
{
	char path[64], text[400] = "", *save = NULL;
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	close(fd);
	for (char *word = n > 0 ? strtok_r(text, " ", &save) : NULL; word != NULL;
		word = strtok_r(NULL, " ", &save)) {
		char comm[32] = "";
		snprintf(path, sizeof path, "/proc/%.20s/comm", word);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, comm, sizeof comm - 1) > 0 &&
			strncmp(comm, name, 15) == 0) {
			close(fd);
			return (pid_t)strtol(word, NULL, 10);
		}
		close(fd);
	}
	return 0;
}

/* A sandbox that nobody can reach is none. */
static void ends_without_its_proxy(void **state)
{
	struct test *t = *state;
	if (!can_isolate())
		skip();
	start_in(t, ISOLATION_BWRAP, 0);
	run_until_listening(t);
	pid_t proxy = child_named("sandmux-port-proxy");
	if (proxy == 0)
		skip(); /* this kernel does not tell */
	assert_int_equal(kill(proxy, SIGKILL), 0);
	run_until_over(t, 8000);
	assert_true(t->is_over);
	assert_string_equal(t->reason, "killed by signal 9 (Killed)");
	assert_int_equal(child_named("sandmux-port-proxy"), 0);
}

/* What does not end when it is told to is killed when the time is over; not before. */
static void a_daemon_that_does_not_listen_is_killed(void **state)
{
	struct test *t = *state;
	static const enum isolation_mode modes[] = { ISOLATION_NONE, ISOLATION_BWRAP };
	for (size_t i = 0; i < 2; i++) {
		if (modes[i] == ISOLATION_BWRAP && !can_isolate())
			skip();
		t->is_over = t->is_listening = false;
		start_in(t, modes[i], 0);
		if (modes[i] == ISOLATION_BWRAP)
			run_until_listening(t);
		char answer[512]; /* once it serves, the signal is held back */
		ask(isolation_spawn_rest_port(t->spawn), "GET /v1/health HTTP/1.0\r\n\r\n",
			answer, sizeof answer);
		assert_int_equal(kill(isolation_spawn_daemon_pid(t->spawn), SIGSTOP), 0);
		int64_t began_ms = clock_mono_ms();
		isolation_spawn_stop(t->spawn, 300);
		run_until_over(t, 8000);
		assert_true(t->is_over);
		assert_string_equal(t->reason, "killed by signal 9 (Killed)");
		assert_in_range(clock_mono_ms() - began_ms, 300, 7000);
		net_loop_run_once(t->loop, 0);
	}
}

/* Why it was killed is told, where the kernel tells it. */
static void out_of_memory_is_a_reason(void **state)
{
	enum { LIMIT = 48 << 20, MUCH = 128 << 20 };
	struct test *t = *state;
	int status;
	start_in(t, ISOLATION_NONE, LIMIT);
	const struct isolation_cgroup *cgroup = isolation_spawn_cgroup(t->spawn);
	if (!isolation_cgroup_has(cgroup, CGROUP_MEMORY))
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		isolation_cgroup_join(cgroup);
		char *bytes = malloc(MUCH);
		for (size_t i = 0; bytes != NULL && i < MUCH; i += 4096)
			((volatile char *)bytes)[i] = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	kill(isolation_spawn_pid(t->spawn), SIGKILL);
	run_until_over(t, 8000);
	assert_string_equal(t->reason, "out of memory (memory limit reached)");
}

static void the_reason_of_an_end(void **state)
{
	struct test *t = *state;
	start_in(t, ISOLATION_NONE, 0);
	assert_int_equal(isolation_spawn_pid(t->spawn), isolation_spawn_daemon_pid(t->spawn));
	assert_int_not_equal(
		isolation_spawn_rest_port(t->spawn), isolation_spawn_grpc_port(t->spawn));
	kill(isolation_spawn_pid(t->spawn), SIGABRT);
	run_until_over(t, 8000);
	assert_string_equal(t->reason, "killed by signal 6 (Aborted)");
	assert_true(WIFSIGNALED(t->status) && WTERMSIG(t->status) == SIGABRT);
}

static void guards_have_names(void **state)
{
	static const char *const names[] = { "host-user", "network", "proxy", "closed",
		"filter", "landlock", "masks", "sizes", "keyring", "pids", "system", "ipc",
		"core" };
	(void)state;
	assert_int_equal(sizeof names / sizeof names[0], SPAWN_GUARD_COUNT);
	for (int i = 0; i < SPAWN_GUARD_COUNT; i++)
		assert_string_equal(
			isolation_spawn_guard_name((enum isolation_spawn_guard)i), names[i]);
}

int main(void)
{
	snprintf(uid, sizeof uid, "spawn-test-%d", (int)getpid());
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_have_names),
		cmocka_unit_test(guards_have_names),
		cmocka_unit_test_setup_teardown(ends_without_its_proxy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_daemon_that_does_not_listen_is_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(out_of_memory_is_a_reason, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_reason_of_an_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(serves_without_isolation, set_up, tear_down),
		cmocka_unit_test_setup_teardown(serves_in_bubblewrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			kill_ends_the_daemon_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(grace_ends_with_the_daemon, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dies_with_its_parent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			dies_with_its_parent_in_bubblewrap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			refuses_to_be_root_on_the_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refuses_what_cannot_work, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
