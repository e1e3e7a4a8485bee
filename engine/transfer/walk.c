// SPDX-License-Identifier: Apache-2.0
/* Turns a tree into jobs: one folder after the other, newest first, so that few are open at a time. A local folder
 * is read some entries at a time, off the loop; a sandbox is asked for one listing at a time, and then what its folders and empty files
 * really are. It rests while many jobs wait, and when the tree has more entries than the limit.
 * Links on the local side are not followed (a tree may come from a stranger) and are counted as skipped, as are
 * sockets, devices and pipes on both. In a sandbox links look like what they lead to; one that leads back to a folder it is
 * in is skipped.
 *
 *   pop ─> (is it at the target?) ─> list ─> (kinds and identities) ─> jobs, folders to come */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/files/folder.h"
#include "engine/transfer/internal.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { LIST_MS = 60 * 1000, LOOK_MS = 30 * 1000 };

struct transfer_pending {
	struct transfer_directory *dir;
	struct transfer_pending *next;
};

/* An entry of a listing whose kind is asked for. */
struct unclear {
	struct transfer_directory *dir; /* a folder */
	char *name;                     /* else a file that says it is empty */
	int mode;
	int64_t modified_s;
};

struct transfer_walk {
	struct transfer_pending *stack;
	struct transfer_directory *dir; /* being read */
	/* local: entries that have been read, and are taken while the tree is not too large */
	struct files_folder *folder;
	const struct files_folder_entry *entries;
	size_t n_entries, at;
	bool is_reading, is_last;
	struct runtime_op *list;
	struct runtime_op *look; /* is this folder at the target? */
	struct transfer_remote_stats *stats;
	struct unclear *unclear;
	size_t n_unclear, unclear_capacity;
	bool has_no_stat; /* the sandbox does not tell identities */
	/* where the copy goes, when that is in the same sandbox: a link may lead there */
	struct transfer_directory *target;
	size_t n_made; /* of it: jobs, and folders to come */
};

static void push(struct transfer_walk *walk, struct transfer_directory *dir_take)
{
	struct transfer_pending *pending = x_malloc(sizeof *pending);

	*pending = (struct transfer_pending){ dir_take, walk->stack };
	walk->stack = pending;
}

/* Counted among the folders whose mode and time are set in the end. */
static void keep_dir(struct transfer *transfer, struct transfer_directory *dir)
{
	array_grow(&transfer->dirs, &transfer->dirs_capacity, transfer->n_dirs + 1,
		sizeof(struct transfer_directory *));
	transfer->dirs[transfer->n_dirs++] = transfer_directory_ref(dir);
}

void transfer_walk_start(struct transfer *transfer)
{
	transfer->walk = x_calloc(1, sizeof *transfer->walk);
	transfer->top->mode = transfer->from_mode;
	transfer->top->modified_s = transfer->from_modified_s;
	transfer->top->to_is_new = transfer->to.kind == END_REMOTE && transfer->to.is_new;
	keep_dir(transfer, transfer->top);
	if (transfer->from.kind == END_REMOTE &&
		transfer->from.runtime == transfer->to.runtime && !transfer->to.makes_root)
		transfer->walk->target = transfer_directory_new(NULL, NULL);
	push(transfer->walk, transfer_directory_ref(transfer->top));
}

static void close_dir(struct transfer_walk *walk)
{
	if (walk->folder) {
		files_folder_free(walk->folder);
		transfer_directory_release_from(walk->dir);
		walk->folder = NULL;
		walk->is_reading = false;
		walk->n_entries = walk->at = 0;
	}
	transfer_directory_unref(walk->dir);
	walk->dir = NULL;
}

static void forget_unclear(struct transfer_walk *walk)
{
	for (size_t i = 0; i < walk->n_unclear; i++) {
		transfer_directory_unref(walk->unclear[i].dir);
		free(walk->unclear[i].name);
	}
	walk->n_unclear = 0;
}

void transfer_walk_free(struct transfer_walk *walk)
{
	if (!walk)
		return;
	runtime_cancel(walk->list);
	runtime_cancel(walk->look);
	transfer_remote_stats_cancel(walk->stats);
	forget_unclear(walk);
	free(walk->unclear);
	transfer_directory_unref(walk->target);
	close_dir(walk);
	while (walk->stack) {
		struct transfer_pending *pending = walk->stack;
		walk->stack = pending->next;
		transfer_directory_unref(pending->dir);
		free(pending);
	}
	free(walk);
}

bool transfer_walk_is_done(const struct transfer *transfer)
{
	const struct transfer_walk *walk = transfer->walk;

	return !walk || (!walk->stack && !walk->dir);
}

static void fail_at(struct transfer *transfer, const char *name, const struct err *err)
{
	struct err said = *err;
	char *path = transfer_directory_relative(transfer->walk->dir, name);

	if (*path)
		err_prefix(&said, "%s", path);
	free(path);
	transfer_failed(transfer, &said);
}

static void skip(struct transfer *transfer, enum transfer_note note,
	const struct transfer_directory *dir, const char *name, const char *why)
{
	transfer->progress.files_total++;
	transfer->progress.files_skipped++;
	transfer_note_add(transfer, note, dir, name, "%s", why);
}

static void add_dir(struct transfer *transfer, struct transfer_directory *dir_take)
{
	struct transfer_walk *walk = transfer->walk;
	struct err err = { 0 };
	bool is_known = dir_take->has_id || transfer->from.kind == END_LOCAL;
	int max = is_known ? TRANSFER_MAX_DEPTH : TRANSFER_MAX_DEPTH_UNKNOWN;

	if (transfer_directory_is_loop(dir_take) ||
		transfer_directory_is_same(dir_take, walk->target)) {
		skip(transfer, TRANSFER_NOTE_LOOP, dir_take, NULL,
			transfer_directory_is_loop(dir_take)
				? "it leads back to a folder that it is in"
				: "it leads to where the copy goes");
		transfer_directory_unref(dir_take);
		return;
	}
	if (dir_take->depth >= max) {
		err_set(&err, ERR_FILE_LOOP, "more than %d folders deep", max);
		fail_at(transfer, dir_take->name, &err);
		transfer_directory_unref(dir_take);
		return;
	}
	walk->n_made++;
	keep_dir(transfer, dir_take);
	push(walk, dir_take);
}

static const char *kind_of(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFLNK:
		return "a link: not copied";
	case S_IFIFO:
		return "a pipe: not copied";
	case S_IFSOCK:
		return "a socket: not copied";
	default:
		return "a device: not copied";
	}
}

static void end_dir(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;

	/* a folder with files is made by its files, and one with nothing but what is skipped is made as well */
	if (!walk->n_made)
		transfer_add_empty_dir(transfer, walk->dir);
	close_dir(walk);
}

/* ---- local */
static void take_local_entry(struct transfer *transfer, const struct files_folder_entry *entry)
{
	struct transfer_walk *walk = transfer->walk;
	const struct stat *st = &entry->st;
	struct err err = { 0 };

	transfer->n_entries++;
	if (entry->error) {
		err_set_errno(&err, entry->error, "cannot look at it");
		fail_at(transfer, entry->name, &err);
	} else if (S_ISDIR(st->st_mode)) {
		struct transfer_directory *dir = transfer_directory_new(walk->dir, entry->name);
		dir->mode = (int)(st->st_mode & 0777);
		dir->modified_s = (int64_t)st->st_mtime;
		add_dir(transfer, dir);
	} else if (S_ISREG(st->st_mode)) {
		walk->n_made++;
		transfer_add_job(transfer, walk->dir, entry->name, (int64_t)st->st_size,
			(int)(st->st_mode & 0777));
	} else {
		skip(transfer, TRANSFER_NOTE_KIND, walk->dir, entry->name,
			kind_of(st->st_mode));
	}
}

static void on_entries(void *arg, const struct err *err,
	const struct files_folder_entry *entries, size_t n, bool is_last)
{
	struct transfer *transfer = arg;
	struct transfer_walk *walk = transfer->walk;

	walk->is_reading = false;
	walk->entries = entries;
	walk->n_entries = n;
	walk->at = 0;
	walk->is_last = is_last;
	if (err) {
		fail_at(transfer, NULL, err);
		close_dir(walk);
	}
	transfer_schedule(transfer);
}

static void take_local(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;

	while (walk->at < walk->n_entries && !transfer_is_over_limit(transfer))
		take_local_entry(transfer, &walk->entries[walk->at++]);
	if (walk->at < walk->n_entries)
		return;
	if (walk->is_last) {
		end_dir(transfer);
		return;
	}
	walk->is_reading = true;
	files_folder_next(walk->folder, on_entries, transfer);
}

static void open_local(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;
	struct err err = { 0 };
	int fd = transfer_directory_use_from(transfer, walk->dir, &err);

	if (fd >= 0) {
		walk->is_last = false;
		walk->folder = files_folder_new(transfer->loop, fd, &err);
		if (walk->folder)
			return;
		transfer_directory_release_from(walk->dir);
	}
	fail_at(transfer, NULL, &err);
	close_dir(walk);
}

/* ---- remote */
static void add_file(struct transfer *transfer, const char *name, int64_t bytes, int mode,
	int64_t modified_s)
{
	struct transfer_job *job =
		transfer_add_job(transfer, transfer->walk->dir, name, bytes, mode);

	transfer->walk->n_made++;
	job->modified_s = modified_s;
}

/* Folders may be links, and what says it is an empty file may be a pipe that never answers. */
static void take_remote_entry(struct transfer *transfer, const struct runtime_entry *entry)
{
	struct transfer_walk *walk = transfer->walk;

	if (!entry->is_dir && (entry->size_bytes != 0 || walk->has_no_stat)) {
		add_file(transfer, entry->name, entry->size_bytes, entry->mode,
			entry->modified_s);
		return;
	}
	array_grow(&walk->unclear, &walk->unclear_capacity, walk->n_unclear + 1,
		sizeof *walk->unclear);
	struct unclear *unclear = &walk->unclear[walk->n_unclear++];
	*unclear = (struct unclear){ .mode = entry->mode, .modified_s = entry->modified_s };
	if (entry->is_dir) {
		unclear->dir = transfer_directory_new(walk->dir, entry->name);
		unclear->dir->mode = entry->mode;
		unclear->dir->modified_s = entry->modified_s;
	} else {
		unclear->name = x_strdup(entry->name);
	}
}

static void take_id(struct transfer_directory *dir, const struct transfer_remote_stat *stat)
{
	dir->has_id = stat && stat->is_known && S_ISDIR(stat->mode);
	if (!dir->has_id)
		return;
	dir->device = stat->device;
	dir->inode = stat->inode;
}

/* stats NULL: nothing is known. */
static void take_unclear(struct transfer *transfer, const struct transfer_remote_stat *stats)
{
	struct transfer_walk *walk = transfer->walk;

	for (size_t i = 0; i < walk->n_unclear; i++) {
		struct unclear *unclear = &walk->unclear[i];
		const struct transfer_remote_stat *stat = stats ? &stats[i] : NULL;
		if (unclear->dir) {
			take_id(unclear->dir, stat);
			add_dir(transfer, transfer_directory_ref(unclear->dir));
		} else if (stat && stat->is_known && !S_ISREG(stat->mode)) {
			skip(transfer, TRANSFER_NOTE_KIND, walk->dir, unclear->name,
				kind_of(stat->mode));
		} else {
			add_file(
				transfer, unclear->name, 0, unclear->mode, unclear->modified_s);
		}
	}
	forget_unclear(walk);
	end_dir(transfer);
}

static void on_stats(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable)
{
	struct transfer *transfer = arg;
	struct transfer_walk *walk = transfer->walk;

	walk->stats = NULL;
	walk->has_no_stat |= is_unavailable;
	/* the last are the folder itself, and the target */
	if (!walk->dir->has_id)
		take_id(walk->dir, &stats[walk->n_unclear]);
	if (walk->target && !walk->target->has_id)
		take_id(walk->target, &stats[walk->n_unclear + 1]);
	if (!walk->dir->parent && transfer_directory_is_same(walk->dir, walk->target)) {
		struct err err = { 0 };
		err_set(&err, ERR_ARG_INVALID, "%s cannot be copied into itself",
			transfer->from.path);
		transfer->is_fatal = true;
		transfer_failed(transfer, &err);
	}
	take_unclear(transfer, stats);
	transfer_schedule(transfer);
}

static void ask_what_they_are(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;
	char **paths = x_calloc(walk->n_unclear + 2, sizeof *paths);
	size_t n = walk->n_unclear;

	for (size_t i = 0; i < walk->n_unclear; i++) {
		const struct unclear *unclear = &walk->unclear[i];
		paths[i] = transfer_directory_from_path(
			transfer, unclear->dir ? unclear->dir : walk->dir, unclear->name);
	}
	paths[n++] = transfer_directory_from_path(transfer, walk->dir, NULL);
	if (walk->target && !walk->target->has_id)
		paths[n++] = x_strdup(transfer->to.root);
	walk->stats = transfer_remote_stats_start(
		transfer->loop, transfer->from.runtime, paths, n, on_stats, transfer);
}

static void on_listed(void *arg, const struct err *err, const struct runtime_entry *entries,
	size_t n, size_t n_hidden)
{
	struct transfer *transfer = arg;
	struct transfer_walk *walk = transfer->walk;

	walk->list = NULL;
	if (err) {
		fail_at(transfer, NULL, err);
		close_dir(walk);
		transfer_schedule(transfer);
		return;
	}
	/* names that are not safe here, and uploads of others that are under way */
	transfer->progress.files_total += n_hidden;
	transfer->progress.files_skipped += n_hidden;
	transfer->n_entries += n + n_hidden;
	for (size_t i = 0; i < n; i++)
		take_remote_entry(transfer, &entries[i]);
	if (walk->n_unclear && !walk->has_no_stat)
		ask_what_they_are(transfer);
	else
		take_unclear(transfer, NULL);
	transfer_schedule(transfer);
}

static void list_remote(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;
	struct err err = { 0 };
	char *path = transfer_directory_from_path(transfer, walk->dir, NULL);

	walk->list = runtime_list_start(
		transfer->from.runtime, path, LIST_MS, on_listed, transfer, &err);
	free(path);
	if (walk->list)
		return;
	fail_at(transfer, NULL, &err);
	close_dir(walk);
}

static void read_dir(struct transfer *transfer)
{
	if (transfer->from.kind == END_LOCAL)
		open_local(transfer);
	else
		list_remote(transfer);
}

/* ---- is it at the target? In a folder that is new everything is; else the daemon is asked once for each folder, which
 * spares a look for each file, and only new ones get mode and time. */
static void on_looked(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer *transfer = arg;
	struct transfer_walk *walk = transfer->walk;

	(void)st;
	walk->look = NULL;
	walk->dir->to_is_new = err && err->code == ERR_FILE_NOT_FOUND;
	read_dir(transfer);
	transfer_schedule(transfer);
}

static bool looks_at_target(struct transfer *transfer)
{
	struct transfer_directory *dir = transfer->walk->dir;

	if (transfer->to.kind != END_REMOTE || !dir->parent)
		return false;
	if (dir->parent->to_is_new) {
		dir->to_is_new = true;
		return false;
	}
	char *path = transfer_directory_to_path(transfer, dir, NULL);
	transfer->walk->look = runtime_stat_start(
		transfer->to.runtime, path, LOOK_MS, on_looked, transfer, NULL);
	free(path);
	return transfer->walk->look != NULL;
}

void transfer_walk_turn(struct transfer *transfer)
{
	struct transfer_walk *walk = transfer->walk;

	if (transfer_walk_is_done(transfer) || walk->list || walk->look || walk->stats ||
		walk->is_reading || transfer->n_queued >= TRANSFER_MAX_QUEUED ||
		transfer->is_paused || transfer_is_over_limit(transfer))
		return;
	if (!walk->dir) {
		struct transfer_pending *pending = walk->stack;
		walk->stack = pending->next;
		walk->dir = pending->dir;
		walk->n_made = 0;
		free(pending);
		if (!looks_at_target(transfer))
			read_dir(transfer);
	}
	if (walk->folder)
		take_local(transfer);
	if (!walk->list && !walk->look && !walk->stats && !walk->is_reading)
		transfer_schedule(transfer);
}
