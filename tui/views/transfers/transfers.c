// SPDX-License-Identifier: Apache-2.0
// The view over the copies: two lines each, and for the one under the cursor its failures and remarks.
//
//   copying  a.txt and 2 more   local → box:/src
//            ███████████░░░░░░░  62%  12 of 20 files  3.1 of 5.0 MiB  1.2 MiB/s  2s left
#include "tui/views/transfers/transfers.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "tui/view/view.h"
#include "tui/views/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_EACH = 2, STATE_COLS = 11, BAR_COLS_MAX = 30, FAILURE_ROWS_MAX = 6 };

struct copies_view {
	struct view view;
	unsigned cursor; /* id; 0: the newest */
	size_t cursor_at, top;
	size_t n_shown; /* of the last draw */
};

static struct copies_view *self_of(const struct view *view)
{
	return (struct copies_view *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_COPIES;
}

static void keep_cursor(struct copies_view *self)
{
	const struct transfer_queue *copies = self->view.host->copies;
	size_t n = transfer_queue_count(copies);
	bool is_found = false;
	for (size_t i = 0; i < n && !is_found && self->cursor; i++)
		if (transfer_queue_at(copies, i).id == self->cursor) {
			self->cursor_at = i;
			is_found = true;
		}
	if (!is_found) {
		self->cursor_at = self->cursor_at < n ? self->cursor_at : n ? n - 1 : 0;
		self->cursor = n ? transfer_queue_at(copies, self->cursor_at).id : 0;
	}
}

/* ---- drawing */

static enum draw_theme_role state_role(const struct transfer_copy_info *info)
{
	if (info->is_asking)
		return ROLE_WARNING;
	switch (info->state) {
	case TRANSFER_COPY_DONE:
		return info->files_skipped || info->n_notes ? ROLE_WARNING : ROLE_OK;
	case TRANSFER_COPY_FAILED:
		return ROLE_ERROR;
	case TRANSFER_COPY_RUNNING:
		return ROLE_BUSY;
	case TRANSFER_COPY_PAUSED:
	case TRANSFER_COPY_CANCELLED:
		return ROLE_WARNING;
	default:
		return ROLE_DIM;
	}
}

static int draw_bar(struct view_host *host, struct draw_region r, int row, int col, int cols,
	unsigned percent)
{
	struct draw_style done = host_style(host, ROLE_PROGRESS),
			  left = host_style(host, ROLE_DIM);
	int full = (int)((unsigned)cols * (percent > 100 ? 100 : percent) / 100);
	for (int i = 0; i < cols; i++)
		draw_region_put(r, row, col + i, i < full ? done : left, i < full ? " " : "·",
			i < full ? 1 : strlen("·"), 1);
	return cols;
}

/* The most wanted first: what does not fit is cut at the end. */
static void numbers_of(const struct transfer_copy_info *info, struct str *out)
{
	char done[NUM_SIZE_BYTES], total[NUM_SIZE_BYTES], rate[NUM_SIZE_BYTES];
	char age[CLOCK_AGE_BYTES];
	bool is_over = transfer_copy_is_over(info->state);
	if (info->left_ms >= 0 && info->state == TRANSFER_COPY_RUNNING)
		str_addf(out, "%s left  ", clock_format_age(info->left_ms, age));
	if (info->bytes_per_s && !info->is_finishing)
		str_addf(out, "%s/s  ", num_format_size(info->bytes_per_s, rate));
	str_addf(out, "%llu",
		(unsigned long long)(is_over ? info->files_done
					     : info->files_done + info->files_skipped +
						       info->files_failed));
	if (!is_over)
		str_addf(out, " of %llu%s", (unsigned long long)info->files_total,
			info->is_planned ? "" : "+");
	str_addf(out, " file%s",
		(is_over ? info->files_done : info->files_total) == 1 ? "" : "s");
	if (info->files_failed)
		str_addf(out, "  %llu failed", (unsigned long long)info->files_failed);
	if (info->files_skipped)
		str_addf(out, "  %llu skipped", (unsigned long long)info->files_skipped);
	str_addf(out, "  %s", num_format_size(info->bytes_done, done));
	if (!is_over)
		str_addf(out, " of %s%s", num_format_size(info->bytes_total, total),
			info->is_planned ? "" : "+");
	if (is_over && info->elapsed_ms)
		str_addf(out, "  in %lld.%lld s", (long long)(info->elapsed_ms / 1000),
			(long long)(info->elapsed_ms % 1000 / 100));
}

static void draw_copy(struct copies_view *self, struct draw_region r,
	const struct transfer_copy_info *info, bool is_cursor)
{
	struct view_host *host = self->view.host;
	struct draw_style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	draw_region_text(r, 0, 1, STATE_COLS - 1, host_style(host, state_role(info)),
		info->is_asking      ? "asks"
		: info->is_finishing ? "finishing…"
				     : transfer_copy_state_name(info->state));
	int col = STATE_COLS;
	col += draw_region_text(r, 0, col, (r.cols - col) / 2, text, info->what);
	col += draw_region_textf(r, 0, col, r.cols - col, dim, "  %s → %s:%s%s", info->from,
		info->to, *info->to_dir == '/' ? "" : "/", info->to_dir);
	unsigned percent = transfer_copy_percent(info);
	int bar = r.cols / 4 < BAR_COLS_MAX ? r.cols / 4 : BAR_COLS_MAX;
	col = STATE_COLS;
	if (!transfer_copy_is_over(info->state)) {
		col += draw_bar(host, r, 1, col, bar, percent);
		col += draw_region_textf(r, 1, col, r.cols - col, text, " %3u%%  ", percent);
	}
	struct str numbers;
	str_init(&numbers, 256);
	numbers_of(info, &numbers);
	col += draw_region_text(r, 1, col, r.cols - col, dim, numbers.p);
	str_deinit(&numbers);
	if (*info->current && !transfer_copy_is_over(info->state))
		draw_region_textf(r, 1, col, r.cols - col, dim, "  %s", info->current);
	if (is_cursor) {
		struct draw_style mark = host_style(host, ROLE_CURSOR);
		for (int row = 0; row < ROWS_EACH; row++)
			draw_region_put(r, row, 0, mark, " ", 1, 1);
	}
}

static int draw_failures_and_notes(struct copies_view *self, struct draw_region r)
{
	struct view_host *host = self->view.host;
	const char *path;
	const struct err *err;
	int row = 0;
	for (size_t i = 0; row + 1 < r.rows &&
			   transfer_queue_failure(host->copies, self->cursor, i, &path, &err);
		i++) {
		int col = draw_region_textf(r, row, STATE_COLS, (r.cols - STATE_COLS) / 2,
			host_style(host, ROLE_TEXT), "%s", path);
		draw_region_textf(r, row++, STATE_COLS + col, r.cols - STATE_COLS - col,
			host_style(host, ROLE_ERROR), "  %s: %s", err_name(err), err->msg);
		if (*err_hint(err))
			draw_region_textf(r, row++, STATE_COLS + 2, r.cols - STATE_COLS - 2,
				host_style(host, ROLE_DIM), "%s", err_hint(err));
	}
	const char *text;
	for (size_t i = 0; row < r.rows &&
			   transfer_queue_note(host->copies, self->cursor, i, &path, &text);
		i++) {
		int col = draw_region_textf(r, row, STATE_COLS, (r.cols - STATE_COLS) / 2,
			host_style(host, ROLE_TEXT), "%s", path);
		draw_region_textf(r, row++, STATE_COLS + col, r.cols - STATE_COLS - col,
			host_style(host, ROLE_WARNING), "  %s", text);
	}
	return row;
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct copies_view *self = self_of(view);
	struct view_host *host = view->host;
	size_t n = transfer_queue_count(host->copies);
	(void)is_focused;
	keep_cursor(self);
	self->n_shown = 0;
	if (!n) {
		draw_region_text(
			r, 1, 2, r.cols - 2, host_style(host, ROLE_DIM), "No copies yet.");
		draw_region_text(r, 2, 2, r.cols - 2, host_style(host, ROLE_DIM),
			"In the files of a sandbox, c copies to the other side; the mouse drags.");
		return;
	}
	int extra = FAILURE_ROWS_MAX < r.rows / 3 ? FAILURE_ROWS_MAX : r.rows / 3;
	const struct transfer_copy_info at = transfer_queue_at(host->copies, self->cursor_at);
	if (!at.n_failures && !at.n_notes)
		extra = 0;
	size_t room = (size_t)(r.rows - extra) / ROWS_EACH;
	room = room ? room : 1;
	if (self->cursor_at < self->top)
		self->top = self->cursor_at;
	if (self->cursor_at >= self->top + room)
		self->top = self->cursor_at - room + 1;
	if (self->top + room > n)
		self->top = n > room ? n - room : 0;
	int row = 0;
	for (size_t i = self->top; i < n && i < self->top + room; i++) {
		struct transfer_copy_info info = transfer_queue_at(host->copies, i);
		draw_copy(self, draw_region_sub(r, 0, row, r.cols, ROWS_EACH), &info,
			i == self->cursor_at);
		row += ROWS_EACH;
		self->n_shown++;
	}
	if (extra)
		draw_failures_and_notes(
			self, draw_region_sub(r, 0, r.rows - extra, r.cols, extra));
}

/* ---- hands */

static void go_to(struct copies_view *self, size_t at)
{
	size_t n = transfer_queue_count(self->view.host->copies);
	if (!n)
		return;
	self->cursor_at = at < n ? at : n - 1;
	self->cursor = transfer_queue_at(self->view.host->copies, self->cursor_at).id;
	host_dirty(self->view.host);
}

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct copies_view *self = arg;
	size_t at = self->cursor_at;
	if (strcmp(args, "up") == 0)
		at = at ? at - 1 : 0;
	else if (strcmp(args, "down") == 0)
		at++;
	else if (strcmp(args, "first") == 0)
		at = 0;
	else if (strcmp(args, "last") == 0)
		at = (size_t)-1;
	else
		return err_set(err, ERR_ARG_INVALID, "move up, down, first or last");
	go_to(self, at);
	return true;
}

/* The copy under the cursor. */
static bool current(struct copies_view *self, struct transfer_copy_info *info, struct err *err)
{
	keep_cursor(self);
	if (!self->cursor)
		return err_set(err, ERR_ARG_INVALID, "there are no copies");
	*info = transfer_queue_at(self->view.host->copies, self->cursor_at);
	return true;
}

static bool run_cancel(void *arg, const char *args, struct err *err)
{
	struct copies_view *self = arg;
	struct transfer_copy_info info;
	(void)args;
	if (!current(self, &info, err))
		return false;
	if (transfer_copy_is_over(info.state))
		return err_set(err, ERR_ARG_INVALID, "this copy is over");
	transfer_queue_cancel(self->view.host->copies, info.id);
	return true;
}

static bool run_pause(void *arg, const char *args, struct err *err)
{
	struct copies_view *self = arg;
	struct transfer_copy_info info;
	(void)args;
	if (!current(self, &info, err))
		return false;
	if (transfer_copy_is_over(info.state))
		return err_set(err, ERR_ARG_INVALID, "this copy is over");
	transfer_queue_pause(
		self->view.host->copies, info.id, info.state != TRANSFER_COPY_PAUSED);
	return true;
}

static bool run_retry(void *arg, const char *args, struct err *err)
{
	struct copies_view *self = arg;
	struct transfer_copy_info info;
	(void)args;
	return current(self, &info, err) &&
	       transfer_queue_retry(self->view.host->copies, info.id, err);
}

static bool run_clear(void *arg, const char *args, struct err *err)
{
	struct copies_view *self = arg;
	(void)args;
	(void)err;
	transfer_queue_clear(self->view.host->copies);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|first|last", "move the cursor", .run = run_move },
	{ "cancel", "", "cancel this copy; what has arrived stays", .run = run_cancel },
	{ "pause", "", "pause this copy, or go on", .run = run_pause },
	{ "retry", "", "copy again what has failed or was cancelled", .run = run_retry },
	{ "clear", "", "forget the copies that are over", .run = run_clear },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct copies_view *self = self_of(view);
	if (mouse->action == MOUSE_WHEEL_UP)
		go_to(self, self->cursor_at ? self->cursor_at - 1 : 0);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		go_to(self, self->cursor_at + 1);
	else if (mouse->action == MOUSE_PRESS && mouse->button == 1 && mouse->row >= 0 &&
		 (size_t)(mouse->row / ROWS_EACH) < self->n_shown)
		go_to(self, self->top + (size_t)(mouse->row / ROWS_EACH));
	return true;
}

static void title(const struct view *view, struct str *out)
{
	size_t n = transfer_queue_running(view->host->copies);
	str_add(out, "copies");
	if (n)
		str_addf(out, " (%zu)", n);
}

static int64_t redraw_after_ms(const struct view *view)
{
	return transfer_queue_running(view->host->copies) ? 500 : 0;
}

static struct view *open_copies(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct copies_view *self = x_calloc(1, sizeof *self);
	(void)args;
	(void)err;
	self->view.class = &view_copies;
	self->view.host = host;
	return &self->view;
}

static void free_copies(struct view *view)
{
	free(self_of(view));
}

static struct runtime *runtime_of(void *arg, const char *uid, struct err *err)
{
	const struct view_host *host = arg;
	return engine_runtime(host->engine, uid, err);
}

static const char *name_of(void *arg, const char *uid)
{
	return view_host_row_name(arg, uid);
}

static void on_change(void *arg)
{
	host_dirty(arg);
}

void views_transfers_open(struct view_host *host)
{
	const struct transfer_queue_opts opts = {
		.loop = host->loop,
		.telemetry = engine_telemetry(host->engine),
		.read_only = engine_is_read_only(host->engine),
		.runtime = runtime_of,
		.name = name_of,
		.on_change = on_change,
		.on_copy = views_transfers_on_copy,
		.on_question = views_transfers_on_question,
		.arg = host,
	};
	host->copies = transfer_queue_new(&opts);
}

const struct view_class view_copies = {
	.name = "copies",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_copies,
	.free = free_copies,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.shows = view_is_the_only_one,
	.redraw_after_ms = redraw_after_ms,
};
