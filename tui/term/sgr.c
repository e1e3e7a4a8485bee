// SPDX-License-Identifier: Apache-2.0
/* SGR: the style of the characters that follow (ECMA-48 8.3.117, ITU T.416 colours, and the
 * underline extensions 4:n and 58). Done here and not by libvterm, whose pen has no faint, conceal,
 * overline or underline colour in the releases we support. */
#include "tui/term/interpreter.h"

#include <stdio.h>
#include <string.h>

/* 38, 48, 58: with colons all parts belong to one parameter (and may name a colour space), with
 * semicolons they are the following ones. Returns the index after what was used. */
static int parse_color(const struct term_csi *csi, int at, term_color *color)
{
	int end = at + 1;
	while (end < csi->count && (csi->colons & 1u << end))
		end++;
	bool colons = end > at + 1;
	if (!colons)
		end = csi->count;
	int left = end - at - 1;
	int kind = left > 0 ? csi->params[at + 1] : -1;
	if (kind == 5 && left >= 2) {
		int index = term_csi_param(csi, at + 2, 0);
		if (index <= 255)
			*color = (term_color)(TERM_COLOR_INDEXED | index);
		return colons ? end : at + 3;
	}
	if (kind == 2 && left >= 4) {
		/* 2:space:r:g:b has one more than 2:r:g:b */
		int first = colons && left >= 5 ? at + 3 : at + 2;
		int r = term_csi_param(csi, first, 0);
		int g = term_csi_param(csi, first + 1, 0);
		int b = term_csi_param(csi, first + 2, 0);
		if (r <= 255 && g <= 255 && b <= 255)
			*color = (term_color)(TERM_COLOR_RGB | r << 16 | g << 8 | b);
		return colons ? end : at + 5;
	}
	return colons ? end : csi->count; /* what follows cannot be told apart */
}

static int parse_underline(const struct term_csi *csi, int at, struct term_style *pen)
{
	if (at + 1 >= csi->count || !(csi->colons & 1u << (at + 1))) {
		pen->underline = TERM_UNDERLINE_SINGLE;
		return at + 1;
	}
	int kind = term_csi_param(csi, at + 1, 1);
	if (kind <= TERM_UNDERLINE_DASHED)
		pen->underline = (uint16_t)kind;
	return at + 2;
}

static const struct {
	short number;
	uint16_t set;
	uint16_t clear;
} attributes[] = {
	{ 1, TERM_ATTR_BOLD, 0 },
	{ 2, TERM_ATTR_FAINT, 0 },
	{ 3, TERM_ATTR_ITALIC, 0 },
	{ 5, TERM_ATTR_BLINK, 0 },
	{ 6, TERM_ATTR_BLINK, 0 },
	{ 7, TERM_ATTR_REVERSE, 0 },
	{ 8, TERM_ATTR_CONCEAL, 0 },
	{ 9, TERM_ATTR_STRIKE, 0 },
	{ 22, 0, TERM_ATTR_BOLD | TERM_ATTR_FAINT },
	{ 23, 0, TERM_ATTR_ITALIC },
	{ 25, 0, TERM_ATTR_BLINK },
	{ 27, 0, TERM_ATTR_REVERSE },
	{ 28, 0, TERM_ATTR_CONCEAL },
	{ 29, 0, TERM_ATTR_STRIKE },
	{ 53, TERM_ATTR_OVERLINE, 0 },
	{ 55, 0, TERM_ATTR_OVERLINE },
};

static void set_simple(struct term_style *pen, int number)
{
	if (number == 0)
		memset(pen, 0, sizeof *pen);
	else if (number >= 30 && number <= 37)
		pen->fg = (term_color)(TERM_COLOR_INDEXED | (number - 30));
	else if (number >= 40 && number <= 47)
		pen->bg = (term_color)(TERM_COLOR_INDEXED | (number - 40));
	else if (number >= 90 && number <= 97)
		pen->fg = (term_color)(TERM_COLOR_INDEXED | (number - 90 + 8));
	else if (number >= 100 && number <= 107)
		pen->bg = (term_color)(TERM_COLOR_INDEXED | (number - 100 + 8));
	else if (number == 39)
		pen->fg = TERM_COLOR_DEFAULT;
	else if (number == 49)
		pen->bg = TERM_COLOR_DEFAULT;
	else if (number == 59)
		pen->underline_color = TERM_COLOR_DEFAULT;
	else if (number == 21)
		pen->underline = TERM_UNDERLINE_DOUBLE;
	else if (number == 24)
		pen->underline = TERM_UNDERLINE_NONE;
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
		if (attributes[i].number == number)
			pen->attrs = (uint16_t)((pen->attrs & ~attributes[i].clear) |
						attributes[i].set);
}

void term_sgr_apply(struct term_style *pen, const struct term_csi *csi)
{
	for (int i = 0; i < csi->count;) {
		int number = term_csi_param(csi, i, 0);
		if (number == 38)
			i = parse_color(csi, i, &pen->fg);
		else if (number == 48)
			i = parse_color(csi, i, &pen->bg);
		else if (number == 58)
			i = parse_color(csi, i, &pen->underline_color);
		else if (number == 4)
			i = parse_underline(csi, i, pen);
		else {
			set_simple(pen, number);
			i++;
			/* parts that belong to a number which has none */
			while (i < csi->count && (csi->colons & 1u << i))
				i++;
		}
	}
}

static size_t format_color(term_color color, int base, char *out, size_t size)
{
	int n = 0;
	unsigned value = color & 0xffffff;
	switch (color & TERM_COLOR_TAG) {
	case TERM_COLOR_INDEXED:
		if (value < 8 && base != 58)
			n = snprintf(out, size, ";%u", (unsigned)base - 8 + value);
		else if (value < 16 && base != 58)
			n = snprintf(out, size, ";%u", (unsigned)base + 52 + value - 8);
		else
			n = snprintf(out, size, ";%d:5:%u", base, value);
		break;
	case TERM_COLOR_RGB:
		n = snprintf(out, size, ";%d:2::%u:%u:%u", base, value >> 16, value >> 8 & 0xff,
			value & 0xff);
		break;
	default:
		break;
	}
	return (size_t)n;
}

/* For DECRQSS: "0" and what is set. size must be 128 at least. */
size_t term_sgr_format(const struct term_style *style, char *out, size_t size)
{
	size_t n = (size_t)snprintf(out, size, "0");
	uint16_t seen = 0;
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
		if (!(style->attrs & attributes[i].set & ~seen))
			continue;
		seen |= attributes[i].set;
		n += (size_t)snprintf(out + n, size - n, ";%d", attributes[i].number);
	}
	if (style->underline == TERM_UNDERLINE_SINGLE)
		n += (size_t)snprintf(out + n, size - n, ";4");
	else if (style->underline != TERM_UNDERLINE_NONE)
		n += (size_t)snprintf(out + n, size - n, ";4:%d", style->underline);
	n += format_color(style->fg, 38, out + n, size - n);
	n += format_color(style->bg, 48, out + n, size - n);
	n += format_color(style->underline_color, 58, out + n, size - n);
	return n;
}
