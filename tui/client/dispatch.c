// SPDX-License-Identifier: Apache-2.0
// Keys and pasted text to whoever they are for: dialog, prompt, prefix, program, key table, view; in that order.
#include "tui/client/internal.h"

#include <stdio.h>
#include <string.h>

static void prefix_key(struct client *client, const struct draw_key *key)
{
	bool is_help = client->is_prefix_help;
	client->is_prefix = client->is_prefix_help = false;
	client_dirty(client);
	const char *command = view_key_lookup(SCOPE_PREFIX, key);
	if (command && strcmp(command, "help") == 0 && !is_help) {
		client->is_prefix = client->is_prefix_help = true;
		return;
	}
	if (view_key_is_prefix(key)) { /* twice: it is meant for the program */
		struct view *view = client_focused(client);
		if (view_scope(view) == SCOPE_SHELL && view->class->key)
			view->class->key(view, key);
		return;
	}
	if (key->sym == KEY_SYM_ESCAPE)
		return;
	if (command) {
		workspace_command_try(client->workspace, command);
		return;
	}
	char name[KEY_NAME_BYTES];
	view_host_notef(client_host(client), NOTE_WARNING,
		"%s %s does nothing; %s ? shows the keys", view_key_prefix_name(),
		draw_key_format(key, name), view_key_prefix_name());
}

/* To the view, or what the table says. A pane that scrolls or whose process has ended knows few keys, and whoever types
 * there believes to be somewhere else: what it does not know is swallowed, neither typed nor taken as a command. */
static void view_key(struct client *client, const struct draw_key *key)
{
	struct view *view = client_focused(client);
	enum view_key_scope scope = view_scope(view);
	bool is_too_small = client_is_too_small(client);
	if (scope == SCOPE_SHELL || scope == SCOPE_TYPING) {
		if (view->class->key)
			view->class->key(view, key);
		return;
	}
	if (is_too_small) /* what cannot be seen is not steered, except leaving */
		scope = SCOPE_GLOBAL;
	bool is_alone = scope == SCOPE_SCROLL || scope == SCOPE_DEAD;
	if (key->sym == KEY_SYM_ESCAPE && client_surprise_dismiss(client))
		return;
	bool is_offered = key->sym == KEY_NONE && key->codepoint == 'R' && !key->mods;
	if (is_offered && !is_alone && !is_too_small && client_link_row_offers(client)) {
		workspace_command_try(client->workspace, "backend start");
		return;
	}
	const char *command = view_key_lookup(scope, key);
	if (!command && (!is_alone || key->mods & MOD_ALT))
		command = view_key_lookup(SCOPE_GLOBAL, key);
	if (command && is_alone && client_lone_key(client, scope, key, command))
		return;
	if (command)
		workspace_command_try(client->workspace, command);
	else if (!is_alone && view->class->key)
		view->class->key(view, key);
}

/* Esc and another key in one read look like Alt and that key. */
static bool is_escape_and_key(const struct client *client, const struct draw_key *key)
{
	if (!(key->mods & MOD_ALT) || key->sym != KEY_NONE)
		return false;
	bool is_free =
		!client->n_dialogs && client->prompt.kind == PROMPT_NONE && !client->is_prefix;
	if (is_free && view_key_lookup(SCOPE_GLOBAL, key)) /* bound: it is Alt */
		return false;
	return client->n_dialogs || client->prompt.kind != PROMPT_NONE || client->is_prefix ||
	       view_scope(client_focused(client)) != SCOPE_SHELL;
}

/* Alt-B and Alt-F move by words in a shell: in a text they must not be an Esc that throws it away. */
static bool is_word_key(const struct client *client, const struct draw_key *key)
{
	bool has_text = client->prompt.kind != PROMPT_NONE && client->prompt.edit.text.n;
	if (client->n_dialogs)
		has_text = widget_dialog_has_fields(client->dialogs[client->n_dialogs - 1]);
	return has_text && (key->codepoint == 'b' || key->codepoint == 'f');
}

/* Outside of programs it is taken for what it was. */
static void escape_and_key(struct client *client, const struct draw_key *key)
{
	struct draw_key escape = { .sym = KEY_SYM_ESCAPE }, plain = *key;
	if (is_word_key(client, key))
		return;
	plain.mods &= ~(unsigned)MOD_ALT;
	client_dispatch_key(client, &escape);
	client_dispatch_key(client, &plain);
}

static void handle_key(struct client *client, const struct draw_key *key)
{
	if (client->drag && key->sym == KEY_SYM_ESCAPE) {
		client_drag_end(client, false);
		return;
	}
	if (client->n_dialogs) {
		client_dirty(client);
		if (widget_dialog_key(client->dialogs[client->n_dialogs - 1], key))
			client_dialogs_pop(client);
		return;
	}
	if (client->prompt.kind != PROMPT_NONE) {
		client_prompt_key(client, key);
		return;
	}
	if (client_surprise_key(client, key))
		return;
	if (client->is_prefix) {
		prefix_key(client, key);
		return;
	}
	if (view_key_is_prefix(key)) {
		client->is_prefix = true;
		client_dirty(client);
		return;
	}
	view_key(client, key);
}

void client_dispatch_key(void *arg, const struct draw_key *key)
{
	struct client *client = arg;
	workspace_close_pending(client->workspace);
	if (!client_surprise_has_keys(client) && is_escape_and_key(client, key)) {
		escape_and_key(client, key);
		return;
	}
	client_lone_note_key(client);
	workspace_begin_input(&client->place, true);
	handle_key(client, key);
	workspace_end_input(client->workspace);
}

void client_dispatch_paste(void *arg, struct slice text, bool is_cut)
{
	struct client *client = arg;
	workspace_close_pending(client->workspace);
	client_dirty(client);
	client->is_prefix = false; /* no key of a command follows */
	client_lone_note_key(client);
	workspace_begin_input(&client->place, true);
	struct view *view = client_focused(client);
	if (client->n_dialogs)
		widget_dialog_paste(client->dialogs[client->n_dialogs - 1], text);
	else if (client->prompt.kind != PROMPT_NONE)
		client_prompt_paste(client, text);
	else if (!client_surprise_paste(client, text) && view->class->paste)
		view->class->paste(view, text, is_cut);
	workspace_end_input(client->workspace);
}

/* The latest client's terminal stands for the person: another one that loses the focus says nothing. */
void client_dispatch_focus(void *arg, bool in)
{
	struct client *client = arg;
	client->is_focused = in;
	if (in)
		workspace_use(&client->place);
	client_dirty(client);
	if (workspace_latest(client->workspace) != &client->place)
		return;
	struct view *view = client_focused(client);
	if (view->class->focus)
		view->class->focus(view, in);
}
