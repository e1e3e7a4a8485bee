// SPDX-License-Identifier: Apache-2.0
// Spans of our own operations and log lines on one time line, newest at the bottom. It follows until one moves up;
// then the picture stands still, so that nothing moves under the eye, and says how much has come since.
//
// In a few rows (the strip below everything) it is the lines alone.
#include "tui/views/log/snapshot.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/view/view.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	STRIP_ROWS_MAX = 7,
	TIME_COLS = 12,
	DURATION_COLS = 8,
	NAME_COLS = 30,
	FILTER_BYTES = 128,
	TAKE_MS = 100,
	WHEEL_ROWS = 3,
	ID_SHOWN = 8
};

struct log {
	struct view view;
	struct views_log_snapshot picture;
	uint64_t revision_seen; /* of the store, in the picture */
	int64_t taken_mono_ms;
	bool is_following, is_errors_first, is_stale;
	char filter[FILTER_BYTES];
	size_t cursor, top;
	int rows, first_row; /* of the last draw */
};

static struct log *log_of(const struct view *view)
{
	return (struct log *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LOG;
}

static bool is_news(const struct log *log)
{
	return telemetry_revision(engine_telemetry(log->view.host->engine)) !=
	       log->revision_seen;
}

static void take(struct log *log)
{
	const struct telemetry *telemetry = engine_telemetry(log->view.host->engine);
	views_log_snapshot_take(&log->picture, telemetry, log->filter, log->is_errors_first);
	log->revision_seen = telemetry_revision(telemetry);
	log->taken_mono_ms = clock_mono_ms();
	log->is_stale = false;
	if (log->is_following || log->cursor >= log->picture.n)
		log->cursor = log->picture.n ? log->picture.n - 1 : 0;
}

static void keep_fresh(struct log *log)
{
	bool is_due = !log->taken_mono_ms || clock_mono_ms() - log->taken_mono_ms >= TAKE_MS;
	if (!log->taken_mono_ms || log->is_stale ||
		(log->is_following && is_due && is_news(log)))
		take(log);
}

/* ---- drawing */

static const char *time_text(int64_t wall_ns, char out[16])
{
	time_t seconds = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	char hms[10];
	if (!localtime_r(&seconds, &tm) || !strftime(hms, sizeof hms, "%H:%M:%S", &tm))
		return "";
	snprintf(out, 16, "%s.%03d", hms, (int)(wall_ns / 1000000 % 1000) & 1023);
	return out;
}

static const char *duration_text(int64_t ns, char out[24])
{
	if (ns < 0)
		return "…";
	if (ns < 1000000)
		snprintf(out, 24, "%lldµs", (long long)(ns / 1000));
	else if (ns < 10000000000)
		snprintf(out, 24, "%lldms", (long long)(ns / 1000000));
	else
		return clock_format_age(ns / 1000000, out);
	return out;
}

static const char *const level_names[] = { "error", "warn", "info", "debug", "trace" };
_Static_assert(
	sizeof level_names / sizeof level_names[0] == LOG_LEVEL_COUNT, "a name for each");

static enum draw_theme_role role_of(const struct views_log_snapshot_row *row)
{
	if (row->is_span)
		return row->has_failed ? ROLE_ERROR : row->is_open ? ROLE_BUSY : ROLE_OK;
	return row->level == LOG_ERROR  ? ROLE_ERROR
	       : row->level == LOG_WARN ? ROLE_WARNING
					: ROLE_DIM;
}

static void draw_row(struct log *log, struct draw_region r, int at,
	const struct views_log_snapshot_row *row, bool is_cursor)
{
	struct view_host *host = log->view.host;
	struct draw_style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	struct draw_style status = host_style(host, role_of(row));
	char buffer[24];
	if (is_cursor) {
		text = dim = status = host_style(host, ROLE_CURSOR);
		draw_region_fill(draw_region_sub(r, 0, at, r.cols, 1), text);
	}
	int col = 0;
	if (r.cols >= 60) {
		draw_region_text(r, at, 0, TIME_COLS, dim, time_text(row->wall_ns, buffer));
		col = TIME_COLS + 1;
	}
	if (row->is_span)
		draw_region_text_right(r, at, col, DURATION_COLS, dim,
			duration_text(row->duration_ns, buffer));
	else
		draw_region_text_right(
			r, at, col, DURATION_COLS, status, level_names[row->level]);
	col += DURATION_COLS + 1;
	int names = NAME_COLS < (r.cols - col) / 2 ? NAME_COLS : (r.cols - col) / 2;
	int indent = row->depth * 2 < names / 2 ? row->depth * 2 : names / 2;
	draw_region_text(r, at, col + indent, names - indent, text, row->name);
	col += names + 1;
	if (row->is_span)
		col += draw_region_text(r, at, col, r.cols - col, status,
			       row->is_open       ? "open"
			       : !row->has_failed ? "ok"
			       : *row->code       ? row->code
						  : "failed") +
		       1;
	draw_region_text(r, at, col, r.cols - col, row->is_span ? dim : text, row->text);
}

static void draw_head(struct log *log, struct draw_region r)
{
	struct view_host *host = log->view.host;
	struct draw_style dim = host_style(host, ROLE_DIM);
	int col = draw_region_textf(
		r, 0, 0, r.cols, host_style(host, ROLE_ACCENT), "%zu lines", log->picture.n);
	col += draw_region_textf(
		r, 0, col, r.cols - col, dim, "  %zu spans", log->picture.n_spans);
	if (log->picture.n_failed)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_ERROR),
			"  %zu failed", log->picture.n_failed);
	uint64_t dropped = telemetry_dropped(engine_telemetry(host->engine));
	if (dropped)
		col += draw_region_textf(r, 0, col, r.cols - col, dim,
			"  %llu older ones dropped", (unsigned long long)dropped);
	if (log->is_errors_first)
		col += draw_region_text(r, 0, col, r.cols - col, host_style(host, ROLE_WARNING),
			"  errors at the end");
	if (*log->filter)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_TEXT),
			"  /%s", log->filter);
	if (!log->is_following)
		draw_region_text(r, 0, col, r.cols - col, host_style(host, ROLE_WARNING),
			is_news(log) ? "  paused, there is more" : "  paused");
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct log *log = log_of(view);
	bool is_strip = r.rows <= STRIP_ROWS_MAX;
	keep_fresh(log);
	log->first_row = is_strip ? 0 : 1;
	if (!is_strip)
		draw_head(log, draw_region_sub(r, 0, 0, r.cols, 1));
	struct draw_region rows =
		draw_region_sub(r, 0, log->first_row, r.cols, r.rows - log->first_row);
	size_t room = (size_t)rows.rows, n = log->picture.n;
	log->rows = rows.rows;
	if (log->cursor < log->top)
		log->top = log->cursor;
	if (room && log->cursor >= log->top + room)
		log->top = log->cursor - room + 1;
	if (log->top + room > n)
		log->top = n > room ? n - room : 0;
	for (size_t i = 0; i < room && log->top + i < n; i++)
		draw_row(log, rows, (int)i, &log->picture.rows[log->top + i],
			is_focused && !(is_strip && log->is_following) &&
				log->top + i == log->cursor);
	if (!n)
		draw_region_text(rows, 0, 1, rows.cols - 1, host_style(view->host, ROLE_DIM),
			*log->filter ? "Nothing fits the filter. Esc clears it."
				     : "Nothing has happened yet.");
}

/* ---- hands */

static void go_to(struct log *log, size_t at)
{
	size_t n = log->picture.n;
	log->cursor = at < n ? at : n ? n - 1 : 0;
	log->is_following = log->cursor + 1 >= n;
	host_dirty(log->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct log *log = self;
	size_t at = log->cursor;
	if (!widget_cursor_motion(args, log->rows, log->picture.n, &at, err))
		return false;
	go_to(log, at);
	return true;
}

static bool run_pause(void *self, const char *args, struct err *err)
{
	struct log *log = self;
	(void)args;
	(void)err;
	log->is_following = !log->is_following;
	log->is_stale = log->is_following;
	host_dirty(log->view.host);
	return true;
}

static bool run_errors(void *self, const char *args, struct err *err)
{
	struct log *log = self;
	(void)args;
	(void)err;
	log->is_errors_first = !log->is_errors_first;
	log->is_following = log->is_stale = true;
	host_dirty(log->view.host);
	return true;
}

static bool run_show(void *self, const char *args, struct err *err)
{
	struct log *log = self;
	char date[CLOCK_RFC3339_BYTES], buffer[24];
	(void)args;
	if (log->cursor >= log->picture.n)
		return err_set(err, ERR_ARG_INVALID, "there is nothing to show");
	const struct views_log_snapshot_row *row = &log->picture.rows[log->cursor];
	struct widget_dialog *dialog = widget_dialog_new(row->name, NULL, NULL, NULL);
	widget_dialog_set_error(dialog, views_log_snapshot_row_is_bad(row));
	widget_dialog_add_textf(
		dialog, "time      %s", clock_format_rfc3339(row->wall_ns, 3, date));
	if (row->is_span) {
		widget_dialog_add_textf(
			dialog, "took      %s", duration_text(row->duration_ns, buffer));
		widget_dialog_add_textf(dialog, "status    %s",
			row->is_open      ? "open"
			: row->has_failed ? "failed"
					  : "ok");
		if (*row->code)
			widget_dialog_add_textf(dialog, "error     %s", row->code);
		widget_dialog_add_textf(dialog, "span      %s%s%s", row->id,
			*row->parent ? " below " : "", row->parent);
	} else {
		widget_dialog_add_textf(dialog, "level     %s", level_names[row->level]);
	}
	for (const char *at = row->text; *at;) { /* an attribute a line */
		size_t n = row->is_span ? strcspn(at, " ") : strlen(at);
		widget_dialog_add_textf(dialog, "%.*s", (int)n, at);
		at += n;
		at += strspn(at, " ");
	}
	widget_dialog_add_button(dialog, "&Close");
	log->view.host->ops->push_dialog(log->view.host, dialog);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move; at the end it follows",
		.run = run_move },
	{ "pause", "", "stand still, or follow the newest", .run = run_pause },
	{ "errors", "", "gather what has failed at the end, or by time", .run = run_errors },
	{ "show", "", "everything about this line", .run = run_show },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct log *log = log_of(view);
	int row = mouse->row - log->first_row;
	if (mouse->action == MOUSE_WHEEL_UP) {
		/* the picture moves, not only the cursor in it */
		size_t top = log->top > WHEEL_ROWS ? log->top - WHEEL_ROWS : 0;
		go_to(log, top < log->cursor ? top : log->cursor);
	} else if (mouse->action == MOUSE_WHEEL_DOWN) {
		go_to(log, log->top + (size_t)(log->rows > 0 ? log->rows - 1 : 0) + WHEEL_ROWS);
	} else if (mouse->action == MOUSE_PRESS && mouse->button == 1 && row >= 0 &&
		   log->top + (size_t)row < log->picture.n) {
		go_to(log, log->top + (size_t)row);
		if (mouse->clicks == 2)
			run_show(log, "", NULL);
	}
	return true;
}

static void filter(struct view *view, const char *text)
{
	struct log *log = log_of(view);
	snprintf(log->filter, sizeof log->filter, "%s", text);
	log->is_following = log->is_stale = true;
	host_dirty(view->host);
}

static const char *filter_text(const struct view *view)
{
	return log_of(view)->filter;
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "log");
}

static int64_t redraw_after_ms(const struct view *view)
{
	const struct log *log = log_of(view);
	return log->is_following && is_news(log) ? TAKE_MS : 1000;
}

static struct view *open_log(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct log *log = x_calloc(1, sizeof *log);
	(void)args;
	(void)err;
	log->view.class = &view_log;
	log->view.host = host;
	log->is_following = true;
	return &log->view;
}

static void free_log(struct view *view)
{
	struct log *log = log_of(view);
	views_log_snapshot_clear(&log->picture);
	free(log);
}

const struct view_class view_log = {
	.name = "log",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_log,
	.free = free_log,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.filter = filter,
	.filter_text = filter_text,
	.shows = view_is_the_only_one,
	.redraw_after_ms = redraw_after_ms,
};
