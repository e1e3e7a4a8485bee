// SPDX-License-Identifier: Apache-2.0
/* Shared by confine.c (the walk) and confine_root.c (the root, and what is only text). */
#pragma once

#include "local/daemon/confine.h"

#include <stdatomic.h>

struct daemon_confine_root {
	atomic_uint refs;
	int fd;
	char *path;
	char **parts; /* components of path */
	size_t n_parts;
};

/* For messages: "<root>/<rel>/<name>"; free() it. */
char *daemon_confine_absolute(
	const struct daemon_confine_root *root, const char *rel, const char *name);
/* The path cleaned by its text, relative to the root; leading ".." are kept ("../x"). free() it. */
char *daemon_confine_clean(const struct daemon_confine_root *root, struct slice path);
