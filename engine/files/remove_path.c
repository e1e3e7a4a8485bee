// SPDX-License-Identifier: Apache-2.0
/* One path in a sandbox: a link is removed itself, never what it points to (the daemon's own delete follows it). */
#include "engine/base/path.h"
#include "engine/files/internal.h"
#include "engine/files/removal.h"

struct files_remove_path {
	struct files_op op; /* first */
	char *path;
	bool is_recursive;
	struct err err;
	void (*unseen)(void *arg, const struct err *why);
	void (*done)(void *arg, const struct err *err);
	void *arg;
};

static void remove_deinit(struct files_op *op)
{
	free(((struct files_remove_path *)op)->path);
}

static void on_removed(void *arg, const struct err *err)
{
	struct files_remove_path *self = arg;
	self->op.call = NULL;
	files_op_end(&self->op);
	self->done(self->arg, err);
}

static void on_refused(void *arg)
{
	struct files_remove_path *self = arg;
	on_removed(self, &self->err);
}

static bool delete_by_daemon(struct files_remove_path *self)
{
	self->op.call = runtime_delete_start(self->op.runtime, self->path, self->is_recursive,
		0, on_removed, self, &self->err);
	return self->op.call != NULL;
}

static void on_link_removed(
	void *arg, const struct err *err, const struct runtime_result *result)
{
	struct err own = { 0 };
	if (err == NULL && result->exit_code != 0) {
		err_set(&own, ERR_FILE_SERVER, "rm in the sandbox: %.*s",
			(int)result->err_out.n, result->err_out.p);
		err = &own;
	}
	on_removed(arg, err);
}

static bool remove_link(struct files_remove_path *self)
{
	static const char *const words[] = { "rm", "-f", "--", NULL };
	struct files_command command;
	files_command_init(&command, words);
	files_command_add(&command, self->path);
	self->op.call = runtime_execute_start(self->op.runtime, command.argv, NULL, NULL, 0,
		on_link_removed, self, &self->err);
	files_command_deinit(&command);
	return self->op.call != NULL;
}

static void on_links(void *arg, const struct err *err, const bool *is_link, size_t n)
{
	struct files_remove_path *self = arg;
	self->op.call = NULL;
	if (err != NULL)
		self->unseen(self->arg, err);
	bool is_known_link = err == NULL && n > 0 && is_link[0];
	if (!(is_known_link ? remove_link(self) : delete_by_daemon(self)))
		on_refused(self);
}

struct files_op *files_remove_path_start(struct net_loop *loop, struct runtime *runtime,
	const char *path, bool recursive, void (*unseen)(void *arg, const struct err *why),
	void (*done)(void *arg, const struct err *err), void *arg)
{
	struct files_remove_path *self =
		files_op_new(sizeof *self, loop, runtime, remove_deinit);
	self->path = x_strdup(path);
	self->is_recursive = recursive;
	self->unseen = unseen;
	self->done = done;
	self->arg = arg;
	if (!path_check(path, PATH_WRITE, &self->err)) {
		files_op_later(&self->op, on_refused);
		return &self->op;
	}
	/* no processes here: the daemon; or what may not be written is refused with its reason */
	const char *const paths[] = { path };
	self->op.call = runtime_links_start(runtime, paths, 1, 0, on_links, self, NULL);
	if (!self->op.call && !delete_by_daemon(self))
		files_op_later(&self->op, on_refused);
	return &self->op;
}
