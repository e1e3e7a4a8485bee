// SPDX-License-Identifier: Apache-2.0
/* Turns a path from the wire into descriptors inside the sandbox root, and never anywhere else.
 *
 * The path is cleaned by its text first (".." never meets a link), then walked one component at a time
 * with openat(O_PATH | O_NOFOLLOW): links are read and followed here, so no step leaves the root, and a
 * link swapped in meanwhile is an error, not a way out. What the caller does afterwards goes through
 * the descriptors found here. (openat2(RESOLVE_BENEATH) would refuse absolute links that stay inside
 * and cannot say what is missing; walking by hand needs no kernel version.)
 *
 * As in sandboxd, a link that leads nowhere counts as the entry itself: reading says "missing", writing
 * replaces it, deleting removes it. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <sys/stat.h>

struct err;
struct daemon_confine_root;

struct daemon_confine_root *daemon_confine_root_open(const char *dir, struct err *err);
/* Shared with work on threads, which may outlive whoever opened it. */
struct daemon_confine_root *daemon_confine_root_ref(struct daemon_confine_root *root);
void daemon_confine_root_unref(struct daemon_confine_root *root);
const char *daemon_confine_root_path(
	const struct daemon_confine_root *root); /* absolute, links resolved */

enum daemon_confine_state {
	CONFINE_FOUND,
	CONFINE_MISSING,
	CONFINE_ESCAPES,
	CONFINE_FAILED, /* errnum and message say why */
};

enum { CONFINE_MAX_PATH = 4095, CONFINE_MAX_LINKS = 255 };

struct daemon_confined {
	enum daemon_confine_state state;
	int fd;         /* FOUND: the target, O_PATH; never a link */
	struct stat st; /* FOUND */
	int parent_fd; /* FOUND (not the root itself), MISSING: the directory to work in, O_PATH */
	/* FOUND: the name in parent_fd, "" for the root. MISSING: what is to be created below
	 * parent_fd, may have several components ("a/b/c"). */
	char *name;
	char *path; /* absolute, resolved; for messages only, never to be opened */
	int errnum;
	char *message;
	size_t message_n; /* the message may hold a NUL that was in the path */
};

/* path: n bytes, decoded. Always call daemon_confined_deinit() afterwards. */
void daemon_confine_resolve(
	const struct daemon_confine_root *root, struct slice path, struct daemon_confined *out);
void daemon_confined_deinit(struct daemon_confined *c);

/* Makes the folders of a MISSING path (0755); parent_fd and name become those of the last component.
 * 0 or an errno, with *failed (malloc'ed, absolute) naming the folder. */
int daemon_confined_make_parents(struct daemon_confined *c, char **failed);
