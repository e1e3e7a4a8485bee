// SPDX-License-Identifier: Apache-2.0
// The table of the sandbox list: as many columns as fit. Rows are looked up in the fleet as they are drawn, so nothing
// here is ever older than the store.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"
#include "tui/views/actions/actions.h"

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

static bool is_hidden(const struct views_list *list, enum fleet_kind kind)
{
	return fleet_forbidden(list_fleet(list), kind) != NULL;
}

static enum views_list_dark dark_of(const struct views_list *list, enum fleet_kind kind)
{
	return is_hidden(list, kind)                      ? LIST_HIDDEN
	       : !fleet_is_listed(list_fleet(list), kind) ? LIST_WAITED_FOR
							  : LIST_KNOWN;
}

static enum views_list_dark worse(enum views_list_dark a, enum views_list_dark b)
{
	return a > b ? a : b;
}

/* Columns that tell nothing, or less, because their source may not be read, or has not been yet: that is not that there
 * is nothing. */
static enum views_list_dark column_dark(const struct views_list *list, int column)
{
	enum views_list_dark dark = LIST_KNOWN;
	for (int kind = 0; kind < FLEET_KIND_COUNT; kind++)
		if (list_column(column)->sources & FLEET_SOURCE_BIT(kind))
			dark = worse(dark, dark_of(list, (enum fleet_kind)kind));
	return dark;
}

static int wanted_cols(int column)
{
	return list_column(column)->cols ? list_column(column)->cols + 1 : FLEX_COLS;
}

/* Which columns there is room for: those of the highest rank go first. */
static void choose_columns(
	const struct views_list *list, int cols, bool is_shown[RESOURCE_COLUMNS_MAX])
{
	bool all = *list->view.host->ops->namespace_(list->view.host) == 0;
	int i, fixed = 2; /* 2: the mark */
	RESOURCE_EACH(i, fleet_sandbox_kind.screen) {
		is_shown[i] = i != fleet_sandbox_kind.namespace_column || all;
		fixed += is_shown[i] ? wanted_cols(i) : 0;
	}
	for (int rank = RANK_MAX; fixed > cols && rank > 0; rank--) {
		if (rank == RANK_AGE) /* a short name is better than no age */
			fixed -= FLEX_COLS - NAME_COLS_MIN;
		RESOURCE_EACH(i, fleet_sandbox_kind.screen)
			if (list_column(i)->rank == rank && is_shown[i] && fixed > cols) {
				is_shown[i] = false;
				fixed -= wanted_cols(i);
			}
	}
}

static void lay_columns(struct views_list *list, int cols)
{
	bool is_shown[RESOURCE_COLUMNS_MAX];
	int i, left = cols - 2, n_flex = 0;
	choose_columns(list, cols, is_shown);
	RESOURCE_EACH(i, fleet_sandbox_kind.screen) {
		if (is_shown[i] && list_column(i)->cols)
			left -= list_column(i)->cols + 1;
		n_flex += is_shown[i] && !list_column(i)->cols;
	}
	left -= n_flex;
	int name_cols = n_flex > 1 ? left / 2 : left;
	if (n_flex > 1 && name_cols > NAME_COLS_MAX)
		name_cols = NAME_COLS_MAX;
	if (name_cols < 12)
		name_cols = left < 12 ? left : 12;
	int at = 2;
	RESOURCE_EACH(i, fleet_sandbox_kind.screen) {
		list->column_at[i] = -1;
		if (!is_shown[i])
			continue;
		int width = list_column(i)->cols                  ? list_column(i)->cols
			    : i == fleet_sandbox_kind.name_column ? name_cols
								  : left - name_cols;
		list->column_at[i] = at;
		list->column_cols[i] = width > 0 ? width : 0;
		at += list->column_cols[i] + 1;
	}
}

static void draw_cell(const struct views_list *list, struct draw_region r, int at, int column,
	struct draw_style style, const char *text)
{
	if (resource_is_right(list_column(column)))
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
	RESOURCE_EACH(i, fleet_sandbox_kind.screen) {
		const struct resource_column *column = list_column(i);
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

static const char *term_cell_append_text(const struct views_list *list,
	const struct fleet_row *row, int i, char buffer[RESOURCE_CELL_BYTES])
{
	const struct resource_column *column = list_column(i);
	const char *text = resource_text(column, row, clock_wall_ms(), buffer);
	if (column->format == RESOURCE_COUNT && strcmp(text, "0") == 0)
		text = "";
	if (list->is_dark[i] && !*text)
		text = list->is_dark[i] == LIST_HIDDEN ? "–" : "…";
	return text;
}

/* What colour a cell has that is neither under the cursor nor old. */
static struct draw_style cell_style(const struct views_list *list, const struct fleet_row *row,
	int i, struct draw_style style)
{
	struct view_host *host = list->view.host;
	enum resource_tone tone = resource_tone(list_column(i), row);
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
static bool shows_seconds(const struct fleet_row *row)
{
	int64_t now = clock_wall_ms();
	int64_t left = row->expires_ms - now;
	bool is_young = row->created_ms && now - row->created_ms < SECONDS_SHOWN_MS;
	return is_young || (row->expires_ms && left > 0 && left < SECONDS_SHOWN_MS);
}

/* As of earlier: no colour of a state, which speaks of now. */
static struct draw_style dimmed(const struct views_list *list, struct draw_style style)
{
	if (style.bg == host_style(list->view.host, ROLE_TEXT).bg)
		style.fg = host_style(list->view.host, ROLE_DIM).fg;
	style.attrs |= DRAW_DIM;
	return style;
}

static void draw_row(struct views_list *list, struct draw_region r, int at,
	const struct fleet_row *row, bool is_cursor, bool is_focused)
{
	struct view_host *host = list->view.host;
	list->shows_seconds = list->shows_seconds || shows_seconds(row);
	bool is_marked = resource_collection_is_marked(list->rows, row->uid);
	struct draw_style base = host_style(host, is_marked ? ROLE_MARKED : ROLE_TEXT);
	if (is_cursor)
		base = host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	if (list->is_stale)
		base = dimmed(list, base);
	draw_region_fill(draw_region_sub(r, 0, at, r.cols, 1), base);
	if (is_marked)
		draw_region_text(r, at, 0, 1, base, "*");
	int i;
	RESOURCE_EACH(i, fleet_sandbox_kind.screen) {
		if (list->column_at[i] < 0)
			continue;
		char buffer[RESOURCE_CELL_BYTES];
		bool is_plain = (is_cursor && is_focused) || list->is_stale;
		draw_cell(list, r, at, i, is_plain ? base : cell_style(list, row, i, base),
			term_cell_append_text(list, row, i, buffer));
	}
}

static void draw_empty(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	struct draw_style dim = host_style(host, ROLE_DIM);
	if (!fleet_is_synced(list_fleet(list))) {
		draw_region_text(r, 1, 2, r.cols - 2, dim, "waiting for the first answer …");
		return;
	}
	if (*resource_collection_filter_text(list->rows)) {
		draw_region_text(
			r, 1, 2, r.cols - 2, dim, "Nothing fits the filter. Esc clears it.");
		return;
	}
	const char *namespace_ = host->ops->namespace_(host);
	if (is_hidden(list, FLEET_CLAIMS)) {
		draw_region_text(r, 1, 2, r.cols - 2, dim,
			is_hidden(list, FLEET_SANDBOXES)
				? "Neither sandboxclaims nor sandboxes may be listed here."
				: "There are no Sandboxes; sandboxclaims may not be listed here.");
		return;
	}
	if (*namespace_)
		draw_region_textf(
			r, 1, 2, r.cols - 2, dim, "No sandboxes in namespace %s.", namespace_);
	else
		draw_region_text(r, 1, 2, r.cols - 2, dim, "No sandboxes.");
	struct err why;
	bool can = views_actions_row_command_can(&list->view, "create", &why);
	draw_region_text(r, 2, 2, r.cols - 2, dim, can ? "n creates one." : why.msg);
}

static void draw_direct(struct views_list *list, struct draw_region r, bool is_focused)
{
	struct view_host *host = list->view.host;
	struct draw_style style =
		host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	if (list->is_stale)
		style = dimmed(list, style);
	draw_region_text(r, 0, 0, r.cols,
		host_style(host, list->is_stale ? ROLE_DIM : ROLE_ACCENT),
		"one sandbox, by its address");
	draw_region_text(r, 1, 2, r.cols - 2, host_style(host, ROLE_HEADER), "ADDRESS");
	draw_region_fill(draw_region_sub(r, 0, 2, r.cols, 1), style);
	draw_region_text(r, 2, 2, r.cols - 2, style, engine_context(host->engine));
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct err why;
	bool can = views_actions_row_command_can(&list->view, "shell", &why);
	draw_region_text(r, 4, 2, r.cols - 2, dim,
		can ? "s shell   f files   d health and metadata" : "f files");
	if (!can)
		draw_region_text(r, 5, 2, r.cols - 2, host_style(host, ROLE_DISABLED), why.msg);
}

void views_list_draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_list *list = list_of(view);
	list->shows_seconds = false;
	list->is_stale = view_host_is_stale(view->host);
	list->rows_shown = 0;
	if (!list_fleet(list)) {
		list->first_row = 2;
		draw_direct(list, r, is_focused);
		return;
	}
	views_list_follow(view);
	resource_collection_namespace(list->rows, view->host->ops->namespace_(view->host));
	views_list_keep_cursor(list);
	int head = views_list_draw_head(list, r);
	int column;
	RESOURCE_EACH(column, fleet_sandbox_kind.screen)
		list->is_dark[column] = column_dark(list, column);
	lay_columns(list, r.cols);
	list->header_row = head;
	draw_header(list, draw_region_sub(r, 0, head, r.cols, 1));
	list->first_row = head + 1;
	struct draw_region rows =
		draw_region_sub(r, 0, list->first_row, r.cols, r.rows - list->first_row);
	size_t n = resource_collection_count(list->rows), room = (size_t)rows.rows;
	if (!n) {
		draw_empty(list, rows);
		return;
	}
	if (list->cursor_at < list->top)
		list->top = list->cursor_at;
	if (room && list->cursor_at >= list->top + room)
		list->top = list->cursor_at - room + 1;
	if (list->top + room > n)
		list->top = n > room ? n - room : 0;
	for (size_t i = 0; i < room && list->top + i < n; i++) {
		const struct fleet_row *row = fleet_find(
			list_fleet(list), resource_collection_at(list->rows, list->top + i));
		if (row)
			draw_row(list, rows, (int)i, row, list->top + i == list->cursor_at,
				is_focused);
		list->rows_shown++;
	}
}
