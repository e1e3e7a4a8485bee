// SPDX-License-Identifier: Apache-2.0
/* The listing of a folder, made on a thread: sorted by name, links shown as what they lead to, links
 * that lead nowhere or out of the sandbox left out. */
#include "local/daemon/rest_internal.h"

#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "local/daemon/quote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct daemon_listing {
	struct daemon_rest_conn
		*conn; /* NULL once the connection has gone; only the loop touches it */
	struct daemon_confine_root *root;
	int dir_fd; /* −1: errnum says why */
	char *path; /* as asked for, path_n bytes */
	size_t path_n;
	char *real_path; /* for errors */
	struct str json;
	int errnum;
};

struct daemon_entry {
	char *name;
};

static int by_name(const void *a, const void *b)
{
	const struct daemon_entry *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static bool resolve_link(struct daemon_listing *l, const char *name, struct stat *st)
{
	struct daemon_confined target;
	struct str path;
	str_init(&path, CONFINE_MAX_PATH);
	str_add_bytes(&path, l->path, l->path_n);
	str_addf(&path, "/%s", name);
	daemon_confine_resolve(l->root, (struct slice){ path.p, path.n }, &target);
	bool ok = target.state == CONFINE_FOUND && !path.truncated;
	if (ok)
		*st = target.st;
	daemon_confined_deinit(&target);
	str_deinit(&path);
	return ok;
}

/* Any second that a file system can hold: clock.h counts in nanoseconds and ends in 2262. */
static void format_date(time_t seconds, char *out, size_t n)
{
	struct tm tm;
	*out = 0;
	if (gmtime_r(&seconds, &tm) != NULL)
		strftime(out, n, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void add_entry(struct daemon_listing *l, int fd, const char *name, bool *is_first)
{
	struct stat st;
	char date[48];
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return; /* gone meanwhile */
	if (S_ISLNK(st.st_mode) && !resolve_link(l, name, &st))
		return;
	format_date(st.st_mtim.tv_sec, date, sizeof date);
	str_add(&l->json, *is_first ? "{\"name\":" : ",{\"name\":");
	*is_first = false;
	daemon_quote_json(&l->json, slice_of(name));
	str_addf(&l->json,
		",\"size\":%lld,\"type\":\"%s\",\"modified_at\":\"%s\",\"mode\":\"%04o\"}",
		(long long)st.st_size, S_ISDIR(st.st_mode) ? "directory" : "file", date,
		(unsigned)st.st_mode & 0777);
}

static struct daemon_entry *read_names(DIR *dir, size_t *n)
{
	struct daemon_entry *entries = NULL;
	size_t capacity = 0;
	struct dirent *d;
	*n = 0;
	while ((d = readdir(dir)) != NULL) {
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		array_grow(&entries, &capacity, *n + 1, sizeof *entries);
		entries[(*n)++].name = x_strdup(d->d_name);
	}
	if (*n > 1)
		qsort(entries, *n, sizeof *entries, by_name);
	return entries;
}

static void run(void *arg, const atomic_bool *is_cancelled)
{
	(void)is_cancelled;
	struct daemon_listing *l = arg;
	int fd = l->dir_fd;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	l->dir_fd = -1;
	if (dir == NULL) {
		l->errnum = l->errnum ? l->errnum : errno;
		if (fd >= 0)
			close(fd);
		return;
	}
	size_t n;
	struct daemon_entry *entries = read_names(dir, &n);
	bool is_first = true;
	str_add(&l->json, "{\"path\":");
	struct str path;
	str_init(&path, l->path_n + 1);
	if (l->path_n == 0 || l->path[0] != '/')
		str_add_char(&path, '/');
	str_add_bytes(&path, l->path, l->path_n);
	daemon_quote_json(&l->json, (struct slice){ path.p, path.n });
	str_deinit(&path);
	str_add(&l->json, ",\"entries\":[");
	for (size_t i = 0; i < n; i++) {
		add_entry(l, fd, entries[i].name, &is_first);
		free(entries[i].name);
	}
	str_add(&l->json, "]}\n");
	free(entries);
	closedir(dir);
}

static void done(void *arg)
{
	struct daemon_listing *l = arg;
	struct daemon_rest_conn *conn = l->conn;
	if (conn != NULL) {
		conn->on_gone = NULL;
		if (l->errnum != 0)
			daemon_rest_error(conn, 500, "INTERNAL", "open %s: %s", l->real_path,
				daemon_quote_errno(l->errnum));
		else if (l->json.truncated)
			daemon_rest_error(conn, 500, "INTERNAL", "listing too large");
		else
			daemon_rest_answer(conn, 200, "application/json", "",
				(struct slice){ l->json.p, l->json.n });
	}
}

static void free_listing(void *arg)
{
	struct daemon_listing *l = arg;
	if (l->dir_fd >= 0)
		close(l->dir_fd);
	daemon_confine_root_unref(l->root);
	str_deinit(&l->json);
	free(l->path);
	free(l->real_path);
	free(l);
}

static void on_gone(void *handler)
{
	struct daemon_listing *l = handler;
	l->conn = NULL;
}

static const struct net_work_kind listings = { "listing", 4, run, done, free_listing };

void daemon_rest_list(struct daemon_rest_conn *conn, struct daemon_confined *target)
{
	struct daemon_listing *l = x_calloc(1, sizeof *l);
	l->conn = conn;
	l->root = daemon_confine_root_ref(conn->server->opts.root);
	/* by its name, since a folder may be readable but not searchable */
	bool is_root = !*target->name;
	l->dir_fd = openat(is_root ? target->fd : target->parent_fd,
		is_root ? "." : target->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	l->errnum = l->dir_fd < 0 ? errno : 0;
	l->path = x_malloc(conn->path_n + 1);
	memcpy(l->path, conn->path, conn->path_n + 1);
	l->path_n = conn->path_n;
	l->real_path = x_strdup(target->path);
	str_init(&l->json, REST_MAX_LISTING_BYTES);
	conn->handler = l;
	conn->on_gone = on_gone;
	daemon_rest_conn_pause(conn);
	net_work_start(conn->server->loop, &listings, l);
}
