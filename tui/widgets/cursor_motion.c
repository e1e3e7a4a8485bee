// SPDX-License-Identifier: Apache-2.0
#include "tui/widgets/cursor_motion.h"

#include "engine/base/err.h"

#include <string.h>

bool widget_cursor_motion(
	const char *word, int rows_shown, size_t n, size_t *at, struct err *err)
{
	size_t page = rows_shown > 1 ? (size_t)rows_shown - 1 : 1;
	if (strcmp(word, "up") == 0)
		*at -= *at > 0;
	else if (strcmp(word, "down") == 0)
		*at += 1;
	else if (strcmp(word, "page-up") == 0)
		*at = *at > page ? *at - page : 0;
	else if (strcmp(word, "page-down") == 0)
		*at += page;
	else if (strcmp(word, "first") == 0)
		*at = 0;
	else if (strcmp(word, "last") == 0)
		*at = n;
	else
		return err_set(err, ERR_ARG_INVALID,
			"move up, down, page-up, page-down, first or last");
	return true;
}
