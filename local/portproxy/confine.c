// SPDX-License-Identifier: Apache-2.0
/* What the port proxy gives away before it serves: a process that somebody took over through a splice has two
 * listening sockets, the daemon's sockets, and nothing to do with them but to move bytes. */
#include "local/portproxy/portproxy.h"

#include <errno.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What moves bytes, and what a process cannot do without. All else is EPERM. */
static const int allowed[] = {
	SCMP_SYS(accept4),
	SCMP_SYS(connect),
	SCMP_SYS(shutdown),
	SCMP_SYS(setsockopt),
	SCMP_SYS(splice),
	SCMP_SYS(pipe2),
	SCMP_SYS(recvfrom),
	SCMP_SYS(close),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(read),
	SCMP_SYS(write),
	SCMP_SYS(brk),
	SCMP_SYS(mmap),
	SCMP_SYS(munmap),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	SCMP_SYS(mprotect),
	SCMP_SYS(futex),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

static bool filter_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	bool ok = filter != NULL;
	for (size_t i = 0; ok && i < sizeof allowed / sizeof allowed[0]; i++)
		ok = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0) == 0;
	ok = ok && seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			   SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)) == 0;
	ok = ok && seccomp_load(filter) == 0;
	if (filter != NULL)
		seccomp_release(filter);
	return ok;
}

/* landlock(7), in numbers of our own: older headers lack the newer ones. */
struct portproxy_ruleset {
	uint64_t fs, net, scoped;
};

enum { SCOPES_ABI = 6 }; /* from which there are scopes */

/* No file at all; from where there are scopes, no abstract socket of the host's and no signal to another process either.
 * False only where the kernel has Landlock and refuses. */
static bool close_files(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* the version, please */);
	if (abi < 1)
		return true;
	struct portproxy_ruleset attr = { .fs = (1ull << 13) - 1 };
	if (abi >= SCOPES_ABI)
		attr.scoped = 1 << 0 | 1 << 1; /* abstract Unix sockets, signals */
	size_t n = abi >= SCOPES_ABI ? sizeof attr : sizeof attr.fs;
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, n, 0);
	if (fd < 0)
		return false;
	bool ok = syscall(SYS_landlock_restrict_self, fd, 0) == 0;
	close(fd);
	return ok;
}

bool portproxy_confine(void)
{
	struct rlimit none = { 0, 0 };
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && close_files() && filter_calls();
}
