// SPDX-License-Identifier: Apache-2.0
/* A sandbox that is a table: engine/runtime/runtime.h without a daemon, a wire or a process, linked in its place. Each call
 * is written down; it can be refused, broken off or held up, and programs in the sandbox say what the test says.
 * Header-only, for one source file a program. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "engine/runtime/runtime.h"
#include "engine/transfer/transfer.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

enum box_call {
	BOX_STAT,
	BOX_LIST,
	BOX_READ,
	BOX_WRITE,
	BOX_DELETE,
	BOX_EXECUTE,
	BOX_LINKS,
	BOX_PROCESS,
	BOX_CALLS
};
enum { BOX_NODES = 800, BOX_FAULTS = 8, BOX_LOG_BYTES = 256 << 10, BOX_TEXT_BYTES = 16 << 10 };

struct box_node {
	char path[200];
	bool is_dir, is_link; /* a link that leads nowhere */
	char *body;
	size_t n;
	int mode;
	int64_t modified_s;
};

struct box_fault {
	enum box_call call;
	const char *path; /* NULL: any */
	enum err_code code;
	bool at_start;      /* no completion comes */
	size_t after_bytes; /* of a read */
	int skips;          /* so many calls go well before */
};

struct box_answer {
	enum err_code code;
	int exit_code;
	char out[BOX_TEXT_BYTES];
	char err_out[1000];
};

struct runtime_op {
	struct runtime *box;
	struct runtime_op *next;
	enum box_call call;
	bool is_over, is_paused, is_due, has_begun;
	char *path, *body;
	size_t at, n, unconsumed;
	struct err err; /* how it ends */
	size_t fault_at;
	struct box_answer *answer;
	bool *links;
	size_t n_links;
	void *arg;
	void (*on_stat)(void *arg, const struct err *err, const struct runtime_stat *st);
	void (*on_list)(void *arg, const struct err *err, const struct runtime_entry *entries,
		size_t n, size_t n_hidden);
	void (*on_done)(void *arg, const struct err *err);
	void (*on_executed)(
		void *arg, const struct err *err, const struct runtime_result *result);
	void (*on_links)(void *arg, const struct err *err, const bool *is_link, size_t n);
	struct runtime_read_opts read;
	struct runtime_write_opts write;
	struct runtime_start_opts start;
};
struct runtime_process {
	struct runtime_op op;
};

struct runtime {
	struct net_loop *loop;
	struct box_node nodes[BOX_NODES];
	size_t n_nodes, n_hidden;
	struct box_fault faults[BOX_FAULTS];
	struct runtime_op *ops;
	int refs; /* of transfers */
	enum runtime_kind kind;
	bool has_no_processes, has_no_shell, knows_no_size;
	bool is_held[BOX_CALLS];
	const char *held_path;                   /* of those, only this one; NULL: all */
	int n_now[BOX_CALLS], n_most[BOX_CALLS]; /* at the same time */
	size_t chunk_bytes;
	/* what a program in it says; NULL: there is none */
	void (*execute)(const char *const *argv, struct box_answer *answer);
	void (*after_read)(struct runtime *box, const char *path);
	const char *cat_text; /* of cat: its stderr */
	int cat_exit;
	size_t n_consumed;
	struct str log;
};

/* ---- what is in it */
static inline struct box_node *box_find(struct runtime *box, const char *path)
{
	for (size_t i = 0; i < box->n_nodes; i++)
		if (strcmp(box->nodes[i].path, path) == 0)
			return &box->nodes[i];
	return NULL;
}

static inline struct box_node *box_put_bytes(
	struct runtime *box, const char *path, const void *bytes, size_t n, int mode)
{
	struct box_node *node = box_find(box, path);

	assert_true(box->n_nodes < BOX_NODES);
	if (!node)
		node = &box->nodes[box->n_nodes++];
	free(node->body);
	*node = (struct box_node){ .n = n, .mode = mode, .modified_s = 1000 };
	snprintf(node->path, sizeof node->path, "%s", path);
	node->body = calloc(1, n + 1);
	if (n)
		memcpy(node->body, bytes, n);
	return node;
}

static inline struct box_node *box_put(struct runtime *box, const char *path, const char *text)
{
	return box_put_bytes(box, path, text, strlen(text), 0640);
}

static inline struct box_node *box_dir(struct runtime *box, const char *path)
{
	struct box_node *node = box_put_bytes(box, path, "", 0, 0750);

	node->is_dir = true;
	return node;
}

static inline struct box_node *box_link(struct runtime *box, const char *path)
{
	struct box_node *node = box_put_bytes(box, path, "", 0, 0777);

	node->is_link = true;
	return node;
}

static inline void box_remove(struct runtime *box, const char *path)
{
	struct box_node *node = box_find(box, path);

	assert_non_null(node);
	free(node->body);
	*node = box->nodes[--box->n_nodes];
	box->nodes[box->n_nodes] = (struct box_node){ 0 };
}

static inline int box_by_path(const void *a, const void *b)
{
	return strcmp(((const struct box_node *)a)->path, ((const struct box_node *)b)->path);
}

/* "d/ d/f=hello(640) …", in order; a body longer than 40 by its length. */
static inline const char *box_text(struct runtime *box)
{
	static char text[BOX_TEXT_BYTES];
	size_t at = 0;

	qsort(box->nodes, box->n_nodes, sizeof *box->nodes, box_by_path);
	text[0] = 0;
	for (size_t i = 0; i < box->n_nodes && at < sizeof text - 300; i++) {
		const struct box_node *node = &box->nodes[i];
		const char *space = at ? " " : "";
		int n;
		if (node->is_dir)
			n = snprintf(text + at, sizeof text - at, "%s%s/", space, node->path);
		else if (node->n > 40)
			n = snprintf(text + at, sizeof text - at, "%s%s=%zu bytes(%o)", space,
				node->path, node->n, (unsigned)node->mode);
		else
			n = snprintf(text + at, sizeof text - at, "%s%s=%s(%o)", space,
				node->path, node->is_link ? "->" : node->body,
				(unsigned)node->mode);
		at += (size_t)n;
	}
	return text;
}

/* ---- the turn of an operation */
static inline void box_step(void *arg);

static inline bool box_holds(const struct runtime_op *op)
{
	const struct runtime *box = op->box;

	return box->is_held[op->call] &&
	       (!box->held_path || strcmp(box->held_path, op->path) == 0);
}

static inline void box_schedule(struct runtime_op *op)
{
	op->is_due = true;
	if (!box_holds(op))
		net_loop_defer(op->box->loop, box_step, op);
}

static inline void box_release(struct runtime *box, enum box_call call)
{
	box->is_held[call] = false;
	for (struct runtime_op *op = box->ops; op; op = op->next)
		if (op->call == call && op->is_due && !op->is_over)
			net_loop_defer(box->loop, box_step, op);
}

static inline void box_end(struct runtime_op *op)
{
	if (!op->is_over)
		op->box->n_now[op->call]--;
	op->is_over = true;
}

static inline struct box_fault *box_fault_of(
	struct runtime *box, enum box_call call, const char *path)
{
	for (size_t i = 0; i < BOX_FAULTS; i++) {
		struct box_fault *fault = &box->faults[i];
		if (fault->code == ERR_NONE || fault->call != call ||
			(fault->path && strcmp(fault->path, path) != 0))
			continue;
		if (fault->skips-- > 0)
			continue;
		return fault;
	}
	return NULL;
}

static inline struct runtime_op *box_op(struct runtime *box, enum box_call call,
	const char *path, size_t bytes, struct err *err)
{
	char *plain = path_normalize(path);
	struct box_fault *fault = box_fault_of(box, call, plain);
	struct runtime_op *op = calloc(1, bytes);

	op->path = plain;
	op->box = box;
	op->call = call;
	op->next = box->ops;
	box->ops = op;
	if (fault)
		err_set(fault->at_start ? err : &op->err, fault->code, "no %s", plain);
	if (fault && fault->at_start) {
		op->is_over = true;
		return NULL;
	}
	op->fault_at = fault ? fault->after_bytes : 0;
	if (++box->n_now[call] > box->n_most[call])
		box->n_most[call] = box->n_now[call];
	box_schedule(op);
	return op;
}

static inline void box_log(struct runtime *box, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline void box_log(struct runtime *box, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	str_vaddf(&box->log, format, args);
	va_end(args);
	str_add_char(&box->log, '\n');
}

static inline bool box_logged(struct runtime *box, const char *line)
{
	return strstr(box->log.p, line) != NULL;
}

/* How often a line begins like this. */
static inline int box_times(struct runtime *box, const char *start)
{
	int n = 0;

	for (const char *line = box->log.p; *line; line = strchr(line, '\n') + 1)
		n += strncmp(line, start, strlen(start)) == 0;
	return n;
}

static inline void box_step_stat(struct runtime_op *op, const struct err *err)
{
	const struct box_node *node = box_find(op->box, op->path);
	struct runtime_stat st = { .size_bytes = -1 };
	struct err gone = { 0 };

	box_end(op);
	if (!err && (!node || node->is_link) && *op->path) {
		err_set(&gone, ERR_FILE_NOT_FOUND, "no %s", op->path);
		err = &gone;
	}
	st.is_dir = !node || node->is_dir;
	if (node) {
		st.size_bytes = node->is_dir ? -1 : (int64_t)node->n;
		st.modified_s = node->modified_s;
	}
	op->on_stat(op->arg, err, err ? NULL : &st);
}

static inline void box_step_list(struct runtime_op *op, const struct err *err)
{
	static struct runtime_entry entries[BOX_NODES];
	struct runtime *box = op->box;
	size_t n = 0, prefix = strlen(op->path);
	struct err failure = { 0 };
	const struct box_node *node = box_find(box, op->path);

	box_end(op);
	if (!err && *op->path && (!node || !node->is_dir)) {
		err_set(&failure, node ? ERR_FILE_NOT_DIR : ERR_FILE_NOT_FOUND, "no %s",
			op->path);
		err = &failure;
	}
	for (size_t i = 0; i < box->n_nodes && !err; i++) {
		node = &box->nodes[i];
		const char *name = node->path;
		if (prefix) {
			if (strncmp(name, op->path, prefix) != 0 || name[prefix] != '/')
				continue;
			name += prefix + 1;
		}
		if (!*name || strchr(name, '/') || node->is_link)
			continue;
		entries[n++] = (struct runtime_entry){ name, (int64_t)node->n, node->is_dir,
			node->modified_s, node->mode };
	}
	op->on_list(op->arg, err, entries, n, err ? 0 : box->n_hidden);
}

static inline void box_step_read(struct runtime_op *op)
{
	struct runtime *box = op->box;
	struct err err = { 0 };

	if (!op->has_begun && op->err.code == ERR_NONE) {
		const struct box_node *node = box_find(box, op->path);
		if (!node || node->is_dir) {
			err_set(&op->err, ERR_FILE_NOT_FOUND, "no %s", op->path);
		} else {
			op->n = node->n;
			op->body = malloc(node->n + 1);
			memcpy(op->body, node->body, node->n + 1);
			if (op->read.on_info)
				op->read.on_info(op->arg,
					box->knows_no_size ? -1 : (int64_t)node->n,
					node->modified_s);
		}
	}
	op->has_begun = true;
	if (op->is_over)
		return;
	size_t end = op->err.code != ERR_NONE && op->fault_at < op->n ? op->fault_at : op->n;
	size_t n = end - op->at < box->chunk_bytes ? end - op->at : box->chunk_bytes;
	if (n) {
		const char *from = op->body + op->at;
		op->at += n;
		bool goes_on = op->read.on_bytes(op->arg, (struct slice){ from, n }, &err);
		if (op->is_over)
			return;
		if (err.code != ERR_NONE) {
			box_end(op);
			op->read.done(op->arg, &err, (int64_t)op->at);
		} else if (goes_on) {
			box_schedule(op);
		} else {
			op->is_paused = true;
		}
		return;
	}
	box_end(op);
	if (box->after_read)
		box->after_read(box, op->path);
	op->read.done(op->arg, op->err.code != ERR_NONE ? &op->err : NULL, (int64_t)op->at);
}

static inline void box_step_write(struct runtime_op *op)
{
	char *into = malloc(op->box->chunk_bytes);
	int64_t total = op->write.total_bytes;
	size_t room = op->box->chunk_bytes;
	struct err err = { 0 };
	long n = 0;

	/* never more than was promised */
	if (total >= 0 && (uint64_t)total - op->n < room)
		room = (size_t)total - op->n;
	if (op->err.code != ERR_NONE)
		n = HTTP_BODY_ABORT;
	else if (room)
		n = op->write.read_bytes(op->arg, into, room, &err);
	if (op->is_over) {
		/* cancelled in there */
	} else if (n == HTTP_BODY_PAUSE) {
		op->is_paused = true;
	} else if (n == HTTP_BODY_ABORT) {
		box_end(op);
		op->write.done(op->arg, op->err.code != ERR_NONE ? &op->err : &err);
	} else if (n > 0) {
		op->body = realloc(op->body, op->n + (size_t)n);
		memcpy(op->body + op->n, into, (size_t)n);
		op->n += (size_t)n;
		box_schedule(op);
	} else {
		assert_true(total < 0 || op->n == (size_t)total);
		box_put_bytes(op->box, op->path, op->body, op->n,
			op->write.mode >= 0 ? op->write.mode : 0644);
		box_end(op);
		op->write.done(op->arg, NULL);
	}
	free(into);
}

static inline void box_step_process(struct runtime_op *op)
{
	struct runtime *box = op->box;
	size_t n = op->n - op->at < box->chunk_bytes ? op->n - op->at : box->chunk_bytes;

	if (op->unconsumed >= 2 * box->chunk_bytes)
		return; /* until something is taken */
	if (!op->has_begun && box->cat_text) {
		op->has_begun = true;
		size_t text_n = strlen(box->cat_text);
		op->unconsumed += text_n;
		op->start.on_output(op->arg, 2, (struct slice){ box->cat_text, text_n });
	} else if (n) {
		const char *from = op->body + op->at;
		op->at += n;
		op->unconsumed += n;
		op->start.on_output(op->arg, 1, (struct slice){ from, n });
	} else {
		box_end(op);
		op->start.on_exit(
			op->arg, op->err.code != ERR_NONE ? &op->err : NULL, box->cat_exit);
		return;
	}
	if (!op->is_over)
		box_schedule(op);
}

static inline void box_step(void *arg)
{
	struct runtime_op *op = arg;
	const struct err *err = op->err.code != ERR_NONE ? &op->err : NULL;

	if (op->is_over || !op->is_due || box_holds(op))
		return;
	op->is_due = false;
	switch (op->call) {
	case BOX_STAT:
		box_step_stat(op, err);
		break;
	case BOX_LIST:
		box_step_list(op, err);
		break;
	case BOX_READ:
		box_step_read(op);
		break;
	case BOX_WRITE:
		box_step_write(op);
		break;
	case BOX_DELETE:
		box_end(op);
		if (!err && box_find(op->box, op->path))
			box_remove(op->box, op->path);
		op->on_done(op->arg, err);
		break;
	case BOX_EXECUTE: {
		const struct runtime_result result = { op->answer->exit_code,
			slice_of(op->answer->out), slice_of(op->answer->err_out) };
		box_end(op);
		op->on_executed(op->arg, err, err ? NULL : &result);
		break;
	}
	case BOX_LINKS:
		box_end(op);
		op->on_links(op->arg, err, err ? NULL : op->links, err ? 0 : op->n_links);
		break;
	default:
		box_step_process(op);
	}
}

/* ---- engine/runtime/runtime.h */
struct runtime *runtime_ref(struct runtime *runtime)
{
	runtime->refs++;
	return runtime;
}

void runtime_unref(struct runtime *runtime)
{
	if (runtime)
		runtime->refs--;
}

enum runtime_kind runtime_kind_of(const struct runtime *runtime)
{
	return runtime->kind;
}

bool runtime_can(const struct runtime *runtime, enum runtime_feature feature)
{
	return feature != RUNTIME_CAN_PROCESSES || !runtime->has_no_processes;
}

void runtime_cancel(struct runtime_op *op)
{
	if (op)
		box_end(op);
}

void runtime_resume(struct runtime_op *op)
{
	if (!op->is_paused)
		return;
	op->is_paused = false;
	box_schedule(op);
}

struct runtime_op *runtime_stat_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_stat *st),
	void *arg, struct err *err)
{
	struct runtime_op *op = box_op(runtime, BOX_STAT, path, sizeof *op, err);

	(void)timeout_ms;
	box_log(runtime, "stat %s", path);
	if (!op)
		return NULL;
	op->on_stat = done;
	op->arg = arg;
	return op;
}

struct runtime_op *runtime_list_start(struct runtime *runtime, const char *path,
	int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_entry *entries,
		size_t n, size_t n_hidden),
	void *arg, struct err *err)
{
	struct runtime_op *op = box_op(runtime, BOX_LIST, path, sizeof *op, err);

	(void)timeout_ms;
	box_log(runtime, "list %s", path);
	if (!op)
		return NULL;
	op->on_list = done;
	op->arg = arg;
	return op;
}

struct runtime_op *runtime_delete_start(struct runtime *runtime, const char *path,
	bool recursive, int64_t timeout_ms, void (*done)(void *arg, const struct err *err),
	void *arg, struct err *err)
{
	struct runtime_op *op = box_op(runtime, BOX_DELETE, path, sizeof *op, err);

	assert_true(timeout_ms == 0 || timeout_ms >= 60000); /* 0: the default */
	box_log(runtime, "delete %s%s", path, recursive ? " and all in it" : "");
	if (!op)
		return NULL;
	op->on_done = done;
	op->arg = arg;
	return op;
}

struct runtime_op *runtime_read_start(
	struct runtime *runtime, const struct runtime_read_opts *opts, struct err *err)
{
	struct runtime_op *op = box_op(runtime, BOX_READ, opts->path, sizeof *op, err);

	assert_int_equal(opts->offset, 0);
	assert_int_equal(opts->if_unmodified_since_s, -1);
	box_log(runtime, "read %s", opts->path);
	if (!op)
		return NULL;
	op->read = *opts;
	op->arg = opts->arg;
	return op;
}

struct runtime_op *runtime_write_start(
	struct runtime *runtime, const struct runtime_write_opts *opts, struct err *err)
{
	struct runtime_op *op = box_op(runtime, BOX_WRITE, opts->path, sizeof *op, err);

	if (opts->mode >= 0)
		box_log(runtime, "write %s %lld bytes mode %o", opts->path,
			(long long)opts->total_bytes, (unsigned)opts->mode);
	else
		box_log(runtime, "write %s %lld bytes", opts->path,
			(long long)opts->total_bytes);
	if (!op)
		return NULL;
	op->write = *opts;
	op->arg = opts->arg;
	return op;
}

static inline void box_log_argv(
	struct runtime *box, const char *what, const char *const *argv, size_t most)
{
	str_add(&box->log, what);
	for (size_t i = 0; argv[i] && i < most; i++)
		str_addf(&box->log, " %s", argv[i]);
	str_add_char(&box->log, '\n');
}

struct runtime_op *runtime_execute_start(struct runtime *runtime, const char *const *argv,
	const char *const *env, const char *cwd, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const struct runtime_result *result),
	void *arg, struct err *err)
{
	assert_null(env);
	assert_true(!cwd || strcmp(cwd, "/") == 0);
	assert_true(timeout_ms == 0 || timeout_ms >= 5000);
	if (runtime->has_no_processes) {
		err_set(err, ERR_OP_UNSUPPORTED, "no processes");
		return NULL;
	}
	struct runtime_op *op = box_op(runtime, BOX_EXECUTE, argv[0], sizeof *op, err);
	box_log_argv(runtime, "execute", argv, SIZE_MAX);
	if (!op)
		return NULL;
	op->on_executed = done;
	op->arg = arg;
	op->answer = calloc(1, sizeof *op->answer);
	if (runtime->execute)
		runtime->execute(argv, op->answer);
	else
		op->answer->code = ERR_PROC_COMMAND_NOT_FOUND;
	if (op->answer->code != ERR_NONE)
		err_set(&op->err, op->answer->code, "%s did not run", argv[0]);
	return op;
}

struct runtime_op *runtime_links_start(struct runtime *runtime, const char *const *paths,
	size_t n, int64_t timeout_ms,
	void (*done)(void *arg, const struct err *err, const bool *is_link, size_t n),
	void *arg, struct err *err)
{
	(void)timeout_ms;
	assert_true(n > 0 && n <= RUNTIME_MAX_LINKS);
	if (runtime->has_no_processes) {
		err_set(err, ERR_OP_UNSUPPORTED, "no processes");
		return NULL;
	}
	str_addf(&runtime->log, "links %zu:", n);
	for (size_t i = 0; i < n && n < 10; i++)
		str_addf(&runtime->log, " %s", paths[i]);
	str_add_char(&runtime->log, '\n');
	struct runtime_op *op = box_op(runtime, BOX_LINKS, paths[0], sizeof *op, err);
	if (!op)
		return NULL;
	if (runtime->has_no_shell)
		err_set(&op->err, ERR_PROC_COMMAND_NOT_FOUND, "no shell");
	op->on_links = done;
	op->arg = arg;
	op->n_links = n;
	op->links = calloc(n, sizeof *op->links);
	for (size_t i = 0; i < n; i++) {
		const struct box_node *node = box_find(runtime, paths[i]);
		op->links[i] = node && node->is_link;
	}
	return op;
}

struct runtime_process *runtime_process_start(
	struct runtime *runtime, const struct runtime_start_opts *opts, struct err *err)
{
	struct runtime_process *process = NULL;
	struct runtime_op *op =
		box_op(runtime, BOX_PROCESS, opts->argv[2], sizeof *process, err);

	assert_string_equal(opts->argv[0], "cat");
	assert_string_equal(opts->argv[1], "--");
	assert_null(opts->argv[3]);
	box_log_argv(runtime, "start", opts->argv, SIZE_MAX);
	if (!op)
		return NULL;
	process = (struct runtime_process *)op;
	op->start = *opts;
	op->arg = opts->arg;
	const struct box_node *node = box_find(runtime, op->path);
	op->n = node ? node->n : 0;
	op->body = calloc(1, op->n + 1);
	if (node)
		memcpy(op->body, node->body, op->n);
	return process;
}

void runtime_process_consumed(struct runtime_process *process, size_t bytes)
{
	struct runtime_op *op = &process->op;

	assert_true(bytes <= op->unconsumed);
	op->unconsumed -= bytes;
	op->box->n_consumed += bytes;
	if (!op->is_over && !op->is_due)
		box_schedule(op);
}

void runtime_process_free(struct runtime_process *process)
{
	box_log(process->op.box, "free");
	box_end(&process->op);
}

/* ---- the box itself */
static inline void box_open(struct runtime *box, struct net_loop *loop)
{
	memset(box, 0, sizeof *box);
	box->loop = loop;
	box->chunk_bytes = 4096;
	str_init(&box->log, BOX_LOG_BYTES);
}

static inline void box_forget_ops(struct runtime *box)
{
	while (box->ops) {
		struct runtime_op *op = box->ops;
		box->ops = op->next;
		free(op->path);
		free(op->body);
		free(op->answer);
		free(op->links);
		free(op);
	}
}

/* After the loop: what is deferred has run. */
static inline void box_close(struct runtime *box)
{
	box_forget_ops(box);
	assert_int_equal(box->refs, 0);
	for (size_t i = 0; i < box->n_nodes; i++)
		free(box->nodes[i].body);
	str_deinit(&box->log);
}

/* Nothing in it, nothing said, nothing held: as after box_open(). No operation may be under way. */
static inline void box_clear(struct runtime *box)
{
	struct net_loop *loop = box->loop;

	net_loop_run_once(loop, 0); /* what is deferred */
	for (int i = 0; i < BOX_CALLS; i++)
		assert_int_equal(box->n_now[i], 0);
	box_close(box);
	box_open(box, loop);
}

/* ---- the folder on this side */
static char box_folder[64];

static inline const char *here(const char *name)
{
	static char path[4][300];
	static unsigned next;
	char *out = path[next++ % 4];

	snprintf(out, sizeof path[0], "%s/%s", box_folder, name);
	return out;
}

static inline void here_put(const char *name, const char *text)
{
	int fd = open(here(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline void here_remove_all(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

	for (struct dirent *entry; stream && (entry = readdir(stream));)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
			unlinkat(fd, entry->d_name, 0) < 0)
			here_remove_all(fd, entry->d_name);
	if (stream)
		closedir(stream);
	unlinkat(at, name, AT_REMOVEDIR);
}

static inline int here_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static inline int here_is_name(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static inline void here_add(struct str *out, const char *path, const char *shown)
{
	struct dirent **entries = NULL;
	int n = scandir(path, &entries, here_is_name, here_compare);

	for (int i = 0; i < n; i++) {
		char next[600], name[300], bytes[41] = "";
		struct stat st;
		snprintf(next, sizeof next, "%s/%s", path, entries[i]->d_name);
		snprintf(name, sizeof name, "%s%s%s", shown, *shown ? "/" : "",
			entries[i]->d_name);
		free(entries[i]);
		assert_int_equal(lstat(next, &st), 0);
		if (out->n)
			str_add_char(out, ' ');
		if (S_ISDIR(st.st_mode)) {
			str_addf(out, "%s/", name);
			here_add(out, next, name);
			continue;
		}
		if (!S_ISREG(st.st_mode)) {
			str_addf(out, "%s=%s", name, S_ISLNK(st.st_mode) ? "->" : "?");
			continue;
		}
		if (st.st_size > 40) {
			str_addf(out, "%s=%lld bytes", name, (long long)st.st_size);
			continue;
		}
		int fd = open(next, O_RDONLY | O_CLOEXEC);
		assert_true(fd < 0 || read(fd, bytes, 40) == (ssize_t)st.st_size);
		close(fd);
		str_addf(out, "%s=%s", name, bytes);
	}
	free(entries);
}

/* "d/ d/f=hello …", in order, temporary files too. */
static inline const char *here_text(void)
{
	static char text[BOX_TEXT_BYTES];
	struct str out;

	str_init(&out, sizeof text - 1);
	here_add(&out, box_folder, "");
	memcpy(text, out.p, out.n + 1);
	str_deinit(&out);
	return text;
}

static inline void here_clear(void)
{
	here_remove_all(AT_FDCWD, box_folder);
	assert_int_equal(mkdir(box_folder, 0700), 0);
}

/* "d/ d/f=text l->nowhere": folders, files, links. In a sandbox a link leads nowhere. */
static inline void box_each(const char *what,
	void (*put)(void *arg, const char *path, char kind, const char *text), void *arg)
{
	char copy_of[2000], *rest = NULL;

	snprintf(copy_of, sizeof copy_of, "%s", what);
	for (char *word = strtok_r(copy_of, " ", &rest); word;
		word = strtok_r(NULL, " ", &rest)) {
		char *arrow = strstr(word, "->"), *is = strchr(word, '=');
		size_t n = strlen(word);
		if (arrow) {
			*arrow = 0;
			put(arg, word, 'l', arrow + 2);
		} else if (is) {
			*is = 0;
			put(arg, word, 'f', is + 1);
		} else {
			assert_int_equal(word[n - 1], '/');
			word[n - 1] = 0;
			put(arg, word, 'd', "");
		}
	}
}

static inline void box_fill_one(void *arg, const char *path, char kind, const char *text)
{
	if (kind == 'd')
		box_dir(arg, path);
	else if (kind == 'l')
		box_link(arg, path);
	else
		box_put(arg, path, text);
}

static inline void box_fill(struct runtime *box, const char *what)
{
	box_each(what, box_fill_one, box);
}

static inline void here_fill_one(void *arg, const char *path, char kind, const char *text)
{
	(void)arg;
	if (kind == 'd')
		assert_int_equal(mkdir(here(path), 0755), 0);
	else if (kind == 'l')
		assert_int_equal(symlink(text, here(path)), 0);
	else
		here_put(path, text);
}

static inline void here_fill(const char *what)
{
	box_each(what, here_fill_one, NULL);
}

/* ---- a copy */
static struct net_loop *box_loop;
static struct runtime box, other; /* two sandboxes */
static struct copy {
	struct transfer *transfer;
	int n_done, n_conflicts, n_limits, n_reports;
	enum err_code code;
	char msg[ERR_MESSAGE_BYTES];
	struct transfer_progress end; /* without current */
	struct transfer_progress now;
	char current[300];
	char notes[4000]; /* "kind path: text" by lines */
	char asked[300];  /* of on_conflict */
	int64_t asked_bytes[2];
	uint64_t asked_limit;
} copy;

static inline void copy_on_done(
	void *arg, const struct err *err, const struct transfer_progress *progress)
{
	assert_ptr_equal(arg, &copy);
	copy.n_done++;
	copy.transfer = NULL;
	copy.code = err ? err->code : ERR_NONE;
	snprintf(copy.msg, sizeof copy.msg, "%s", err ? err->msg : "");
	copy.end = *progress;
	copy.end.current = NULL;
}

static inline void copy_on_note(
	void *arg, enum transfer_note note, const char *path, const char *text)
{
	size_t n = strlen(copy.notes);

	assert_ptr_equal(arg, &copy);
	snprintf(copy.notes + n, sizeof copy.notes - n, "%s %s: %s\n", transfer_note_name(note),
		path, text);
}

static inline void copy_on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes)
{
	assert_ptr_equal(arg, &copy);
	copy.n_conflicts++;
	snprintf(copy.asked, sizeof copy.asked, "%s", target);
	copy.asked_bytes[0] = existing_bytes;
	copy.asked_bytes[1] = new_bytes;
}

static inline void copy_on_limit(void *arg, uint64_t n)
{
	assert_ptr_equal(arg, &copy);
	copy.n_limits++;
	copy.asked_limit = n;
}

static inline void copy_on_progress(void *arg, const struct transfer_progress *progress)
{
	assert_ptr_equal(arg, &copy);
	copy.n_reports++;
	copy.now = *progress;
	snprintf(copy.current, sizeof copy.current, "%s", progress->current);
	copy.now.current = NULL;
}

static inline struct transfer_opts copy_opts(
	struct runtime *from_box, const char *from, struct runtime *to_box, const char *to)
{
	return (struct transfer_opts){
		.from = { from_box, from, -1 },
		.to = { to_box, to, -1 },
		.recursive = true,
		.conflict = TRANSFER_FAIL,
		.on_note = copy_on_note,
		.on_progress = copy_on_progress,
		.done = copy_on_done,
		.arg = &copy,
	};
}

static inline void copy_begin(const struct transfer_opts *opts)
{
	struct err err = { 0 };

	memset(&copy, 0, sizeof copy);
	copy.transfer = transfer_start(box_loop, opts, &err);
	if (!copy.transfer) {
		copy.code = err.code;
		snprintf(copy.msg, sizeof copy.msg, "%s", err.msg);
	}
}

/* Until the condition holds; gives up loudly after 10 s. */
#define BOX_UNTIL(condition)                                                                   \
	do {                                                                                   \
		int64_t box_until = clock_mono_ms() + 10000;                                   \
		while (!(condition) && clock_mono_ms() < box_until)                            \
			net_loop_run_once(box_loop, 20);                                       \
		if (!(condition))                                                              \
			fail_msg("not reached: %s", #condition);                               \
	} while (0)

/* Turns without waiting: all that can happen without anybody else happens in them. */
static inline void box_turns(int n)
{
	while (n-- > 0)
		net_loop_run_once(box_loop, 1);
}

static inline void copy_run(const struct transfer_opts *opts)
{
	copy_begin(opts);
	if (copy.transfer)
		BOX_UNTIL(copy.n_done);
}

static inline int box_set_up(void **state)
{
	(void)state;
	umask(022);
	snprintf(box_folder, sizeof box_folder, "/tmp/sandmux-box-XXXXXX");
	box_loop = net_loop_new(NULL);
	box_open(&box, box_loop);
	box_open(&other, box_loop);
	return mkdtemp(box_folder) ? 0 : -1;
}

static inline int box_tear_down(void **state)
{
	(void)state;
	net_loop_free(box_loop);
	box_close(&box);
	box_close(&other);
	here_remove_all(AT_FDCWD, box_folder);
	return 0;
}

#define BOX_TEST(f) cmocka_unit_test_setup_teardown(f, box_set_up, box_tear_down)
