// SPDX-License-Identifier: Apache-2.0
#include "engine/files/count.h"

#include "engine/base/mem.h"
#include "engine/files/internal.h"

#include <stdio.h>
#include <string.h>

enum { COUNT_MS = 5 * 1000, LINE_BYTES = 64 };

struct files_count {
	struct files_op op; /* first */
	struct files_totals totals;
	bool *is_link;
	size_t n;
	void (*done)(
		void *arg, bool ok, const struct files_totals *totals, const bool *is_link);
	void *arg;
};

static void count_deinit(struct files_op *op)
{
	free(((struct files_count *)op)->is_link);
}

/* "<depth> <type> <size>\n"; the lines of depth 0 come in the order of the arguments. */
static bool take_line(struct files_count *count, const char *line, size_t *n_top)
{
	struct files_totals *t = &count->totals;
	unsigned depth;
	char type;
	unsigned long long size;
	if (sscanf(line, "%u %c %llu", &depth, &type, &size) != 3)
		return false;
	if (depth == 0) {
		if (*n_top >= count->n)
			return false;
		count->is_link[(*n_top)++] = type == 'l';
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

static bool take_lines(struct files_count *count, struct slice rest)
{
	size_t n_top = 0;
	while (rest.n) {
		char line[LINE_BYTES];
		const char *end = memchr(rest.p, '\n', rest.n);
		size_t n = end ? (size_t)(end - rest.p) : rest.n;
		if (n >= sizeof line)
			return false;
		memcpy(line, rest.p, n);
		line[n] = 0;
		if (!take_line(count, line, &n_top))
			return false;
		rest.p += n + (end != NULL);
		rest.n -= n + (end != NULL);
	}
	return n_top == count->n;
}

static void on_counted(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct files_count *count = arg;
	count->op.call = NULL;
	bool ok = !err && result->exit_code == 0 && take_lines(count, result->out);
	files_op_end(&count->op);
	count->done(count->arg, ok, &count->totals, count->is_link);
}

struct files_op *files_count_start(struct net_loop *loop, struct runtime *runtime,
	const struct files_target *targets, size_t n,
	void (*done)(
		void *arg, bool ok, const struct files_totals *totals, const bool *is_link),
	void *arg)
{
	static const char *const words[] = { "find", NULL };
	static const char *const end[] = { "-printf", "%d %y %s\n", NULL };
	struct files_command command;
	size_t n_taken = 0;
	files_command_init(&command, words);
	while (n_taken < n && files_command_add(&command, targets[n_taken].path))
		n_taken++;
	files_command_end(&command, end);
	struct files_count *count = files_op_new(sizeof *count, loop, runtime, count_deinit);
	count->is_link = x_calloc(n, sizeof *count->is_link);
	count->n = n;
	count->done = done;
	count->arg = arg;
	if (n_taken == n)
		count->op.call = runtime_execute_start(
			runtime, command.argv, NULL, "/", COUNT_MS, on_counted, count, NULL);
	files_command_deinit(&command);
	if (count->op.call)
		return &count->op;
	files_cancel(&count->op);
	return NULL;
}
