// SPDX-License-Identifier: Apache-2.0
/* DELETE, made on a thread. As in sandboxd a link stands for its target, except one that leads nowhere,
 * and the root itself is only ever emptied. Inside a tree that is removed links are removed, never
 * followed. */
#include "local/daemon/rest_internal.h"

#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "local/daemon/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 2048 };

struct daemon_removal {
	struct daemon_rest_conn *conn; /* NULL once the connection has gone */
	struct daemon_confined target;
	bool is_root, is_recursive;
	const char *call;  /* that failed, for the error */
	struct str walked; /* the folder being emptied */
	char *failed_path;
	int errnum;
};

static int remove_entry(struct daemon_removal *r, int dir_fd, const char *name, unsigned depth);

/* Everything in the folder fd (taken over). 0 or the errno of the first failure. */
static int empty_folder(struct daemon_removal *r, int fd, unsigned depth)
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
			int errnum = remove_entry(r, fd, d->d_name, depth + 1);
			first = first ? first : errnum;
		}
	}
	closedir(dir);
	return first;
}

/* Remembers where it went wrong first. */
static int failed(struct daemon_removal *r, const char *name, int errnum)
{
	if (r->failed_path == NULL) {
		size_t n = r->walked.n;
		r->failed_path = x_asprintf("%.*s/%s", (int)n, r->walked.p, name);
	}
	return errnum;
}

static int remove_folder(struct daemon_removal *r, int dir_fd, const char *name, unsigned depth)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int errnum = fd < 0 ? errno : 0;
	if (fd >= 0) {
		size_t n = r->walked.n;
		str_addf(&r->walked, "/%s", name);
		errnum = empty_folder(r, fd, depth);
		r->walked.n = n;
		r->walked.p[n] = 0;
	}
	/* one that may not be read may still be empty */
	if (unlinkat(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return failed(r, name, errnum ? errnum : errno);
}

static int remove_entry(struct daemon_removal *r, int dir_fd, const char *name, unsigned depth)
{
	struct stat st;
	if (depth > MAX_DEPTH)
		return failed(r, name, ENAMETOOLONG);
	if (unlinkat(dir_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	int errnum = errno;
	if (errnum != EISDIR && errnum != EPERM && errnum != EACCES)
		return failed(r, name, errnum);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode))
		return remove_folder(r, dir_fd, name, depth);
	return failed(r, name, errnum);
}

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct daemon_removal *r = arg;
	(void)is_cancelled;
	int dir_fd = r->target.parent_fd;
	const char *name = r->target.name;
	const char *path = r->target.path;
	size_t folder_n = r->is_root ? strlen(path) : (size_t)(strrchr(path, '/') - path);
	str_init(&r->walked, CONFINE_MAX_PATH * 4);
	str_add_bytes(&r->walked, path, folder_n);
	r->call = "remove";
	if (r->is_root) {
		int fd = openat(r->target.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r->call = fd < 0 ? "open" : "unlinkat";
		r->errnum = fd < 0 ? errno : empty_folder(r, fd, 0);
	} else if (r->is_recursive) {
		r->call = "unlinkat";
		r->errnum = remove_entry(r, dir_fd, name, 0);
	} else if (unlinkat(dir_fd, name, 0) != 0) {
		int unlink_errno = errno;
		if (unlinkat(dir_fd, name, AT_REMOVEDIR) != 0)
			r->errnum = errno == ENOTDIR ? unlink_errno : errno;
	}
}

static void free_removal(void *arg)
{
	struct daemon_removal *r = arg;
	daemon_confined_deinit(&r->target);
	str_deinit(&r->walked);
	free(r->failed_path);
	free(r);
}

static void done(void *arg)
{
	struct daemon_removal *r = arg;
	struct daemon_rest_conn *conn = r->conn;
	if (conn != NULL) {
		conn->on_gone = NULL;
		if (r->errnum == 0)
			daemon_rest_answer(conn, 204, NULL, "", (struct slice){ "", 0 });
		else if (!r->is_root && (r->errnum == ENOTEMPTY || r->errnum == EEXIST))
			daemon_rest_error(conn, 409, "CONFLICT",
				"directory is not empty; pass recursive=true to remove it");
		else if (!r->is_root && (r->errnum == EACCES || r->errnum == EPERM))
			daemon_rest_error(conn, 403, "PERMISSION_DENIED", "permission denied");
		else
			daemon_rest_error(conn, 500, "INTERNAL", "%s %s: %s", r->call,
				r->failed_path ? r->failed_path : r->target.path,
				daemon_quote_errno(r->errnum));
	}
}

static const struct net_work_kind removals = { "removal", 4, run, done, free_removal };

static void on_gone(void *handler)
{
	struct daemon_removal *r = handler;
	r->conn = NULL;
}

/* MISSING is a link that leads nowhere, or nothing. */
static bool is_there(const struct daemon_confined *target)
{
	struct stat st;
	return target->state == CONFINE_FOUND ||
	       (strchr(target->name, '/') == NULL &&
		       fstatat(target->parent_fd, target->name, &st, AT_SYMLINK_NOFOLLOW) == 0);
}

static bool parse_recursive(struct daemon_rest_conn *conn, bool *is_recursive)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True" };
	static const char *const no[] = { "", "0", "f", "F", "false", "FALSE", "False" };
	char *text = daemon_http1_query_get(conn->query, "recursive");
	*is_recursive = false;
	bool ok = text == NULL;
	for (size_t i = 0; !ok && i < sizeof no / sizeof no[0]; i++)
		ok = strcmp(text, no[i]) == 0;
	for (size_t i = 0; !ok && i < sizeof yes / sizeof yes[0]; i++)
		ok = *is_recursive = strcmp(text, yes[i]) == 0;
	if (!ok)
		daemon_rest_error_argument(conn, "recursive", text, "must be a boolean");

	free(text);
	return ok;
}

static bool prepare(struct daemon_rest_conn *conn, struct daemon_removal *r)
{
	if (!daemon_rest_resolve(conn, &r->target))
		return false;
	if (r->target.state == CONFINE_MISSING && strlen(r->target.path) > CONFINE_MAX_PATH) {
		daemon_rest_error(conn, 500, "INTERNAL", "lstat %s: %s", r->target.path,
			daemon_quote_errno(ENAMETOOLONG));
		return false;
	}
	if (!is_there(&r->target)) {
		daemon_rest_error(
			conn, 404, "NOT_FOUND", "path does not exist within the sandbox");
		return false;
	}
	if (!parse_recursive(conn, &r->is_recursive))
		return false;
	r->is_root = r->target.state == CONFINE_FOUND && !*r->target.name;
	if (r->is_root && !r->is_recursive) {
		daemon_rest_error(conn, 409, "CONFLICT",
			"cannot delete the sandbox root; pass recursive=true to clear its "
			"contents");
		return false;
	}
	return true;
}

void daemon_rest_delete(struct daemon_rest_conn *conn)
{
	struct daemon_removal *r = x_calloc(1, sizeof *r);
	r->conn = conn;
	if (!prepare(conn, r)) {
		free_removal(r);
		return;
	}
	conn->handler = r;
	conn->on_gone = on_gone;
	daemon_rest_conn_pause(conn);
	net_work_start(conn->server->loop, &removals, r);
}
