// SPDX-License-Identifier: Apache-2.0
// The line at the bottom: ':' with completions above it, and '/' that filters while it is typed, with completions once Tab asks for them.
#include "tui/client/internal.h"

#include "engine/base/state_store.h"
#include "tui/widgets/fuzzy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATCHES_MAX = 64, SHOWN_MAX = 8, HELP_COL = 40, KEY_COLS = 10, HISTORY_KEY_BYTES = 32 };

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

/* What can be chosen: commands, or what may follow the one that is typed. */
struct matches {
	size_t n;
	bool are_args;
	const struct view_command *commands[MATCHES_MAX];
	char *args[MATCHES_MAX];
	int scores[MATCHES_MAX];
	const char *typed; /* of the argument */
};

static void add_arg(void *arg, const char *candidate)
{
	struct matches *m = arg;
	int score = widget_fuzzy_score(m->typed, candidate);
	bool is_full = m->n == MATCHES_MAX;
	if (!score || (is_full && score <= m->scores[m->n - 1]))
		return;
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->args[i], candidate) == 0)
			return;
	if (is_full)
		free(m->args[--m->n]);
	size_t at = m->n++;
	for (; at > 0 && m->scores[at - 1] < score; at--) {
		m->args[at] = m->args[at - 1];
		m->scores[at] = m->scores[at - 1];
	}
	m->args[at] = x_strdup(candidate);
	m->scores[at] = score;
}

static void find_filters(const struct client *client, struct matches *m)
{
	const struct client_prompt *p = &client->prompt;
	const struct view *view = workspace_focused(client->workspace);
	m->are_args = true;
	m->typed = p->edit.text.p;
	if (view->class->filter_complete)
		view->class->filter_complete(view, m->typed, add_arg, m);
}

static void find_matches(const struct client *client, struct matches *m)
{
	const struct client_prompt *p = &client->prompt;
	const char *space = strchr(p->edit.text.p, ' ');
	*m = (struct matches){ .are_args = space != NULL };
	if (p->kind != PROMPT_COMMAND) {
		find_filters(client, m);
		return;
	}
	if (!space) {
		m->n = workspace_command_complete(
			client->workspace, p->edit.text.p, m->commands, MATCHES_MAX);
		return;
	}
	m->typed = space + strspn(space, " ");
	workspace_command_complete_args(client->workspace, p->edit.text.p, add_arg, m);
}

static void free_matches(struct matches *m)
{
	for (size_t i = 0; m->are_args && i < m->n; i++)
		free(m->args[i]);
}

/* The line with that choice in it. */
static char *line_with(
	const struct client_prompt *p, const struct matches *m, size_t choice, bool goes_on)
{
	if (!m->are_args)
		return x_asprintf("%s%s", m->commands[choice]->name, goes_on ? " " : "");
	int before = (int)(m->typed - p->edit.text.p);
	return x_asprintf("%.*s%s", before, p->edit.text.p, m->args[choice]);
}

static void take(struct client_prompt *p, const struct matches *m, size_t choice, bool goes_on)
{
	char *line = line_with(p, m, choice, goes_on);
	widget_edit_set(&p->edit, line);
	free(line);
}

/* What is typed is the beginning of that one. */
static bool is_begun(const struct client_prompt *p, const struct matches *m, size_t i)
{
	const char *typed = m->are_args ? m->typed : p->edit.text.p;
	const char *whole = m->are_args ? m->args[i] : m->commands[i]->name;
	return *typed && strncmp(whole, typed, strlen(typed)) == 0;
}

/* The beginning of only one is enough; letters that merely fit are not. */
static bool take_the_only_one(struct client_prompt *p, const struct matches *m, bool goes_on)
{
	size_t n = 0, only = 0;
	for (size_t i = 0; i < m->n; i++)
		if (is_begun(p, m, i)) {
			only = i;
			n++;
		}
	if (n != 1)
		return false;
	take(p, m, only, goes_on);
	return true;
}

/* ---- what was typed before */

/* Lines that start a program in a sandbox may hold what nobody else is to read. */
static bool may_be_kept(const char *line)
{
	return strncmp(line, "shell", 5) != 0 && strncmp(line, "sh ", 3) != 0;
}

static void keep_history(const struct client *client)
{
	const struct client_prompt *p = &client->prompt;
	for (size_t i = 0, at = 0; i < HISTORY_MAX; i++) {
		char key[HISTORY_KEY_BYTES];
		const char *line = NULL;
		while (i < p->n_history && at < p->n_history && !may_be_kept(p->history[at]))
			at++;
		if (at < p->n_history)
			line = p->history[at++];
		snprintf(key, sizeof key, "palette.history.%02zu", i);
		state_store_set(client_host(client)->remembered, key, line);
	}
}

static void on_history(void *arg, const char *rest, const char *line)
{
	struct client_prompt *p = arg;
	(void)rest;
	if (p->n_history < HISTORY_MAX && *line)
		p->history[p->n_history++] = x_strdup(line);
}

void client_prompt_init(struct client *client)
{
	widget_edit_init(&client->prompt.edit, "");
	state_store_each(client_host(client)->remembered, "palette.history.", on_history,
		&client->prompt);
}

void client_prompt_deinit(struct client *client)
{
	struct client_prompt *p = &client->prompt;
	widget_edit_deinit(&p->edit);
	free(p->before);
	for (size_t i = 0; i < p->n_history; i++)
		free(p->history[i]);
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

static void take_choice(struct client *client)
{
	struct client_prompt *p = &client->prompt;
	struct matches matches;
	find_matches(client, &matches);
	if (p->choice >= 0 && (size_t)p->choice < matches.n)
		take(p, &matches, (size_t)p->choice, false);
	else if (!matches.are_args)
		take_the_only_one(p, &matches, false);
	free_matches(&matches);
	p->choice = -1;
	apply_filter(client);
}

static void enter(struct client *client)
{
	struct client_prompt *p = &client->prompt;
	if (p->kind == PROMPT_FILTER) {
		const struct view *view = client_focused(client);
		if (p->choice >= 0) { /* the first one takes what was chosen */
			take_choice(client);
			return;
		}
		bool is_wrong = view->class->filter_error && *view->class->filter_error(view);
		if (!is_wrong) /* else it stays to be mended; Esc takes it back */
			client_prompt_close(client);
		return;
	}
	take_choice(client);
	remember(p);
	keep_history(client);
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
	struct matches matches;
	find_matches(client, &matches);
	int n = (int)matches.n;
	if (n == 1)
		take(p, &matches, 0, true);
	bool is_taken = n == 1 || (n && p->choice < 0 && take_the_only_one(p, &matches, true));
	if (is_taken) {
		p->choice = -1;
		apply_filter(client);
	} else if (n) {
		p->choice = (p->choice + by + n + (p->choice < 0 && by < 0)) % n;
	}
	free_matches(&matches);
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

/* Name and what it takes, what it does or why it cannot now, and its key. */
static void draw_command(const struct client *client, struct draw_region row,
	const struct view_command *command, bool is_chosen)
{
	struct err why;
	const struct view *view = client_focused(client);
	bool can = workspace_command_can(client->workspace, view, command->name, &why);
	struct draw_style style =
		theme_style(&client->theme, is_chosen ? ROLE_BUTTON_ACTIVE : ROLE_DIALOG);
	struct draw_style name = style, key_style = style;
	if (!is_chosen) {
		name.fg = theme_style(&client->theme, ROLE_ACCENT).fg;
		key_style.fg = theme_style(&client->theme, ROLE_DIM).fg;
	}
	if (!can && !is_chosen)
		name.fg = style.fg = theme_style(&client->theme, ROLE_DISABLED).fg;
	const char *key = view_key_of_command(view_scope(view), command->name);
	int room = row.cols - (key ? KEY_COLS : 1);
	int col = 1 + draw_region_text(row, 0, 1, 16, name, command->name);
	col += 1 + draw_region_text(row, 0, col + 1, room / 3, style, command->args);
	col = col < HELP_COL - 1 && room > 60 ? HELP_COL : col + 1;
	draw_region_text(row, 0, col, room - col, style, can ? command->help : why.msg);
	if (key)
		draw_region_text_right(row, 0, room, KEY_COLS - 1, key_style, key);
}

/* How many are not shown, at the right of what is typed. */
static void draw_more(const struct client *client, struct draw_region line, int n)
{
	char text[32];
	struct draw_style style = theme_style(&client->theme, ROLE_INPUT);
	style.fg = theme_style(&client->theme, ROLE_DIM).fg;
	snprintf(text, sizeof text, "%d more", n);
	int cols = draw_text_cols(text);
	if (draw_text_cols(client->prompt.edit.text.p) + cols + 4 < line.cols)
		draw_region_text(line, 0, line.cols - cols - 1, cols, style, text);
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
	if (p->kind == PROMPT_FILTER && p->choice < 0)
		return; /* it covers rows: once Tab has asked for it */
	struct matches matches;
	find_matches(client, &matches);
	int n = (int)matches.n, shown = n < SHOWN_MAX ? n : SHOWN_MAX;
	if (shown > screen.rows - 4)
		shown = screen.rows - 4;
	int first = p->choice >= shown ? p->choice - shown + 1 : 0;
	for (int i = 0; i < shown; i++) {
		struct draw_region row =
			draw_region_sub(screen, 0, screen.rows - 1 - shown + i, screen.cols, 1);
		bool is_chosen = first + i == p->choice;
		struct draw_style style = theme_style(
			&client->theme, is_chosen ? ROLE_BUTTON_ACTIVE : ROLE_DIALOG);
		draw_region_fill(row, style);
		if (matches.are_args)
			draw_region_text(
				row, 0, 1, row.cols - 2, style, matches.args[first + i]);
		else
			draw_command(client, row, matches.commands[first + i], is_chosen);
	}
	if (n > shown && shown > 0)
		draw_more(client, draw_region_sub(screen, 0, screen.rows - 1, screen.cols, 1),
			n - shown);
	free_matches(&matches);
}
