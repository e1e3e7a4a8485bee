// SPDX-License-Identifier: Apache-2.0
// Does a row fit?
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/k8s/labels.h"
#include "engine/k8s/selector.h"
#include "engine/resource/filter_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void resource_filter_free(struct resource_filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++) {
		free(f->terms[i].text);
		if (f->terms[i].has_regex)
			regfree(&f->terms[i].regex);
		k8s_selector_free(f->terms[i].selector);
	}
	free(f);
}

bool resource_filter_is_empty(const struct resource_filter *f)
{
	return f->n == 0;
}

static enum resource_format format_of(
	const struct resource_filter *f, const struct resource_term *term)
{
	return f->kind->columns[term->column].format;
}

bool resource_filter_is_timed(const struct resource_filter *f)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->terms[i].form == TERM_COMPARISON &&
			(format_of(f, &f->terms[i]) == RESOURCE_AGE ||
				format_of(f, &f->terms[i]) == RESOURCE_LEFT))
			return true;
	return false;
}

/* ---- texts */

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

static bool text_fits(const struct resource_term *term, const char *text)
{
	switch (term->form) {
	case TERM_REGEX:
		return regexec(&term->regex, text, 0, NULL, 0) == 0;
	case TERM_EQUAL:
		return strcasecmp(text, term->text) == 0;
	default:
		return contains(text, term->text);
	}
}

static bool column_fits(
	const struct resource_column *column, const void *row, const struct resource_term *term)
{
	return text_fits(term, column->value(row).text) ||
	       (column->second && text_fits(term, column->second(row)));
}

static bool any_column_fits(
	const struct resource_kind *kind, const void *row, const struct resource_term *term)
{
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].is_searched && column_fits(&kind->columns[i], row, term))
			return true;
	return false;
}

/* ---- labels */

struct labels {
	const char *all;
	char value[K8S_LABELS_BYTES_MAX];
};

static const char *label(const void *arg, const char *key)
{
	struct labels *labels = *(struct labels *const *)arg;
	size_t n = 0;
	const char *value = k8s_labels_find(labels->all, key, &n);
	if (!value || n >= sizeof labels->value)
		return NULL;
	memcpy(labels->value, value, n);
	labels->value[n] = 0;
	return labels->value;
}

static bool labels_fit(
	const struct resource_kind *kind, const void *row, const struct resource_term *term)
{
	struct labels labels, *found = &labels;
	labels.all = kind->labels(row);
	return k8s_selector_matches(term->selector, label, &found);
}

/* ---- numbers */

static bool number_of(const struct resource_column *column, const void *row,
	const struct resource_term *term, int64_t *out)
{
	struct resource_value value =
		term->is_amount ? column->amount(row) : column->value(row);
	int64_t now = clock_wall_ms();
	if (!value.is_known)
		return false;
	*out = column->format == RESOURCE_AGE    ? now - value.number
	       : column->format == RESOURCE_LEFT ? value.number - now
						 : value.number;
	return true;
}

static bool number_fits(
	const struct resource_column *column, const void *row, const struct resource_term *term)
{
	int64_t number;
	if (!number_of(column, row, term, &number))
		return false;
	switch (term->comparison) {
	case TERM_LESS:
		return number < term->number;
	case TERM_LESS_EQUAL:
		return number <= term->number;
	case TERM_SAME:
		return number == term->number;
	case TERM_MORE_EQUAL:
		return number >= term->number;
	case TERM_MORE:
		return number > term->number;
	}
	return false;
}

static bool term_fits(
	const struct resource_kind *kind, const void *row, const struct resource_term *term)
{
	if (term->form == TERM_SELECTOR)
		return labels_fit(kind, row, term);
	if (term->form == TERM_COMPARISON)
		return number_fits(&kind->columns[term->column], row, term);
	return term->column == RESOURCE_ANY_COLUMN
		       ? any_column_fits(kind, row, term)
		       : column_fits(&kind->columns[term->column], row, term);
}

bool resource_filter_fits(const struct resource_filter *f, const void *row)
{
	size_t i = 0;
	while (i < f->n) {
		int group = f->terms[i].group;
		bool fits = true;
		for (; i < f->n && f->terms[i].group == group; i++)
			fits = fits &&
			       term_fits(f->kind, row, &f->terms[i]) != f->terms[i].is_not;
		if (fits)
			return true;
	}
	return f->n == 0;
}

/* ---- comparing filters */

/* "rea" then "read": fewer rows. With `!` a longer word hides fewer: only the same word will do. */
static bool term_narrows(const struct resource_term *a, const struct resource_term *b)
{
	if (a->form != b->form || a->column != b->column || a->is_not != b->is_not ||
		a->group != b->group)
		return false;
	if (a->form == TERM_TEXT && !a->is_not)
		return strstr(b->text, a->text) != NULL;
	return strcmp(a->text, b->text) == 0 && a->comparison == b->comparison &&
	       a->number == b->number && a->is_amount == b->is_amount;
}

/* The groups' terms in their order: each group of `next` is one of `now` with terms more at its end. */
bool resource_filter_narrows(
	const struct resource_filter *now, const struct resource_filter *next)
{
	if (now->n == 0)
		return true;
	if (now->n_groups != next->n_groups)
		return false;
	size_t at = 0;
	for (size_t i = 0; i < now->n; i++) {
		while (at < next->n && next->terms[at].group < now->terms[i].group)
			at++;
		if (at == next->n || !term_narrows(&now->terms[i], &next->terms[at]))
			return false;
		at++;
	}
	return true;
}
