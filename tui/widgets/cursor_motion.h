// SPDX-License-Identifier: Apache-2.0
/* The argument of the command `move`, the same in every view. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
/* Moves *at by the word: up, down, page-up, page-down (rows shown, less one), first, last (n). The result may be past
 * the end: the caller brings it inside. False with ERR_ARG_INVALID for another word. */
bool widget_cursor_motion(
	const char *word, int rows_shown, size_t n, size_t *at, struct err *err);
