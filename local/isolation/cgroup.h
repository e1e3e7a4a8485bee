// SPDX-License-Identifier: Apache-2.0
/* A cgroup for one sandbox where this process may make one (cgroup_place.h). Where it may not, nothing happens and the
 * limits that only cgroups know do not hold. */
#pragma once

#include "local/isolation/cgroup_place.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct spawn_limits;

struct cgroup *cgroup_new(const char *name, const struct spawn_limits *limits); /* NULL: none */
void cgroup_free(struct cgroup *cgroup);                                        /* removes it */
void cgroup_join(const struct cgroup *cgroup); /* the calling process; between fork and exec */
void cgroup_kill(const struct cgroup *cgroup); /* everything in it */
/* Processes that were killed at the memory limit since cgroup_new(). */
uint64_t cgroup_oom_kills(const struct cgroup *cgroup);
/* The limit of this controller was set. */
bool cgroup_has(const struct cgroup *cgroup, enum cgroup_controller controller);
/* And this process is held by it. */
bool cgroup_holds(const struct cgroup *cgroup, enum cgroup_controller controller, pid_t pid);
