// SPDX-License-Identifier: Apache-2.0
/* Columns of characters: the one table of the program, for panes, names and our own text alike. Made from the
 * Unicode Character Database (width_table.inc says which version) by scripts/width_table.py: wide and fullwidth
 * characters, emoji among them, take two columns, marks none. Libraries know other versions or other rules
 * (docs/terminal.md, "Widths"); none of them is asked. */
#pragma once

#include <stdint.h>

enum {
	WIDTH_JOINS =
		0, /* belongs to the character before it: marks, U+200C, U+200D, Hangul vowels and finals */
	WIDTH_HIDDEN = -1, /* controls, direction marks, tags: nothing that may be shown */
};

/* 1 or 2 columns, or one of the above. */
int width_of(uint32_t codepoint);
