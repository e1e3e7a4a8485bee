// SPDX-License-Identifier: Apache-2.0
/* Temporary files beside the target. Whoever writes one holds its lock (flock) until it has got its name or is gone, and
 * the kernel lets go of the lock when the process ends, however it ends. So a temporary file without a lock is nobody's,
 * on whatever machine or in whatever container its writer was; process numbers would not tell that.
 *
 *   writer   make ─> lock ─> still there? ─> write      sweeper   open ─> lock ─> still that name? ─> remove
 *
 * A sweeper that comes between the writer's first two steps removes the file under its lock; the writer then either does
 * not get the lock or finds no name left, and makes another one. Where a file system has no locks nothing is swept. */
#include "engine/base/digest.h"
#include "engine/base/fatal_signal.h"
#include "engine/transfer/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ATTEMPTS = 100,
	RANDOM_DIGITS =
		20, /* without a lock they had 16: those are not told from ones in use */
	MAX_SCANNED = 100 * 1000,
};

int transfer_temp_open(int dir, char name[TRANSFER_TEMP_BYTES], int *slot, struct err *err)
{
	char random[RANDOM_DIGITS + 1];
	struct stat st;

	for (int i = 0; i < ATTEMPTS; i++) {
		digest_random_hex(random, RANDOM_DIGITS);
		snprintf(name, TRANSFER_TEMP_BYTES, TRANSFER_TEMP_PREFIX "%s", random);
		/* before it is there: a crash may come at any moment after */
		*slot = fatal_signal_remember_file(dir, name);
		int fd = openat(
			dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0) {
			int errnum = errno;
			fatal_signal_forget_file(*slot);
			errno = errnum;
			if (errno == EEXIST)
				continue;
			err_set_errno(err, errno, "cannot write in the target folder");
			return -1;
		}
		bool is_swept = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
		if (!is_swept && (fstat(fd, &st) < 0 || st.st_nlink > 0))
			return fd;
		fatal_signal_forget_file(*slot);
		close(fd);
	}
	err_set(err, ERR_SYSTEM, "cannot make a temporary file in the target folder");
	return -1;
}

static bool is_ours(const char *name)
{
	size_t prefix = strlen(TRANSFER_TEMP_PREFIX);

	return strncmp(name, TRANSFER_TEMP_PREFIX, prefix) == 0 &&
	       strlen(name + prefix) == RANDOM_DIGITS &&
	       strspn(name + prefix, "0123456789abcdef") == RANDOM_DIGITS;
}

static void sweep_one(int dir, const char *name)
{
	struct stat st, now;
	int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
		st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st.st_dev &&
		now.st_ino == st.st_ino)
		unlinkat(dir, name, 0);
	close(fd);
}

void transfer_temp_sweep(int dir)
{
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *entry;

	if (!stream && own >= 0)
		close(own);
	for (int i = 0; stream && i < MAX_SCANNED && (entry = readdir(stream)); i++)
		if (is_ours(entry->d_name))
			sweep_one(dir, entry->d_name);
	if (stream)
		closedir(stream);
}
