// SPDX-License-Identifier: Apache-2.0
/* A cgroup for one sandbox where this process may make one: v2 beside its own, v1 below its own in each
 * hierarchy. Where it may not, nothing happens and the limits that only cgroups know do not hold. */
#pragma once

#include <stdbool.h>

struct cgroup;
struct spawn_limits;

struct cgroup *cgroup_new(const char *name, const struct spawn_limits *limits); /* NULL: none */
void cgroup_free(struct cgroup *cgroup);                                        /* removes it */
void cgroup_join(const struct cgroup *cgroup); /* the calling process; between fork and exec */
void cgroup_kill(const struct cgroup *cgroup); /* everything in it */
bool cgroup_was_oom(const struct cgroup *cgroup);
bool cgroup_has(
	const struct cgroup *cgroup, const char *controller); /* "memory", "pids", "cpu" */
const char *cgroup_text(const struct cgroup *cgroup);
