// SPDX-License-Identifier: Apache-2.0
/* Deleting trees that a sandbox has written: any depth, no link followed, no permission in the way, and never
 * across a mount point. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { REMOVE_PATH_BYTES = 512 };

/* What could not be removed. Zeroed is ready; may be used for several calls. */
struct control_remove_report {
	size_t n_left; /* entries */
	int errnum;    /* of the first; EXDEV: a mount point, which is not entered */
	char path
		[REMOVE_PATH_BYTES]; /* of the first, below the folder given; cut if it is long */
};

/* Deletes name below the folder dir_fd and everything in it. May take long. Needs a few dozen descriptors, whatever the
 * depth: what lies deep is moved up into a folder ".removing-…" in dir_fd first, which is gone at the end.
 * True if nothing is left, also when there was nothing. report may be NULL. */
bool control_remove_tree(int dir_fd, const char *name, struct control_remove_report *report);
/* Deletes what is in the folder dir_fd, not the folder. */
bool control_remove_content(int dir_fd, struct control_remove_report *report);
