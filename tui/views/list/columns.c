// SPDX-License-Identifier: Apache-2.0
// Which columns there is room for, and how wide they are.
//
// A column is as wide as what it holds; one that tells nothing (it is empty, it says what another says, or the same in
// each row and is not one of those that matter most) gives its room away. Where there is not enough, those of the highest rank go, and names become shorter
// before what matters more than their middle goes. Sentences get the room that is left over.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"

#include <stdio.h>
#include <string.h>

enum {
	SAMPLE_ROWS = 128,
	SETTLE_MS = 10000, /* so long nobody moves, and nothing was measured anew */
	NAME_WANTED = 48,
	NAME_FAIR = 24, /* no shorter for the sake of a sentence */
	SENTENCE_WANTED = 64,
	RANK_KEY = 4, /* up to here a column matters even if all of its cells are equal */
	RANK_MAX = 11,
};

_Static_assert(RESOURCE_COLUMNS_MAX <= 64, "a column is a bit");

static const struct resource_column *column_of(const struct views_list *list, int i)
{
	return views_list_column(list, i);
}

static bool is_name(const struct views_list *list, int i)
{
	return i == list->kind->name_column;
}

static bool is_sentence(const struct views_list *list, int i)
{
	return !column_of(list, i)->cols && !is_name(list, i);
}

/* ---- measuring */

static uint64_t bit(int column)
{
	return UINT64_C(1) << column;
}

/* The columns that say the same of this row. */
static uint64_t same_texts(const struct views_list *list, const void *row, const char *text)
{
	uint64_t same = 0;
	int i;
	RESOURCE_EACH(i, list->screen)
		if (!views_list_is_own(list, i) &&
			column_of(list, i)->format == RESOURCE_TEXT &&
			strcmp(column_of(list, i)->value(row).text, text) == 0)
			same |= bit(i);
	return same;
}

/* What stands for a text that is not known. */
static bool is_filler(const struct views_list *list, int i, const char *text)
{
	bool is_dash = strcmp(text, "–") == 0 || strcmp(text, "…") == 0;
	return (list->is_dark[i] && is_dash) ||
	       (column_of(list, i)->picture && strcmp(text, "-") == 0);
}

static void measure_row(struct views_list *list, const void *row)
{
	int i;
	if (!row)
		return;
	RESOURCE_EACH(i, list->screen) {
		struct views_list_measure *m = &list->measures[i];
		if (views_list_is_own(list, i))
			continue; /* it is as wide as it may be */
		char buffer[RESOURCE_CELL_BYTES];
		const char *text = views_list_cell_text(list, row, i, buffer);
		int cols = views_list_cell_cols(list, row, i, text);
		if (cols > m->cols)
			m->cols = cols;
		if (!*text || is_filler(list, i, text))
			continue;
		uint32_t hash = map_hash(text, strlen(text));
		if (!m->is_any)
			m->hash = hash;
		m->differs = m->differs || m->hash != hash;
		m->is_any = true;
		if (column_of(list, i)->format == RESOURCE_TEXT)
			m->echoes &= same_texts(list, row, text);
	}
}

static void begin_anew(struct views_list *list)
{
	int i;
	memset(list->measures, 0, sizeof list->measures);
	RESOURCE_EACH(i, list->screen)
		if (column_of(list, i)->format == RESOURCE_TEXT)
			list->measures[i].echoes = ~bit(i);
	size_t n = resource_collection_count(list->rows);
	size_t step = n > SAMPLE_ROWS ? n / SAMPLE_ROWS : 1;
	for (size_t at = 0; at < n; at += step)
		measure_row(
			list, views_list_find(list, resource_collection_at(list->rows, at)));
	list->n_measured = n;
	list->measured_self = list->follower.self;
	list->measured_revision = list->follower.revision;
	list->measured_ms = clock_mono_ms();
}

static bool is_out_of_date(const struct views_list *list, size_t n)
{
	int64_t now = clock_mono_ms();
	bool is_other = list->measured_self != list->follower.self ||
			n > 2 * list->n_measured || (n && 2 * n < list->n_measured);
	bool has_settled = now - list->moved_ms >= SETTLE_MS &&
			   now - list->measured_ms >= SETTLE_MS &&
			   list->measured_revision != list->follower.revision;
	return is_other || has_settled;
}

void views_list_measure(struct views_list *list, size_t n_visible)
{
	size_t n = resource_collection_count(list->rows);
	if (is_out_of_date(list, n))
		begin_anew(list);
	for (size_t at = list->top; at < n && at < list->top + n_visible; at++)
		measure_row(
			list, views_list_find(list, resource_collection_at(list->rows, at)));
}

/* ---- choosing */

void views_list_column_title(const struct views_list *list, int i, char title[32])
{
	const struct resource_column *column = column_of(list, i);
	const char *text = column->screen_title ? column->screen_title : column->title;
	bool is_sorted = resource_collection_column(list->rows) == i;
	snprintf(title, 32, "%s%s", text,
		!is_sorted                                    ? ""
		: resource_collection_is_reversed(list->rows) ? "↓"
							      : "↑");
}

struct choice {
	bool is_shown[RESOURCE_COLUMNS_MAX];
	int cols[RESOURCE_COLUMNS_MAX];
	int total; /* with a blank after each column */
};

static bool tells(const struct views_list *list, int i, uint64_t shown)
{
	const struct views_list_measure *m = &list->measures[i];
	if (views_list_is_own(list, i))
		return list->own->is_any(list);
	if (is_name(list, i) || (list->is_dark[i] && !m->is_any) ||
		resource_collection_column(list->rows) == i)
		return true;
	bool is_minor = column_of(list, i)->rank > RANK_KEY;
	if (!list->n_measured)
		return !is_minor;
	if (!m->is_any || (m->echoes & shown))
		return false;
	bool is_text = column_of(list, i)->format == RESOURCE_TEXT && !is_sentence(list, i);
	return !is_text || !is_minor || m->differs || resource_collection_total(list->rows) < 2;
}

static int wanted(const struct views_list *list, int i)
{
	char title[32];
	int most = is_name(list, i)       ? NAME_WANTED
		   : is_sentence(list, i) ? SENTENCE_WANTED
					  : views_list_cell_cols_max(column_of(list, i));
	int cols = list->measures[i].cols;
	views_list_column_title(list, i, title);
	int least = draw_text_cols(title);
	if (cols > most)
		cols = most;
	return cols > least ? cols : least;
}

static void shrink(struct choice *choice, int i, int most)
{
	if (!choice->is_shown[i] || choice->cols[i] <= most)
		return;
	choice->total -= choice->cols[i] - most;
	choice->cols[i] = most;
}

/* Before columns of that rank and below go, sentences and names become as short as this. */
static const struct {
	int rank, sentence, name;
} shorter[] = { { 8, 36, NAME_WANTED }, { 6, 20, 32 }, { 4, 20, 24 }, { 2, 20, 14 } };

static void shorten(const struct views_list *list, struct choice *choice, int rank, int cols)
{
	int i;
	for (size_t at = 0; at < sizeof shorter / sizeof *shorter; at++) {
		if (shorter[at].rank != rank)
			continue;
		RESOURCE_EACH(i, list->screen)
			if (is_sentence(list, i) && choice->total > cols)
				shrink(choice, i, shorter[at].sentence);
		if (choice->total > cols)
			shrink(choice, list->kind->name_column, shorter[at].name);
	}
}

static void choose(const struct views_list *list, int cols, bool is_all, struct choice *choice)
{
	int i;
	uint64_t shown = 0;
	*choice = (struct choice){ .total = LIST_MARK_COLS - 1 };
	RESOURCE_EACH(i, list->screen) {
		bool is_here = i != list->kind->namespace_column || is_all;
		choice->is_shown[i] = is_here && tells(list, i, shown);
		if (!choice->is_shown[i])
			continue;
		shown |= bit(i);
		choice->cols[i] = wanted(list, i);
		choice->total += choice->cols[i] + 1;
	}
	for (int rank = RANK_MAX; choice->total > cols && rank > 0; rank--) {
		shorten(list, choice, rank, cols);
		RESOURCE_EACH(i, list->screen) {
			if (column_of(list, i)->rank != rank || !choice->is_shown[i] ||
				choice->total <= cols)
				continue;
			choice->is_shown[i] = false;
			choice->total -= choice->cols[i] + 1;
		}
	}
}

/* ---- laying */

/* A long name and a cut sentence meet in the middle. */
static void balance(const struct views_list *list, struct choice *choice)
{
	int i, name = list->kind->name_column;
	RESOURCE_EACH(i, list->screen) {
		if (!choice->is_shown[i] || !is_sentence(list, i))
			continue;
		while (choice->cols[i] < list->measures[i].cols &&
			choice->cols[i] < choice->cols[name] &&
			choice->cols[name] > NAME_FAIR) {
			choice->cols[i]++;
			choice->cols[name]--;
		}
		return;
	}
}

/* What names and sentences lack of what they want. */
static int missing(const struct views_list *list, const struct choice *choice)
{
	int i, sum = 0;
	RESOURCE_EACH(i, list->screen)
		if (choice->is_shown[i] && (is_sentence(list, i) || is_name(list, i)))
			sum += wanted(list, i) - choice->cols[i];
	return sum;
}

static void give(struct choice *choice, int i, int most, int *left)
{
	int wish = most - choice->cols[i];
	int more = wish < *left ? wish : *left;
	if (!choice->is_shown[i] || more <= 0)
		return;
	choice->cols[i] += more;
	*left -= more;
}

/* Who gets the room that is left over: sentences until they are whole, the name as far as it is cut, and the last sentence
 * the rest. */
static void hand_out(const struct views_list *list, struct choice *choice, int *left)
{
	int i, name = list->kind->name_column, last = RESOURCE_NONE;
	RESOURCE_EACH(i, list->screen) {
		if (!choice->is_shown[i] || !is_sentence(list, i))
			continue;
		give(choice, i, list->measures[i].cols, left);
		last = i;
	}
	give(choice, name, list->measures[name].cols, left);
	if (last != RESOURCE_NONE)
		give(choice, last, choice->cols[last] + *left, left);
}

void views_list_lay_columns(struct views_list *list, int cols, bool is_all)
{
	struct choice choice;
	int i, n = 0, at = LIST_MARK_COLS;
	choose(list, cols, is_all, &choice);
	RESOURCE_EACH(i, list->screen)
		n += choice.is_shown[i];
	balance(list, &choice);
	int left = cols - choice.total, name = list->kind->name_column;
	int gap = left >= n - 1 + missing(list, &choice) ? 2 : 1;
	left -= (gap - 1) * (n - 1);
	if (left < 0) { /* the name is the last that goes */
		choice.cols[name] += left;
		left = 0;
	}
	hand_out(list, &choice, &left);
	RESOURCE_EACH(i, list->screen) {
		list->column_at[i] = -1;
		if (!choice.is_shown[i])
			continue;
		list->column_at[i] = at;
		list->column_cols[i] = choice.cols[i] > 0 ? choice.cols[i] : 0;
		at += list->column_cols[i] + gap;
	}
}
