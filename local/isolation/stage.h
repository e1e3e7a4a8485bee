// SPDX-License-Identifier: Apache-2.0
/* Host paths for a process that is about to lose its privileges. A backend that root started gives each sandbox a host
 * user of its own, who may not walk through root's folders; so what the sandbox is to see is mounted, before the
 * change of user, on a small tmpfs in a mount namespace of the starting process alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct isolation_stage {
	struct isolation_stage_entry {
		char *from, *to;
		bool is_dir;
	} * entries;
	size_t n, capacity;
};

/* The path under which `path` is found after isolation_stage_enter(); borrowed from the stage. */
const char *isolation_stage_add(struct isolation_stage *stage, const char *path);
/* Between fork and exec, as root: only system calls. False with errno. */
bool isolation_stage_enter(const struct isolation_stage *stage);
void isolation_stage_deinit(struct isolation_stage *stage);
