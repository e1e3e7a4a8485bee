// SPDX-License-Identifier: Apache-2.0
// The sandbox list: counters, the state of the data, a table in the order of list_index.
//
// The cursor is a uid. When its row goes, the one that took its place gets it. Rows are looked up in the fleet as
// they are drawn, so nothing here is ever older than the store.
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/list_index.h"
#include "tui/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SOURCES_MAX = 16,
	MANY_CHANGES = 2000,
	HEAD_ROWS = 2,
	FLEX_COLS = 24, /* what name and why want at least */
	NAME_COLS_MIN = 14,
	NAME_COLS_MAX = 40,
	RANK_AGE = 2,
};

struct list {
	struct view view;
	struct list_index *index;
	const struct fleet
		*fleet;    /* whose rows these are: another namespace brings another one */
	uint64_t revision; /* of the fleet, as last taken over */
	char cursor[FLEET_UID_BYTES];
	size_t cursor_at, top;
	int rows_shown, first_row; /* of the last draw */
	int header_row;
	int column_at[COLUMN_COUNT], column_cols[COLUMN_COUNT]; /* -1: not shown */
	bool is_rebuilding;
	bool shows_seconds;
};

static const struct {
	const char *title;
	const char *sort_name;
	int cols; /* wanted; 0: shares what is left */
	int rank; /* the smaller stays longer when it gets narrow */
	bool is_right;
} columns[] = {
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
_Static_assert(sizeof columns / sizeof columns[0] == COLUMN_COUNT, "a row for each column");

static struct list *list_of(const struct view *view)
{
	return (struct list *)(uintptr_t)view;
}

static struct fleet *fleet_of(const struct list *list)
{
	return engine_fleet(list->view.host->engine);
}

static const struct fleet_row *row_of(void *arg, const char *uid)
{
	struct list *list = arg;
	return fleet_find(fleet_of(list), uid);
}

static enum key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LIST;
}

/* ---- following the fleet */

static void take_all(struct list *list)
{
	struct fleet *fleet = fleet_of(list);
	/* marks belong to uids, not to this index: keep them */
	const char **marked =
		x_calloc(list_index_marked_count(list->index) + 1, sizeof *marked);
	size_t n = list_index_marked(list->index, marked, list_index_marked_count(list->index));
	char **kept = x_calloc(n + 1, sizeof *kept);
	for (size_t i = 0; i < n; i++)
		kept[i] = x_strdup(marked[i]);
	free(marked);
	list_index_clear(list->index);
	list_index_begin(list->index);
	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		list_index_update(list->index, row->uid, row);
	}
	list_index_end(list->index);
	for (size_t i = 0; i < n; i++) {
		list_index_mark(list->index, kept[i], true);
		free(kept[i]);
	}
	free(kept);
}

static void count_change(void *arg, const char *uid, const struct fleet_row *row)
{
	size_t *n = arg;
	(void)row;
	*n = uid ? *n + 1 : (size_t)-1 / 2;
}

static void on_change(void *arg, const char *uid, const struct fleet_row *row)
{
	struct list *list = arg;
	if (!uid)
		list->is_rebuilding = true;
	else
		list_index_update(list->index, uid, row);
}

static void keep_cursor(struct list *list)
{
	size_t n = list_index_count(list->index);
	size_t at = *list->cursor ? list_index_find(list->index, list->cursor) : (size_t)-1;
	if (at == (size_t)-1)
		at = list->cursor_at < n ? list->cursor_at : n ? n - 1 : 0;
	list->cursor_at = at;
	list->cursor[0] = 0;
	if (n)
		snprintf(list->cursor, sizeof list->cursor, "%s",
			list_index_at(list->index, at));
}

static void changed(struct view *view)
{
	struct list *list = list_of(view);
	struct fleet *fleet = fleet_of(list);
	if (fleet != list->fleet) {
		list_index_clear(list->index);
		list->fleet = fleet;
		list->revision = 0;
	}
	if (!fleet || fleet_revision(fleet) == list->revision)
		return;
	size_t n = 0;
	bool is_first = list->revision == 0;
	if (!is_first)
		fleet_changes(fleet, list->revision, count_change, &n);
	list->is_rebuilding = is_first;
	if (!is_first && n < (size_t)-1 / 2) {
		bool is_many = n > MANY_CHANGES;
		if (is_many)
			list_index_begin(list->index);
		fleet_changes(fleet, list->revision, on_change, list);
		if (is_many)
			list_index_end(list->index);
	}
	if (list->is_rebuilding || n >= (size_t)-1 / 2)
		take_all(list);
	list->is_rebuilding = false;
	list->revision = fleet_revision(fleet);
	keep_cursor(list);
}

/* ---- drawing */

static void draw_counters(struct list *list, struct region r)
{
	struct host *host = list->view.host;
	struct fleet_counters counters = fleet_counters_of(fleet_of(list));
	struct style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	size_t shown = list_index_count(list->index), total = list_index_total(list->index);
	if (!list_index_shows_warm(list->index))
		total -= counters.by_state[FLEET_WARM];
	int col = shown == total ? region_textf(r, 0, 0, r.cols, host_style(host, ROLE_ACCENT),
					   "%zu sandbox%s", shown, shown == 1 ? "" : "es")
				 : region_textf(r, 0, 0, r.cols, host_style(host, ROLE_ACCENT),
					   "%zu of %zu sandboxes", shown, total);
	for (int state = 0; state < FLEET_STATE_COUNT; state++) {
		if (!counters.by_state[state])
			continue;
		col += region_text(r, 0, col, r.cols - col, dim, "  ");
		col += region_textf(r, 0, col, r.cols - col,
			host_style(host, host_state_role((enum fleet_state)state)), "%zu %s",
			counters.by_state[state], fleet_state_name((enum fleet_state)state));
	}
	if (counters.expiring)
		col += region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_WARNING),
			"  %zu expiring", counters.expiring);
	size_t marked = list_index_marked_count(list->index);
	if (marked)
		col += region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_MARKED),
			"  %zu marked", marked);
	const char *filter = list_index_filter_text(list->index);
	if (*filter)
		region_textf(r, 0, col, r.cols - col, text, "  /%s", filter);
}

/* "data 3s old", at the right; returns its columns. */
static int draw_age(struct list *list, struct region r, int64_t age_ms, bool is_bad)
{
	char text[CLOCK_AGE_BYTES], label[CLOCK_AGE_BYTES + 16];
	if (!fleet_is_synced(fleet_of(list)))
		return 0;
	snprintf(label, sizeof label, "data %s old", clock_format_age(age_ms, text));
	int cols = text_cols(label);
	list->shows_seconds = true;
	region_text(r, 0, r.cols - cols, cols,
		host_style(list->view.host, is_bad ? ROLE_WARNING : ROLE_DIM), label);
	return cols + 2;
}

/* How fresh the data is, and what is wrong with it. */
static void draw_freshness(struct list *list, struct region r)
{
	struct host *host = list->view.host;
	struct style warning = host_style(host, ROLE_WARNING);
	struct fleet_source sources[SOURCES_MAX];
	size_t n = fleet_sources(fleet_of(list), sources, SOURCES_MAX);
	struct str trouble;
	int64_t age = 0;
	str_init(&trouble, 4096);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_source *s = &sources[i];
		age = s->age_ms > age ? s->age_ms : age;
		if (strcmp(s->state_name, "live") == 0 ||
			strcmp(s->state_name, "starting") == 0)
			continue;
		str_addf(&trouble, "%s%s %s", trouble.n ? "  " : "! ", s->resource,
			s->state_name);
		if (s->error && *s->error)
			str_addf(&trouble, ": %s", s->error);
	}
	int age_cols = draw_age(list, r, age, trouble.n > 0);
	if (trouble.n)
		region_text(r, 0, 0, r.cols - age_cols, warning, trouble.p);
	else if (!fleet_is_synced(fleet_of(list)))
		region_textf(r, 0, 0, r.cols, host_style(host, ROLE_BUSY), "asking %s …",
			engine_server(host->engine));
	str_deinit(&trouble);
}

static int wanted_cols(int column)
{
	return columns[column].cols ? columns[column].cols + 1 : FLEX_COLS;
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
			if (columns[i].rank == rank && is_shown[i] && fixed > cols) {
				is_shown[i] = false;
				fixed -= wanted_cols(i);
			}
	}
	int left = cols - 2;
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (is_shown[i] && columns[i].cols)
			left -= columns[i].cols + 1;
		n_flex += is_shown[i] && !columns[i].cols;
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
		int width = columns[i].cols    ? columns[i].cols
			    : i == COLUMN_NAME ? name_cols
					       : left - name_cols;
		list->column_at[i] = at;
		list->column_cols[i] = width > 0 ? width : 0;
		at += list->column_cols[i] + 1;
	}
}

static void draw_header(struct list *list, struct region r)
{
	struct host *host = list->view.host;
	struct style style = host_style(host, ROLE_HEADER);
	enum list_column sorted = list_index_column(list->index);
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (list->column_at[i] < 0)
			continue;
		char title[32];
		bool is_sorted = (int)sorted == i;
		snprintf(title, sizeof title, "%s%s", columns[i].title,
			!is_sorted                            ? ""
			: list_index_is_reversed(list->index) ? "↓"
							      : "↑");
		if (columns[i].is_right)
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

static void draw_row(struct list *list, struct region r, int at, const struct fleet_row *row,
	bool is_cursor, bool is_focused)
{
	struct host *host = list->view.host;
	bool is_marked = list_index_is_marked(list->index, row->uid);
	struct style base = host_style(host, is_marked ? ROLE_MARKED : ROLE_TEXT);
	if (is_cursor)
		base = host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	region_fill(region_sub(r, 0, at, r.cols, 1), base);
	if (is_marked)
		region_text(r, at, 0, 1, base, "*");
	for (int i = 0; i < COLUMN_COUNT; i++) {
		if (list->column_at[i] < 0)
			continue;
		char buffer[64];
		const char *text = cell_text(row, i, buffer);
		struct style style = base;
		if (!(is_cursor && is_focused)) {
			if (i == COLUMN_STATE)
				style.fg = host_style(host, host_state_role(row->state)).fg;
			else if (i == COLUMN_RESTARTS && row->restarts)
				style.fg = host_style(host, ROLE_WARNING).fg;
			else if (i == COLUMN_WHY)
				style.fg = host_style(host, ROLE_DIM).fg;
		}
		if (columns[i].is_right)
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
	if (!fleet_is_synced(fleet_of(list))) {
		region_text(r, 1, 2, r.cols - 2, dim, "waiting for the first answer …");
		return;
	}
	if (*list_index_filter_text(list->index)) {
		region_text(
			r, 1, 2, r.cols - 2, dim, "Nothing fits the filter. Esc clears it.");
		return;
	}
	const char *namespace_ = host->ops->namespace_(host);
	if (*namespace_)
		region_textf(
			r, 1, 2, r.cols - 2, dim, "No sandboxes in namespace %s.", namespace_);
	else
		region_text(r, 1, 2, r.cols - 2, dim, "No sandboxes.");
	region_text(r, 2, 2, r.cols - 2, dim, "n creates one.");
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
	region_text(r, 4, 2, r.cols - 2, host_style(host, ROLE_DIM),
		"s shell   f files   d health and metadata");
}

static void draw(struct view *view, struct region r, bool is_focused)
{
	struct list *list = list_of(view);
	list->shows_seconds = false;
	list->rows_shown = 0;
	if (!fleet_of(list)) {
		list->first_row = 2;
		draw_direct(list, r, is_focused);
		return;
	}
	changed(view);
	list_index_namespace(list->index, view->host->ops->namespace_(view->host));
	keep_cursor(list);
	int head = HEAD_ROWS;
	draw_counters(list, region_sub(r, 0, 0, r.cols, 1));
	draw_freshness(list, region_sub(r, 0, 1, r.cols, 1));
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
			fleet_find(fleet_of(list), list_index_at(list->index, list->top + i));
		if (row)
			draw_row(list, rows, (int)i, row, list->top + i == list->cursor_at,
				is_focused);
		list->rows_shown++;
	}
}

/* ---- hands */

static void go_to(struct list *list, size_t at)
{
	size_t n = list_index_count(list->index);
	if (!n)
		return;
	list->cursor_at = at < n ? at : n - 1;
	snprintf(list->cursor, sizeof list->cursor, "%s",
		list_index_at(list->index, list->cursor_at));
	host_dirty(list->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct list *list = self;
	size_t page = list->rows_shown > 1 ? (size_t)list->rows_shown - 1 : 1;
	size_t at = list->cursor_at, n = list_index_count(list->index);
	if (strcmp(args, "up") == 0)
		at = at ? at - 1 : 0;
	else if (strcmp(args, "down") == 0)
		at++;
	else if (strcmp(args, "page-up") == 0)
		at = at > page ? at - page : 0;
	else if (strcmp(args, "page-down") == 0)
		at += page;
	else if (strcmp(args, "first") == 0)
		at = 0;
	else if (strcmp(args, "last") == 0)
		at = n ? n - 1 : 0;
	else
		return err_set(err, ERR_ARG_INVALID,
			"move up, down, page-up, page-down, first or last");
	go_to(list, at);
	return true;
}

static bool run_mark(void *self, const char *args, struct err *err)
{
	struct list *list = self;
	(void)err;
	if (strcmp(args, "all") == 0) {
		list_index_mark_shown(list->index, true);
	} else if (strcmp(args, "none") == 0) {
		list_index_unmark_all(list->index);
	} else if (*list->cursor) {
		list_index_mark(list->index, list->cursor,
			!list_index_is_marked(list->index, list->cursor));
		go_to(list, list->cursor_at + 1);
	}
	host_dirty(list->view.host);
	return true;
}

static void sort_by(struct list *list, enum list_column column)
{
	bool again = list_index_column(list->index) == column;
	list_index_sort(list->index, column, again && !list_index_is_reversed(list->index));
	keep_cursor(list);
	host_dirty(list->view.host);
}

static bool run_sort(void *self, const char *args, struct err *err)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (strcmp(args, columns[i].sort_name) == 0) {
			sort_by(self, (enum list_column)i);
			return true;
		}
	return err_set(err, ERR_ARG_INVALID, "there is no column '%s'", args);
}

static bool run_warm(void *self, const char *args, struct err *err)
{
	struct list *list = self;
	(void)args;
	(void)err;
	list_index_show_warm(list->index, !list_index_shows_warm(list->index));
	keep_cursor(list);
	host_dirty(list->view.host);
	return true;
}

static const struct command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor", run_move },
	{ "mark", "[all|none]", "mark a sandbox, all that are shown, or none", run_mark },
	{ "sort", "COLUMN", "sort by a column; the same again reverses", run_sort },
	{ "warm", "", "show or hide the warm sandboxes of the pools", run_warm },
};

static bool mouse(struct view *view, const struct mouse *mouse)
{
	struct list *list = list_of(view);
	if (mouse->action == MOUSE_WHEEL_UP)
		go_to(list, list->cursor_at > 3 ? list->cursor_at - 3 : 0);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		go_to(list, list->cursor_at + 3);
	if (mouse->action != MOUSE_PRESS || mouse->button != 1)
		return true;
	if (!fleet_of(list)) {
		if (mouse->clicks == 2 && mouse->row == list->first_row)
			view->host->ops->run(view->host, "detail");
		return true;
	}
	if (mouse->row == list->header_row) {
		for (int i = 0; i < COLUMN_COUNT; i++)
			if (list->column_at[i] >= 0 && mouse->col >= list->column_at[i] &&
				mouse->col < list->column_at[i] + list->column_cols[i])
				sort_by(list, (enum list_column)i);
		return true;
	}
	int row = mouse->row - list->first_row;
	if (row < 0 || row >= list->rows_shown)
		return true;
	go_to(list, list->top + (size_t)row);
	if (mouse->mods & MOD_CTRL)
		run_mark(list, "", NULL);
	else if (mouse->clicks == 2)
		view->host->ops->run(view->host, "detail");
	return true;
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	struct list *list = list_of(view);
	size_t n = list_index_marked(list->index, uids, max);
	if (!n && *list->cursor && max)
		uids[n++] = list->cursor;
	return n;
}

static void filter(struct view *view, const char *text)
{
	struct list *list = list_of(view);
	list_index_filter(list->index, text);
	keep_cursor(list);
	host_dirty(view->host);
}

static const char *filter_text(const struct view *view)
{
	return list_index_filter_text(list_of(view)->index);
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "sandboxes");
}

static int64_t redraw_after_ms(const struct view *view)
{
	return list_of(view)->shows_seconds ? 1000 : 10000;
}

static bool shows(const struct view *view, const struct view_args *args)
{
	(void)view;
	(void)args;
	return true;
}

static struct view *open_list(struct host *host, const struct view_args *args, struct err *err)
{
	struct list *list = x_calloc(1, sizeof *list);
	(void)args;
	(void)err;
	list->view.class = &view_sandboxes;
	list->view.host = host;
	list->index = list_index_new(row_of, list);
	return &list->view;
}

static void free_list(struct view *view)
{
	struct list *list = list_of(view);
	list_index_free(list->index);
	free(list);
}

const struct view_class view_sandboxes = {
	.name = "sandboxes",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_list,
	.free = free_list,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.changed = changed,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
