// SPDX-License-Identifier: Apache-2.0
/* Our terminal as one of several that are compared: commands on stdin, a picture a line on stdout.
 *
 *   N cols rows   a new terminal           F hex   feed these bytes           R cols rows   resize
 *   P             print the picture        H       print the scrollback
 *
 * xterm.cjs takes the same commands and prints the same form, so that equal pictures are equal bytes:
 * row,col,behind-the-last-column,alternate; then each row: 1 if it goes on in the next, and its cells, each ended
 * by 0x1f (a second half: 0x1c), a style in front wherever it changes (between 0x1d); a row ends with 0x1e. */
#include "tui/term/state.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_BYTES = 4 << 20 };

static struct term *t;
static struct term_cell cells[TERM_COLS_MAX];

static void print_color(term_color color)
{
	unsigned value = color & 0xffffff;
	switch (color & TERM_COLOR_TAG) {
	case TERM_COLOR_INDEXED:
		printf("p%u", value);
		break;
	case TERM_COLOR_RGB:
		printf("#%06x", value);
		break;
	default:
		putchar('-');
		break;
	}
}

static void print_style(const struct term_style *style)
{
	static const struct {
		unsigned attr;
		char letter;
	} letters[] = {
		{ TERM_ATTR_BOLD, 'B' },
		{ TERM_ATTR_FAINT, 'd' },
		{ TERM_ATTR_ITALIC, 'i' },
		{ TERM_ATTR_BLINK, 'k' },
		{ TERM_ATTR_REVERSE, 'r' },
		{ TERM_ATTR_CONCEAL, 'h' },
		{ TERM_ATTR_STRIKE, 's' },
		{ TERM_ATTR_OVERLINE, 'o' },
	};
	putchar(0x1d);
	print_color(style->fg);
	putchar(',');
	print_color(style->bg);
	putchar(',');
	for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
		if (style->attrs & letters[i].attr)
			putchar(letters[i].letter);
	if (style->underline != TERM_UNDERLINE_NONE)
		putchar('u');
	putchar(0x1d);
}

static void print_line(int line, bool last)
{
	size_t n = term_row(t, line, cells, TERM_COLS_MAX);
	struct term_style style = { 0 };
	putchar(!last && term_line_is_wrapped(t, line) ? '1' : '0');
	for (size_t c = 0; c < n; c++) {
		const struct term_style *now = term_style(t, cells[c].style);
		if (memcmp(now, &style, sizeof style) != 0) {
			style = *now;
			print_style(now);
		}
		char text[TERM_CELL_TEXT_BYTES];
		term_cell_text(t, cells[c], text);
		printf("%s%c", text, term_cell_width(cells[c]) == 0 ? 0x1c : 0x1f);
	}
	putchar(0x1e);
}

static void print_picture(void)
{
	struct term_cursor cursor;
	term_get_cursor(t, &cursor);
	printf("%d,%d,%d,%d ", cursor.row, cursor.col, t->place.at_end,
		t->modes.alternate_screen);
	for (int row = 0; row < term_rows(t); row++)
		print_line(row, row == term_rows(t) - 1);
	putchar('\n');
}

static void print_history(void)
{
	int rows = term_history_rows(t);
	printf("%d ", rows);
	for (int line = -rows; line < 0; line++)
		print_line(line, false);
	putchar('\n');
}

static size_t decode_hex(char *text)
{
	size_t n = 0;
	unsigned byte;
	for (char *p = text; sscanf(p, "%2x", &byte) == 1; p += 2)
		text[n++] = (char)byte;
	return n;
}

static bool run(char *line)
{
	int cols, rows;
	if (line[0] == 'N' && sscanf(line + 1, "%d %d", &cols, &rows) == 2) {
		struct term_opts opts = {
			.cols = cols, .rows = rows, .history_bytes = HISTORY_BYTES
		};
		term_free(t);
		t = term_new(&opts);
	} else if (line[0] == 'R' && t && sscanf(line + 1, "%d %d", &cols, &rows) == 2) {
		term_resize(t, cols, rows);
	} else if (line[0] == 'F' && line[1] == ' ' && t) {
		term_feed(t, line + 2, decode_hex(line + 2));
	} else if (line[0] == 'P' && t) {
		print_picture();
	} else if (line[0] == 'H' && t) {
		print_history();
	} else {
		return false;
	}
	return true;
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = 0;
	setlocale(LC_CTYPE, "C.UTF-8");
	while (status == 0 && getline(&line, &capacity, stdin) > 0)
		if (!run(line)) {
			fprintf(stderr, "term_cells: what is %.40s\n", line);
			status = 2;
		}
	free(line);
	term_free(t);
	return status;
}
