// SPDX-License-Identifier: Apache-2.0
/* Folders, read: a local one on a thread, one in a sandbox by the listing of its daemon. Names go into blocks: 100,000 of
 * them cost a few hundred allocations. */
#include "engine/files/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 16 << 10, PROGRESS_MS = 100, READS_AT_ONCE = 4 };

struct files_name_block {
	struct files_name_block *next;
	size_t n, capacity;
	char bytes[];
};

void files_listing_clear(struct files_listing *listing)
{
	while (listing->blocks) {
		struct files_name_block *block = listing->blocks;
		listing->blocks = block->next;
		free(block);
	}
	free(listing->entries);
	*listing = (struct files_listing){ 0 };
}

static const char *keep_name(struct files_listing *listing, const char *name)
{
	size_t n = strlen(name) + 1;
	struct files_name_block *block = listing->blocks;
	if (!block || block->capacity - block->n < n) {
		size_t capacity = n > BLOCK_BYTES ? n : BLOCK_BYTES;
		block = x_malloc(sizeof *block + capacity);
		*block = (struct files_name_block){ listing->blocks, 0, capacity };
		listing->blocks = block;
	}
	char *at = block->bytes + block->n;
	memcpy(at, name, n);
	block->n += n;
	return at;
}

void files_listing_add(struct files_listing *listing, const struct files_entry *entry)
{
	array_grow(&listing->entries, &listing->capacity, listing->n + 1, sizeof *entry);
	struct files_entry *to = &listing->entries[listing->n++];
	*to = *entry;
	to->name = keep_name(listing, entry->name);
}

struct folder_read;
struct files_list {
	struct files_op op;             /* first */
	const struct folder_read *read; /* local, while its work is under way */
	struct net_loop_timer *tick;
	struct err err; /* at the start */
	void (*progress)(void *arg, size_t n);
	void (*done)(void *arg, const struct err *err, struct files_listing *listing_take);
	void *arg;
};

static void list_deinit(struct files_op *op)
{
	net_loop_timer_free(((struct files_list *)op)->tick);
}

static void list_end(
	struct files_list *list, const struct err *err, struct files_listing *listing)
{
	net_loop_timer_disarm(list->tick);
	files_op_end(&list->op);
	list->done(list->arg, err, listing);
}

/* ---- a sandbox */

static void on_listed(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	struct files_list *list = arg;
	struct files_listing listing = { .n_hidden = n_hidden };
	list->op.call = NULL;
	for (size_t i = 0; !err && i < n; i++) {
		struct files_entry entry = {
			.name = entries[i].name,
			.size_bytes = entries[i].size_bytes,
			.modified_s = entries[i].modified_s,
			.mode = entries[i].mode,
			.kind = entries[i].is_dir ? FILES_FOLDER : FILES_PLAIN,
		};
		files_listing_add(&listing, &entry);
	}
	list_end(list, err, &listing);
	files_listing_clear(&listing);
}

static void on_refused(void *arg)
{
	struct files_list *list = arg;
	struct files_listing none = { 0 };
	list_end(list, &list->err, &none);
}

/* ---- the local disk, on a thread */

struct folder_read {
	struct files_list *list; /* only the loop's thread looks there */
	char *path;
	struct files_listing listing;
	atomic_size_t n;
	struct err err;
};

static enum files_kind kind_of(int dir_fd, const char *name, const struct stat *st)
{
	struct stat target;
	if (S_ISDIR(st->st_mode))
		return FILES_FOLDER;
	if (S_ISREG(st->st_mode))
		return FILES_PLAIN;
	if (S_ISFIFO(st->st_mode))
		return FILES_FIFO;
	if (S_ISSOCK(st->st_mode))
		return FILES_SOCKET;
	if (!S_ISLNK(st->st_mode))
		return FILES_DEVICE;
	if (fstatat(dir_fd, name, &target, 0) < 0)
		return FILES_LINK_BROKEN;
	return S_ISDIR(target.st_mode) ? FILES_LINK_FOLDER : FILES_LINK;
}

static void add_local(struct folder_read *read, int dir_fd, const char *name)
{
	struct stat st;
	struct files_entry entry = { name, -1, -1, -1, FILES_PLAIN, false };
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == ENOENT)
			return; /* gone meanwhile */
	} else {
		entry.size_bytes = (int64_t)st.st_size;
		entry.modified_s = (int64_t)st.st_mtime;
		entry.mode = (int)(st.st_mode & 07777);
		entry.kind = kind_of(dir_fd, name, &st);
	}
	files_listing_add(&read->listing, &entry);
	atomic_store_explicit(&read->n, read->listing.n, memory_order_relaxed);
}

static void read_entries(struct folder_read *read, DIR *dir, const atomic_bool *is_cancelled)
{
	while (!atomic_load(is_cancelled)) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry && errno)
			err_set_errno(&read->err, errno, "%s", read->path);
		if (!entry)
			return;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (read->listing.n >= FILES_ENTRIES_MAX) {
			err_set(&read->err, ERR_LIMIT_RESPONSE, "%s has more than %d entries",
				read->path, FILES_ENTRIES_MAX);
			return;
		}
		add_local(read, dirfd(dir), entry->d_name);
	}
}

static void read_run(void *arg, const atomic_bool *is_cancelled)
{
	struct folder_read *read = arg;
	int fd = open(read->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir) {
		read_entries(read, dir, is_cancelled);
		closedir(dir);
		return;
	}
	err_set_errno(&read->err, errno, "%s", read->path);
	if (fd >= 0)
		close(fd);
}

static void read_done(void *arg)
{
	struct folder_read *read = arg;
	struct files_list *list = read->list;
	list->op.work = NULL;
	list->read = NULL;
	list_end(list, read->err.code == ERR_NONE ? NULL : &read->err, &read->listing);
}

static void read_free(void *arg)
{
	struct folder_read *read = arg;
	files_listing_clear(&read->listing);
	free(read->path);
	free(read);
}

static const struct net_work_kind reads = { "folder", READS_AT_ONCE, read_run, read_done,
	read_free };

static void on_tick(void *arg)
{
	struct files_list *list = arg;
	list->progress(list->arg, atomic_load_explicit(&list->read->n, memory_order_relaxed));
}

static void start_local(struct files_list *list, const char *path)
{
	struct folder_read *read = x_calloc(1, sizeof *read);
	read->list = list;
	read->path = x_strdup(path);
	list->read = read;
	list->op.work = net_work_start(list->op.loop, &reads, read);
	if (!list->progress)
		return;
	list->tick = net_loop_timer_new(list->op.loop, on_tick, list);
	net_loop_timer_arm_every(list->tick, PROGRESS_MS);
}

struct files_op *files_list_start(struct net_loop *loop, const struct files_place *place,
	const char *path, void (*progress)(void *arg, size_t n),
	void (*done)(void *arg, const struct err *err, struct files_listing *listing_take),
	void *arg)
{
	struct files_list *list = files_op_new(sizeof *list, loop, place->runtime, list_deinit);
	list->progress = progress;
	list->done = done;
	list->arg = arg;
	if (!place->runtime) {
		start_local(list, path);
		return &list->op;
	}
	list->op.call = runtime_list_start(
		place->runtime, path, place->timeout_ms, on_listed, list, &list->err);
	if (!list->op.call)
		files_op_later(&list->op, on_refused);
	return &list->op;
}
