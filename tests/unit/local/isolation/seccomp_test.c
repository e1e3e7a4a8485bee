// SPDX-License-Identifier: Apache-2.0
/* The table of system calls, walked: each row is tried in a process under the filter with arguments that it names, and
 * what it does not name is tried too. Without the filter the same calls must get other answers, or the walk says
 * nothing. Arguments are such that no call does anything where it is let through. */
#include "local/isolation/seccomp.h"

#include "engine/base/err.h"

#include <errno.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cmocka.h>

enum { ARGS = 6, FILTER_MAX = 4096 };
enum { CRASHED = 10000, NO_ANSWER };

struct call {
	long number;
	bool is_i386; /* through int 0x80 */
	unsigned long args[ARGS];
};

static struct sock_filter filter[FILTER_MAX];
static struct sock_fprog program = { .filter = filter };

static int load_table(void **state)
{
	struct err err;
	(void)state;
	int fd = isolation_syscall_filter_fd(&err);
	ssize_t n = fd >= 0 ? read(fd, filter, sizeof filter) : -1;
	close(fd);
	if (n <= 0 || n % (ssize_t)sizeof *filter != 0)
		return 1;
	program.len = (unsigned short)((size_t)n / sizeof *filter);
	return 0;
}

#ifdef __x86_64__
static long call_i386(const struct call *call)
{
	long result;
	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(call->number), "b"(call->args[0]), "c"(call->args[1]),
			 "d"(call->args[2]), "S"(call->args[3]), "D"(call->args[4])
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)result;
}
#else
static long call_i386(const struct call *call)
{
	(void)call;
	return -ENOSYS;
}
#endif

/* Its errno, 0 where it worked. A call that makes a process ends that one. */
static int do_call(const struct call *call)
{
	const unsigned long *a = call->args;
	long self = syscall(SYS_getpid), result;
	if (call->is_i386) {
		result = call_i386(call);
		errno = result < 0 ? (int)-result : 0;
	} else {
		result = syscall(call->number, a[0], a[1], a[2], a[3], a[4], a[5]);
	}
	int errnum = errno;
	if (syscall(SYS_getpid) != self)
		_exit(0);
	return result < 0 ? errnum : 0;
}

/* What the call answers in a process of its own. */
static int ask(const struct call *call, bool is_filtered)
{
	int fds[2], answer = NO_ANSWER, status;
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	if (pid == 0) {
		setsid(); /* no terminal that a call could hang up */
		signal(SIGSEGV, SIG_DFL);
		signal(SIGSYS, SIG_DFL);
		bool ok = !is_filtered || (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
						  syscall(SYS_seccomp, 1, 0, &program) == 0);
		answer = ok ? do_call(call) : NO_ANSWER;
		_exit(write(fds[1], &answer, sizeof answer) == (ssize_t)sizeof answer ? 0 : 1);
	}
	close(fds[1]);
	if (read(fds[0], &answer, sizeof answer) != (ssize_t)sizeof answer)
		answer = NO_ANSWER;
	close(fds[0]);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? CRASHED : answer;
}

static int ask_filtered(const struct call *call)
{
	return ask(call, true);
}

/* Arguments that the row names; all others are nonsense to the kernel. */
static struct call matching(const struct isolation_syscall_row *row, long number, bool is_i386)
{
	struct call call = { .number = number, .is_i386 = is_i386 };
	bool has_conditions = row->conditions[0].test != SYSCALL_TEST_NONE;
	for (int i = 0; i < ARGS; i++)
		call.args[i] = has_conditions ? 0 : ~0ul;
	for (int i = 0; i < SYSCALL_CONDITIONS; i++) {
		const struct isolation_syscall_condition *condition = &row->conditions[i];
		unsigned long *arg = &call.args[condition->arg];
		switch (condition->test) {
		case SYSCALL_TEST_EQUALS:
		case SYSCALL_TEST_BIT:
			*arg = (unsigned long)condition->value;
			break;
		case SYSCALL_TEST_ABOVE:
			*arg = (unsigned long)condition->value + 1;
			break;
		case SYSCALL_TEST_UNUSUAL:
			*arg = READ_IMPLIES_EXEC;
			break;
		case SYSCALL_TEST_NONE:
			break;
		}
	}
	return call;
}

static void refuses(
	const struct isolation_syscall_row *row, const struct call *call, size_t *told_apart)
{
	int wanted = isolation_syscall_answer_errno(row->answer), answer = ask_filtered(call);
	if (answer != wanted)
		fail_msg("%s (%s)%s: errno %d, not %d", row->name, row->group,
			call->is_i386 ? ", 32 bits" : "", answer, wanted);
	if (ask(call, false) != wanted)
		(*told_apart)++;
}

static void every_row_is_refused(void **state)
{
	size_t tried = 0, told_apart = 0;
	(void)state;
	for (size_t i = 0; i < isolation_syscall_rows_n; i++) {
		const struct isolation_syscall_row *row = &isolation_syscall_rows[i];
		if (row->number < 0)
			continue; /* not on this machine */
		struct call call = matching(row, row->number, false);
		refuses(row, &call, &told_apart);
		tried++;
	}
	print_message(
		"%zu rows, %zu with another answer without the filter\n", tried, told_apart);
	assert_true(tried > 60);
	/* as an ordinary user the kernel itself says EPERM to some */
	assert_true(told_apart > tried / 2);
}

static void every_row_is_refused_in_32_bits(void **state)
{
	(void)state;
#ifdef __x86_64__
	const struct call getpid32 = { .number = 20, .is_i386 = true };
	size_t tried = 0, told_apart = 0;
	if (ask(&getpid32, false) != 0)
		skip(); /* this kernel runs no 32-bit programs */
	for (size_t i = 0; i < isolation_syscall_rows_n; i++) {
		const struct isolation_syscall_row *row = &isolation_syscall_rows[i];
		int number = seccomp_syscall_resolve_name_arch(SCMP_ARCH_X86, row->name);
		if (number < 0)
			continue;
		struct call call = matching(row, number, true);
		refuses(row, &call, &told_apart);
		tried++;
	}
	print_message(
		"%zu rows, %zu with another answer without the filter\n", tried, told_apart);
	assert_true(tried > 60);
	assert_true(told_apart > tried / 2);
	assert_int_equal(ask_filtered(&getpid32), 0);
#else
	skip();
#endif
}

/* 64-bit programs with 32-bit pointers: their numbers have a bit more. */
static void x32_does_not_exist(void **state)
{
	(void)state;
#ifdef __x86_64__
	const struct call getpid_x32 = { .number = 0x40000000 | SYS_getpid };
	assert_int_equal(ask_filtered(&getpid_x32), ENOSYS);
#else
	skip();
#endif
}

/* The bits that a condition does not look at cannot be used to get around it. */
static void high_bits_do_not_help(void **state)
{
	(void)state;
#if __SIZEOF_LONG__ == 8
	for (size_t i = 0; i < isolation_syscall_rows_n; i++) {
		const struct isolation_syscall_row *row = &isolation_syscall_rows[i];
		enum isolation_syscall_test test = row->conditions[0].test;
		if (row->number < 0 ||
			(test != SYSCALL_TEST_EQUALS && test != SYSCALL_TEST_BIT))
			continue;
		struct call call = matching(row, row->number, false);
		call.args[row->conditions[0].arg] |= 0xabcdul << 32;
		assert_int_equal(
			ask_filtered(&call), isolation_syscall_answer_errno(row->answer));
	}
#endif
}

static void what_programs_need_goes_on(void **state)
{
	static const struct {
		long number;
		unsigned long args[ARGS];
		int wanted;
	} calls[] = {
		{ SYS_socket, { AF_UNIX, SOCK_STREAM }, 0 },
		{ SYS_socket, { AF_INET, SOCK_STREAM }, 0 },
		{ SYS_socket, { AF_INET, SOCK_DGRAM }, 0 },
		{ SYS_socket, { AF_NETLINK, SOCK_RAW, 0 /* NETLINK_ROUTE */ }, 0 },
		{ SYS_clone, { SIGCHLD }, 0 },
		{ SYS_personality, { 0xffffffff }, 0 },
		{ SYS_personality, { PER_LINUX }, 0 },
		{ SYS_personality, { ADDR_NO_RANDOMIZE }, 0 },
		{ SYS_ioctl, { (unsigned long)-1, TCGETS }, EBADF },
		{ SYS_ptrace, { 0 /* PTRACE_TRACEME */ }, 0 },
		{ SYS_getcpu, { 0, 0, 0 }, 0 },
		{ SYS_prctl, { PR_GET_DUMPABLE }, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		struct call call = { .number = calls[i].number };
		memcpy(call.args, calls[i].args, sizeof call.args);
		int answer = ask_filtered(&call);
		if (answer != calls[i].wanted)
			fail_msg("call %zu: errno %d, not %d", i, answer, calls[i].wanted);
	}
}

static void of_all_socket_families_four_are_left(void **state)
{
	(void)state;
	for (unsigned long family = 0; family < 64; family++) {
		struct call call = { .number = SYS_socket, .args = { family, SOCK_RAW, 0xff } };
		bool is_left = family == AF_UNSPEC || family == AF_UNIX || family == AF_INET ||
			       family == AF_INET6;
		int answer = ask_filtered(&call);
		/* the kernel has no such protocol, or asks for privileges */
		if (is_left != (answer == ask(&call, false)) && answer != EAFNOSUPPORT)
			fail_msg("family %lu: errno %d", family, answer);
		if (!is_left)
			assert_int_equal(answer, EAFNOSUPPORT);
	}
}

static void of_all_personalities_the_usual_are_left(void **state)
{
	(void)state;
	for (unsigned long bit = 1; bit < 1ul << 32; bit <<= 1) {
		struct call call = { .number = SYS_personality, .args = { bit } };
		bool is_usual = (bit & ~(unsigned long)(PER_LINUX32 | ADDR_NO_RANDOMIZE)) == 0;
		if (!is_usual)
			assert_int_equal(ask_filtered(&call), EPERM);
		call.args[0] = 0xffffffff & ~bit; /* near the question, but none */
		assert_int_equal(ask_filtered(&call), EPERM);
	}
}

static void each_descriptor_is_read_from_its_start(void **state)
{
	(void)state;
	int first = isolation_syscall_filter_fd(NULL),
	    second = isolation_syscall_filter_fd(NULL);
	struct sock_filter one;
	assert_int_equal(read(first, &one, sizeof one), sizeof one);
	assert_int_equal(read(second, &one, sizeof one), sizeof one);
	assert_memory_equal(&one, &filter[0], sizeof one);
	assert_true(write(first, &one, sizeof one) < 0);
	close(first);
	close(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_is_refused),
		cmocka_unit_test(every_row_is_refused_in_32_bits),
		cmocka_unit_test(x32_does_not_exist),
		cmocka_unit_test(high_bits_do_not_help),
		cmocka_unit_test(what_programs_need_goes_on),
		cmocka_unit_test(of_all_socket_families_four_are_left),
		cmocka_unit_test(of_all_personalities_the_usual_are_left),
		cmocka_unit_test(each_descriptor_is_read_from_its_start),
	};
	return cmocka_run_group_tests(tests, load_table, NULL);
}
