// SPDX-License-Identifier: Apache-2.0
/* Turns a tree into jobs: one folder after the other, newest first, so that few are open at a time. A local folder
 * is read some entries a turn; a sandbox is asked for one listing at a time. It rests while many jobs wait.
 * Links on the local side are not followed (a tree may come from a stranger) and are counted as skipped, as are
 * sockets, devices and pipes. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/transfer/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENTRIES_A_TURN = 256, LIST_MS = 60 * 1000 };

struct pending {
	struct dir *dir;
	struct pending *next;
};

struct walk {
	struct pending *stack;
	struct dir *dir; /* being read */
	DIR *stream;     /* local */
	struct runtime_op *list;
	size_t n_in_dir;
};

static void push(struct walk *walk, struct dir *dir_take)
{
	struct pending *pending = x_malloc(sizeof *pending);

	*pending = (struct pending){ dir_take, walk->stack };
	walk->stack = pending;
}

void transfer_walk_start(struct transfer *transfer)
{
	transfer->walk = x_calloc(1, sizeof *transfer->walk);
	push(transfer->walk, transfer_dir_ref(transfer->top));
}

static void close_dir(struct walk *walk)
{
	if (walk->stream) {
		closedir(walk->stream);
		transfer_dir_release_from(walk->dir);
		walk->stream = NULL;
	}
	transfer_dir_unref(walk->dir);
	walk->dir = NULL;
}

void transfer_walk_free(struct walk *walk)
{
	if (!walk)
		return;
	runtime_cancel(walk->list);
	close_dir(walk);
	while (walk->stack) {
		struct pending *pending = walk->stack;
		walk->stack = pending->next;
		transfer_dir_unref(pending->dir);
		free(pending);
	}
	free(walk);
}

bool transfer_walk_is_done(const struct transfer *transfer)
{
	const struct walk *walk = transfer->walk;

	return !walk || (!walk->stack && !walk->dir);
}

static void fail_at(struct transfer *transfer, const char *name, const struct err *err)
{
	struct err said = *err;
	char *path = transfer_dir_relative(transfer->walk->dir, name);

	if (*path)
		err_prefix(&said, "%s", path);
	free(path);
	transfer_failed(transfer, &said);
}

static void add_dir(struct transfer *transfer, const char *name)
{
	struct walk *walk = transfer->walk;
	struct err err = { 0 };

	if (walk->dir->depth + 1 >= TRANSFER_MAX_DEPTH) {
		err_set(&err, ERR_FILE_LOOP, "more than %d folders deep", TRANSFER_MAX_DEPTH);
		fail_at(transfer, name, &err);
		return;
	}
	push(walk, transfer_dir_new(walk->dir, name));
}

static void end_dir(struct transfer *transfer)
{
	struct walk *walk = transfer->walk;

	/* a folder with files is made by its files */
	if (!walk->n_in_dir)
		transfer_add_job(transfer, walk->dir, "", 0, -1)->is_empty_dir = true;
	close_dir(walk);
}

/* ---- local */
static void take_local_entry(struct transfer *transfer, const char *name)
{
	struct walk *walk = transfer->walk;
	struct stat st;
	struct err err = { 0 };

	walk->n_in_dir++;
	if (fstatat(dirfd(walk->stream), name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		err_set_errno(&err, errno, "cannot look at it");
		fail_at(transfer, name, &err);
	} else if (S_ISDIR(st.st_mode)) {
		add_dir(transfer, name);
	} else if (S_ISREG(st.st_mode)) {
		transfer_add_job(transfer, walk->dir, name, (int64_t)st.st_size,
			(int)(st.st_mode & 0777));
	} else {
		transfer->progress.files_total++;
		transfer->progress.files_skipped++;
	}
}

static void read_local(struct transfer *transfer)
{
	struct walk *walk = transfer->walk;

	for (int i = 0; i < ENTRIES_A_TURN; i++) {
		errno = 0;
		struct dirent *entry = readdir(walk->stream);
		if (!entry) {
			end_dir(transfer);
			return;
		}
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			take_local_entry(transfer, entry->d_name);
	}
}

static void open_local(struct transfer *transfer)
{
	struct walk *walk = transfer->walk;
	struct err err = { 0 };
	int fd = transfer_dir_use_from(transfer, walk->dir, &err);

	if (fd >= 0) {
		/* an own description, since reading moves it */
		int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		walk->stream = own >= 0 ? fdopendir(own) : NULL;
		if (walk->stream)
			return;
		err_set_errno(&err, errno, "cannot read the folder");
		if (own >= 0)
			close(own);
		transfer_dir_release_from(walk->dir);
	}
	fail_at(transfer, NULL, &err);
	close_dir(walk);
}

/* ---- remote */
static void on_listed(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	struct transfer *transfer = arg;
	struct walk *walk = transfer->walk;

	walk->list = NULL;
	if (err) {
		fail_at(transfer, NULL, err);
		close_dir(walk);
		transfer_kick(transfer);
		return;
	}
	/* names that are not safe here, and uploads of others that are under way */
	transfer->progress.files_total += n_hidden;
	transfer->progress.files_skipped += n_hidden;
	walk->n_in_dir = n + n_hidden;
	for (size_t i = 0; i < n; i++) {
		if (entries[i].is_dir)
			add_dir(transfer, entries[i].name);
		else
			transfer_add_job(transfer, walk->dir, entries[i].name,
				entries[i].size_bytes, entries[i].mode);
	}
	end_dir(transfer);
	transfer_kick(transfer);
}

static void list_remote(struct transfer *transfer)
{
	struct walk *walk = transfer->walk;
	struct err err = { 0 };
	char *path = transfer_dir_from_path(transfer, walk->dir, NULL);

	walk->list = runtime_list_start(
		transfer->from.runtime, path, LIST_MS, on_listed, transfer, &err);
	free(path);
	if (walk->list)
		return;
	fail_at(transfer, NULL, &err);
	close_dir(walk);
}

void transfer_walk_turn(struct transfer *transfer)
{
	struct walk *walk = transfer->walk;

	if (transfer_walk_is_done(transfer) || walk->list ||
		transfer->n_queued >= TRANSFER_MAX_QUEUED || transfer->is_paused)
		return;
	if (!walk->dir) {
		struct pending *pending = walk->stack;
		walk->stack = pending->next;
		walk->dir = pending->dir;
		walk->n_in_dir = 0;
		free(pending);
		if (transfer->from.kind == END_LOCAL)
			open_local(transfer);
		else
			list_remote(transfer);
	}
	if (walk->stream)
		read_local(transfer);
	if (!walk->list)
		transfer_kick(transfer);
}
