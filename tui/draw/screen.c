// SPDX-License-Identifier: Apache-2.0
// A surface becomes a frame of bytes.
//
//   surface ──compare with the last one──▶ mvadd_wch ──doupdate──▶ memory file ──▶ frame
//
// ncurses writes with write(2) to the descriptor of its FILE, so that is a memory file (an unlinked temporary
// where there is none), emptied after every frame. Cells are placed one by one at their column. Colours: see
// pair_of(). Signals that ncurses would take are put back as they were.
#include "tui/draw/screen.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "tui/draw/ascii.h"
#include "tui/draw/color.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

enum { FRAME_BYTES_MAX = 32 << 20, CELL_CHARS = 5, NUMBERS = 64 /* a power of two */ };

struct draw_screen {
	SCREEN *curses;
	TERMINAL *entry; /* of terminfo; the screen's */
	FILE *out, *in;
	struct draw_surface *last;
	bool is_repaint;
	int colors;
	int n_indexed; /* of a direct terminal: colour numbers that are palette indexes */
	bool is_xterm_like, is_ascii;
	/* the colours of the last frames, looked for once: a palette has 256 */
	struct {
		draw_color color;
		int number;
	} numbers[NUMBERS];
	int shape_sent;
	char begin[SCREEN_BRACKET_BYTES], end[SCREEN_BRACKET_BYTES];
};

/* delscreen() frees the windows of all screens (ncurses 6.4): what ncurses keeps of one that goes is freed with the last. */
static struct {
	size_t n_alive, n_dead, capacity;
	SCREEN **dead;
} screens;

static FILE *memory_file(void)
{
#ifdef MFD_CLOEXEC
	int fd = memfd_create("frame", MFD_CLOEXEC);
	if (fd >= 0)
		return fdopen(fd, "w+");
#endif
	return tmpfile();
}

/* newterm installs handlers for these; they are ours. */
static const int guarded_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
enum { N_GUARDED = sizeof guarded_signals / sizeof guarded_signals[0] };

static SCREEN *open_term(struct draw_screen *s, const char *term)
{
	struct sigaction old[N_GUARDED];
	for (int i = 0; i < N_GUARDED; i++)
		sigaction(guarded_signals[i], NULL, &old[i]);
	char *copy = x_strdup(term);
	SCREEN *curses = newterm(copy, s->out, s->in);
	free(copy);
	for (int i = 0; i < N_GUARDED; i++)
		sigaction(guarded_signals[i], &old[i], NULL);
	return curses;
}

static bool try_term(struct draw_screen *s, const char *term)
{
	/* newterm of an unknown entry prints to stderr; setupterm with errret does not */
	int status = 0;
	if (setupterm(term, fileno(s->out), &status) == ERR || status != 1)
		return false;
	bool can_move = cursor_address != NULL;
	del_curterm(cur_term);
	if (!can_move)
		return false;
	s->curses = open_term(s, term);
	s->entry = cur_term;
	screens.n_alive += s->curses != NULL;
	return s->curses != NULL;
}

/* The -direct entry of a terminal: xterm-256color gives xterm-direct16 or xterm-direct. */
static bool try_direct(struct draw_screen *s, const char *term)
{
	char base[64], name[96];
	snprintf(base, sizeof base, "%s", term);
	char *dash = strstr(base, "-256color");
	if (dash)
		*dash = 0;
	static const struct {
		const char *suffix;
		int n_indexed;
	} kinds[] = { { "-direct16", 16 }, { "-direct", 8 } };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		snprintf(name, sizeof name, "%s%s", base, kinds[i].suffix);
		if (try_term(s, name)) {
			s->n_indexed = kinds[i].n_indexed;
			return true;
		}
	}
	return false;
}

static bool is_xterm_like(const char *term)
{
	static const char *const prefixes[] = { "xterm", "tmux", "screen", "alacritty", "foot",
		"kitty", "wezterm", "rxvt", "konsole", "vte", "gnome", "iterm", "mintty", "st",
		"contour", "ghostty" };
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(term, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

bool draw_screen_knows_ascii_alone(const char *term)
{
	static const char *const prefixes[] = { "dumb", "vt1", "vt2", "ansi" };
	for (size_t i = 0; term && i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (strncmp(term, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static void fill_brackets(struct draw_screen *s)
{
	const char *enter = enter_ca_mode ? enter_ca_mode : "";
	const char *leave = exit_ca_mode ? exit_ca_mode : "";
	const char *normal = exit_attribute_mode ? exit_attribute_mode : "";
	const char *show = cursor_normal ? cursor_normal : "";
	const char *clear = clear_screen ? clear_screen : "";
	if (s->is_xterm_like) {
		snprintf(s->begin, sizeof s->begin, "\033[?1049h%s\033[?2004h\033[?1004h",
			clear);
		snprintf(s->end, sizeof s->end,
			"\033[?2026l\033[?1003l\033[?1002l\033[?1000l\033[?1006l\033[?1004l\033[?2004l"
			"\033[0 q\033[0m\033[?25h\033[?1049l\033[?25h");
	} else {
		snprintf(s->begin, sizeof s->begin, "%s%s", enter, clear);
		snprintf(s->end, sizeof s->end, "%s%s%s%s", normal, clear, leave, show);
	}
	/* padding marks of old terminals ($<5>) are for tputs; without it they would show */
	for (char *text = s->end; (text = strstr(text, "$<")) != NULL;) {
		char *close = strchr(text, '>');
		if (!close)
			break;
		memmove(text, close + 1, strlen(close + 1) + 1);
	}
	for (char *text = s->begin; (text = strstr(text, "$<")) != NULL;) {
		char *close = strchr(text, '>');
		if (!close)
			break;
		memmove(text, close + 1, strlen(close + 1) + 1);
	}
}

/* Frames are taken from the memory file; what newterm itself wrote (smcup) is not wanted: begin has it. */
static void drop_output(struct draw_screen *s)
{
	fflush(s->out);
	if (ftruncate(fileno(s->out), 0) == 0)
		lseek(fileno(s->out), 0, SEEK_SET);
}

struct draw_screen *draw_screen_new(const struct draw_screen_opts *opts, struct err *err)
{
	struct draw_screen *s = x_calloc(1, sizeof *s);
	const char *term = opts->term && *opts->term ? opts->term : "dumb";
	bool no_color = opts->no_color;
	s->out = memory_file();
	s->in = fopen("/dev/null", "r");
	if (!s->out || !s->in) {
		err_set(err, ERR_SYSTEM, "cannot make a memory file for the screen");
		draw_screen_free(s);
		return NULL;
	}
	/* our own size comes later. An entry without one (the Linux console's) is taken only so: without, newterm fails */
	use_env(FALSE);
	use_tioctl(TRUE);
	bool want_direct = opts->colorterm && (strcmp(opts->colorterm, "truecolor") == 0 ||
						      strcmp(opts->colorterm, "24bit") == 0);
	bool found = !no_color && want_direct && try_direct(s, term);
	if (!found)
		found = try_term(s, term);
	if (!found) {
		/* Unknown or dumb: the sequences of a vt100 are what nearly everything on a pty knows. */
		no_color = no_color || strcmp(term, "dumb") == 0;
		found = try_term(s, "vt100") || try_term(s, "ansi");
	}
	if (!found) {
		err_set(err, ERR_TTY_NONE, "there is no terminfo entry for TERM=%s", term);
		draw_screen_free(s);
		return NULL;
	}
	s->is_xterm_like = is_xterm_like(term);
	s->is_ascii = opts->is_ascii;
	if (!no_color && has_colors()) {
		start_color();
		use_default_colors();
		s->colors = COLORS >= 1 << 24 ? 1 << 24
			    : COLORS >= 256   ? 256
			    : COLORS >= 16    ? 16
			    : COLORS >= 8     ? 8
					      : 0;
	}
	if (!s->n_indexed)
		s->n_indexed = 8;
	keypad(stdscr, FALSE);
	scrollok(stdscr, FALSE);
	leaveok(stdscr, FALSE);
	nonl();
	fill_brackets(s);
	s->last = draw_surface_new(1, 1);
	s->shape_sent = -1;
	draw_screen_resize(s, opts->cols, opts->rows);
	wnoutrefresh(stdscr);
	doupdate();
	drop_output(s);
	return s;
}

/* ncurses works on its current screen: each function that needs it begins with this. setupterm() for a later one has given
 * the entry that it tried to the screen that was current then. */
static void make_current(const struct draw_screen *s)
{
	set_term(s->curses);
	set_curterm(s->entry);
}

/* resize_term() for another screen changes the windows of all. */
static void mend_windows(struct draw_screen *s)
{
	int rows = draw_surface_rows(s->last), cols = draw_surface_cols(s->last);
	if (getmaxy(curscr) == rows && getmaxx(curscr) == cols)
		return;
	WINDOW *const windows[] = { curscr, newscr, stdscr };
	for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++)
		wresize(windows[i], rows, cols);
	s->is_repaint = true;
}

static void free_curses(struct draw_screen *s)
{
	struct sigaction old[N_GUARDED];
	for (int i = 0; i < N_GUARDED; i++)
		sigaction(guarded_signals[i], NULL, &old[i]);
	make_current(s);
	endwin();
	array_grow(&screens.dead, &screens.capacity, screens.n_dead + 1, sizeof *screens.dead);
	screens.dead[screens.n_dead++] = s->curses;
	if (!--screens.n_alive) {
		while (screens.n_dead)
			delscreen(screens.dead[--screens.n_dead]);
		free(screens.dead);
		screens.dead = NULL;
		screens.capacity = 0;
	}
	for (int i = 0; i < N_GUARDED; i++)
		sigaction(guarded_signals[i], &old[i], NULL);
}

void draw_screen_free(struct draw_screen *s)
{
	if (!s)
		return;
	if (s->curses)
		free_curses(s);
	if (s->out)
		fclose(s->out);
	if (s->in)
		fclose(s->in);
	draw_surface_free(s->last);
	free(s);
}

void draw_screen_resize(struct draw_screen *s, int cols, int rows)
{
	make_current(s);
	draw_surface_resize(s->last, cols, rows);
	resize_term(draw_surface_rows(s->last), draw_surface_cols(s->last));
	mend_windows(s);
	s->is_repaint = true;
}

void draw_screen_repaint(struct draw_screen *s)
{
	s->is_repaint = true;
}

static int palette_number(struct draw_screen *s, draw_color color)
{
	size_t at = (color * 2654435761u) >> 16 & (NUMBERS - 1);
	if (s->numbers[at].color != color) {
		s->numbers[at].color = color;
		s->numbers[at].number = draw_color_to_palette(color, s->colors);
	}
	return s->numbers[at].number;
}

static int color_number(struct draw_screen *s, draw_color color)
{
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_DEFAULT)
		return -1;
	if (s->colors < 1 << 24)
		return palette_number(s, color);
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_INDEXED &&
		(int)(color & 0xFF) < s->n_indexed)
		return (int)(color & 0xFF);
	/* the darkest blues share their numbers with the palette: take the next one */
	int rgb = (int)draw_color_to_rgb(color);
	return rgb < s->n_indexed ? rgb | s->n_indexed : rgb;
}

static int pair_of(struct draw_screen *s, draw_color fg, draw_color bg)
{
	if (!s->colors)
		return 0;
	int f = color_number(s, fg), b = color_number(s, bg);
	if (f < 0 && b < 0)
		return 0;
	int pair = alloc_pair(f, b);
	return pair < 0 ? 0 : pair;
}

static attr_t attrs_of(const struct draw_screen *s, const struct draw_cell *c)
{
	attr_t attrs = 0;
	attrs |= c->attrs & DRAW_BOLD ? A_BOLD : 0;
	attrs |= c->attrs & DRAW_DIM ? A_DIM : 0;
	attrs |= c->attrs & DRAW_ITALIC ? A_ITALIC : 0;
	attrs |= c->attrs & DRAW_BLINK ? A_BLINK : 0;
	attrs |= c->attrs & DRAW_REVERSE ? A_REVERSE : 0;
	attrs |= c->attrs & DRAW_CONCEAL ? A_INVIS : 0;
	attrs |= c->attrs & DRAW_UNDERLINE ? A_UNDERLINE : 0;
	(void)s;
	return attrs;
}

/* The characters of a cell that ncurses and any terminal agree about: no joiner without its partner, no
 * variation selector on a character that is one column wide. */
static void cell_chars(const struct draw_cell *c, wchar_t out[CELL_CHARS + 1])
{
	mbstate_t state = { 0 };
	size_t used = 0, n = 0;
	while (used < c->n && n < CELL_CHARS) {
		wchar_t wc;
		size_t bytes = mbrtowc(&wc, c->text + used, c->n - used, &state);
		if (bytes == 0 || bytes > c->n - used)
			break;
		used += bytes;
		if (n > 0 && (wc == 0x200D || wcwidth(wc) != 0))
			break;
		if (n > 0 && wc == 0xFE0F && c->cols == 1)
			continue;
		out[n++] = wc;
	}
	if (n == 0 || wcwidth(out[0]) != c->cols) { /* it would move everything after it */
		out[0] = c->cols == 2 ? L'\u3000' : L'?';
		n = 1;
	}
	out[n] = 0;
}

static void paint_cell(struct draw_screen *s, int row, int col, const struct draw_cell *c)
{
	wchar_t chars[CELL_CHARS + 1] = { 0 };
	if (c->n == 1)
		chars[0] = c->text[0] >= 0x20 && c->text[0] < 0x7F ? (wchar_t)c->text[0] : L'?';
	else
		cell_chars(c, chars);
	cchar_t cc;
	int pair = pair_of(s, c->fg, c->bg);
	if (s->is_ascii) {
		chars[0] = (wchar_t)draw_ascii_of((uint32_t)chars[0]);
		chars[1] = 0;
	}
	setcchar(&cc, chars, attrs_of(s, c), 0, &pair);
	mvadd_wch(row, col, &cc);
	if (s->is_ascii && c->cols == 2) { /* the second half stays blank */
		setcchar(&cc, L" ", attrs_of(s, c), 0, &pair);
		mvadd_wch(row, col + 1, &cc);
	}
}

static void paint_rows(struct draw_screen *s, const struct draw_surface *surface)
{
	int rows = draw_surface_rows(surface), cols = draw_surface_cols(surface);
	for (int row = 0; row < rows; row++) {
		const struct draw_cell *now = draw_surface_row(surface, row);
		const struct draw_cell *old = draw_surface_row(s->last, row);
		if (!s->is_repaint && memcmp(now, old, sizeof *now * (size_t)cols) == 0)
			continue;
		for (int col = 0; col < cols; col++)
			if (now[col].cols && (s->is_repaint || memcmp(&now[col], &old[col],
								       sizeof *now) != 0))
				paint_cell(s, row, col, &now[col]);
	}
}

/* ncurses' direct entries separate with colons, which some terminals misread; all know semicolons. */
static void add_frame(struct str *out, const char *bytes, size_t n)
{
	static const char colon[] = "8:2::";
	size_t from = 0;
	for (size_t i = 0; i + 5 < n; i++) {
		if (bytes[i] != '8' || memcmp(bytes + i, colon, 5) != 0)
			continue;
		str_add_bytes(out, bytes + from, i - from);
		str_add(out, "8;2;");
		i += 5;
		for (; i < n && bytes[i] != 'm' &&
			((bytes[i] >= '0' && bytes[i] <= '9') || bytes[i] == ':');
			i++)
			str_add_char(out, bytes[i] == ':' ? ';' : bytes[i]);
		from = i;
	}
	str_add_bytes(out, bytes + from, n - from);
}

static void take_output(struct draw_screen *s, struct str *out)
{
	fflush(s->out);
	int fd = fileno(s->out);
	off_t size = lseek(fd, 0, SEEK_END);
	if (size > 0 && size < FRAME_BYTES_MAX) {
		char *bytes = x_malloc((size_t)size);
		ssize_t n = pread(fd, bytes, (size_t)size, 0);
		if (n > 0)
			add_frame(out, bytes, (size_t)n);
		free(bytes);
	}
	drop_output(s);
}

static void add_shape(
	struct draw_screen *s, const struct draw_surface_cursor *cursor, struct str *out)
{
	static const int codes[] = { 0, 2, 4, 6 }; /* DECSCUSR, steady; blinking is one less */
	int code = codes[cursor->shape];
	if (code && cursor->blink)
		code--;
	if (!s->is_xterm_like || cursor->shape == CURSOR_HIDDEN || code == s->shape_sent)
		return;
	str_addf(out, "\033[%d q", code);
	s->shape_sent = code;
}

void draw_screen_paint(
	struct draw_screen *s, const struct draw_surface *surface, struct str *out)
{
	make_current(s);
	mend_windows(s);
	if (draw_surface_cols(surface) != draw_surface_cols(s->last) ||
		draw_surface_rows(surface) != draw_surface_rows(s->last))
		draw_screen_resize(s, draw_surface_cols(surface), draw_surface_rows(surface));
	if (s->is_repaint)
		clearok(curscr, TRUE);
	paint_rows(s, surface);
	struct draw_surface_cursor cursor = draw_surface_cursor_of(surface);
	curs_set(cursor.shape == CURSOR_HIDDEN ? 0 : 1);
	if (cursor.shape != CURSOR_HIDDEN)
		move(cursor.row, cursor.col);
	wnoutrefresh(stdscr);
	doupdate();
	size_t before = out->n;
	if (s->is_xterm_like)
		str_add(out, "\033[?2026h");
	size_t start = out->n;
	take_output(s, out);
	if (out->n == start) {
		out->n = before;
		out->p[before] = 0;
	} else if (s->is_xterm_like) {
		str_add(out, "\033[?2026l");
	}
	add_shape(s, &cursor, out);
	draw_surface_copy(s->last, surface);
	s->is_repaint = false;
}

const char *draw_screen_begin_bytes(const struct draw_screen *s)
{
	return s->begin;
}

const char *draw_screen_end_bytes(const struct draw_screen *s)
{
	return s->end;
}

const char *draw_screen_mouse_bytes(const struct draw_screen *s, bool on, bool every_motion)
{
	if (!s->is_xterm_like)
		return "";
	if (!on)
		return "\033[?1003l\033[?1002l\033[?1000l\033[?1006l";
	return every_motion ? "\033[?1000h\033[?1002h\033[?1003h\033[?1006h"
			    : "\033[?1003l\033[?1000h\033[?1002h\033[?1006h";
}

bool draw_screen_answers(const struct draw_screen *s)
{
	return s->is_xterm_like;
}

int draw_screen_colors(const struct draw_screen *s)
{
	return s->colors;
}
