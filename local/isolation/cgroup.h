// SPDX-License-Identifier: Apache-2.0
/* A cgroup for one sandbox where this process may make one (cgroup_place.h). Where it may not, nothing happens and the
 * limits that only cgroups know do not hold. */
#pragma once

#include "local/isolation/cgroup_place.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct isolation_cgroup;
struct isolation_spawn_limits;

struct isolation_cgroup *isolation_cgroup_new(
	const char *name, const struct isolation_spawn_limits *limits); /* NULL: none */
void isolation_cgroup_free(struct isolation_cgroup *cgroup);            /* removes it */
void isolation_cgroup_join(
	const struct isolation_cgroup *cgroup); /* the calling process; between fork and exec */
void isolation_cgroup_kill(const struct isolation_cgroup *cgroup); /* everything in it */
/* Processes that were killed at the memory limit since isolation_cgroup_new(). */
uint64_t isolation_cgroup_oom_kills(const struct isolation_cgroup *cgroup);
/* Processor time of everything that was ever in it. False: the kernel does not count it here. */
bool isolation_cgroup_cpu_ns(const struct isolation_cgroup *cgroup, uint64_t *cpu_ns);
/* What it holds without the page cache that the kernel would give back first. */
bool isolation_cgroup_memory_bytes(
	const struct isolation_cgroup *cgroup, uint64_t *memory_bytes);
/* The limit of this controller was set. */
bool isolation_cgroup_has(
	const struct isolation_cgroup *cgroup, enum isolation_cgroup_controller controller);
/* And this process is held by it. */
bool isolation_cgroup_holds(const struct isolation_cgroup *cgroup,
	enum isolation_cgroup_controller controller, pid_t pid);
