// SPDX-License-Identifier: Apache-2.0
/* Modes and times of what a copy has made.
 *
 * Here they are set through descriptors: a file's before it gets its name, a folder's when everything in it is over,
 * the deepest first. Modes lose what the umask takes and never gain set-uid or set-gid.
 *
 * The daemon takes a mode with a file and nothing else. The rest is done by touch and chmod in the sandbox, many paths a
 * process, one shell for all of them: the script is made of numbers and of "${1}", "${2}"…, names are its arguments. Without
 * a shell each time and each mode is a process of its own; without touch the receipt says so once. Times are whole
 * seconds: that is what a listing tells, and files of one second share a process. */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	BATCH = 128,
	MAX_ARGV_BYTES = 64 << 10,
	MAX_SCRIPT_BYTES = 64 << 10,
	SET_MS = 60 * 1000,
	MAX_FAILED = 20, /* after so many the rest is not even tried */
	LOCAL_DIRS_A_TURN = 256,
	REASON_BYTES = 160,
};

struct attribute {
	struct transfer_directory *dir;
	char *name;         /* NULL: the folder itself */
	int mode;           /* -1: stays as it is */
	int64_t modified_s; /* -1: the same */
};

struct transfer_attributes {
	struct runtime_op *op;
	struct attribute *items; /* a queue: [at, n) */
	size_t at, n, capacity, n_batch;
	size_t n_alone, n_failed;
	bool has_dirs, has_no_shell, has_no_mkdir, is_given_up;
	size_t n_dirs_left; /* local */
};

static struct transfer_attributes *get(struct transfer *transfer)
{
	if (!transfer->attributes)
		transfer->attributes = x_calloc(1, sizeof *transfer->attributes);
	return transfer->attributes;
}

static void item_deinit(struct attribute *item)
{
	transfer_directory_unref(item->dir);
	free(item->name);
}

void transfer_attributes_free(struct transfer *transfer)
{
	struct transfer_attributes *attributes = transfer->attributes;

	if (!attributes)
		return;
	runtime_cancel(attributes->op);
	for (size_t i = attributes->at; i < attributes->n; i++)
		item_deinit(&attributes->items[i]);
	free(attributes->items);
	free(attributes);
	transfer->attributes = NULL;
}

static void add(struct transfer *transfer, struct transfer_directory *dir, const char *name,
	int mode, int64_t modified_s)
{
	struct transfer_attributes *attributes = get(transfer);

	if (mode < 0 && modified_s < 0)
		return;
	array_grow(&attributes->items, &attributes->capacity, attributes->n + 1,
		sizeof *attributes->items);
	attributes->items[attributes->n++] = (struct attribute){
		.dir = transfer_directory_ref(dir),
		.name = x_strdup(name),
		.mode = mode,
		.modified_s = modified_s,
	};
}

void transfer_attributes_add_file(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	bool is_legacy;

	if (transfer->to.kind != END_REMOTE)
		return;
	/* sandboxd has been given the mode with the file */
	is_legacy = runtime_kind_of(transfer->to.runtime) == RUNTIME_LEGACY;
	add(transfer, job->dir, job->to_name, is_legacy ? job->mode : -1,
		transfer_keeps_times(transfer) ? job->modified_s : -1);
}

/* ---- here */
static void set_local_dir(struct transfer *transfer, struct transfer_directory *dir)
{
	struct err err = { 0 };
	int fd = transfer_directory_use_to(transfer, dir, &err);
	bool ok = fd >= 0;

	if (ok && dir->mode >= 0)
		ok = fchmod(fd, (mode_t)dir->mode & 0777 & ~transfer_local_umask()) == 0 ||
		     err_set_errno(&err, errno, "its mode");
	if (ok && !transfer_local_set_times(fd, dir->modified_s))
		ok = err_set_errno(&err, errno, "its time");
	if (!ok)
		transfer_note_add(transfer, TRANSFER_NOTE_NOT_KEPT, dir, NULL,
			"mode or time not kept: %s", err.msg);
	if (fd >= 0)
		transfer_directory_release_to(dir);
}

static bool local_turn(struct transfer *transfer)
{
	struct transfer_attributes *attributes = get(transfer);

	if (!attributes->has_dirs) {
		attributes->has_dirs = true;
		attributes->n_dirs_left = transfer->n_dirs;
	}
	for (int i = 0; attributes->n_dirs_left && i < LOCAL_DIRS_A_TURN; i++) {
		struct transfer_directory *dir = transfer->dirs[--attributes->n_dirs_left];
		if (dir->to_is_new)
			set_local_dir(transfer, dir);
	}
	if (attributes->n_dirs_left)
		transfer_schedule(transfer);
	return attributes->n_dirs_left == 0;
}

/* ---- in a sandbox */
static void add_dirs(struct transfer *transfer)
{
	for (size_t i = transfer->n_dirs; i-- > 0;) {
		struct transfer_directory *dir = transfer->dirs[i];
		if (dir->to_is_new)
			add(transfer, dir, NULL, dir->mode >= 0 ? dir->mode & 0777 : -1,
				dir->modified_s);
	}
}

static void drop(struct transfer_attributes *attributes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		item_deinit(&attributes->items[attributes->at++]);
	if (attributes->at == attributes->n)
		attributes->at = attributes->n = 0;
}

static void give_up(struct transfer *transfer, const char *reason)
{
	struct transfer_attributes *attributes = transfer->attributes;

	attributes->is_given_up = true;
	if (attributes->n > attributes->at)
		transfer_note_add(transfer, TRANSFER_NOTE_NOT_KEPT, transfer->top, "",
			"times, or modes of folders, not kept (%zu entries): %s",
			attributes->n - attributes->at, reason);
	drop(attributes, attributes->n - attributes->at);
}

/* What the batch's first item wants when there is no shell: its time, then its mode. One that has no mode to come is not
 * among those that have. */
static bool wants_same(const struct attribute *first, const struct attribute *item)
{
	if (first->modified_s < 0)
		return item->modified_s < 0 && item->mode == first->mode;
	return item->modified_s == first->modified_s && (item->mode < 0) == (first->mode < 0);
}

/* True if everything of the item is done. */
static bool take_success(const struct transfer_attributes *attributes, struct attribute *item)
{
	if (!attributes->has_no_shell || item->modified_s < 0)
		return true;
	item->modified_s = -1;
	return item->mode < 0;
}

static void on_set(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct transfer *transfer = arg;
	struct transfer_attributes *attributes = transfer->attributes;
	size_t n = attributes->n_batch;

	attributes->op = NULL;
	transfer_schedule(transfer);
	if (err && transfer_means_unavailable(err) && !attributes->has_no_shell &&
		err->code == ERR_PROC_COMMAND_NOT_FOUND) {
		attributes->has_no_shell = true;
		return;
	}
	if (err) {
		give_up(transfer, err->msg);
		return;
	}
	if (result->exit_code != 0 && n > 1) {
		attributes->n_alone = n;
		return;
	}
	if (attributes->n_alone)
		attributes->n_alone--;
	if (result->exit_code != 0) {
		struct attribute *item = &attributes->items[attributes->at];
		struct slice text = result->err_out;
		const char *end = memchr(text.p, '\n', text.n);
		size_t length = end ? (size_t)(end - text.p) : text.n;
		transfer_note_add(transfer, TRANSFER_NOTE_NOT_KEPT, item->dir, item->name,
			"mode or time not kept: %.*s",
			(int)(length < REASON_BYTES ? length : REASON_BYTES), text.p);
		drop(attributes, 1);
		if (++attributes->n_failed >= MAX_FAILED)
			give_up(transfer, "too many could not be set");
		return;
	}
	/* a batch without a shell is a run of equal wishes: all are done, or all go on to their mode */
	size_t n_done = 0;
	for (size_t i = 0; i < n; i++)
		n_done += take_success(attributes, &attributes->items[attributes->at + i]);
	if (n_done == n)
		drop(attributes, n);
}

static void add_refs(struct str *script, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		str_addf(script, " \"${%zu}\"", i + 1);
}

/* Times first, one touch for each; then modes in order, the deepest folder first: a folder that may not be entered any
 * more is done with. */
static void write_script(struct str *script, const struct attribute *items, size_t n)
{
	bool is_written[BATCH] = { false };

	str_add(script, "s=0\n");
	for (size_t i = 0; i < n; i++) {
		if (is_written[i] || items[i].modified_s < 0)
			continue;
		str_addf(script, "touch -c -d @%lld --", (long long)items[i].modified_s);
		for (size_t k = i; k < n; k++)
			if (items[k].modified_s == items[i].modified_s) {
				is_written[k] = true;
				add_refs(script, k, k + 1);
			}
		str_add(script, " || s=1\n");
	}
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && items[end].mode == items[i].mode;)
			end++;
		if (items[i].mode < 0)
			continue;
		str_addf(script, "chmod %04o --", (unsigned)items[i].mode & 0777);
		add_refs(script, i, end);
		str_add(script, " || s=1\n");
	}
	str_add(script, "exit $s\n");
}

static void start_batch(struct transfer *transfer)
{
	struct transfer_attributes *attributes = transfer->attributes;
	const struct attribute *items = attributes->items + attributes->at;
	const char *argv[BATCH + 6] = { NULL };
	char *paths[BATCH], number[32];
	size_t max = attributes->n_alone ? 1 : BATCH, argv_bytes = 0, n = 0, n_fixed = 0;
	struct str script;
	struct err err = { 0 };

	while (n < max && attributes->at + n < attributes->n && argv_bytes < MAX_ARGV_BYTES &&
		(!attributes->has_no_shell || wants_same(items, &items[n]))) {
		char *path = transfer_directory_to_path(transfer, items[n].dir, items[n].name);
		paths[n] = x_asprintf("./%s", path);
		argv_bytes += strlen(paths[n]);
		free(path);
		n++;
	}
	str_init(&script, MAX_SCRIPT_BYTES);
	if (!attributes->has_no_shell) {
		write_script(&script, items, n);
		argv[n_fixed++] = "sh";
		argv[n_fixed++] = "-c";
		argv[n_fixed++] = script.p;
		argv[n_fixed++] = "sh";
	} else if (items->modified_s >= 0) {
		snprintf(number, sizeof number, "@%lld", (long long)items->modified_s);
		argv[n_fixed++] = "touch";
		argv[n_fixed++] = "-c";
		argv[n_fixed++] = "-d";
		argv[n_fixed++] = number;
		argv[n_fixed++] = "--";
	} else {
		snprintf(number, sizeof number, "%04o", (unsigned)items->mode & 0777);
		argv[n_fixed++] = "chmod";
		argv[n_fixed++] = number;
		argv[n_fixed++] = "--";
	}
	for (size_t i = 0; i < n; i++)
		argv[n_fixed + i] = paths[i];
	attributes->n_batch = n;
	attributes->op = runtime_execute_start(
		transfer->to.runtime, argv, NULL, NULL, SET_MS, on_set, transfer, &err);
	str_deinit(&script);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	if (!attributes->op)
		give_up(transfer, err.msg);
}

/* ---- folders without files: the daemon makes none, mkdir in the sandbox does. Where that fails each gets a job of its own,
 * which writes a file into it and deletes that again, and tells what is wrong. */
static void on_made(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct transfer *transfer = arg;
	struct transfer_attributes *attributes = transfer->attributes;
	size_t n = attributes->n_batch;

	attributes->op = NULL;
	transfer_schedule(transfer);
	attributes->has_no_mkdir |= err != NULL;
	if (attributes->has_no_mkdir)
		n = transfer->n_empty_dirs;
	for (size_t i = 0; i < n; i++) {
		struct transfer_directory *dir = transfer->empty_dirs[--transfer->n_empty_dirs];
		if (err || result->exit_code != 0)
			transfer_add_empty_dir_job(transfer, dir);
		transfer_directory_unref(dir);
	}
}

static void make_some(struct transfer *transfer)
{
	struct transfer_attributes *attributes = get(transfer);
	const char *argv[BATCH + 4] = { "mkdir", "-p", "--" };
	char *paths[BATCH];
	size_t argv_bytes = 0, n = 0;
	struct err err = { 0 };

	for (; n < BATCH && n < transfer->n_empty_dirs && argv_bytes < MAX_ARGV_BYTES; n++) {
		const struct transfer_directory *dir =
			transfer->empty_dirs[transfer->n_empty_dirs - 1 - n];
		char *path = transfer_directory_to_path(transfer, dir, NULL);
		argv[3 + n] = paths[n] = x_asprintf("./%s", path);
		argv_bytes += strlen(paths[n]);
		free(path);
	}
	attributes->n_batch = n;
	attributes->op = runtime_execute_start(
		transfer->to.runtime, argv, NULL, NULL, SET_MS, on_made, transfer, &err);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	if (!attributes->op)
		on_made(transfer, &err, NULL);
}

static bool remote_turn(struct transfer *transfer, bool is_end)
{
	struct transfer_attributes *attributes = transfer->attributes;

	if (is_end && transfer->n_empty_dirs && !(attributes && attributes->op))
		make_some(transfer);
	if (is_end && (transfer->n_empty_dirs || transfer->queued))
		return false;
	if (is_end && !(attributes && attributes->has_dirs)) {
		attributes = get(transfer);
		attributes->has_dirs = true;
		add_dirs(transfer);
	}
	if (!attributes)
		return true;
	if (attributes->is_given_up)
		drop(attributes, attributes->n - attributes->at);
	if (!attributes->op && attributes->n > attributes->at &&
		(is_end || attributes->n_alone || attributes->n - attributes->at >= BATCH))
		start_batch(transfer);
	return !attributes->op && attributes->n == attributes->at;
}

bool transfer_attributes_turn(struct transfer *transfer, bool is_end)
{
	switch (transfer->to.kind) {
	case END_LOCAL:
		return !is_end || local_turn(transfer);
	case END_REMOTE:
		return remote_turn(transfer, is_end);
	default:
		return true;
	}
}
