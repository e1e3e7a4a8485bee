// SPDX-License-Identifier: Apache-2.0
/* Shared by usage.c (the process that measures), isolation_usage_tree.c (disk) and usage_procs.c (processes and memory). All of it
 * runs in that process and may block. */
#pragma once

#include "local/isolation/usage.h"

#include <stddef.h>

/* Files that were counted, by device and inode. */
struct isolation_seen_file {
	uint64_t device, inode;
};
struct isolation_seen {
	struct isolation_seen_file *slots; /* inode 0: free */
	size_t n, capacity;
};
bool isolation_seen_add(
	struct isolation_seen *seen, uint64_t device, uint64_t inode); /* false: it was there */
void isolation_seen_deinit(struct isolation_seen *seen);

/* Adds the tree to usage. */
void isolation_usage_tree(int root_fd, uint64_t device,
	const struct isolation_usage_where *where, struct isolation_seen *seen,
	struct isolation_usage *usage);

/* The sandbox's processes and its mounts, as far as this process may look. */
struct isolation_usage_procs {
	pid_t *pids;
	size_t n;
	uint64_t cpu_ns; /* theirs, and of the children that they waited for */
	uint64_t anon_bytes, shared_bytes; /* shared memory that is mapped */
	uint64_t held_bytes; /* memfds and other deleted files that are not on a disk */
};
void isolation_usage_procs_find(
	const struct isolation_usage_where *where, struct isolation_usage_procs *procs);
void isolation_usage_procs_deinit(struct isolation_usage_procs *procs);
void isolation_usage_mounts(
	const struct isolation_usage_where *where, struct isolation_usage *usage);
/* Deleted open files: to usage (those on the workspace's device) or to procs->held_bytes. */
void isolation_usage_deleted(const struct isolation_usage_where *where, uint64_t device,
	struct isolation_usage_procs *procs, struct isolation_seen *seen,
	struct isolation_usage *usage);
void isolation_usage_memory(struct isolation_usage_procs *procs, bool is_exact);
uint64_t isolation_usage_sysv_bytes(void); /* of the IPC namespace of this process */
