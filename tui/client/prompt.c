// SPDX-License-Identifier: Apache-2.0
// The line at the bottom: ':' with completions above it, and '/' that filters while it is typed.
#include "tui/client/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MATCHES_MAX = 64, SHOWN_MAX = 8 };

void client_prompt_init(struct client *client)
{
	widget_edit_init(&client->prompt.edit, "");
}

void client_prompt_deinit(struct client *client)
{
	struct client_prompt *p = &client->prompt;
	widget_edit_deinit(&p->edit);
	free(p->before);
	for (size_t i = 0; i < p->n_history; i++)
		free(p->history[i]);
}

void client_prompt_open(struct client *client, enum client_prompt_kind kind)
{
	struct client_prompt *p = &client->prompt;
	p->kind = kind;
	p->choice = -1;
	p->at_history = p->n_history;
	free(p->before);
	p->before = NULL;
	widget_edit_set(&p->edit, "");
	if (kind == PROMPT_FILTER) {
		struct view *view = client_focused(client);
		const char *text =
			view->class->filter_text ? view->class->filter_text(view) : "";
		p->before = x_strdup(text);
		widget_edit_set(&p->edit, text);
	}
	client_dirty(client);
}

void client_prompt_close(struct client *client)
{
	client->prompt.kind = PROMPT_NONE;
	client_dirty(client);
}

static size_t completions(const struct client *client, const struct view_command **out)
{
	const struct client_prompt *p = &client->prompt;
	if (p->kind != PROMPT_COMMAND || strchr(p->edit.text.p, ' '))
		return 0;
	return workspace_command_complete(client->workspace, p->edit.text.p, out, MATCHES_MAX);
}

static void remember(struct client_prompt *p)
{
	if (!p->edit.text.n ||
		(p->n_history && strcmp(p->history[p->n_history - 1], p->edit.text.p) == 0))
		return;
	if (p->n_history == HISTORY_MAX) {
		free(p->history[0]);
		memmove(p->history, p->history + 1, (HISTORY_MAX - 1) * sizeof *p->history);
		p->n_history--;
	}
	p->history[p->n_history++] = x_strdup(p->edit.text.p);
}

static void apply_filter(struct client *client)
{
	struct view *view = client_focused(client);
	if (client->prompt.kind == PROMPT_FILTER && view->class->filter)
		view->class->filter(view, client->prompt.edit.text.p);
}

static void enter(struct client *client)
{
	struct client_prompt *p = &client->prompt;
	if (p->kind == PROMPT_FILTER) {
		const struct view *view = client_focused(client);
		bool is_wrong = view->class->filter_error && *view->class->filter_error(view);
		if (!is_wrong) /* else it stays to be mended; Esc takes it back */
			client_prompt_close(client);
		return;
	}
	const struct view_command *matches[MATCHES_MAX];
	size_t n = completions(client, matches);
	if (p->choice >= 0 && (size_t)p->choice < n)
		widget_edit_set(&p->edit, matches[p->choice]->name);
	else if (n == 1) /* the beginning of only one command is enough */
		widget_edit_set(&p->edit, matches[0]->name);
	remember(p);
	char *line = x_strdup(p->edit.text.p);
	client_prompt_close(client);
	workspace_command_try(client->workspace, line);
	free(line);
}

static void cancel(struct client *client)
{
	struct view *view = client_focused(client);
	if (client->prompt.kind == PROMPT_FILTER && view->class->filter)
		view->class->filter(view, client->prompt.before);
	client_prompt_close(client);
}

static void complete(struct client *client, int by)
{
	struct client_prompt *p = &client->prompt;
	const struct view_command *matches[MATCHES_MAX];
	int n = (int)completions(client, matches);
	if (!n)
		return;
	if (n == 1) {
		widget_edit_set(&p->edit, matches[0]->name);
		widget_edit_insert(&p->edit, slice_of(" "));
		p->choice = -1;
		return;
	}
	p->choice = (p->choice + by + n + (p->choice < 0 && by < 0)) % n;
}

static void walk_history(struct client_prompt *p, int by)
{
	size_t at = p->at_history;
	if (by < 0 && at > 0)
		at--;
	else if (by > 0 && at < p->n_history)
		at++;
	p->at_history = at;
	widget_edit_set(&p->edit, at < p->n_history ? p->history[at] : "");
}

void client_prompt_key(struct client *client, const struct draw_key *key)
{
	struct client_prompt *p = &client->prompt;
	bool is_ctrl_c = key->sym == KEY_NONE && key->mods == MOD_CTRL && key->codepoint == 'c';
	client_dirty(client);
	if (key->sym == KEY_SYM_ESCAPE || is_ctrl_c) {
		cancel(client);
	} else if (key->sym == KEY_SYM_ENTER) {
		enter(client);
	} else if (key->sym == KEY_SYM_TAB) {
		complete(client, key->mods & MOD_SHIFT ? -1 : 1);
	} else if (key->sym == KEY_SYM_BACKSPACE && !p->edit.text.n) {
		cancel(client);
	} else if (p->kind == PROMPT_COMMAND &&
		   (key->sym == KEY_SYM_UP || key->sym == KEY_SYM_DOWN)) {
		int by = key->sym == KEY_SYM_UP ? -1 : 1;
		if (p->choice >= 0 || (by > 0 && p->at_history >= p->n_history))
			complete(client, by);
		else
			walk_history(p, by);
	} else if (widget_edit_key(&p->edit, key)) {
		p->choice = -1;
		apply_filter(client);
	}
}

void client_prompt_paste(struct client *client, struct slice text)
{
	widget_edit_insert(&client->prompt.edit, text);
	apply_filter(client);
	client_dirty(client);
}

/* What is wrong with the filter: behind it, or in the row above where that is too long. */
static void draw_filter_error(struct client *client, struct draw_region screen)
{
	const struct view *view = client_focused(client);
	const char *error = client->prompt.kind == PROMPT_FILTER && view->class->filter_error
				    ? view->class->filter_error(view)
				    : "";
	if (!*error)
		return;
	struct draw_style style = theme_style(&client->theme, ROLE_ERROR);
	style.bg = theme_style(&client->theme, ROLE_INPUT).bg;
	int from = 1 + draw_text_cols(client->prompt.edit.text.p) + 3;
	int cols = draw_text_cols(error);
	bool fits = from + cols <= screen.cols;
	struct draw_region row =
		draw_region_sub(screen, 0, screen.rows - (fits ? 1 : 2), screen.cols, 1);
	if (!fits)
		draw_region_fill(row, style);
	draw_region_text(row, 0, fits ? screen.cols - cols : 0, screen.cols, style, error);
}

void client_prompt_draw(struct client *client, struct draw_region screen)
{
	struct client_prompt *p = &client->prompt;
	struct draw_style input = theme_style(&client->theme, ROLE_INPUT);
	struct draw_region line = draw_region_sub(screen, 0, screen.rows - 1, screen.cols, 1);
	draw_region_fill(line, input);
	draw_region_text(line, 0, 0, 1, input, p->kind == PROMPT_COMMAND ? ":" : "/");
	widget_edit_draw(&p->edit, line, 0, 1, line.cols - 1, input, true);
	draw_filter_error(client, screen);
	const struct view_command *matches[MATCHES_MAX];
	int n = (int)completions(client, matches);
	int shown = n < SHOWN_MAX ? n : SHOWN_MAX;
	if (shown > screen.rows - 4)
		shown = screen.rows - 4;
	int first = p->choice >= shown ? p->choice - shown + 1 : 0;
	for (int i = 0; i < shown; i++) {
		const struct view_command *command = matches[first + i];
		struct draw_region row =
			draw_region_sub(screen, 0, screen.rows - 1 - shown + i, screen.cols, 1);
		struct err why;
		bool can = workspace_command_can(
			client->workspace, client_focused(client), command->name, &why);
		struct draw_style style = theme_style(&client->theme,
			first + i == p->choice ? ROLE_BUTTON_ACTIVE : ROLE_DIALOG);
		if (!can && first + i != p->choice)
			style.fg = theme_style(&client->theme, ROLE_DISABLED).fg;
		draw_region_fill(row, style);
		int col = 1 + draw_region_text(row, 0, 1, 16, style, command->name);
		col += 1 +
		       draw_region_text(row, 0, col + 1, screen.cols / 3, style, command->args);
		col = col < 36 && screen.cols > 70 ? 36 : col + 1;
		draw_region_text(
			row, 0, col, row.cols - col, style, can ? command->help : why.msg);
	}
}
