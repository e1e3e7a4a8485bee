// SPDX-License-Identifier: Apache-2.0
/* A folder and its stream go to a thread with each call, and come back with the entries. */
#include "engine/files/folder.h"

#include "engine/files/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES_A_CALL = 256, READS_AT_ONCE = 4 };

/* What the thread has while a call is under way, and the loop between calls. */
struct folder_stream {
	struct files_folder *folder; /* only the loop's thread looks there */
	int fd;                      /* until it is opened */
	DIR *dir;
	struct files_folder_entry entries[ENTRIES_A_CALL];
	size_t n;
	bool is_last;
	struct err err;
};

struct files_folder {
	struct net_loop *loop;
	struct net_work *work;
	struct folder_stream *stream; /* NULL while work is under way */
	void (*done)(void *arg, const struct err *err, const struct files_folder_entry *entries,
		size_t n, bool is_last);
	void *arg;
};

static void forget_entries(struct folder_stream *stream)
{
	for (size_t i = 0; i < stream->n; i++)
		free(stream->entries[i].name);
	stream->n = 0;
}

static void stream_free(void *arg)
{
	struct folder_stream *stream = arg;
	if (!stream)
		return;
	forget_entries(stream);
	if (stream->dir)
		closedir(stream->dir);
	if (stream->fd >= 0)
		close(stream->fd);
	free(stream);
}

/* An own description, since reading moves it. */
static bool open_stream(struct folder_stream *stream)
{
	int own = openat(stream->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	stream->dir = own >= 0 ? fdopendir(own) : NULL;
	if (stream->dir)
		return true;
	stream->is_last = true;
	err_set_errno(&stream->err, errno, "cannot read the folder");
	if (own >= 0)
		close(own);
	return false;
}

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct folder_stream *stream = arg;
	if (!stream->dir && !open_stream(stream))
		return;
	while (stream->n < ENTRIES_A_CALL && !atomic_load(is_cancelled)) {
		const struct dirent *entry = readdir(stream->dir);
		if (!entry) {
			stream->is_last = true;
			return;
		}
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		struct files_folder_entry *to = &stream->entries[stream->n++];
		*to = (struct files_folder_entry){ .name = x_strdup(entry->d_name) };
		if (fstatat(dirfd(stream->dir), to->name, &to->st, AT_SYMLINK_NOFOLLOW) < 0)
			to->error = errno;
	}
}

/* The stream goes back to the folder: what is freed with the work is an empty holder. */
struct folder_work {
	struct folder_stream *stream;
};

static void work_run(void *arg, const atomic_bool *is_cancelled)
{
	run(((struct folder_work *)arg)->stream, is_cancelled);
}

static void work_done(void *arg)
{
	struct folder_work *work = arg;
	struct folder_stream *stream = work->stream;
	struct files_folder *folder = stream->folder;
	work->stream = NULL;
	folder->work = NULL;
	folder->stream = stream;
	folder->done(folder->arg, stream->err.code == ERR_NONE ? NULL : &stream->err,
		stream->entries, stream->n, stream->is_last);
}

static void work_free(void *arg)
{
	stream_free(((struct folder_work *)arg)->stream);
	free(arg);
}

static const struct net_work_kind reads = { "walk", READS_AT_ONCE, work_run, work_done,
	work_free };

struct files_folder *files_folder_new(struct net_loop *loop, int fd, struct err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0) {
		err_set_errno(err, errno, "cannot read the folder");
		return NULL;
	}
	struct files_folder *folder = x_calloc(1, sizeof *folder);
	folder->loop = loop;
	folder->stream = x_calloc(1, sizeof *folder->stream);
	folder->stream->folder = folder;
	folder->stream->fd = own;
	return folder;
}

void files_folder_next(struct files_folder *folder,
	void (*done)(void *arg, const struct err *err, const struct files_folder_entry *entries,
		size_t n, bool is_last),
	void *arg)
{
	struct folder_work *work = x_calloc(1, sizeof *work);
	folder->done = done;
	folder->arg = arg;
	forget_entries(folder->stream);
	work->stream = folder->stream;
	folder->stream = NULL;
	folder->work = net_work_start(folder->loop, &reads, work);
}

void files_folder_free(struct files_folder *folder)
{
	if (!folder)
		return;
	net_work_cancel(folder->work);
	stream_free(folder->stream);
	free(folder);
}
