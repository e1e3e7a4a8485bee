// SPDX-License-Identifier: Apache-2.0
/* Control sequences: each one that is known is written anew for libvterm with its numbers brought
 * into the screen, or done here. docs/terminal.md is the list; what is not in it is swallowed. */
#include "tui/term/state.h"

#include <string.h>

#define KEY(leader, intermediate, final) ((leader) << 16 | (intermediate) << 8 | (final))

int term_csi_param(const struct term_csi *csi, int index, int missing)
{
	return index < csi->count && csi->params[index] >= 0 ? csi->params[index] : missing;
}

/* A count: missing and 0 are 1, and nothing needs more than the screen has. */
static int count_of(const struct term *t, const struct term_csi *csi)
{
	int max = t->grid->cols > t->grid->rows ? t->grid->cols : t->grid->rows;
	int n = term_csi_param(csi, 0, 1);
	return n < 1 ? 1 : n > max ? max : n;
}

static int place_of(const struct term_csi *csi, int index, int max)
{
	int n = term_csi_param(csi, index, 1);
	return n < 1 ? 1 : n > max ? max : n;
}

/* IL, DL, SU, SD and the tabs are libvterm's. */
static void pass_count(struct term *t, const struct term_csi *csi)
{
	term_vterm_writef(t, "\x1b[%d%c", count_of(t, csi), csi->final);
}

static bool is_between_margins(const struct term *t)
{
	return t->col >= t->region.left && t->col < t->region.right;
}

/* ICH and DCH: up to the right margin, in any row; only the side margins bind them. */
static void edit_characters(struct term *t, const struct term_csi *csi)
{
	int n = count_of(t, csi);
	if (!is_between_margins(t))
		return;
	struct term_grid_rect rest = { t->row, t->row + 1, t->col, t->region.right };
	term_grid_scroll_cols(
		t->grid, rest, csi->final == 'P' ? n : -n, term_vterm_erase_id(t), t->revision);
	t->at_end = false;
}

static void erase_characters(struct term *t, const struct term_csi *csi)
{
	int end = t->col + count_of(t, csi);
	term_vterm_fill(t, (struct term_grid_rect){ t->row, t->row + 1, t->col, end },
		cell_blank(term_vterm_erase_id(t)));
	t->at_end = false;
}

/* IL and DL: within the margins only, and the cursor goes to the left one (as in a VT510). Lines that a program
 * deletes did not scroll away: they are no history. */
static void edit_lines(struct term *t, const struct term_csi *csi)
{
	if (t->row < t->region.top || t->row >= t->region.bottom || !is_between_margins(t))
		return;
	t->history_pause = true;
	pass_count(t, csi);
	t->history_pause = false;
	term_vterm_move(t, t->row, t->region.left);
}

/* CHT, CBT. Behind the last column there is no stop, and what waits there keeps waiting. */
static void move_tabs(struct term *t, const struct term_csi *csi)
{
	if (t->at_end && csi->final == 'I')
		return;
	pass_count(t, csi);
	t->at_end = false;
}

/* CUU, CUD, CNL, CPL stop at the scrolling region when they start inside (VT510 manual). */
static void move_rows(struct term *t, const struct term_csi *csi)
{
	int row;
	int col;
	int n = count_of(t, csi);
	term_vterm_cursor(t, &row, &col);
	if (csi->final == 'A' || csi->final == 'F') {
		int room = row >= t->region.top ? row - t->region.top : row;
		row -= n < room ? n : room;
	} else {
		int end = row < t->region.bottom ? t->region.bottom : t->grid->rows;
		int room = end - 1 - row;
		row += n < room ? n : room;
	}
	term_vterm_move(t, row, csi->final == 'E' || csi->final == 'F' ? 0 : col);
}

static void move_by(struct term *t, int rows, int cols)
{
	int row;
	int col;
	term_vterm_cursor(t, &row, &col);
	term_vterm_move(t, row + rows, col + cols);
}

/* CUP, HVP, VPA, CHA: -1 keeps the row or column; the rest counts from the origin. */
static void move_to(struct term *t, int row, int col, bool keep_origin_col)
{
	int old_row;
	int old_col;
	term_vterm_cursor(t, &old_row, &old_col);
	if (row >= 0 && t->modes.origin)
		row += t->region.top;
	if (col >= 0 && t->modes.origin && t->margins_mode && keep_origin_col)
		col += t->region.left;
	term_vterm_move(t, row < 0 ? old_row : row, col < 0 ? old_col : col);
}

static void erase_display(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind <= 2) {
		term_vterm_writef(t, "\x1b[%s%dJ", csi->leader == '?' ? "?" : "", kind);
		t->at_end = false;
	} else if (kind == 3 && csi->leader == 0) {
		term_history_clear(t);
	}
}

static void erase_line(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind > 2)
		return;
	term_vterm_writef(t, "\x1b[%s%dK", csi->leader == '?' ? "?" : "", kind);
	t->at_end = false;
}

static void set_scroll_region(struct term *t, const struct term_csi *csi)
{
	int rows = t->grid->rows;
	int top = place_of(csi, 0, rows);
	int bottom = term_csi_param(csi, 1, 0);
	if (bottom == 0 || bottom > rows)
		bottom = rows;
	if (top >= bottom)
		return;
	term_vterm_writef(t, "\x1b[%d;%dr", top, bottom);
	t->region.top = top - 1;
	t->region.bottom = bottom;
	move_to(t, 0, 0, true);
}

static void set_side_margins(struct term *t, const struct term_csi *csi)
{
	int cols = t->grid->cols;
	int left = place_of(csi, 0, cols);
	int right = term_csi_param(csi, 1, 0);
	if (right == 0 || right > cols)
		right = cols;
	if (left >= right)
		return;
	term_vterm_writef(t, "\x1b[%d;%ds", left, right);
	t->region.left = left - 1;
	t->region.right = right;
	move_to(t, 0, 0, true);
}

static void report_cursor(struct term *t, const char *mark)
{
	int row;
	int col;
	term_vterm_cursor(t, &row, &col);
	if (t->modes.origin) {
		row -= t->region.top;
		col -= t->margins_mode ? t->region.left : 0;
	}
	term_replyf(t, "\x1b[%s%d;%dR", mark, row + 1, col + 1);
}

static void report_status(struct term *t, const struct term_csi *csi)
{
	int what = term_csi_param(csi, 0, 0);
	if (what == 6)
		report_cursor(t, csi->leader == '?' ? "?" : "");
	else if (what == 5 && csi->leader == 0)
		term_replyf(t, "\x1b[0n");
}

static void set_modes(struct term *t, const struct term_csi *csi)
{
	for (int i = 0; i < csi->count; i++)
		if (csi->params[i] >= 0)
			term_mode_set(t, csi->leader == '?', csi->params[i], csi->final == 'h');
}

static void report_mode(struct term *t, const struct term_csi *csi)
{
	bool private_mode = csi->leader == '?';
	int number = term_csi_param(csi, 0, 0);
	term_replyf(t, "\x1b[%s%d;%d$y", private_mode ? "?" : "", number,
		term_mode_get(t, private_mode, number));
}

static void clear_tab_stops(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind == 0 || kind == 3)
		term_vterm_writef(t, "\x1b[%dg", kind);
}

static void set_cursor_shape(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind <= 6)
		term_vterm_writef(t, "\x1b[%d q", kind);
}

static void protect(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind > 2)
		return;
	t->protect = kind == 1;
}

/* XTWINOPS: only the title stack (22, 23; 1 would be the icon's name alone). Never a report: its text would be typed. */
static void window_operation(struct term *t, const struct term_csi *csi)
{
	int what = term_csi_param(csi, 0, 0);
	int which = term_csi_param(csi, 1, 0);
	if (which != 0 && which != 2)
		return;
	if (what == 22)
		term_string_push_title(t);
	else if (what == 23)
		term_string_pop_title(t);
}

/* Sequences without leader and intermediate bytes. */
static void handle_plain(struct term *t, const struct term_csi *csi)
{
	switch (csi->final) {
	case '@': /* ICH */
	case 'P': /* DCH */
		edit_characters(t, csi);
		break;
	case 'X': /* ECH */
		erase_characters(t, csi);
		break;
	case 'L': /* IL */
	case 'M': /* DL */
		edit_lines(t, csi);
		break;
	case 'I': /* CHT */
	case 'Z': /* CBT */
		move_tabs(t, csi);
		break;
	case 'S': /* SU */
		pass_count(t, csi);
		break;
	case 'C': /* CUF */
	case 'a': /* HPR */
		move_by(t, 0, count_of(t, csi));
		break;
	case 'D': /* CUB */
	case 'j': /* HPB */
		move_by(t, 0, -count_of(t, csi));
		break;
	case 'e': /* VPR */
		move_by(t, count_of(t, csi), 0);
		break;
	case 'k': /* VPB */
		move_by(t, -count_of(t, csi), 0);
		break;
	case 'T': /* SD; with more numbers it is xterm's mouse highlighting */
		if (csi->count == 1)
			pass_count(t, csi);
		break;
	case 'A':
	case 'B':
	case 'E':
	case 'F':
		move_rows(t, csi);
		break;
	case 'G': /* CHA */
	case '`': /* HPA */
		move_to(t, -1, place_of(csi, 0, t->grid->cols) - 1, false);
		break;
	case 'd': /* VPA */
		move_to(t, place_of(csi, 0, t->grid->rows) - 1, -1, false);
		break;
	case 'H': /* CUP */
	case 'f': /* HVP */
		move_to(t, place_of(csi, 0, t->grid->rows) - 1,
			place_of(csi, 1, t->grid->cols) - 1, true);
		break;
	case 'J':
		erase_display(t, csi);
		break;
	case 'K':
		erase_line(t, csi);
		break;
	case 'b': /* REP */
		term_parser_text_repeat(
			t, term_csi_param(csi, 0, 1) < 1 ? 1 : term_csi_param(csi, 0, 1));
		break;
	case 'c': /* DA: a VT220 with colours */
		if (term_csi_param(csi, 0, 0) == 0)
			term_replyf(t, "\x1b[?62;22c");
		break;
	case 'g':
		clear_tab_stops(t, csi);
		break;
	case 'h':
	case 'l':
		set_modes(t, csi);
		break;
	case 'n':
		report_status(t, csi);
		break;
	case 'r':
		set_scroll_region(t, csi);
		break;
	case 's':
		if (t->margins_mode)
			set_side_margins(t, csi);
		else if (csi->count == 1 && csi->params[0] < 0)
			term_esc_save_cursor(t);
		break;
	case 'u':
		term_esc_restore_cursor(t);
		break;
	case 't':
		window_operation(t, csi);
		break;
	default: /* not known: swallowed */
		break;
	}
}

void term_csi_handle(struct term *t, const struct term_csi *csi)
{
	if (csi->leader == 0 && csi->intermediate == 0) {
		if (csi->final == 'm') {
			term_sgr_handle(t, csi);
			return;
		}
		t->changed = true;
		handle_plain(t, csi);
		return;
	}
	t->changed = true;
	switch (KEY(csi->leader, csi->intermediate, csi->final)) {
	case KEY('?', 0, 'J'): /* DECSED */
		erase_display(t, csi);
		break;
	case KEY('?', 0, 'K'): /* DECSEL */
		erase_line(t, csi);
		break;
	case KEY('?', 0, 'h'):
	case KEY('?', 0, 'l'):
		set_modes(t, csi);
		break;
	case KEY('?', 0, 'n'):
		report_status(t, csi);
		break;
	case KEY('>', 0, 'c'): /* DA2: what libvterm says; vim knows it by this */
		if (term_csi_param(csi, 0, 0) == 0)
			term_replyf(t, "\x1b[>0;100;0c");
		break;
	case KEY(0, '$', 'p'): /* DECRQM */
	case KEY('?', '$', 'p'):
		report_mode(t, csi);
		break;
	case KEY(0, '!', 'p'): /* DECSTR */
		term_esc_soft_reset(t);
		break;
	case KEY(0, ' ', 'q'): /* DECSCUSR */
		set_cursor_shape(t, csi);
		break;
	case KEY(0, '"', 'q'): /* DECSCA */
		protect(t, csi);
		break;
	case KEY(0, '\'', '}'): /* DECIC */
	case KEY(0, '\'', '~'): /* DECDC */
		term_vterm_writef(t, "\x1b[%d'%c", count_of(t, csi), csi->final);
		t->at_end = false;
		break;
	default:
		break;
	}
}
