// SPDX-License-Identifier: Apache-2.0
/* Host paths for a process that is about to lose its privileges. A backend that root started gives each sandbox a host
 * user of its own, who may not walk through root's folders; so what the sandbox is to see is mounted, before the
 * change of user, on a small tmpfs in a mount namespace of the starting process alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct stage {
	struct stage_entry {
		char *from, *to;
		bool is_dir;
	} * entries;
	size_t n, capacity;
};

/* The path under which `path` is found after stage_enter(); borrowed from the stage. */
const char *stage_add(struct stage *stage, const char *path);
/* Between fork and exec, as root: only system calls. False with errno. */
bool stage_enter(const struct stage *stage);
void stage_deinit(struct stage *stage);
