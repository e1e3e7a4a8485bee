// SPDX-License-Identifier: Apache-2.0
/* One editable line of text: prompts and the fields of dialogs. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/surface.h"

enum { EDIT_BYTES_MAX = 4096 };

struct views_edit {
	struct str text;
	size_t at; /* byte position of the cursor, always at a character's start */
};

void views_edit_init(struct views_edit *edit, const char *text);
void views_edit_deinit(struct views_edit *edit);
void views_edit_set(struct views_edit *edit, const char *text);
bool views_edit_key(struct views_edit *edit, const struct draw_key *key); /* true: used */
void views_edit_insert(
	struct views_edit *edit, struct slice text); /* line ends become blanks */
/* Draws it and, if asked, sets the surface's cursor. The part around the cursor is shown. */
void views_edit_draw(const struct views_edit *edit, struct draw_region region, int row, int col,
	int cols, struct draw_style style, bool is_focused);
