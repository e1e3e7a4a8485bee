// SPDX-License-Identifier: Apache-2.0
/* The bits of struct term_cell's text word, inside this room only. */
#pragma once

#include "tui/term/string_pool.h"
#include "tui/term/term.h"

enum {
	CELL_VALUE = 0x1fffff,    /* a code point, or a cluster id; 0 = blank */
	CELL_WIDE = 1 << 21,      /* first of two cells */
	CELL_TAIL = 1 << 22,      /* second of two cells, no text of its own */
	CELL_CLUSTER = 1 << 23,   /* CELL_VALUE is a cluster id */
	CELL_PROTECTED = 1 << 24, /* DECSCA: selective erase leaves it */
	CELL_PAIR = CELL_WIDE | CELL_TAIL,
	CLUSTER_MAX = 1 << 15, /* different texts of several code points at once */
	STYLE_MAX = 1 << 16,
};

/* A base character with its combining marks, UTF-8, zero-padded. */
struct term_cluster {
	unsigned char n;
	char text[TERM_CELL_TEXT_BYTES - 1];
};
_Static_assert(
	sizeof(struct term_cluster) == TERM_CELL_TEXT_BYTES, "hashed as bytes: no padding");
_Static_assert(sizeof(struct term_style) == 16, "hashed as bytes: no padding");

static inline struct term_cell cell_blank(uint32_t style)
{
	return (struct term_cell){ 0, style };
}

/* The two tables that cells point into. */
struct term_cell_tables {
	struct term_string_pool *styles;
	struct term_string_pool *clusters;
};

/* UTF-8 of a code point; returns its bytes (1 … 4). */
size_t term_cell_encode_utf8(uint32_t codepoint, char out[4]);
/* One code point of valid UTF-8; returns its bytes. */
size_t term_cell_decode_utf8(const char *text, size_t n, uint32_t *codepoint);
size_t term_cell_append_text(const struct term_cell_tables *tables, struct term_cell cell,
	char out[TERM_CELL_TEXT_BYTES]);
/* Adds a combining mark to a cell; unchanged when there is no room. */
struct term_cell term_cell_add_mark(
	struct term_cell_tables *tables, struct term_cell cell, uint32_t codepoint);
/* A cell text of n bytes of UTF-8 (one code point or a cluster), without flags. */
uint32_t term_cell_value_of(struct term_cell_tables *tables, const char *text, size_t n);
