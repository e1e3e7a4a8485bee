// SPDX-License-Identifier: Apache-2.0
// Letters that leave the scroll mode, or end or begin something in a pane whose process has ended. Whoever types a word
// there believes to be somewhere else, and the rest of the word must not reach a program or a list. So such a letter counts
// only if no key follows it at once, and in a dead pane also only if none came shortly before it, nor its end.
#include "tui/client/internal.h"

#include "engine/base/clock.h"

enum { FOLLOWED_MS = 300 };

static bool needs_care(const struct client *client, const char *line)
{
	const struct view_command *command =
		workspace_command_find(client->workspace, client_focused(client), line);
	return command && command->is_lone;
}

void client_lone_note_key(struct client *client)
{
	struct client_lone *lone = &client->lone;
	net_loop_timer_disarm(lone->timer);
	lone->before_ms = lone->at_ms;
	lone->at_ms = clock_mono_ms();
}

static bool is_early(const struct client_lone *lone, const struct view *view)
{
	return lone->at_ms - lone->before_ms < SURPRISE_GUARD_MS ||
	       lone->at_ms - view->ended_ms < SURPRISE_GUARD_MS;
}

bool client_lone_key(struct client *client, enum view_key_scope scope,
	const struct draw_key *key, const char *command)
{
	struct client_lone *lone = &client->lone;
	struct view *view = client_focused(client);
	if (key->sym != KEY_NONE || key->mods || !needs_care(client, command))
		return false;
	if (scope == SCOPE_DEAD && is_early(lone, view))
		return true;
	lone->view = view;
	lone->scope = scope;
	lone->command = command;
	net_loop_timer_arm(lone->timer, FOLLOWED_MS);
	return true;
}

static void on_alone(void *arg)
{
	struct client *client = arg;
	const struct client_lone *lone = &client->lone;
	bool is_free = !client->n_dialogs && client->prompt.kind == PROMPT_NONE &&
		       !client->is_prefix && !client_surprise_has_keys(client);
	if (!is_free || client_focused(client) != lone->view ||
		view_scope(lone->view) != lone->scope)
		return;
	workspace_begin_input(&client->place, false);
	workspace_command_try(client->workspace, lone->command);
	workspace_end_input(client->workspace);
}

void client_lone_init(struct client *client)
{
	client->lone.timer = net_loop_timer_new(client->loop, on_alone, client);
	net_loop_timer_set_urgent(client->lone.timer);
}

void client_lone_deinit(struct client *client)
{
	net_loop_timer_free(client->lone.timer);
}
