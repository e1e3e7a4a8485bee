// SPDX-License-Identifier: Apache-2.0
/* What a sandbox uses of disk and memory, measured from outside in a niced process of its own, so that the loop never
 * waits for a disk and a walk can be ended at any time.
 *
 * Disk: allocated blocks and inodes of the workspace's tree, hard links counted once, links never followed, other
 * devices never entered; and deleted files that its processes still hold open. Folders without rights are counted
 * too: as root, or with the rights over one's own files that a user namespace gives.
 * Memory: anonymous memory and swap of its processes; what lies in its tmpfs mounts, memfds and SysV segments.
 *
 * Not seen: deleted files that are only mapped, or under way in a socket. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct net_loop;

struct isolation_usage_where {
	const char *workspace; /* host folder; borrowed for the call */
	pid_t daemon; /* first process of the sandbox, as the host numbers it; 0: not known */
	bool is_isolated;    /* it has mounts and namespaces of its own */
	uint64_t max_inodes; /* the walk ends above; 0: none */
	uint64_t
		max_memory_bytes; /* below it, memory is an upper bound, which is cheaper; 0: always exact */
};

enum isolation_usage_what {
	USAGE_TREE = 1,
	USAGE_MEMORY = 2
}; /* bits; mounts are always looked at */

struct isolation_usage_mount { /* size 0: there is none, or it cannot be seen */
	uint64_t size_bytes, used_bytes, inodes;
};
enum isolation_usage_mount_id { USAGE_TMP, USAGE_SHM, USAGE_RUN, USAGE_MOUNT_COUNT };
extern const char *const isolation_usage_mount_paths[USAGE_MOUNT_COUNT]; /* "/tmp", … */

struct isolation_usage {
	uint64_t bytes, inodes;  /* of the workspace */
	uint64_t deleted_bytes;  /* part of bytes: deleted and still open */
	uint64_t closed_folders; /* that could not be entered */
	bool is_cut;             /* more inodes than max_inodes: the rest was not counted */
	bool is_too_deep;        /* folders nested deeper than USAGE_MAX_DEPTH: not counted */
	struct isolation_usage_mount mounts[USAGE_MOUNT_COUNT];
	uint64_t memory_bytes;
	uint64_t
		cpu_ns; /* of its processes and the children that they waited for; in clock ticks */
	int64_t began_ms; /* when the processes were read, monotonic */
	uint32_t processes;
	int64_t took_ms;
};
/* Memory and swap that this machine has left; 0: not known. Does not block. */
uint64_t isolation_usage_available_memory(void);
/* Without swap. */
uint64_t isolation_usage_free_memory(void);
/* More than a path name can hold. */
enum { USAGE_MAX_DEPTH = 2000 };

/* usage: borrowed for the call; NULL with *err: the measuring process failed. */
typedef void isolation_usage_fn(
	void *arg, const struct isolation_usage *usage, const struct err *err);
struct isolation_usage_look;
struct isolation_usage_look *isolation_usage_look_start(struct net_loop *loop,
	const struct isolation_usage_where *where, unsigned what, isolation_usage_fn *done,
	void *arg, struct err *err);
void isolation_usage_look_cancel(struct isolation_usage_look *look); /* NULL is fine */
