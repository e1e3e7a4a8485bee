// SPDX-License-Identifier: Apache-2.0
/* Everything that can reach a terminal: bytes of a process, resizes, keys, mouse, paste, in any order.
 *
 * Input: columns, rows (a byte each), then bytes that are fed as they are. 0xff is followed by an
 * operation: 'r' cols rows, 'k' key mods, 'c' char mods, 'm' event button col row mods, 'p' n bytes…,
 * 'f' in, 's' (feed byte by byte from here on, or whole again), 'x' (read everything), 0xff (itself).
 *
 * Two terminals get the same: one writes ASCII in runs, the other each character by itself, and its libvterm is told
 * cursor and region after every piece and not only when an operation asks. They must agree, each must keep the rules of
 * the header, and what it and libvterm both hold must be the same after every input. The adapter's source is included
 * to have those two calls. */
#include "tui/term/vterm_adapter.c"

#include "tui/term/state.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLAIN,
	REFERENCE,
	TERMS,
	OP = 0xff,
};

static struct term *terms[TERMS];
static size_t output_bytes[TERMS];

#define CHECK(condition)                                                                       \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);        \
			abort();                                                               \
		}                                                                              \
	} while (0)

static void on_sent(const char *bytes, size_t n, void *arg)
{
	volatile char sum = 0;
	for (size_t i = 0; i < n; i++)
		sum = (char)(sum + bytes[i]);
	*(size_t *)arg += n;
}

static void on_text(const char *text, void *arg)
{
	(void)arg;
	CHECK(strlen(text) <= TERM_TITLE_BYTES + 4);
	for (const char *p = text; *p != '\0'; p++)
		CHECK((unsigned char)*p >= 0x20 && *p != 0x7f);
}

static void on_clipboard(const char *bytes, size_t n, void *arg)
{
	(void)bytes;
	(void)arg;
	CHECK(n <= TERM_CLIPBOARD_BYTES);
}

static struct term *make(int which, int cols, int rows)
{
	output_bytes[which] = 0;
	struct term_opts opts = {
		.cols = cols,
		.rows = rows,
		.history_bytes = 24 * 1024,
		.callbacks = { .on_output = on_sent,
			.on_title = on_text,
			.on_clipboard_write = on_clipboard },
		.arg = &output_bytes[which],
	};
	struct term *t = term_new(&opts);
	t->direct = which == PLAIN;
	return t;
}

static void check_row(struct term *t, const struct term_cell *cells, size_t n)
{
	char text[TERM_CELL_TEXT_BYTES];
	for (size_t c = 0; c < n; c++) {
		size_t bytes = term_cell_text(t, cells[c], text);
		int width = term_cell_width(cells[c]);
		CHECK(bytes < TERM_CELL_TEXT_BYTES && text[bytes] == '\0');
		CHECK(width != 0 || bytes == 0);
		for (size_t i = 0; i < bytes; i++)
			CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
		if (width == 2)
			CHECK(c + 1 < n && term_cell_width(cells[c + 1]) == 0);
		if (width == 0)
			CHECK(c > 0 && term_cell_width(cells[c - 1]) == 2);
		CHECK(cells[c].style == 0 ||
			term_string_pool_get(t->tables.styles, cells[c].style));
	}
}

static void check_same_row(int line, struct term_cell *cells[TERMS], size_t n)
{
	char text[TERMS][TERM_CELL_TEXT_BYTES];
	for (size_t c = 0; c < n; c++) {
		term_cell_text(terms[PLAIN], cells[PLAIN][c], text[PLAIN]);
		term_cell_text(terms[REFERENCE], cells[REFERENCE][c], text[REFERENCE]);
		if (strcmp(text[PLAIN], text[REFERENCE]) != 0)
			fprintf(stderr, "line %d col %zu: \"%s\", reference \"%s\"\n", line, c,
				text[PLAIN], text[REFERENCE]);
		CHECK(strcmp(text[PLAIN], text[REFERENCE]) == 0);
		CHECK(memcmp(term_style(terms[PLAIN], cells[PLAIN][c].style),
			      term_style(terms[REFERENCE], cells[REFERENCE][c].style),
			      sizeof(struct term_style)) == 0);
	}
}

enum { NEAR_LINES = 256, FAR_STEP = 509 };

static void check_all(void)
{
	struct term *a = terms[PLAIN];
	struct term *b = terms[REFERENCE];
	size_t cols = (size_t)term_cols(a);
	struct term_cell *cells[TERMS];
	struct term_cursor cursor[TERMS];
	int history = term_history_rows(a);
	CHECK(history == term_history_rows(b) && term_history_bytes(a) <= 24 * 1024);
	for (int i = 0; i < TERMS; i++) {
		cells[i] = x_malloc(cols * sizeof *cells[i]);
		term_get_cursor(terms[i], &cursor[i]);
		CHECK(cursor[i].row >= 0 && cursor[i].row < term_rows(terms[i]));
		CHECK(cursor[i].col >= 0 && cursor[i].col < term_cols(terms[i]));
	}
	CHECK(cursor[PLAIN].row == cursor[REFERENCE].row);
	CHECK(cursor[PLAIN].col == cursor[REFERENCE].col);
	for (int line = -history; line < term_rows(a); line++) {
		/* jumping costs the rows of the logical line: all near the screen, far up one in some */
		if (line < -NEAR_LINES && line > -history + NEAR_LINES && line % FAR_STEP != 0)
			continue;
		for (int i = 0; i < TERMS; i++) {
			CHECK(term_row(terms[i], line, cells[i], cols) == cols);
			check_row(terms[i], cells[i], cols);
		}
		check_same_row(line, cells, cols);
		CHECK(term_line_is_wrapped(a, line) == term_line_is_wrapped(b, line));
		int found_line;
		int found_col;
		struct term_marker anchor = term_marker_at(a, line, 0);
		if (line < 0 || !a->modes.alternate_screen) {
			bool found = term_marker_line(a, anchor, &found_line, &found_col);
			CHECK(found);
			CHECK(found_line == line || anchor.cell > 0 || found_col == 0);
		}
	}
	CHECK(term_row(a, -history - 1, cells[0], cols) == 0);
	CHECK(term_row(a, term_rows(a), cells[0], cols) == 0);
	struct str text;
	str_init(&text, 64 * 1024);
	term_copy(a, (struct term_pos){ -history, 0 },
		(struct term_pos){ term_rows(a) - 1, (int)cols - 1 }, false, &text);
	str_deinit(&text);
	CHECK(output_bytes[PLAIN] == output_bytes[REFERENCE]);
	free(cells[PLAIN]);
	free(cells[REFERENCE]);
}

static int size_of(uint8_t byte)
{
	return byte % 140 + 1;
}

/* Arguments beyond the end of the input are 0. */
static uint8_t arg_of(const uint8_t *data, size_t size, size_t at)
{
	return at < size ? data[at] : 0;
}

static size_t run_op(const uint8_t *data, size_t size, size_t at, bool *single)
{
	uint8_t a[5];
	for (size_t i = 0; i < sizeof a; i++)
		a[i] = arg_of(data, size, at + 2 + i);
	size_t used = 2;
	char op = (char)arg_of(data, size, at + 1);
	size_t n = 0;
	for (int i = 0; i < TERMS; i++) {
		struct term *t = terms[i];
		switch (op) {
		case 'r':
			term_resize(t, size_of(a[0]), size_of(a[1]));
			used = 4;
			break;
		case 'k':
			term_key_sym(t, (enum term_key)(a[0] % TERM_KEY_COUNT), a[1] & 7u);
			used = 4;
			break;
		case 'c':
			term_key_char(t, a[0], a[1] & 7u);
			used = 4;
			break;
		case 'm':
			term_mouse(t, (enum term_mouse_event)(a[0] % 3), a[1] % 13, a[2], a[3],
				a[4] & 7u);
			used = 7;
			break;
		case 'p':
			n = a[0];
			if (at + 3 + n > size)
				n = at + 3 < size ? size - at - 3 : 0;
			term_paste(t, (const char *)data + (n ? at + 3 : 0), n);
			used = 3 + n;
			break;
		case 'f':
			term_focus(t, a[0] & 1);
			used = 3;
			break;
		case (char)OP:
			term_feed(t, data + at + 1, 1);
			break;
		default:
			break;
		}
	}
	/* the room itself looks after bytes and resizes; keys tell libvterm something too */
	for (int i = 0; i < TERMS; i++)
		CHECK(term_vterm_check(terms[i]->vterm, &terms[i]->place) == NULL);
	if (op == 's')
		*single = !*single;
	if (op == 'x')
		check_all();
	return used;
}

static void tell_reference(void)
{
	const struct term_place *place = &terms[REFERENCE]->place;
	tell_region(terms[REFERENCE]->vterm, place->region);
	tell_cursor(terms[REFERENCE]->vterm, place->row, place->col);
}

static void feed(const uint8_t *bytes, size_t n, bool single)
{
	size_t step = single ? 1 : n;
	for (size_t at = 0; at < n; at += step) {
		for (int i = 0; i < TERMS; i++)
			term_feed(terms[i], bytes + at, step);
		tell_reference();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	if (!ready) {
		setlocale(LC_CTYPE, "C.UTF-8");
		ready = true;
	}
	if (size < 2)
		return 0;
	for (int i = 0; i < TERMS; i++)
		terms[i] = make(i, size_of(data[0]), size_of(data[1]));
	bool single = false;
	size_t at = 2;
	while (at < size) {
		const uint8_t *op = memchr(data + at, OP, size - at);
		size_t n = op ? (size_t)(op - (data + at)) : size - at;
		if (n > 0)
			feed(data + at, n, single);
		at += n;
		if (at < size)
			at += run_op(data, size, at, &single);
	}
	check_all();
	for (int i = 0; i < TERMS; i++)
		term_free(terms[i]);
	return 0;
}
