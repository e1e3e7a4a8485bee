// SPDX-License-Identifier: Apache-2.0
/* One editable line of text: prompts and the fields of dialogs. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/surface.h"

enum { EDIT_BYTES_MAX = 4096 };

struct widget_edit {
	struct str text;
	size_t at; /* byte position of the cursor, always at a character's start */
};

void widget_edit_init(struct widget_edit *edit, const char *text);
void widget_edit_deinit(struct widget_edit *edit);
void widget_edit_set(struct widget_edit *edit, const char *text);
bool widget_edit_key(struct widget_edit *edit, const struct draw_key *key); /* true: used */
void widget_edit_insert(
	struct widget_edit *edit, struct slice text); /* line ends become blanks */
/* Draws it and, if asked, sets the surface's cursor. The part around the cursor is shown. */
void widget_edit_draw(const struct widget_edit *edit, struct draw_region region, int row,
	int col, int cols, struct draw_style style, bool is_focused);
