// SPDX-License-Identifier: Apache-2.0
/* A local source: how long is it really, and did it change while it was read?
 *
 * A size is a promise made before the first byte. Files of /proc say 0 and those of /sys a page, whatever they hold; a log
 * grows; a pipe says nothing. So:
 *
 *   size 0, and there is something      read to the end, its length unknown
 *   more, or less, than the size says,  started again, read to the end, its length unknown
 *     and the size stays what it was
 *   longer now                          what there was when it was opened is copied, and noted
 *   shorter, or rewritten at its length nothing is copied: that would be a mixture of the two */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/vfs.h>
enum { PIPEFS = 0x50495045 }; /* linux/magic.h */
#endif

static int source_fd(const struct transfer_job *job)
{
	return job->from_fd >= 0 ? job->from_fd : job->transfer->from.fd;
}

/* ---- start */

/* A pipe without a name has its writer, or had it; one with a name may still wait for its first. Until then a read would
 * say that it is at its end. */
static bool waits_for_writer(int fd, const struct stat *st)
{
#ifdef __linux__
	struct statfs fs;

	return S_ISFIFO(st->st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type != PIPEFS;
#else
	(void)fd;
	return S_ISFIFO(st->st_mode);
#endif
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct transfer_job *job = arg;

	(void)fd;
	(void)what;
	job->waits_for_writer = false;
	if (job->is_write_paused && !job->transfer->is_paused) {
		job->is_write_paused = false;
		runtime_resume(job->write);
	}
}

static void take_size(struct transfer_job *job, const struct stat *st)
{
	job->total_bytes = (int64_t)(st->st_size - job->from_offset);
	job->modified_ns = transfer_local_modified_ns(st);
	job->modified_s = job->modified_ns / 1000000000;
	if (job->is_size_wrong || st->st_size == 0)
		job->total_bytes = -1; /* unless it is at its end at once: see probe() */
}

/* An empty file is the most common one of size 0: it goes with its length. */
static bool probe(struct transfer_job *job, struct err *err)
{
	char byte;
	ssize_t n;

	if (job->total_bytes >= 0 || job->is_size_wrong)
		return true;
	do {
		n = pread(source_fd(job), &byte, 1, (off_t)job->from_offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_set_errno(err, errno, "cannot read %s", job->name);
	if (n == 0)
		job->total_bytes = 0;
	return true;
}

static bool take_regular(struct transfer_job *job, const struct stat *st, struct err *err)
{
	off_t at = job->from_fd >= 0 ? 0 : lseek(source_fd(job), 0, SEEK_CUR);

	job->from_offset = at > 0 ? (int64_t)at : 0;
	if (job->from_offset > st->st_size && st->st_size > 0)
		job->from_offset = (int64_t)st->st_size;
	take_size(job, st);
	return probe(job, err);
}

static bool take_stream(struct transfer_job *job, const struct stat *st, struct err *err)
{
	struct transfer_internal_end *from = &job->transfer->from;
	int fd = source_fd(job);

	if (S_ISDIR(st->st_mode))
		return err_set(err, ERR_FILE_IS_DIR, "%s is a directory",
			*job->name ? job->name : "standard input");
	if (job->from_fd < 0 && !transfer_local_make_nonblocking(from, err))
		return false;
	job->ready =
		event_new(net_loop_base(job->transfer->loop), fd, EV_READ, on_readable, job);
	if (job->from_fd >= 0 && waits_for_writer(fd, st)) {
		event_add(job->ready, NULL);
		job->waits_for_writer = true;
	}
	return true;
}

static bool open_file(struct transfer_job *job, struct err *err)
{
	/* a file that was named may be a link; what is found in a tree may not. O_NONBLOCK: a pipe that
	 * took the file's place must not hold us */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

	if (job->transfer->from_stat.is_dir)
		flags |= O_NOFOLLOW;
	job->from_fd = openat(job->dir->from_fd, job->name, flags);
	return job->from_fd >= 0 || err_set_errno(err, errno, "cannot read %s", job->name);
}

bool transfer_source_open(struct transfer_job *job, struct err *err)
{
	struct transfer *transfer = job->transfer;
	struct stat st;

	job->total_bytes = -1;
	if (transfer->from.kind == END_LOCAL && job->from_fd < 0 && !open_file(job, err))
		return false;
	if (fstat(source_fd(job), &st) < 0)
		return err_set_errno(err, errno, "cannot read %s", job->name);
	if (transfer->from_stat.is_dir && !S_ISREG(st.st_mode))
		return err_set(err, ERR_FILE_CHANGED, "%s is no file any more", job->name);
	if (transfer->from.kind == END_LOCAL)
		job->mode = S_ISREG(st.st_mode) ? (int)(st.st_mode & 0777) : -1;
	if (!S_ISREG(st.st_mode)) {
		if (!take_stream(job, &st, err))
			return false;
	} else if (!take_regular(job, &st, err)) {
		return false;
	}
#ifdef POSIX_FADV_SEQUENTIAL
	if (job->from_fd >= 0 && S_ISREG(st.st_mode))
		posix_fadvise(job->from_fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
	transfer_job_set_size(job, job->total_bytes);
	return true;
}

/* ---- bytes */
static bool fail_changed(struct err *err)
{
	return err_set(err, ERR_FILE_CHANGED, "it changed while it was copied");
}

static bool fail_size(struct transfer_job *job, struct err *err)
{
	job->is_size_wrong = true;
	return err_set(err, ERR_FILE_CHANGED, "its size is not what it says");
}

/* n bytes more are the last that the size promised, or there are no more (n 0). */
static bool check_end(struct transfer_job *job, size_t n, struct err *err)
{
	int64_t end = job->from_offset + job->bytes + (int64_t)n;
	int64_t promised = job->from_offset + job->total_bytes;
	struct stat st;
	char byte;

	if (fstat(source_fd(job), &st) < 0 || st.st_size < promised)
		return fail_changed(err);
	if (st.st_size > promised) {
		job->has_grown = true;
		return end == promised || fail_changed(err);
	}
	if (transfer_local_modified_ns(&st) != job->modified_ns)
		return fail_changed(err);
	/* the size has been the same all the time: is it true? */
	if (end < promised || pread(source_fd(job), &byte, 1, (off_t)promised) == 1)
		return fail_size(job, err);
	return true;
}

/* Without a promise it may grow as well; a file of /proc never says so. */
static void look_for_growth(struct transfer_job *job)
{
	struct stat st;

	if (fstat(source_fd(job), &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size > job->from_offset + job->bytes)
		job->has_grown = true;
}

long transfer_source_read(struct transfer_job *job, char *into, size_t room, struct err *err)
{
	ssize_t n;

	do {
		n = read(source_fd(job), into, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && job->ready && (errno == EAGAIN || errno == EWOULDBLOCK))
		return SOURCE_WAITS;
	if (n < 0) {
		err_set_errno(err, errno, "cannot read %s", job->name);
		return SOURCE_FAILED;
	}
	if (job->total_bytes < 0 && n == 0)
		look_for_growth(job);
	if (job->total_bytes >= 0 && (n == 0 || job->bytes + n >= job->total_bytes) &&
		!check_end(job, (size_t)n, err))
		return SOURCE_FAILED;
	return (long)n;
}

bool transfer_source_starts_again(struct transfer_job *job)
{
	if (!job->is_size_wrong || job->total_bytes < 0)
		return false;
	if (lseek(source_fd(job), (off_t)job->from_offset, SEEK_SET) < 0)
		return false;
	transfer_job_drop_bytes(job);
	job->total_bytes = -1;
	job->has_grown = job->is_data_over = false;
	transfer_job_set_size(job, -1);
	if (job->digest) {
		digest_free(job->digest);
		job->digest = digest_new();
	}
	return true;
}
