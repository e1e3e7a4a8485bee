// SPDX-License-Identifier: Apache-2.0
/* The main screen at another size; the cursor is moved along. */
#pragma once

#include "tui/term/state.h"

/* Replaces the grid of the main screen. The place that is given follows its text. */
void term_reflow_main(struct term *t, int cols, int rows, int *cursor_row, int *cursor_col,
	bool *cursor_at_end);
