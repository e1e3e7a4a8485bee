// SPDX-License-Identifier: Apache-2.0
/* Where this process may make cgroups with limits (Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/). Nobody but root
 * may by himself: others need a folder that was given to them, by systemd (Delegate=yes) or by chown.
 *
 *   v2, delegated   our own group is ours alone: this process moves to a leaf in it, the sandboxes get groups beside the
 *                   leaf, since a group with processes of its own cannot limit groups below it
 *   v2, otherwise   beside our own group, or at the root, which is free of that rule
 *   v1              below our own group of each hierarchy, or at its root */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum isolation_cgroup_controller {
	CGROUP_MEMORY,
	CGROUP_PIDS,
	CGROUP_CPU,
	CGROUP_CONTROLLER_COUNT
};
extern const char *const isolation_cgroup_controller_names[CGROUP_CONTROLLER_COUNT];

struct isolation_cgroup_place {
	char *dir; /* a folder "…/sandmux" for one group a sandbox; NULL: there is none */
	bool is_v2;
	char why[160]; /* why there is none */
};

struct isolation_cgroup_places {
	struct isolation_cgroup_place of[CGROUP_CONTROLLER_COUNT];
};

/* Looks, tries, and may move this process into a leaf. root: "/sys/fs/cgroup", self: "/proc/self/cgroup". */
void isolation_cgroup_places_find(
	struct isolation_cgroup_places *places, const char *root, const char *self);
void isolation_cgroup_places_deinit(struct isolation_cgroup_places *places);
/* Removes groups that a killed backend left: those in this folder that nothing is in, and that are this old. */
void isolation_cgroup_place_sweep(const char *dir, int64_t older_than_ms);
/* Those of this process, found (and swept) at the first call. */
const struct isolation_cgroup_places *isolation_cgroup_places_own(void);
/* Makes the folder again if it went with the last sandbox. */
bool isolation_cgroup_place_open(const struct isolation_cgroup_place *place);

/* One value into one file of a group. */
bool isolation_cgroup_put(const char *dir, const char *file, const char *value);
