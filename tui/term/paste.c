// SPDX-License-Identifier: Apache-2.0
/* Pasted text, made harmless: no control byte but TAB and CR reaches the process, so neither an
 * embedded end marker nor an escape sequence can leave bracketed paste. Markers are removed whole,
 * so that their tails do not appear as text. C1 controls go too, as a program in 8-bit mode would take
 * U+009B for the beginning of a marker; so does what is not UTF-8. */
#include "tui/term/state.h"

#include <string.h>

enum {
	OUT_BYTES = 2048,
	ESC = 0x1b,
	DEL = 0x7f,
};

struct out {
	char bytes[OUT_BYTES];
	size_t n;
};

static void flush(struct term *t, struct out *out)
{
	term_send(t, out->bytes, out->n);
	out->n = 0;
}

static void add(struct term *t, struct out *out, const void *bytes, size_t n)
{
	if (out->n + n > OUT_BYTES)
		flush(t, out);
	memcpy(out->bytes + out->n, bytes, n);
	out->n += n;
}

/* ESC [ 2 0 0 ~ and ESC [ 2 0 1 ~: true while c belongs to one. The bytes of a beginning that turns
 * out to be something else are text, except for the ESC. */
static bool eat_marker(struct term *t, struct out *out, unsigned char c)
{
	static const char marker[] = "\x1b[20?~";
	bool fits = t->paste_marker == 4 ? c == '0' || c == '1'
					 : c == (unsigned char)marker[t->paste_marker];
	if (fits) {
		t->paste_last = t->paste_marker == 4 ? (char)c : t->paste_last;
		t->paste_marker++;
		if (t->paste_marker == 6)
			t->paste_marker = 0;
		return true;
	}
	int matched = t->paste_marker;
	t->paste_marker = 0;
	if (matched > 1)
		add(t, out, marker + 1, (size_t)(matched < 4 ? matched : 4) - 1);
	if (matched == 5)
		add(t, out, &t->paste_last, 1);
	if (c == ESC) {
		t->paste_marker = 1;
		return true;
	}
	return false;
}

static void paste_ascii(struct term *t, struct out *out, unsigned char c)
{
	bool after_cr = t->paste_cr;
	t->paste_cr = false;
	if (c == '\n' && after_cr)
		return; /* CR LF is one line end */
	if (c == '\n' || c == '\r') {
		t->paste_cr = c == '\r';
		add(t, out, "\r", 1);
	} else if (c == '\t' || (c >= 0x20 && c < DEL)) {
		add(t, out, &c, 1);
	}
}

/* Collects one character; what is cut short or wrong is dropped. */
static void paste_utf8(struct term *t, struct out *out, unsigned char c)
{
	t->paste_cr = false;
	if (c >= 0xc2 && c < 0xf5) {
		t->paste_utf8[0] = c;
		t->paste_have = 1;
		t->paste_need = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		return;
	}
	if (c >= 0xc0 || t->paste_have == 0) {
		t->paste_have = 0;
		return;
	}
	t->paste_utf8[t->paste_have++] = c;
	if (t->paste_have < t->paste_need)
		return;
	uint32_t codepoint;
	term_cell_decode_utf8((const char *)t->paste_utf8, (size_t)t->paste_need, &codepoint);
	char again[4];
	size_t n = codepoint <= 0x10ffff ? term_cell_encode_utf8(codepoint, again) : 0;
	/* the same bytes again: not overlong; no surrogate, no C1 */
	if (n == (size_t)t->paste_need && codepoint >= 0xa0 &&
		(codepoint < 0xd800 || codepoint > 0xdfff))
		add(t, out, again, n);
	t->paste_have = 0;
}

void term_paste_begin(struct term *t)
{
	t->paste_have = 0;
	t->paste_marker = 0;
	t->paste_cr = false;
	t->paste_bracketed = t->modes.bracketed_paste;
	if (t->paste_bracketed)
		term_send(t, "\x1b[200~", 6);
}

void term_paste_part(struct term *t, const char *bytes, size_t n)
{
	struct out out;
	out.n = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if ((t->paste_marker > 0 || c == ESC) && eat_marker(t, &out, c)) {
			t->paste_have = 0;
			continue;
		}
		if (c < 0x80) {
			t->paste_have = 0;
			paste_ascii(t, &out, c);
		} else {
			paste_utf8(t, &out, c);
		}
	}
	flush(t, &out);
}

void term_paste_end(struct term *t)
{
	struct out out;
	out.n = 0;
	if (t->paste_marker > 0)
		eat_marker(t, &out, 0); /* a beginning of a marker that never ended is text */
	flush(t, &out);
	t->paste_have = 0;
	if (t->paste_bracketed)
		term_send(t, "\x1b[201~", 6);
	t->paste_bracketed = false;
}

void term_paste(struct term *t, const char *bytes, size_t n)
{
	term_paste_begin(t);
	term_paste_part(t, bytes, n);
	term_paste_end(t);
}
