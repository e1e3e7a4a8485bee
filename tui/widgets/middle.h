// SPDX-License-Identifier: Apache-2.0
/* Names that do not fit, cut in the middle: what tells two of them apart is as often at the end as at the beginning. */
#pragma once

#include "tui/draw/surface.h"

/* As draw_region_text(), but "begin…end" where the text is longer. Returns the columns used. */
int widget_middle_draw(struct draw_region region, int row, int col, int max_cols,
	struct draw_style style, const char *text);
