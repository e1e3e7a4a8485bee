// SPDX-License-Identifier: Apache-2.0
/* What the daemon of an isolated sandbox gives away before it serves, for itself and for everything that it will
 * start. Bubblewrap has built the room; these are the locks that only the one inside can close. */
#pragma once

#include <stdbool.h>

struct err;

struct daemon_jail_opts {
	bool has_own_userns; /* a user namespace in which no uid 0 is known, of the one outside neither */
	bool has_landlock; /* writes only where a sandbox may write; skipped before kernel 5.19 (Landlock 2) */
	bool is_closed; /* no core file; no process of the sandbox can trace, read or open what is the daemon's */
	int filter_fd; /* the seccomp filter, an array of struct sock_filter; closed here; −1: none */
	const char *root_dir;
};

/* Call it with one thread, before anything runs. Capabilities are always dropped. False: a lock did not close, and
 * nothing may be started. */
bool daemon_jail_enter(const struct daemon_jail_opts *opts, struct err *err);
