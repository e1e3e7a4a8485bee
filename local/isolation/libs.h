// SPDX-License-Identifier: Apache-2.0
/* Which shared libraries a program loads from outside the system folders, so that they can be made
 * visible in a sandbox too. */
#pragma once

#include <stddef.h>

/* Absolute paths, NULL-terminated; isolation_libs_free(). Empty for a static program or when the loader does not
 * say. The answer for the last program asked is remembered. */
char **isolation_libs_outside_system(const char *program);
void isolation_libs_free(char **paths);
