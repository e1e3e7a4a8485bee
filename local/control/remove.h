// SPDX-License-Identifier: Apache-2.0
/* Deleting trees that a sandbox has written: no link is followed, no permission in the way. */
#pragma once

/* Deletes name below the folder dir_fd and everything in it, as far as it can. May take long. */
void remove_tree(int dir_fd, const char *name);
