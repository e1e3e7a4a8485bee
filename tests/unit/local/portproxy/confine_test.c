// SPDX-License-Identifier: Apache-2.0
/* What a process that was taken over could do after portproxy_confine(): each thing is tried before, where it works, and after. */
#include "local/portproxy/portproxy.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Zero or an errno. */
static int result(long rc)
{
	return rc < 0 ? errno : 0;
}

static int opens_a_file(void)
{
	return result(open("/dev/null", O_RDONLY));
}

static int makes_a_file(void)
{
	return result(open("/tmp", O_TMPFILE | O_RDWR, 0600));
}

static int makes_a_tcp_socket(void)
{
	return result(socket(AF_INET, SOCK_STREAM, 0));
}

static int makes_a_udp_socket(void)
{
	return result(socket(AF_INET6, SOCK_DGRAM, 0));
}

static int makes_a_netlink_socket(void)
{
	return result(socket(AF_NETLINK, SOCK_RAW, 0));
}

static int forks(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(0);
	return result(pid);
}

static int runs_a_program(void)
{
	static char name[] = "/nonexistent";
	char *const argv[] = { name, NULL };
	return result(execve(name, argv, NULL)) == ENOENT ? 0 : errno;
}

static int signals(void)
{
	return result(kill(getppid(), 0));
}

static int traces(void)
{
	return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
}

static int reads_memory_of_others(void)
{
	return result(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0));
}

static int sends_a_message(void)
{
	int fds[2];
	struct iovec part = { .iov_base = fds, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
		return errno;
	return result(sendmsg(fds[0], &message, 0));
}

static int makes_a_namespace(void)
{
	return result(syscall(SYS_unshare, 0));
}

static int changes_its_user(void)
{
	return result(setresuid(geteuid(), geteuid(), geteuid()));
}

/* A listener of the test, in the network that the process is in as well. */
static struct sockaddr_un abstract;
static socklen_t abstract_n;

static int reaches_an_abstract_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return fd < 0 ? errno : result(connect(fd, (struct sockaddr *)&abstract, abstract_n));
}

static const struct attempt {
	const char *what;
	int (*try)(void);
} attempts[] = {
	{ "opens a file", opens_a_file },
	{ "makes a file", makes_a_file },
	{ "makes a TCP socket", makes_a_tcp_socket },
	{ "makes a UDP socket", makes_a_udp_socket },
	{ "makes a netlink socket", makes_a_netlink_socket },
	{ "forks", forks },
	{ "runs a program", runs_a_program },
	{ "signals", signals },
	{ "traces", traces },
	{ "reads memory of others", reads_memory_of_others },
	{ "sends a descriptor", sends_a_message },
	{ "makes a namespace", makes_a_namespace },
	{ "changes its user", changes_its_user },
};

/* What it answers in a process of its own; -1: that one broke. */
static int ask(const struct attempt *attempt, bool is_confined)
{
	int fds[2], answer = -1;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		answer = is_confined && !portproxy_confine() ? -1 : attempt->try();
		_exit(write(fds[1], &answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
	}
	close(fds[1]);
	if (read(fds[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
		answer = -1;
	close(fds[0]);
	waitpid(pid, NULL, 0);
	return answer;
}

static void nothing_is_left_but_to_move_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++) {
		int before = ask(&attempts[i], false), after = ask(&attempts[i], true);
		if (before != 0)
			fail_msg("%s: errno %d without confine()", attempts[i].what, before);
		if (after != EPERM && after != EACCES)
			fail_msg("%s: errno %d with confine()", attempts[i].what, after);
	}
}

static void no_abstract_socket_is_left(void **state)
{
	const struct attempt attempt = { "reaches an abstract socket",
		reaches_an_abstract_socket };
	(void)state;
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	abstract.sun_family = AF_UNIX;
	/* the kernel chooses a name: bind() with the family alone, unix(7) */
	assert_int_equal(
		bind(listener, (struct sockaddr *)&abstract, sizeof abstract.sun_family), 0);
	assert_int_equal(listen(listener, 8), 0);
	abstract_n = sizeof abstract;
	assert_int_equal(getsockname(listener, (struct sockaddr *)&abstract, &abstract_n), 0);
	assert_int_equal(ask(&attempt, false), 0);
	bool has_scopes = syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 6;
	assert_int_equal(ask(&attempt, true), has_scopes ? EPERM : 0);
	close(listener);
}

static int connects(void)
{
	struct sockaddr_un nobody = { .sun_family = AF_UNIX, .sun_path = "" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	int errnum = result(connect(fd, (struct sockaddr *)&nobody, sizeof nobody));
	return errnum == ECONNREFUSED ? 0 : errnum;
}

static int moves_bytes(void)
{
	int fds[2];
	char bytes[4] = "abc";
	if (pipe2(fds, O_CLOEXEC) != 0 || write(fds[1], bytes, 3) != 3 ||
		read(fds[0], bytes, 3) != 3)
		return errno;
	return 0;
}

static void moving_bytes_is_left(void **state)
{
	static const struct attempt kept[] = { { "connects", connects },
		{ "moves bytes", moves_bytes } };
	(void)state;
	for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
		if (ask(&kept[i], true) != 0)
			fail_msg("%s: errno %d with confine()", kept[i].what,
				ask(&kept[i], true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_but_to_move_bytes),
		cmocka_unit_test(no_abstract_socket_is_left),
		cmocka_unit_test(moving_bytes_is_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
