// SPDX-License-Identifier: Apache-2.0
/* Text of cells: one code point in the cell itself, more of them interned as a cluster. */
#include "tui/term/cell.h"

#include <string.h>

size_t term_cell_encode_utf8(uint32_t codepoint, char out[4])
{
	if (codepoint < 0x80) {
		out[0] = (char)codepoint;
		return 1;
	}
	if (codepoint < 0x800) {
		out[0] = (char)(0xc0 | codepoint >> 6);
		out[1] = (char)(0x80 | (codepoint & 0x3f));
		return 2;
	}
	if (codepoint < 0x10000) {
		out[0] = (char)(0xe0 | codepoint >> 12);
		out[1] = (char)(0x80 | (codepoint >> 6 & 0x3f));
		out[2] = (char)(0x80 | (codepoint & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | (codepoint >> 18 & 7));
	out[1] = (char)(0x80 | (codepoint >> 12 & 0x3f));
	out[2] = (char)(0x80 | (codepoint >> 6 & 0x3f));
	out[3] = (char)(0x80 | (codepoint & 0x3f));
	return 4;
}

size_t term_cell_decode_utf8(const char *text, size_t n, uint32_t *codepoint)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t need = p[0] < 0x80 ? 1 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (need > n) {
		*codepoint = 0xfffd;
		return n;
	}
	static const unsigned char lead_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t value = p[0] & lead_mask[need];
	for (size_t i = 1; i < need; i++)
		value = value << 6 | (p[i] & 0x3f);
	*codepoint = value;
	return need;
}

size_t term_cell_append_text(const struct term_cell_tables *tables, struct term_cell cell,
	char out[TERM_CELL_TEXT_BYTES])
{
	size_t n = 0;
	if (cell.text & CELL_CLUSTER) {
		const struct term_cluster *cluster =
			term_string_pool_get(tables->clusters, cell.text & CELL_VALUE);
		if (cluster != NULL) {
			n = cluster->n;
			memcpy(out, cluster->text, n);
		}
	} else if ((cell.text & CELL_VALUE) != 0) {
		char utf8[4];
		n = term_cell_encode_utf8(cell.text & CELL_VALUE, utf8);
		memcpy(out, utf8, n);
	}
	if (n == 0 && !(cell.text & CELL_TAIL))
		out[n++] = ' ';
	out[n] = '\0';
	return n;
}

uint32_t term_cell_value_of(struct term_cell_tables *tables, const char *text, size_t n)
{
	uint32_t codepoint;
	size_t first = term_cell_decode_utf8(text, n, &codepoint);
	if (first >= n || n >= TERM_CELL_TEXT_BYTES)
		return codepoint;
	struct term_cluster cluster = { .n = (unsigned char)n };
	memcpy(cluster.text, text, n);
	uint32_t id = term_string_pool_add(tables->clusters, &cluster);
	/* table full: the base character without its marks */
	return id != 0 ? id | CELL_CLUSTER : codepoint;
}

struct term_cell term_cell_add_mark(
	struct term_cell_tables *tables, struct term_cell cell, uint32_t codepoint)
{
	char text[TERM_CELL_TEXT_BYTES + 4];
	size_t n = term_cell_append_text(tables, cell, text);
	n += term_cell_encode_utf8(codepoint, text + n);
	if (n >= TERM_CELL_TEXT_BYTES)
		return cell;
	uint32_t value = term_cell_value_of(tables, text, n);
	if (value & CELL_CLUSTER)
		cell.text = (cell.text & ~(uint32_t)CELL_VALUE) | value;
	return cell;
}
