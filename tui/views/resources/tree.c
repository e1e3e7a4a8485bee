// SPDX-License-Identifier: Apache-2.0
// An object between its owners and what it owns, as a view: read again every few seconds while somebody looks.
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "tui/views/resources/kin.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"

#include <stdlib.h>
#include <string.h>

enum { AGAIN_MS = 5000, HEAD_ROWS = 1, WHEEL_ROWS = 3 };

struct views_tree {
	struct view view;
	struct views_resources_kin kin;
	size_t cursor, top;
	bool has_begun; /* the cursor has been put on the object itself */
	int rows_shown;
};

static struct views_tree *tree_of(const struct view *view)
{
	return (struct views_tree *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_TREE;
}

/* ---- drawing */

static void keep_cursor(struct views_tree *self)
{
	size_t n = self->kin.n_lines, rows = (size_t)self->rows_shown;
	if (!self->has_begun && n) {
		self->cursor = self->kin.asked_line;
		self->has_begun = true;
	}
	if (n && self->cursor >= n)
		self->cursor = n - 1;
	if (self->cursor < self->top)
		self->top = self->cursor;
	if (rows && self->cursor >= self->top + rows)
		self->top = self->cursor - rows + 1;
	if (self->top + rows > n)
		self->top = n > rows ? n - rows : 0;
}

static void draw_head(const struct views_tree *self, struct draw_region r)
{
	const struct view_host *host = self->view.host;
	const struct views_resources_kin *kin = &self->kin;
	int col = draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_ACCENT),
		"%zu object%s", kin->n_lines, kin->n_lines == 1 ? "" : "s");
	if (kin->shown && kin->err.code != ERR_NONE)
		draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_WARNING),
			"  ! as of earlier: %s", kin->err.msg);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_tree *self = tree_of(view);
	(void)is_focused;
	views_resources_kin_refresh(&self->kin, AGAIN_MS);
	self->rows_shown = r.rows > HEAD_ROWS ? r.rows - HEAD_ROWS : 0;
	keep_cursor(self);
	if (self->kin.shown)
		draw_head(self, r);
	if (self->rows_shown)
		views_resources_kin_draw(&self->kin,
			draw_region_sub(r, 0, HEAD_ROWS, r.cols, self->rows_shown),
			-(int)self->top, self->cursor);
}

/* ---- hands */

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct views_tree *self = arg;
	size_t n = self->kin.n_lines;
	if (!widget_cursor_motion(args, self->rows_shown, n ? n - 1 : 0, &self->cursor, err))
		return false;
	host_dirty(self->view.host);
	return true;
}

static bool run_open(void *arg, const char *args, struct err *err)
{
	const struct views_tree *self = arg;
	(void)args;
	return views_resources_kin_open(&self->kin, self->cursor, NULL, err);
}

static bool run_yaml(void *arg, const char *args, struct err *err)
{
	const struct views_tree *self = arg;
	(void)args;
	return views_resources_kin_open(&self->kin, self->cursor, "yaml", err);
}

static bool run_logs(void *arg, const char *args, struct err *err)
{
	const struct views_tree *self = arg;
	(void)args;
	return views_resources_kin_open(&self->kin, self->cursor, "logs", err);
}

static bool run_refresh(void *arg, const char *args, struct err *err)
{
	struct views_tree *self = arg;
	(void)args;
	(void)err;
	views_resources_kin_refresh(&self->kin, 0);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor", .run = run_move },
	{ "open", "", "everything about the one under the cursor", .run = run_open,
		.aliases = "detail describe" },
	{ "yaml", "", "the one under the cursor as YAML", .run = run_yaml },
	{ "logs", "", "the log of the pod under the cursor", .run = run_logs },
	{ "refresh", "", "read it again", .run = run_refresh },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_tree *self = tree_of(view);
	if (mouse->action == MOUSE_WHEEL_UP)
		self->cursor = self->cursor > WHEEL_ROWS ? self->cursor - WHEEL_ROWS : 0;
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		self->cursor += WHEEL_ROWS;
	size_t at = self->top + (size_t)(mouse->row > HEAD_ROWS ? mouse->row - HEAD_ROWS : 0);
	if (mouse->action == MOUSE_PRESS && mouse->button == 1 && mouse->row >= HEAD_ROWS &&
		at < self->kin.n_lines) {
		self->cursor = at;
		if (mouse->clicks == 2)
			view->host->ops->run(view->host, "open");
	}
	host_dirty(view->host);
	return true;
}

static void title(const struct view *view, struct str *out)
{
	const struct views_resources_kin *kin = &tree_of(view)->kin;
	str_addf(out, "tree %s",
		kin->kind ? kin->name : view_host_row_name(view->host, kin->uid));
}

static bool shows(const struct view *view, const struct view_args *args)
{
	return args->uid && strcmp(args->uid, tree_of(view)->kin.uid) == 0;
}

static int64_t redraw_after_ms(const struct view *view)
{
	(void)view;
	return 1000;
}

static struct view *open_view(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	if (!args->uid || !engine_fleet(host->engine)) {
		err_set(err, ERR_ARG_INVALID,
			args->uid ? "there are no objects behind a direct URL"
				  : "nothing is selected");
		return NULL;
	}
	struct views_tree *self = x_calloc(1, sizeof *self);
	self->view.class = &view_tree;
	self->view.host = host;
	views_resources_kin_init(&self->kin, host, args);
	return &self->view;
}

static void free_tree(struct view *view)
{
	views_resources_kin_deinit(&tree_of(view)->kin);
	free(view);
}

const struct view_class view_tree = {
	.name = "tree",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_view,
	.free = free_tree,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
