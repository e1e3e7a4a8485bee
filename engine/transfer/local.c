// SPDX-License-Identifier: Apache-2.0
/* Small dealings with the local disk and with borrowed descriptors. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_BYTES = 255 };

/* On a non-blocking descriptor it stops at EAGAIN with true and *written < n. */
bool transfer_local_write_all(
	int fd, const char *bytes, size_t n, size_t *written, struct err *err)
{
	*written = 0;
	while (*written < n) {
		ssize_t done = write(fd, bytes + *written, n - *written);
		if (done >= 0)
			*written += (size_t)done;
		else if (errno == EAGAIN || errno == EWOULDBLOCK)
			return true;
		else if (errno != EINTR)
			return err_set_errno(err, errno, "cannot write");
	}
	return true;
}

/* Finds a full disk before the first byte. File systems that cannot reserve are no failure. */
void transfer_local_reserve(int fd, int64_t bytes, struct err *err)
{
#ifdef __linux__
	if (bytes > 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, bytes) < 0 &&
		(errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
		err_set_errno(err, errno, "no room for %lld bytes", (long long)bytes);
#else
	(void)fd;
	(void)bytes;
	(void)err;
#endif
}

/* Lets the disk begin while the rest is on its way, so that the fsync at the end is short. A hint: no failure. */
void transfer_local_begin_flush(int fd, int64_t from, int64_t bytes)
{
#ifdef __linux__
	sync_file_range(fd, from, bytes, SYNC_FILE_RANGE_WRITE);
#else
	(void)fd;
	(void)from;
	(void)bytes;
#endif
}

char *transfer_local_rename_candidate(const char *name, int serial)
{
	const char *dot = strrchr(name, '.');
	char suffix[24];
	size_t stem = dot && dot != name ? (size_t)(dot - name) : strlen(name);
	const char *ext = name + stem;

	snprintf(suffix, sizeof suffix, " (%d)", serial);
	size_t rest = strlen(suffix) + strlen(ext);
	if (rest >= NAME_BYTES) {
		ext = "";
		rest = strlen(suffix);
	}
	if (stem + rest > NAME_BYTES)
		stem = NAME_BYTES - rest;
	/* no half of a UTF-8 character at the cut */
	while (stem > 1 && ((unsigned char)name[stem] & 0xC0) == 0x80)
		stem--;
	return x_asprintf("%.*s%s%s", (int)stem, name, suffix, ext);
}

void transfer_local_split(const char *path, char **dir, char **base)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	size_t start = n;
	while (start > 0 && path[start - 1] != '/')
		start--;
	*base = x_strndup(path + start, n - start);
	if (strcmp(*base, ".") == 0 || strcmp(*base, "..") == 0) {
		(*base)[0] = 0;
		*dir = x_strndup(path, n);
		return;
	}
	while (start > 1 && path[start - 1] == '/')
		start--;
	*dir = x_strndup(path, start);
}

bool transfer_local_make_nonblocking(struct transfer_internal_end *end, struct err *err)
{
	int flags = fcntl(end->fd, F_GETFL);

	if (flags < 0)
		return err_set_errno(err, errno, "the descriptor cannot be used");
	if (flags & O_NONBLOCK)
		return true;
	end->fd_flags = flags;
	fcntl(end->fd, F_SETFL, flags | O_NONBLOCK);
	return true;
}

void transfer_local_restore(struct transfer_internal_end *end)
{
	if (end->fd_flags >= 0)
		fcntl(end->fd, F_SETFL, end->fd_flags);
	end->fd_flags = -1;
}

mode_t transfer_local_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

int64_t transfer_local_modified_ns(const struct stat *st)
{
#ifdef __APPLE__
	return (int64_t)st->st_mtimespec.tv_sec * 1000000000 + st->st_mtimespec.tv_nsec;
#else
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
#endif
}

/* -1: unknown, and left as it is. */
bool transfer_local_set_times(int fd, int64_t modified_s)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = (time_t)modified_s } };

	return modified_s < 0 || futimens(fd, times) == 0;
}
