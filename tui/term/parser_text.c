// SPDX-License-Identifier: Apache-2.0
/* The parser between sequences: runs of text, checked and classified, and single controls. A run goes
 * on to text.c as it is; combining marks, other character sets and what is not UTF-8 interrupt it. */
#include "engine/base/width.h"
#include "tui/term/state.h"

#include <string.h>

enum {
	BEL = 0x07,
	LAST_FORMAT_EFFECTOR = 0x0d, /* BS … CR go to text.c as they are */
	SHIFT_OUT = 0x0e,
	SHIFT_IN = 0x0f,
	ESC = 0x1b,
	DEL = 0x7f,
};

static bool is_run_byte(unsigned char c)
{
	return (c >= 0x20 && c < DEL) || (c >= 0x08 && c <= LAST_FORMAT_EFFECTOR);
}

/* RFC 3629. Returns the bytes of the character, 0 if it goes on after the end of the input, or
 * minus the bytes to replace by one U+FFFD (the longest valid beginning). */
static int decode(const unsigned char *p, size_t n, uint32_t *codepoint)
{
	unsigned char lead = p[0];
	int need = lead >= 0xc2 && lead < 0xe0   ? 2
		   : lead >= 0xe0 && lead < 0xf0 ? 3
		   : lead >= 0xf0 && lead < 0xf5 ? 4
						 : 0;
	if (need == 0)
		return -1;
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
	uint32_t value = lead & (0xff >> (need + 1));
	for (int i = 1; i < need; i++) {
		if ((size_t)i >= n)
			return 0;
		if (p[i] < low || p[i] > high)
			return -i;
		value = value << 6 | (p[i] & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	*codepoint = value;
	return need;
}

static uint32_t last_of(const unsigned char *p, size_t n)
{
	size_t at = n - 1;
	while (at > 0 && (p[at] & 0xc0) == 0x80)
		at--;
	uint32_t codepoint;
	if (p[at] < 0x20)
		return 0;
	term_cell_decode_utf8((const char *)p + at, n - at, &codepoint);
	return codepoint;
}

static void flush(struct term *t, const unsigned char *p, size_t n)
{
	if (n == 0)
		return;
	t->filter.last_char = last_of(p, n);
	term_text_put(t, p, n);
}

void term_parser_text_repeat(struct term *t, int count)
{
	uint32_t c = t->filter.last_char;
	if (c == 0)
		return;
	/* a line at most: seven bytes must not cost a screen of work each time */
	if (count > t->grid->cols)
		count = t->grid->cols;
	char utf8[4];
	size_t n = term_cell_encode_utf8(c, utf8);
	char text[4 * 64];
	while (count > 0) {
		int piece = count < 64 ? count : 64;
		for (int i = 0; i < piece; i++)
			memcpy(text + (size_t)i * n, utf8, n);
		term_text_put(t, (const unsigned char *)text, (size_t)piece * n);
		count -= piece;
	}
}

/* A C0 control that is not part of a run. */
void term_parser_text_control(struct term *t, unsigned char c)
{
	switch (c) {
	case BEL:
		t->bell = true;
		break;
	case SHIFT_OUT:
	case SHIFT_IN:
		t->charsets.gl = c == SHIFT_OUT ? 1 : 0;
		break;
	default:
		if (!is_run_byte(c) || c >= 0x20)
			break;
		term_text_control(t, c);
		t->filter.last_char = 0;
		break;
	}
}

static void put_replacement(struct term *t)
{
	static const unsigned char replacement[] = { 0xef, 0xbf, 0xbd };
	flush(t, replacement, sizeof replacement);
}

/* DEC special graphics, 0x5f … 0x7e. */
static const uint16_t dec_graphics[] = { 0x00a0, 0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a,
	0x00b0, 0x00b1, 0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba, 0x23bb,
	0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534, 0x252c, 0x2502, 0x2264, 0x2265, 0x03c0,
	0x2260, 0x00a3, 0x00b7 };
_Static_assert(
	sizeof dec_graphics / sizeof dec_graphics[0] == 0x7f - 0x5f, "one for each code");

/* Text while another character set than ASCII is in use; rare, so one character at a time. */
static void put_translated(struct term *t, unsigned char c)
{
	enum term_charset set = t->charsets.g[t->charsets.gl];
	if (t->charsets.single != 0)
		set = t->charsets.g[t->charsets.single];
	t->charsets.single = 0;
	uint32_t codepoint = c;
	if (set == CHARSET_DEC_GRAPHICS && c >= 0x5f)
		codepoint = dec_graphics[c - 0x5f];
	else if (set == CHARSET_UK && c == '#')
		codepoint = 0x00a3;
	char utf8[4];
	size_t n = term_cell_encode_utf8(codepoint, utf8);
	flush(t, (const unsigned char *)utf8, n);
}

static bool is_translating(const struct term *t)
{
	return t->charsets.single != 0 || t->charsets.g[t->charsets.gl] != CHARSET_ASCII;
}

static void put_mark(struct term *t, uint32_t codepoint)
{
	if (++t->filter.marks <= MARKS_IN_ROW_MAX)
		term_vterm_add_mark(t, codepoint);
}

/* Takes what can be taken without another state; returns the bytes used, all unless an ESC comes. */
size_t term_parser_text_feed(struct term *t, const unsigned char *p, size_t n)
{
	struct term_parser *f = &t->filter;
	size_t start = 0;
	size_t i = 0;
	size_t marks_end =
		0; /* where the last combining mark ended: the next one is in a row with it */
	while (i < n) {
		unsigned char c = p[i];
		if (is_run_byte(c) && !(c >= 0x20 && is_translating(t))) {
			i++;
			continue;
		}
		uint32_t codepoint = 0;
		int length = 1;
		int width = WIDTH_HIDDEN;
		if (c >= 0x80) {
			length = decode(p + i, n - i, &codepoint);
			width = length > 0 ? width_of(codepoint) : WIDTH_HIDDEN;
			if (width > 0) {
				i += (size_t)length;
				continue;
			}
			if (width == WIDTH_JOINS && i != marks_end)
				f->marks = 0;
		}
		flush(t, p + start, i - start);
		if (c == ESC) {
			term_parser_start_escape(f);
			f->marks = 0;
			return i + 1;
		}
		if (length == 0) {
			f->utf8_have = (int)(n - i);
			memcpy(f->utf8, p + i, n - i);
			return n;
		}
		if (c < 0x20)
			term_parser_text_control(t, c);
		else if (c < DEL)
			put_translated(t, c);
		else if (length < 0)
			put_replacement(t);
		else if (width == WIDTH_JOINS)
			put_mark(t, codepoint);
		i += (size_t)(length < 0 ? -length : length);
		start = i;
		if (width == WIDTH_JOINS)
			marks_end = i;
	}
	flush(t, p + start, i - start);
	if (i != marks_end)
		f->marks = 0;
	return n;
}

/* Puts the beginning of a character from the last call and the new bytes together. */
size_t term_parser_text_finish(struct term *t, const unsigned char *bytes, size_t n)
{
	struct term_parser *f = &t->filter;
	unsigned char joined[8];
	size_t have = (size_t)f->utf8_have;
	size_t more = n < 4 ? n : 4;
	memcpy(joined, f->utf8, have);
	memcpy(joined + have, bytes, more);
	uint32_t codepoint;
	int length = decode(joined, have + more, &codepoint);
	f->utf8_have = 0;
	if (length == 0) {
		/* all of it still does not suffice */
		memcpy(f->utf8, joined, have + more);
		f->utf8_have = (int)(have + more);
		return n;
	}
	if (length < 0) {
		/* what was kept is a valid beginning, so at least all of it is replaced */
		put_replacement(t);
		f->marks = 0;
		return (size_t)-length - have;
	}
	term_parser_text_feed(t, joined, (size_t)length);
	return (size_t)length - have;
}
