// SPDX-License-Identifier: Apache-2.0
// Colours: names, numbers, #rrggbb; and the nearest colour of a smaller palette.
// The 256-colour table is xterm's: 16 named, a 6×6×6 cube, 24 greys.
#include "tui/draw/color.h"

#include "engine/base/num.h"

#include <string.h>

static const char *const names[16] = {
	"black",
	"red",
	"green",
	"yellow",
	"blue",
	"magenta",
	"cyan",
	"white",
	"bright-black",
	"bright-red",
	"bright-green",
	"bright-yellow",
	"bright-blue",
	"bright-magenta",
	"bright-cyan",
	"bright-white",
};

static const uint32_t named_rgb[16] = {
	0x000000,
	0xCD0000,
	0x00CD00,
	0xCDCD00,
	0x0000EE,
	0xCD00CD,
	0x00CDCD,
	0xE5E5E5,
	0x7F7F7F,
	0xFF0000,
	0x00FF00,
	0xFFFF00,
	0x5C5CFF,
	0xFF00FF,
	0x00FFFF,
	0xFFFFFF,
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool draw_color_parse(const char *text, draw_color *out)
{
	if (strcmp(text, "default") == 0) {
		*out = DRAW_COLOR_DEFAULT;
		return true;
	}
	for (unsigned i = 0; i < 16; i++)
		if (strcmp(text, names[i]) == 0) {
			*out = DRAW_COLOR_INDEXED | i;
			return true;
		}
	if (text[0] == '#') {
		uint32_t rgb = 0;
		if (strlen(text) != 7)
			return false;
		for (int i = 1; i < 7; i++) {
			int digit = hex_digit(text[i]);
			if (digit < 0)
				return false;
			rgb = rgb << 4 | (uint32_t)digit;
		}
		*out = DRAW_COLOR_RGB | rgb;
		return true;
	}
	int64_t index;
	if (!num_parse_i64(text, 0, 255, &index))
		return false;
	*out = DRAW_COLOR_INDEXED | (uint32_t)index;
	return true;
}

static uint32_t cube_level(uint32_t i)
{
	return i ? 55 + 40 * i : 0;
}

static uint32_t table_rgb(uint32_t index)
{
	if (index < 16)
		return named_rgb[index];
	if (index < 232) {
		uint32_t i = index - 16;
		return cube_level(i / 36) << 16 | cube_level(i / 6 % 6) << 8 |
		       cube_level(i % 6);
	}
	uint32_t grey = 8 + 10 * (index - 232);
	return grey << 16 | grey << 8 | grey;
}

uint32_t draw_color_to_rgb(draw_color color)
{
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_RGB)
		return color & 0xFFFFFF;
	return table_rgb(color & 0xFF);
}

static int distance(uint32_t a, uint32_t b)
{
	int sum = 0;
	for (int shift = 0; shift < 24; shift += 8) {
		int d = (int)(a >> shift & 0xFF) - (int)(b >> shift & 0xFF);
		sum += d * d;
	}
	return sum;
}

int draw_color_to_palette(draw_color color, int terminal_colors)
{
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_DEFAULT || terminal_colors < 8)
		return -1;
	int have = terminal_colors >= 256 ? 256 : terminal_colors >= 16 ? 16 : 8;
	if ((color & DRAW_COLOR_TAG) == DRAW_COLOR_INDEXED && (int)(color & 0xFF) < have)
		return (int)(color & 0xFF);
	uint32_t rgb = draw_color_to_rgb(color);
	/* the first 16 are the user's own and may look like anything: avoid them when there are others */
	int best = 0, best_distance = 1 << 30;
	for (int i = have == 256 ? 16 : 0; i < have; i++) {
		int d = distance(rgb, table_rgb((uint32_t)i));
		if (d < best_distance) {
			best_distance = d;
			best = i;
		}
	}
	return best;
}
