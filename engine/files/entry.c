// SPDX-License-Identifier: Apache-2.0
/* One path: what is there, and a new folder. */
#include "engine/files/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MKDIR_MS = 15 * 1000, REASON_BYTES = 300, AT_ONCE = 4 };

struct files_entry_op {
	struct files_op op; /* first */
	struct err err;     /* at the start */
	void (*on_stat)(void *arg, const struct err *err, const struct files_entry *entry);
	void (*on_made)(void *arg, const struct err *err);
	void *arg;
};

static void told(
	struct files_entry_op *self, const struct err *err, const struct files_entry *entry)
{
	self->op.call = NULL;
	self->op.work = NULL;
	files_op_end(&self->op);
	if (self->on_stat)
		self->on_stat(self->arg, err, err ? NULL : entry);
	else
		self->on_made(self->arg, err);
}

/* ---- the local disk, on a thread */

struct entry_work {
	struct files_entry_op *self; /* only the loop's thread looks there */
	char *path;
	bool is_new;
	struct files_entry entry;
	struct err err;
};

static enum files_kind kind_of(mode_t mode)
{
	return S_ISDIR(mode)    ? FILES_FOLDER
	       : S_ISREG(mode)  ? FILES_PLAIN
	       : S_ISFIFO(mode) ? FILES_FIFO
	       : S_ISSOCK(mode) ? FILES_SOCKET
				: FILES_DEVICE;
}

static void work_run(void *arg, const atomic_bool *is_cancelled)
{
	struct entry_work *work = arg;
	struct stat st;
	(void)is_cancelled;
	int result = work->is_new ? mkdir(work->path, 0777) : stat(work->path, &st);
	if (result < 0)
		err_set_errno(&work->err, errno, "%s", work->path);
	else if (!work->is_new)
		work->entry = (struct files_entry){
			.size_bytes = (int64_t)st.st_size,
			.modified_s = (int64_t)st.st_mtime,
			.mode = (int)(st.st_mode & 07777),
			.kind = kind_of(st.st_mode),
		};
}

static void work_done(void *arg)
{
	struct entry_work *work = arg;
	told(work->self, work->err.code == ERR_NONE ? NULL : &work->err, &work->entry);
}

static void work_free(void *arg)
{
	struct entry_work *work = arg;
	free(work->path);
	free(work);
}

static const struct net_work_kind works = { "entry", AT_ONCE, work_run, work_done, work_free };

static struct files_op *start_local(struct files_entry_op *self, const char *path, bool is_new)
{
	struct entry_work *work = x_calloc(1, sizeof *work);
	work->self = self;
	work->path = x_strdup(path);
	work->is_new = is_new;
	self->op.work = net_work_start(self->op.loop, &works, work);
	return &self->op;
}

/* ---- what is there */

static void on_stat(void *arg, const struct err *err, const struct runtime_stat *st)
{
	struct files_entry entry = { .size_bytes = -1, .modified_s = -1, .mode = -1 };
	if (!err) {
		entry.size_bytes = st->size_bytes;
		entry.modified_s = st->modified_s;
		entry.kind = st->is_dir ? FILES_FOLDER : FILES_PLAIN;
	}
	told(arg, err, &entry);
}

static void on_refused(void *arg)
{
	struct files_entry_op *self = arg;
	told(self, &self->err, NULL);
}

struct files_op *files_stat_start(struct net_loop *loop, const struct files_place *place,
	const char *path,
	void (*done)(void *arg, const struct err *err, const struct files_entry *entry),
	void *arg)
{
	struct files_entry_op *self = files_op_new(sizeof *self, loop, place->runtime, NULL);
	self->on_stat = done;
	self->arg = arg;
	if (!place->runtime)
		return start_local(self, path, false);
	self->op.call = runtime_stat_start(
		place->runtime, path, place->timeout_ms, on_stat, self, &self->err);
	if (!self->op.call)
		files_op_later(&self->op, on_refused);
	return &self->op;
}

/* ---- a new folder */

static void on_made(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct err mine = { 0 };
	if (!err && result->exit_code != 0) {
		size_t n = result->err_out.n;
		err_set(&mine, ERR_FILE_SERVER, "%.*s",
			(int)(n < REASON_BYTES ? n : REASON_BYTES), n ? result->err_out.p : "");
		err = &mine;
	}
	told(arg, err, NULL);
}

struct files_op *files_mkdir_start(struct net_loop *loop, const struct files_place *place,
	const char *path, void (*done)(void *arg, const struct err *err), void *arg,
	struct err *err)
{
	static const char *const words[] = { "mkdir", "--", NULL };
	struct files_entry_op *self = files_op_new(sizeof *self, loop, place->runtime, NULL);
	self->on_made = done;
	self->arg = arg;
	if (!place->runtime)
		return start_local(self, path, true);
	/* the legacy runtime runs commands in the folder that its paths begin from, and its / is another */
	bool is_legacy = runtime_kind_of(place->runtime) == RUNTIME_LEGACY;
	struct files_command command;
	files_command_init(&command, words);
	files_command_add(&command, path);
	self->op.call = runtime_execute_start(place->runtime, command.argv, NULL,
		is_legacy ? NULL : "/", MKDIR_MS, on_made, self, err);
	files_command_deinit(&command);
	if (self->op.call)
		return &self->op;
	files_cancel(&self->op);
	return NULL;
}
