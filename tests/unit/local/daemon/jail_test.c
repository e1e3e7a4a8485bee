// SPDX-License-Identifier: Apache-2.0
/* The locks that the daemon closes behind it, each tried in a process of its own, and open without the word for it. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "local/daemon/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Not below /tmp, where everybody may write. */
static char top[] = "/var/tmp/sandmux-jail-test-XXXXXX";
static char root[64];

static int set_up(void **state)
{
	(void)state;
	if (mkdtemp(top) == NULL)
		return -1;
	snprintf(root, sizeof root, "%s/root", top);
	return chmod(top, 0777) + mkdir(root, 0777) + chmod(root, 0777);
}

static int tear_down(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		execlp("rm", "rm", "-rf", top, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
	return 0;
}

/* ---- a process behind the locks: what it finds wrong is the first word that it did not like */

static int said_fd;

#define WANT(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			dprintf(said_fd, "%d: %s: %s", __LINE__, #condition, strerror(errno)); \
			_exit(1);                                                              \
		}                                                                              \
	} while (0)

static void behind(const struct daemon_jail_opts *opts, void (*look)(void))
{
	int fds[2], status;
	char said[400] = "";
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct err err = { 0 };
		said_fd = fds[1];
		if (!daemon_jail_enter(opts, &err)) {
			dprintf(said_fd, "%s", err.msg);
			_exit(2);
		}
		look();
		_exit(0);
	}
	close(fds[1]);
	ssize_t n = read(fds[0], said, sizeof said - 1);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (n != 0 || status != 0)
		fail_msg("%x %s", (unsigned)status, said);
}

/* The value of a line of /proc/self/status. */
static const char *status_of(const char *name)
{
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	char *line = strstr(text, name);
	if (line == NULL)
		return "";
	line += strlen(name);
	line += strspn(line, ":\t ");
	line[strcspn(line, "\n")] = '\0';
	return line;
}

static bool is_file(const char *path, const char *text)
{
	char found[200] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, found, sizeof found - 1);
	close(fd);
	/* columns are padded */
	char squeezed[200];
	size_t out = 0;
	for (ssize_t i = 0; i < n; i++)
		if (found[i] != ' ' || (out > 0 && squeezed[out - 1] != ' '))
			squeezed[out++] = found[i];
	squeezed[out] = '\0';
	return strcmp(squeezed, text) == 0;
}

static char user_ns[64];

static bool is_same_ns(void)
{
	char now[64] = "";
	return readlink("/proc/self/ns/user", now, sizeof now - 1) > 0 &&
	       strcmp(now, user_ns) == 0;
}

static void look_for_rights(void)
{
	static const char *const sets[] = { "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb" };
	for (size_t i = 0; i < COUNT(sets); i++)
		WANT(strcmp(status_of(sets[i]), "0000000000000000") == 0);
	WANT(strcmp(status_of("NoNewPrivs"), "1") == 0);
	WANT(strcmp(status_of("\nSeccomp"), "0") == 0);
	WANT(prctl(PR_GET_DUMPABLE) == 1);
	WANT(is_same_ns());
}

static void rights_go_always(void **state)
{
	(void)state;
	memset(user_ns, 0, sizeof user_ns);
	assert_true(readlink("/proc/self/ns/user", user_ns, sizeof user_ns - 1) > 0);
	behind(&(struct daemon_jail_opts){ .filter_fd = -1, .root_dir = root },
		look_for_rights);
}

static void look_for_namespace(void)
{
	char map[64];
	WANT(!is_same_ns());
	snprintf(map, sizeof map, "%d %d 1\n", (int)getuid(), (int)getuid());
	WANT(is_file("/proc/self/uid_map", map));
	snprintf(map, sizeof map, "%d %d 1\n", (int)getgid(), (int)getgid());
	WANT(is_file("/proc/self/gid_map", map));
	WANT(is_file("/proc/self/setgroups", "deny\n"));
	WANT(strcmp(status_of("CapEff"), "0000000000000000") == 0);
}

static void a_user_namespace(void **state)
{
	int status;
	(void)state;
	pid_t pid = fork();
	if (pid == 0)
		_exit(syscall(SYS_unshare, 0x10000000) == 0 ? 0 : 1);
	waitpid(pid, &status, 0);
	if (status != 0)
		skip(); /* none to be had here */
	assert_true(readlink("/proc/self/ns/user", user_ns, sizeof user_ns - 1) > 0);
	behind(
		&(struct daemon_jail_opts){
			.filter_fd = -1, .has_own_userns = true, .root_dir = root },
		look_for_namespace);
}

/* ---- writing */

static long landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
}

static bool may_create(const char *folder)
{
	char path[200];
	snprintf(path, sizeof path, "%s/sandmux-jail-test-%d", folder, (int)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	close(fd);
	return unlink(path) == 0;
}

static bool can_run(const char *program)
{
	int status;
	pid_t pid = fork();
	if (pid == 0) {
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static char outside[100], inside[100];

static void look_for_folders(void)
{
	char path[200];
	WANT(may_create(root));
	WANT(!may_create(top) && errno == EACCES);
	WANT(may_create("/tmp"));
	/* reading and running are a matter of what is mounted */
	int fd = open(outside, O_RDONLY | O_CLOEXEC);
	WANT(fd >= 0);
	WANT(open(outside, O_WRONLY | O_CLOEXEC) < 0 && errno == EACCES);
	WANT(truncate(outside, 0) < 0 || landlock_abi() < 3);
	WANT(can_run("/bin/true"));
	/* in the root everything: folders, links, moves between folders, cutting */
	snprintf(path, sizeof path, "%s/folder", root);
	WANT(mkdir(path, 0700) == 0);
	snprintf(path, sizeof path, "%s/folder/moved", root);
	WANT(rename(inside, path) == 0);
	WANT(truncate(path, 0) == 0);
	WANT(symlink("x", inside) == 0);
	WANT(rename(path, "/tmp") != 0);
	/* programs write about themselves there */
	fd = open("/proc/self/comm", O_WRONLY | O_TRUNC | O_CLOEXEC);
	WANT(fd >= 0 && write(fd, "name", 4) == 4);
	WANT(!may_create("/proc"));
	fd = open("/dev/null", O_WRONLY | O_TRUNC | O_CLOEXEC);
	WANT(fd >= 0);
	WANT((kill(getppid(), 0) == 0) == (landlock_abi() < 6));
}

static void writing_is_for_these_folders(void **state)
{
	(void)state;
	if (landlock_abi() < 2)
		skip();
	snprintf(outside, sizeof outside, "%s/file", top);
	snprintf(inside, sizeof inside, "%s/file", root);
	const char *const paths[] = { outside, inside };
	for (size_t i = 0; i < COUNT(paths); i++) {
		int fd = open(paths[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		assert_int_equal(write(fd, "text", 4), 4);
		assert_int_equal(fchmod(fd, 0666), 0);
		close(fd);
	}
	behind(
		&(struct daemon_jail_opts){
			.filter_fd = -1, .has_landlock = true, .root_dir = root },
		look_for_folders);
	/* a root that is not there is no reason to stay open, and none to fail */
	behind(
		&(struct daemon_jail_opts){
			.filter_fd = -1, .has_landlock = true, .root_dir = "/var/none/at/all" },
		look_for_rights);
}

/* ---- closed, and the filter */

static void look_whether_closed(void)
{
	WANT(prctl(PR_GET_DUMPABLE) == 0);
}

static void it_cannot_be_read(void **state)
{
	(void)state;
	behind(
		&(struct daemon_jail_opts){
			.filter_fd = -1, .is_closed = true, .root_dir = root },
		look_whether_closed);
}

static int filter_of(const struct sock_filter *rows, size_t n_bytes)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	assert_int_equal(write(fd, rows, n_bytes), n_bytes);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static const struct sock_filter no_acct[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EXDEV),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static int filter_fd;

static void look_for_filter(void)
{
	WANT(syscall(SYS_acct, "/nowhere") == -1 && errno == EXDEV);
	WANT(strcmp(status_of("\nSeccomp"), "2") == 0);
	WANT(fcntl(filter_fd, F_GETFD) == -1); /* closed */
}

static void the_filter_is_loaded(void **state)
{
	(void)state;
	filter_fd = filter_of(no_acct, sizeof no_acct);
	behind(&(struct daemon_jail_opts){ .filter_fd = filter_fd, .root_dir = root },
		look_for_filter);
	close(filter_fd);
}

static bool is_refused(int fd, struct err *err)
{
	int status, fds[2];
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const struct daemon_jail_opts opts = { .filter_fd = fd, .root_dir = root };
		bool ok = daemon_jail_enter(&opts, err);
		_exit(!ok && write(fds[1], err, sizeof *err) == (ssize_t)sizeof *err ? 1 : 0);
	}
	close(fds[1]);
	ssize_t n = read(fds[0], err, sizeof *err);
	close(fds[0]);
	close(fd);
	waitpid(pid, &status, 0);
	return status != 0 && n == (ssize_t)sizeof *err;
}

/* A root that cannot be allowed is no reason to go on without the lock. */
static void a_lock_that_does_not_close(void **state)
{
	struct err err = { 0 };
	int status;
	(void)state;
	if (landlock_abi() < 2)
		skip();
	pid_t pid = fork();
	if (pid == 0) {
		const struct daemon_jail_opts opts = {
			.filter_fd = -1, .has_landlock = true, .root_dir = "/etc/passwd/x"
		};
		_exit(!daemon_jail_enter(&opts, &err) && strstr(err.msg, "/etc/passwd/x") ? 0
											  : 1);
	}
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* Nothing is started without it. */
static void a_filter_that_is_not_whole(void **state)
{
	enum { MOST = 4096 };
	static struct sock_filter rows[MOST];
	struct err err = { 0 };
	(void)state;
	for (size_t i = 0; i < MOST; i++)
		rows[i] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const size_t sizes[] = { 0, 4, sizeof *rows + 1, sizeof rows };
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_true(is_refused(filter_of(rows, sizes[i]), &err));
		assert_int_equal(err.code, ERR_LOCAL_ISOLATION);
		assert_string_equal(err.msg, "the filter of system calls is not whole");
	}
	/* whole, but no filter */
	memset(rows, 0xff, sizeof *rows);
	assert_true(is_refused(filter_of(rows, sizeof *rows), &err));
	assert_non_null(strstr(err.msg, "seccomp"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rights_go_always),
		cmocka_unit_test(a_user_namespace),
		cmocka_unit_test(writing_is_for_these_folders),
		cmocka_unit_test(a_lock_that_does_not_close),
		cmocka_unit_test(it_cannot_be_read),
		cmocka_unit_test(the_filter_is_loaded),
		cmocka_unit_test(a_filter_that_is_not_whole),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
