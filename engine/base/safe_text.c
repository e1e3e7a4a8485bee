// SPDX-License-Identifier: Apache-2.0
/* Foreign text made fit for a screen.
 *
 * Text is taken in units: a base character with what belongs to it (combining marks, and inside an
 * emoji its variation selector and the joiner to the next one), or one escaped code point or byte.
 * A code point is shown only if Unicode knows it as visible AND wcwidth() gives it the columns of our own
 * table (width.h), so that what ncurses counts is what we count. A mark without a base would land on a character that is not
 * from this text, so it is escaped too; so are marks beyond what a ncurses cell holds. */
#include "engine/base/safe_text.h"

#include "engine/base/width.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <utf8proc.h>
#include <wchar.h>

enum {
	MAX_MARKS = 4, /* a ncurses cell holds CCHARW_MAX = 5 characters, its base included */
	VARIATION_TEXT = 0xFE0E,
	VARIATION_EMOJI = 0xFE0F,
	ZERO_WIDTH_JOINER = 0x200D,
	KEYCAP = 0x20E3,
};

/* Unicode's Default_Ignorable_Code_Point: everything here can hide or pretend. */
static bool is_ignorable(int32_t c)
{
	static const struct {
		int32_t first, last;
	} ranges[] = {
		{ 0x00AD, 0x00AD },
		{ 0x034F, 0x034F },
		{ 0x061C, 0x061C },
		{ 0x115F, 0x1160 },
		{ 0x17B4, 0x17B5 },
		{ 0x180B, 0x180F },
		{ 0x200B, 0x200F },
		{ 0x202A, 0x202E },
		{ 0x2060, 0x206F },
		{ 0x3164, 0x3164 },
		{ 0xFE00, 0xFE0F },
		{ 0xFEFF, 0xFEFF },
		{ 0xFFA0, 0xFFA0 },
		{ 0xFFF0, 0xFFF8 },
		{ 0x1BCA0, 0x1BCA3 },
		{ 0x1D173, 0x1D17A },
		{ 0xE0000, 0xE0FFF },
	};
	if (c < ranges[0].first)
		return false;
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Columns of a code point that may be shown: 0 for a mark, 1 or 2; -1 if it may not. */
static int visible_cols(int32_t c)
{
	if (c < 0x7F)
		return c >= 0x20 ? 1 : -1;
	if (c < 0xA0 || is_ignorable(c))
		return -1;
	switch (utf8proc_category(c)) {
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CF:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return -1;
	default:
		break;
	}
	/* ncurses and other programs count by libc: what it sees otherwise would move what follows */
	int cols = width_of((uint32_t)c);
	return cols == wcwidth((wchar_t)c) ? cols : -1;
}

size_t safe_text_decode(struct slice text, int32_t *c)
{
	if (text.n == 0)
		return 0;
	if ((unsigned char)text.p[0] < 0x80) {
		*c = (unsigned char)text.p[0];
		return 1;
	}
	size_t n = text.n < 4 ? text.n : 4;
	utf8proc_ssize_t used =
		utf8proc_iterate((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)n, c);
	return used > 0 ? (size_t)used : 0;
}

static struct slice skip(struct slice text, size_t n)
{
	return (struct slice){ text.p + n, text.n - n };
}

static bool is_pictographic(int32_t c)
{
	return utf8proc_get_property(c)->boundclass ==
	       UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

static bool is_skin_tone(int32_t c)
{
	return c >= 0x1F3FB && c <= 0x1F3FF;
}

/* True if c, found after base with marks between them and followed by rest, belongs to base. */
static bool joins(int32_t base, int marks, int32_t c, struct slice rest)
{
	int32_t next = 0;
	bool has_next = safe_text_decode(rest, &next) > 0;
	if (c == VARIATION_EMOJI || c == VARIATION_TEXT) {
		bool keycap = (base >= '0' && base <= '9') || base == '#' || base == '*';
		return marks == 0 &&
		       (is_pictographic(base) || (keycap && has_next && next == KEYCAP));
	}
	if (c == ZERO_WIDTH_JOINER)
		return (is_pictographic(base) || is_skin_tone(base)) && has_next &&
		       is_pictographic(next) && visible_cols(next) > 0;
	return visible_cols(c) == 0;
}

static size_t escape_one(struct slice raw, char out[SAFE_UNIT_BYTES], size_t *out_n)
{
	int32_t c;
	size_t n = safe_text_decode(raw, &c);
	int written;
	if (n == 0) {
		n = 1;
		written = snprintf(
			out, SAFE_UNIT_BYTES, "\\x%02X", (unsigned)(unsigned char)raw.p[0]);
	} else if (c < 0x20 || c == 0x7F) {
		written = snprintf(out, SAFE_UNIT_BYTES, "^%c", (char)(c ^ 0x40));
	} else {
		written = snprintf(out, SAFE_UNIT_BYTES, "<U+%04X>", (unsigned)c);
	}
	*out_n = (size_t)written;
	return n;
}

size_t safe_text_next_raw(struct slice raw, char out[SAFE_UNIT_BYTES], size_t *out_n, int *cols)
{
	*out_n = 0;
	*cols = 0;
	if (raw.n == 0)
		return 0;
	int32_t base;
	size_t used = safe_text_decode(raw, &base);
	int width = used > 0 ? visible_cols(base) : -1;
	if (width <= 0) {
		used = escape_one(raw, out, out_n);
		*cols = (int)*out_n; /* ASCII */
		return used;
	}
	for (int marks = 0; marks < MAX_MARKS; marks++) {
		int32_t c;
		size_t n = safe_text_decode(skip(raw, used), &c);
		if (n == 0 || c < 0x80 || !joins(base, marks, c, skip(raw, used + n)))
			break;
		used += n;
	}
	memcpy(out, raw.p, used); /* 5 code points of 4 bytes at most */
	*out_n = used;
	*cols = width;
	return used;
}

/* Bytes of a run of printable ASCII that can be copied as it is. The last one is left to the slow
 * path if what follows could be its mark. */
static size_t plain_run(struct slice text)
{
	size_t n = 0;
	while (n < text.n && text.p[n] >= 0x20 && text.p[n] < 0x7F)
		n++;
	if (n > 0 && n < text.n && (unsigned char)text.p[n] >= 0x80)
		n--;
	return n;
}

/* A joiner at a cut would join whatever is written behind it. */
static void drop_last_joiner(struct str *out)
{
	static const char joiner[] = "\xE2\x80\x8D";
	size_t n = sizeof joiner - 1;
	if (out->n < n || memcmp(out->p + out->n - n, joiner, n) != 0)
		return;
	out->n -= n;
	out->p[out->n] = '\0';
}

void safe_text_add(struct str *out, struct slice text, enum safe_newline newline)
{
	while (text.n > 0) {
		size_t run = plain_run(text);
		if (run > 0) {
			str_add_bytes(out, text.p, run);
			text = skip(text, run);
			continue;
		}
		if (text.p[0] == '\n' && newline == SAFE_NEWLINE_KEEP) {
			str_add_char(out, '\n');
			text = skip(text, 1);
			continue;
		}
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int cols;
		text = skip(text, safe_text_next_raw(text, unit, &n, &cols));
		if (n > out->max_bytes - out->n) {
			out->truncated = true; /* never half a character */
			drop_last_joiner(out);
			return;
		}
		str_add_bytes(out, unit, n);
	}
}

char *safe_text_dup(const char *text, size_t max_bytes)
{
	const char *ellipsis = wcwidth(0x2026) == 1 ? "\xE2\x80\xA6" : "...";
	struct str out;
	str_init(&out, max_bytes);
	safe_text_add(&out, slice_of(text), SAFE_NEWLINE_ESCAPE);
	if (out.truncated) {
		size_t room = max_bytes > strlen(ellipsis) ? max_bytes - strlen(ellipsis) : 0;
		struct slice kept = { out.p, out.n };
		size_t n = 0;
		int cols;
		for (size_t step; (step = safe_text_next(skip(kept, n), &cols)) > 0; n += step)
			if (n + step > room)
				break;
		struct str cut;
		str_init(&cut, max_bytes);
		str_add_bytes(&cut, out.p, n);
		drop_last_joiner(&cut);
		str_add(&cut, room > 0 ? ellipsis : "");
		str_deinit(&out);
		return str_take(&cut);
	}
	return str_take(&out);
}

size_t safe_text_next(struct slice safe, int *cols)
{
	*cols = 0;
	if (safe.n == 0)
		return 0;
	int32_t base;
	size_t used = safe_text_decode(safe, &base);
	if (used == 0) {
		*cols = 1;
		return 1;
	}
	*cols = width_of((uint32_t)base) == 2 ? 2 : 1;
	for (;;) {
		int32_t c;
		size_t n = safe_text_decode(skip(safe, used), &c);
		if (n == 0 || width_of((uint32_t)c) != WIDTH_JOINS)
			return used;
		used += n;
	}
}

int safe_text_cols(struct slice safe)
{
	int total = 0, cols;
	for (size_t n; (n = safe_text_next(safe, &cols)) > 0; safe = skip(safe, n))
		total += cols;
	return total;
}

bool safe_text_is_clean(struct slice text)
{
	while (text.n > 0) {
		size_t run = plain_run(text);
		if (run == 0) {
			char unit[SAFE_UNIT_BYTES];
			size_t n;
			int cols;
			run = safe_text_next_raw(text, unit, &n, &cols);
			if (n != run || memcmp(unit, text.p, n) != 0)
				return false;
		}
		text = skip(text, run);
	}
	return true;
}

static bool is_token_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c != '\0' && strchr("+-._~=", c) != NULL);
}

static bool follows_a_promise(const char *text, const char *at)
{
	static const char *const words[] = { "bearer ", "token ",
		"token=", "token:", "token: ", "token\":\"",
		"password=", "password: ", "secret=", "secret: " };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(at - text) >= n && strncasecmp(at - n, words[i], n) == 0)
			return true;
	}
	return false;
}

void safe_text_redact(char *text)
{
	enum { SUSPICIOUS = 20 };

	for (char *p = text; *p;) {
		size_t n = 0;
		/* '=' ends a name, or is the padding of base64 */
		while (is_token_char(p[n]) && (n == 0 || p[n - 1] != '=' || p[n] == '='))
			n++;
		if (n >= SUSPICIOUS || (n > 0 && follows_a_promise(text, p)))
			memset(p, '*', n);
		p += n ? n : 1;
	}
}
