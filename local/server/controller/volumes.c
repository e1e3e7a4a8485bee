// SPDX-License-Identifier: Apache-2.0
/* Folders of pods and volumes. What they contain was written by sandboxes: it is removed without following
 * links, by a child process, so that a tree of a million files does not stop the loop. */
#include "local/server/controller/internal.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "local/control/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Empties the trash in a grandchild: nobody has to wait for it. */
static void empty_trash(struct server *s)
{
	pid_t pid = fork();
	if (pid < 0)
		return;
	if (pid > 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	if (fork() != 0)
		_exit(0);
	/* the lock and the listening socket must not live on in here */
	close_range(3, ~0U, 0);
	setsid();
	setpriority(PRIO_PROCESS, 0, 10);
	int root = open(s->opts.state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int trash = openat(root, "trash", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (trash >= 0)
		remove_content(trash, NULL);
	_exit(0);
}

char *volumes_folder(struct server *s, const char *kind, const char *uid, struct err *err)
{
	struct str path;
	str_init(&path, 4096);
	str_addf(&path, "%s/%s/%s", s->opts.state_dir, kind, uid);
	if (!path.truncated && file_make_dirs(path.p, 0700, err))
		return str_take(&path);
	if (path.truncated)
		err_set(err, ERR_ARG_INVALID, "the state directory's name is too long");
	str_deinit(&path);
	return NULL;
}

static bool is_trash_left(struct server *s)
{
	char *path = path_join(s->opts.state_dir, "trash");
	DIR *d = opendir(path);
	struct dirent *e;
	bool found = false;
	free(path);
	while (d && (e = readdir(d)) != NULL)
		found = found || (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0);
	if (d)
		closedir(d);
	return found;
}

void volumes_remove(struct server *s, const char *kind, const char *uid)
{
	struct str from, to;
	char random[17];
	str_init(&from, 4096);
	str_init(&to, 4096);
	digest_random_hex(random, 16);
	str_addf(&from, "%s/%s/%s", s->opts.state_dir, kind, uid);
	str_addf(&to, "%s/trash/%s", s->opts.state_dir, random);
	if (rename(from.p, to.p) == 0)
		empty_trash(s);
	else if (errno != ENOENT)
		LOG("volumes", LOG_WARN, "cannot remove %s: %s", from.p, strerror(errno));
	str_deinit(&from);
	str_deinit(&to);
}

/* Folders whose object has gone while we were not there. */
static void drop_strays(struct server *s, const char *kind)
{
	char *path = path_join(s->opts.state_dir, kind);
	DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.' && !store_by_uid(s->store, e->d_name))
			volumes_remove(s, kind, e->d_name);
	if (d)
		closedir(d);
	free(path);
}

bool volumes_open(struct server *s, struct err *err)
{
	static const char *const kinds[] = { "pods", "volumes", "trash" };
	for (int i = 0; i < 3; i++) {
		char *path = path_join(s->opts.state_dir, kinds[i]);
		bool ok = file_make_dirs(path, 0700, err);
		free(path);
		if (!ok)
			return false;
	}
	drop_strays(s, "pods");
	drop_strays(s, "volumes");
	if (is_trash_left(s))
		empty_trash(s);
	return true;
}
