// SPDX-License-Identifier: Apache-2.0
/* The words of a command line. */
#pragma once

#include <stddef.h>

/* Cuts text at blanks and commas, in place: at most max - 1 words and a NULL behind them. Returns how many. */
size_t views_actions_split_words(char *text, const char **out, size_t max);
/* The same, but what stands between double quotes is kept together, without them: note="hi there". */
size_t views_actions_split_quoted(char *text, const char **out, size_t max);
