// SPDX-License-Identifier: Apache-2.0
// A list: a table in the order of a collection that follows a source of rows.
//
// The cursor is a uid. When its row goes, the one that took its place gets it.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/state_store.h"
#include "engine/resource/filter.h"
#include "tui/widgets/cursor_motion.h"

#include <stdio.h>
#include <string.h>

static const void *row_of(void *arg, const char *uid)
{
	const struct views_list *list = arg;
	return views_list_find(list, uid);
}

/* ---- the order, from run to run: "age", or "age-" for the other way round */

static void order_key(const struct views_list *list, char key[STATE_STORE_KEY_BYTES])
{
	snprintf(key, STATE_STORE_KEY_BYTES, "list.sort.%s", list->kind->name);
}

static void take_order(struct views_list *list)
{
	char key[STATE_STORE_KEY_BYTES], name[32];
	order_key(list, key);
	const char *order = state_store_get(list->view.host->remembered, key);
	if (!order || strlen(order) >= sizeof name)
		return;
	size_t n = strcspn(order, "-");
	snprintf(name, sizeof name, "%.*s", (int)n, order);
	int column = resource_find_column(list->kind, name);
	if (column != RESOURCE_NONE)
		resource_collection_sort(list->rows, column, order[n] == '-');
}

static void keep_order(const struct views_list *list)
{
	char key[STATE_STORE_KEY_BYTES], order[64];
	order_key(list, key);
	snprintf(order, sizeof order, "%s%s",
		list->kind->columns[resource_collection_column(list->rows)].name,
		resource_collection_is_reversed(list->rows) ? "-" : "");
	state_store_set(list->view.host->remembered, key, order);
}

static void take_screen(struct views_list *list, int before)
{
	int i, n = 0;
	RESOURCE_EACH(i, list->kind->screen) {
		if (before == i)
			list->screen[n++] = list->kind->n_columns;
		list->screen[n++] = i;
	}
	list->screen[n] = RESOURCE_NONE;
}

void views_list_add_column(
	struct views_list *list, const struct views_list_own_column *own, const char *before)
{
	list->own = own;
	take_screen(list, resource_find_column(list->kind, before));
}

void views_list_init(struct views_list *list, struct view_host *host,
	const struct view_class *class, const struct resource_kind *kind,
	struct resource_source (*source)(const struct views_list *list))
{
	list->view.class = class;
	list->view.host = host;
	list->kind = kind;
	list->source = source;
	take_screen(list, RESOURCE_NONE);
	list->rows = resource_collection_new(kind, row_of, list);
	take_order(list);
}

void views_list_deinit(struct views_list *list)
{
	resource_collection_free(list->rows);
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

bool views_list_is_behind(const struct views_list *list)
{
	const struct resource_source source = list->source(list);
	return resource_follower_is_behind(&list->follower, &source);
}

void views_list_changed(struct view *view)
{
	if (views_list_is_behind(list_of(view)))
		host_dirty(view->host);
}

void views_list_follow(struct views_list *list)
{
	const struct resource_source source = list->source(list);
	if (resource_collection_tick(list->rows))
		views_list_keep_cursor(list);
	if (!resource_follow(&list->follower, &source, list->rows) || !source.self)
		return;
	bool is_gone = *list->cursor && !views_list_find(list, list->cursor);
	views_list_keep_cursor(list);
	if (is_gone && *list->cursor)
		list->slipped_ms = clock_mono_ms();
}

/* ---- hands */

static void go_to(struct views_list *list, size_t at)
{
	size_t n = resource_collection_count(list->rows);
	if (!n)
		return;
	list->cursor_at = at < n ? at : n - 1;
	list->slipped_ms = 0; /* chosen by hand */
	list->moved_ms = clock_mono_ms();
	snprintf(list->cursor, sizeof list->cursor, "%s",
		resource_collection_at(list->rows, list->cursor_at));
	host_dirty(list->view.host);
}

bool views_list_move(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	size_t n = resource_collection_count(list->rows), at = list->cursor_at;
	if (!widget_cursor_motion(args, list->rows_shown, n > 0 ? n - 1 : 0, &at, err))
		return false;
	go_to(list, at);
	return true;
}

/* Of those that are shown, what fits a filter: a pattern, a label, a state. False: nothing does, or it is none. */
static bool mark_fitting(struct views_list *list, const char *text, struct err *err)
{
	struct resource_filter *filter = resource_filter_parse(list->kind, text, err);
	size_t n = 0;
	if (!filter)
		return false;
	for (size_t i = 0; i < resource_collection_count(list->rows); i++) {
		const char *uid = resource_collection_at(list->rows, i);
		const void *row = views_list_find(list, uid);
		if (row && resource_filter_fits(filter, row)) {
			resource_collection_mark(list->rows, uid, true);
			n++;
		}
	}
	resource_filter_free(filter);
	return n > 0 || err_set(err, ERR_ARG_INVALID, "nothing that is shown fits '%s'", text);
}

bool views_list_mark(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	if (strcmp(args, "all") == 0) {
		resource_collection_mark_shown(list->rows, true);
	} else if (strcmp(args, "none") == 0) {
		resource_collection_unmark_all(list->rows);
	} else if (*args) {
		if (!mark_fitting(list, args, err))
			return false;
	} else if (*list->cursor) {
		resource_collection_mark(list->rows, list->cursor,
			!resource_collection_is_marked(list->rows, list->cursor));
		go_to(list, list->cursor_at + 1);
	}
	host_dirty(list->view.host);
	return true;
}

bool views_list_clear_marks(struct views_list *list)
{
	if (!resource_collection_marked_count(list->rows))
		return false;
	resource_collection_unmark_all(list->rows);
	host_dirty(list->view.host);
	return true;
}

static void sort_by(struct views_list *list, int column)
{
	bool again = resource_collection_column(list->rows) == column;
	resource_collection_sort(
		list->rows, column, again && !resource_collection_is_reversed(list->rows));
	keep_order(list);
	views_list_keep_cursor(list);
	host_dirty(list->view.host);
}

bool views_list_sort(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	int column = resource_find_column(list->kind, args);
	if (column != RESOURCE_NONE) {
		sort_by(list, column);
		return true;
	}
	return err_set(err, ERR_ARG_INVALID, "there is no column '%s'", args);
}

bool views_list_mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_list *list = list_of(view);
	if (mouse->action == MOUSE_WHEEL_UP)
		go_to(list, list->cursor_at > 3 ? list->cursor_at - 3 : 0);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		go_to(list, list->cursor_at + 3);
	if (mouse->action != MOUSE_PRESS || mouse->button != 1)
		return true;
	if (mouse->row == list->header_row) {
		int i;
		RESOURCE_EACH(i, list->screen)
			if (!views_list_is_own(list, i) && list->column_at[i] >= 0 &&
				mouse->col >= list->column_at[i] &&
				mouse->col < list->column_at[i] + list->column_cols[i])
				sort_by(list, i);
		return true;
	}
	int row = mouse->row - list->first_row;
	if (row < 0 || row >= list->rows_shown)
		return true;
	go_to(list, list->top + (size_t)row);
	if (mouse->mods & MOD_CTRL)
		views_list_mark(list, "", NULL);
	else if (mouse->clicks == 2)
		view->host->ops->run(view->host, "detail");
	return true;
}

const void *views_list_row(const struct views_list *list)
{
	/* a key that was on its way to the row that went is not for the one that took its place */
	bool has_slipped =
		list->slipped_ms && clock_mono_ms() - list->slipped_ms < LIST_SLIP_MS;
	return *list->cursor && !has_slipped ? views_list_find(list, list->cursor) : NULL;
}

size_t views_list_marked_or_cursor(const struct views_list *list, const char **uids, size_t max)
{
	size_t n = resource_collection_marked(list->rows, uids, max);
	if (!n && max && views_list_row(list))
		uids[n++] = list->cursor;
	return n;
}

void views_list_filter(struct view *view, const char *text)
{
	struct views_list *list = list_of(view);
	resource_collection_filter(list->rows, text);
	views_list_keep_cursor(list);
	host_dirty(view->host);
}

const char *views_list_filter_text(const struct view *view)
{
	return resource_collection_filter_text(list_of(view)->rows);
}

const char *views_list_filter_error(const struct view *view)
{
	return resource_collection_filter_error(list_of(view)->rows);
}

int64_t views_list_redraw_after_ms(const struct view *view)
{
	return list_of(view)->shows_seconds ? 1000 : LIST_AGE_STEP_MS;
}
