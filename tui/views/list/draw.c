// SPDX-License-Identifier: Apache-2.0
// The table of a list. Rows are looked up in their source as they are drawn, so nothing here is
// ever older than what is known.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"

#include <stdio.h>
#include <string.h>

enum { SECONDS_SHOWN_MS = 600000 };

static const struct resource_column *column_of(const struct views_list *list, int i)
{
	return views_list_column(list, i);
}

static void draw_header(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	int i;
	RESOURCE_EACH(i, list->screen) {
		const struct resource_column *column = column_of(list, i);
		int at = list->column_at[i], cols = list->column_cols[i];
		if (at < 0)
			continue;
		char title[32];
		views_list_column_title(list, i, title);
		struct draw_style style =
			host_style(host, list->is_dark[i] ? ROLE_DISABLED : ROLE_HEADER);
		if (resource_is_right(column) && column->picture == RESOURCE_NO_PICTURE)
			draw_region_text_right(r, 0, at, cols, style, title);
		else
			draw_region_text(r, 0, at, cols, style, title);
	}
}

/* Ages and countdowns under ten minutes are shown with their seconds. */
static bool shows_seconds(const struct views_list *list, const void *row)
{
	int i;
	int64_t now = clock_wall_ms();
	RESOURCE_EACH(i, list->screen) {
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
	bool is_past = list->is_stale || (list->kind->is_gone && list->kind->is_gone(row));
	if (is_past)
		base = views_list_dimmed(list, base);
	enum views_list_look look = is_past                   ? LIST_DIMMED
				    : is_cursor && is_focused ? LIST_UNDER_CURSOR
							      : LIST_PLAIN;
	draw_region_fill(draw_region_sub(r, 0, at, r.cols, 1), base);
	if (is_marked)
		draw_region_text(r, at, 0, 1, base, "*");
	int i;
	RESOURCE_EACH(i, list->screen) {
		if (list->column_at[i] >= 0)
			views_list_cell_draw(list, r, at, i, row, base, look);
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
	list->header_row = head;
	list->first_row = head + 1;
	struct draw_region rows =
		draw_region_sub(r, 0, list->first_row, r.cols, r.rows - list->first_row);
	size_t n = resource_collection_count(list->rows), room = (size_t)rows.rows;
	list->rows_shown = 0;
	if (list->cursor_at < list->top)
		list->top = list->cursor_at;
	if (room && list->cursor_at >= list->top + room)
		list->top = list->cursor_at - room + 1;
	if (list->top + room > n)
		list->top = n > room ? n - room : 0;
	views_list_measure(list, room);
	views_list_lay_columns(list, r.cols, is_all);
	draw_header(list, draw_region_sub(r, 0, head, r.cols, 1));
	if (!n)
		return false;
	for (size_t i = 0; i < room && list->top + i < n; i++) {
		draw_row(list, rows, (int)i, resource_collection_at(list->rows, list->top + i),
			list->top + i == list->cursor_at, is_focused);
		list->rows_shown++;
	}
	return true;
}
