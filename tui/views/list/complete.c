// SPDX-License-Identifier: Apache-2.0
// What may follow: columns by their names, and the values that the rows have in one, at the end of a filter.
#include "tui/views/list/list.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOOKED_AT = 1000 };

typedef void add_fn(void *add_arg, const char *candidate);

/* By its name or alias; NULL: none is called that. */
static const struct resource_column *called(
	const struct resource_kind *kind, const char *name, size_t n)
{
	for (int i = 0; i < kind->n_columns; i++) {
		const struct resource_column *column = &kind->columns[i];
		const char *const names[] = { column->name, column->alias };
		for (int k = 0; k < 2; k++)
			if (names[k] && strlen(names[k]) == n &&
				strncasecmp(names[k], name, n) == 0)
				return column;
	}
	return NULL;
}

/* Behind "state:" the states of the rows that are shown; what would need quotes is left to be typed. */
static void add_values(const struct views_list *list, const struct resource_column *column,
	const char *text, size_t n_before, add_fn *add, void *add_arg)
{
	size_t n = resource_collection_count(list->rows);
	size_t step = n > LOOKED_AT ? n / LOOKED_AT : 1;
	if (column->format != RESOURCE_TEXT)
		return;
	for (size_t at = 0; at < n; at += step) {
		const void *row = views_list_find(list, resource_collection_at(list->rows, at));
		const char *value = row ? column->value(row).text : NULL;
		if (!value || !*value || strpbrk(value, " \"'/|"))
			continue;
		char *line = x_asprintf("%.*s%s", (int)n_before, text, value);
		add(add_arg, line);
		free(line);
	}
}

static void add_columns(const struct views_list *list, const char *text, size_t n_before,
	add_fn *add, void *add_arg)
{
	for (int i = 0; i < list->kind->n_columns; i++) {
		const struct resource_column *column = &list->kind->columns[i];
		if (!column->name)
			continue;
		bool is_compared = column->format != RESOURCE_TEXT;
		char *line = x_asprintf(
			"%.*s%s%c", (int)n_before, text, column->name, is_compared ? '>' : ':');
		add(add_arg, line);
		free(line);
	}
}

void views_list_filter_complete(
	const struct view *view, const char *text, add_fn *add, void *add_arg)
{
	const struct views_list *list = list_of(view);
	const char *blank = strrchr(text, ' '), *word = blank ? blank + 1 : text;
	word += *word == '!';
	size_t n = strcspn(word, ":="), n_before = (size_t)(word - text);
	const struct resource_column *column = word[n] ? called(list->kind, word, n) : NULL;
	if (column)
		add_values(list, column, text, n_before + n + 1, add, add_arg);
	else if (!word[n])
		add_columns(list, text, n_before, add, add_arg);
}

void views_list_complete_mark(void *self, const char *args, add_fn *add, void *add_arg)
{
	add(add_arg, "all");
	add(add_arg, "none");
	views_list_filter_complete(self, args, add, add_arg);
}

void views_list_complete_sort(void *self, const char *args, add_fn *add, void *add_arg)
{
	const struct views_list *list = self;
	(void)args;
	for (int i = 0; i < list->kind->n_columns; i++)
		if (list->kind->columns[i].name)
			add(add_arg, list->kind->columns[i].name);
}
