// SPDX-License-Identifier: Apache-2.0
// The file browser: two panes, each the local disk or a sandbox. Keys and mouse act on the active one; copies go to
// the other. Drag and drop works between the panes and between browsers.
#include "tui/views/files/delete.h"
#include "tui/views/files/pane.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/state_store.h"
#include "tui/view/view.h"
#include "tui/views/files/view.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHEEL_ROWS = 3, HEADER_ROW = 1 };

static struct views_files *files_of(const struct view *view)
{
	return (struct views_files *)(uintptr_t)view;
}

/* While the quick search is on, every key is a letter of it. */
static enum view_key_scope scope(const struct view *view)
{
	return files_of(view)->is_searching ? SCOPE_TYPING : SCOPE_FILES;
}

static void draw_search(struct views_files *files, struct draw_region r)
{
	struct view_host *host = files->view.host;
	struct draw_style style = host_style(host, ROLE_BAR);
	draw_region_fill(r, style);
	int col = draw_region_text(r, 0, 0, r.cols, host_style(host, ROLE_BAR_KEY), "go to: ");
	col += draw_region_text(r, 0, col, r.cols - col, style, files->search.text.p);
	struct draw_surface_cursor cursor = { r.col + col, r.row, CURSOR_BAR, false };
	if (col < r.cols)
		draw_surface_set_cursor(r.surface, &cursor);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_files *files = files_of(view);
	int left = (r.cols - 1) / 2;
	files->at = r;
	for (int i = 0; i < 2; i++)
		views_files_pane_poll(&files->panes[i]);
	views_files_pane_draw(&files->panes[0], draw_region_sub(r, 0, 0, left, r.rows),
		is_focused && files->active == 0);
	draw_region_vline(
		draw_region_sub(r, left, 0, 1, r.rows), 0, host_style(view->host, ROLE_BORDER));
	views_files_pane_draw(&files->panes[1],
		draw_region_sub(r, left + 1, 0, r.cols - left - 1, r.rows),
		is_focused && files->active == 1);
	if (files->is_searching && r.rows > 0) {
		struct views_files_pane *pane = files_active(files);
		draw_search(files,
			draw_region_sub(pane->at, 0, pane->at.rows - 1, pane->at.cols, 1));
	}
}

/* ---- quick search */

static void end_search(struct views_files *files)
{
	files->is_searching = false;
	widget_edit_set(&files->search, "");
	host_dirty(files->view.host);
}

static void search_from(struct views_files *files, size_t from)
{
	struct views_files_pane *pane = files_active(files);
	size_t row = views_files_pane_search(pane, from, files->search.text.p);
	if (row != (size_t)-1)
		views_files_pane_move(pane, row);
	host_dirty(files->view.host);
}

static bool key(struct view *view, const struct draw_key *key)
{
	struct views_files *files = files_of(view);
	struct views_files_pane *pane = files_active(files);
	if (!files->is_searching)
		return false;
	bool is_ctrl = key->sym == KEY_NONE && key->mods == MOD_CTRL;
	if (key->sym == KEY_SYM_ESCAPE || key->sym == KEY_SYM_ENTER ||
		(is_ctrl && (key->codepoint == 'c' || key->codepoint == 'g')))
		end_search(files);
	else if (key->sym == KEY_SYM_DOWN || (is_ctrl && key->codepoint == 's'))
		search_from(files, pane->cursor + 1);
	else if (widget_edit_key(&files->search, key))
		search_from(files, pane->cursor);
	return true;
}

/* ---- the mouse */

static struct views_files_pane *pane_at(struct views_files *files, int col, int row)
{
	for (int i = 0; i < 2; i++)
		if (draw_region_contains(files->panes[i].at, col, row))
			return &files->panes[i];
	return NULL;
}

/* A click on a folder of the path goes there. */
static void press_path(struct views_files_pane *pane, int col)
{
	char shown[4096];
	int start = draw_text_cols(views_files_pane_name(pane)) + 1;
	snprintf(shown, sizeof shown, "%s%s", pane->is_local ? "" : "/", pane->path);
	/* a path that was cut at its front has no honest positions */
	if (start > pane->at.cols / 2 || start + draw_text_cols(shown) > pane->at.cols)
		return;
	for (size_t n = 1; shown[n]; n++) {
		if (shown[n] != '/')
			continue;
		char *upto = x_strndup(shown, n);
		bool is_hit = start + draw_text_cols(upto) > col - pane->at.col;
		free(upto);
		if (!is_hit)
			continue;
		size_t skip = pane->is_local ? 0 : 1;
		char *path = n > skip ? x_strndup(shown + skip, n - skip) : x_strdup("");
		views_files_pane_go(pane, path, NULL);
		free(path);
		return;
	}
}

static void press_header(struct views_files_pane *pane, int col)
{
	for (int i = 0; i < FILES_COLUMN_COUNT; i++)
		if (pane->column_at[i] >= 0 && col - pane->at.col >= pane->column_at[i] &&
			col - pane->at.col < pane->column_at[i] + pane->column_cols[i])
			views_files_pane_sort(pane, (enum views_files_column)i);
}

static void press(struct views_files *files, struct views_files_pane *pane,
	const struct draw_mouse *mouse, int col, int row)
{
	size_t at;
	files->active = (int)(pane - files->panes);
	host_dirty(files->view.host);
	if (mouse->button == 1 && row == pane->at.row) {
		press_path(pane, col);
	} else if (mouse->button == 1 && row == pane->at.row + HEADER_ROW) {
		press_header(pane, col);
	} else if (views_files_pane_row_at(pane, col, row, &at)) {
		const struct files_entry *entry = views_files_pane_at(pane, at);
		views_files_pane_move(pane, at);
		if (mouse->button == 3 || mouse->mods & MOD_CTRL) {
			files->is_sweep_on = entry && !entry->is_marked;
			views_files_pane_mark(pane, at, files->is_sweep_on);
		} else if (mouse->button == 1 && mouse->clicks == 2) {
			views_files_enter(files);
		}
	}
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_files *files = files_of(view);
	int col = mouse->col + files->at.col, row = mouse->row + files->at.row;
	struct views_files_pane *pane = pane_at(files, col, row);
	size_t at;
	if (files->is_searching && mouse->action == MOUSE_PRESS)
		end_search(files);
	if (!pane)
		return true;
	switch (mouse->action) {
	case MOUSE_WHEEL_UP:
		views_files_pane_move(
			pane, pane->cursor > WHEEL_ROWS ? pane->cursor - WHEEL_ROWS : 0);
		break;
	case MOUSE_WHEEL_DOWN:
		views_files_pane_move(pane, pane->cursor + WHEEL_ROWS);
		break;
	case MOUSE_PRESS:
		press(files, pane, mouse, col, row);
		break;
	case MOUSE_DRAG: /* with the right button: marks what it passes */
		if (mouse->button == 3 && pane == files_active(files) &&
			views_files_pane_row_at(pane, col, row, &at)) {
			views_files_pane_move(pane, at);
			views_files_pane_mark(pane, at, files->is_sweep_on);
		}
		break;
	default:
		break;
	}
	return true;
}

/* ---- drag and drop */

static bool drag_begin(struct view *view, int col, int row, struct view_drag *drag)
{
	struct views_files *files = files_of(view);
	size_t at, n;
	col += files->at.col;
	row += files->at.row;
	struct views_files_pane *pane = pane_at(files, col, row);
	if (!pane || !views_files_pane_row_at(pane, col, row, &at))
		return false;
	struct files_entry *entry = views_files_pane_at(pane, at);
	if (!entry)
		return false;
	struct files_entry **chosen = views_files_pane_chosen(pane, &n);
	if (!entry->is_marked) { /* what is held, not what is marked elsewhere */
		chosen[0] = entry;
		n = 1;
	}
	struct err err;
	drag->is_local = pane->is_local;
	if (!pane->is_local && !engine_runtime(view->host->engine, pane->uid, &err)) {
		view_host_failf(view->host, &err, "Cannot take %s", entry->name);
		free(chosen);
		return false;
	}
	drag->uid = x_strdup(pane->uid);
	drag->paths = x_calloc(n, sizeof *drag->paths);
	drag->n_paths = n;
	for (size_t i = 0; i < n; i++)
		drag->paths[i] = views_files_pane_join(pane, chosen[i]->name);
	if (n == 1)
		snprintf(drag->label, sizeof drag->label, "%.50s%s", entry->name,
			views_files_is_folder(entry) ? "/" : "");
	else
		snprintf(drag->label, sizeof drag->label, "%zu entries", n);
	free(chosen);
	return true;
}

static void drag_leave(struct view *view)
{
	struct views_files *files = files_of(view);
	for (int i = 0; i < 2; i++)
		files->panes[i].is_hovered = false;
	host_dirty(view->host);
}

/* Where a drop at that place would go: a folder's path, free(); NULL: nowhere. */
static char *drop_target(struct views_files *files, const struct view_drag *drag, int col,
	int row, struct views_files_pane **pane_out)
{
	struct views_files_pane *pane = pane_at(files, col, row);
	size_t at;
	if (!pane || (!pane->is_complete && !pane->is_reading) ||
		(pane->is_local && drag->is_local))
		return NULL;
	*pane_out = pane;
	pane->hover_row = (size_t)HOVER_WHOLE;
	char *target = NULL;
	if (views_files_pane_row_at(pane, col, row, &at)) {
		const struct files_entry *entry = views_files_pane_at(pane, at);
		if (!entry)
			target = views_files_pane_parent(pane);
		else if (views_files_is_folder(entry))
			target = views_files_pane_join(pane, entry->name);
		if (target)
			pane->hover_row = at;
	}
	if (!target)
		target = x_strdup(pane->path);
	if (!views_files_pane_is_same_place(pane, drag->is_local, drag->uid))
		return target;
	for (size_t i = 0; i < drag->n_paths; i++)
		if (transfer_is_into_itself(drag->paths[i], target)) {
			free(target);
			return NULL;
		}
	return target;
}

static bool drag_hover(struct view *view, const struct view_drag *drag, int col, int row)
{
	struct views_files *files = files_of(view);
	struct views_files_pane *pane;
	drag_leave(view);
	char *target =
		drop_target(files, drag, col + files->at.col, row + files->at.row, &pane);
	if (target)
		pane->is_hovered = true;
	free(target);
	return target != NULL;
}

static void drop(struct view *view, const struct view_drag *drag, int col, int row)
{
	struct views_files *files = files_of(view);
	struct views_files_pane *pane;
	char *target =
		drop_target(files, drag, col + files->at.col, row + files->at.row, &pane);
	if (!target)
		return;
	struct transfer_request request = {
		.from = { drag->is_local, drag->uid },
		.to = views_files_pane_place(pane),
		.paths = (const char *const *)drag->paths,
		.n = drag->n_paths,
		.to_dir = target,
	};
	struct err err;
	if (!transfer_queue_start(view->host->copies, &request, &err))
		view_host_failf(view->host, &err, "Cannot copy %s", drag->label);
	free(target);
}

/* ---- the class */

static void changed(struct view *view)
{
	struct views_files *files = files_of(view);
	for (int i = 0; i < 2; i++)
		views_files_pane_follow(&files->panes[i]);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_files *files = files_of(view);
	for (int i = 0; i < 2 && max; i++) {
		const struct views_files_pane *pane =
			&files->panes[i ? !files->active : files->active];
		if (pane->is_local || !pane->uid)
			continue;
		uids[0] = pane->uid;
		return 1;
	}
	return 0;
}

static void filter(struct view *view, const char *text)
{
	views_files_pane_filter(files_active(files_of(view)), text);
}

static const char *filter_text(const struct view *view)
{
	return files_active(files_of(view))->filter;
}

static void title(const struct view *view, struct str *out)
{
	const struct views_files *files = files_of(view);
	const char *names[2];
	for (int i = 0; i < 2; i++)
		names[i] = views_files_pane_name(&files->panes[i]);
	if (files->panes[0].is_local != files->panes[1].is_local)
		str_addf(out, "files %s", names[files->panes[0].is_local]);
	else
		str_addf(out, "files %s, %s", names[0], names[1]);
}

static const char *busy(const struct view *view, struct str *into)
{
	return views_files_delete_busy(files_of(view)->deletion, into);
}

static bool shows(const struct view *view, const struct view_args *args)
{
	const struct views_files *files = files_of(view);
	if (args->path)
		return false;
	for (int i = 0; i < 2; i++)
		if (views_files_pane_is_same_place(&files->panes[i], false, args->uid))
			return true;
	return false;
}

static struct view *open_files(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct views_files *files = x_calloc(1, sizeof *files);
	char *path = NULL;
	files->view.class = &view_files;
	files->view.host = host;
	views_files_pane_init(&files->panes[0], host, true, NULL, NULL);
	views_files_pane_init(&files->panes[1], host, false, args->uid, NULL);
	widget_edit_init(&files->search, "");
	files->active = 1;
	for (int i = 0; i < 2; i++)
		views_files_pane_show_hidden(&files->panes[i],
			state_store_is_on(host->remembered, FILES_HIDDEN_KEY, false));
	if (args->path) {
		path = views_files_pane_resolve(&files->panes[1], args->path, err);
		if (!path) {
			view_files.free(&files->view);
			return NULL;
		}
		views_files_pane_go(&files->panes[1], path, NULL);
	}
	free(path);
	return &files->view;
}

static void free_files(struct view *view)
{
	struct views_files *files = files_of(view);
	views_files_delete_cancel(files->deletion);
	files_cancel(files->making);
	free(files->made_dir);
	free(files->made_name);
	views_files_asks_forget(files);
	for (int i = 0; i < 2; i++)
		views_files_pane_deinit(&files->panes[i]);
	widget_edit_deinit(&files->search);
	free(files);
}

const struct view_class view_files = {
	.name = "files",
	.scope = scope,
	.commands = views_files_commands,
	.n_commands = FILES_COMMANDS,
	.open = open_files,
	.free = free_files,
	.title = title,
	.draw = draw,
	.key = key,
	.mouse = mouse,
	.changed = changed,
	.can = views_files_can,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.drag_begin = drag_begin,
	.drag_hover = drag_hover,
	.drag_leave = drag_leave,
	.drop = drop,
	.busy = busy,
	.shows = shows,
};
