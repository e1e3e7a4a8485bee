// SPDX-License-Identifier: Apache-2.0
/* Requests that actions of several kinds make.
 * Errors: ERR_ARG_INVALID (what an action is told). */
#pragma once

#include "engine/resource/kind.h"

/* DELETE with the uid of the row as a precondition (meta/v1 DeleteOptions): nothing of the same name that came since is
 * hit. */
bool kinds_request_delete(
	const void *row, const char *args, struct resource_request *out, struct err *err);
