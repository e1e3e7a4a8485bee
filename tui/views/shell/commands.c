// SPDX-License-Identifier: Apache-2.0
// The words of a shell pane, one row each: those of the scroll mode, and those of what it shows.
#include "tui/views/shell/shell.h"

#include "engine/base/err.h"

#include <string.h>

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	struct term_pos at = { 0, 0 };
	int rows = term_rows(shell->term);
	if (!shell->is_scrolling || shell->is_peeking)
		views_shell_scroll_begin(shell, false);
	if (!views_shell_scroll_cursor(shell, &at))
		at.line = views_shell_top_line(shell);
	if (strcmp(args, "up") == 0)
		at.line--;
	else if (strcmp(args, "down") == 0)
		at.line++;
	else if (strcmp(args, "left") == 0)
		at.col--;
	else if (strcmp(args, "right") == 0)
		at.col++;
	else if (strcmp(args, "page-up") == 0)
		at.line -= rows - 1;
	else if (strcmp(args, "page-down") == 0)
		at.line += rows - 1;
	else if (strcmp(args, "first") == 0)
		at = (struct term_pos){ -term_history_rows(shell->term), 0 };
	else if (strcmp(args, "last") == 0)
		at.line = rows - 1;
	else if (strcmp(args, "start") == 0)
		at.col = 0;
	else if (strcmp(args, "end") == 0)
		at.col = term_cols(shell->term) - 1;
	else
		return err_set(err, ERR_ARG_INVALID,
			"move up, down, left, right, page-up, page-down, first, last, start or end");
	views_shell_scroll_to(shell, at.line, at.col);
	return true;
}

static bool run_scroll(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	(void)args;
	(void)err;
	views_shell_scroll_begin(shell, false);
	shell->is_peeking = false;
	return true;
}

static bool run_unscroll(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	views_shell_scroll_end(self);
	return true;
}

static bool run_select(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	struct term_pos at;
	if (!shell->is_scrolling)
		views_shell_scroll_begin(shell, false);
	if (!views_shell_scroll_cursor(shell, &at))
		return err_set(err, ERR_OP_CLOSED, "that line is gone");
	views_shell_select_begin(shell, at.line, at.col, strcmp(args, "block") == 0);
	shell->has_selection = true;
	return true;
}

static bool run_yank(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	(void)args;
	if (!views_shell_select_copy(shell))
		return err_set(err, ERR_ARG_INVALID, "nothing is selected");
	views_shell_scroll_end(shell);
	return true;
}

static bool run_again(void *self, const char *args, struct err *err)
{
	struct session *session = ((struct views_shell *)self)->session;
	(void)args;
	if (session_is_local(session))
		return err_set(err, ERR_OP_UNSUPPORTED, "what was edited is being looked at");
	return session_run_again(session, err);
}

static bool run_clear(void *self, const char *args, struct err *err)
{
	struct views_shell *shell = self;
	(void)args;
	(void)err;
	term_history_clear(shell->term);
	views_shell_scroll_end(shell);
	return true;
}

const struct view_command views_shell_commands[SHELL_COMMANDS] = {
	{ "scroll", "", "scroll and select in this pane", .run = run_scroll },
	{ "unscroll", "", "back to the program", .run = run_unscroll, .is_lone = true },
	{ "move", "up|down|left|right|page-up|page-down|first|last|start|end",
		"move the cursor of the scroll mode", .run = run_move },
	{ "select", "[block]", "begin to select", .run = run_select },
	{ "yank", "", "copy the selection to the clipboard", .run = run_yank, .is_lone = true },
	{ "again", "", "run the ended program again", .run = run_again, .is_lone = true },
	{ "clear-history", "", "forget the scrollback of this pane", .run = run_clear },
};
