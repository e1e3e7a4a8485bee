// SPDX-License-Identifier: Apache-2.0
/* What are the two ends? As cp sees it: into an existing folder (or a path that ends in '/') under the own name,
 * else to that very name. A source in a sandbox is found in the listing of its folder, which has its mode and time too; a
 * target is asked for by HEAD. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/files/files.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LOOK_MS = 30 * 1000, SLOW_MS = 1500 };

struct transfer_kind {
	bool exists, is_dir, is_link; /* is_link: one that leads nowhere */
	int64_t size_bytes;
	int mode; /* local; else -1 */
	int64_t modified_s;
};

static void check_tree_wanted(struct transfer *transfer);
static void stop_slow_look(struct transfer *transfer);
static void look_remotely(struct transfer *transfer, struct transfer_internal_end *end,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st));
static struct transfer_remote_stats *ask_for_kind(struct transfer *transfer,
	const struct transfer_internal_end *end,
	void (*done)(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable));

static void fail(struct transfer *transfer, const struct err *err)
{
	transfer->is_fatal = true;
	transfer_failed(transfer, err);
	transfer_schedule(transfer);
}

static bool ends_with_slash(const char *path)
{
	size_t n = strlen(path);

	return n && path[n - 1] == '/';
}

/* ---- names */
static bool is_inside(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n == 0 || (strncmp(path, folder, n) == 0 && (path[n] == 0 || path[n] == '/'));
}

static bool check_not_into_itself(
	struct transfer *transfer, const char *from, const char *to, struct err *err)
{
	if (transfer->from.kind != END_REMOTE || transfer->from.runtime != transfer->to.runtime)
		return true;
	if (transfer->from_stat.is_dir ? !is_inside(to, from) : strcmp(to, from) != 0)
		return true;
	return err_set(err, ERR_ARG_INVALID, "%s cannot be copied into itself",
		*from ? from : "the sandbox root");
}

static void set_root(struct transfer_internal_end *end, char *root_take)
{
	/* the folder of a bare local name is the current one */
	if (end->kind == END_LOCAL && !*root_take) {
		free(root_take);
		root_take = x_strdup(".");
	}
	end->root = root_take;
}

/* The two ends cut into folder and name; "" and NULL as transfer_local_split() has them. */
struct transfer_names {
	char *from_dir, *base, *to_dir, *to_base;
	bool into; /* a folder at the target, under the source's own name */
};

static void names_init(struct transfer_names *names, const struct transfer *transfer,
	const struct transfer_kind *to_kind)
{
	const struct transfer_internal_end *from = &transfer->from, *to = &transfer->to;

	*names = (struct transfer_names){ 0 };
	if (from->kind == END_FD)
		names->base = x_strdup("");
	else
		transfer_local_split(from->path, &names->from_dir, &names->base);
	if (transfer->from_is_content)
		names->base[0] = 0;
	if (to->kind == END_FD)
		names->to_base = x_strdup("-");
	else
		transfer_local_split(to->path, &names->to_dir, &names->to_base);
	names->into = to->kind != END_FD &&
		      (to_kind->is_dir || ends_with_slash(to->path) || !*names->to_base);
}

static void names_deinit(struct transfer_names *names)
{
	free(names->from_dir);
	free(names->base);
	free(names->to_dir);
	free(names->to_base);
}

static bool check_names(const struct transfer *transfer, const struct transfer_names *names,
	const struct transfer_kind *to_kind, struct err *err)
{
	const struct transfer_internal_end *to = &transfer->to;
	bool is_tree = transfer->from_stat.is_dir;

	if (is_tree && to->kind == END_FD)
		return err_set(err, ERR_FILE_IS_DIR, "a folder cannot go to a stream");
	if (is_tree && to_kind->exists && !to_kind->is_dir)
		return err_set(err, ERR_FILE_NOT_DIR,
			to_kind->is_link ? "%s is a link that leads nowhere" : "%s is a file",
			to->path);
	if (names->into && !is_tree && !*names->base)
		return err_set(err, ERR_ARG_INVALID, "%s: name the file to write", to->path);
	return true;
}

static void set_roots(struct transfer *transfer, const struct transfer_names *names)
{
	struct transfer_internal_end *from = &transfer->from, *to = &transfer->to;
	bool into = names->into;

	if (to->kind != END_FD)
		set_root(to, x_strdup(into ? to->path : names->to_dir));
	if (!transfer->from_stat.is_dir) {
		if (names->from_dir)
			set_root(from, x_strdup(names->from_dir));
		return;
	}
	set_root(from, x_strdup(from->path));
	/* "dir/." and the root have no name: their content goes in */
	to->top = !into          ? x_strdup(names->to_base)
		  : *names->base ? x_strdup(names->base)
				 : NULL;
}

/* "x/" and "./x" are the same folder: one form from here on. */
static bool normalize_remote_target(
	struct transfer *transfer, const struct transfer_names *names, struct err *err)
{
	struct transfer_internal_end *to = &transfer->to;
	const char *last = to->top                      ? to->top
			   : transfer->from_stat.is_dir ? ""
			   : names->into                ? names->base
							: names->to_base;
	char *plain = path_normalize(to->root);

	free(to->root);
	to->root = plain;
	char *path = *last ? path_join(plain, last) : x_strdup(plain);
	bool ok = check_not_into_itself(transfer, transfer->from.path, path, err);
	free(path);
	return ok;
}

static void add_only_job(struct transfer *transfer, const struct transfer_names *names,
	const struct transfer_kind *to_kind)
{
	struct transfer_job *job = transfer_add_job(transfer, transfer->top, names->base,
		transfer->from_stat.size_bytes, transfer->from_mode);

	job->to_name = x_strdup(names->into ? names->base : names->to_base);
	job->modified_s = transfer->from_modified_s;
	if (to_kind->exists && !to_kind->is_dir)
		job->existing_bytes = to_kind->size_bytes;
	/* in a folder that does not exist there is nothing */
	transfer->top->to_is_new =
		names->into && !to_kind->exists && transfer->to.kind == END_REMOTE;
}

static bool name_ends(
	struct transfer *transfer, const struct transfer_kind *to_kind, struct err *err)
{
	struct transfer_internal_end *to = &transfer->to;
	bool is_tree = transfer->from_stat.is_dir;
	struct transfer_names names;

	names_init(&names, transfer, to_kind);
	to->is_new = is_tree && !to_kind->exists;
	to->makes_root = names.into && !to_kind->exists;
	bool ok = check_names(transfer, &names, to_kind, err);
	if (ok)
		set_roots(transfer, &names);
	if (ok && to->kind == END_REMOTE)
		ok = normalize_remote_target(transfer, &names, err);
	if (ok && names.into && is_tree && to->top)
		to->is_new = false; /* the folder inside it may be there */
	if (ok && !is_tree)
		add_only_job(transfer, &names, to_kind);
	names_deinit(&names);
	return ok;
}

static void begin(struct transfer *transfer)
{
	transfer->is_resolved = true;
	if (transfer->from_stat.is_dir)
		transfer_walk_start(transfer);
	else
		transfer->progress.is_planned = true;
	transfer_schedule(transfer);
}

/* Nothing is there, says the daemon: or a link that leads nowhere? Without a shell in the sandbox: nothing. */
static void look_for_link(struct transfer *transfer, const char *path,
	void (*done)(void *arg, const struct err *err, const bool *is_link, size_t n))
{
	struct err err = { 0 };

	transfer->look = runtime_links_start(
		transfer->to.runtime, &path, 1, LOOK_MS, done, transfer, &err);
	if (!transfer->look)
		done(transfer, &err, NULL, 0);
}

static void on_top_link(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	struct transfer *transfer = arg;
	struct err failure = { 0 };

	transfer->look = NULL;
	if (!err && n && is_link[0]) {
		err_set(&failure, ERR_FILE_NOT_DIR, "%s is a link that leads nowhere",
			transfer->to.top);
		fail(transfer, &failure);
		return;
	}
	transfer->to.is_new = true;
	begin(transfer);
}

static void on_top_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer *transfer = arg;
	struct err failure = { 0 };

	transfer->look = NULL;
	if (err && err->code != ERR_FILE_NOT_FOUND) {
		fail(transfer, err);
	} else if (!err && !st->is_dir) {
		err_set(&failure, ERR_FILE_NOT_DIR, "%s is a file there", transfer->to.top);
		fail(transfer, &failure);
	} else if (err) {
		char *path = path_join(transfer->to.root, transfer->to.top);
		look_for_link(transfer, path, on_top_link);
		free(path);
	} else {
		begin(transfer);
	}
}

static void names_known(struct transfer *transfer, const struct transfer_kind *to_kind)
{
	struct transfer_internal_end *to = &transfer->to;
	struct err err = { 0 };

	transfer->top = transfer_directory_new(NULL, NULL);
	if (!name_ends(transfer, to_kind, &err)) {
		fail(transfer, &err);
		return;
	}
	/* into a folder that is there: if ours in it is not, no file in it need be looked for */
	if (to->kind == END_REMOTE && to->top && to_kind->exists) {
		char *path = path_join(to->root, to->top);
		transfer->look = runtime_stat_start(
			to->runtime, path, LOOK_MS, on_top_stat, transfer, &err);
		free(path);
		if (!transfer->look)
			fail(transfer, &err);
		return;
	}
	begin(transfer);
}

/* ---- local ends */
static bool take_local_kind(const char *path, const struct err *err,
	const struct files_entry *entry, struct transfer_kind *kind, bool is_source,
	struct err *failure)
{
	*kind = (struct transfer_kind){ .size_bytes = -1, .mode = -1, .modified_s = -1 };
	if (err && err->sys == ENOENT)
		return true;
	if (err) {
		err_copy(failure, err);
		return false;
	}
	bool is_file = entry->kind == FILES_PLAIN, is_dir = entry->kind == FILES_FOLDER;
	/* what is read to its end when it is named: a pipe, standard input by its name, an empty device */
	bool is_stream = entry->kind == FILES_FIFO || entry->kind == FILES_DEVICE;
	if (!is_file && !is_dir && !(is_source && is_stream))
		return err_set(
			failure, ERR_FILE_DENIED, "%s is neither a file nor a folder", path);
	kind->exists = true;
	kind->is_dir = is_dir;
	if (is_file)
		kind->size_bytes = entry->size_bytes;
	if (is_file || is_dir) {
		kind->mode = entry->mode & 0777;
		kind->modified_s = entry->modified_s;
	}
	return true;
}

static void on_local_from(void *arg, const struct err *err, const struct files_entry *entry)
{
	struct transfer *transfer = arg;
	struct transfer_kind kind;
	struct err failure = { 0 };

	transfer->local_look = NULL;
	if (!take_local_kind(transfer->from.path, err, entry, &kind, true, &failure)) {
		fail(transfer, &failure);
		return;
	}
	if (!kind.exists) {
		err_set(&failure, ERR_FILE_NOT_FOUND, "%s does not exist", transfer->from.path);
		fail(transfer, &failure);
		return;
	}
	transfer->from_stat.is_dir = kind.is_dir;
	transfer->from_stat.size_bytes = kind.size_bytes;
	transfer->from_mode = kind.mode;
	transfer->from_modified_s = kind.modified_s;
	check_tree_wanted(transfer);
}

static void on_local_to(void *arg, const struct err *err, const struct files_entry *entry)
{
	struct transfer *transfer = arg;
	struct transfer_kind kind;
	struct err failure = { 0 };

	transfer->local_look = NULL;
	if (take_local_kind(transfer->to.path, err, entry, &kind, false, &failure))
		names_known(transfer, &kind);
	else
		fail(transfer, &failure);
}

static void look_locally(struct transfer *transfer, const char *path,
	void (*done)(void *arg, const struct err *err, const struct files_entry *entry))
{
	static const struct files_place local = { 0 };

	transfer->local_look = files_stat_start(transfer->loop, &local, path, done, transfer);
}

/* ---- remote ends */
static void on_from_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer *transfer = arg;

	transfer->look = NULL;
	stop_slow_look(transfer);
	if (err) {
		fail(transfer, err);
		return;
	}
	transfer->from_stat = *st;
	transfer->from_modified_s = st->modified_s;
	check_tree_wanted(transfer);
}

/* The kind of what says that it is an empty file; unknown is a file. */
static void on_from_kind(
	void *arg, const struct transfer_remote_stat *stats, bool is_unavailable)
{
	struct transfer *transfer = arg;

	(void)is_unavailable;
	transfer->kind_look = NULL;
	transfer->from_is_stream = stats->is_known && !S_ISREG(stats->mode);
	if (transfer->from_is_stream)
		transfer->from_stat.size_bytes = -1;
	check_tree_wanted(transfer);
}

static void take_from_entry(struct transfer *transfer, const struct runtime_entry *entry)
{
	transfer->from_stat = (struct runtime_stat){
		.is_dir = entry->is_dir,
		.size_bytes = entry->is_dir ? -1 : entry->size_bytes,
		.modified_s = entry->modified_s,
	};
	transfer->from_mode = entry->mode;
	transfer->from_modified_s = entry->modified_s;
	if (entry->is_dir || entry->size_bytes != 0)
		check_tree_wanted(transfer);
	else
		transfer->kind_look = ask_for_kind(transfer, &transfer->from, on_from_kind);
}

/* What is in no listing (a link that leads out, a name that cannot be shown) is asked for by itself. */
static void on_from_listed(void *arg, const struct err *err,
	const struct runtime_entry *entries, size_t n, size_t n_hidden)
{
	struct transfer *transfer = arg;

	(void)n_hidden;
	transfer->look = NULL;
	for (size_t i = 0; !err && i < n; i++)
		if (strcmp(entries[i].name, path_base(transfer->from.path)) == 0) {
			take_from_entry(transfer, &entries[i]);
			return;
		}
	look_remotely(transfer, &transfer->from, on_from_stat);
}

static void on_to_link(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	struct transfer *transfer = arg;
	struct transfer_kind kind = { .size_bytes = -1 };

	transfer->look = NULL;
	kind.exists = kind.is_link = !err && n && is_link[0];
	names_known(transfer, &kind);
}

static void on_to_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct transfer *transfer = arg;
	struct transfer_kind kind = { .size_bytes = -1 };

	transfer->look = NULL;
	stop_slow_look(transfer);
	if (err && transfer_is_blind(err) && !transfer->from_stat.is_dir) {
		/* perhaps a link to itself, or one that leads out: the job looks again */
		kind.exists = true;
	} else if (err && err->code != ERR_FILE_NOT_FOUND) {
		fail(transfer, err);
		return;
	} else if (err && transfer->from_stat.is_dir) {
		look_for_link(transfer, transfer->to.path, on_to_link);
		return;
	}
	if (!err) {
		kind.exists = true;
		kind.is_dir = st->is_dir;
		kind.size_bytes = st->size_bytes;
	}
	names_known(transfer, &kind);
}

/* ---- a look that takes long: the daemon opens what it is asked for, and a pipe without a writer never opens */
static void stop_slow_look(struct transfer *transfer)
{
	if (transfer->slow)
		net_loop_timer_disarm(transfer->slow);
	transfer_remote_stats_cancel(transfer->kind_look);
	transfer->kind_look = NULL;
}

void transfer_resolve_cancel(struct transfer *transfer)
{
	stop_slow_look(transfer);
	runtime_cancel(transfer->look);
	files_cancel(transfer->local_look);
	transfer->look = NULL;
	transfer->local_look = NULL;
}

static void on_kind(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable)
{
	struct transfer *transfer = arg;
	struct err err = { 0 };

	(void)is_unavailable;
	transfer->kind_look = NULL;
	if (!stats->is_known || S_ISREG(stats->mode) || S_ISDIR(stats->mode))
		return; /* it is only slow */
	runtime_cancel(transfer->look);
	transfer->look = NULL;
	if (!transfer->is_looking_at_from) {
		err_set(&err, ERR_FILE_DENIED, "%s is a device, pipe or socket there",
			transfer->to.path);
		fail(transfer, &err);
		return;
	}
	transfer->from_is_stream = true;
	check_tree_wanted(transfer);
}

static struct transfer_remote_stats *ask_for_kind(struct transfer *transfer,
	const struct transfer_internal_end *end,
	void (*done)(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable))
{
	char **paths = x_calloc(1, sizeof *paths);

	paths[0] = path_normalize(end->path);
	return transfer_remote_stats_start(
		transfer->loop, end->runtime, paths, 1, done, transfer);
}

static void on_slow(void *arg)
{
	struct transfer *transfer = arg;
	const struct transfer_internal_end *end =
		transfer->is_looking_at_from ? &transfer->from : &transfer->to;

	if (!transfer->look || !runtime_can(end->runtime, RUNTIME_CAN_PROCESSES))
		return;
	transfer->kind_look = ask_for_kind(transfer, end, on_kind);
}

static void look_remotely(struct transfer *transfer, struct transfer_internal_end *end,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st))
{
	struct err err = { 0 };

	transfer->is_looking_at_from = end == &transfer->from;
	if (!transfer->slow)
		transfer->slow = net_loop_timer_new(transfer->loop, on_slow, transfer);
	net_loop_timer_arm(transfer->slow, SLOW_MS);
	transfer->look =
		runtime_stat_start(end->runtime, end->path, LOOK_MS, done, transfer, &err);
	if (!transfer->look)
		fail(transfer, &err);
}

static void check_tree_wanted(struct transfer *transfer)
{
	struct err err = { 0 };
	static const struct transfer_kind stream = { .size_bytes = -1 };

	if (transfer->from_stat.is_dir && !transfer->opts.recursive) {
		err_set(&err, ERR_FILE_IS_DIR, "%s is a directory", transfer->from.path);
		fail(transfer, &err);
	} else if (transfer->to.kind == END_FD) {
		names_known(transfer, &stream);
	} else if (transfer->to.kind == END_LOCAL) {
		look_locally(transfer, transfer->to.path, on_local_to);
	} else {
		look_remotely(transfer, &transfer->to, on_to_stat);
	}
}

/* The listing of its folder tells everything about a source but what a HEAD would do to it: the daemon opens what it is
 * asked for, and a pipe that is opened and closed again costs its writer the reader. */
static void look_at_remote_from(struct transfer *transfer)
{
	char *dir, *base;

	transfer_local_split(transfer->from.path, &dir, &base);
	/* the root stands in no listing */
	if (*base)
		transfer->look = runtime_list_start(
			transfer->from.runtime, dir, LOOK_MS, on_from_listed, transfer, NULL);
	free(dir);
	free(base);
	if (!transfer->look)
		look_remotely(transfer, &transfer->from, on_from_stat);
}

void transfer_resolve_start(struct transfer *transfer)
{
	transfer->from_mode = -1;
	transfer->from_modified_s = -1;
	transfer->from_stat.size_bytes = -1;
	switch (transfer->from.kind) {
	case END_FD:
		check_tree_wanted(transfer);
		break;
	case END_LOCAL:
		look_locally(transfer, transfer->from.path, on_local_from);
		break;
	case END_REMOTE: {
		/* one form for joining and comparing; but "dir/." means what is in it */
		char *plain = path_normalize(transfer->from.path);
		transfer->from_is_content = strcmp(path_base(transfer->from.path), ".") == 0;
		free(transfer->from.path);
		transfer->from.path = plain;
		look_at_remote_from(transfer);
		break;
	}
	}
}
