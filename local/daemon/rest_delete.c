// SPDX-License-Identifier: Apache-2.0
/* DELETE, made on a thread. As in sandboxd a link stands for its target, except one that leads nowhere,
 * and the root itself is only ever emptied. Inside a tree that is removed links are removed, never
 * followed. */
#include "local/daemon/rest_internal.h"

#include "engine/base/mem.h"
#include "local/daemon/quote.h"
#include "local/daemon/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 2048 };

struct removal {
	struct rest_conn *conn; /* NULL once the connection has gone */
	struct confined target;
	bool is_root, is_recursive;
	const char *call; /* that failed, for the error */
	int errnum;
};

static int remove_entry(int dir_fd, const char *name, unsigned depth);

/* Everything in the folder fd (taken over). 0 or an errno. */
static int empty_folder(int fd, unsigned depth)
{
	DIR *dir = fdopendir(fd);
	if (dir == NULL) {
		int errnum = errno;
		close(fd);
		return errnum;
	}
	int first = 0;
	bool again = true;
	/* names may be skipped when a folder changes under readdir: look again until it is empty */
	for (int rounds = 0; again && first == 0 && rounds < 64; rounds++) {
		struct dirent *d;
		again = false;
		rewinddir(dir);
		while ((d = readdir(dir)) != NULL) {
			if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
				continue;
			again = true;
			int errnum = remove_entry(fd, d->d_name, depth + 1);
			if (first == 0)
				first = errnum;
		}
	}
	closedir(dir);
	return first;
}

static int remove_entry(int dir_fd, const char *name, unsigned depth)
{
	if (depth > MAX_DEPTH)
		return ENAMETOOLONG;
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return errno;
	int unlink_errno = errno;
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) /* not a folder, or one that may not be read but may be empty */
		return unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? 0
		       : unlink_errno == EISDIR                                     ? errno
						: unlink_errno;
	int errnum = empty_folder(fd, depth);
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return errnum ? errnum : errno;
}

static void run(void *arg)
{
	struct removal *r = arg;
	int dir_fd = r->target.parent_fd;
	const char *name = r->target.name;
	r->call = "remove";
	if (r->is_root) {
		int fd = openat(r->target.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r->call = fd < 0 ? "open" : "unlinkat";
		r->errnum = fd < 0 ? errno : empty_folder(fd, 0);
	} else if (r->is_recursive) {
		r->call = "unlinkat";
		r->errnum = remove_entry(dir_fd, name, 0);
	} else if (unlinkat(dir_fd, name, 0) != 0) {
		int unlink_errno = errno;
		if (unlinkat(dir_fd, name, AT_REMOVEDIR) != 0)
			r->errnum = errno == ENOTDIR ? unlink_errno : errno;
	}
}

static void free_removal(struct removal *r)
{
	confined_deinit(&r->target);
	free(r);
}

static void done(void *arg)
{
	struct removal *r = arg;
	struct rest_conn *conn = r->conn;
	if (conn != NULL) {
		conn->on_gone = NULL;
		if (r->errnum == 0)
			rest_answer(conn, 204, NULL, "", (struct slice){ "", 0 });
		else if (!r->is_root && (r->errnum == ENOTEMPTY || r->errnum == EEXIST))
			rest_error(conn, 409, "CONFLICT",
				"directory is not empty; pass recursive=true to remove it");
		else if (!r->is_root && (r->errnum == EACCES || r->errnum == EPERM))
			rest_error(conn, 403, "PERMISSION_DENIED", "permission denied");
		else
			rest_error(conn, 500, "INTERNAL", "%s %s: %s", r->call, r->target.path,
				quote_errno(r->errnum));
	}
	free_removal(r);
}

static void on_gone(void *handler)
{
	struct removal *r = handler;
	r->conn = NULL;
}

/* MISSING is a link that leads nowhere, or nothing. */
static bool is_there(const struct confined *target)
{
	struct stat st;
	return target->state == CONFINE_FOUND ||
	       (strchr(target->name, '/') == NULL &&
		       fstatat(target->parent_fd, target->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
}

static bool parse_recursive(struct rest_conn *conn, bool *is_recursive)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "", "0", "f", "F", "false", "FALSE", "False" };
	char *text = http1_query_get(conn->query, "recursive");
	*is_recursive = false;
	bool ok = text == NULL;
	for (size_t i = 0; !ok && i < sizeof no / sizeof no[0]; i++)
		ok = strcmp(text, no[i]) == 0;
	for (size_t i = 0; !ok && i < sizeof yes / sizeof yes[0]; i++)
		ok = *is_recursive = strcmp(text, yes[i]) == 0;
	if (!ok) {
		struct str quoted;
		str_init(&quoted, 8 << 10);
		quote_plain(&quoted, slice_of(text));
		rest_error(conn, 400, "INVALID_ARGUMENT", "recursive %s must be a boolean",
			quoted.p);
		str_deinit(&quoted);
	}
	free(text);
	return ok;
}

static bool prepare(struct rest_conn *conn, struct removal *r)
{
	if (!rest_resolve(conn, &r->target))
		return false;
	if (!is_there(&r->target)) {
		rest_error(conn, 404, "NOT_FOUND", "path does not exist within the sandbox");
		return false;
	}
	if (!parse_recursive(conn, &r->is_recursive))
		return false;
	r->is_root = r->target.state == CONFINE_FOUND && !*r->target.name;
	if (r->is_root && !r->is_recursive) {
		rest_error(conn, 409, "CONFLICT",
			"cannot delete the sandbox root; pass recursive=true to clear its "
			"contents");
		return false;
	}
	return true;
}

void rest_delete(struct rest_conn *conn)
{
	struct removal *r = x_calloc(1, sizeof *r);
	r->conn = conn;
	if (!prepare(conn, r)) {
		free_removal(r);
		return;
	}
	conn->handler = r;
	conn->on_gone = on_gone;
	rest_conn_pause(conn);
	work_start(conn->server->pool, run, done, r);
}
