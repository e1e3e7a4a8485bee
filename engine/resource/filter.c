// SPDX-License-Identifier: Apache-2.0
// Words of a filter, each with the column that it speaks of.
#include "engine/resource/filter.h"

#include "engine/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

enum { ANY_COLUMN = -1 };

struct word {
	int column; /* of the kind; or ANY_COLUMN */
	bool is_not;
	char *text; /* lower case */
};

struct resource_filter {
	const struct resource_kind *kind;
	size_t n;
	struct word words[WORDS_MAX];
};

static bool is_called(const char *name, const char *text, size_t length)
{
	return name && strlen(name) == length && strncmp(name, text, length) == 0;
}

static int column_called(const struct resource_kind *kind, const char *text, size_t length)
{
	for (int i = 0; i < kind->n_columns; i++) {
		const struct resource_column *column = &kind->columns[i];
		if (column->format == RESOURCE_TEXT &&
			(is_called(column->name, text, length) ||
				is_called(column->alias, text, length)))
			return i;
	}
	return ANY_COLUMN;
}

struct resource_filter *resource_filter_parse(
	const struct resource_kind *kind, const char *text)
{
	struct resource_filter *f = x_calloc(1, sizeof *f);
	f->kind = kind;
	while (f->n < WORDS_MAX) {
		text += strspn(text, " \t");
		size_t length = strcspn(text, " \t");
		if (!length)
			break;
		char *word = x_strndup(text, length);
		text += length;
		struct word *w = &f->words[f->n];
		const char *rest = word;
		w->is_not = *rest == '!';
		rest += w->is_not;
		const char *colon = strchr(rest, ':');
		w->column =
			colon ? column_called(kind, rest, (size_t)(colon - rest)) : ANY_COLUMN;
		if (w->column != ANY_COLUMN)
			rest = colon + 1;
		if (*rest) {
			w->text = x_strdup(rest);
			for (char *c = w->text; *c; c++)
				*c = (char)tolower((unsigned char)*c);
			f->n++;
		} else {
			memset(w, 0, sizeof *w); /* "state:" alone, while it is being typed */
		}
		free(word);
	}
	return f;
}

void resource_filter_free(struct resource_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++)
		free(f->words[i].text);
	free(f);
}

bool resource_filter_is_empty(const struct resource_filter *f)
{
	return f->n == 0;
}

static bool contains(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (; *text; text++) {
		size_t i = 0;
		while (i < n && text[i] &&
			tolower((unsigned char)text[i]) == (unsigned char)word[i])
			i++;
		if (i == n)
			return true;
	}
	return false;
}

static bool column_fits(const struct resource_column *column, const void *row, const char *word)
{
	return contains(column->value(row).text, word) ||
	       (column->second && contains(column->second(row), word));
}

static bool word_fits(const struct resource_kind *kind, const struct word *w, const void *row)
{
	if (w->column != ANY_COLUMN)
		return column_fits(&kind->columns[w->column], row, w->text);
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].is_searched &&
			column_fits(&kind->columns[i], row, w->text))
			return true;
	return false;
}

bool resource_filter_fits(const struct resource_filter *f, const void *row)
{
	for (size_t i = 0; i < f->n; i++)
		if (word_fits(f->kind, &f->words[i], row) == f->words[i].is_not)
			return false;
	return true;
}

bool resource_filter_narrows(
	const struct resource_filter *now, const struct resource_filter *next)
{
	if (next->n < now->n)
		return false;
	for (size_t i = 0; i < now->n; i++) {
		const struct word *a = &now->words[i], *b = &next->words[i];
		if (a->column != b->column || a->is_not != b->is_not)
			return false;
		/* "rea" then "read": fewer rows. With `!` a longer word hides fewer: only the same word will do. */
		if (a->is_not ? strcmp(a->text, b->text) != 0
			      : strncmp(a->text, b->text, strlen(a->text)) != 0)
			return false;
	}
	return true;
}
