// SPDX-License-Identifier: Apache-2.0
#include "tui/views/actions/words.h"

#include <string.h>

size_t views_actions_split_words(char *text, const char **out, size_t max)
{
	size_t n = 0;
	while (n + 1 < max) {
		text += strspn(text, " ,");
		if (!*text)
			break;
		out[n++] = text;
		text += strcspn(text, " ,");
		if (*text)
			*text++ = 0;
	}
	out[n] = NULL;
	return n;
}
