// SPDX-License-Identifier: Apache-2.0
/* Paths in a sandbox as people and programs there say them. The daemon takes paths relative to its root; `pwd` in the sandbox
 * says where that is. */
#include "engine/files/internal.h"

#include <string.h>

/* Where sandboxd has its files unless told otherwise (--root-dir); for runtimes that cannot be asked. */
static const char usual_root[] = "/workspace";

struct files_path {
	struct files_op op; /* first */
	char *path;
	void (*done)(void *arg, const struct err *err, const char *path);
	void *arg;
};

static void path_deinit(struct files_op *op)
{
	free(((struct files_path *)op)->path);
}

static void tell(struct files_path *self, const char *root)
{
	struct err err = { 0 };
	const char *path = self->path;
	size_t n = strlen(root);
	while (n > 0 && root[n - 1] == '/')
		n--;
	bool is_inside = strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
	files_op_end(&self->op);
	if (is_inside) {
		path += n;
		path += strspn(path, "/");
		self->done(self->arg, NULL, path);
	} else {
		err_set(&err, ERR_ARG_PATH,
			"%s is not among the sandbox's files, which are in %s", path, root);
		self->done(self->arg, &err, NULL);
	}
}

static void on_root(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct files_path *self = arg;
	size_t n = err == NULL && result->exit_code == 0 ? result->out.n : 0;
	self->op.call = NULL;
	while (n > 0 && (result->out.p[n - 1] == '\n' || result->out.p[n - 1] == '\r'))
		n--;
	bool is_path = n > 0 && result->out.p[0] == '/' && memchr(result->out.p, 0, n) == NULL;
	char *root = is_path ? x_strndup(result->out.p, n) : x_strdup(usual_root);
	tell(self, root);
	free(root);
}

static void on_nobody_to_ask(void *arg)
{
	tell(arg, usual_root);
}

static void on_relative(void *arg)
{
	struct files_path *self = arg;
	files_op_end(&self->op);
	self->done(self->arg, NULL, self->path);
}

struct files_op *files_path_start(struct net_loop *loop, struct runtime *runtime,
	const char *path, void (*done)(void *arg, const struct err *err, const char *path),
	void *arg)
{
	static const char *const ask[] = { "pwd", NULL };
	struct files_path *self = files_op_new(sizeof *self, loop, runtime, path_deinit);
	self->path = x_strdup(path);
	self->done = done;
	self->arg = arg;
	if (path[0] != '/') {
		files_op_later(&self->op, on_relative);
		return &self->op;
	}
	if (runtime_can(runtime, RUNTIME_CAN_EXECUTE))
		self->op.call =
			runtime_execute_start(runtime, ask, NULL, NULL, 0, on_root, self, NULL);
	if (!self->op.call)
		files_op_later(&self->op, on_nobody_to_ask);
	return &self->op;
}
