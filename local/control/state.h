// SPDX-License-Identifier: Apache-2.0
/* The state directory as seen from outside (not for use outside of this folder).
 * Errors: ERR_ARG_INVALID, ERR_SYSTEM, those of engine/base/file.h. */
#pragma once

#include "local/control/control.h"

/* Fills the paths of status, and sees that the folder, if it is there, can be trusted (private.h). */
bool control_state_find(
	const struct control_opts *opts, struct control_status *status, struct err *err);
/* Looks at lock and pid. */
void control_state_look(struct control_status *status);

/* up.c: the backend's program, free(); given or found. */
char *control_state_find_locald(const char *given, struct err *err);
/* The line that a backend says when it fails, "code: text; hint", back into an error. */
void control_state_parse_failure(const char *line, struct err *err);
