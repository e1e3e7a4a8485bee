// SPDX-License-Identifier: Apache-2.0
// Keys and pasted text to whoever they are for: dialog, prompt, prefix, program, key table, view; in that order.
#include "tui/app/internal.h"

#include <stdio.h>
#include <string.h>

static void prefix_key(struct app *app, const struct key *key)
{
	app->is_prefix = false;
	frame_dirty(app);
	if (key_is_prefix(key)) { /* twice: it is meant for the program */
		struct view *view = app_focused(app);
		if (view_scope(view) == SCOPE_SHELL && view->class->key)
			view->class->key(view, key);
		return;
	}
	if (key->sym == KEY_SYM_ESCAPE)
		return;
	const char *command = key_lookup(SCOPE_PREFIX, key);
	if (command) {
		command_try(app, command);
		return;
	}
	char name[KEY_NAME_BYTES];
	host_notef(&app->host, NOTE_WARNING, "%s %s does nothing; %s ? shows the keys",
		key_prefix_name, key_format(key, name), key_prefix_name);
}

/* Esc and another key in one read look like Alt and that key. Nothing here is bound to Alt, so outside of programs it is
 * taken for what it was. */
static bool is_escape_and_key(const struct app *app, const struct key *key)
{
	if (!(key->mods & MOD_ALT) || key->sym != KEY_NONE)
		return false;
	return app->n_dialogs || app->prompt.kind != PROMPT_NONE || app->is_prefix ||
	       view_scope(app_focused(app)) != SCOPE_SHELL;
}

void dispatch_key(void *arg, const struct key *key)
{
	struct app *app = arg;
	app_close_pending(app);
	if (is_escape_and_key(app, key)) {
		struct key escape = { .sym = KEY_SYM_ESCAPE }, plain = *key;
		plain.mods &= ~(unsigned)MOD_ALT;
		dispatch_key(app, &escape);
		dispatch_key(app, &plain);
		return;
	}
	bool is_too_small = surface_cols(app->surface) < APP_COLS_MIN ||
			    surface_rows(app->surface) < APP_ROWS_MIN;
	if (app->drag && key->sym == KEY_SYM_ESCAPE) {
		drag_end(app, false);
		return;
	}
	if (app->n_dialogs) {
		frame_dirty(app);
		if (dialog_key(app->dialogs[app->n_dialogs - 1], key))
			app_pop_dialog(app);
		return;
	}
	if (app->prompt.kind != PROMPT_NONE) {
		prompt_key(app, key);
		return;
	}
	if (app->is_prefix) {
		prefix_key(app, key);
		return;
	}
	if (key_is_prefix(key)) {
		app->is_prefix = true;
		frame_dirty(app);
		return;
	}
	struct view *view = app_focused(app);
	enum key_scope scope = view_scope(view);
	if (scope == SCOPE_SHELL || scope == SCOPE_TYPING) {
		if (view->class->key)
			view->class->key(view, key);
		return;
	}
	if (is_too_small) /* what cannot be seen is not steered, except leaving */
		scope = SCOPE_GLOBAL;
	const char *command = key_lookup(scope, key);
	if (!command)
		command = key_lookup(SCOPE_GLOBAL, key);
	if (command)
		command_try(app, command);
	else if (view->class->key)
		view->class->key(view, key);
}

void dispatch_paste(void *arg, struct slice text, bool is_cut)
{
	struct app *app = arg;
	app_close_pending(app);
	frame_dirty(app);
	if (app->n_dialogs) {
		dialog_paste(app->dialogs[app->n_dialogs - 1], text);
		return;
	}
	if (app->prompt.kind != PROMPT_NONE) {
		prompt_paste(app, text);
		return;
	}
	struct view *view = app_focused(app);
	if (view->class->paste)
		view->class->paste(view, text, is_cut);
}

void dispatch_focus(void *arg, bool in)
{
	struct app *app = arg;
	struct view *view = app_focused(app);
	app->is_focused = in;
	if (view->class->focus)
		view->class->focus(view, in);
	frame_dirty(app);
}
