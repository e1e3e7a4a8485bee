// SPDX-License-Identifier: Apache-2.0
#include "tui/views/actions/words.h"

#include <stdbool.h>
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

/* One word, without its quotes, in place; returns what comes after it. */
static char *take_word(char *text)
{
	char *to = text;
	bool is_quoted = false;
	for (; *text && (is_quoted || !strchr(" ,", *text)); text++) {
		if (*text == '"')
			is_quoted = !is_quoted;
		else
			*to++ = *text;
	}
	char *rest = *text ? text + 1 : text;
	*to = 0;
	return rest;
}

size_t views_actions_split_quoted(char *text, const char **out, size_t max)
{
	size_t n = 0;
	while (n + 1 < max) {
		text += strspn(text, " ,");
		if (!*text)
			break;
		out[n++] = text;
		text = take_word(text);
	}
	out[n] = NULL;
	return n;
}
