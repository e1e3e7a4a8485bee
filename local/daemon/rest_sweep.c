// SPDX-License-Identifier: Apache-2.0
/* Temporary files of uploads whose daemon was killed. Each upload holds a lock (flock(2)) on its file, which the
 * kernel drops with the daemon, however that ended: what can be locked belongs to nobody. No clock, no list. */
#include "local/daemon/rest_internal.h"

#include "engine/base/mem.h"
#include "engine/net/work_pool.h"
#include "local/daemon/confine_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* A workspace can hold any number of files: what lies deeper or comes later is left for another start. */
enum { MAX_DEPTH = 48, MAX_ENTRIES = 500000 };

struct rest_sweep {
	struct daemon_rest_server *server;
	struct daemon_confine_root *root;
	size_t n_seen;
	const atomic_bool *is_cancelled;
};

bool daemon_rest_temp_is_name(const char *name)
{
	size_t n = sizeof REST_TEMP_PREFIX - 1;
	return strncmp(name, REST_TEMP_PREFIX, n) == 0 && strlen(name) == n + REST_TEMP_HEX &&
	       strspn(name + n, "0123456789abcdef") == REST_TEMP_HEX;
}

bool daemon_rest_temp_lock(int fd)
{
	struct stat st;
	/* a sweep may have been quicker, and the name is gone */
	return (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	       fstat(fd, &st) == 0 && st.st_nlink > 0;
}

static void sweep_file(int dir_fd, const char *name)
{
	struct stat st;
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 &&
		flock(fd, LOCK_EX | LOCK_NB) == 0)
		unlinkat(dir_fd, name, 0);
	close(fd);
}

static void sweep_folder(struct rest_sweep *sweep, int dir_fd, const char *name, int depth);

static void sweep_entry(struct rest_sweep *sweep, int dir_fd, const struct dirent *e, int depth)
{
	struct stat st;
	bool is_folder = e->d_type == DT_DIR;
	if (e->d_type == DT_UNKNOWN)
		is_folder = fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISDIR(st.st_mode);
	if (is_folder && strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
		sweep_folder(sweep, dir_fd, e->d_name, depth + 1);
	else if (!is_folder && daemon_rest_temp_is_name(e->d_name))
		sweep_file(dir_fd, e->d_name);
}

static void sweep_folder(struct rest_sweep *sweep, int dir_fd, const char *name, int depth)
{
	struct dirent *e;
	int fd = depth > MAX_DEPTH ? -1
				   : openat(dir_fd, name,
					     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	while (d && (e = readdir(d)) != NULL && sweep->n_seen++ < MAX_ENTRIES &&
		!atomic_load(sweep->is_cancelled))
		sweep_entry(sweep, fd, e, depth);
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
}

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct rest_sweep *sweep = arg;
	sweep->is_cancelled = is_cancelled;
	sweep_folder(sweep, sweep->root->fd, ".", 0);
}

static void done(void *arg)
{
	struct rest_sweep *sweep = arg;
	sweep->server->sweep = NULL;
}

static void free_sweep(void *arg)
{
	struct rest_sweep *sweep = arg;
	daemon_confine_root_unref(sweep->root);
	free(sweep);
}

static const struct net_work_kind sweeps = { "sweep", 1, run, done, free_sweep };

void daemon_rest_sweep_start(struct daemon_rest_server *server)
{
	struct rest_sweep *sweep = x_calloc(1, sizeof *sweep);
	sweep->server = server;
	sweep->root = daemon_confine_root_ref(server->opts.root);
	server->sweep = net_work_start(server->loop, &sweeps, sweep);
}
