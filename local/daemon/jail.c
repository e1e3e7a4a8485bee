// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/jail.h"

#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILTER_MAX = 4096 }; /* instructions; the kernel's own limit (BPF_MAXINSNS) */

/* ---- a user namespace of its own ---- */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* Bubblewrap's own namespace maps us to a uid 0 of the one around it, where /dev/pts was mounted. One more, and
 * that number is not to be seen from here. Not a lock by itself: without it the others hold too. */
static void enter_userns(void)
{
	char map[64];
	long uid = (long)getuid(), gid = (long)getgid();
	if (unshare(CLONE_NEWUSER) != 0) {
		LOG("jail", LOG_INFO, "no user namespace of its own: %s", strerror(errno));
		return;
	}
	snprintf(map, sizeof map, "%ld %ld 1\n", uid, uid);
	bool ok = put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", map);
	snprintf(map, sizeof map, "%ld %ld 1\n", gid, gid);
	if (!ok || !put("/proc/self/gid_map", map))
		LOG("jail", LOG_WARN, "user namespace: %s", strerror(errno));
}

static bool drop_capabilities(struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	/* the last one is not known beforehand: until the kernel says that there are no more */
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capset, &header, none) != 0)
		return err_set_errno(err, errno, "capset");
	return true;
}

/* ---- Landlock (landlock(7)); numbers of our own, since older headers lack the newer ones ---- */

struct daemon_ruleset {
	uint64_t fs, net, scoped;
};

struct beneath {
	uint64_t allowed;
	int32_t parent_fd;
} __attribute__((packed));

enum {
	LANDLOCK_REFER_ABI = 2, /* before it, no file could be renamed to another folder */
	LANDLOCK_RULE_BENEATH = 1,
};

static const uint64_t fs_execute = 1 << 0, fs_write_file = 1 << 1, fs_read = 1 << 2 | 1 << 3,
		      fs_first = (1 << 13) - 1, fs_refer = 1 << 13, fs_truncate = 1 << 14,
		      fs_ioctl = 1 << 15;
static const uint64_t scope_abstract_unix = 1 << 0, scope_signal = 1 << 1;

static bool allow(int ruleset, const char *path, uint64_t allowed, struct err *err)
{
	struct beneath rule = { .allowed = allowed,
		.parent_fd = open(path, O_PATH | O_CLOEXEC) };
	if (rule.parent_fd < 0)
		return errno == ENOENT || err_set_errno(err, errno, "%s", path);
	long rc = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_BENEATH, &rule, 0);
	int errnum = errno;
	close(rule.parent_fd);
	return rc == 0 || err_set_errno(err, errnum, "landlock, %s", path);
}

/* Reading and running is a matter of what is mounted; writing is for these folders alone. /proc is among them since
 * programs write there about themselves; the masks and the owner of /proc/sys guard the rest of it. */
static bool add_rules(int ruleset, const char *root_dir, uint64_t all, struct err *err)
{
	static const char *const writable[] = { "/tmp", "/run", "/dev" };
	bool ok = allow(ruleset, "/", fs_execute | fs_read, err) &&
		  allow(ruleset, root_dir, all, err) &&
		  allow(ruleset, "/proc",
			  fs_execute | fs_read | fs_write_file | (all & fs_truncate), err);
	for (size_t i = 0; ok && i < sizeof writable / sizeof writable[0]; i++)
		ok = allow(ruleset, writable[i], all, err);
	return ok;
}

static bool enter_landlock(const char *root_dir, struct err *err)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1 /* the version, please */);
	if (abi < LANDLOCK_REFER_ABI)
		return true; /* the kernel has none: docs/security.md says so */
	struct daemon_ruleset attr = { .fs = fs_first | fs_refer };
	if (abi >= 3)
		attr.fs |= fs_truncate;
	if (abi >= 5)
		attr.fs |= fs_ioctl;
	if (abi >= 6)
		attr.scoped = scope_abstract_unix | scope_signal;
	size_t n = abi >= 6 ? sizeof attr : sizeof attr.fs;
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, n, 0);
	if (ruleset < 0)
		return err_set_errno(err, errno, "landlock");
	bool ok = add_rules(ruleset, root_dir, attr.fs, err);
	if (ok && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
		ok = err_set_errno(err, errno, "landlock");
	close(ruleset);
	return ok;
}

/* ---- seccomp ---- */

static bool load_filter(int fd, struct err *err)
{
	struct sock_filter *filter = x_calloc(FILTER_MAX, sizeof *filter);
	size_t size = FILTER_MAX * sizeof *filter, have = 0;
	ssize_t n;
	while (have < size && (n = read(fd, (char *)filter + have, size - have)) > 0)
		have += (size_t)n;
	close(fd);
	struct sock_fprog program = { .len = (unsigned short)(have / sizeof *filter),
		.filter = filter };
	bool ok = have > 0 && have % sizeof *filter == 0 && have < size;
	if (!ok)
		err_set(err, ERR_LOCAL_ISOLATION, "the filter of system calls is not whole");
	else if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0)
		ok = err_set_errno(err, errno, "seccomp");
	free(filter);
	return ok;
}

bool daemon_jail_enter(const struct daemon_jail_opts *opts, struct err *err)
{
	if (opts->has_own_userns)
		enter_userns();
	if (!drop_capabilities(err))
		return false;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_set_errno(err, errno, "no_new_privs");
	if (opts->has_landlock && !enter_landlock(opts->root_dir, err))
		return false;
	if (opts->filter_fd >= 0 && !load_filter(opts->filter_fd, err))
		return false;
	if (opts->is_closed && prctl(PR_SET_DUMPABLE, 0) != 0)
		return err_set_errno(err, errno, "dumpable");
	return true;
}
