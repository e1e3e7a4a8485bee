// SPDX-License-Identifier: Apache-2.0
/* Rules for paths inside a sandbox (as sandboxd v0.5.6 reads them) and for names that a sandbox sends.
 * A sandbox path is relative to the sandbox root, bytes without NUL, '/' between segments.
 * Errors: ERR_ARG_PATH. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

enum path_use {
	PATH_READ,  /* "", ".", empty segments and a trailing '/' are fine: they collapse */
	PATH_WRITE, /* refuses the root and a trailing '/' too (also for delete) */
};
/* False with ERR_ARG_PATH for a leading '/', a ".." segment, or what the use refuses. */
bool path_check(const char *path, enum path_use use, struct err *err);
/* Collapsed form: no empty or "." segments; "" is the root. Free with free(). Check first. */
char *path_normalize(const char *path);
/* "/v1/files/" + percent-encoded segments (all but A–Z a–z 0–9 - . _ ~). Free with free(). */
char *path_to_url(const char *path);
char *path_join(const char *dir, const char *name); /* no doubled '/'; free() */
const char *path_base(const char *path);            /* borrowed, after the last '/' */

/* True if a name from a listing or an archive may become one directory entry here: not empty, not
 * "." or "..", no '/', no NUL inside n bytes, at most 255 bytes. */
bool path_is_safe_name(const char *name, size_t n);
