// SPDX-License-Identifier: Apache-2.0
// Tabs and the panes in them: opening, splitting, closing, focus.
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

#include <stdlib.h>
#include <string.h>

enum { VIEWS_MAX = 16 };

static void tell_focus(struct view *view, bool in)
{
	if (view->class->focus)
		view->class->focus(view, in);
}

static void free_leaf_view(void *arg, struct workspace_layout *leaf)
{
	struct view *view = workspace_layout_data(leaf);
	(void)arg;
	view->class->free(view);
}

struct each {
	void (*fn)(void *arg, struct view *view);
	void *arg;
};

static void each_leaf(void *arg, struct workspace_layout *leaf)
{
	struct each *each = arg;
	each->fn(each->arg, workspace_layout_data(leaf));
}

void workspace_tabs_each_view(
	struct workspace *ws, void (*fn)(void *arg, struct view *view), void *arg)
{
	struct each each = { fn, arg };
	for (size_t i = 0; i < ws->n_tabs; i++)
		workspace_layout_each(ws->tabs[i]->root, each_leaf, &each);
	if (ws->strip)
		fn(arg, ws->strip);
}

static void tell_changed(void *arg, struct workspace_layout *leaf)
{
	struct view *view = workspace_layout_data(leaf);
	(void)arg;
	if (view->class->changed)
		view->class->changed(view);
}

/* Only what is visible hears of it: a storm of changes behind a shell costs no frames. */
void workspace_tabs_tell_changed(struct workspace *ws)
{
	struct workspace_tab *tab = workspace_tab(ws);
	if (tab->is_zoomed)
		tell_changed(NULL, tab->focus);
	else
		workspace_layout_each(tab->root, tell_changed, NULL);
}

void workspace_tabs_select(struct workspace *ws, size_t index)
{
	if (index >= ws->n_tabs)
		return;
	if (ws->n_tabs && ws->current < ws->n_tabs)
		tell_focus(workspace_focused(ws), false);
	ws->current = index;
	ws->is_strip_focused = false;
	workspace_tabs_tell_changed(ws); /* it may have missed some */
	tell_focus(workspace_focused(ws), true);
	workspace_dirty(ws);
}

static void focus_leaf(struct workspace *ws, struct workspace_layout *leaf)
{
	struct workspace_tab *tab = workspace_tab(ws);
	if (tab->focus == leaf && !ws->is_strip_focused)
		return;
	tell_focus(workspace_focused(ws), false);
	tab->focus = leaf;
	ws->is_strip_focused = false;
	tell_focus(workspace_focused(ws), true);
	workspace_dirty(ws);
}

struct search {
	const struct view_host *host;
	const struct view_class *class;
	const struct view_args *args;
	struct workspace_layout *found;
};

static void look(void *arg, struct workspace_layout *leaf)
{
	struct search *search = arg;
	struct view *view = workspace_layout_data(leaf);
	if (!search->found && view->host == search->host && view->class == search->class &&
		view->class->shows && view->class->shows(view, search->args))
		search->found = leaf;
}

bool workspace_tabs_open_in(struct workspace *ws, struct view_host *host,
	const struct view_class *class, const struct view_args *args, struct err *err)
{
	for (size_t i = 0; i < ws->n_tabs; i++) {
		struct search search = { host, class, args, NULL };
		workspace_layout_each(ws->tabs[i]->root, look, &search);
		if (search.found && args->is_behind)
			return true;
		if (search.found) {
			workspace_tabs_select(ws, i);
			focus_leaf(ws, search.found);
			return true;
		}
	}
	if (ws->n_tabs == WORKSPACE_TABS_MAX)
		return err_set(
			err, ERR_OP_BUSY, "%d tabs are open: close one", WORKSPACE_TABS_MAX);
	struct view *view = class->open(host, args, err);
	if (!view)
		return false;
	struct workspace_tab *tab = x_calloc(1, sizeof *tab);
	tab->root = tab->focus = workspace_layout_new(view);
	tab->opener = ws->n_tabs ? workspace_tab(ws) : NULL;
	ws->tabs[ws->n_tabs++] = tab;
	if (!args->is_behind)
		workspace_tabs_select(ws, ws->n_tabs - 1);
	workspace_dirty(ws);
	return true;
}

bool workspace_tabs_open(struct workspace *ws, const struct view_class *class,
	const struct view_args *args, struct err *err)
{
	return workspace_tabs_open_in(ws, ws->host, class, args, err);
}

struct replace {
	struct view *old, *new_view;
};

static void replace_leaf(void *arg, struct workspace_layout *leaf)
{
	const struct replace *replace = arg;
	if (workspace_layout_data(leaf) == replace->old)
		workspace_layout_set_data(leaf, replace->new_view);
}

void workspace_tabs_replace(struct workspace *ws, struct view *old, struct view *new_view)
{
	struct replace replace = { old, new_view };
	bool is_focused = workspace_focused(ws) == old;
	if (is_focused)
		tell_focus(old, false);
	for (size_t i = 0; i < ws->n_tabs; i++)
		workspace_layout_each(ws->tabs[i]->root, replace_leaf, &replace);
	if (ws->strip == old)
		ws->strip = new_view;
	workspace_surprise_drop(ws, old);
	old->class->free(old);
	if (is_focused)
		tell_focus(new_view, true);
	workspace_dirty(ws);
}

bool workspace_tabs_split(struct workspace *ws, enum workspace_layout_way way,
	const struct view_class *class, const struct view_args *args, struct err *err)
{
	struct workspace_tab *tab = workspace_tab(ws);
	struct workspace_rect rect = workspace_layout_rect(tab->focus);
	bool fits = way == LAYOUT_RIGHT ? rect.cols > 2 * LAYOUT_COLS_MIN
					: rect.rows > 2 * LAYOUT_ROWS_MIN;
	if (!fits)
		return err_set(err, ERR_OP_BUSY, "this pane is too small to be split");
	struct view *view = class->open(workspace_focused(ws)->host, args, err);
	if (!view)
		return false;
	tell_focus(workspace_focused(ws), false);
	tab->focus = workspace_layout_split(&tab->root, tab->focus, way, view);
	tab->is_zoomed = false;
	ws->is_strip_focused = false;
	tell_focus(view, true);
	workspace_dirty(ws);
	return true;
}

struct find_view {
	const void *view;
	struct workspace_layout *leaf;
};

static void find_leaf(void *arg, struct workspace_layout *leaf)
{
	struct find_view *find = arg;
	if (workspace_layout_data(leaf) == find->view)
		find->leaf = leaf;
}

static void forget_tab(struct workspace *ws, size_t index)
{
	struct workspace_tab *tab = ws->tabs[index];
	size_t next = 0;
	bool was_current = index == ws->current;
	memmove(ws->tabs + index, ws->tabs + index + 1,
		(ws->n_tabs - index - 1) * sizeof *ws->tabs);
	ws->n_tabs--;
	for (size_t i = 0; i < ws->n_tabs; i++) {
		if (ws->tabs[i] == tab->opener)
			next = i;
		if (ws->tabs[i]->opener == tab)
			ws->tabs[i]->opener = tab->opener;
	}
	if (!was_current)
		next = ws->current > index ? ws->current - 1 : ws->current;
	free(tab);
	ws->current = next;
	if (!ws->n_tabs)
		return;
	workspace_tabs_tell_changed(ws);
	tell_focus(workspace_focused(ws), true);
}

void workspace_tabs_close_view(struct workspace *ws, struct view *view)
{
	if (view == ws->strip) {
		ws->is_strip_on = ws->is_strip_focused = false;
		workspace_dirty(ws);
		return;
	}
	struct workspace_client *client;
	DL_FOREACH(ws->clients, client)
		client->ops->view_gone(client, view);
	workspace_drop_dialogs(ws, view);
	for (size_t i = 0; i < ws->n_tabs; i++) {
		struct workspace_tab *tab = ws->tabs[i];
		struct find_view find = { view, NULL };
		workspace_layout_each(tab->root, find_leaf, &find);
		if (!find.leaf)
			continue;
		bool was_focus = tab->focus == find.leaf;
		struct workspace_layout *next = workspace_layout_remove(&tab->root, find.leaf);
		tab->is_zoomed = false;
		if (was_focus)
			tab->focus = next;
		view->class->free(view);
		if (!next)
			forget_tab(ws, i);
		else if (was_focus && i == ws->current)
			tell_focus(workspace_layout_data(next), true);
		break;
	}
	if (!ws->n_tabs) {
		struct view_args none = { 0 };
		workspace_tabs_open(ws, &view_sandboxes, &none, NULL);
	}
	workspace_dirty(ws);
}

size_t workspace_tabs_number_of(const struct workspace *ws, const void *view)
{
	for (size_t i = 0; i < ws->n_tabs; i++) {
		struct find_view find = { view, NULL };
		workspace_layout_each(ws->tabs[i]->root, find_leaf, &find);
		if (find.leaf)
			return i + 1;
	}
	return 0;
}

static void on_close_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct view *view = arg;
	(void)dialog;
	if (button == 0)
		view->host->ops->close(view->host, view);
}

void workspace_tabs_ask_close(struct workspace *ws, struct view *view)
{
	struct str text;
	str_init(&text, 256);
	const char *why = view->class->busy ? view->class->busy(view, &text) : NULL;
	if (why) {
		struct widget_dialog *dialog =
			widget_dialog_new("Close this pane?", on_close_answered, view, NULL);
		widget_dialog_add_textf(dialog, "%s. Closing ends it.", why);
		widget_dialog_add_button(dialog, "&Close");
		widget_dialog_add_button(dialog, "&Keep");
		widget_dialog_focus_button(dialog, 0);
		widget_dialog_set_owner(dialog, view);
		workspace_push_dialog(ws, dialog);
	} else {
		ws->host->ops->close(ws->host, view);
	}
	str_deinit(&text);
}

struct closing {
	struct view *views[VIEWS_MAX];
	size_t n, n_busy;
	bool has_list;
	struct widget_dialog *dialog;
};

static void look_before_closing(void *arg, struct workspace_layout *leaf)
{
	struct closing *closing = arg;
	struct view *view = workspace_layout_data(leaf);
	struct str text;
	str_init(&text, 256);
	const char *why = view->class->busy ? view->class->busy(view, &text) : NULL;
	closing->has_list = closing->has_list || view->class == &view_sandboxes;
	if (closing->n < VIEWS_MAX)
		closing->views[closing->n++] = view;
	closing->n_busy += why != NULL;
	if (why)
		widget_dialog_add_textf(closing->dialog, "%s.", why);
	str_deinit(&text);
}

static void on_close_all_answered(void *arg, struct widget_dialog *dialog, int button)
{
	struct workspace *ws = arg;
	const struct view *any = widget_dialog_owner(dialog);
	size_t number = workspace_tabs_number_of(ws, any);
	if (button != 0 || !number)
		return;
	struct closing closing = { .dialog = dialog };
	workspace_layout_each(ws->tabs[number - 1]->root, look_before_closing, &closing);
	while (closing.n)
		ws->host->ops->close(ws->host, closing.views[--closing.n]);
}

void workspace_tabs_ask_close_all(struct workspace *ws, size_t index)
{
	struct workspace_tab *tab = ws->tabs[index];
	struct closing closing = { .dialog = widget_dialog_new("Close this tab?",
					   on_close_all_answered, ws, NULL) };
	workspace_layout_each(tab->root, look_before_closing, &closing);
	if (closing.has_list || !closing.n_busy) {
		widget_dialog_free(closing.dialog);
		if (closing.has_list)
			view_host_notef(
				ws->host, NOTE_INFO, "the list stays; q leaves sandmux");
		while (!closing.has_list && closing.n)
			ws->host->ops->close(ws->host, closing.views[--closing.n]);
		return;
	}
	workspace_tabs_select(ws, index);
	widget_dialog_add_text(closing.dialog, "Closing ends it.");
	widget_dialog_add_button(closing.dialog, "&Close");
	widget_dialog_add_button(closing.dialog, "&Keep");
	widget_dialog_focus_button(closing.dialog, 1);
	widget_dialog_set_owner(closing.dialog, workspace_layout_data(tab->focus));
	workspace_push_dialog(ws, closing.dialog);
}

/* ---- focus */

void workspace_focus_view(struct workspace *ws, struct view *view)
{
	struct find_view find = { view, NULL };
	if (view != ws->strip) {
		workspace_layout_each(workspace_tab(ws)->root, find_leaf, &find);
		focus_leaf(ws, find.leaf);
		return;
	}
	if (ws->is_strip_focused)
		return;
	ws->is_strip_focused = true;
	workspace_dirty(ws);
}

void workspace_focus_next(struct workspace *ws, bool forward)
{
	struct workspace_tab *tab = workspace_tab(ws);
	/* the strip is the last pane of every tab */
	struct workspace_layout *next = workspace_layout_next(tab->root, tab->focus, forward);
	bool wraps = next == workspace_layout_next(tab->root, tab->root, forward) ||
		     next == tab->focus;
	if (ws->is_strip_on && wraps && !ws->is_strip_focused)
		workspace_focus_view(ws, ws->strip);
	else
		focus_leaf(ws, next);
}

void workspace_focus_toward(struct workspace *ws, enum workspace_layout_way way)
{
	struct workspace_tab *tab = workspace_tab(ws);
	struct workspace_layout *leaf = workspace_layout_toward(tab->root, tab->focus, way);
	if (leaf)
		focus_leaf(ws, leaf);
}

/* ---- room */

void workspace_grow(struct workspace *ws, enum workspace_layout_way way)
{
	enum { STEP_CELLS = 2 };
	workspace_layout_grow(
		workspace_tab(ws)->root, workspace_tab(ws)->focus, way, STEP_CELLS);
	workspace_dirty(ws);
}

void workspace_zoom(struct workspace *ws)
{
	workspace_tab(ws)->is_zoomed = !workspace_tab(ws)->is_zoomed;
	workspace_tabs_tell_changed(ws);
	workspace_dirty(ws);
}

void workspace_show_strip(struct workspace *ws)
{
	ws->is_strip_on = !ws->is_strip_on;
	ws->is_strip_focused = false;
	workspace_dirty(ws);
}

/* ---- for the tab bar */

size_t workspace_n_tabs(const struct workspace *ws)
{
	return ws->n_tabs;
}

size_t workspace_current(const struct workspace *ws)
{
	return ws->current;
}

const void *workspace_tab_id(const struct workspace *ws, size_t index)
{
	return ws->tabs[index];
}

struct view *workspace_tab_view(const struct workspace *ws, size_t index)
{
	return workspace_layout_data(ws->tabs[index]->focus);
}

static void add_marks(void *arg, struct workspace_layout *leaf)
{
	const struct view *view = workspace_layout_data(leaf);
	unsigned *marks = arg;
	if (view->class->marks)
		*marks |= view->class->marks(view);
}

unsigned workspace_tab_marks(const struct workspace *ws, size_t index)
{
	unsigned marks = 0;
	workspace_layout_each(ws->tabs[index]->root, add_marks, &marks);
	return marks;
}

void workspace_tabs_free(struct workspace *ws)
{
	while (ws->n_tabs) {
		struct workspace_tab *tab = ws->tabs[--ws->n_tabs];
		workspace_layout_each(tab->root, free_leaf_view, NULL);
		workspace_layout_free(tab->root);
		free(tab);
	}
}
