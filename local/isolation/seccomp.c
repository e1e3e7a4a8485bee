// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/seccomp.h"

#include "engine/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

/* Older headers lack some. */
#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

#define NO(call, answer, group)                                                                \
	{                                                                                      \
#call, SCMP_SYS(call), SYSCALL_##answer, { { 0 } }, group                      \
	}
#define IF(call, answer, test, arg, value, group)                                              \
	{                                                                                      \
#call, SCMP_SYS(call), SYSCALL_##answer,                                       \
			{ { SYSCALL_TEST_##test, arg, value } }, group                         \
	}
#define FAMILY(family) IF(socket, EAFNOSUPPORT, EQUALS, 0, family, sockets)

#if defined __s390__ || defined __s390x__ || defined __CRIS__
enum { CLONE_FLAGS_ARG = 1 };
#else
enum { CLONE_FLAGS_ARG = 0 };
#endif

static const char keys[] = "keys", uring[] = "asynchronous rings", faults[] = "page faults",
		  tracing[] = "looking into the kernel", modules[] = "kernel and modules",
		  mounts[] = "mounts", spaces[] = "namespaces", sockets[] = "socket families",
		  person[] = "personality", terminal[] = "typing into a terminal",
		  machine[] = "the machine's settings", handles[] = "files by handle",
		  memory[] = "memory placement";

const struct isolation_syscall_row isolation_syscall_rows[] = {
	NO(add_key, EPERM, keys),
	NO(request_key, EPERM, keys),
	NO(keyctl, EPERM, keys),

	NO(io_uring_setup, ENOSYS, uring),
	NO(io_uring_enter, ENOSYS, uring),
	NO(io_uring_register, ENOSYS, uring),

	NO(userfaultfd, EPERM, faults),

	NO(bpf, EPERM, tracing),
	NO(perf_event_open, EPERM, tracing),
	NO(lookup_dcookie, EPERM, tracing),
	NO(syslog, EPERM, tracing),
	NO(fanotify_init, EPERM, tracing),

	NO(init_module, EPERM, modules),
	NO(finit_module, EPERM, modules),
	NO(delete_module, EPERM, modules),
	NO(create_module, EPERM, modules),
	NO(get_kernel_syms, EPERM, modules),
	NO(query_module, EPERM, modules),
	NO(kexec_load, EPERM, modules),
	NO(kexec_file_load, EPERM, modules),
	NO(reboot, EPERM, modules),

	NO(mount, EPERM, mounts),
	NO(umount, EPERM, mounts),
	NO(umount2, EPERM, mounts),
	NO(pivot_root, EPERM, mounts),
	NO(chroot, EPERM, mounts),
	NO(open_tree, ENOSYS, mounts),
	NO(move_mount, ENOSYS, mounts),
	NO(fsopen, ENOSYS, mounts),
	NO(fsconfig, ENOSYS, mounts),
	NO(fsmount, ENOSYS, mounts),
	NO(fspick, ENOSYS, mounts),
	NO(mount_setattr, ENOSYS, mounts),
	NO(swapon, EPERM, mounts),
	NO(swapoff, EPERM, mounts),
	NO(quotactl, EPERM, mounts),
	NO(quotactl_fd, EPERM, mounts),
	NO(nfsservctl, EPERM, mounts),

	/* a new user namespace is the door to most bugs of the kernel; the arguments of clone3 cannot be seen by a
	 * filter, and the C library falls back to clone */
	NO(setns, EPERM, spaces),
	NO(unshare, EPERM, spaces),
	NO(clone3, ENOSYS, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWUSER, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWNS, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWNET, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWPID, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWIPC, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWUTS, spaces),
	IF(clone, EPERM, BIT, CLONE_FLAGS_ARG, CLONE_NEWCGROUP, spaces),

	/* what is left: AF_UNIX, AF_INET, AF_INET6, and of AF_NETLINK the part that getaddrinfo() and `ip` ask */
	IF(socket, EAFNOSUPPORT, ABOVE, 0, AF_NETLINK, sockets),
	{ "socket", SCMP_SYS(socket), SYSCALL_EAFNOSUPPORT,
		{ { SYSCALL_TEST_EQUALS, 0, AF_NETLINK }, { SYSCALL_TEST_ABOVE, 2, 0 } },
		sockets },
	FAMILY(AF_AX25),
	FAMILY(AF_IPX),
	FAMILY(AF_APPLETALK),
	FAMILY(AF_NETROM),
	FAMILY(AF_BRIDGE),
	FAMILY(AF_ATMPVC),
	FAMILY(AF_X25),
	FAMILY(AF_ROSE),
	FAMILY(AF_DECnet),
	FAMILY(AF_NETBEUI),
	FAMILY(AF_SECURITY),
	FAMILY(AF_KEY),

	IF(personality, EPERM, UNUSUAL, 0, 0, person),

	/* into the terminal of the person who looks */
	IF(ioctl, EPERM, EQUALS, 1, TIOCSTI, terminal),
	IF(ioctl, EPERM, EQUALS, 1, TIOCLINUX, terminal),

	NO(acct, EPERM, machine),
	NO(settimeofday, EPERM, machine),
	NO(stime, EPERM, machine),
	NO(clock_settime, EPERM, machine),
	NO(clock_settime64, EPERM, machine),
	NO(clock_adjtime, EPERM, machine),
	NO(clock_adjtime64, EPERM, machine),
	NO(adjtimex, EPERM, machine),
	NO(sethostname, EPERM, machine),
	NO(setdomainname, EPERM, machine),
	NO(iopl, EPERM, machine),
	NO(ioperm, EPERM, machine),
	NO(vhangup, EPERM, machine),
	NO(vm86, EPERM, machine),
	NO(vm86old, EPERM, machine),
	NO(_sysctl, EPERM, machine),
	NO(sysfs, EPERM, machine),
	NO(ustat, EPERM, machine),
	NO(uselib, EPERM, machine),

	NO(open_by_handle_at, EPERM, handles),
	NO(name_to_handle_at, EPERM, handles),

	NO(move_pages, EPERM, memory),
	NO(migrate_pages, EPERM, memory),
	NO(mbind, EPERM, memory),
	NO(set_mempolicy, EPERM, memory),
	NO(set_mempolicy_home_node, EPERM, memory),
};
const size_t isolation_syscall_rows_n =
	sizeof isolation_syscall_rows / sizeof isolation_syscall_rows[0];

int isolation_syscall_answer_errno(enum isolation_syscall_answer answer)
{
	static const int numbers[] = { [SYSCALL_EPERM] = EPERM,
		[SYSCALL_ENOSYS] = ENOSYS,
		[SYSCALL_EAFNOSUPPORT] = EAFNOSUPPORT };
	_Static_assert(sizeof numbers / sizeof numbers[0] == SYSCALL_ANSWER_COUNT, "one each");
	return numbers[answer];
}

/* Allowed are PER_LINUX and PER_LINUX32, both with and without ADDR_NO_RANDOMIZE (debuggers), and 0xffffffff, which only
 * asks. A rule of libseccomp tests an argument once, so this is said in bits: the top one, which no personality has,
 * stands for the question. Without it every other bit is refused; with it a missing one is. */
static int add_personality(
	scmp_filter_ctx filter, const struct isolation_syscall_row *row, uint32_t action)
{
	const uint32_t top = 0x80000000, usual = PER_LINUX32 | ADDR_NO_RANDOMIZE;
	unsigned arg = row->conditions[0].arg;
	int rc = 0;
	for (uint32_t bit = 1; rc == 0 && bit != top; bit <<= 1) {
		if ((bit & usual) == 0)
			rc = seccomp_rule_add(filter, action, row->number, 1,
				SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, top | bit, bit));
		if (rc == 0)
			rc = seccomp_rule_add(filter, action, row->number, 1,
				SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, top | bit, top));
	}
	return rc;
}

static struct scmp_arg_cmp comparison(const struct isolation_syscall_condition *condition)
{
	unsigned arg = condition->arg;
	uint64_t value = condition->value;
	switch (condition->test) {
	case SYSCALL_TEST_BIT:
		return SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, value, value);
	case SYSCALL_TEST_ABOVE:
		return SCMP_CMP(arg, SCMP_CMP_GT, value, 0);
	case SYSCALL_TEST_EQUALS:
	case SYSCALL_TEST_NONE:
	case SYSCALL_TEST_UNUSUAL:
		break;
	}
	return SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, 0xffffffff, value);
}

static int add_row(scmp_filter_ctx filter, const struct isolation_syscall_row *row)
{
	uint32_t action = SCMP_ACT_ERRNO((unsigned)isolation_syscall_answer_errno(row->answer));
	struct scmp_arg_cmp comparisons[SYSCALL_CONDITIONS];
	unsigned n = 0;
	if (row->conditions[0].test == SYSCALL_TEST_UNUSUAL)
		return add_personality(filter, row, action);
	while (n < SYSCALL_CONDITIONS && row->conditions[n].test != SYSCALL_TEST_NONE) {
		comparisons[n] = comparison(&row->conditions[n]);
		n++;
	}
	return seccomp_rule_add_array(filter, action, row->number, n, comparisons);
}

/* Programs of the other word size run under the same rows. Not x32: an unknown architecture is refused. */
static void add_architectures(scmp_filter_ctx filter)
{
#if defined __x86_64__
	seccomp_arch_add(filter, SCMP_ARCH_X86);
#elif defined __aarch64__
	seccomp_arch_add(filter, SCMP_ARCH_ARM);
#else
	(void)filter;
#endif
}

static int export(struct err *err)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int fd = memfd_create("sandmux-seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc = filter != NULL && fd >= 0 ? 0 : -ENOMEM;
	if (rc == 0) {
		add_architectures(filter);
		seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
		seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE,
			2); /* a binary tree of call numbers */
	}
	for (size_t i = 0; rc == 0 && i < isolation_syscall_rows_n; i++) {
		/* a negative number is a call that this architecture does not have; libseccomp maps what the others have */
		rc = add_row(filter, &isolation_syscall_rows[i]);
		if (rc == -EDOM || rc == -EINVAL)
			rc = 0;
	}
	if (rc == 0)
		rc = seccomp_export_bpf(filter, fd);
	if (filter != NULL)
		seccomp_release(filter);
	if (rc == 0)
		rc = fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) == 0
			     ? 0
			     : -errno;
	if (rc == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	err_set(err, ERR_LOCAL_ISOLATION, "cannot make the filter of system calls: %s",
		strerror(-rc));
	return -1;
}

int isolation_syscall_filter_fd(struct err *err)
{
	static int made = -1;
	if (made < 0)
		made = export(err);
	if (made < 0)
		return -1;
	/* an open of its own, so that each reader has an offset of its own */
	char path[40];
	snprintf(path, sizeof path, "/proc/self/fd/%d", made);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err_set_errno(err, errno, "the filter of system calls");
	return fd;
}
