// SPDX-License-Identifier: Apache-2.0
/* Who a sandbox is on the host, where a backend that root started gives each one a user of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* A range that neither people, services nor container tools use (systemd's docs/UIDS-GIDS.md leaves it free). */
#define OWNER_FIRST 0x70000000u
#define OWNER_LAST 0x7fffffffu

bool isolation_owner_is_ours(uid_t uid);

/* Gives a folder and all in it to a user, without following links and without leaving its file system. Blocks as long
 * as that takes; done already for what that user owns. */
bool isolation_owner_change_tree(const char *path, uid_t uid, struct err *err);
