// SPDX-License-Identifier: Apache-2.0
/* Can this machine isolate? The answer comes from trying: bubblewrap is run with the same namespaces and
 * mounts that a sandbox gets. */
#pragma once

#include <stdbool.h>

struct err;

enum isolation_mode {
	ISOLATION_BWRAP, /* namespaces, no network, read-only system, limits */
	ISOLATION_NONE, /* the daemon as a plain child: files are confined, processes are not */
	ISOLATION_MODE_COUNT,
};

const char *isolation_mode_name(enum isolation_mode mode); /* "bwrap", "none" */
bool isolation_mode_parse(const char *text, enum isolation_mode *mode);

/* ERR_LOCAL_ISOLATION with what is missing and how to mend it. Blocks for some milliseconds (at most
 * 5 s). */
bool isolation_check(struct err *err);

/* One sentence for people who use ISOLATION_NONE. */
extern const char isolation_none_warning[];
