// SPDX-License-Identifier: Apache-2.0
// Letters that leave the scroll mode, or end or begin something in a pane whose process has ended. Whoever types a word
// there believes to be somewhere else, and the rest of the word must not reach a program or a list. So such a letter counts
// only if no key follows it at once, and in a dead pane also only if none came shortly before it, nor its end.
#include "tui/app/internal.h"

#include "engine/base/clock.h"

#include <string.h>

enum { FOLLOWED_MS = 300 };

static bool needs_care(const char *command)
{
	static const char *const commands[] = { "unscroll", "yank", "again", "close" };
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
		if (strcmp(command, commands[i]) == 0)
			return true;
	return false;
}

void app_lone_note_key(struct app *app)
{
	struct app_lone *lone = &app->lone;
	net_loop_timer_disarm(lone->timer);
	lone->before_ms = lone->at_ms;
	lone->at_ms = clock_mono_ms();
}

static bool is_early(const struct app_lone *lone, const struct view *view)
{
	return lone->at_ms - lone->before_ms < SURPRISE_GUARD_MS ||
	       lone->at_ms - view->ended_ms < SURPRISE_GUARD_MS;
}

bool app_lone_key(struct app *app, enum view_key_scope scope, const struct draw_key *key,
	const char *command)
{
	struct app_lone *lone = &app->lone;
	struct view *view = app_focused(app);
	if (key->sym != KEY_NONE || key->mods || !needs_care(command))
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
	struct app *app = arg;
	const struct app_lone *lone = &app->lone;
	bool is_free = !app->n_dialogs && app->prompt.kind == PROMPT_NONE && !app->is_prefix &&
		       !app_surprise_has_keys(app);
	if (!is_free || app_focused(app) != lone->view || view_scope(lone->view) != lone->scope)
		return;
	app->n_handling++;
	app_command_try(app, lone->command);
	app->n_handling--;
}

void app_lone_init(struct app *app)
{
	app->lone.timer = net_loop_timer_new(app->loop, on_alone, app);
}

void app_lone_deinit(struct app *app)
{
	net_loop_timer_free(app->lone.timer);
}
