// SPDX-License-Identifier: Apache-2.0
/* Folders of a tree. Local ones are opened from their parent's descriptor, one name at a time, and never through
 * a link: whatever a sandbox calls its entries, and whatever appears on the disk meanwhile, nothing
 * outside the target folder is reached. Descriptors live only while a job uses the folder. */
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC };

struct transfer_directory *transfer_directory_new(
	struct transfer_directory *parent, const char *name)
{
	struct transfer_directory *dir = x_calloc(1, sizeof *dir);

	dir->parent = parent ? transfer_directory_ref(parent) : NULL;
	dir->depth = parent ? parent->depth + 1 : 0;
	dir->name = x_strdup(name);
	dir->refs = 1;
	dir->from_fd = dir->to_fd = -1;
	dir->mode = -1;
	dir->modified_s = -1;
	return dir;
}

struct transfer_directory *transfer_directory_ref(struct transfer_directory *dir)
{
	dir->refs++;
	return dir;
}

void transfer_directory_unref(struct transfer_directory *dir)
{
	while (dir && --dir->refs == 0) {
		struct transfer_directory *parent = dir->parent;
		if (dir->from_fd >= 0)
			close(dir->from_fd);
		if (dir->to_fd >= 0)
			close(dir->to_fd);
		free(dir->name);
		free(dir);
		dir = parent;
	}
}

/* ---- source */
int transfer_directory_use_from(
	struct transfer *transfer, struct transfer_directory *dir, struct err *err)
{
	if (dir->from_fd < 0) {
		if (!dir->parent) {
			dir->from_fd = open(transfer->from.root, OPEN_DIR);
		} else {
			int parent = transfer_directory_use_from(transfer, dir->parent, err);
			if (parent < 0)
				return -1;
			dir->from_fd = openat(parent, dir->name, OPEN_DIR | O_NOFOLLOW);
			int error = errno;
			transfer_directory_release_from(dir->parent);
			errno = error;
		}
		if (dir->from_fd < 0) {
			err_set_errno(
				err, errno, "%s", dir->name ? dir->name : transfer->from.root);
			return -1;
		}
	}
	dir->from_users++;
	return dir->from_fd;
}

void transfer_directory_release_from(struct transfer_directory *dir)
{
	if (--dir->from_users > 0)
		return;
	close(dir->from_fd);
	dir->from_fd = -1;
}

/* ---- target */
static int make_and_open(int parent, const char *name, bool *is_new, struct err *err)
{
	*is_new = mkdirat(parent, name, 0777) == 0;
	if (!*is_new && errno != EEXIST) {
		err_set_errno(err, errno, "cannot make the folder %s", name);
		return -1;
	}
	int fd = openat(parent, name, OPEN_DIR | O_NOFOLLOW);
	if (fd >= 0)
		return fd;
	struct stat st;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		err_set(err, ERR_FILE_NOT_DIR, "%s is a link: it is not followed", name);
	else
		err_set_errno(err, errno, "%s", name);
	return -1;
}

static int open_top(struct transfer *transfer, struct transfer_directory *dir, struct err *err)
{
	const struct transfer_internal_end *to = &transfer->to;
	bool is_new = false;

	int fd = open(to->root, OPEN_DIR);
	if (fd < 0 && errno == ENOENT && to->makes_root) {
		is_new = mkdir(to->root, 0777) == 0;
		fd = open(to->root, OPEN_DIR);
	}
	if (fd < 0) {
		err_set_errno(err, errno, "%s", to->root);
		return -1;
	}
	if (to->top) {
		int top = make_and_open(fd, to->top, &is_new, err);
		close(fd);
		fd = top;
	}
	dir->to_is_new |= is_new;
	return fd;
}

int transfer_directory_use_to(
	struct transfer *transfer, struct transfer_directory *dir, struct err *err)
{
	if (dir->to_fd < 0) {
		if (!dir->parent) {
			dir->to_fd = open_top(transfer, dir, err);
		} else {
			int parent = transfer_directory_use_to(transfer, dir->parent, err);
			if (parent < 0)
				return -1;
			bool is_new;
			dir->to_fd = make_and_open(parent, dir->name, &is_new, err);
			dir->to_is_new |= is_new;
			transfer_directory_release_to(dir->parent);
		}
		if (dir->to_fd < 0)
			return -1;
		if (!dir->is_swept && !dir->to_is_new)
			transfer_temp_sweep(dir->to_fd);
		dir->is_swept = true;
	}
	dir->to_users++;
	return dir->to_fd;
}

void transfer_directory_release_to(struct transfer_directory *dir)
{
	if (--dir->to_users > 0)
		return;
	close(dir->to_fd);
	dir->to_fd = -1;
}

bool transfer_directory_is_same(
	const struct transfer_directory *a, const struct transfer_directory *b)
{
	return a && b && a->has_id && b->has_id && a->device == b->device &&
	       a->inode == b->inode;
}

bool transfer_directory_is_loop(const struct transfer_directory *dir)
{
	for (const struct transfer_directory *up = dir->parent; up; up = up->parent)
		if (transfer_directory_is_same(dir, up))
			return true;
	return false;
}

/* ---- paths */
char *transfer_directory_relative(const struct transfer_directory *dir, const char *name)
{
	char *path = x_strdup(name ? name : "");

	for (; dir->parent; dir = dir->parent) {
		char *longer = *path ? path_join(dir->name, path) : x_strdup(dir->name);
		free(path);
		path = longer;
	}
	return path;
}

static char *below(const char *root, char *relative)
{
	char *path = *relative ? path_join(root, relative) : x_strdup(root);

	free(relative);
	return path;
}

char *transfer_directory_from_path(
	const struct transfer *transfer, const struct transfer_directory *dir, const char *name)
{
	return below(transfer->from.root, transfer_directory_relative(dir, name));
}

char *transfer_directory_to_path(
	const struct transfer *transfer, const struct transfer_directory *dir, const char *name)
{
	const struct transfer_internal_end *to = &transfer->to;

	if (!to->top)
		return below(to->root, transfer_directory_relative(dir, name));
	char *root = path_join(to->root, to->top);
	char *path = below(root, transfer_directory_relative(dir, name));
	free(root);
	return path;
}
