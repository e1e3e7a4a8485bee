// SPDX-License-Identifier: Apache-2.0
// The table of the sandbox list: as many columns as fit. Rows are looked up in the fleet as they are drawn, so nothing
// here is ever older than the store.
#include "tui/views/list.h"

#include "engine/base/clock.h"
#include "tui/views/actions.h"

#include <stdio.h>
#include <string.h>

enum {
	FLEX_COLS = 24, /* what name and why want at least */
	NAME_COLS_MIN = 14,
	NAME_COLS_MAX = 40,
	RANK_AGE = 2,
	SECONDS_SHOWN_MS = 600000,
};

const struct list_column_row list_columns[COLUMN_COUNT] = {
	[COLUMN_NAMESPACE] = { "NAMESPACE", "namespace", 14, 5, false },
	[COLUMN_NAME] = { "NAME", "name", 0, 0, false },
	[COLUMN_STATE] = { "STATE", "state", 11, 1, false },
	[COLUMN_SANDBOX] = { "SANDBOX", "sandbox", 22, 9, false },
	[COLUMN_POD] = { "POD", "pod", 22, 8, false },
	[COLUMN_POOL] = { "POOL", "pool", 14, 6, false },
	[COLUMN_AGE] = { "AGE", "age", 6, 2, true },
	[COLUMN_EXPIRES] = { "EXPIRES", "expires", 7, 4, true },
	[COLUMN_RESTARTS] = { "RST", "restarts", 4, 7, true },
	[COLUMN_WHY] = { "WHY", "why", 0, 3, false },
};

static bool is_hidden(const struct list *list, enum fleet_kind kind)
{
	return fleet_forbidden(list_fleet(list), kind) != NULL;
}

static enum list_dark dark_of(const struct list *list, enum fleet_kind kind)
{
	return is_hidden(list, kind)                      ? LIST_HIDDEN
	       : !fleet_is_listed(list_fleet(list), kind) ? LIST_WAITED_FOR
							  : LIST_KNOWN;
}

static enum list_dark worse(enum list_dark a, enum list_dark b)
{
	return a > b ? a : b;
}

/* Columns that tell nothing, or less, because their source may not be read, or has not been yet: that is not that there
 * is nothing. */
static enum list_dark column_dark(const struct list *list, int column)
{
	enum list_dark boxes = dark_of(list, FLEET_SANDBOXES);
	switch (column) {
	case COLUMN_RESTARTS:
	case COLUMN_POD:
		return worse(dark_of(list, FLEET_PODS), boxes);
	case COLUMN_SANDBOX:
		return boxes;
	case COLUMN_POOL:
		return dark_of(list, FLEET_CLAIMS);
	default:
		return LIST_KNOWN;
	}
}

static int wanted_cols(int column)
{
	return list_columns[column].cols ? list_columns[column].cols + 1 : FLEX_COLS;
}

static void lay_columns(struct list *list, int cols)
{
	bool is_shown[COLUMN_COUNT];
	bool all = *list->view.host->ops->namespace_(list->view.host) == 0;
	int fixed = 2, n_flex = 0; /* 2: the mark */
	for (int i = 0; i < COLUMN_COUNT; i++) {
		is_shown[i] = i != COLUMN_NAMESPACE || all;
		fixed += is_shown[i] ? wanted_cols(i) : 0;
	}
	for (int rank = 9; fixed > cols && rank > 0; rank--) {
		if (rank == RANK_AGE) /* a short name is better than no age */
			fixed -= FLEX_COLS - NAME_COLS_MIN;
		for (int i = 0; i < COLUMN_COUNT; i++)
			if (list_columns[i].rank == rank && is_shown[i] && fixed > cols) {
				is_shown[i] = false;
				fixed -= wanted_cols(i);
			}
	}
	int left = cols - 2;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (is_shown[i] && list_columns[i].cols)
			left -= list_columns[i].cols + 1;
		n_flex += is_shown[i] && !list_columns[i].cols;
	}
	left -= n_flex;
	int name_cols = is_shown[COLUMN_WHY] ? left / 2 : left;
	if (is_shown[COLUMN_WHY] && name_cols > NAME_COLS_MAX)
		name_cols = NAME_COLS_MAX;
	if (name_cols < 12)
		name_cols = left < 12 ? left : 12;
	int at = 2;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		list->column_at[i] = -1;
		if (!is_shown[i])
			continue;
		int width = list_columns[i].cols ? list_columns[i].cols
			    : i == COLUMN_NAME   ? name_cols
						 : left - name_cols;
		list->column_at[i] = at;
		list->column_cols[i] = width > 0 ? width : 0;
		at += list->column_cols[i] + 1;
	}
}

static void draw_header(struct list *list, struct region r)
{
	struct host *host = list->view.host;
	enum list_column sorted = list_index_column(list->index);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (list->column_at[i] < 0)
			continue;
		char title[32];
		bool is_sorted = (int)sorted == i;
		struct style style = host_style(host, ROLE_HEADER);
		if (list->is_dark[i])
			style = host_style(host, ROLE_DISABLED);
		snprintf(title, sizeof title, "%s%s", list_columns[i].title,
			!is_sorted                            ? ""
			: list_index_is_reversed(list->index) ? "↓"
							      : "↑");
		if (list_columns[i].is_right)
			region_text_right(
				r, 0, list->column_at[i], list->column_cols[i], style, title);
		else
			region_text(
				r, 0, list->column_at[i], list->column_cols[i], style, title);
	}
}

static const char *cell_text(const struct fleet_row *row, int column, char buffer[64])
{
	int64_t now = clock_wall_ms();
	switch (column) {
	case COLUMN_NAMESPACE:
		return row->namespace_;
	case COLUMN_NAME:
		return *row->claim ? row->claim : row->sandbox;
	case COLUMN_STATE:
		return fleet_state_name(row->state);
	case COLUMN_SANDBOX:
		return row->sandbox;
	case COLUMN_POD:
		return row->pod;
	case COLUMN_POOL:
		return row->pool;
	case COLUMN_AGE:
		return row->created_ms ? clock_format_age(now - row->created_ms, buffer) : "";
	case COLUMN_EXPIRES:
		if (!row->expires_ms)
			return "";
		if (row->expires_ms <= now)
			return "over";
		return clock_format_age(row->expires_ms - now, buffer);
	case COLUMN_RESTARTS:
		snprintf(buffer, 64, "%d", row->restarts);
		return row->restarts ? buffer : "";
	default:
		return row->why;
	}
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
static struct style dimmed(const struct list *list, struct style style)
{
	if (style.bg == host_style(list->view.host, ROLE_TEXT).bg)
		style.fg = host_style(list->view.host, ROLE_DIM).fg;
	style.attrs |= DRAW_DIM;
	return style;
}

static void draw_row(struct list *list, struct region r, int at, const struct fleet_row *row,
	bool is_cursor, bool is_focused)
{
	struct host *host = list->view.host;
	list->shows_seconds = list->shows_seconds || shows_seconds(row);
	bool is_marked = list_index_is_marked(list->index, row->uid);
	struct style base = host_style(host, is_marked ? ROLE_MARKED : ROLE_TEXT);
	if (is_cursor)
		base = host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	if (list->is_stale)
		base = dimmed(list, base);
	region_fill(region_sub(r, 0, at, r.cols, 1), base);
	if (is_marked)
		region_text(r, at, 0, 1, base, "*");
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (list->column_at[i] < 0)
			continue;
		char buffer[64];
		const char *text = cell_text(row, i, buffer);
		if (list->is_dark[i] && !*text)
			text = list->is_dark[i] == LIST_HIDDEN ? "–" : "…";
		struct style style = base;
		if (!(is_cursor && is_focused) && !list->is_stale) {
			if (i == COLUMN_STATE)
				style.fg = host_style(host, host_state_role(row->state)).fg;
			else if (i == COLUMN_RESTARTS && row->restarts)
				style.fg = host_style(host, ROLE_WARNING).fg;
			else if (i == COLUMN_WHY)
				style.fg = host_style(host, ROLE_DIM).fg;
			else if (list->is_dark[i]) {
				const struct style disabled = host_style(host, ROLE_DISABLED);
				style.fg = disabled.fg;
				style.attrs |= disabled.attrs;
			}
		}
		if (list_columns[i].is_right)
			region_text_right(
				r, at, list->column_at[i], list->column_cols[i], style, text);
		else
			region_text(
				r, at, list->column_at[i], list->column_cols[i], style, text);
	}
}

static void draw_empty(struct list *list, struct region r)
{
	struct host *host = list->view.host;
	struct style dim = host_style(host, ROLE_DIM);
	if (!fleet_is_synced(list_fleet(list))) {
		region_text(r, 1, 2, r.cols - 2, dim, "waiting for the first answer …");
		return;
	}
	if (*list_index_filter_text(list->index)) {
		region_text(
			r, 1, 2, r.cols - 2, dim, "Nothing fits the filter. Esc clears it.");
		return;
	}
	const char *namespace_ = host->ops->namespace_(host);
	if (is_hidden(list, FLEET_CLAIMS)) {
		region_text(r, 1, 2, r.cols - 2, dim,
			is_hidden(list, FLEET_SANDBOXES)
				? "Neither sandboxclaims nor sandboxes may be listed here."
				: "There are no Sandboxes; sandboxclaims may not be listed here.");
		return;
	}
	if (*namespace_)
		region_textf(
			r, 1, 2, r.cols - 2, dim, "No sandboxes in namespace %s.", namespace_);
	else
		region_text(r, 1, 2, r.cols - 2, dim, "No sandboxes.");
	struct err why;
	bool can = row_command_can(&list->view, "create", &why);
	region_text(r, 2, 2, r.cols - 2, dim, can ? "n creates one." : why.msg);
}

static void draw_direct(struct list *list, struct region r, bool is_focused)
{
	struct host *host = list->view.host;
	struct style style = host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	region_text(
		r, 0, 0, r.cols, host_style(host, ROLE_ACCENT), "one sandbox, by its address");
	region_text(r, 1, 2, r.cols - 2, host_style(host, ROLE_HEADER), "ADDRESS");
	region_fill(region_sub(r, 0, 2, r.cols, 1), style);
	region_text(r, 2, 2, r.cols - 2, style, engine_context(host->engine));
	struct style dim = host_style(host, ROLE_DIM);
	struct err why;
	bool can = row_command_can(&list->view, "shell", &why);
	region_text(r, 4, 2, r.cols - 2, dim,
		can ? "s shell   f files   d health and metadata" : "f files");
	if (!can)
		region_text(r, 5, 2, r.cols - 2, host_style(host, ROLE_DISABLED), why.msg);
}

void list_draw(struct view *view, struct region r, bool is_focused)
{
	struct list *list = list_of(view);
	list->shows_seconds = false;
	list->is_stale = host_is_stale(view->host);
	list->rows_shown = 0;
	if (!list_fleet(list)) {
		list->first_row = 2;
		draw_direct(list, r, is_focused);
		return;
	}
	list_follow(view);
	list_index_namespace(list->index, view->host->ops->namespace_(view->host));
	list_keep_cursor(list);
	int head = list_draw_head(list, r);
	for (int i = 0; i < COLUMN_COUNT; i++)
		list->is_dark[i] = column_dark(list, i);
	lay_columns(list, r.cols);
	list->header_row = head;
	draw_header(list, region_sub(r, 0, head, r.cols, 1));
	list->first_row = head + 1;
	struct region rows =
		region_sub(r, 0, list->first_row, r.cols, r.rows - list->first_row);
	size_t n = list_index_count(list->index), room = (size_t)rows.rows;
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
		const struct fleet_row *row =
			fleet_find(list_fleet(list), list_index_at(list->index, list->top + i));
		if (row)
			draw_row(list, rows, (int)i, row, list->top + i == list->cursor_at,
				is_focused);
		list->rows_shown++;
	}
}
