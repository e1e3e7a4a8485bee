// SPDX-License-Identifier: Apache-2.0
/* The state directory as seen from outside (not for use outside of this folder). */
#pragma once

#include "local/control/control.h"

/* Fills the paths of status, and sees that the folder, if it is there, can be trusted (private.h). */
bool state_find(
	const struct control_opts *opts, struct control_status *status, struct err *err);
/* Looks at lock and pid. */
void state_look(struct control_status *status);
