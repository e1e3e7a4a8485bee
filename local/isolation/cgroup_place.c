// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/cgroup_place.h"

#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 64 << 10, LEFT_MS = 60000 };

const char *const isolation_cgroup_controller_names[CGROUP_CONTROLLER_COUNT] = {
	[CGROUP_MEMORY] = "memory", [CGROUP_PIDS] = "pids", [CGROUP_CPU] = "cpu"
};

static const char leaf_name[] = "sandmux-backend", folder_name[] = "sandmux";

bool isolation_cgroup_put(const char *dir, const char *file, const char *value)
{
	char *path = x_asprintf("%s/%s", dir, file);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return false;
	bool ok = write(fd, value, strlen(value)) == (ssize_t)strlen(value);
	int errnum = errno;
	close(fd);
	errno = errnum;
	return ok;
}

static bool has_name(const char *list, size_t n, const char *name)
{
	size_t name_n = strlen(name);
	for (size_t at = 0; at < n;) {
		size_t word = strcspn(list + at, ", :\n");
		if (at + word <= n && word == name_n && strncmp(list + at, name, word) == 0)
			return true;
		at += word + 1;
	}
	return false;
}

/* The path of this process in a hierarchy, from lines "ID:controllers:path": "" is v2, otherwise a v1 controller, which
 * may share its hierarchy with others ("cpu,cpuacct"). malloc'ed or NULL. */
static char *own_path(const char *self, const char *controller)
{
	size_t n;
	char *text = file_read(self, MAX_FILE_BYTES, &n, NULL);
	char *found = NULL, *save = NULL;
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL;
		line != NULL && found == NULL; line = strtok_r(NULL, "\n", &save)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;
		if (path == NULL)
			continue;
		size_t names_n = (size_t)(path - ++names);
		if (*controller == '\0' ? names_n == 0 : has_name(names, names_n, controller))
			found = x_strdup(path + 1);
	}
	free(text);
	return found;
}

static bool make_dir(const char *path)
{
	return mkdir(path, 0755) == 0 || errno == EEXIST;
}

static void enable(const char *dir)
{
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		char word[16];
		snprintf(word, sizeof word, "+%s", isolation_cgroup_controller_names[i]);
		isolation_cgroup_put(dir, "cgroup.subtree_control", word);
	}
}

static bool is_listed(const char *dir, const char *file, const char *controller)
{
	size_t n;
	char *path = x_asprintf("%s/%s", dir, file);
	char *text = file_read(path, MAX_FILE_BYTES, &n, NULL);
	bool is = text != NULL && has_name(text, n, controller);
	free(text);
	free(path);
	return is;
}

/* ---- v2 ---- */

/* The folder for sandboxes below parent gets what parent can hand down; true if that is anything. */
static bool offer_v2(struct isolation_cgroup_places *places, const char *parent)
{
	char *dir = x_asprintf("%s/%s", parent, folder_name);
	bool is_any = false;
	if (!make_dir(dir)) {
		int errnum = errno;
		for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
			snprintf(places->of[i].why, sizeof places->of[i].why,
				"no cgroup can be made in %.100s: %s", parent,
				strerror(errnum));
		free(dir);
		return false;
	}
	enable(dir);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		struct isolation_cgroup_place *place = &places->of[i];
		const char *name = isolation_cgroup_controller_names[i];
		if (is_listed(dir, "cgroup.subtree_control", name)) {
			is_any = true;
			place->dir = x_strdup(dir);
			place->is_v2 = true;
			place->why[0] = '\0';
		} else {
			snprintf(place->why, sizeof place->why,
				"the %s controller is not handed down to %.100s", name, parent);
		}
	}
	if (!is_any)
		rmdir(dir);
	free(dir);
	return is_any;
}

/* Our own group belongs to us: out of it into a leaf, and the controllers on. Back again if others live there too. */
static bool try_delegated(struct isolation_cgroup_places *places, const char *own)
{
	char *procs = x_asprintf("%s/cgroup.procs", own);
	char *leaf = x_asprintf("%s/%s", own, leaf_name);
	bool may = access(procs, W_OK) == 0 && make_dir(leaf);
	bool ok = false;
	if (may && isolation_cgroup_put(leaf, "cgroup.procs", "0")) {
		enable(own);
		ok = offer_v2(places, own);
		if (!ok)
			isolation_cgroup_put(own, "cgroup.procs", "0");
	}
	if (may && !ok)
		rmdir(leaf);
	free(procs);
	free(leaf);
	return ok;
}

/* A controller reaches a group only through every group above it. */
static void enable_down_to(const char *root, const char *dir)
{
	char *path = x_strdup(dir);
	for (size_t at = strlen(root); geteuid() == 0; at += strcspn(path + at, "/")) {
		char kept = path[at];
		path[at] = '\0';
		enable(path);
		path[at] = kept;
		if (kept == '\0')
			break;
		at++;
	}
	free(path);
}

static void find_v2(struct isolation_cgroup_places *places, const char *root, const char *path)
{
	bool is_root = strcmp(path, "/") == 0;
	char *own = x_asprintf("%s%s", root, is_root ? "" : path);
	/* the root of all has no type; that of a container has */
	char *type = x_asprintf("%s/cgroup.type", own);
	bool is_free = is_root && access(type, F_OK) != 0;
	if (!is_free && try_delegated(places, own)) {
		free(type);
		free(own);
		return;
	}
	if (!is_root)
		*strrchr(own, '/') = '\0';
	if (geteuid() == 0)
		enable_down_to(root, own);
	offer_v2(places, own);
	free(type);
	free(own);
}

/* ---- v1 ---- */

static bool try_v1(struct isolation_cgroup_place *place, const char *parent, bool is_first)
{
	char *dir = x_asprintf("%s/%s", parent, folder_name);
	bool ok = make_dir(dir) && access(dir, W_OK | X_OK) == 0;
	if (ok) {
		place->dir = dir;
		return true;
	}
	if (is_first)
		snprintf(place->why, sizeof place->why, "no cgroup can be made in %.100s: %s",
			parent, strerror(errno));
	free(dir);
	return false;
}

static void find_v1(struct isolation_cgroup_place *place, const char *root, const char *path,
	int controller)
{
	const char *name = isolation_cgroup_controller_names[controller];
	char *base = x_asprintf("%s/%s", root, name);
	char *own = x_asprintf("%s%s", base, strcmp(path, "/") == 0 ? "" : path);
	/* inside a container the path is that of the host: the mount begins at our own group */
	if (!try_v1(place, own, true))
		try_v1(place, base, false);
	free(own);
	free(base);
}

void isolation_cgroup_places_find(
	struct isolation_cgroup_places *places, const char *root, const char *self)
{
	char *controllers = x_asprintf("%s/cgroup.controllers", root);
	char *path = own_path(self, "");
	*places = (struct isolation_cgroup_places){ 0 };
	if (path != NULL && *path == '/' && access(controllers, R_OK) == 0)
		find_v2(places, root, path);
	free(path);
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		struct isolation_cgroup_place *place = &places->of[i];
		path = place->dir ? NULL : own_path(self, isolation_cgroup_controller_names[i]);
		if (path != NULL && *path == '/')
			find_v1(place, root, path, i);
		free(path);
		if (place->dir == NULL && place->why[0] == '\0')
			snprintf(place->why, sizeof place->why,
				"this kernel offers no %s cgroup here",
				isolation_cgroup_controller_names[i]);
	}
	free(controllers);
}

void isolation_cgroup_places_deinit(struct isolation_cgroup_places *places)
{
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
		free(places->of[i].dir);
	*places = (struct isolation_cgroup_places){ 0 };
}

void isolation_cgroup_place_sweep(const char *dir, int64_t older_than_ms)
{
	int64_t now = clock_wall_ms();
	DIR *d = opendir(dir);
	struct dirent *e;
	while (d != NULL && (e = readdir(d)) != NULL) {
		struct stat st;
		/* one that another backend has just made is empty for a moment too; one that is in use does not go */
		if (e->d_name[0] != '.' &&
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISDIR(st.st_mode) &&
			now - (int64_t)st.st_mtim.tv_sec * 1000 >= older_than_ms)
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	}
	if (d != NULL)
		closedir(d);
}

const struct isolation_cgroup_places *isolation_cgroup_places_own(void)
{
	static struct isolation_cgroup_places places;
	static bool is_found;
	if (is_found)
		return &places;
	is_found = true;
	isolation_cgroup_places_find(&places, "/sys/fs/cgroup", "/proc/self/cgroup");
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++)
		if (places.of[i].dir != NULL)
			isolation_cgroup_place_sweep(places.of[i].dir, LEFT_MS);
	return &places;
}

bool isolation_cgroup_place_open(const struct isolation_cgroup_place *place)
{
	if (place->dir == NULL || !make_dir(place->dir))
		return false;
	if (place->is_v2)
		enable(place->dir);
	return true;
}
