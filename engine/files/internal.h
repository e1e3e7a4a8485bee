// SPDX-License-Identifier: Apache-2.0
/* What the operations of this room share: how they end, and commands on paths in a sandbox. */
#pragma once

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/files/files.h"
#include "engine/net/loop.h"
#include "engine/net/work_pool.h"
#include "engine/runtime/runtime.h"

#include <stdlib.h>

/* The beginning of every operation. At any time one of call, work and later is under way. */
struct files_op {
	struct net_loop *loop;
	struct runtime *runtime; /* NULL: local */
	struct runtime_op *call;
	struct net_work *work;
	struct net_loop_timer *later;        /* told from a turn of its own */
	void (*deinit)(struct files_op *op); /* of what follows; or NULL */
};

/* ---- op.c */
/* calloc(), with its runtime held. */
void *files_op_new(size_t bytes, struct net_loop *loop, struct runtime *runtime,
	void (*deinit)(struct files_op *op));
/* fn(op) in the next turn: the end of an operation that cannot begin. */
void files_op_later(struct files_op *op, net_loop_fn *fn);
/* At the end of the turn: it is called last in a completion. */
void files_op_end(struct files_op *op);

/* ---- command.c: a program in a sandbox and paths, "rm -rf -- ./a ./b": never an option, never absolute. */
enum {
	FILES_COMMAND_PATHS_MAX = 200,
	FILES_COMMAND_WORDS_MAX = 4,
	FILES_COMMAND_BYTES_MAX = 48 << 10
};
struct files_command {
	const char *argv[FILES_COMMAND_PATHS_MAX + 2 * FILES_COMMAND_WORDS_MAX +
			 1]; /* NULL at the end */
	size_t n, n_words, n_paths, bytes;
};
/* words, and those of the end: constants, NULL after the last. */
void files_command_init(struct files_command *command, const char *const *words);
void files_command_deinit(struct files_command *command);
/* False: not taken, it is full. The first path is always taken. */
bool files_command_add(struct files_command *command, const char *path);
void files_command_end(struct files_command *command, const char *const *words);
