// SPDX-License-Identifier: Apache-2.0
/* PUT: the body goes to a temporary file beside the target as it arrives; then, on a thread, fsync, rename, and
 * fsync of the folders, since a rename is on the disk only when its folder is. Readers see the old file or the new
 * one, and a failed upload leaves nothing behind; what a killed daemon leaves is swept by the next one
 * (rest_sweep.c). */
#include "local/daemon/rest_internal.h"

#include "engine/base/digest.h"
#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "local/daemon/multipart.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	TEMP_TRIES = 16,
	FLUSH_BYTES = 8 << 20, /* handed to the disk early, so that fsync at the end is short */
};

struct upload {
	struct daemon_rest_conn *conn; /* NULL once the connection has gone */
	struct daemon_confined target; /* parent_fd and name are where the file goes */
	int fd;
	char temp[64];
	bool is_renamed;
	unsigned n_made;               /* folders that were made for it */
	struct daemon_multipart *form; /* NULL: the body is the file */
	off_t size, flushed;
	const char *failed; /* "failed to sync file" …, with errnum */
	int errnum;
};

static void free_upload(void *arg)
{
	struct upload *up = arg;
	if (up->fd >= 0)
		close(up->fd);
	if (*up->temp && !up->is_renamed)
		unlinkat(up->target.parent_fd, up->temp, 0);
	daemon_confined_deinit(&up->target);
	daemon_multipart_free(up->form);
	free(up);
}

static char *temp_path(const struct upload *up)
{
	const char *slash = strrchr(up->target.path, '/');
	return x_asprintf("%.*s/%s", (int)(slash - up->target.path), up->target.path, up->temp);
}

static bool make_temp(struct upload *up)
{
	for (int i = 0; i < TEMP_TRIES; i++) {
		char random[REST_TEMP_HEX + 1];
		digest_random_hex(random, REST_TEMP_HEX);
		snprintf(up->temp, sizeof up->temp, REST_TEMP_PREFIX "%s", random);
		up->fd = openat(up->target.parent_fd, up->temp,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (up->fd >= 0 && daemon_rest_temp_lock(up->fd))
			return true;
		if (up->fd < 0 && errno != EEXIST)
			break;
		if (up->fd >= 0)
			close(up->fd);
		up->fd = -1;
	}
	return false;
}

/* The folder of the file, and those above it that are new. Some file systems cannot sync a folder, and one that may not
 * be read cannot be opened: no matter. An error of the disk is one of the upload. */
static bool sync_folders(struct upload *up)
{
	int fd = openat(up->target.parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool ok = true;
	for (unsigned i = 0; ok && fd >= 0; i++) {
		ok = fsync(fd) == 0 || (errno != EIO && errno != ENOSPC && errno != EDQUOT);
		int errnum = errno;
		int above = ok && i < up->n_made
				    ? openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				    : -1;
		close(fd);
		fd = above;
		errno = errnum;
	}
	return ok;
}

static void run_finish(void *arg, const atomic_bool *is_cancelled)
{
	struct upload *up = arg;
	(void)is_cancelled;
	if (fsync(up->fd) != 0) {
		up->failed = "failed to sync file: sync";
		up->errnum = errno;
		return;
	}
	if (renameat(up->target.parent_fd, up->temp, up->target.parent_fd, up->target.name) !=
		0) {
		up->failed = "failed to move file into place: rename";
		up->errnum = errno;
		return;
	}
	up->is_renamed = true;
	if (!sync_folders(up)) {
		up->failed = "failed to sync file: sync";
		up->errnum = errno;
	}
}

static void on_finished(void *arg)
{
	struct upload *up = arg;
	struct daemon_rest_conn *conn = up->conn;
	if (conn != NULL) {
		conn->on_gone = NULL;
		char *path = temp_path(up);
		if (up->errnum == 0)
			daemon_rest_answer(conn, 204, NULL, "", (struct slice){ "", 0 });
		else if (strstr(up->failed, "rename") != NULL)
			daemon_rest_error(conn, 500, "INTERNAL", "%s %s %s: %s", up->failed,
				path, up->target.path, daemon_quote_errno(up->errnum));
		else
			daemon_rest_error(conn, 500, "INTERNAL", "%s %s: %s", up->failed, path,
				daemon_quote_errno(up->errnum));
		free(path);
	}
}

static const struct net_work_kind finishes = { "upload", 4, run_finish, on_finished,
	free_upload };

static void on_gone_finishing(void *handler)
{
	struct upload *up = handler;
	up->conn = NULL;
}

static bool write_all(struct upload *up, struct slice piece)
{
	while (piece.n > 0) {
		ssize_t n = write(up->fd, piece.p, piece.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		piece.p += n;
		piece.n -= (size_t)n;
		up->size += n;
	}
	if (up->size - up->flushed >= FLUSH_BYTES) {
		sync_file_range(
			up->fd, up->flushed, up->size - up->flushed, SYNC_FILE_RANGE_WRITE);
		up->flushed = up->size;
	}
	return true;
}

static void refuse_write(struct daemon_rest_conn *conn, struct upload *up, int errnum)
{
	char *path = temp_path(up);
	conn->closes = true;
	daemon_rest_error(conn, 500, "INTERNAL", "failed to write file contents: write %s: %s",
		path, daemon_quote_errno(errnum));
	free(path);
}

static void on_body(struct daemon_rest_conn *conn, struct slice piece)
{
	struct upload *up = conn->handler;
	if (up->form == NULL) {
		if (!write_all(up, piece))
			refuse_write(conn, up, errno);
		return;
	}
	while (piece.n > 0) {
		struct slice content;
		size_t used = daemon_multipart_feed(up->form, piece.p, piece.n, &content);
		if (!write_all(up, content)) {
			refuse_write(conn, up, errno);
			return;
		}
		if (daemon_multipart_state(up->form) == MULTIPART_BAD) {
			daemon_rest_error(conn, 400, "INVALID_ARGUMENT", "%s",
				daemon_multipart_error(up->form));
			return;
		}
		piece.p += used;
		piece.n -= used;
	}
}

static void on_body_end(struct daemon_rest_conn *conn)
{
	struct upload *up = conn->handler;
	if (up->form != NULL && daemon_multipart_state(up->form) != MULTIPART_DONE) {
		const char *error = daemon_multipart_finish(up->form);
		if (daemon_multipart_has_file(up->form))
			daemon_rest_error(conn, 500, "INTERNAL",
				"failed to write file contents: unexpected EOF");
		else
			daemon_rest_error(conn, 400, "INVALID_ARGUMENT", "%s", error);
		return;
	}
	conn->on_gone = on_gone_finishing;
	daemon_rest_conn_pause(conn);
	net_work_start(conn->server->loop, &finishes, up);
}

static bool parse_mode(struct daemon_rest_conn *conn, mode_t *mode)
{
	char *text = daemon_http1_query_get(conn->query, "mode");
	*mode = 0644;
	bool ok = true;
	if (text != NULL && *text) {
		ok = strlen(text) == 4 && text[0] == '0' && strspn(text, "01234567") == 4;
		if (ok)
			*mode = (mode_t)strtoul(text, NULL, 8);
	}
	if (!ok)
		daemon_rest_error_argument(conn, "mode", text, "must match ^0[0-7]{3}$");

	free(text);
	return ok;
}

static bool open_temp(struct daemon_rest_conn *conn, struct upload *up, mode_t mode)
{
	char *failed = NULL;
	for (const char *p = up->target.name; up->target.state == CONFINE_MISSING && *p; p++)
		up->n_made += *p == '/';
	int errnum = up->target.state == CONFINE_MISSING
			     ? daemon_confined_make_parents(&up->target, &failed)
			     : 0;
	if (errnum != 0) {
		daemon_rest_error(conn, 500, "INTERNAL",
			"failed to create parent directory: mkdir %s: %s", failed,
			daemon_quote_errno(errnum));
		free(failed);
		return false;
	}
	if (!make_temp(up)) {
		errnum = errno;
		char *path = temp_path(up);
		*up->temp = 0;
		daemon_rest_error(conn, 500, "INTERNAL",
			"failed to create temp file: open %s: %s", path,
			daemon_quote_errno(errnum));
		free(path);
		return false;
	}
	if (fchmod(up->fd, mode) != 0) {
		daemon_rest_error(conn, 500, "INTERNAL", "failed to set file mode: %s",
			daemon_quote_errno(errno));
		return false;
	}
	return true;
}

void daemon_rest_put(struct daemon_rest_conn *conn)
{
	mode_t mode;
	if (!parse_mode(conn, &mode))
		return;
	struct upload *up = x_calloc(1, sizeof *up);
	up->conn = conn;
	up->fd = -1;
	if (!daemon_rest_resolve(conn, &up->target)) {
		free_upload(up);
		return;
	}
	if (up->target.state == CONFINE_FOUND && S_ISDIR(up->target.st.st_mode)) {
		daemon_rest_error(conn, 400, "INVALID_ARGUMENT", "target path is a directory");
		free_upload(up);
		return;
	}
	const char *error = NULL;
	up->form = daemon_multipart_new(conn->request.fields[HTTP1_CONTENT_TYPE], &error);
	if (error != NULL) {
		daemon_rest_error(conn, 400, "INVALID_ARGUMENT", "%s", error);
		free_upload(up);
		return;
	}
	if (!open_temp(conn, up, mode)) {
		free_upload(up);
		return;
	}
	conn->handler = up;
	conn->on_gone = free_upload;
	conn->on_body = on_body;
	conn->on_body_end = on_body_end;
	daemon_rest_conn_read_body(conn);
}
