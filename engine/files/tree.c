// SPDX-License-Identifier: Apache-2.0
// Local trees, counted or deleted.
//
// A stack of open folders; a slice takes entries from the one on top, opens what is a folder and is not a link
// (O_NOFOLLOW under the folder's own descriptor: nobody can swap a path under us), and removes it when it is empty.
#include "tui/views/files/tree.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SLICE_MS = 4, SLICE_CHECK = 32 };

struct level {
	DIR *dir;
	char *name; /* in the level below */
	bool was_read_again;
};

struct views_tree {
	struct net_loop *loop;
	struct net_loop_timer *slice;
	bool is_deleting;
	int base_fd;
	char **names;
	size_t n, at;
	struct level levels[TREE_DEPTH_MAX];
	size_t depth;
	struct views_files_tree_totals totals;
	struct err first;
	void (*done)(
		void *arg, const struct err *err, const struct views_files_tree_totals *totals);
	void *arg;
};

static void pop(struct views_tree *tree)
{
	struct level *level = &tree->levels[--tree->depth];
	closedir(level->dir);
	free(level->name);
}

void views_files_tree_cancel(struct views_tree *tree)
{
	if (!tree)
		return;
	while (tree->depth)
		pop(tree);
	net_loop_timer_free(tree->slice);
	if (tree->base_fd >= 0)
		close(tree->base_fd);
	for (size_t i = 0; i < tree->n; i++)
		free(tree->names[i]);
	free(tree->names);
	free(tree);
}

static void free_later(void *arg)
{
	views_files_tree_cancel(arg);
}

static void failed(struct views_tree *tree, int errnum, const char *what, const char *name)
{
	if (tree->totals.failed++ == 0)
		err_set_errno(&tree->first, errnum, "%s %s", what, name);
}

static int fd_on_top(const struct views_tree *tree)
{
	return tree->depth ? dirfd(tree->levels[tree->depth - 1].dir) : tree->base_fd;
}

static void enter(struct views_tree *tree, const char *name)
{
	if (tree->depth == TREE_DEPTH_MAX) {
		failed(tree, ELOOP, "too deep:", name);
		return;
	}
	int fd = openat(fd_on_top(tree), name,
		O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir) {
		failed(tree, errno, "cannot open", name);
		if (fd >= 0)
			close(fd);
		return;
	}
	tree->levels[tree->depth++] = (struct level){ dir, x_strdup(name), false };
}

static void take(struct views_tree *tree, const char *name)
{
	struct stat st;
	int fd = fd_on_top(tree);
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT)
			failed(tree, errno, "cannot look at", name);
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		tree->totals.folders += !tree->is_deleting;
		enter(tree, name);
		return;
	}
	if (tree->is_deleting && unlinkat(fd, name, 0) < 0 && errno != ENOENT) {
		failed(tree, errno, "cannot delete", name);
		return;
	}
	if (S_ISLNK(st.st_mode))
		tree->totals.links++;
	else
		tree->totals.files++;
	if (S_ISREG(st.st_mode))
		tree->totals.bytes += (uint64_t)st.st_size;
}

/* The folder on top has no more entries. */
static void leave(struct views_tree *tree)
{
	struct level *level = &tree->levels[tree->depth - 1];
	char *name = x_strdup(level->name);
	uint64_t failed_before = tree->totals.failed;
	bool was_read_again = level->was_read_again;
	if (!tree->is_deleting) {
		pop(tree);
		free(name);
		return;
	}
	int below = tree->depth > 1 ? dirfd(tree->levels[tree->depth - 2].dir) : tree->base_fd;
	if (unlinkat(below, name, AT_REMOVEDIR) == 0 || errno == ENOENT) {
		tree->totals.folders++;
		pop(tree);
	} else if ((errno == ENOTEMPTY || errno == EEXIST) && !was_read_again &&
		   !failed_before) {
		/* entries can be passed over while others are deleted: look once more */
		level->was_read_again = true;
		rewinddir(level->dir);
	} else {
		failed(tree, errno, "cannot delete", name);
		pop(tree);
	}
	free(name);
}

/* False: everything is done. */
static bool take_step(struct views_tree *tree)
{
	const struct views_files_tree_totals *t = &tree->totals;
	if (!tree->is_deleting && t->files + t->folders + t->links >= TREE_COUNT_MAX) {
		tree->totals.is_cut = true;
		return false;
	}
	if (!tree->depth) {
		if (tree->at == tree->n)
			return false;
		take(tree, tree->names[tree->at++]);
		return true;
	}
	errno = 0;
	const struct dirent *entry = readdir(tree->levels[tree->depth - 1].dir);
	if (!entry && errno) {
		failed(tree, errno, "cannot read", tree->levels[tree->depth - 1].name);
		pop(tree);
	} else if (!entry) {
		leave(tree);
	} else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
		take(tree, entry->d_name);
	}
	return true;
}

static void on_slice(void *arg)
{
	struct views_tree *tree = arg;
	int64_t end_ms = clock_mono_ms() + SLICE_MS;
	for (int i = 1; take_step(tree); i++) {
		if (i % SLICE_CHECK || clock_mono_ms() < end_ms)
			continue;
		net_loop_timer_arm(tree->slice, 0);
		return;
	}
	tree->done(tree->arg, tree->totals.failed ? &tree->first : NULL, &tree->totals);
	net_loop_defer(tree->loop, free_later, tree);
}

struct views_tree *views_files_tree_start(struct net_loop *loop, const char *dir,
	const char *const *names, size_t n, bool is_deleting,
	void (*done)(
		void *arg, const struct err *err, const struct views_files_tree_totals *totals),
	void *arg, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!path_is_safe_name(names[i], strlen(names[i]))) {
			err_set(err, ERR_ARG_PATH, "'%s' is no entry of a folder", names[i]);
			return NULL;
		}
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		err_set_errno(err, errno, "%s", dir);
		return NULL;
	}
	struct views_tree *tree = x_calloc(1, sizeof *tree);
	tree->loop = loop;
	tree->base_fd = fd;
	tree->is_deleting = is_deleting;
	tree->names = x_calloc(n + 1, sizeof *tree->names);
	tree->n = n;
	for (size_t i = 0; i < n; i++)
		tree->names[i] = x_strdup(names[i]);
	tree->done = done;
	tree->arg = arg;
	tree->slice = net_loop_timer_new(loop, on_slice, tree);
	net_loop_timer_arm(tree->slice, 0);
	return tree;
}
