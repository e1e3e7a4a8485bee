// SPDX-License-Identifier: Apache-2.0
/* Modes (SM, RM, DECSET, DECRST) and what DECRQM answers about them. libvterm is told about the ones
 * that change where characters go; the others live here. */
#include "tui/term/state.h"

#include "engine/base/clock.h"

#include <string.h>

enum {
	REPORT_UNKNOWN = 0,
	REPORT_SET = 1,
	REPORT_RESET = 2,
};

void term_mode_init(struct term *t)
{
	bool alternate = t->modes.alternate_screen;
	memset(&t->modes, 0, sizeof t->modes);
	t->modes.alternate_screen = alternate;
	t->modes.autowrap = true;
	t->newline_mode = false;
	t->margins_mode = false;
	t->protect = false;
	t->sync_since_ms = -1;
}

void term_mode_switch_screen(struct term *t, bool alternate, bool clear)
{
	struct term_grid *from = t->grid;
	t->grid = t->screens[alternate ? 1 : 0];
	t->modes.alternate_screen = alternate;
	struct term_grid_rect all = { 0, t->grid->rows, 0, t->grid->cols };
	if (clear)
		term_vterm_fill(t, all, cell_blank(term_vterm_erase_id(t)));
	if (from != t->grid)
		for (int r = 0; r < t->grid->rows; r++)
			grid_row(t->grid, r)->revision = t->revision;
	term_touch(t);
}

static void set_alternate(struct term *t, int number, bool on)
{
	bool is_on = t->modes.alternate_screen;
	if (number == 1049 && on) {
		term_esc_save_cursor(t);
		term_mode_switch_screen(t, true, true);
	} else if (on) {
		if (!is_on)
			term_mode_switch_screen(t, true, false);
	} else if (is_on) {
		/* 1047 clears on the way out; on 1049 nobody can see the difference */
		if (number == 1047)
			term_mode_switch_screen(t, true, true);
		term_mode_switch_screen(t, false, false);
	}
	if (number == 1049 && !on)
		term_esc_restore_cursor(t);
}

static void set_mouse(struct term *t, enum term_mouse_mode mode, bool on)
{
	if (on)
		t->modes.mouse = mode;
	else if (t->modes.mouse == mode)
		t->modes.mouse = TERM_MOUSE_OFF;
	t->mouse_col = -1;
	t->mouse_row = -1;
	t->mouse_button = 0;
}

static void set_margins_mode(struct term *t, bool on)
{
	/* either way the margins start as the whole width, and the cursor stays (libvterm moves it) */
	int row = t->row;
	int col = t->col;
	term_vterm_writef(t, "\x1b[s\x1b[?69%c", on ? 'h' : 'l');
	t->row = row;
	t->col = col;
	t->vt_behind = true;
	t->region.left = 0;
	t->region.right = t->grid->cols;
	t->margins_mode = on;
}

static void set_sync(struct term *t, bool on)
{
	int64_t now = clock_mono_ms();
	if (!on)
		t->sync_since_ms = -1;
	else if (!term_sync_active(t, now))
		t->sync_since_ms =
			now; /* while it is active, asking again does not make it longer */
	term_touch(t);
}

static void set_private(struct term *t, int number, bool on)
{
	char final = on ? 'h' : 'l';
	switch (number) {
	case 1:
		t->modes.app_cursor = on;
		term_vterm_writef(t, "\x1b[?1%c", final);
		break;
	case 5:
	case 12:
	case 25:
		term_vterm_writef(t, "\x1b[?%d%c", number, final);
		break;
	case 6:
		term_vterm_writef(t, "\x1b[?6%c", final);
		t->modes.origin = on;
		term_vterm_move(t, on ? t->region.top : 0, on ? t->region.left : 0);
		break;
	case 7:
		t->modes.autowrap = on;
		break;
	case 9:
		set_mouse(t, TERM_MOUSE_X10, on);
		break;
	case 69:
		set_margins_mode(t, on);
		break;
	case 1000:
		set_mouse(t, TERM_MOUSE_CLICK, on);
		break;
	case 1002:
		set_mouse(t, TERM_MOUSE_DRAG, on);
		break;
	case 1003:
		set_mouse(t, TERM_MOUSE_MOTION, on);
		break;
	case 1004:
		t->modes.focus_reports = on;
		break;
	case 1006:
		t->modes.mouse_sgr = on;
		break;
	case 1007:
		t->modes.alternate_scroll = on;
		break;
	case 47:
	case 1047:
	case 1049:
		set_alternate(t, number, on);
		break;
	case 1048:
		if (on)
			term_esc_save_cursor(t);
		else
			term_esc_restore_cursor(t);
		break;
	case 2004:
		t->modes.bracketed_paste = on;
		break;
	case 2026:
		set_sync(t, on);
		break;
	default:
		break;
	}
}

void term_mode_set(struct term *t, bool private_mode, int number, bool on)
{
	if (private_mode) {
		set_private(t, number, on);
	} else if (number == 4) {
		t->modes.insert = on;
		term_vterm_writef(t, "\x1b[4%c", on ? 'h' : 'l');
	} else if (number == 20) {
		t->newline_mode = on;
		term_vterm_writef(t, "\x1b[20%c", on ? 'h' : 'l');
	}
	term_touch(t);
}

static int report(bool on)
{
	return on ? REPORT_SET : REPORT_RESET;
}

int term_mode_get(const struct term *t, bool private_mode, int number)
{
	if (!private_mode)
		return number == 4    ? report(t->modes.insert)
		       : number == 20 ? report(t->newline_mode)
				      : REPORT_UNKNOWN;
	switch (number) {
	case 1:
		return report(t->modes.app_cursor);
	case 5:
		return report(t->modes.reverse_screen);
	case 6:
		return report(t->modes.origin);
	case 7:
		return report(t->modes.autowrap);
	case 9:
		return report(t->modes.mouse == TERM_MOUSE_X10);
	case 12:
		return report(t->cursor_look.blink);
	case 25:
		return report(t->cursor_look.visible);
	case 47:
	case 1047:
	case 1049:
		return report(t->modes.alternate_screen);
	case 69:
		return report(t->margins_mode);
	case 1000:
		return report(t->modes.mouse == TERM_MOUSE_CLICK);
	case 1002:
		return report(t->modes.mouse == TERM_MOUSE_DRAG);
	case 1003:
		return report(t->modes.mouse == TERM_MOUSE_MOTION);
	case 1004:
		return report(t->modes.focus_reports);
	case 1006:
		return report(t->modes.mouse_sgr);
	case 1007:
		return report(t->modes.alternate_scroll);
	case 2004:
		return report(t->modes.bracketed_paste);
	case 2026:
		return report(term_sync_active(t, clock_mono_ms()));
	default:
		return REPORT_UNKNOWN;
	}
}
