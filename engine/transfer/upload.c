// SPDX-License-Identifier: Apache-2.0
/* From a local file or a stream to a sandbox. A local file that is not what it was when we began is found before
 * its last byte is sent: the daemon then drops what it has. */
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t modified_ns(const struct stat *st)
{
#ifdef __APPLE__
	return (int64_t)st->st_mtimespec.tv_sec * 1000000000 + st->st_mtimespec.tv_nsec;
#else
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
#endif
}

static int source_fd(const struct job *job)
{
	return job->from_fd >= 0 ? job->from_fd : job->transfer->from.fd;
}

static bool is_changed(const struct job *job)
{
	struct stat st;

	return job->total_bytes >= 0 && job->from_fd >= 0 &&
	       (fstat(job->from_fd, &st) < 0 || st.st_size != job->total_bytes ||
		       modified_ns(&st) != job->modified_ns);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct job *job = arg;

	(void)fd;
	(void)what;
	if (job->is_write_paused && !job->transfer->is_paused) {
		job->is_write_paused = false;
		runtime_resume(job->write);
	}
}

static long pause_write(struct job *job)
{
	job->is_write_paused = true;
	return HTTP_BODY_PAUSE;
}

static long read_bytes(void *arg, char *into, size_t room, struct err *err)
{
	struct job *job = arg;
	ssize_t n;

	if (job->transfer->is_paused)
		return pause_write(job);
	if (room > TRANSFER_SLICE_BYTES)
		room = TRANSFER_SLICE_BYTES;
	do {
		n = read(source_fd(job), into, room);
	} while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && job->ready) {
		event_add(job->ready, NULL);
		return pause_write(job);
	}
	if (n < 0) {
		err_set_errno(err, errno, "cannot read %s", job->name);
		return HTTP_BODY_ABORT;
	}
	if (job->bytes + n >= job->total_bytes && is_changed(job)) {
		err_set(err, ERR_FILE_CHANGED, "it changed while it was copied");
		return HTTP_BODY_ABORT;
	}
	transfer_job_take_bytes(job, into, (size_t)n);
	return (long)n;
}

static void on_written(void *arg, const struct err *err)
{
	struct job *job = arg;

	job->write = NULL;
	if (err)
		transfer_job_fail(job, err);
	else
		transfer_job_data_done(job);
}

/* A pipe is read as it fills; a redirected file like any file, from where it stands. */
static bool open_stream(struct job *job, struct err *err)
{
	struct end *from = &job->transfer->from;
	struct stat st;

	if (fstat(from->fd, &st) < 0)
		return err_set_errno(err, errno, "standard input");
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_FILE_IS_DIR, "standard input is a directory");
	if (S_ISREG(st.st_mode)) {
		off_t at = lseek(from->fd, 0, SEEK_CUR);
		if (at >= 0 && at <= st.st_size)
			job->total_bytes = (int64_t)(st.st_size - at);
		return true;
	}
	if (!transfer_local_make_nonblocking(from, err))
		return false;
	job->ready =
		event_new(loop_base(job->transfer->loop), from->fd, EV_READ, on_readable, job);
	return true;
}

static bool open_file(struct job *job, struct err *err)
{
	/* a file that was named may be a link; what is found in a tree may not. O_NONBLOCK: a pipe that
	 * took the file's place must not hold us */
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
	struct stat st;

	if (job->transfer->from_stat.is_dir)
		flags |= O_NOFOLLOW;
	job->from_fd = openat(job->dir->from_fd, job->name, flags);
	if (job->from_fd < 0 || fstat(job->from_fd, &st) < 0)
		return err_set_errno(err, errno, "cannot read %s", job->name);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FILE_CHANGED, "%s is no file any more", job->name);
	job->total_bytes = (int64_t)st.st_size;
	job->modified_ns = modified_ns(&st);
	job->mode = (int)(st.st_mode & 0777);
#ifdef POSIX_FADV_SEQUENTIAL
	posix_fadvise(job->from_fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
	return true;
}

void transfer_upload_start(struct job *job)
{
	struct transfer *transfer = job->transfer;
	struct err err = { 0 };

	if (transfer->from.kind == END_FD ? !open_stream(job, &err) : !open_file(job, &err)) {
		transfer_job_fail(job, &err);
		return;
	}
	char *path = transfer_dir_to_path(transfer, job->dir, job->to_name);
	struct runtime_write_opts opts = {
		.path = path,
		.mode = job->mode,
		.total_bytes = job->total_bytes,
		.read_bytes = read_bytes,
		.done = on_written,
		.arg = job,
	};
	job->write = runtime_write_start(transfer->to.runtime, &opts, &err);
	free(path);
	if (!job->write)
		transfer_job_fail(job, &err);
}

/* ---- a folder without files: the daemon cannot make one, but makes the parents of a file */
static void on_placeholder_deleted(void *arg, const struct err *err)
{
	struct job *job = arg;
	struct transfer *transfer = job->transfer;

	job->look = NULL;
	if (err) {
		transfer_job_fail(job, err);
		return;
	}
	transfer_job_free(job);
	transfer_kick(transfer);
}

static long read_nothing(void *arg, char *into, size_t room, struct err *err)
{
	(void)arg;
	(void)into;
	(void)room;
	(void)err;
	return 0;
}

static void on_placeholder_written(void *arg, const struct err *err)
{
	struct job *job = arg;
	struct err failure = { 0 };

	job->write = NULL;
	if (!err) {
		char *path = transfer_dir_to_path(job->transfer, job->dir, job->temp);
		job->look = runtime_delete_start(job->transfer->to.runtime, path, false, 0,
			on_placeholder_deleted, job, &failure);
		free(path);
		if (job->look)
			return;
		err = &failure;
	}
	transfer_job_fail(job, err);
}

void transfer_upload_empty_dir(struct job *job)
{
	struct err err = { 0 };
	char random[17];

	digest_random_hex(random, 16);
	snprintf(job->temp, sizeof job->temp, ".sandmux-tmp-%s", random);
	char *path = transfer_dir_to_path(job->transfer, job->dir, job->temp);
	struct runtime_write_opts opts = {
		.path = path,
		.mode = -1,
		.total_bytes = 0,
		.read_bytes = read_nothing,
		.done = on_placeholder_written,
		.arg = job,
	};
	job->write = runtime_write_start(job->transfer->to.runtime, &opts, &err);
	free(path);
	if (!job->write)
		transfer_job_fail(job, &err);
}
