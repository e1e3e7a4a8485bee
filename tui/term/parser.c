// SPDX-License-Identifier: Apache-2.0
/* The parser in front of everything: ECMA-48 sequences by the states of a VT500 (as published by
 * P. Williams), text as UTF-8. What it lets through to libvterm is written anew from what was
 * understood; the rest is swallowed. Text is parser_text.c's.
 *
 *   GROUND ── ESC ──→ ESCAPE ── [ ──→ CSI ── final byte ──→ GROUND
 *      │                └─ ] P _ ^ X ──→ STRING ── BEL (OSC only) or ESC \ ──→ GROUND
 *      └ runs of text: ASCII as it is, UTF-8 checked, 8-bit and UTF-8 C1 never executed
 */
#include "tui/term/state.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	BEL = 0x07,
	CAN = 0x18,
	SUB = 0x1a,
	ESC = 0x1b,
	DEL = 0x7f,
};

void term_parser_reset(struct term_parser *f)
{
	f->state = FILTER_GROUND;
	f->utf8_have = 0;
	f->last_char = 0;
	f->marks = 0;
	f->string_n = 0;
}

void term_parser_start_escape(struct term_parser *f)
{
	f->state = FILTER_ESCAPE;
	f->escape_intermediate = 0;
	f->escape_bad = false;
}

static void start_csi(struct term_parser *f)
{
	f->state = FILTER_CSI;
	memset(&f->csi, 0, sizeof f->csi);
	f->csi.params[0] = -1;
	f->csi.count = 1;
	f->csi_has_digits = false;
}

static void start_string(struct term_parser *f, char kind)
{
	f->state = FILTER_STRING;
	f->string_kind = kind;
	f->string_n = 0;
	f->string_overflow = false;
}

static void escape_byte(struct term *t, unsigned char c)
{
	struct term_parser *f = &t->filter;
	if (c == ESC) {
		term_parser_start_escape(f);
		return;
	}
	if (c < 0x20) {
		if (c == CAN || c == SUB)
			f->state = FILTER_GROUND;
		else
			term_parser_text_control(t, c);
		return;
	}
	if (c < 0x30) {
		f->escape_bad = f->escape_intermediate != 0;
		f->escape_intermediate = (char)c;
		return;
	}
	if (c == DEL)
		return;
	f->state = FILTER_GROUND;
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
	f->last_char = 0;
	term_esc_handle(t, f->escape_intermediate, (char)c);
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

static void csi_final(struct term *t, unsigned char c)
{
	struct term_parser *f = &t->filter;
	f->state = FILTER_GROUND;
	if (f->csi.bad)
		return;
	if (f->csi.count > CSI_PARAMS_MAX)
		f->csi.count = CSI_PARAMS_MAX;
	f->csi.final = (char)c;
	term_csi_handle(t, &f->csi);
	if (c != 'm' && c != 'b')
		f->last_char = 0;
}

static void csi_byte(struct term *t, unsigned char c)
{
	struct term_parser *f = &t->filter;
	if (c < 0x20) {
		if (c == ESC) {
			term_parser_start_escape(f);
		} else if (c == CAN || c == SUB) {
			f->state = FILTER_GROUND;
		} else {
			term_parser_text_control(t, c);
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
		csi_final(t, c);
	} else if (c > DEL) {
		f->csi.bad = true; /* not ECMA-48: wait for the end and forget it */
	}
}

static void string_append(struct term_parser *f, const unsigned char *p, size_t n)
{
	size_t limit = term_string_limit(f);
	if (f->string_overflow || n > limit || f->string_n > limit - n) {
		f->string_overflow = true;
		return;
	}
	array_grow(&f->string, &f->string_capacity, f->string_n + n + 1, 1);
	memcpy(f->string + f->string_n, p, n);
	f->string_n += n;
}

static void string_end(struct term *t, bool by_bell)
{
	struct term_parser *f = &t->filter;
	f->string_bell = by_bell;
	f->state = FILTER_GROUND;
	if (!f->string_overflow && f->string != NULL) {
		f->string[f->string_n] = '\0';
		term_string_handle(t, f->string_kind, f->string, f->string_n);
	}
	f->string_n = 0;
	if (f->string_capacity > OSC_BYTES) {
		free(f->string);
		f->string = NULL;
		f->string_capacity = 0;
	}
}

static size_t string_bytes(struct term *t, const unsigned char *p, size_t n)
{
	struct term_parser *f = &t->filter;
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
		f->state = FILTER_STRING_ESCAPE;
	else if (p[i] == BEL && f->string_kind == ']')
		string_end(t, true);
	else if (p[i] != BEL)
		f->state = FILTER_GROUND; /* CAN, SUB: cancelled */
	return i + 1;
}

static void string_escape_byte(struct term *t, unsigned char c)
{
	struct term_parser *f = &t->filter;
	if (c == '\\') {
		string_end(t, false);
		return;
	}
	/* any other escape ends the string without effect, and is one itself */
	term_parser_start_escape(f);
	escape_byte(t, c);
}

void term_parser_feed(struct term *t, const unsigned char *bytes, size_t n)
{
	struct term_parser *f = &t->filter;
	size_t i = 0;
	if (f->utf8_have > 0 && n > 0)
		i = term_parser_text_finish(t, bytes, n);
	while (i < n) {
		switch (f->state) {
		case FILTER_GROUND:
			i += term_parser_text_feed(t, bytes + i, n - i);
			break;
		case FILTER_ESCAPE:
			escape_byte(t, bytes[i++]);
			break;
		case FILTER_CSI:
			csi_byte(t, bytes[i++]);
			break;
		case FILTER_STRING:
			i += string_bytes(t, bytes + i, n - i);
			break;
		case FILTER_STRING_ESCAPE:
			string_escape_byte(t, bytes[i++]);
			break;
		}
	}
}
