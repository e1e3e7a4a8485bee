// SPDX-License-Identifier: Apache-2.0
// The view over a command on several sandboxes: how far it is, and what became of each; those that failed first.
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "tui/draw/surface.h"
#include "tui/views/actions/actions.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_ROWS = 2, NAME_COLS_MAX = 40, BAR_COLS_MAX = 30 };

struct bulk_view {
	struct view view;
	size_t top, cursor;
	int rows_shown;
};

static struct bulk_view *self_of(const struct view *view)
{
	return (struct bulk_view *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_BULK;
}

/* ---- order: what wants to be looked at stands first */

static const struct {
	enum fleet_bulk_result result;
	const char *glyph;
	enum draw_theme_role role;
} order[] = {
	{ FLEET_BULK_FAILED, "✗", ROLE_ERROR },
	{ FLEET_BULK_RUNNING, "◐", ROLE_BUSY },
	{ FLEET_BULK_CANCELLED, "–", ROLE_WARNING },
	{ FLEET_BULK_WAITING, "·", ROLE_DIM },
	{ FLEET_BULK_DONE, "✓", ROLE_OK },
	{ FLEET_BULK_UNCHANGED, "=", ROLE_DIM },
};
enum { ORDER_COUNT = sizeof order / sizeof *order };
_Static_assert((int)ORDER_COUNT == (int)FLEET_BULK_RESULT_COUNT, "a place for each");

/* Calls fn for the items of these positions in that order. */
static void each_shown(const struct fleet_bulk *bulk, size_t from, size_t n,
	void (*fn)(void *arg, size_t at, const struct fleet_bulk_item *item, int place),
	void *arg)
{
	size_t at = 0;
	for (int place = 0; place < ORDER_COUNT; place++) {
		size_t count = fleet_bulk_count_of(bulk, order[place].result);
		if (at + count <= from || at >= from + n) {
			at += count;
			continue;
		}
		for (size_t i = 0; i < fleet_bulk_count(bulk) && at < from + n; i++) {
			const struct fleet_bulk_item *item = fleet_bulk_at(bulk, i);
			if (item->result != order[place].result)
				continue;
			if (at >= from)
				fn(arg, at, item, place);
			at++;
		}
	}
}

/* ---- drawing */

struct drawing {
	struct bulk_view *self;
	struct draw_region r;
};

static void draw_item(void *arg, size_t at, const struct fleet_bulk_item *item, int place)
{
	struct drawing *drawing = arg;
	struct view_host *host = drawing->self->view.host;
	struct draw_region r = drawing->r;
	const int row = (int)(at - drawing->self->top);
	const bool is_cursor = at == drawing->self->cursor;
	struct draw_style text = host_style(host, is_cursor ? ROLE_CURSOR : ROLE_TEXT);
	struct draw_style mark = text, dim = text;
	mark.fg = host_style(host, order[place].role).fg;
	if (!is_cursor)
		dim = host_style(host, ROLE_DIM);
	if (is_cursor)
		draw_region_fill(draw_region_sub(r, 0, row, r.cols, 1), text);
	int name_cols = r.cols / 2 < NAME_COLS_MAX ? r.cols / 2 : NAME_COLS_MAX;
	draw_region_text(r, row, 1, 2, mark, order[place].glyph);
	draw_region_text(r, row, 3, name_cols - 4, text, item->name);
	int col = name_cols + draw_region_text(r, row, name_cols, r.cols - name_cols, mark,
				      fleet_bulk_result_name(item->result));
	if (item->err)
		draw_region_textf(r, row, col + 1, r.cols - col - 2, dim, "%s: %s",
			err_name(item->err), item->err->msg);
}

static void draw_head(
	const struct bulk_view *self, struct draw_region r, const struct fleet_bulk *bulk)
{
	static const char *const doing[] = { "Delete", "Suspend", "Resume", "Extend" };
	struct view_host *host = self->view.host;
	const size_t n = fleet_bulk_count(bulk);
	const size_t open = fleet_bulk_count_of(bulk, FLEET_BULK_WAITING) +
			    fleet_bulk_count_of(bulk, FLEET_BULK_RUNNING);
	int col = 1 + draw_region_textf(r, 0, 1, r.cols - 2, host_style(host, ROLE_TEXT),
			      "%s %zu sandboxes  ", doing[fleet_bulk_verb_of(bulk)], n);
	int bar = r.cols / 4 < BAR_COLS_MAX ? r.cols / 4 : BAR_COLS_MAX;
	int full = n ? (int)((n - open) * (size_t)bar / n) : bar;
	for (int i = 0; i < bar; i++)
		draw_region_put(r, 0, col + i,
			host_style(host, i < full ? ROLE_PROGRESS : ROLE_DIM),
			i < full ? " " : "·", i < full ? 1 : strlen("·"), 1);
	col += bar + 1;
	for (int i = 0; i < ORDER_COUNT; i++) {
		size_t count = fleet_bulk_count_of(bulk, order[i].result);
		if (count)
			col += draw_region_textf(r, 0, col, r.cols - col,
				host_style(host, order[i].role), " %s %zu %s", order[i].glyph,
				count, fleet_bulk_result_name(order[i].result));
	}
}

static void keep_inside(struct bulk_view *self, size_t n)
{
	const size_t rows = self->rows_shown > 0 ? (size_t)self->rows_shown : 1;
	if (self->cursor >= n)
		self->cursor = n ? n - 1 : 0;
	if (self->cursor < self->top)
		self->top = self->cursor;
	if (self->cursor >= self->top + rows)
		self->top = self->cursor - rows + 1;
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct bulk_view *self = self_of(view);
	const struct fleet_bulk *bulk = views_actions_bulk(view->host->actions);
	(void)is_focused;
	if (!bulk) {
		draw_region_text(r, 1, 2, r.cols - 2, host_style(view->host, ROLE_DIM),
			"Nothing has been done to several sandboxes yet.");
		draw_region_text(r, 2, 2, r.cols - 2, host_style(view->host, ROLE_DIM),
			"Mark some in the list (space, :mark), then delete, suspend, resume or extend.");
		return;
	}
	self->rows_shown = r.rows - HEAD_ROWS;
	keep_inside(self, fleet_bulk_count(bulk));
	draw_head(self, r, bulk);
	struct drawing drawing = { self,
		draw_region_sub(r, 0, HEAD_ROWS, r.cols, r.rows - HEAD_ROWS) };
	if (self->rows_shown > 0)
		each_shown(bulk, self->top, (size_t)self->rows_shown, draw_item, &drawing);
}

/* ---- commands */

static bool has_bulk(const struct view *view, struct err *err)
{
	return views_actions_bulk(view->host->actions) ||
	       err_set(err, ERR_ARG_INVALID, "nothing has been done to several sandboxes yet");
}

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct bulk_view *self = arg;
	const struct fleet_bulk *bulk = views_actions_bulk(self->view.host->actions);
	host_dirty(self->view.host);
	return widget_cursor_motion(
		args, self->rows_shown, bulk ? fleet_bulk_count(bulk) : 0, &self->cursor, err);
}

static bool run_cancel(void *arg, const char *args, struct err *err)
{
	struct bulk_view *self = arg;
	struct fleet_bulk *bulk = views_actions_bulk(self->view.host->actions);
	(void)args;
	if (!has_bulk(&self->view, err))
		return false;
	if (fleet_bulk_is_finished(bulk))
		return err_set(err, ERR_CLAIM_UNCHANGED, "it is finished already");
	fleet_bulk_cancel(bulk);
	host_dirty(self->view.host);
	return true;
}

static bool run_retry(void *arg, const char *args, struct err *err)
{
	struct bulk_view *self = arg;
	(void)args;
	if (!has_bulk(&self->view, err))
		return false;
	host_dirty(self->view.host);
	return views_actions_bulk_retry(self->view.host->actions) ||
	       err_set(err, ERR_CLAIM_UNCHANGED,
		       "nothing is left to try again: what is done is not done twice");
}

static bool run_save(void *arg, const char *args, struct err *err)
{
	struct bulk_view *self = arg;
	struct str report;
	if (!has_bulk(&self->view, err))
		return false;
	if (!*args)
		return err_set(err, ERR_ARG_INVALID, "write :save FILE");
	str_init(&report, 64 << 20);
	fleet_bulk_report(views_actions_bulk(self->view.host->actions), &report);
	bool ok = file_write_new(args, slice_of(report.p), 0600, err);
	str_deinit(&report);
	if (ok)
		view_host_notef(self->view.host, NOTE_OK, "saved %s", args);
	return ok;
}

static bool run_close(void *arg, const char *args, struct err *err)
{
	struct bulk_view *self = arg;
	(void)args;
	(void)err;
	self->view.host->ops->close(self->view.host, &self->view);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move", .run = run_move },
	{ "cancel", "", "begin no more of them", .run = run_cancel },
	{ "retry", "", "those that failed or were not begun, once more", .run = run_retry },
	{ "save", "FILE", "what became of each, a line of JSON each", .run = run_save },
	{ "close", "", "back to the list; it goes on", .run = run_close },
};

static struct view *open_bulk(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct bulk_view *self = x_calloc(1, sizeof *self);
	(void)args;
	(void)err;
	self->view.class = &view_bulk;
	self->view.host = host;
	return &self->view;
}

static void free_bulk(struct view *view)
{
	free(self_of(view));
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "bulk");
}

const struct view_class view_bulk = {
	.name = "bulk",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof *commands,
	.open = open_bulk,
	.free = free_bulk,
	.title = title,
	.draw = draw,
	.shows = view_is_the_only_one,
};
