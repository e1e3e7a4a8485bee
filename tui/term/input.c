// SPDX-License-Identifier: Apache-2.0
/* What the user does, encoded for the process: keys (special ones by libvterm), mouse reports
 * (XTerm Control Sequences, "Mouse Tracking"), pasted text, focus. */
#include "tui/term/state.h"

#include <stdio.h>
#include <string.h>

enum {
	ESC = 0x1b,
	DEL = 0x7f,
};

/* --- keys --------------------------------------------------------------------------------- */

/* The byte that Ctrl makes of a key, as every terminal has done since the VT100; -1 if none. */
static int control_byte(uint32_t c)
{
	if (c >= 'a' && c <= 'z')
		return (int)c - 'a' + 1;
	if (c >= '@' && c <= '_')
		return (int)c - '@';
	switch (c) {
	case ' ':
	case '2':
		return 0;
	case '3':
		return ESC;
	case '4':
		return 0x1c;
	case '5':
		return 0x1d;
	case '6':
	case '~':
		return 0x1e;
	case '7':
	case '/':
		return 0x1f;
	case '8':
	case '?':
		return DEL;
	default:
		return -1;
	}
}

void term_key_char(struct term *t, uint32_t codepoint, unsigned mods)
{
	char out[5];
	size_t n = 0;
	if (codepoint > 0x10ffff || (codepoint >= 0xd800 && codepoint < 0xe000))
		return;
	if (mods & TERM_MOD_ALT)
		out[n++] = ESC;
	int control = mods & TERM_MOD_CTRL ? control_byte(codepoint) : -1;
	if (control >= 0)
		out[n++] = (char)control;
	else
		n += term_cell_encode_utf8(codepoint, out + n);
	term_send(t, out, n);
}

/* Keys that have a byte of their own. Modifiers that the byte cannot say are dropped: the forms that
 * could (CSI u) are not understood by shells that did not ask for them. */
static bool send_simple(struct term *t, enum term_key key, unsigned mods)
{
	char out[4];
	size_t n = 0;
	if (mods & TERM_MOD_ALT)
		out[n++] = ESC;
	switch (key) {
	case TERM_KEY_ENTER:
	case TERM_KEY_KP_ENTER:
		out[n++] = '\r';
		if (t->newline_mode)
			out[n++] = '\n';
		break;
	case TERM_KEY_TAB:
		if (mods & TERM_MOD_SHIFT) {
			out[n++] = ESC;
			out[n++] = '[';
			out[n++] = 'Z';
		} else {
			out[n++] = '\t';
		}
		break;
	case TERM_KEY_BACKSPACE:
		out[n++] = mods & TERM_MOD_CTRL ? 0x08 : DEL;
		break;
	case TERM_KEY_ESCAPE:
		out[n++] = ESC;
		break;
	default:
		return false;
	}
	term_send(t, out, n);
	return true;
}

/* F13 … F24 as xterm and the terminfo entry xterm-256color have them. libvterm ends at F12. */
static void send_high_function(struct term *t, int number, unsigned mods)
{
	static const char letters[] = "PQRS";
	static const int numbers[] = { 15, 17, 18, 19, 20, 21, 23, 24 };
	char out[24];
	unsigned modifier = 1 + (mods | TERM_MOD_SHIFT);
	int n = number <= 16 ? snprintf(out, sizeof out, "\x1b[1;%u%c", modifier,
				       letters[number - 13])
			     : snprintf(out, sizeof out, "\x1b[%d;%u~", numbers[number - 17],
				       modifier);
	term_send(t, out, (size_t)n);
}

/* As xterm's: SS3 with DECCKM, CSI without, the modifier as a number. libvterm does not know it. */
static void send_begin(struct term *t, unsigned mods)
{
	char out[16];
	int n = mods ? snprintf(out, sizeof out, "\x1b[1;%uE", 1 + mods)
		     : snprintf(out, sizeof out, "\x1b%cE", t->modes.app_cursor ? 'O' : '[');
	term_send(t, out, (size_t)n);
}

void term_key_sym(struct term *t, enum term_key key, unsigned mods)
{
	mods &= TERM_MOD_SHIFT | TERM_MOD_ALT | TERM_MOD_CTRL;
	bool keypad = key >= TERM_KEY_KP_0 && key <= TERM_KEY_KP_EQUAL;
	if (key == TERM_KEY_KP_ENTER && t->modes.app_keypad)
		keypad = true;
	else if (send_simple(t, key, mods))
		return;
	if (key >= TERM_KEY_F1 + 12 && key <= TERM_KEY_F24) {
		send_high_function(t, 1 + (int)(key - TERM_KEY_F1), mods);
		return;
	}
	if (key == TERM_KEY_BEGIN) {
		send_begin(t, mods);
		return;
	}
	if (keypad && !t->modes.app_keypad)
		mods &= TERM_MOD_ALT; /* a digit is a digit */
	term_vterm_key(t->vterm, key, mods, t->modes.app_cursor, t->modes.app_keypad);
}

void term_focus(struct term *t, bool in)
{
	if (t->modes.focus_reports)
		term_send(t, in ? "\x1b[I" : "\x1b[O", 3);
}

/* --- mouse -------------------------------------------------------------------------------- */

static int button_code(int button)
{
	return button <= 3 ? button - 1 : button <= 7 ? 64 + button - 4 : 128 + button - 8;
}

static bool is_wheel(int button)
{
	return button >= 4 && button <= 7;
}

static bool mouse_is_wanted(struct term *t, enum term_mouse_event event, int button)
{
	switch (t->modes.mouse) {
	case TERM_MOUSE_X10:
		return event == TERM_MOUSE_PRESS && button <= 3;
	case TERM_MOUSE_CLICK:
		return event != TERM_MOUSE_MOVE;
	case TERM_MOUSE_DRAG:
		return event != TERM_MOUSE_MOVE || button != 0;
	case TERM_MOUSE_MOTION:
		return true;
	default:
		return false;
	}
}

bool term_mouse(struct term *t, enum term_mouse_event event, int button, int col, int row,
	unsigned mods)
{
	if (button < (event == TERM_MOUSE_MOVE ? 0 : 1) || button > 11 || col < 0 || row < 0 ||
		col >= t->grid->cols || row >= t->grid->rows)
		return false;
	if (!mouse_is_wanted(t, event, button))
		return false;
	if (event == TERM_MOUSE_RELEASE && is_wheel(button))
		return true; /* a wheel is never released */
	if (event == TERM_MOUSE_MOVE && col == t->mouse_col && row == t->mouse_row)
		return true; /* still in the same cell */
	t->mouse_col = col;
	t->mouse_row = row;

	int code = button == 0 ? 3 : button_code(button);
	if (event == TERM_MOUSE_MOVE)
		code += 32;
	if (t->modes.mouse != TERM_MOUSE_X10) {
		code += mods & TERM_MOD_SHIFT ? 4 : 0;
		code += mods & TERM_MOD_ALT ? 8 : 0;
		code += mods & TERM_MOD_CTRL ? 16 : 0;
	}
	char out[40];
	int n;
	if (t->modes.mouse_sgr) {
		n = snprintf(out, sizeof out, "\x1b[<%d;%d;%d%c", code, col + 1, row + 1,
			event == TERM_MOUSE_RELEASE ? 'm' : 'M');
		term_send(t, out, (size_t)n);
		return true;
	}
	/* one byte each: places beyond 223 and buttons beyond 7 cannot be said */
	if (col > 222 || row > 222 || code > 127)
		return true;
	if (event == TERM_MOUSE_RELEASE)
		code = (code & ~3) | 3;
	memcpy(out, "\x1b[M", 3);
	out[3] = (char)(32 + code);
	out[4] = (char)(33 + col);
	out[5] = (char)(33 + row);
	term_send(t, out, 6);
	return true;
}
