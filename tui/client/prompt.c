// SPDX-License-Identifier: Apache-2.0
// The line at the bottom: ':' with completions above it, and '/' that filters while it is typed.
#include "tui/app/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MATCHES_MAX = 64, SHOWN_MAX = 8 };

void app_prompt_open(struct app *app, enum app_prompt_kind kind)
{
	struct app_prompt *p = &app->prompt;
	p->kind = kind;
	p->choice = -1;
	p->at_history = p->n_history;
	free(p->before);
	p->before = NULL;
	widget_edit_set(&p->edit, "");
	if (kind == PROMPT_FILTER) {
		struct view *view = app_focused(app);
		const char *text =
			view->class->filter_text ? view->class->filter_text(view) : "";
		p->before = x_strdup(text);
		widget_edit_set(&p->edit, text);
	}
	app_frame_dirty(app);
}

void app_prompt_close(struct app *app)
{
	app->prompt.kind = PROMPT_NONE;
	app_frame_dirty(app);
}

static size_t completions(const struct app *app, const struct view_command **out)
{
	const struct app_prompt *p = &app->prompt;
	if (p->kind != PROMPT_COMMAND || strchr(p->edit.text.p, ' '))
		return 0;
	return app_command_complete(app, p->edit.text.p, out, MATCHES_MAX);
}

static void remember(struct app_prompt *p)
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

static void apply_filter(struct app *app)
{
	struct view *view = app_focused(app);
	if (app->prompt.kind == PROMPT_FILTER && view->class->filter)
		view->class->filter(view, app->prompt.edit.text.p);
}

static void enter(struct app *app)
{
	struct app_prompt *p = &app->prompt;
	if (p->kind == PROMPT_FILTER) {
		app_prompt_close(app);
		return;
	}
	const struct view_command *matches[MATCHES_MAX];
	size_t n = completions(app, matches);
	if (p->choice >= 0 && (size_t)p->choice < n)
		widget_edit_set(&p->edit, matches[p->choice]->name);
	else if (n == 1) /* the beginning of only one command is enough */
		widget_edit_set(&p->edit, matches[0]->name);
	remember(p);
	char *line = x_strdup(p->edit.text.p);
	app_prompt_close(app);
	app_command_try(app, line);
	free(line);
}

static void cancel(struct app *app)
{
	struct view *view = app_focused(app);
	if (app->prompt.kind == PROMPT_FILTER && view->class->filter)
		view->class->filter(view, app->prompt.before);
	app_prompt_close(app);
}

static void complete(struct app *app, int by)
{
	struct app_prompt *p = &app->prompt;
	const struct view_command *matches[MATCHES_MAX];
	int n = (int)completions(app, matches);
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

static void walk_history(struct app_prompt *p, int by)
{
	size_t at = p->at_history;
	if (by < 0 && at > 0)
		at--;
	else if (by > 0 && at < p->n_history)
		at++;
	p->at_history = at;
	widget_edit_set(&p->edit, at < p->n_history ? p->history[at] : "");
}

void app_prompt_key(struct app *app, const struct draw_key *key)
{
	struct app_prompt *p = &app->prompt;
	bool is_ctrl_c = key->sym == KEY_NONE && key->mods == MOD_CTRL && key->codepoint == 'c';
	app_frame_dirty(app);
	if (key->sym == KEY_SYM_ESCAPE || is_ctrl_c) {
		cancel(app);
	} else if (key->sym == KEY_SYM_ENTER) {
		enter(app);
	} else if (key->sym == KEY_SYM_TAB) {
		complete(app, key->mods & MOD_SHIFT ? -1 : 1);
	} else if (key->sym == KEY_SYM_BACKSPACE && !p->edit.text.n) {
		cancel(app);
	} else if (p->kind == PROMPT_COMMAND &&
		   (key->sym == KEY_SYM_UP || key->sym == KEY_SYM_DOWN)) {
		int by = key->sym == KEY_SYM_UP ? -1 : 1;
		if (p->choice >= 0 || (by > 0 && p->at_history >= p->n_history))
			complete(app, by);
		else
			walk_history(p, by);
	} else if (widget_edit_key(&p->edit, key)) {
		p->choice = -1;
		apply_filter(app);
	}
}

void app_prompt_paste(struct app *app, struct slice text)
{
	widget_edit_insert(&app->prompt.edit, text);
	apply_filter(app);
	app_frame_dirty(app);
}

void app_prompt_draw(struct app *app, struct draw_region screen)
{
	struct app_prompt *p = &app->prompt;
	struct draw_style input = theme_style(&app->theme, ROLE_INPUT);
	struct draw_region line = draw_region_sub(screen, 0, screen.rows - 1, screen.cols, 1);
	draw_region_fill(line, input);
	draw_region_text(line, 0, 0, 1, input, p->kind == PROMPT_COMMAND ? ":" : "/");
	widget_edit_draw(&p->edit, line, 0, 1, line.cols - 1, input, true);
	const struct view_command *matches[MATCHES_MAX];
	int n = (int)completions(app, matches);
	int shown = n < SHOWN_MAX ? n : SHOWN_MAX;
	if (shown > screen.rows - 4)
		shown = screen.rows - 4;
	int first = p->choice >= shown ? p->choice - shown + 1 : 0;
	for (int i = 0; i < shown; i++) {
		const struct view_command *command = matches[first + i];
		struct draw_region row =
			draw_region_sub(screen, 0, screen.rows - 1 - shown + i, screen.cols, 1);
		struct err why;
		bool can = app_command_can(app, app_focused(app), command->name, &why);
		struct draw_style style = theme_style(
			&app->theme, first + i == p->choice ? ROLE_BUTTON_ACTIVE : ROLE_DIALOG);
		if (!can && first + i != p->choice)
			style.fg = theme_style(&app->theme, ROLE_DISABLED).fg;
		draw_region_fill(row, style);
		int col = 1 + draw_region_text(row, 0, 1, 16, style, command->name);
		col += 1 +
		       draw_region_text(row, 0, col + 1, screen.cols / 3, style, command->args);
		col = col < 36 && screen.cols > 70 ? 36 : col + 1;
		draw_region_text(
			row, 0, col, row.cols - col, style, can ? command->help : why.msg);
	}
}
