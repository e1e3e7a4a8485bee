// SPDX-License-Identifier: Apache-2.0
// Likenesses in ASCII: blocks of Unicode by rule, single signs by a table.
#include "tui/draw/ascii.h"

#include <stddef.h>

enum { BOXES = 0x2500, BLOCKS = 0x2580, BLOCKS_END = 0x25A0 };

/* Of U+2500 on: which lines are plain, the rest are corners and crossings. */
static char box_of(uint32_t c)
{
	switch (c) {
	case 0x2500:
	case 0x2501:
	case 0x2504:
	case 0x2505:
	case 0x254C:
	case 0x254D:
	case 0x2550:
	case 0x2574:
	case 0x2576:
		return '-';
	case 0x2502:
	case 0x2503:
	case 0x2506:
	case 0x2507:
	case 0x254E:
	case 0x254F:
	case 0x2551:
	case 0x2575:
	case 0x2577:
		return '|';
	default:
		return '+';
	}
}

/* Of U+2580 on: eighths from below, eighths from the left, shades, quadrants. */
static const char blocks[] = "\"_.--==##||||||||.:#\"|..........";
_Static_assert(sizeof blocks - 1 == BLOCKS_END - BLOCKS, "a letter for each block");

static const struct {
	uint32_t from;
	char to;
} signs[] = {
	{ 0xAB, '<' },
	{ 0xB7, '.' },
	{ 0xBB, '>' },
	{ 0xD7, 'x' },
	{ 0x2013, '-' },
	{ 0x2014, '-' },
	{ 0x2018, '\'' },
	{ 0x2019, '\'' },
	{ 0x201C, '"' },
	{ 0x201D, '"' },
	{ 0x2022, '*' },
	{ 0x2026, '~' },
	{ 0x2039, '<' },
	{ 0x203A, '>' },
	{ 0x2190, '<' },
	{ 0x2191, '^' },
	{ 0x2192, '>' },
	{ 0x2193, 'v' },
	{ 0x21BB, '@' },
	{ 0x2264, '<' },
	{ 0x2265, '>' },
	{ 0x2317, '#' },
	{ 0x23F3, '%' },
	{ 0x23F8, '=' },
	{ 0x25A0, '#' },
	{ 0x25A1, 'o' },
	{ 0x25B2, '^' },
	{ 0x25B6, '>' },
	{ 0x25B8, '>' },
	{ 0x25BC, 'v' },
	{ 0x25BE, 'v' },
	{ 0x25C7, 'o' },
	{ 0x25CB, 'o' },
	{ 0x25CC, '.' },
	{ 0x25CF, '*' },
	{ 0x25D0, 'o' },
	{ 0x266A, '!' },
	{ 0x26A0, '!' },
	{ 0x270B, '!' },
	{ 0x2713, '+' },
	{ 0x2714, '+' },
	{ 0x2715, 'x' },
	{ 0x2717, 'x' },
	{ 0x2718, 'x' },
	{ 0x276F, '>' },
	{ 0x2922, '^' },
};

char draw_ascii_of(uint32_t c)
{
	if (c >= 0x20 && c < 0x7F)
		return (char)c;
	if (c >= BOXES && c < BLOCKS)
		return box_of(c);
	if (c >= BLOCKS && c < BLOCKS_END)
		return blocks[c - BLOCKS];
	for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
		if (signs[i].from == c)
			return signs[i].to;
	return '?';
}
