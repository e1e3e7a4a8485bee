// SPDX-License-Identifier: Apache-2.0
/* Colours as people write them, and the nearest one that a terminal has. Pure functions. */
#pragma once

#include "tui/draw/surface.h"

#include <stdbool.h>

/* "default", "red", "bright-red", "0" … "255", "#rrggbb". */
bool draw_color_parse(const char *text, draw_color *out);

/* The palette index nearest to a colour when the terminal has 8, 16 or 256 of them; -1 is its default.
 * Indexed colours that the terminal has stay as they are: they belong to the user's palette. */
int draw_color_to_palette(draw_color color, int terminal_colors);
/* As 0xRRGGBB; indexed ones by xterm's table. Not for the default colour. */
uint32_t draw_color_to_rgb(draw_color color);
