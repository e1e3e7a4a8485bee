// SPDX-License-Identifier: Apache-2.0
/* Preloaded into the backend or the daemon by test_crash.py: kills the process in front of its Nth call that changes a disk
 * or a socket, as a power cut or an OOM kill would.
 *
 * CRASH_POINT names a file with two 64-bit numbers: how many calls are left until the kill (0: none), and how many
 * there were. Both sides map it. CRASH_NAME is what the process is called; in any other nothing happens, and
 * neither in its children. Calls go to the kernel directly: this must not depend on what else is preloaded. */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct shared {
	atomic_llong left, seen;
};

static struct shared *shared;
static pid_t owner;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("CRASH_POINT"), *name = getenv("CRASH_NAME");
	char comm[32] = "";
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY);
	if (fd >= 0) {
		ssize_t n = syscall(SYS_read, fd, comm, sizeof comm - 1);
		comm[n > 0 ? n : 0] = '\0';
		comm[strcspn(comm, "\n")] = '\0';
		close(fd);
	}
	if (!path || !name || strncmp(comm, name, strlen(comm)) != 0 || !*comm)
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
	void *map =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED)
		return;
	owner = getpid();
	shared = map;
}

static void step(void)
{
	if (!shared || getpid() != owner)
		return;
	atomic_fetch_add(&shared->seen, 1);
	if (atomic_load(&shared->left) > 0 && atomic_fetch_sub(&shared->left, 1) == 1)
		syscall(SYS_kill, owner, SIGKILL);
}

#define CALL(number, ...) (step(), syscall(number, __VA_ARGS__))

int fsync(int fd)
{
	return (int)CALL(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	return (int)CALL(SYS_fdatasync, fd);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	return CALL(SYS_write, fd, bytes, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	return CALL(SYS_writev, fd, parts, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	return CALL(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
	return CALL(SYS_pwrite64, fd, bytes, n, at);
}

int ftruncate(int fd, off_t n)
{
	return (int)CALL(SYS_ftruncate, fd, n);
}

int ftruncate64(int fd, off64_t n)
{
	return (int)CALL(SYS_ftruncate, fd, n);
}

int rename(const char *from, const char *to)
{
	return (int)CALL(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return (int)CALL(SYS_renameat, from_fd, from, to_fd, to);
}

int unlink(const char *path)
{
	return (int)CALL(SYS_unlinkat, AT_FDCWD, path, 0);
}

int unlinkat(int fd, const char *path, int flags)
{
	return (int)CALL(SYS_unlinkat, fd, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
	return (int)CALL(SYS_mkdirat, AT_FDCWD, path, mode);
}

int mkdirat(int fd, const char *path, mode_t mode)
{
	return (int)CALL(SYS_mkdirat, fd, path, mode);
}
