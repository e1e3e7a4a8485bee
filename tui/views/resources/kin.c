// SPDX-License-Identifier: Apache-2.0
// Lines are numbered as kinds_tree_each() tells them.
#include "tui/views/resources/kin.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { AGE_COLS = 6, AGE_FROM_COLS = 60, GAP_COLS = 2, STATUS_BYTES = 1024 };

static char *copy(const char *text)
{
	return x_strdup(text ? text : "");
}

void views_resources_kin_init(
	struct views_resources_kin *kin, struct view_host *host, const struct view_args *args)
{
	*kin = (struct views_resources_kin){ .host = host,
		.kind = args->kind && args->kind->resource ? args->kind : NULL,
		.uid = copy(args->uid),
		.namespace_ = copy(args->namespace_),
		.name = copy(args->name) };
}

void views_resources_kin_deinit(struct views_resources_kin *kin)
{
	engine_tree_free(kin->asked);
	engine_tree_free(kin->shown);
	free(kin->uid);
	free(kin->namespace_);
	free(kin->name);
}

/* ---- reading */

static void count_line(void *arg, const struct kinds_tree_line *line)
{
	struct views_resources_kin *kin = arg;
	if (line->is_asked)
		kin->asked_line = kin->n_lines;
	kin->n_lines++;
}

static void on_tree(void *arg, const struct err *err)
{
	struct views_resources_kin *kin = arg;
	kin->is_done = true;
	kin->err = err ? *err : (struct err){ 0 };
	if (!err) {
		engine_tree_free(kin->shown);
		kin->shown = kin->asked;
		kin->asked = NULL;
		kin->n_lines = 0;
		kinds_tree_each(kin->shown, count_line, kin);
	}
	host_dirty(kin->host);
}

void views_resources_kin_refresh(struct views_resources_kin *kin, int64_t not_within_ms)
{
	struct engine *engine = kin->host->engine;
	int64_t now = clock_mono_ms();
	if ((kin->asked && !kin->is_done) ||
		(kin->asked_ms && now - kin->asked_ms < not_within_ms))
		return;
	engine_tree_free(kin->asked); /* failed */
	kin->asked_ms = now;
	kin->is_done = false;
	kin->asked = kin->kind ? engine_tree_start(engine, kin->kind, kin->namespace_,
					 kin->name, on_tree, kin, &kin->err)
			       : engine_tree_of_row(engine, kin->uid, on_tree, kin, &kin->err);
}

/* ---- drawing */

struct drawing {
	const struct views_resources_kin *kin;
	struct draw_region r;
	int row, left_cols;
	size_t at, cursor;
};

static void format_left(const struct kinds_tree_line *line, struct str *out)
{
	if (line->n_more)
		str_addf(out, "and %zu more", line->n_more);
	else
		str_addf(out, "%s/%s", line->api_kind, line->name);
}

static void measure(void *arg, const struct kinds_tree_line *line)
{
	struct drawing *drawing = arg;
	struct str text;
	str_init(&text, STATUS_BYTES);
	str_add(&text, line->prefix);
	format_left(line, &text);
	int cols = draw_text_cols(text.p);
	if (cols > drawing->left_cols)
		drawing->left_cols = cols;
	str_deinit(&text);
}

static void draw_right(const struct drawing *drawing, const struct kinds_tree_line *line,
	struct draw_style style, bool is_plain)
{
	const struct view_host *host = drawing->kin->host;
	struct draw_region r = drawing->r;
	char cell[RESOURCE_CELL_BYTES];
	struct str text;
	int col = drawing->left_cols + GAP_COLS, age_cols = 0;
	int age = line->row ? resource_find_column(line->kind, "age") : RESOURCE_NONE;
	if (age != RESOURCE_NONE && r.cols >= AGE_FROM_COLS) {
		age_cols = AGE_COLS + 1;
		draw_region_text_right(r, drawing->row, r.cols - AGE_COLS, AGE_COLS,
			is_plain ? style : host_style(host, ROLE_DIM),
			resource_text(
				&line->kind->columns[age], line->row, clock_wall_ms(), cell));
	}
	str_init(&text, STATUS_BYTES);
	enum resource_tone tone = line->n_more ? RESOURCE_DIM : kinds_tree_brief(line, &text);
	if (!is_plain && tone != RESOURCE_PLAIN)
		style = host_style(host, view_tone_role(tone));
	if (text.n && r.cols - col - age_cols > 0)
		draw_region_text(r, drawing->row, col, r.cols - col - age_cols, style, text.p);
	str_deinit(&text);
}

static void draw_line(void *arg, const struct kinds_tree_line *line)
{
	struct drawing *drawing = arg;
	const struct view_host *host = drawing->kin->host;
	struct draw_region r = drawing->r;
	if (drawing->row >= 0 && drawing->row < r.rows) {
		bool is_cursor = drawing->at == drawing->cursor;
		struct draw_style style = host_style(host, is_cursor        ? ROLE_CURSOR
							   : line->is_asked ? ROLE_ACCENT
							   : line->n_more   ? ROLE_DIM
									    : ROLE_TEXT);
		struct str text;
		str_init(&text, STATUS_BYTES);
		format_left(line, &text);
		if (is_cursor)
			draw_region_fill(draw_region_sub(r, 0, drawing->row, r.cols, 1), style);
		int col = draw_region_text(r, drawing->row, 0, drawing->left_cols,
			is_cursor ? style : host_style(host, ROLE_DIM), line->prefix);
		draw_region_text(r, drawing->row, col, drawing->left_cols - col, style, text.p);
		draw_right(drawing, line, style, is_cursor);
		str_deinit(&text);
	}
	drawing->at++;
	drawing->row++;
}

int views_resources_kin_draw(
	const struct views_resources_kin *kin, struct draw_region r, int row, size_t cursor)
{
	struct drawing drawing = { kin, r, row, 0, 0, cursor };
	bool is_first = row >= 0 && row < r.rows && !kin->shown;
	if (is_first && kin->err.code != ERR_NONE)
		draw_region_text(
			r, row, 0, r.cols, host_style(kin->host, ROLE_ERROR), kin->err.msg);
	else if (is_first)
		draw_region_text(r, row, 0, r.cols, host_style(kin->host, ROLE_DIM),
			"reading what belongs to it …");
	if (!kin->shown)
		return 1;
	kinds_tree_each(kin->shown, measure, &drawing);
	/* the state is worth more than the end of a name */
	if (drawing.left_cols > r.cols * 2 / 3)
		drawing.left_cols = r.cols * 2 / 3;
	kinds_tree_each(kin->shown, draw_line, &drawing);
	return drawing.row - row;
}

/* ---- opening */

struct opening {
	const struct views_resources_kin *kin;
	const char *view;
	size_t left;
	bool is_open;
	const char *why;
};

static void open_line(void *arg, const struct kinds_tree_line *line)
{
	struct opening *opening = arg;
	struct view_host *host = opening->kin->host;
	if (opening->left-- != 0)
		return;
	if (!line->row) {
		opening->why = line->n_more    ? "more than can be shown here: see their list"
			       : line->problem ? line->problem
					       : "not one of the kinds that are shown";
		return;
	}
	/* a sandbox has a page of its own, of all that it is joined from */
	bool is_row = !opening->view && engine_fleet(host->engine) &&
		      fleet_find(engine_fleet(host->engine), line->uid);
	const struct view_args args = { .uid = line->uid,
		.kind = is_row ? NULL : line->kind,
		.namespace_ = line->namespace_,
		.name = line->name };
	host->ops->open(host,
		opening->view ? opening->view
		: is_row      ? "detail"
			      : "resource",
		&args);
	opening->is_open = true;
}

bool views_resources_kin_open(
	const struct views_resources_kin *kin, size_t line, const char *view, struct err *err)
{
	struct opening opening = {
		.kin = kin, .view = view, .left = line, .why = "nothing is selected"
	};
	if (kin->shown)
		kinds_tree_each(kin->shown, open_line, &opening);
	return opening.is_open || err_set(err, ERR_ARG_INVALID, "%s", opening.why);
}
