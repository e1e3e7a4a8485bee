// SPDX-License-Identifier: Apache-2.0
/* Paths in a sandbox as people and programs there say them. The daemon takes paths relative to its root; `pwd` in the sandbox
 * says where that is. */
#include "cli/cli.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Where sandboxd has its files unless told otherwise (--root-dir); for runtimes that cannot be asked. */
static const char usual_root[] = "/workspace";

struct lookup {
	char *path;
	cli_path_fn *done;
	void *arg;
};

static void finish(struct lookup *lookup, const char *root)
{
	struct err err = { 0 };
	const char *path = lookup->path;
	size_t n = strlen(root);
	while (n > 0 && root[n - 1] == '/')
		n--;
	bool is_inside = strncmp(path, root, n) == 0 && (path[n] == '/' || path[n] == '\0');
	if (is_inside) {
		path += n;
		path += strspn(path, "/");
		lookup->done(lookup->arg, NULL, path);
	} else {
		err_set(&err, ERR_ARG_PATH,
			"%s is not among the sandbox's files, which are in %s", path, root);
		lookup->done(lookup->arg, &err, NULL);
	}
	free(lookup->path);
	free(lookup);
}

static void on_root(void *arg, const struct err *err, const struct runtime_result *result)
{
	size_t n = err == NULL && result->exit_code == 0 ? result->out.n : 0;
	while (n > 0 && (result->out.p[n - 1] == '\n' || result->out.p[n - 1] == '\r'))
		n--;
	bool is_path = n > 0 && result->out.p[0] == '/' && memchr(result->out.p, 0, n) == NULL;
	char *root = is_path ? x_strndup(result->out.p, n) : x_strdup(usual_root);
	finish(arg, root);
	free(root);
}

void cli_path_start(struct runtime *runtime, const char *path, cli_path_fn *done, void *arg)
{
	static const char *const ask[] = { "pwd", NULL };
	if (path[0] != '/') {
		done(arg, NULL, path);
		return;
	}
	struct lookup *lookup = x_calloc(1, sizeof *lookup);
	lookup->path = x_strdup(path);
	lookup->done = done;
	lookup->arg = arg;
	if (!runtime_can(runtime, RUNTIME_CAN_EXECUTE) ||
		runtime_execute_start(runtime, ask, NULL, NULL, 0, on_root, lookup, NULL) ==
			NULL)
		finish(lookup, usual_root);
}
