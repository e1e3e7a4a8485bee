// SPDX-License-Identifier: Apache-2.0
// How much would go, and how: before the question.
//
// A sandbox is asked for an rm (without one its daemon has to delete, which follows links) and, by find, for what is in
// the folders. What cannot be counted is said to be so.
#include "tui/views/files/delete_internal.h"

#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROBE_MS = 10 * 1000, COUNT_MS = 5 * 1000, COUNT_PATHS_MAX = 200 };

static void on_local_counted(
	void *arg, const struct err *err, const struct views_files_tree_totals *totals)
{
	struct views_files_delete *job = arg;
	job->tree = NULL;
	job->totals = *totals;
	job->is_counted = !err;
	views_files_delete_ask(job);
}

/* "<depth> <type> <size>\n" of GNU find; the lines of depth 0 come in the order of the arguments. */
static bool take_line(struct views_files_delete *job, const char *line, size_t *n_top)
{
	struct views_files_tree_totals *t = &job->totals;
	unsigned depth;
	char type;
	unsigned long long size;
	if (sscanf(line, "%u %c %llu", &depth, &type, &size) != 3)
		return false;
	if (depth == 0) {
		if (*n_top >= job->n)
			return false;
		job->targets[(*n_top)++].is_link = type == 'l';
	}
	if (type == 'd') {
		t->folders++;
	} else if (type == 'l') {
		t->links++;
	} else {
		t->files++;
		t->bytes += size;
	}
	return true;
}

static void on_counted(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct views_files_delete *job = arg;
	size_t n_top = 0;
	bool ok = !err && result->exit_code == 0;
	job->op = NULL;
	struct slice rest = ok ? result->out : (struct slice){ NULL, 0 };
	while (ok && rest.n) {
		char line[64];
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;
		ok = n < sizeof line;
		if (!ok)
			break;
		memcpy(line, rest.p, n);
		line[n] = 0;
		ok = take_line(job, line, &n_top);
		rest.p += n + (end != NULL);
		rest.n -= n + (end != NULL);
	}
	job->is_counted = ok && n_top == job->n;
	for (size_t i = 0; i < job->n && !job->is_counted; i++)
		job->targets[i].is_link = false; /* not known after all */
	views_files_delete_ask(job);
}

static bool count_start(struct views_files_delete *job)
{
	const char *argv[COUNT_PATHS_MAX + 4] = { "find" };
	char *made[COUNT_PATHS_MAX];
	size_t bytes = 0;
	if (job->n > COUNT_PATHS_MAX)
		return false;
	for (size_t i = 0; i < job->n; i++)
		bytes += strlen(job->targets[i].path) + 3;
	struct runtime *runtime = engine_runtime(job->host->engine, job->uid, NULL);
	if (bytes > DELETE_CALL_BYTES_MAX || !runtime)
		return false;
	for (size_t i = 0; i < job->n; i++)
		argv[1 + i] = made[i] = x_asprintf("./%s", job->targets[i].path);
	argv[1 + job->n] = "-printf";
	argv[2 + job->n] = "%d %y %s\n";
	argv[3 + job->n] = NULL;
	job->op = runtime_execute_start(
		runtime, argv, NULL, "/", COUNT_MS, on_counted, job, NULL);
	for (size_t i = 0; i < job->n; i++)
		free(made[i]);
	return job->op != NULL;
}

static void on_probed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct views_files_delete *job = arg;
	(void)result;
	job->op = NULL;
	/* rm -f of nothing: its exit status does not matter, that it runs does */
	bool is_missing = err && (err->code == ERR_PROC_COMMAND_NOT_FOUND ||
					 err->code == ERR_OP_UNSUPPORTED ||
					 err->code == ERR_RPC_UNIMPLEMENTED);
	if (err && !is_missing) {
		views_files_delete_note(job, job->n, err);
		views_files_delete_finish(job);
		return;
	}
	job->has_rm = !err;
	if (!job->has_rm || !count_start(job))
		views_files_delete_ask(job);
}

bool views_files_delete_plan(struct views_files_delete *job, struct err *err)
{
	if (job->is_local) {
		const char **names = views_files_delete_names(job);
		job->tree = views_files_tree_start(job->host->loop, job->dir, names, job->n,
			false, on_local_counted, job, err);
		free(names);
		return job->tree != NULL;
	}
	static const char *const argv[] = { "rm", "-f", "--", NULL };
	struct err unable = { 0 };
	struct runtime *runtime = engine_runtime(job->host->engine, job->uid, err);
	if (!runtime)
		return false;
	job->op = runtime_execute_start(
		runtime, argv, NULL, "/", PROBE_MS, on_probed, job, &unable);
	if (job->op)
		return true;
	if (unable.code != ERR_OP_UNSUPPORTED) {
		err_copy(err, &unable);
		return false;
	}
	views_files_delete_ask(job); /* only files, no processes: the daemon has to do it */
	return true;
}
