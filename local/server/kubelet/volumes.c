// SPDX-License-Identifier: Apache-2.0
/* Folders of pods and volumes. What they contain was written by sandboxes: it is removed without following
 * links, by a child process, so that a tree of a million files does not stop the loop.
 *
 * Nothing is removed because it is unknown: only what the store says was deleted by name. The rest goes to the
 * quarantine. */
#include "local/server/kubelet/volumes.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/path.h"
#include "engine/base/str.h"
#include "local/control/quarantine.h"
#include "local/control/remove.h"
#include "local/server/kubelet/manifest.h"

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
		control_remove_content(trash, NULL);
	_exit(0);
}

static void note_owner(struct server *s, const char *kind, const char *uid)
{
	const struct store_object *o = store_by_uid(s->store, uid);
	const char *expected = o ? kubelet_manifest_kind_of(o->kind) : NULL;
	if (expected && strcmp(expected, kind) == 0)
		kubelet_manifest_write(s, o);
}

/* A volume is made once. If it is not there the second time, its files are elsewhere: on a disk that is not mounted, or
 * moved by hand. An empty one in its place would hide that. */
static bool make_volume(struct server *s, const char *path, const char *uid, struct err *err)
{
	char *key = x_asprintf("folder/%s", uid), *made = store_meta_get(s->store, key);
	bool is_there = access(path, F_OK) == 0, ok;
	if (!is_there && made) {
		ok = err_set(err, ERR_FILE_NOT_FOUND,
			"%.300s is gone: put it back, or delete the claim", path);
	} else {
		ok = file_make_dirs(path, 0700, err);
		/* an upload that is acknowledged later would be gone with its folder */
		if (ok && !is_there) {
			char *dir = path_join(s->opts.state_dir, "volumes");
			file_sync_dir(dir);
			free(dir);
		}
		if (ok && !made)
			ok = store_meta_set(s->store, key, "made", err);
	}
	free(made);
	free(key);
	return ok;
}

char *kubelet_volumes_folder(
	struct server *s, const char *kind, const char *uid, struct err *err)
{
	struct str path;
	bool is_volume = strcmp(kind, "volumes") == 0;
	str_init(&path, 4096);
	str_addf(&path, "%s/%s/%s", s->opts.state_dir, kind, uid);
	if (!path.truncated && (is_volume ? make_volume(s, path.p, uid, err)
					  : file_make_dirs(path.p, 0700, err))) {
		note_owner(s, kind, uid);
		return str_take(&path);
	}
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

void kubelet_volumes_remove(struct server *s, const char *kind, const char *uid)
{
	struct str from, to;
	char random[17];
	str_init(&from, 4096);
	str_init(&to, 4096);
	digest_random_hex(random, 16);
	str_addf(&from, "%s/%s/%s", s->opts.state_dir, kind, uid);
	str_addf(&to, "%s/trash/%s", s->opts.state_dir, random);
	char *key = x_asprintf("folder/%s", uid);
	store_meta_set(s->store, key, NULL, NULL);
	free(key);
	kubelet_manifest_remove(s->opts.state_dir, kind, uid);
	if (rename(from.p, to.p) == 0)
		empty_trash(s);
	else if (errno != ENOENT)
		LOG("volumes", LOG_WARN, "cannot remove %s: %s", from.p, strerror(errno));
	str_deinit(&from);
	str_deinit(&to);
}

void kubelet_volumes_on_change(struct controller *c, const struct store_change *change)
{
	const struct store_object *o = change->now;
	kubelet_manifest_on_change(c->server, change);
	if (change->type != CHANGE_DELETED || o->kind != KIND_PVC)
		return;
	char *key = x_asprintf("evicted/%s", o->uid);
	store_meta_set(c->server->store, key, NULL, NULL);
	free(key);
	kubelet_volumes_remove(c->server, "volumes", o->uid);
}

/* ---- at the start ---- */

static bool is_manifest(const char *name)
{
	size_t n = strlen(name);
	return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* Whether the sandbox left something; the daemon's log is ours. If it cannot be seen, it may have. */
static bool has_files(const char *state_dir, const char *kind, const char *uid)
{
	bool is_pod = strcmp(kind, "pods") == 0;
	char *path = x_asprintf("%s/%s/%s%s", state_dir, kind, uid, is_pod ? "/workspace" : "");
	DIR *d = opendir(path);
	bool is_hidden = !d && errno != ENOENT;
	struct dirent *e;
	bool found = false;
	free(path);
	while (d && !found && (e = readdir(d)) != NULL)
		found = strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	if (d)
		closedir(d);
	return found || is_hidden;
}

static void sort_stray(struct server *s, const char *kind, const char *uid)
{
	struct err err = { 0 };
	const char *state_dir = s->opts.state_dir;
	if (store_was_deleted(s->store, uid) || !has_files(state_dir, kind, uid)) {
		kubelet_volumes_remove(s, kind, uid);
		return;
	}
	LOG("volumes", LOG_WARN, "%s/%s has no object: it goes to the quarantine", kind, uid);
	/* where it cannot be moved (another file system) it stays */
	if (!control_quarantine_put(
		    state_dir, kind, uid, "no object with this UID is known", &err))
		LOG("volumes", LOG_WARN, "it stays where it is: %s", err.msg);
}

/* Folders whose object is not known: it was deleted and we were killed before its files were, or it was lost. */
static void sort_strays(struct server *s, const char *kind)
{
	char *path = path_join(s->opts.state_dir, kind);
	DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		if (!is_manifest(e->d_name)) {
			if (!store_by_uid(s->store, e->d_name))
				sort_stray(s, kind, e->d_name);
			continue;
		}
		char *uid = x_strndup(e->d_name, strlen(e->d_name) - 5);
		if (faccessat(dirfd(d), uid, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
			kubelet_manifest_remove(s->opts.state_dir, kind, uid);
		free(uid);
	}
	if (d)
		closedir(d);
	free(path);
}

/* Temporary files of our own atomic writes, from a run that was killed. The lock is ours: nobody else writes. */
static void sweep_temps(const char *state_dir, const char *folder)
{
	char *path = path_join(state_dir, folder);
	DIR *d = opendir(path);
	struct dirent *e;
	while (d && (e = readdir(d)) != NULL)
		if (file_is_temp(e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	free(path);
}

bool kubelet_volumes_are_there(const char *state_dir)
{
	static const char *const kinds[] = { "pods", "volumes" };
	bool found = false;
	for (int i = 0; i < 2; i++) {
		char *path = path_join(state_dir, kinds[i]);
		DIR *d = opendir(path);
		struct dirent *e;
		while (d && !found && (e = readdir(d)) != NULL)
			found = e->d_name[0] != '.' && !is_manifest(e->d_name);
		if (d)
			closedir(d);
		free(path);
	}
	return found;
}

/* ---- UIDs that need not be remembered as deleted any more ---- */

struct wanted {
	UT_hash_handle hh;
	char uid[];
};

struct wanted_set {
	const char *state_dir;
	struct wanted *owners;
};

static bool is_wanted(void *arg, const char *uid)
{
	struct wanted_set *set = arg;
	struct wanted *w;
	HASH_FIND(hh, set->owners, uid, strlen(uid), w);
	if (w)
		return true;
	char *pod = x_asprintf("%s/pods/%s", set->state_dir, uid);
	char *volume = x_asprintf("%s/volumes/%s", set->state_dir, uid);
	bool found = access(pod, F_OK) == 0 || access(volume, F_OK) == 0;
	free(pod);
	free(volume);
	return found;
}

static void want_owners(struct wanted_set *set, const struct store_object *o)
{
	const cJSON *ref;
	struct wanted *w;
	cJSON_ArrayForEach(ref, json_get(o->json, "metadata", "ownerReferences", NULL))
	{
		const char *uid = json_str(ref, "uid", NULL);
		size_t n = uid ? strlen(uid) : 0;
		HASH_FIND(hh, set->owners, uid ? uid : "", n, w);
		if (w || n == 0)
			continue;
		w = x_calloc(1, sizeof *w + n + 1);
		memcpy(w->uid, uid, n + 1);
		HASH_ADD(hh, set->owners, uid, n, w);
	}
}

/* Still needed while a folder waits for its deletion or a dependent for the collector. */
static void forget_deleted(struct server *s)
{
	struct wanted_set set = { .state_dir = s->opts.state_dir };
	struct wanted *w, *next;
	for (int k = 0; k < KIND_COUNT; k++)
		for (size_t i = 0; i < store_count(s->store, (enum store_kind)k); i++)
			want_owners(&set, store_at(s->store, (enum store_kind)k, i));
	store_forget_deleted(s->store, is_wanted, &set);
	HASH_ITER(hh, set.owners, w, next) {
		HASH_DEL(set.owners, w);
		free(w);
	}
}

bool kubelet_volumes_open(struct server *s, struct err *err)
{
	static const char *const kinds[] = { "pods", "volumes", "trash" };
	static const char *const swept[] = { "", "tls", "pods", "volumes", "quarantine" };
	for (int i = 0; i < 3; i++) {
		char *path = path_join(s->opts.state_dir, kinds[i]);
		bool ok = file_make_dirs(path, 0700, err);
		free(path);
		if (!ok)
			return false;
	}
	for (size_t i = 0; i < sizeof swept / sizeof swept[0]; i++)
		sweep_temps(s->opts.state_dir, swept[i]);
	sort_strays(s, "pods");
	sort_strays(s, "volumes");
	forget_deleted(s);
	if (is_trash_left(s))
		empty_trash(s);
	return true;
}
