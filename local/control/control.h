// SPDX-License-Identifier: Apache-2.0
/* Starting and stopping the local backend (sandmux-locald) from the command line and from the dashboard.
 *
 * The functions without a loop may block, up to their deadline: they are for the command line. A running
 * backend is known by its lock on "<state>/lock", which no crash leaves behind; "<state>/pid" then says
 * which process it is and, once it serves, on which port.
 * Errors: ERR_ARG_INVALID, ERR_LOCAL_NOT_RUNNING, ERR_OP_BUSY, ERR_OP_TIMEOUT, ERR_SYSTEM, errno, those of
 * engine/base/file.h, those of engine/net/loop.h, those of local/control/state.h. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct net_loop;

#define CONTROL_CONTEXT                                                                        \
	"sandmux-local" /* the context of the kubeconfig that the backend writes */

struct control_opts {
	const char *state_dir; /* NULL: SANDMUX_LOCAL_DIR, else "<user's state folder>/local" */
	const char *isolation; /* "bwrap" or "none"; NULL: bwrap. For a new start only */
	const char *daemon_auth; /* "token" or "off"; NULL: token. For a new start only */
	const char *locald;      /* program; NULL: beside this one, else in libexec/sandmux */
	int64_t timeout_ms;      /* 0: 20 s */
};

struct control_status {
	bool is_running; /* a process holds the state directory */
	bool is_ready;   /* and it serves */
	pid_t pid;
	uint16_t port;
	char state_dir[PATH_MAX];
	char kubeconfig[PATH_MAX];
	char log[PATH_MAX];
};

/* What is there now. */
bool control_get_status(
	const struct control_opts *opts, struct control_status *status, struct err *err);

/* It runs under the user's own manager of systemd, which ends with their last session, as they have no lingering. */
bool control_ends_at_logout(const struct control_status *status);

/* Starts it unless it runs, and waits until it serves. `sandmux local up`, and the automatic start.
 * ERR_LOCAL_ISOLATION, ERR_OP_TIMEOUT, or what the backend said. */
bool control_ensure_running(
	const struct control_opts *opts, struct control_status *status, struct err *err);

/* Stops it: TERM, KILL after 8 s. True if it was not running. */
bool control_down(const struct control_opts *opts, struct err *err);

/* Stops it and deletes every object, workspace, key and log of the state directory, and its quarantine. The caller has
 * asked. True only if nothing of it is left; else err names what is. What is not ours stays. */
bool control_reset(const struct control_opts *opts, struct err *err);

/* Mends the store of a backend that does not start because of it (local/server/recover.h). What was done is added to
 * report, line by line. ERR_OP_BUSY while the backend runs. Blocking, without a deadline: it reads everything. */
struct str;
bool control_recover(const struct control_opts *opts, struct str *report, struct err *err);

/* control_ensure_running without blocking. status is borrowed for the call; NULL on failure. */
typedef void control_up_fn(
	void *arg, const struct err *err, const struct control_status *status);
struct control_up;
struct control_up *control_up_start(struct net_loop *loop, const struct control_opts *opts,
	control_up_fn *done, void *arg, struct err *err);
void control_up_cancel(struct control_up *up); /* the backend may start all the same */
