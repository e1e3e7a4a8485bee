// SPDX-License-Identifier: Apache-2.0
// The contexts of the kubeconfig: which there are, which one is looked at, and whether the one under the cursor answers (asked when a
// person wants to know, or switches). Thousands of them cost a frame what is on the screen.
#include "engine/base/mem.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLS_MAX = 40, FILTER_BYTES = 128, WHEEL_ROWS = 3, HEAD_ROWS = 2 };

struct views_contexts {
	struct view view;
	struct kube_contexts *all; /* NULL: err says why */
	struct err err;
	size_t *shown; /* those that fit the filter */
	size_t n_shown, cursor, top;
	int rows, first_row; /* of the last draw */
	char filter[FILTER_BYTES];
};

static struct views_contexts *contexts_of(const struct view *view)
{
	return (struct views_contexts *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_CONTEXTS;
}

/* The embedded backend stands behind them, unless one is called so. */
static const struct kube_context *nth(const struct views_contexts *self, size_t index)
{
	static const struct kube_context local = { ENGINE_LOCAL_CONTEXT, "", "", "",
		"the backend on this machine", false };
	return self->all && index < kube_contexts_count(self->all)
		       ? kube_contexts_at(self->all, index)
		       : &local;
}

static size_t count_all(const struct views_contexts *self)
{
	size_t n = self->all ? kube_contexts_count(self->all) : 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(nth(self, i)->name, ENGINE_LOCAL_CONTEXT) == 0)
			return n;
	return n + 1;
}

static const struct kube_context *at(const struct views_contexts *self, size_t row)
{
	return nth(self, self->shown[row]);
}

static bool fits(const struct kube_context *is, const char *filter)
{
	return !*filter || strcasestr(is->name, filter) || strcasestr(is->cluster, filter) ||
	       strcasestr(is->server, filter) || strcasestr(is->user, filter);
}

static void select_shown(struct views_contexts *self)
{
	size_t n = count_all(self);
	free(self->shown);
	self->shown = x_calloc(n + 1, sizeof *self->shown);
	self->n_shown = 0;
	for (size_t i = 0; i < n; i++)
		if (fits(nth(self, i), self->filter))
			self->shown[self->n_shown++] = i;
	if (self->cursor >= self->n_shown)
		self->cursor = self->n_shown ? self->n_shown - 1 : 0;
	host_dirty(self->view.host);
}

static bool is_looked_at(const struct views_contexts *self, const struct kube_context *is)
{
	return strcmp(is->name, engine_context(self->view.host->engine)) == 0;
}

static void read_all(struct views_contexts *self)
{
	kube_contexts_free(self->all);
	self->err = (struct err){ 0 };
	self->all = kube_contexts_read(engine_kubeconfig(self->view.host->engine), &self->err);
	select_shown(self);
}

/* ---- drawing */

static void draw_row(struct views_contexts *self, struct draw_region r, int row,
	const struct kube_context *is, bool is_cursor, int names)
{
	struct view_host *host = self->view.host;
	bool is_here = is_looked_at(self, is);
	struct draw_style text = host_style(host, is_here ? ROLE_OK : ROLE_TEXT);
	struct draw_style dim = host_style(host, ROLE_DIM),
			  mark = host_style(host, ROLE_WARNING);
	if (is_cursor) {
		text = dim = mark = host_style(host, ROLE_CURSOR);
		draw_region_fill(draw_region_sub(r, 0, row, r.cols, 1), text);
	}
	draw_region_text(r, row, 0, 2, text, is_here ? "▶" : is->is_current ? "*" : "");
	draw_region_text(r, row, 2, names, text, is->name);
	int col = 2 + names + 1;
	if (engine_context_is_production(is->name))
		col += draw_region_text(r, row, col, r.cols - col, mark, "production") + 1;
	if (*is->namespace_)
		col += draw_region_text(r, row, col, r.cols - col, dim, is->namespace_) + 1;
	draw_region_text(r, row, col, r.cols - col, dim, is->server);
}

static void draw_head(struct views_contexts *self, struct draw_region r)
{
	struct view_host *host = self->view.host;
	int col = draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_ACCENT),
		"%zu contexts", count_all(self));
	if (*self->filter)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_TEXT),
			"  %zu with /%s", self->n_shown, self->filter);
	draw_region_text(r, 0, col, r.cols - col, host_style(host, ROLE_DIM),
		"   ▶ looked at   * current in the kubeconfig");
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_contexts *self = contexts_of(view);
	struct view_host *host = view->host;
	draw_head(self, draw_region_sub(r, 0, 0, r.cols, 1));
	struct draw_region rows = draw_region_sub(r, 0, HEAD_ROWS, r.cols, r.rows - HEAD_ROWS);
	size_t room = rows.rows > 0 ? (size_t)rows.rows : 0;
	self->rows = rows.rows;
	self->first_row = HEAD_ROWS;
	if (self->cursor < self->top)
		self->top = self->cursor;
	if (room && self->cursor >= self->top + room)
		self->top = self->cursor - room + 1;
	int names = 8;
	for (size_t i = self->top; i < self->n_shown && i < self->top + room; i++) {
		int cols = draw_text_cols(at(self, i)->name);
		names = cols > names ? cols : names;
	}
	names = names < NAME_COLS_MAX ? names : NAME_COLS_MAX;
	names = names < r.cols / 2 ? names : r.cols / 2;
	for (size_t i = 0; i < room && self->top + i < self->n_shown; i++)
		draw_row(self, rows, (int)i, at(self, self->top + i),
			is_focused && self->top + i == self->cursor, names);
	int below = (int)(self->n_shown - self->top < room ? self->n_shown - self->top : room);
	if (!self->all)
		draw_region_textf(rows, below + 1, 2, rows.cols - 2,
			host_style(host, ROLE_ERROR), "The kubeconfig cannot be read: %s",
			self->err.msg);
	else if (!self->n_shown)
		draw_region_text(rows, 0, 2, rows.cols - 2, host_style(host, ROLE_DIM),
			"Nothing fits the filter. Esc clears it.");
}

/* ---- hands */

static void go_to(struct views_contexts *self, size_t row)
{
	self->cursor = row < self->n_shown ? row : self->n_shown ? self->n_shown - 1 : 0;
	host_dirty(self->view.host);
}

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct views_contexts *self = arg;
	size_t row = self->cursor;
	if (!widget_cursor_motion(args, self->rows, self->n_shown, &row, err))
		return false;
	go_to(self, row);
	return true;
}

static bool run_switch(void *arg, const char *args, struct err *err)
{
	struct views_contexts *self = arg;
	(void)args;
	if (self->cursor >= self->n_shown)
		return err_set(err, ERR_ARG_INVALID, "nothing is selected");
	return self->view.host->ops->use_context(
		self->view.host, at(self, self->cursor)->name, err);
}

static bool run_refresh(void *arg, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	read_all(arg);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor", .run = run_move },
	{ "switch", "", "look at this context; what is open lives on", .run = run_switch },
	{ "refresh", "", "read the kubeconfig again", .run = run_refresh },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_contexts *self = contexts_of(view);
	int row = mouse->row - self->first_row;
	if (mouse->action == MOUSE_WHEEL_UP)
		go_to(self, self->cursor > WHEEL_ROWS ? self->cursor - WHEEL_ROWS : 0);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		go_to(self, self->cursor + WHEEL_ROWS);
	else if (mouse->action == MOUSE_PRESS && mouse->button == 1 && row >= 0 &&
		 self->top + (size_t)row < self->n_shown)
		go_to(self, self->top + (size_t)row);
	return true;
}

static void filter(struct view *view, const char *text)
{
	struct views_contexts *self = contexts_of(view);
	snprintf(self->filter, sizeof self->filter, "%s", text);
	select_shown(self);
}

static const char *filter_text(const struct view *view)
{
	return contexts_of(view)->filter;
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "contexts");
}

static struct view *open_contexts(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct views_contexts *self = x_calloc(1, sizeof *self);
	(void)args;
	(void)err;
	self->view.class = &view_contexts;
	self->view.host = host;
	read_all(self);
	for (size_t i = 0; i < self->n_shown; i++)
		if (is_looked_at(self, at(self, i)))
			self->cursor = i;
	return &self->view;
}

static void free_contexts(struct view *view)
{
	struct views_contexts *self = contexts_of(view);
	kube_contexts_free(self->all);
	free(self->shown);
	free(self);
}

const struct view_class view_contexts = {
	.name = "contexts",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_contexts,
	.free = free_contexts,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.filter = filter,
	.filter_text = filter_text,
	.shows = view_is_the_only_one,
};
