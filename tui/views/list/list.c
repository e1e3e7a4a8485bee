// SPDX-License-Identifier: Apache-2.0
// The sandbox list: a table in the order of a collection that follows the fleet.
//
// The cursor is a uid. When its row goes, the one that took its place gets it.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_CHANGES = 2000 };

static const void *row_of(void *arg, const char *uid)
{
	struct views_list *list = arg;
	return fleet_find(list_fleet(list), uid);
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LIST;
}

/* ---- following the fleet */

static void take_all(struct views_list *list)
{
	struct fleet *fleet = list_fleet(list);
	/* marks belong to uids, not to this index: keep them */
	const char **marked =
		x_calloc(resource_collection_marked_count(list->rows) + 1, sizeof *marked);
	size_t n = resource_collection_marked(
		list->rows, marked, resource_collection_marked_count(list->rows));
	char **kept = x_calloc(n + 1, sizeof *kept);
	for (size_t i = 0; i < n; i++)
		kept[i] = x_strdup(marked[i]);
	free(marked);
	resource_collection_clear(list->rows);
	resource_collection_begin(list->rows);
	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		resource_collection_update(list->rows, row->uid, row);
	}
	resource_collection_end(list->rows);
	for (size_t i = 0; i < n; i++) {
		resource_collection_mark(list->rows, kept[i], true);
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
	struct views_list *list = arg;
	if (!uid)
		list->is_rebuilding = true;
	else
		resource_collection_update(list->rows, uid, row);
}

void views_list_keep_cursor(struct views_list *list)
{
	size_t n = resource_collection_count(list->rows);
	size_t at = *list->cursor ? resource_collection_find(list->rows, list->cursor)
				  : RESOURCE_NOWHERE;
	if (at == RESOURCE_NOWHERE)
		at = list->cursor_at < n ? list->cursor_at : n ? n - 1 : 0;
	list->cursor_at = at;
	list->cursor[0] = 0;
	if (n)
		snprintf(list->cursor, sizeof list->cursor, "%s",
			resource_collection_at(list->rows, at));
}

void views_list_follow(struct view *view)
{
	struct views_list *list = list_of(view);
	struct fleet *fleet = list_fleet(list);
	if (fleet != list->fleet) {
		resource_collection_clear(list->rows);
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
			resource_collection_begin(list->rows);
		fleet_changes(fleet, list->revision, on_change, list);
		if (is_many)
			resource_collection_end(list->rows);
	}
	if (list->is_rebuilding || n >= (size_t)-1 / 2)
		take_all(list);
	list->is_rebuilding = false;
	list->revision = fleet_revision(fleet);
	bool is_gone = *list->cursor && !fleet_find(fleet, list->cursor);
	views_list_keep_cursor(list);
	if (is_gone && *list->cursor)
		list->slipped_ms = clock_mono_ms();
}

static void changed(struct view *view)
{
	struct views_list *list = list_of(view);
	if (list->fleet != list_fleet(list) ||
		(list->fleet && fleet_revision(list->fleet) != list->revision))
		host_dirty(view->host);
}

/* ---- hands */

static void go_to(struct views_list *list, size_t at)
{
	size_t n = resource_collection_count(list->rows);
	if (!n)
		return;
	list->cursor_at = at < n ? at : n - 1;
	list->slipped_ms = 0; /* chosen by hand */
	snprintf(list->cursor, sizeof list->cursor, "%s",
		resource_collection_at(list->rows, list->cursor_at));
	host_dirty(list->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	size_t n = resource_collection_count(list->rows), at = list->cursor_at;
	if (!widget_cursor_motion(args, list->rows_shown, n > 0 ? n - 1 : 0, &at, err))
		return false;
	go_to(list, at);
	return true;
}

static bool run_mark(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	(void)err;
	if (strcmp(args, "all") == 0) {
		resource_collection_mark_shown(list->rows, true);
	} else if (strcmp(args, "none") == 0) {
		resource_collection_unmark_all(list->rows);
	} else if (*list->cursor) {
		resource_collection_mark(list->rows, list->cursor,
			!resource_collection_is_marked(list->rows, list->cursor));
		go_to(list, list->cursor_at + 1);
	}
	host_dirty(list->view.host);
	return true;
}

static void sort_by(struct views_list *list, int column)
{
	bool again = resource_collection_column(list->rows) == column;
	resource_collection_sort(
		list->rows, column, again && !resource_collection_is_reversed(list->rows));
	views_list_keep_cursor(list);
	host_dirty(list->view.host);
}

static bool run_sort(void *self, const char *args, struct err *err)
{
	int column = resource_find_column(&fleet_sandbox_kind, args);
	if (column != RESOURCE_NONE && resource_is_among(column, fleet_sandbox_kind.screen)) {
		sort_by(self, column);
		return true;
	}
	return err_set(err, ERR_ARG_INVALID, "there is no column '%s'", args);
}

static bool run_warm(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	(void)args;
	(void)err;
	resource_collection_show_aside(
		list->rows, !resource_collection_shows_aside(list->rows));
	views_list_keep_cursor(list);
	host_dirty(list->view.host);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor", run_move },
	{ "mark", "[all|none]", "mark a sandbox, all that are shown, or none", run_mark },
	{ "sort", "COLUMN", "sort by a column; the same again reverses", run_sort },
	{ "warm", "", "show or hide the warm sandboxes of the pools", run_warm },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_list *list = list_of(view);
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
		int i;
		RESOURCE_EACH(i, fleet_sandbox_kind.screen)
			if (list->column_at[i] >= 0 && mouse->col >= list->column_at[i] &&
				mouse->col < list->column_at[i] + list->column_cols[i])
				sort_by(list, i);
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
	struct views_list *list = list_of(view);
	size_t n = resource_collection_marked(list->rows, uids, max);
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
	struct views_list *list = list_of(view);
	resource_collection_filter(list->rows, text);
	views_list_keep_cursor(list);
	host_dirty(view->host);
}

static const char *filter_text(const struct view *view)
{
	return resource_collection_filter_text(list_of(view)->rows);
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

static struct view *open_list(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct views_list *list = x_calloc(1, sizeof *list);
	(void)args;
	(void)err;
	list->view.class = &view_sandboxes;
	list->view.host = host;
	list->rows = resource_collection_new(&fleet_sandbox_kind, row_of, list);
	return &list->view;
}

static void free_list(struct view *view)
{
	struct views_list *list = list_of(view);
	resource_collection_free(list->rows);
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
	.draw = views_list_draw,
	.mouse = mouse,
	.changed = changed,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
