// SPDX-License-Identifier: Apache-2.0
/* A cgroup for the backend from systemd: a transient scope with Delegate=yes (systemd-run(1), systemd.resource-control(5)),
 * of the user's own manager, or of the system's for root. Not for use outside of this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SCOPE_WORDS = 8 };
/* The words to put before a command; how many. */
size_t control_scope_prefix(char *words[static SCOPE_WORDS]);
/* Does a manager answer, and start a program so? Tries; blocks for at most 3 s. private_fd: not for that program. */
bool control_scope_works(int private_fd);
