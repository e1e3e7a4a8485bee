// SPDX-License-Identifier: Apache-2.0
/* Escape sequences without parameters, and the resets. */
#include "tui/term/interpreter.h"

#include <stdlib.h>
#include <string.h>

static void reset_common(struct term *t)
{
	term_mode_init(t);
	term_state_clear_pen(t);
	term_state_clear_region(t);
	t->charsets = (struct term_charsets){ 0 };
	memset(t->saved, 0, sizeof t->saved);
	t->cursor_look.visible = true;
	term_touch(t);
}

/* DECSTR (VT220 manual, table 4-10). Mouse and paste modes go too, so that a program that died
 * cannot leave them on: `reset` and `tput rs1` send this. */
void term_esc_soft_reset(struct term *t)
{
	reset_common(t);
}

/* RIS. The scrollback stays: only ED 3 and the user remove it. */
void term_esc_full_reset(struct term *t)
{
	reset_common(t);
	t->cursor_look.blink = true;
	t->cursor_look.shape = TERM_CURSOR_BLOCK;
	for (int alternate = 1; alternate >= 0; alternate--)
		term_state_switch_screen(t, alternate == 1, true);
	term_vterm_reset(t->vterm);
	term_state_move(t, 0, 0);
	t->last_char = 0;
	while (t->title_count > 0)
		free(t->titles[--t->title_count]);
}

/* DECALN: the alignment pattern. By us, because libvterm writes it glyph by glyph. */
static void fill_with_e(struct term *t)
{
	t->modes.origin = false;
	term_state_clear_region(t);
	term_state_fill(t, term_state_screen(t), (struct term_cell){ 'E', 0 });
	term_state_move(t, 0, 0);
	term_touch(t);
}

static void designate(struct term *t, int slot, char final)
{
	enum term_charset set = CHARSET_ASCII;
	if (final == '0')
		set = CHARSET_DEC_GRAPHICS;
	else if (final == 'A')
		set = CHARSET_UK;
	t->charsets.g[slot] = set;
}

static void move(struct term *t, enum term_vterm_op op)
{
	term_vterm_run(t->vterm, &t->place, op, 0);
	t->place.at_end = false;
	term_touch(t);
}

static void handle_plain(struct term *t, char final)
{
	switch (final) {
	case '7':
		term_state_save_cursor(t);
		break;
	case '8':
		term_state_restore_cursor(t);
		break;
	case 'D': /* IND */
		move(t, TERM_VTERM_INDEX);
		break;
	case 'E': /* NEL */
		move(t, TERM_VTERM_NEXT_LINE);
		break;
	case 'H': /* HTS */
		term_vterm_run(t->vterm, &t->place, TERM_VTERM_TAB_SET, 0);
		break;
	case 'M': /* RI */
		move(t, TERM_VTERM_REVERSE_INDEX);
		break;
	case 'N': /* SS2 */
		t->charsets.single = 2;
		break;
	case 'O': /* SS3 */
		t->charsets.single = 3;
		break;
	case 'n': /* LS2 */
		t->charsets.gl = 2;
		break;
	case 'o': /* LS3 */
		t->charsets.gl = 3;
		break;
	case '=': /* DECKPAM */
	case '>': /* DECKPNM */
		t->modes.app_keypad = final == '=';
		term_touch(t);
		break;
	case 'c':
		term_esc_full_reset(t);
		break;
	default:
		break;
	}
}

void term_esc_handle(struct term *t, char intermediate, char final)
{
	t->last_char = 0;
	switch (intermediate) {
	case 0:
		handle_plain(t, final);
		break;
	case '(':
	case ')':
	case '*':
	case '+':
		designate(t, intermediate - '(', final);
		break;
	case '#':
		if (final == '8')
			fill_with_e(t);
		break;
	default: /* 8-bit controls, code tables, double-height lines: not supported */
		break;
	}
}
