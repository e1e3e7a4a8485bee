// SPDX-License-Identifier: Apache-2.0
// The table of a list: as many columns as fit. Rows are looked up in their source as they are drawn, so nothing here is
// ever older than what is known.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"

#include <stdio.h>
#include <string.h>

enum {
	FLEX_COLS = 24, /* what name and why want at least */
	NAME_COLS_MIN = 14,
	NAME_COLS_MAX = 40,
	RANK_AGE = 2,
	RANK_MAX = 9,
	SECONDS_SHOWN_MS = 600000,
};

static const struct resource_column *column_of(const struct views_list *list, int i)
{
	return &list->kind->columns[i];
}

static int wanted_cols(const struct views_list *list, int column)
{
	int cols = column_of(list, column)->cols;
	return cols ? cols + 1 : FLEX_COLS;
}

/* Which columns there is room for: those of the highest rank go first. */
static void choose_columns(const struct views_list *list, int cols, bool is_all,
	bool is_shown[RESOURCE_COLUMNS_MAX])
{
	int i, fixed = 2; /* 2: the mark */
	RESOURCE_EACH(i, list->kind->screen) {
		is_shown[i] = i != list->kind->namespace_column || is_all;
		fixed += is_shown[i] ? wanted_cols(list, i) : 0;
	}
	for (int rank = RANK_MAX; fixed > cols && rank > 0; rank--) {
		if (rank == RANK_AGE) /* a short name is better than no age */
			fixed -= FLEX_COLS - NAME_COLS_MIN;
		RESOURCE_EACH(i, list->kind->screen)
			if (column_of(list, i)->rank == rank && is_shown[i] && fixed > cols) {
				is_shown[i] = false;
				fixed -= wanted_cols(list, i);
			}
	}
}

static void lay_columns(struct views_list *list, int cols, bool is_all)
{
	bool is_shown[RESOURCE_COLUMNS_MAX];
	int i, left = cols - 2, n_flex = 0;
	choose_columns(list, cols, is_all, is_shown);
	RESOURCE_EACH(i, list->kind->screen) {
		if (is_shown[i] && column_of(list, i)->cols)
			left -= column_of(list, i)->cols + 1;
		n_flex += is_shown[i] && !column_of(list, i)->cols;
	}
	left -= n_flex;
	int name_cols = n_flex > 1 ? left / 2 : left;
	if (n_flex > 1 && name_cols > NAME_COLS_MAX)
		name_cols = NAME_COLS_MAX;
	if (name_cols < 12)
		name_cols = left < 12 ? left : 12;
	int at = 2, others = n_flex > 2 ? (left - name_cols) / (n_flex - 1) : left - name_cols;
	RESOURCE_EACH(i, list->kind->screen) {
		list->column_at[i] = -1;
		if (!is_shown[i])
			continue;
		int width = column_of(list, i)->cols       ? column_of(list, i)->cols
			    : i == list->kind->name_column ? name_cols
							   : others;
		list->column_at[i] = at;
		list->column_cols[i] = width > 0 ? width : 0;
		at += list->column_cols[i] + 1;
	}
}

static void draw_cell(const struct views_list *list, struct draw_region r, int at, int column,
	struct draw_style style, const char *text)
{
	if (resource_is_right(column_of(list, column)))
		draw_region_text_right(
			r, at, list->column_at[column], list->column_cols[column], style, text);
	else
		draw_region_text(
			r, at, list->column_at[column], list->column_cols[column], style, text);
}

static void draw_header(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	int i, sorted = resource_collection_column(list->rows);
	RESOURCE_EACH(i, list->kind->screen) {
		const struct resource_column *column = column_of(list, i);
		if (list->column_at[i] < 0)
			continue;
		char title[32];
		struct draw_style style = host_style(host, ROLE_HEADER);
		if (list->is_dark[i])
			style = host_style(host, ROLE_DISABLED);
		snprintf(title, sizeof title, "%s%s",
			column->screen_title ? column->screen_title : column->title,
			sorted != i                                   ? ""
			: resource_collection_is_reversed(list->rows) ? "↓"
								      : "↑");
		draw_cell(list, r, 0, i, style, title);
	}
}

static const char *cell_text(
	const struct views_list *list, const void *row, int i, char buffer[RESOURCE_CELL_BYTES])
{
	const struct resource_column *column = column_of(list, i);
	const char *text = resource_text(column, row, clock_wall_ms(), buffer);
	if (column->format == RESOURCE_COUNT && strcmp(text, "0") == 0)
		text = "";
	if (list->is_dark[i] && !*text)
		text = list->is_dark[i] == LIST_HIDDEN ? "–" : "…";
	return text;
}

/* What colour a cell has that is neither under the cursor nor old. */
static struct draw_style cell_style(
	const struct views_list *list, const void *row, int i, struct draw_style style)
{
	struct view_host *host = list->view.host;
	enum resource_tone tone = resource_tone(column_of(list, i), row);
	if (tone != RESOURCE_PLAIN) {
		style.fg = host_style(host, view_tone_role(tone)).fg;
	} else if (list->is_dark[i]) {
		const struct draw_style disabled = host_style(host, ROLE_DISABLED);
		style.fg = disabled.fg;
		style.attrs |= disabled.attrs;
	}
	return style;
}

/* Ages and countdowns under ten minutes are shown with their seconds. */
static bool shows_seconds(const struct views_list *list, const void *row)
{
	int i;
	int64_t now = clock_wall_ms();
	RESOURCE_EACH(i, list->kind->screen) {
		const struct resource_column *column = column_of(list, i);
		if (column->format != RESOURCE_AGE && column->format != RESOURCE_LEFT)
			continue;
		struct resource_value value = column->value(row);
		int64_t left = value.number - now;
		bool is_age = column->format == RESOURCE_AGE;
		if (value.is_known && (is_age ? -left < SECONDS_SHOWN_MS
					      : left > 0 && left < SECONDS_SHOWN_MS))
			return true;
	}
	return false;
}

struct draw_style views_list_dimmed(const struct views_list *list, struct draw_style style)
{
	if (style.bg == host_style(list->view.host, ROLE_TEXT).bg)
		style.fg = host_style(list->view.host, ROLE_DIM).fg;
	style.attrs |= DRAW_DIM;
	return style;
}

static void draw_row(struct views_list *list, struct draw_region r, int at, const char *uid,
	bool is_cursor, bool is_focused)
{
	const void *row = views_list_find(list, uid);
	if (!row)
		return;
	struct view_host *host = list->view.host;
	list->shows_seconds = list->shows_seconds || shows_seconds(list, row);
	bool is_marked = resource_collection_is_marked(list->rows, uid);
	struct draw_style base = host_style(host, is_marked ? ROLE_MARKED : ROLE_TEXT);
	if (is_cursor)
		base = host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	if (list->is_stale)
		base = views_list_dimmed(list, base);
	draw_region_fill(draw_region_sub(r, 0, at, r.cols, 1), base);
	if (is_marked)
		draw_region_text(r, at, 0, 1, base, "*");
	int i;
	RESOURCE_EACH(i, list->kind->screen) {
		if (list->column_at[i] < 0)
			continue;
		char buffer[RESOURCE_CELL_BYTES];
		bool is_plain = (is_cursor && is_focused) || list->is_stale;
		draw_cell(list, r, at, i, is_plain ? base : cell_style(list, row, i, base),
			cell_text(list, row, i, buffer));
	}
}

int views_list_draw_age(
	struct views_list *list, struct draw_region r, int64_t age_ms, bool is_bad)
{
	char text[CLOCK_AGE_BYTES], label[CLOCK_AGE_BYTES + 16];
	if (list->is_stale) /* the row under the tabs says when */
		return 0;
	/* while all is well, steps of five seconds tell as much and wake the machine less often */
	if (!is_bad)
		age_ms -= age_ms % LIST_AGE_STEP_MS;
	else
		list->shows_seconds = true;
	snprintf(label, sizeof label, "data %s old", clock_format_age(age_ms, text));
	int cols = draw_text_cols(label);
	draw_region_text(r, 0, r.cols - cols, cols,
		host_style(list->view.host, is_bad ? ROLE_WARNING : ROLE_DIM), label);
	return cols + 2;
}

bool views_list_draw(
	struct views_list *list, struct draw_region r, int head, bool is_all, bool is_focused)
{
	lay_columns(list, r.cols, is_all);
	list->header_row = head;
	draw_header(list, draw_region_sub(r, 0, head, r.cols, 1));
	list->first_row = head + 1;
	struct draw_region rows =
		draw_region_sub(r, 0, list->first_row, r.cols, r.rows - list->first_row);
	size_t n = resource_collection_count(list->rows), room = (size_t)rows.rows;
	list->rows_shown = 0;
	if (!n)
		return false;
	if (list->cursor_at < list->top)
		list->top = list->cursor_at;
	if (room && list->cursor_at >= list->top + room)
		list->top = list->cursor_at - room + 1;
	if (list->top + room > n)
		list->top = n > room ? n - room : 0;
	for (size_t i = 0; i < room && list->top + i < n; i++) {
		draw_row(list, rows, (int)i, resource_collection_at(list->rows, list->top + i),
			list->top + i == list->cursor_at, is_focused);
		list->rows_shown++;
	}
	return true;
}
