// SPDX-License-Identifier: Apache-2.0
// Keys, mouse and pasted text of a shell pane. Everything goes to the program, except what scrolls or selects; a
// program that asks for the mouse gets it, and Shift keeps it for us.
#include "tui/views/shell/shell.h"

#include "engine/base/clock.h"

#include <string.h>

enum { WHEEL_LINES = 3 };

static const enum term_key term_keys[KEY_SYM_F1] = {
	[KEY_SYM_ENTER] = TERM_KEY_ENTER,
	[KEY_SYM_TAB] = TERM_KEY_TAB,
	[KEY_SYM_BACKSPACE] = TERM_KEY_BACKSPACE,
	[KEY_SYM_ESCAPE] = TERM_KEY_ESCAPE,
	[KEY_SYM_UP] = TERM_KEY_UP,
	[KEY_SYM_DOWN] = TERM_KEY_DOWN,
	[KEY_SYM_LEFT] = TERM_KEY_LEFT,
	[KEY_SYM_RIGHT] = TERM_KEY_RIGHT,
	[KEY_SYM_INSERT] = TERM_KEY_INSERT,
	[KEY_SYM_DELETE] = TERM_KEY_DELETE,
	[KEY_SYM_HOME] = TERM_KEY_HOME,
	[KEY_SYM_END] = TERM_KEY_END,
	[KEY_SYM_PAGE_UP] = TERM_KEY_PAGE_UP,
	[KEY_SYM_PAGE_DOWN] = TERM_KEY_PAGE_DOWN,
	[KEY_SYM_BEGIN] = TERM_KEY_BEGIN,
};

static enum term_key keypad_key(uint32_t c)
{
	static const char order[] = "*+,-./"; /* TERM_KEY_KP_MULTIPLY and on, in this order */
	if (c >= '0' && c <= '9')
		return (enum term_key)(TERM_KEY_KP_0 + (int)(c - '0'));
	const char *at = c < 0x80 ? strchr(order, (int)c) : NULL;
	return at ? (enum term_key)(TERM_KEY_KP_MULTIPLY + (int)(at - order))
		  : TERM_KEY_KP_EQUAL;
}

static unsigned term_mods(unsigned mods)
{
	return (mods & MOD_SHIFT ? TERM_MOD_SHIFT : 0U) | (mods & MOD_ALT ? TERM_MOD_ALT : 0U) |
	       (mods & MOD_CTRL ? TERM_MOD_CTRL : 0U);
}

void views_shell_send_key(struct term *term, const struct draw_key *key)
{
	unsigned mods = term_mods(key->mods);
	if (key->keypad)
		term_key_sym(term,
			key->sym == KEY_SYM_ENTER ? TERM_KEY_KP_ENTER
						  : keypad_key(key->codepoint),
			mods);
	else if (key->sym == KEY_NONE)
		term_key_char(term, key->codepoint, mods);
	else if (key->sym >= KEY_SYM_F1)
		term_key_sym(term, (enum term_key)(TERM_KEY_F1 + (int)(key->sym - KEY_SYM_F1)),
			mods);
	else
		term_key_sym(term, term_keys[key->sym], mods);
}

bool views_shell_key(struct view *view, const struct draw_key *key)
{
	struct views_shell *shell = shell_of(view);
	if (!shell_is_live(shell))
		return false;
	if (shell->is_scrolling)
		views_shell_scroll_end(shell);
	views_shell_select_clear(shell);
	views_shell_send_key(shell->term, key);
	return true;
}

static bool has_long_line(struct slice text)
{
	size_t length = 0;
	for (size_t i = 0; i < text.n; i++) {
		length = text.p[i] == '\n' || text.p[i] == '\r' ? 0 : length + 1;
		if (length > SHELL_TTY_LINE_BYTES)
			return true;
	}
	return false;
}

void views_shell_paste(struct view *view, struct slice text, bool is_cut)
{
	struct views_shell *shell = shell_of(view);
	struct term_modes modes;
	if (!shell_is_live(shell))
		return;
	if (shell->is_scrolling && !shell->is_peeking) {
		view_host_notef(view->host, NOTE_WARNING,
			"nothing is pasted while the pane is scrolled: esc goes back to the program");
		return;
	}
	if (shell->is_scrolling)
		views_shell_scroll_end(shell);
	term_get_modes(shell->term, &modes);
	if (is_cut)
		view_host_notef(view->host, NOTE_WARNING, "only the first %d MiB were pasted",
			INPUT_PASTE_BYTES_MAX >> 20);
	else if (!modes.bracketed_paste && has_long_line(text))
		view_host_notef(view->host, NOTE_WARNING,
			"a program that reads whole lines gets only %d bytes of a line: copy a file instead",
			SHELL_TTY_LINE_BYTES);
	term_paste(shell->term, text.p, text.n);
}

/* ---- mouse */

static bool wheel(struct views_shell *shell, const struct draw_mouse *mouse)
{
	int by = mouse->action == MOUSE_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES;
	struct term_modes modes;
	term_get_modes(shell->term, &modes);
	if (modes.alternate_screen && shell_is_live(shell)) {
		/* a full-screen program has no scrollback: its own keys scroll it */
		for (int i = 0; i < WHEEL_LINES; i++)
			term_key_sym(shell->term, by < 0 ? TERM_KEY_UP : TERM_KEY_DOWN, 0);
		return true;
	}
	if (!shell->is_scrolling) {
		if (by > 0 || !term_history_rows(shell->term))
			return true;
		views_shell_scroll_begin(shell, true);
	}
	views_shell_scroll_by(shell, by);
	if (shell->is_peeking && views_shell_top_line(shell) == 0 && by > 0)
		views_shell_scroll_end(shell);
	return true;
}

static bool to_program(struct views_shell *shell, const struct draw_mouse *mouse)
{
	struct term_modes modes;
	term_get_modes(shell->term, &modes);
	if (modes.mouse == TERM_MOUSE_OFF || !shell_is_live(shell) || shell->is_scrolling ||
		(mouse->mods & MOD_SHIFT))
		return false;
	unsigned mods = term_mods(mouse->mods);
	switch (mouse->action) {
	case MOUSE_PRESS:
		term_mouse(shell->term, TERM_MOUSE_PRESS, mouse->button, mouse->col, mouse->row,
			mods);
		break;
	case MOUSE_RELEASE:
		term_mouse(shell->term, TERM_MOUSE_RELEASE, mouse->button, mouse->col,
			mouse->row, mods);
		break;
	case MOUSE_DRAG:
	case MOUSE_MOVE:
		term_mouse(shell->term, TERM_MOUSE_MOVE,
			mouse->action == MOUSE_DRAG ? mouse->button : 0, mouse->col, mouse->row,
			mods);
		break;
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		term_mouse(shell->term, TERM_MOUSE_PRESS,
			mouse->action == MOUSE_WHEEL_UP ? 4 : 5, mouse->col, mouse->row, mods);
		break;
	}
	return true;
}

static int clamp(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

bool views_shell_mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_shell *shell = shell_of(view);
	struct draw_mouse at = *mouse;
	at.col = clamp(at.col, 0, term_cols(shell->term) - 1);
	at.row = clamp(at.row, 0, term_rows(shell->term) - 1);
	if (to_program(shell, &at))
		return true;
	if (mouse->action == MOUSE_WHEEL_UP || mouse->action == MOUSE_WHEEL_DOWN)
		return wheel(shell, mouse);
	if (mouse->button != 1)
		return true;
	int line = views_shell_top_line(shell) + at.row;
	switch (mouse->action) {
	case MOUSE_PRESS:
		views_shell_select_clear(shell);
		if (mouse->clicks == 2)
			views_shell_select_word(shell, line, at.col);
		else
			views_shell_select_begin(shell, line, at.col, mouse->mods & MOD_ALT);
		break;
	case MOUSE_DRAG:
		if (mouse->row < 0 &&
			shell->is_selecting) { /* above the pane: on into the past */
			if (!shell->is_scrolling)
				views_shell_scroll_begin(shell, true);
			views_shell_scroll_by(shell, -1);
			line = views_shell_top_line(shell);
		} else if (mouse->row >= term_rows(shell->term) && shell->is_scrolling) {
			views_shell_scroll_by(shell, 1);
			line = views_shell_top_line(shell) + at.row;
		}
		views_shell_select_to(shell, line, at.col);
		break;
	case MOUSE_RELEASE:
		shell->is_selecting = false;
		if (!views_shell_select_copy(shell))
			views_shell_select_clear(shell);
		break;
	default:
		break;
	}
	return true;
}
