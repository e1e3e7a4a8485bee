// SPDX-License-Identifier: Apache-2.0
/* A program of this machine on a terminal of its own (pty(7)): never on ours. Its output is read as long as it is taken, its input is
 * kept until it takes it.
 * Errors: ERR_LIMIT_UPLOAD, errno, those of engine/net/watch.h. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct err;
struct net_loop;
struct net_pty;

enum { NET_PTY_AHEAD_BYTES = 1 << 20 /* output that nobody has taken yet */ };

struct net_pty_opts {
	const char *const *argv; /* NULL-terminated; the first is looked for in PATH */
	const char *const *env;  /* "NAME=VALUE", instead of or besides ours; NULL-terminated */
	int cols, rows;
	void (*on_output)(void *arg, struct slice bytes);
	/* Once, after its output: its exit status, or -1 when a signal has ended it. It is to be freed, not in the call. */
	void (*on_exit)(void *arg, int exit_code);
	void *arg;
};
/* Errors: what posix_openpt(3) and posix_spawn(3) say. */
struct net_pty *net_pty_start(
	struct net_loop *loop, const struct net_pty_opts *opts, struct err *err);
/* False with ERR_LIMIT_UPLOAD: it does not read, on_drained comes when it has. */
bool net_pty_write(struct net_pty *pty, struct slice bytes, struct err *err);
void net_pty_on_drained(struct net_pty *pty, void (*fn)(void *arg));
void net_pty_consumed(struct net_pty *pty, size_t n); /* of what on_output has brought */
void net_pty_resize(struct net_pty *pty, int cols, int rows);
/* One that is still there is hung up (SIGHUP), and killed if that does not end it; nobody waits for it. NULL is fine. */
void net_pty_free(struct net_pty *pty);
