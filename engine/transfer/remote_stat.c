// SPDX-License-Identifier: Apache-2.0
/* Identities and kinds of what is in a sandbox. A listing follows links and calls everything a file or a folder, so a
 * folder that is a link to one that it is in cannot be told from a new one, nor a pipe from an empty file. `stat -L` tells
 * both; coreutils, busybox and toybox agree on these letters. One line a path, numbers only: no name can forge one. */
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/transfer/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 128, MAX_ARGV_BYTES = 64 << 10, STAT_MS = 60 * 1000, LINE_BYTES = 80 };

struct transfer_remote_stats {
	struct net_loop *loop;
	struct runtime *runtime;
	struct runtime_op *op;
	char **paths;
	struct transfer_remote_stat *stats;
	size_t n, at, n_batch;
	size_t n_alone; /* paths to be asked about alone: one of their batch is gone */
	bool is_unavailable, is_over;
	void (*done)(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable);
	void *arg;
};

bool transfer_means_unavailable(const struct err *err)
{
	return err->code == ERR_PROC_COMMAND_NOT_FOUND || err->code == ERR_PROC_DENIED ||
	       err->code == ERR_OP_UNSUPPORTED || err->code == ERR_OP_READ_ONLY;
}

static void free_it(void *arg)
{
	struct transfer_remote_stats *stats = arg;

	for (size_t i = 0; i < stats->n; i++)
		free(stats->paths[i]);
	free(stats->paths);
	free(stats->stats);
	free(stats);
}

void transfer_remote_stats_cancel(struct transfer_remote_stats *stats)
{
	if (!stats || stats->is_over)
		return;
	stats->is_over = true;
	runtime_cancel(stats->op);
	net_loop_defer(stats->loop, free_it, stats);
}

static bool parse_line(struct slice *text, struct transfer_remote_stat *stat)
{
	char line[LINE_BYTES];
	const char *end = memchr(text->p, '\n', text->n);
	size_t n = end ? (size_t)(end - text->p) : 0;
	int used = 0;

	if (!end || n >= sizeof line)
		return false;
	memcpy(line, text->p, n);
	line[n] = 0;
	text->p += n + 1;
	text->n -= n + 1;
	if (sscanf(line, "%" SCNu64 ":%" SCNu64 ":%x%n", &stat->device, &stat->inode,
		    &stat->mode, &used) != 3 ||
		(size_t)used != n)
		return false;
	stat->is_known = true;
	return true;
}

static bool parse_all(
	const struct runtime_result *result, struct transfer_remote_stat *stats, size_t n)
{
	struct slice text = result->out;

	if (result->exit_code != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!parse_line(&text, &stats[i]))
			return false;
	return text.n == 0;
}

static void next_batch(struct transfer_remote_stats *stats);

static void on_executed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct transfer_remote_stats *stats = arg;
	struct transfer_remote_stat *batch = stats->stats + stats->at;
	size_t n = stats->n_batch;

	stats->op = NULL;
	if (err) {
		/* whatever it is, the copy goes on with what REST tells */
		stats->is_unavailable = true;
	} else if (parse_all(result, batch, n) || n == 1) {
		stats->at += n;
		if (stats->n_alone)
			stats->n_alone--;
	} else {
		memset(batch, 0, n * sizeof *batch);
		stats->n_alone = n;
	}
	next_batch(stats);
}

static void complete(void *arg)
{
	struct transfer_remote_stats *stats = arg;

	if (stats->is_over)
		return;
	stats->is_over = true;
	stats->done(stats->arg, stats->stats, stats->is_unavailable);
	net_loop_defer(stats->loop, free_it, stats);
}

static void next_batch(struct transfer_remote_stats *stats)
{
	const char *argv[BATCH + 6] = { "stat", "-L", "-c", "%d:%i:%f", "--" };
	char *safe[BATCH];
	size_t max = stats->n_alone ? 1 : BATCH, argv_bytes = 0, n = 0;

	if (stats->is_unavailable || stats->at == stats->n) {
		net_loop_defer(stats->loop, complete, stats);
		return;
	}
	while (n < max && stats->at + n < stats->n && argv_bytes < MAX_ARGV_BYTES) {
		safe[n] = x_asprintf("./%s", stats->paths[stats->at + n]);
		argv_bytes += strlen(safe[n]);
		argv[5 + n] = safe[n];
		n++;
	}
	stats->n_batch = n;
	stats->op = runtime_execute_start(
		stats->runtime, argv, NULL, NULL, STAT_MS, on_executed, stats, NULL);
	for (size_t i = 0; i < n; i++)
		free(safe[i]);
	if (!stats->op) {
		stats->is_unavailable = true;
		net_loop_defer(stats->loop, complete, stats);
	}
}

struct transfer_remote_stats *transfer_remote_stats_start(struct net_loop *loop,
	struct runtime *runtime, char **paths_take, size_t n_paths,
	void (*done)(void *arg, const struct transfer_remote_stat *stats, bool is_unavailable),
	void *arg)
{
	struct transfer_remote_stats *stats = x_calloc(1, sizeof *stats);

	stats->loop = loop;
	stats->runtime = runtime;
	stats->paths = paths_take;
	stats->n = n_paths;
	stats->stats = x_calloc(n_paths, sizeof *stats->stats);
	stats->done = done;
	stats->arg = arg;
	next_batch(stats);
	return stats;
}
