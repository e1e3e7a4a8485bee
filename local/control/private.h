// SPDX-License-Identifier: Apache-2.0
/* The state folder is trusted: its token opens the API, its pid file says whom to signal, its database whom to run. So
 * it must be ours alone, or nothing in it is read.
 * Errors: ERR_FILE_DENIED, errno. */
#pragma once

#include <stdbool.h>

struct err;

/* True if path is a folder of this user that nobody else can write into or look into, reached through folders that
 * nobody else can change (sticky ones like /tmp excepted), and everything in it is ours, private and of the
 * expected type: no links, no second names. A folder that others may only look into is made private.
 * ERR_FILE_DENIED with the path and the way out; ERR_FILE_NOT_FOUND if there is no such folder. */
bool control_private_check(const char *path, struct err *err);
