// SPDX-License-Identifier: Apache-2.0
// Tabs and the panes in them: opening, splitting, closing, focus.
#include "tui/app/internal.h"

#include <stdlib.h>
#include <string.h>

enum { VIEWS_MAX = 16 };

static void tell_focus(struct view *view, bool in)
{
	if (view->class->focus)
		view->class->focus(view, in);
}

static void free_leaf_view(void *arg, struct app_layout *leaf)
{
	struct view *view = app_layout_data(leaf);
	(void)arg;
	view->class->free(view);
}

struct app_each {
	void (*fn)(void *arg, struct view *view);
	void *arg;
};

static void each_leaf(void *arg, struct app_layout *leaf)
{
	struct app_each *each = arg;
	each->fn(each->arg, app_layout_data(leaf));
}

void app_tabs_each_view(struct app *app, void (*fn)(void *arg, struct view *view), void *arg)
{
	struct app_each each = { fn, arg };
	for (size_t i = 0; i < app->n_tabs; i++)
		app_layout_each(app->tabs[i]->root, each_leaf, &each);
	if (app->strip)
		fn(arg, app->strip);
}

static void tell_changed(void *arg, struct app_layout *leaf)
{
	struct view *view = app_layout_data(leaf);
	(void)arg;
	if (view->class->changed)
		view->class->changed(view);
}

/* Only what is visible hears of it: a storm of changes behind a shell costs no frames. */
void app_tabs_tell_changed(struct app *app)
{
	struct app_tab *tab = app_tab(app);
	if (tab->is_zoomed)
		tell_changed(NULL, tab->focus);
	else
		app_layout_each(tab->root, tell_changed, NULL);
}

void app_tabs_select(struct app *app, size_t index)
{
	if (index >= app->n_tabs)
		return;
	if (app->n_tabs && app->current < app->n_tabs)
		tell_focus(app_focused(app), false);
	app->current = index;
	app->is_strip_focused = false;
	app_tabs_tell_changed(app); /* it may have missed some */
	tell_focus(app_focused(app), true);
	app_frame_dirty(app);
}

void app_tabs_focus(struct app *app, struct app_layout *leaf)
{
	struct app_tab *tab = app_tab(app);
	if (tab->focus == leaf && !app->is_strip_focused)
		return;
	tell_focus(app_focused(app), false);
	tab->focus = leaf;
	app->is_strip_focused = false;
	tell_focus(app_focused(app), true);
	app_frame_dirty(app);
}

struct search {
	const struct view_class *class;
	const struct view_args *args;
	struct app_layout *found;
};

static void look(void *arg, struct app_layout *leaf)
{
	struct search *search = arg;
	struct view *view = app_layout_data(leaf);
	if (!search->found && view->class == search->class && view->class->shows &&
		view->class->shows(view, search->args))
		search->found = leaf;
}

bool app_tabs_open(struct app *app, const struct view_class *class,
	const struct view_args *args, struct err *err)
{
	for (size_t i = 0; i < app->n_tabs; i++) {
		struct search search = { class, args, NULL };
		app_layout_each(app->tabs[i]->root, look, &search);
		if (search.found) {
			app_tabs_select(app, i);
			app_tabs_focus(app, search.found);
			return true;
		}
	}
	if (app->n_tabs == TABS_MAX)
		return err_set(err, ERR_OP_BUSY, "%d tabs are open: close one", TABS_MAX);
	struct view *view = class->open(&app->host, args, err);
	if (!view)
		return false;
	struct app_tab *tab = x_calloc(1, sizeof *tab);
	tab->root = tab->focus = app_layout_new(view);
	tab->opener = app->n_tabs ? app_tab(app) : NULL;
	app->tabs[app->n_tabs++] = tab;
	app_tabs_select(app, app->n_tabs - 1);
	return true;
}

bool app_tabs_split(struct app *app, enum app_layout_way way, const struct view_class *class,
	const struct view_args *args, struct err *err)
{
	struct app_tab *tab = app_tab(app);
	struct app_rect rect = app_layout_rect(tab->focus);
	bool fits = way == LAYOUT_RIGHT ? rect.cols > 2 * LAYOUT_COLS_MIN
					: rect.rows > 2 * LAYOUT_ROWS_MIN;
	if (!fits)
		return err_set(err, ERR_OP_BUSY, "this pane is too small to be split");
	struct view *view = class->open(&app->host, args, err);
	if (!view)
		return false;
	tell_focus(app_focused(app), false);
	tab->focus = app_layout_split(&tab->root, tab->focus, way, view);
	tab->is_zoomed = false;
	app->is_strip_focused = false;
	tell_focus(view, true);
	app_frame_dirty(app);
	return true;
}

struct find_view {
	const void *view;
	struct app_layout *leaf;
};

static void find_leaf(void *arg, struct app_layout *leaf)
{
	struct find_view *find = arg;
	if (app_layout_data(leaf) == find->view)
		find->leaf = leaf;
}

static void forget_tab(struct app *app, size_t index)
{
	struct app_tab *tab = app->tabs[index];
	size_t next = 0;
	bool was_current = index == app->current;
	memmove(app->tabs + index, app->tabs + index + 1,
		(app->n_tabs - index - 1) * sizeof *app->tabs);
	app->n_tabs--;
	for (size_t i = 0; i < app->n_tabs; i++) {
		if (app->tabs[i] == tab->opener)
			next = i;
		if (app->tabs[i]->opener == tab)
			app->tabs[i]->opener = tab->opener;
	}
	if (!was_current)
		next = app->current > index ? app->current - 1 : app->current;
	free(tab);
	app->current = next;
	if (!app->n_tabs)
		return;
	app_tabs_tell_changed(app);
	tell_focus(app_focused(app), true);
}

void app_tabs_close_view(struct app *app, struct view *view)
{
	if (view == app->strip) {
		app->is_strip_on = app->is_strip_focused = false;
		app_frame_dirty(app);
		return;
	}
	if (app->mouse_view == view)
		app->mouse_view = NULL;
	if (app->drag && (app->drag->from == view || app->drag_over == view))
		app_drag_end(app, false);
	app->border = NULL;
	app_drop_dialogs(app, view);
	for (size_t i = 0; i < app->n_tabs; i++) {
		struct app_tab *tab = app->tabs[i];
		struct find_view find = { view, NULL };
		app_layout_each(tab->root, find_leaf, &find);
		if (!find.leaf)
			continue;
		bool was_focus = tab->focus == find.leaf;
		struct app_layout *next = app_layout_remove(&tab->root, find.leaf);
		tab->is_zoomed = false;
		if (was_focus)
			tab->focus = next;
		view->class->free(view);
		if (!next)
			forget_tab(app, i);
		else if (was_focus && i == app->current)
			tell_focus(app_layout_data(next), true);
		break;
	}
	if (!app->n_tabs) {
		struct view_args none = { 0 };
		app_tabs_open(app, &view_sandboxes, &none, NULL);
	}
	app_frame_dirty(app);
}

size_t app_tabs_number_of(struct app *app, const void *view)
{
	for (size_t i = 0; i < app->n_tabs; i++) {
		struct find_view find = { view, NULL };
		app_layout_each(app->tabs[i]->root, find_leaf, &find);
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

void app_tabs_ask_close(struct app *app, struct view *view)
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
		app_push_dialog(app, dialog);
	} else {
		app->host.ops->close(&app->host, view);
	}
	str_deinit(&text);
}

struct closing {
	struct view *views[VIEWS_MAX];
	size_t n, n_busy;
	bool has_list;
	struct widget_dialog *dialog;
};

static void look_before_closing(void *arg, struct app_layout *leaf)
{
	struct closing *closing = arg;
	struct view *view = app_layout_data(leaf);
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
	struct app *app = arg;
	const struct view *any = widget_dialog_owner(dialog);
	size_t number = app_tabs_number_of(app, any);
	if (button != 0 || !number)
		return;
	struct closing closing = { .dialog = dialog };
	app_layout_each(app->tabs[number - 1]->root, look_before_closing, &closing);
	while (closing.n)
		app->host.ops->close(&app->host, closing.views[--closing.n]);
}

void app_tabs_ask_close_all(struct app *app, size_t index)
{
	struct app_tab *tab = app->tabs[index];
	struct closing closing = { .dialog = widget_dialog_new("Close this tab?",
					   on_close_all_answered, app, NULL) };
	app_layout_each(tab->root, look_before_closing, &closing);
	if (closing.has_list || !closing.n_busy) {
		widget_dialog_free(closing.dialog);
		if (closing.has_list)
			view_host_notef(
				&app->host, NOTE_INFO, "the list stays; q leaves sandmux");
		while (!closing.has_list && closing.n)
			app->host.ops->close(&app->host, closing.views[--closing.n]);
		return;
	}
	app_tabs_select(app, index);
	widget_dialog_add_text(closing.dialog, "Closing ends it.");
	widget_dialog_add_button(closing.dialog, "&Close");
	widget_dialog_add_button(closing.dialog, "&Keep");
	widget_dialog_focus_button(closing.dialog, 1);
	widget_dialog_set_owner(closing.dialog, app_layout_data(tab->focus));
	app_push_dialog(app, closing.dialog);
}

void app_tabs_free(struct app *app)
{
	while (app->n_tabs) {
		struct app_tab *tab = app->tabs[--app->n_tabs];
		app_layout_each(tab->root, free_leaf_view, NULL);
		app_layout_free(tab->root);
		free(tab);
	}
}
