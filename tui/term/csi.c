// SPDX-License-Identifier: Apache-2.0
/* Control sequences: each one that is known, with its numbers brought into the screen. What editing by lines, erasing,
 * scrolling and tab stops do is libvterm's (vterm_adapter.h). docs/terminal.md is the list; what is not in it is swallowed. */
#include "tui/term/interpreter.h"

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

static void run(struct term *t, enum term_vterm_op op, int count)
{
	term_vterm_run(t->vterm, &t->place, op, count);
}

static bool is_between_margins(const struct term *t)
{
	return t->place.col >= t->place.region.left && t->place.col < t->place.region.right;
}

/* ICH and DCH: up to the right margin, in any row; only the side margins bind them. */
static void edit_characters(struct term *t, const struct term_csi *csi)
{
	int n = count_of(t, csi);
	if (!is_between_margins(t))
		return;
	struct term_grid_rect rest = { t->place.row, t->place.row + 1, t->place.col,
		t->place.region.right };
	term_grid_scroll_cols(
		t->grid, rest, csi->final == 'P' ? n : -n, term_state_erase_id(t), t->revision);
	t->place.at_end = false;
}

static void erase_characters(struct term *t, const struct term_csi *csi)
{
	int end = t->place.col + count_of(t, csi);
	term_state_fill(t,
		(struct term_grid_rect){ t->place.row, t->place.row + 1, t->place.col, end },
		cell_blank(term_state_erase_id(t)));
	t->place.at_end = false;
}

/* IL and DL: within the margins only, and the cursor goes to the left one (as in a VT510). Lines that a program
 * deletes did not scroll away: they are no history. */
static void edit_lines(struct term *t, const struct term_csi *csi)
{
	if (t->place.row < t->place.region.top || t->place.row >= t->place.region.bottom ||
		!is_between_margins(t))
		return;
	t->history_pause = true;
	run(t, csi->final == 'L' ? TERM_VTERM_INSERT_LINES : TERM_VTERM_DELETE_LINES,
		count_of(t, csi));
	t->history_pause = false;
	term_state_move(t, t->place.row, t->place.region.left);
}

/* CHT, CBT. Behind the last column there is no stop, and what waits there keeps waiting. */
static void move_tabs(struct term *t, const struct term_csi *csi)
{
	if (t->place.at_end && csi->final == 'I')
		return;
	run(t, csi->final == 'I' ? TERM_VTERM_TAB_FORWARD : TERM_VTERM_TAB_BACK,
		count_of(t, csi));
	/* libvterm knows no origin mode, in which the margins hold the cursor */
	term_state_move(t, t->place.row, t->place.col);
}

/* CUU, CUD, CNL, CPL stop at the scrolling region when they start inside (VT510 manual). */
static void move_rows(struct term *t, const struct term_csi *csi)
{
	int n = count_of(t, csi);
	int row = t->place.row;
	int col = t->place.col;
	if (csi->final == 'A' || csi->final == 'F') {
		int room = row >= t->place.region.top ? row - t->place.region.top : row;
		row -= n < room ? n : room;
	} else {
		int end = row < t->place.region.bottom ? t->place.region.bottom : t->grid->rows;
		int room = end - 1 - row;
		row += n < room ? n : room;
	}
	term_state_move(t, row, csi->final == 'E' || csi->final == 'F' ? 0 : col);
}

static void move_right(struct term *t, const struct term_csi *csi)
{
	term_state_move(t, t->place.row, t->place.col + count_of(t, csi));
}

static void move_left(struct term *t, const struct term_csi *csi)
{
	term_state_move(t, t->place.row, t->place.col - count_of(t, csi));
}

static void move_down(struct term *t, const struct term_csi *csi)
{
	term_state_move(t, t->place.row + count_of(t, csi), t->place.col);
}

static void move_up(struct term *t, const struct term_csi *csi)
{
	term_state_move(t, t->place.row - count_of(t, csi), t->place.col);
}

/* CUP, HVP, VPA, CHA: -1 keeps the row or column; the rest counts from the origin. */
static void move_to(struct term *t, int row, int col, bool keep_origin_col)
{
	if (row >= 0 && t->modes.origin)
		row += t->place.region.top;
	if (col >= 0 && t->modes.origin && t->margins_mode && keep_origin_col)
		col += t->place.region.left;
	term_state_move(t, row < 0 ? t->place.row : row, col < 0 ? t->place.col : col);
}

static void scroll_up(struct term *t, const struct term_csi *csi)
{
	run(t, TERM_VTERM_SCROLL_UP, count_of(t, csi));
}

/* With more numbers it is xterm's mouse highlighting. */
static void scroll_down(struct term *t, const struct term_csi *csi)
{
	if (csi->count == 1)
		run(t, TERM_VTERM_SCROLL_DOWN, count_of(t, csi));
}

static void edit_columns(struct term *t, const struct term_csi *csi)
{
	run(t, csi->final == '}' ? TERM_VTERM_INSERT_COLUMNS : TERM_VTERM_DELETE_COLUMNS,
		count_of(t, csi));
	t->place.at_end = false;
}

static void erase_display(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind <= 2) {
		run(t,
			csi->leader == '?' ? TERM_VTERM_ERASE_DISPLAY_SELECTIVE
					   : TERM_VTERM_ERASE_DISPLAY,
			kind);
		t->place.at_end = false;
	} else if (kind == 3 && csi->leader == 0) {
		term_scrollback_clear(t->history);
	}
}

static void move_to_column(struct term *t, const struct term_csi *csi)
{
	move_to(t, -1, place_of(csi, 0, t->grid->cols) - 1, false);
}

static void move_to_row(struct term *t, const struct term_csi *csi)
{
	move_to(t, place_of(csi, 0, t->grid->rows) - 1, -1, false);
}

static void move_to_place(struct term *t, const struct term_csi *csi)
{
	move_to(t, place_of(csi, 0, t->grid->rows) - 1, place_of(csi, 1, t->grid->cols) - 1,
		true);
}

static void erase_line(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind > 2)
		return;
	run(t, csi->leader == '?' ? TERM_VTERM_ERASE_LINE_SELECTIVE : TERM_VTERM_ERASE_LINE,
		kind);
	t->place.at_end = false;
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
	t->place.region.top = top - 1;
	t->place.region.bottom = bottom;
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
	t->place.region.left = left - 1;
	t->place.region.right = right;
	move_to(t, 0, 0, true);
}

static void report_cursor(struct term *t, const char *mark)
{
	int row = t->place.row;
	int col = t->place.col;
	if (t->modes.origin) {
		row -= t->place.region.top;
		col -= t->margins_mode ? t->place.region.left : 0;
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
		term_mode_report(t, private_mode, number));
}

static void clear_tab_stops(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind == 0 || kind == 3)
		run(t, TERM_VTERM_TAB_CLEAR, kind);
}

static void set_cursor_shape(struct term *t, const struct term_csi *csi)
{
	int kind = term_csi_param(csi, 0, 0);
	if (kind > 6)
		return;
	t->cursor_look.blink = kind % 2 == 1 || kind == 0;
	t->cursor_look.shape = kind <= 2   ? TERM_CURSOR_BLOCK
			       : kind <= 4 ? TERM_CURSOR_UNDERLINE
					   : TERM_CURSOR_BAR;
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

static void repeat(struct term *t, const struct term_csi *csi)
{
	int count = term_csi_param(csi, 0, 1);
	term_text_repeat(t, count < 1 ? 1 : count);
}

/* A VT220 with colours. */
static void report_device(struct term *t, const struct term_csi *csi)
{
	if (term_csi_param(csi, 0, 0) == 0)
		term_replyf(t, "\x1b[?62;22c");
}

/* What libvterm says; vim knows it by this. */
static void report_version(struct term *t, const struct term_csi *csi)
{
	if (term_csi_param(csi, 0, 0) == 0)
		term_replyf(t, "\x1b[>0;100;0c");
}

static void set_margins_or_save(struct term *t, const struct term_csi *csi)
{
	if (t->margins_mode)
		set_side_margins(t, csi);
	else if (csi->count == 1 && csi->params[0] < 0)
		term_state_save_cursor(t);
}

static void restore_cursor(struct term *t, const struct term_csi *csi)
{
	(void)csi;
	term_state_restore_cursor(t);
}

static void soft_reset(struct term *t, const struct term_csi *csi)
{
	(void)csi;
	term_esc_soft_reset(t);
}

typedef void (*csi_fn)(struct term *t, const struct term_csi *csi);

/* Sequences without leader and intermediate bytes, by their final byte. SGR is not among them: it changes nothing that
 * is seen. */
static const csi_fn plain[] = {
	['@'] = edit_characters,     /* ICH */
	['A'] = move_rows,           /* CUU */
	['B'] = move_rows,           /* CUD */
	['C'] = move_right,          /* CUF */
	['D'] = move_left,           /* CUB */
	['E'] = move_rows,           /* CNL */
	['F'] = move_rows,           /* CPL */
	['G'] = move_to_column,      /* CHA */
	['H'] = move_to_place,       /* CUP */
	['I'] = move_tabs,           /* CHT */
	['J'] = erase_display,       /* ED */
	['K'] = erase_line,          /* EL */
	['L'] = edit_lines,          /* IL */
	['M'] = edit_lines,          /* DL */
	['P'] = edit_characters,     /* DCH */
	['S'] = scroll_up,           /* SU */
	['T'] = scroll_down,         /* SD */
	['X'] = erase_characters,    /* ECH */
	['Z'] = move_tabs,           /* CBT */
	['`'] = move_to_column,      /* HPA */
	['a'] = move_right,          /* HPR */
	['b'] = repeat,              /* REP */
	['c'] = report_device,       /* DA */
	['d'] = move_to_row,         /* VPA */
	['e'] = move_down,           /* VPR */
	['f'] = move_to_place,       /* HVP */
	['g'] = clear_tab_stops,     /* TBC */
	['h'] = set_modes,           /* SM */
	['j'] = move_left,           /* HPB */
	['k'] = move_up,             /* VPB */
	['l'] = set_modes,           /* RM */
	['n'] = report_status,       /* DSR */
	['r'] = set_scroll_region,   /* DECSTBM */
	['s'] = set_margins_or_save, /* DECSLRM, SCOSC */
	['t'] = window_operation,    /* XTWINOPS */
	['u'] = restore_cursor,      /* SCORC */
};

static const struct {
	char leader;
	char intermediate;
	char final;
	csi_fn handle;
} marked[] = {
	{ '?', 0, 'J', erase_display },                                  /* DECSED */
	{ '?', 0, 'K', erase_line },                                     /* DECSEL */
	{ '?', 0, 'h', set_modes },                                      /* DECSET */
	{ '?', 0, 'l', set_modes },                                      /* DECRST */
	{ '?', 0, 'n', report_status }, { '>', 0, 'c', report_version }, /* DA2 */
	{ 0, '$', 'p', report_mode },                                    /* DECRQM */
	{ '?', '$', 'p', report_mode }, { 0, '!', 'p', soft_reset },     /* DECSTR */
	{ 0, ' ', 'q', set_cursor_shape },                               /* DECSCUSR */
	{ 0, '"', 'q', protect },                                        /* DECSCA */
	{ 0, '\'', '}', edit_columns },                                  /* DECIC */
	{ 0, '\'', '~', edit_columns },                                  /* DECDC */
};

static csi_fn handler_of(const struct term_csi *csi)
{
	if (csi->leader == 0 && csi->intermediate == 0) {
		size_t at = (unsigned char)csi->final;
		return at < sizeof plain / sizeof plain[0] ? plain[at] : NULL;
	}
	for (size_t i = 0; i < sizeof marked / sizeof marked[0]; i++)
		if (marked[i].leader == csi->leader &&
			marked[i].intermediate == csi->intermediate &&
			marked[i].final == csi->final)
			return marked[i].handle;
	return NULL;
}

void term_csi_handle(struct term *t, const struct term_csi *csi)
{
	if (csi->leader == 0 && csi->intermediate == 0 && csi->final == 'm') {
		term_sgr_apply(&t->pen, csi);
		t->pen_changed = true;
		return;
	}
	t->changed = true;
	csi_fn handle = handler_of(csi);
	if (handle != NULL)
		handle(t, csi);
	if (csi->final != 'm' && csi->final != 'b')
		t->last_char = 0;
}
