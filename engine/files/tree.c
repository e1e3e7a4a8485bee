// SPDX-License-Identifier: Apache-2.0
/* Local trees, counted or deleted.
 *
 * A stack of open folders; a step takes an entry from the one on top, opens what is a folder and is not a link (O_NOFOLLOW
 * under the folder's own descriptor: nobody can swap a path under us), and removes it when it is empty. */
#include "engine/files/tree.h"

#include "engine/base/path.h"
#include "engine/files/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TREES_AT_ONCE = 2 };

struct level {
	DIR *dir;
	char *name; /* in the level below */
	bool was_read_again;
};

struct tree {
	struct files_tree *handle; /* only the loop's thread looks there */
	bool is_deleting;
	char *dir;
	int base_fd;
	char **names;
	size_t n, at;
	struct level levels[FILES_TREE_DEPTH_MAX];
	size_t depth;
	struct files_totals totals;
	atomic_uint_fast64_t n_passed;
	struct err first;
};

struct files_tree {
	struct files_op op; /* first */
	const struct tree *tree;
	void (*done)(void *arg, const struct err *err, const struct files_totals *totals);
	void *arg;
};

static void pop(struct tree *tree)
{
	struct level *level = &tree->levels[--tree->depth];
	closedir(level->dir);
	free(level->name);
}

static void failed(struct tree *tree, int errnum, const char *what, const char *name)
{
	if (tree->totals.failed++ == 0)
		err_set_errno(&tree->first, errnum, "%s %s", what, name);
}

static int fd_on_top(const struct tree *tree)
{
	return tree->depth ? dirfd(tree->levels[tree->depth - 1].dir) : tree->base_fd;
}

static void enter(struct tree *tree, const char *name)
{
	if (tree->depth == FILES_TREE_DEPTH_MAX) {
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

static void take(struct tree *tree, const char *name)
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
	atomic_fetch_add(&tree->n_passed, 1);
	if (S_ISREG(st.st_mode))
		tree->totals.bytes += (uint64_t)st.st_size;
}

/* The folder on top has no more entries. */
static void leave(struct tree *tree)
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
		atomic_fetch_add(&tree->n_passed, 1);
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
static bool take_step(struct tree *tree)
{
	const struct files_totals *t = &tree->totals;
	if (!tree->is_deleting && t->files + t->folders + t->links >= FILES_TREE_COUNT_MAX) {
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

static void run(void *arg, const atomic_bool *is_cancelled)
{
	struct tree *tree = arg;
	tree->base_fd = open(tree->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->base_fd < 0) {
		tree->totals.failed = 1;
		err_set_errno(&tree->first, errno, "%s", tree->dir);
		return;
	}
	while (!atomic_load(is_cancelled) && take_step(tree)) {
	}
}

static void tell(void *arg)
{
	struct tree *tree = arg;
	struct files_tree *handle = tree->handle;
	handle->op.work = NULL;
	handle->tree = NULL;
	files_op_end(&handle->op);
	handle->done(handle->arg, tree->totals.failed ? &tree->first : NULL, &tree->totals);
}

static void free_tree(void *arg)
{
	struct tree *tree = arg;
	while (tree->depth)
		pop(tree);
	if (tree->base_fd >= 0)
		close(tree->base_fd);
	for (size_t i = 0; i < tree->n; i++)
		free(tree->names[i]);
	free(tree->names);
	free(tree->dir);
	free(tree);
}

static const struct net_work_kind trees = { "tree", TREES_AT_ONCE, run, tell, free_tree };

uint64_t files_tree_n_passed(const struct files_op *op)
{
	const struct files_tree *handle = (const struct files_tree *)op;
	return handle->tree ? atomic_load(&handle->tree->n_passed) : 0;
}

struct files_op *files_tree_start(struct net_loop *loop, const char *dir,
	const char *const *names, size_t n, bool is_deleting,
	void (*done)(void *arg, const struct err *err, const struct files_totals *totals),
	void *arg, struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (!path_is_safe_name(names[i], strlen(names[i]))) {
			err_set(err, ERR_ARG_PATH, "'%s' is no entry of a folder", names[i]);
			return NULL;
		}
	struct files_tree *handle = files_op_new(sizeof *handle, loop, NULL, NULL);
	struct tree *tree = x_calloc(1, sizeof *tree);
	handle->done = done;
	handle->arg = arg;
	handle->tree = tree;
	tree->handle = handle;
	tree->base_fd = -1;
	tree->dir = x_strdup(dir);
	tree->is_deleting = is_deleting;
	tree->names = x_calloc(n + 1, sizeof *tree->names);
	tree->n = n;
	for (size_t i = 0; i < n; i++)
		tree->names[i] = x_strdup(names[i]);
	handle->op.work = net_work_start(loop, &trees, tree);
	return &handle->op;
}
