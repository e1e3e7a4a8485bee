// SPDX-License-Identifier: Apache-2.0
/* Files of the local disk and of a sandbox behind one interface: listings, one entry, new folders, and (removal.h) what
 * goes and how.
 *
 * Local work runs on threads (engine/net/work_pool.h): a folder of a mount whose server is gone holds up its own operation
 * and nothing else. In a sandbox the daemon's REST side does what it can; the rest is done by programs there.
 *
 * Paths are bytes up to a NUL. Local ones are absolute or relative to the current folder; those in a sandbox begin at its
 * root and follow engine/base/path.h.
 *
 * Async as engine/net/loop.h has it. An operation holds a reference to its runtime. Loop thread only.
 * Errors: ERR_ARG_PATH, ERR_FILE_SERVER, ERR_LIMIT_RESPONSE, errno, those of engine/runtime/runtime.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_loop;
struct runtime;

struct files_place {
	struct runtime *runtime; /* NULL: the local disk; borrowed for the call */
	int64_t timeout_ms;      /* of one request to a daemon; 0: the default */
};

struct files_op;
void files_cancel(struct files_op *op); /* any operation of this room; silent, NULL is fine */

enum files_kind {
	FILES_PLAIN,
	FILES_FOLDER,
	FILES_LINK, /* to anything but a folder */
	FILES_LINK_FOLDER,
	FILES_LINK_BROKEN,
	FILES_FIFO,
	FILES_SOCKET,
	FILES_DEVICE,
	FILES_KIND_COUNT,
};

struct files_entry {
	const char *name;               /* in the listing's blocks; foreign bytes */
	int64_t size_bytes, modified_s; /* -1 unknown */
	int mode;                       /* permission bits, -1 unknown */
	enum files_kind kind;           /* in a sandbox links look like what they lead to */
	bool is_marked;                 /* false; for whoever shows it */
};

/* ---- listings */
struct files_name_block;
struct files_listing {
	struct files_entry *entries;
	size_t n, capacity;
	struct files_name_block *blocks;
	size_t n_hidden; /* left out: names that are not safe, and uploads in flight */
};
void files_listing_clear(struct files_listing *listing);
/* The entry is copied, its name too. */
void files_listing_add(struct files_listing *listing, const struct files_entry *entry);

enum { FILES_ENTRIES_MAX = 2000000 };

/* Everything in a folder, in no order, without "." and "..". Never fails at once. progress (may be NULL): so many have been
 * read, now and then. done: *listing_take may be taken over by a copy of the struct; what is left in it then is zeroed by
 * the taker. Errors: ERR_FILE_NOT_FOUND, ERR_FILE_NOT_DIR, ERR_FILE_DENIED, ERR_LIMIT_RESPONSE (more than FILES_ENTRIES_MAX),
 * others of the local disk (err_set_errno) and of the runtime. */
struct files_op *files_list_start(struct net_loop *loop, const struct files_place *place,
	const char *path, void (*progress)(void *arg, size_t n),
	void (*done)(void *arg, const struct err *err, struct files_listing *listing_take),
	void *arg);

/* ---- one entry; links are followed. name is NULL, and kind is PLAIN, FOLDER, FIFO, SOCKET or DEVICE: a sandbox knows the
 * first two. Never fails at once. Errors: ERR_FILE_NOT_FOUND, ERR_FILE_DENIED, others of the local disk and of the runtime. */
struct files_op *files_stat_start(struct net_loop *loop, const struct files_place *place,
	const char *path,
	void (*done)(void *arg, const struct err *err, const struct files_entry *entry),
	void *arg);

/* ---- a new folder in one that is there. Errors: ERR_FILE_EXISTS, ERR_FILE_NOT_FOUND, ERR_FILE_DENIED (in a sandbox
 * ERR_FILE_SERVER, with what its mkdir says), ERR_OP_READ_ONLY, ERR_OP_UNSUPPORTED, and others of the runtime. */
struct files_op *files_mkdir_start(struct net_loop *loop, const struct files_place *place,
	const char *path, void (*done)(void *arg, const struct err *err), void *arg,
	struct err *err);

/* ---- a path as people and programs in a sandbox say it: absolute ones lead from its / and become what the daemon takes.
 * The root of its files is asked for by `pwd` there; of a runtime that cannot be asked it is /workspace. path: borrowed for
 * the call. Never fails at once. Errors: ERR_ARG_PATH (it is not among the sandbox's files). */
struct files_op *files_path_start(struct net_loop *loop, struct runtime *runtime,
	const char *path, void (*done)(void *arg, const struct err *err, const char *path),
	void *arg);
