// SPDX-License-Identifier: Apache-2.0
/* A bounded walk over what a sandbox wrote, while it writes. */
#include "local/isolation/usage_internal.h"

#include "engine/base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_BYTES = 512, SPARE_FILES = 32, SEEN_BEGIN = 1024 };

struct isolation_walk {
	uint64_t device;
	uint64_t max_inodes;
	int max_depth;
	struct isolation_seen *seen;
	struct isolation_usage *usage;
};

static size_t slot_of(const struct isolation_seen *seen, uint64_t device, uint64_t inode)
{
	uint64_t hash = (inode ^ device << 32) * 0x9E3779B97F4A7C15u;
	size_t at = (size_t)(hash >> 20) & (seen->capacity - 1);
	while (seen->slots[at].inode != 0 &&
		(seen->slots[at].inode != inode || seen->slots[at].device != device))
		at = (at + 1) & (seen->capacity - 1);
	return at;
}

static void grow(struct isolation_seen *seen)
{
	struct isolation_seen old = *seen;
	seen->capacity = old.capacity ? old.capacity * 2 : SEEN_BEGIN;
	seen->slots = x_calloc(seen->capacity, sizeof *seen->slots);
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].inode != 0)
			seen->slots[slot_of(seen, old.slots[i].device, old.slots[i].inode)] =
				old.slots[i];
	free(old.slots);
}

bool isolation_seen_add(struct isolation_seen *seen, uint64_t device, uint64_t inode)
{
	if (inode == 0)
		return true;
	if (seen->n * 2 >= seen->capacity)
		grow(seen);
	size_t at = slot_of(seen, device, inode);
	if (seen->slots[at].inode != 0)
		return false;
	seen->slots[at] = (struct isolation_seen_file){ device, inode };
	seen->n++;
	return true;
}

void isolation_seen_deinit(struct isolation_seen *seen)
{
	free(seen->slots);
	*seen = (struct isolation_seen){ 0 };
}

static void walk_folder(struct isolation_walk *walk, int fd_take, int depth);

static void enter(struct isolation_walk *walk, int parent, const char *name, int depth)
{
	struct stat st;
	if (depth > walk->max_depth) {
		walk->usage->is_too_deep = true;
		return;
	}
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		/* anything else is a tree that changes under us */
		walk->usage->closed_folders += errno == EACCES || errno == EPERM;
		walk->usage->is_too_deep = walk->usage->is_too_deep || errno == EMFILE;
	} else if (fstat(fd, &st) != 0 || st.st_dev != walk->device) {
		close(fd);
	} else {
		walk_folder(walk, fd, depth);
	}
}

static void walk_folder(struct isolation_walk *walk, int fd, int depth)
{
	DIR *d = fdopendir(fd);
	struct isolation_usage *usage = walk->usage;
	struct dirent *e;
	if (d == NULL) {
		close(fd);
		return;
	}
	while (!usage->is_cut && (e = readdir(d)) != NULL) {
		struct stat st;
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			st.st_dev != walk->device)
			continue;
		bool is_folder = S_ISDIR(st.st_mode);
		if (!is_folder && st.st_nlink > 1 &&
			!isolation_seen_add(walk->seen, st.st_dev, st.st_ino))
			continue;
		usage->inodes++;
		usage->bytes += (uint64_t)st.st_blocks * BLOCK_BYTES;
		usage->is_cut = walk->max_inodes > 0 && usage->inodes > walk->max_inodes;
		if (is_folder)
			enter(walk, fd, e->d_name, depth + 1);
	}
	closedir(d);
}

void isolation_usage_tree(int root_fd, uint64_t device,
	const struct isolation_usage_where *where, struct isolation_seen *seen,
	struct isolation_usage *usage)
{
	struct rlimit files;
	struct isolation_walk walk = { device, where->max_inodes, USAGE_MAX_DEPTH, seen,
		usage };
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
		if (files.rlim_max < USAGE_MAX_DEPTH + SPARE_FILES)
			walk.max_depth = (int)files.rlim_max - SPARE_FILES;
	}
	enter(&walk, root_fd, ".", 0);
}
