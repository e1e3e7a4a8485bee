// SPDX-License-Identifier: Apache-2.0
// Fuzzy matching by the best of all ways to find the letters: names are short, so each way is looked at, column by column.
#include "tui/widgets/fuzzy.h"

#include <stdbool.h>
#include <string.h>

enum {
	NAME_BYTES_MAX = 128,
	LETTER = 16,     /* of each that is found */
	BESIDE = 24,     /* the one before it is the one before it in the name */
	WORD_BEGIN = 20, /* it begins a word */
	NAME_BEGIN = 30, /* it begins the name */
	WHOLE = 2000,
	SHORTER_MAX = 64,
	NO = -1,
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	c = lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static int bonus(const char *name, size_t at)
{
	if (at == 0)
		return NAME_BEGIN;
	return is_letter(name[at]) && !is_letter(name[at - 1]) ? WORD_BEGIN : 0;
}

/* best[j]: the best score of the letters so far whose last one stands at j; NO: there is none. */
static void next_letter(char letter, const char *name, size_t n, const int *before, int *best)
{
	int reached = NO; /* by any place before j - 1 */
	for (size_t j = 0; j < n; j++) {
		int beside = j ? before[j - 1] : NO, from = NO;
		if (reached != NO)
			from = reached;
		if (beside != NO && beside + BESIDE > from)
			from = beside + BESIDE;
		best[j] = from == NO || lower(name[j]) != letter
				  ? NO
				  : from + LETTER + bonus(name, j);
		if (beside > reached)
			reached = beside;
	}
}

int widget_fuzzy_score(const char *typed, const char *name)
{
	int rows[2][NAME_BYTES_MAX], *before = rows[0], *best = rows[1];
	size_t n = strlen(name);
	n = n < NAME_BYTES_MAX ? n : NAME_BYTES_MAX;
	if (!*typed)
		return 1;
	for (size_t j = 0; j < n; j++)
		best[j] = lower(name[j]) == lower(typed[0]) ? LETTER + bonus(name, j) : NO;
	for (size_t i = 1; typed[i]; i++) {
		int *other = before;
		before = best;
		best = other;
		next_letter(lower(typed[i]), name, n, before, best);
	}
	int score = NO;
	for (size_t j = 0; j < n; j++)
		score = best[j] > score ? best[j] : score;
	if (score == NO)
		return 0;
	int shorter = n < SHORTER_MAX ? SHORTER_MAX - (int)n : 0;
	return score * SHORTER_MAX + shorter +
	       (strcmp(typed, name) == 0 ? WHOLE * SHORTER_MAX : 0);
}
