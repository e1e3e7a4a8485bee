// SPDX-License-Identifier: Apache-2.0
// Folders, read. Names go into blocks: 100,000 of them cost a few hundred allocations.
#include "tui/views/files/read.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 16 << 10, LIST_MS = 30 * 1000 };

struct views_name_block {
	struct views_name_block *next;
	size_t n, capacity;
	char bytes[];
};

void views_files_listing_clear(struct views_files_listing *listing)
{
	while (listing->blocks) {
		struct views_name_block *block = listing->blocks;
		listing->blocks = block->next;
		free(block);
	}
	free(listing->entries);
	*listing = (struct views_files_listing){ 0 };
}

static const char *keep_name(struct views_files_listing *listing, const char *name)
{
	size_t n = strlen(name) + 1;
	struct views_name_block *block = listing->blocks;
	if (!block || block->capacity - block->n < n) {
		size_t capacity = n > BLOCK_BYTES ? n : BLOCK_BYTES;
		block = x_malloc(sizeof *block + capacity);
		*block = (struct views_name_block){ listing->blocks, 0, capacity };
		listing->blocks = block;
	}
	char *at = block->bytes + block->n;
	memcpy(at, name, n);
	block->n += n;
	return at;
}

void views_files_listing_add(
	struct views_files_listing *listing, const struct views_files_entry *entry)
{
	array_grow(&listing->entries, &listing->capacity, listing->n + 1, sizeof *entry);
	struct views_files_entry *to = &listing->entries[listing->n++];
	*to = *entry;
	to->name = keep_name(listing, entry->name);
}

/* ---- a sandbox */

static void on_listed(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	struct views_files_pane *pane = arg;
	pane->op = NULL;
	for (size_t i = 0; !err && i < n; i++) {
		struct views_files_entry entry = {
			.name = entries[i].name,
			.size_bytes = entries[i].size_bytes,
			.modified_s = entries[i].modified_s,
			.mode = entries[i].mode,
			.kind = entries[i].is_dir ? FILE_FOLDER : FILE_PLAIN,
		};
		views_files_listing_add(&pane->next, &entry);
	}
	pane->next.n_hidden = n_hidden;
	if (err)
		engine_refused(pane->host->engine, ENGINE_FILES, pane->uid, NULL, err);
	pane->on_read(pane, err);
}

/* ---- the local disk */

static enum views_files_kind kind_of(int dir_fd, const char *name, const struct stat *st)
{
	struct stat target;
	if (S_ISDIR(st->st_mode))
		return FILE_FOLDER;
	if (S_ISREG(st->st_mode))
		return FILE_PLAIN;
	if (S_ISFIFO(st->st_mode))
		return FILE_FIFO;
	if (S_ISSOCK(st->st_mode))
		return FILE_SOCKET;
	if (!S_ISLNK(st->st_mode))
		return FILE_DEVICE;
	if (fstatat(dir_fd, name, &target, 0) < 0)
		return FILE_LINK_BROKEN;
	return S_ISDIR(target.st_mode) ? FILE_LINK_FOLDER : FILE_LINK;
}

static void add_local(struct views_files_pane *pane, const char *name)
{
	struct stat st;
	struct views_files_entry entry = { name, -1, -1, -1, FILE_PLAIN, false };
	int dir_fd = dirfd(pane->dir);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return; /* gone meanwhile */
	} else {
		entry.size_bytes = (int64_t)st.st_size;
		entry.modified_s = (int64_t)st.st_mtime;
		entry.mode = (int)(st.st_mode & 07777);
		entry.kind = kind_of(dir_fd, name, &st);
	}
	views_files_listing_add(&pane->next, &entry);
}

static void close_local(struct views_files_pane *pane)
{
	if (pane->dir)
		closedir(pane->dir);
	pane->dir = NULL;
}

static void on_slice(void *arg)
{
	struct views_files_pane *pane = arg;
	int64_t end_ms = clock_mono_ms() + FILES_SLICE_MS;
	struct err err = { 0 };
	bool is_over = false;
	if (!pane->dir) { /* it could not be opened: told from here, never from the start */
		err = pane->err;
		pane->on_read(pane, &err);
		return;
	}
	for (int i = 1; !is_over; i++) {
		errno = 0;
		const struct dirent *entry = readdir(pane->dir);
		if (!entry && errno) {
			err_set_errno(&err, errno, "%s", pane->path);
			is_over = true;
		} else if (!entry) {
			is_over = true;
		} else if (pane->next.n >= FILES_ENTRIES_MAX) {
			err_set(&err, ERR_LIMIT_RESPONSE, "%s has more than %d entries",
				pane->path, FILES_ENTRIES_MAX);
			is_over = true;
		} else if (strcmp(entry->d_name, ".") != 0 &&
			   strcmp(entry->d_name, "..") != 0) {
			add_local(pane, entry->d_name);
		}
		if (i % FILES_SLICE_ENTRIES == 0 && clock_mono_ms() >= end_ms)
			break;
	}
	if (is_over) {
		close_local(pane);
		pane->on_read(pane, err.code == ERR_NONE ? NULL : &err);
		return;
	}
	host_dirty(pane->host);
	net_loop_timer_arm(pane->slice, 0);
}

static void start_local(struct views_files_pane *pane)
{
	int fd = open(pane->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	pane->dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!pane->dir) {
		err_set_errno(&pane->err, errno, "%s", pane->path);
		if (fd >= 0)
			close(fd);
	}
}

void views_files_read_start(struct views_files_pane *pane,
	void (*done)(struct views_files_pane *pane, const struct err *err))
{
	pane->on_read = done;
	views_files_read_stop(pane);
	pane->is_reading = true;
	if (pane->is_local) {
		start_local(pane);
	} else {
		struct runtime *runtime =
			engine_runtime(pane->host->engine, pane->uid, &pane->err);
		if (runtime)
			pane->op = runtime_list_start(
				runtime, pane->path, LIST_MS, on_listed, pane, &pane->err);
		if (pane->op)
			return;
	}
	if (!pane->slice)
		pane->slice = net_loop_timer_new(pane->host->loop, on_slice, pane);
	net_loop_timer_arm(pane->slice, 0);
}

void views_files_read_stop(struct views_files_pane *pane)
{
	runtime_cancel(pane->op);
	pane->op = NULL;
	close_local(pane);
	if (pane->slice)
		net_loop_timer_disarm(pane->slice);
	views_files_listing_clear(&pane->next);
	pane->is_reading = false;
}
