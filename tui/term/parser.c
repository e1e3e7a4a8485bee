// SPDX-License-Identifier: Apache-2.0
/* The parser's states, and what stands between sequences: runs of text, checked and classified. A run is one event
 * as it is; combining marks, controls and what is not UTF-8 interrupt it. Of C1 controls, as bytes or as UTF-8, none is
 * executed.
 *
 *   GROUND ── ESC ──→ ESCAPE ── [ ──→ CSI ── final byte ──→ GROUND
 *      │                └─ ] P _ ^ X ──→ STRING ── BEL (OSC only) or ESC \ ──→ GROUND
 *      └ runs of text
 */
#include "tui/term/parser.h"

#include "engine/base/mem.h"
#include "engine/base/width.h"

#include <stdlib.h>
#include <string.h>

enum {
	BEL = 0x07,
	LAST_FORMAT_EFFECTOR = 0x0d, /* BS … CR belong to a run */
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
	DEL = 0x7f,
};

void term_parser_init(struct term_parser *f, const struct term_parser_events *events, void *arg)
{
	memset(f, 0, sizeof *f);
	f->events = events;
	f->arg = arg;
}

void term_parser_deinit(struct term_parser *f)
{
	free(f->string);
}

/* --- sequences ---------------------------------------------------------------------------- */

void term_parser_reset(struct term_parser *f)
{
	f->state = PARSER_GROUND;
	f->utf8_have = 0;
	f->marks = 0;
	f->string_n = 0;
}

static void start_escape(struct term_parser *f)
{
	f->state = PARSER_ESCAPE;
	f->escape_intermediate = 0;
	f->escape_bad = false;
}

static void start_csi(struct term_parser *f)
{
	f->state = PARSER_CSI;
	memset(&f->csi, 0, sizeof f->csi);
	f->csi.params[0] = -1;
	f->csi.count = 1;
	f->csi_has_digits = false;
}

static void start_string(struct term_parser *f, char kind)
{
	f->state = PARSER_STRING;
	f->string_kind = kind;
	f->string_n = 0;
	f->string_overflow = false;
}

static void escape_byte(struct term_parser *f, unsigned char c)
{
	if (c == ESC) {
		start_escape(f);
		return;
	}
	if (c < 0x20) {
		if (c == CAN || c == SUB)
			f->state = PARSER_GROUND;
		else
			f->events->on_control(c, f->arg);
		return;
	}
	if (c < 0x30) {
		f->escape_bad = f->escape_intermediate != 0;
		f->escape_intermediate = (char)c;
		return;
	}
	if (c == DEL)
		return;
	f->state = PARSER_GROUND;
	if (c > DEL || f->escape_bad)
		return;
	if (f->escape_intermediate == 0) {
		if (c == '[') {
			start_csi(f);
			return;
		}
		if (c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X') {
			start_string(f, (char)c);
			return;
		}
	}
	f->events->on_esc(f->escape_intermediate, (char)c, f->arg);
}

static void csi_digit(struct term_parser *f, unsigned char c)
{
	struct term_csi *csi = &f->csi;
	if (csi->count > CSI_PARAMS_MAX)
		return; /* more than anyone needs: the first ones count */
	int *value = &csi->params[csi->count - 1];
	*value = (*value < 0 ? 0 : *value) * 10 + (c - '0');
	if (*value > CSI_VALUE_MAX)
		*value = CSI_VALUE_MAX;
	f->csi_has_digits = true;
}

static void csi_separator(struct term_parser *f, unsigned char c)
{
	struct term_csi *csi = &f->csi;
	if (csi->count <= CSI_PARAMS_MAX)
		csi->count++;
	if (csi->count > CSI_PARAMS_MAX)
		return;
	csi->params[csi->count - 1] = -1;
	if (c == ':')
		csi->colons |= 1u << (csi->count - 1);
	f->csi_has_digits = true; /* a leader may not follow any more */
}

static void csi_final(struct term_parser *f, unsigned char c)
{
	f->state = PARSER_GROUND;
	if (f->csi.bad)
		return;
	if (f->csi.count > CSI_PARAMS_MAX)
		f->csi.count = CSI_PARAMS_MAX;
	f->csi.final = (char)c;
	f->events->on_csi(&f->csi, f->arg);
}

static void csi_byte(struct term_parser *f, unsigned char c)
{
	if (c < 0x20) {
		if (c == ESC) {
			start_escape(f);
		} else if (c == CAN || c == SUB) {
			f->state = PARSER_GROUND;
		} else {
			f->events->on_control(c, f->arg);
		}
	} else if (c < 0x30) {
		if (f->csi.intermediate != 0)
			f->csi.bad = true;
		f->csi.intermediate = (char)c;
	} else if (c <= '9') {
		csi_digit(f, c);
		f->csi.bad |= f->csi.intermediate != 0;
	} else if (c == ':' || c == ';') {
		csi_separator(f, c);
		f->csi.bad |= f->csi.intermediate != 0;
	} else if (c < 0x40) {
		if (f->csi.leader != 0 || f->csi_has_digits || f->csi.intermediate != 0)
			f->csi.bad = true;
		f->csi.leader = (char)c;
	} else if (c < DEL) {
		csi_final(f, c);
	} else if (c > DEL) {
		f->csi.bad = true; /* not ECMA-48: wait for the end and forget it */
	}
}

static size_t string_limit(const struct term_parser *f)
{
	static const char clipboard[] = "52;";
	if (f->string_kind == 'P')
		return DCS_BYTES;
	if (f->string_kind != ']')
		return 0; /* APC, PM, SOS: nothing is kept */
	bool is_clipboard = f->string_n >= sizeof clipboard - 1 &&
			    memcmp(f->string, clipboard, sizeof clipboard - 1) == 0;
	return is_clipboard ? OSC_CLIPBOARD_BYTES : OSC_BYTES;
}

static void string_append(struct term_parser *f, const unsigned char *p, size_t n)
{
	size_t limit = string_limit(f);
	if (f->string_overflow || n > limit || f->string_n > limit - n) {
		f->string_overflow = true;
		return;
	}
	array_grow(&f->string, &f->string_capacity, f->string_n + n + 1, 1);
	memcpy(f->string + f->string_n, p, n);
	f->string_n += n;
}

static void string_end(struct term_parser *f, bool by_bell)
{
	f->state = PARSER_GROUND;
	if (!f->string_overflow && f->string != NULL) {
		f->string[f->string_n] = '\0';
		f->events->on_string(f->string_kind, f->string, f->string_n, by_bell, f->arg);
	}
	f->string_n = 0;
	if (f->string_capacity > OSC_BYTES) {
		free(f->string);
		f->string = NULL;
		f->string_capacity = 0;
	}
}

static size_t string_bytes(struct term_parser *f, const unsigned char *p, size_t n)
{
	size_t i = 0;
	while (i < n &&
		(p[i] >= 0x20 || (p[i] != BEL && p[i] != ESC && p[i] != CAN && p[i] != SUB)))
		i++;
	/* in pieces, because the limit depends on how the string begins */
	for (size_t at = 0; at < i; at += 1024)
		string_append(f, p + at, i - at < 1024 ? i - at : 1024);
	if (i == n)
		return n;
	if (p[i] == ESC)
		f->state = PARSER_STRING_ESCAPE;
	else if (p[i] == BEL && f->string_kind == ']')
		string_end(f, true);
	else if (p[i] != BEL)
		f->state = PARSER_GROUND; /* CAN, SUB: cancelled */
	return i + 1;
}

static void string_escape_byte(struct term_parser *f, unsigned char c)
{
	if (c == '\\') {
		string_end(f, false);
		return;
	}
	/* any other escape ends the string without effect, and is one itself */
	start_escape(f);
	escape_byte(f, c);
}

/* --- text --------------------------------------------------------------------------------- */

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

static void put_run(struct term_parser *f, const unsigned char *p, size_t n)
{
	if (n > 0)
		f->events->on_text(p, n, f->arg);
}

static void put_replacement(struct term_parser *f)
{
	static const unsigned char replacement[] = { 0xef, 0xbf, 0xbd };
	put_run(f, replacement, sizeof replacement);
}

static void put_mark(struct term_parser *f, uint32_t codepoint)
{
	if (++f->marks <= MARKS_IN_ROW_MAX)
		f->events->on_mark(codepoint, f->arg);
}

/* Takes what can be taken without another state; returns the bytes used, all unless an ESC comes. */
static size_t ground_bytes(struct term_parser *f, const unsigned char *p, size_t n)
{
	size_t start = 0;
	size_t i = 0;
	size_t marks_end =
		0; /* where the last combining mark ended: the next one is in a row with it */
	while (i < n) {
		unsigned char c = p[i];
		if (is_run_byte(c)) {
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
		put_run(f, p + start, i - start);
		if (c == ESC) {
			start_escape(f);
			f->marks = 0;
			return i + 1;
		}
		if (length == 0) {
			f->utf8_have = (int)(n - i);
			memcpy(f->utf8, p + i, n - i);
			return n;
		}
		if (c < 0x20)
			f->events->on_control(c, f->arg);
		else if (length < 0)
			put_replacement(f);
		else if (width == WIDTH_JOINS)
			put_mark(f, codepoint);
		i += (size_t)(length < 0 ? -length : length);
		start = i;
		if (width == WIDTH_JOINS)
			marks_end = i;
	}
	put_run(f, p + start, i - start);
	if (i != marks_end)
		f->marks = 0;
	return n;
}

/* Puts the beginning of a character from the last call and the new bytes together. */
static size_t finish_character(struct term_parser *f, const unsigned char *bytes, size_t n)
{
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
		put_replacement(f);
		f->marks = 0;
		return (size_t)-length - have;
	}
	ground_bytes(f, joined, (size_t)length);
	return (size_t)length - have;
}

void term_parser_feed(struct term_parser *f, const unsigned char *bytes, size_t n)
{
	size_t i = 0;
	if (f->utf8_have > 0 && n > 0)
		i = finish_character(f, bytes, n);
	while (i < n) {
		switch (f->state) {
		case PARSER_GROUND:
			i += ground_bytes(f, bytes + i, n - i);
			break;
		case PARSER_ESCAPE:
			escape_byte(f, bytes[i++]);
			break;
		case PARSER_CSI:
			csi_byte(f, bytes[i++]);
			break;
		case PARSER_STRING:
			i += string_bytes(f, bytes + i, n - i);
			break;
		case PARSER_STRING_ESCAPE:
			string_escape_byte(f, bytes[i++]);
			break;
		}
	}
}
