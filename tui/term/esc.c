// SPDX-License-Identifier: Apache-2.0
/* Escape sequences without parameters, the saved cursor and the resets.
 * The saved cursor is ours: libvterm's is not brought inside when the screen shrinks. There is one
 * for each screen, as in xterm. */
#include "tui/term/state.h"

#include <stdlib.h>
#include <string.h>

static struct term_saved_cursor *saved_of(struct term *t)
{
	return &t->saved[t->modes.alternate_screen ? 1 : 0];
}

void term_esc_save_cursor(struct term *t)
{
	struct term_saved_cursor *saved = saved_of(t);
	term_vterm_cursor(t, &saved->row, &saved->col);
	saved->valid = true;
	saved->at_end = t->at_end;
	saved->origin = t->modes.origin;
	saved->pen = t->pen;
	saved->charsets = t->charsets;
}

void term_esc_restore_cursor(struct term *t)
{
	const struct term_saved_cursor *saved = saved_of(t);
	if (saved->origin != t->modes.origin)
		term_mode_set(t, true, 6, saved->origin);
	term_vterm_move(t, saved->row, saved->col);
	t->at_end = saved->at_end && t->col == saved->col;
	t->pen = saved->pen;
	t->pen_changed = true;
	t->charsets = saved->charsets;
	term_touch(t);
}

static void reset_common(struct term *t)
{
	memset(&t->pen, 0, sizeof t->pen);
	t->pen_changed = true;
	t->charsets = (struct term_charsets){ 0 };
	memset(t->saved, 0, sizeof t->saved);
	t->region = (struct term_grid_rect){ 0, t->grid->rows, 0, t->grid->cols };
	term_touch(t);
}

/* DECSTR (VT220 manual, table 4-10). Mouse and paste modes go too, so that a program that died
 * cannot leave them on: `reset` and `tput rs1` send this. */
void term_esc_soft_reset(struct term *t)
{
	int row = t->row;
	int col = t->col;
	bool at_end = t->at_end;
	term_vterm_writef(t,
		"\x1b[?6l\x1b[?1l\x1b[4l\x1b[?7h\x1b[?25h\x1b>\x1b[0\"q\x1b[?69l\x1b[r\x1b[s");
	term_mode_init(t);
	reset_common(t);
	term_vterm_move(t, row, col);
	t->at_end = at_end;
}

/* RIS. The scrollback stays: only ED 3 and the user remove it. */
void term_reset(struct term *t)
{
	term_mode_init(t);
	term_mode_switch_screen(t, false, false);
	memset(&t->pen, 0, sizeof t->pen);
	t->pen_changed = true;
	term_grid_fill(t->screens[1],
		(struct term_grid_rect){ 0, t->grid->rows, 0, t->grid->cols }, cell_blank(0),
		t->revision);
	vterm_state_reset(t->vt_state, 1); /* erases the main screen */
	t->row = 0;
	t->col = 0;
	t->at_end = false;
	t->vt_behind = false;
	t->modes.reverse_screen = false;
	term_vterm_writef(t, "\x1b[?5l");
	reset_common(t);
	term_parser_reset(&t->filter);
	while (t->title_count > 0)
		free(t->titles[--t->title_count]);
}

/* DECALN: the alignment pattern. By us, because libvterm writes it glyph by glyph. */
static void fill_with_e(struct term *t)
{
	struct term_grid_rect all = { 0, t->grid->rows, 0, t->grid->cols };
	term_mode_set(t, true, 6, false);
	term_vterm_clear_region(t);
	term_vterm_fill(t, all, (struct term_cell){ 'E', 0 });
	term_vterm_move(t, 0, 0);
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

static void handle_plain(struct term *t, char final)
{
	switch (final) {
	case '7':
		term_esc_save_cursor(t);
		break;
	case '8':
		term_esc_restore_cursor(t);
		break;
	case 'D': /* IND */
	case 'E': /* NEL */
	case 'H': /* HTS */
	case 'M': /* RI */
		term_vterm_writef(t, "\x1b%c", final);
		if (final != 'H')
			t->at_end = false;
		term_touch(t);
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
		term_vterm_writef(t, "\x1b%c", final);
		term_touch(t);
		break;
	case 'c':
		term_reset(t);
		break;
	default:
		break;
	}
}

void term_esc_handle(struct term *t, char intermediate, char final)
{
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
