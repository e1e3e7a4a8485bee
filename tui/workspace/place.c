// SPDX-License-Identifier: Apache-2.0
// Where panes are: the current tab above the strip, borders, and who is under a place.
#include "tui/workspace/internal.h"

enum { STRIP_ROWS_MIN = 2, BODY_ROWS_MIN = 6 };

void workspace_place(struct workspace *ws, struct workspace_rect area)
{
	int strip = 0;
	if (ws->is_strip_on) {
		strip = ws->strip_rows;
		if (strip > area.rows - BODY_ROWS_MIN)
			strip = area.rows - BODY_ROWS_MIN;
		if (strip < STRIP_ROWS_MIN)
			strip = 0;
	}
	ws->body = area;
	ws->body.rows -= strip;
	ws->strip_rect =
		(struct workspace_rect){ area.col, area.row + ws->body.rows, area.cols, strip };
	for (size_t i = 0; i < ws->n_tabs; i++)
		workspace_layout_place(ws->tabs[i]->root, ws->body);
}

struct workspace_rect workspace_body(const struct workspace *ws)
{
	return ws->body;
}

struct workspace_rect workspace_strip(const struct workspace *ws)
{
	return ws->strip_rect;
}

/* ---- what is visible */

static bool is_alone(const struct workspace_tab *tab)
{
	return tab->is_zoomed || workspace_layout_is_leaf(tab->root);
}

struct each_pane {
	void (*fn)(void *arg, struct view *view, struct workspace_rect rect, bool has_title);
	void *arg;
};

static void each_leaf(void *arg, struct workspace_layout *leaf)
{
	const struct each_pane *each = arg;
	each->fn(each->arg, workspace_layout_data(leaf), workspace_layout_rect(leaf), true);
}

void workspace_each_pane(struct workspace *ws,
	void (*fn)(void *arg, struct view *view, struct workspace_rect rect, bool has_title),
	void *arg)
{
	struct each_pane each = { fn, arg };
	const struct workspace_tab *tab = workspace_tab(ws);
	if (is_alone(tab))
		fn(arg, workspace_layout_data(tab->focus), ws->body,
			!workspace_layout_is_leaf(tab->root));
	else
		workspace_layout_each(tab->root, each_leaf, &each);
	if (ws->strip_rect.rows)
		fn(arg, ws->strip, ws->strip_rect, true);
}

void workspace_each_line(
	struct workspace *ws, void (*fn)(void *arg, int col, int row, int rows), void *arg)
{
	if (!is_alone(workspace_tab(ws)))
		workspace_layout_lines(workspace_tab(ws)->root, fn, arg);
}

struct find_region {
	const struct view *view;
	struct workspace_rect rect;
	bool is_found;
};

static void look(void *arg, struct view *view, struct workspace_rect rect, bool has_title)
{
	struct find_region *find = arg;
	if (view != find->view)
		return;
	find->is_found = true;
	find->rect = rect;
	find->rect.row += has_title;
	find->rect.rows -= has_title;
}

bool workspace_region(
	const struct workspace *ws, const struct view *view, struct workspace_rect *out)
{
	struct find_region find = { .view = view };
	workspace_each_pane((struct workspace *)(uintptr_t)ws, look, &find);
	if (find.is_found)
		*out = find.rect;
	return find.is_found;
}

/* ---- under the mouse */

static bool is_in_rows(struct workspace_rect rect, int row)
{
	return row >= rect.row && row < rect.row + rect.rows;
}

struct view *workspace_view_at(struct workspace *ws, int col, int row)
{
	const struct workspace_tab *tab = workspace_tab(ws);
	if (is_in_rows(ws->strip_rect, row))
		return ws->strip;
	if (is_alone(tab))
		return is_in_rows(ws->body, row) ? workspace_layout_data(tab->focus) : NULL;
	bool is_border;
	struct workspace_layout *there = workspace_layout_at(tab->root, col, row, &is_border);
	return there && !is_border ? workspace_layout_data(there) : NULL;
}

bool workspace_border_at(struct workspace *ws, int col, int row, struct workspace_border *out)
{
	const struct workspace_tab *tab = workspace_tab(ws);
	bool is_border = false;
	*out = (struct workspace_border){ NULL, false };
	if (ws->strip_rect.rows && row == ws->strip_rect.row) {
		out->is_strip = true;
		return true;
	}
	if (!is_alone(tab))
		out->split = workspace_layout_at(tab->root, col, row, &is_border);
	if (!is_border)
		out->split = NULL;
	return out->split != NULL;
}

void workspace_border_drag(
	struct workspace *ws, const struct workspace_border *border, int col, int row)
{
	if (border->split) {
		workspace_layout_drag(border->split, col, row);
	} else if (border->is_strip) {
		int rows = ws->strip_rect.row + ws->strip_rect.rows - row;
		ws->strip_rows = rows < STRIP_ROWS_MIN ? STRIP_ROWS_MIN : rows;
	}
	workspace_dirty(ws);
}
