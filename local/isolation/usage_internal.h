// SPDX-License-Identifier: Apache-2.0
/* Shared by usage.c (the process that measures), usage_tree.c (disk) and usage_procs.c (processes and memory). All of it
 * runs in that process and may block. */
#pragma once

#include "local/isolation/usage.h"

#include <stddef.h>

/* Files that were counted, by device and inode. */
struct seen_file {
	uint64_t device, inode;
};
struct seen {
	struct seen_file *slots; /* inode 0: free */
	size_t n, capacity;
};
bool seen_add(struct seen *seen, uint64_t device, uint64_t inode); /* false: it was there */
void seen_deinit(struct seen *seen);

/* Adds the tree to usage. */
void usage_tree(int root_fd, uint64_t device, const struct usage_where *where,
	struct seen *seen, struct usage *usage);

/* The sandbox's processes and its mounts, as far as this process may look. */
struct usage_procs {
	pid_t *pids;
	size_t n;
	uint64_t anon_bytes, shared_bytes; /* shared memory that is mapped */
	uint64_t held_bytes; /* memfds and other deleted files that are not on a disk */
};
void usage_procs_find(const struct usage_where *where, struct usage_procs *procs);
void usage_procs_deinit(struct usage_procs *procs);
void usage_mounts(const struct usage_where *where, struct usage *usage);
/* Deleted open files: to usage (those on the workspace's device) or to procs->held_bytes. */
void usage_deleted(const struct usage_where *where, uint64_t device, struct usage_procs *procs,
	struct seen *seen, struct usage *usage);
void usage_memory(struct usage_procs *procs, bool is_exact);
uint64_t usage_sysv_bytes(void); /* of the IPC namespace of this process */
