// SPDX-License-Identifier: Apache-2.0
// Keys and pasted text to whoever they are for: dialog, prompt, prefix, program, key table, view; in that order.
#include "tui/app/internal.h"

#include <stdio.h>
#include <string.h>

static void prefix_key(struct app *app, const struct draw_key *key)
{
	app->is_prefix = false;
	app_frame_dirty(app);
	if (view_key_is_prefix(key)) { /* twice: it is meant for the program */
		struct view *view = app_focused(app);
		if (view_scope(view) == SCOPE_SHELL && view->class->key)
			view->class->key(view, key);
		return;
	}
	if (key->sym == KEY_SYM_ESCAPE)
		return;
	const char *command = view_key_lookup(SCOPE_PREFIX, key);
	if (command) {
		app_command_try(app, command);
		return;
	}
	char name[KEY_NAME_BYTES];
	view_host_notef(&app->host, NOTE_WARNING, "%s %s does nothing; %s ? shows the keys",
		view_key_prefix_name(), draw_key_format(key, name), view_key_prefix_name());
}

/* To the view, or what the table says. A pane that scrolls or whose process has ended knows few keys, and whoever types
 * there believes to be somewhere else: what it does not know is swallowed, neither typed nor taken as a command. */
static void view_key(struct app *app, const struct draw_key *key)
{
	struct view *view = app_focused(app);
	enum view_key_scope scope = view_scope(view);
	bool is_too_small = draw_surface_cols(app->surface) < APP_COLS_MIN ||
			    draw_surface_rows(app->surface) < APP_ROWS_MIN;
	if (scope == SCOPE_SHELL || scope == SCOPE_TYPING) {
		if (view->class->key)
			view->class->key(view, key);
		return;
	}
	if (is_too_small) /* what cannot be seen is not steered, except leaving */
		scope = SCOPE_GLOBAL;
	bool is_alone = scope == SCOPE_SCROLL || scope == SCOPE_DEAD;
	if (key->sym == KEY_SYM_ESCAPE && app_surprise_dismiss(app))
		return;
	bool is_offered = key->sym == KEY_NONE && key->codepoint == 'R' && !key->mods;
	if (is_offered && !is_alone && !is_too_small && app_link_row_offers(app)) {
		app_command_try(app, "backend start");
		return;
	}
	const char *command = view_key_lookup(scope, key);
	if (!command && (!is_alone || key->mods & MOD_ALT))
		command = view_key_lookup(SCOPE_GLOBAL, key);
	if (command && is_alone && app_lone_key(app, scope, key, command))
		return;
	if (command)
		app_command_try(app, command);
	else if (!is_alone && view->class->key)
		view->class->key(view, key);
}

/* Esc and another key in one read look like Alt and that key. */
static bool is_escape_and_key(const struct app *app, const struct draw_key *key)
{
	if (!(key->mods & MOD_ALT) || key->sym != KEY_NONE)
		return false;
	bool is_free = !app->n_dialogs && app->prompt.kind == PROMPT_NONE && !app->is_prefix;
	if (is_free && view_key_lookup(SCOPE_GLOBAL, key)) /* bound: it is Alt */
		return false;
	return app->n_dialogs || app->prompt.kind != PROMPT_NONE || app->is_prefix ||
	       view_scope(app_focused(app)) != SCOPE_SHELL;
}

/* Alt-B and Alt-F move by words in a shell: in a text they must not be an Esc that throws it away. */
static bool is_word_key(const struct app *app, const struct draw_key *key)
{
	bool has_text = app->prompt.kind != PROMPT_NONE && app->prompt.edit.text.n;
	if (app->n_dialogs)
		has_text = widget_dialog_has_fields(app->dialogs[app->n_dialogs - 1]);
	return has_text && (key->codepoint == 'b' || key->codepoint == 'f');
}

/* Outside of programs it is taken for what it was. */
static void escape_and_key(struct app *app, const struct draw_key *key)
{
	struct draw_key escape = { .sym = KEY_SYM_ESCAPE }, plain = *key;
	if (is_word_key(app, key))
		return;
	plain.mods &= ~(unsigned)MOD_ALT;
	app_dispatch_key(app, &escape);
	app_dispatch_key(app, &plain);
}

static void handle_key(struct app *app, const struct draw_key *key)
{
	if (app->drag && key->sym == KEY_SYM_ESCAPE) {
		app_drag_end(app, false);
		return;
	}
	if (app->n_dialogs) {
		app_frame_dirty(app);
		if (widget_dialog_key(app->dialogs[app->n_dialogs - 1], key))
			app_pop_dialog(app);
		return;
	}
	if (app->prompt.kind != PROMPT_NONE) {
		app_prompt_key(app, key);
		return;
	}
	if (app_surprise_key(app, key))
		return;
	if (app->is_prefix) {
		prefix_key(app, key);
		return;
	}
	if (view_key_is_prefix(key)) {
		app->is_prefix = true;
		app_frame_dirty(app);
		return;
	}
	view_key(app, key);
}

void app_dispatch_key(void *arg, const struct draw_key *key)
{
	struct app *app = arg;
	app_close_pending(app);
	if (!app_surprise_has_keys(app) && is_escape_and_key(app, key)) {
		escape_and_key(app, key);
		return;
	}
	app_lone_note_key(app);
	app->input_serial++;
	app->n_handling++;
	handle_key(app, key);
	app->n_handling--;
}

void app_dispatch_paste(void *arg, struct slice text, bool is_cut)
{
	struct app *app = arg;
	app_close_pending(app);
	app_frame_dirty(app);
	app->input_serial++;
	app->is_prefix = false; /* no key of a command follows */
	app_lone_note_key(app);
	app->n_handling++;
	struct view *view = app_focused(app);
	if (app->n_dialogs)
		widget_dialog_paste(app->dialogs[app->n_dialogs - 1], text);
	else if (app->prompt.kind != PROMPT_NONE)
		app_prompt_paste(app, text);
	else if (!app_surprise_paste(app, text) && view->class->paste)
		view->class->paste(view, text, is_cut);
	app->n_handling--;
}

void app_dispatch_focus(void *arg, bool in)
{
	struct app *app = arg;
	struct view *view = app_focused(app);
	app->is_focused = in;
	if (view->class->focus)
		view->class->focus(view, in);
	app_frame_dirty(app);
}
