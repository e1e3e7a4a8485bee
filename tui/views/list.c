// SPDX-License-Identifier: Apache-2.0
// The sandbox list: a table in the order of list_index that follows the fleet.
//
// The cursor is a uid. When its row goes, the one that took its place gets it.
#include "tui/views/list.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/move.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_CHANGES = 2000 };

static const struct fleet_row *row_of(void *arg, const char *uid)
{
	struct list *list = arg;
	return fleet_find(list_fleet(list), uid);
}

static enum key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LIST;
}

/* ---- following the fleet */

static void take_all(struct list *list)
{
	struct fleet *fleet = list_fleet(list);
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

void list_keep_cursor(struct list *list)
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

void list_follow(struct view *view)
{
	struct list *list = list_of(view);
	struct fleet *fleet = list_fleet(list);
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
	bool is_gone = *list->cursor && !fleet_find(fleet, list->cursor);
	list_keep_cursor(list);
	if (is_gone && *list->cursor)
		list->slipped_ms = clock_mono_ms();
}

static void changed(struct view *view)
{
	struct list *list = list_of(view);
	if (list->fleet != list_fleet(list) ||
		(list->fleet && fleet_revision(list->fleet) != list->revision))
		host_dirty(view->host);
}

/* ---- hands */

static void go_to(struct list *list, size_t at)
{
	size_t n = list_index_count(list->index);
	if (!n)
		return;
	list->cursor_at = at < n ? at : n - 1;
	list->slipped_ms = 0; /* chosen by hand */
	snprintf(list->cursor, sizeof list->cursor, "%s",
		list_index_at(list->index, list->cursor_at));
	host_dirty(list->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct list *list = self;
	size_t n = list_index_count(list->index), at = list->cursor_at;
	if (!view_move(args, list->rows_shown, n > 0 ? n - 1 : 0, &at, err))
		return false;
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
	list_keep_cursor(list);
	host_dirty(list->view.host);
}

static bool run_sort(void *self, const char *args, struct err *err)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (strcmp(args, list_columns[i].sort_name) == 0) {
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
	list_keep_cursor(list);
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
	if (!list_fleet(list)) {
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
	/* a key that was on its way to the row that went is not for the one that took its place */
	bool has_slipped =
		list->slipped_ms && clock_mono_ms() - list->slipped_ms < LIST_SLIP_MS;
	bool is_there = *list->cursor && fleet_find(list_fleet(list), list->cursor);
	if (!n && max && is_there && !has_slipped)
		uids[n++] = list->cursor;
	return n;
}

static void filter(struct view *view, const char *text)
{
	struct list *list = list_of(view);
	list_index_filter(list->index, text);
	list_keep_cursor(list);
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
	return list_of(view)->shows_seconds ? 1000 : LIST_AGE_STEP_MS;
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
	.draw = list_draw,
	.mouse = mouse,
	.changed = changed,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
