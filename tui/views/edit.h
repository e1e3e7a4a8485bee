// SPDX-License-Identifier: Apache-2.0
/* One editable line of text: prompts and the fields of dialogs. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/surface.h"

enum { EDIT_BYTES_MAX = 4096 };

struct edit {
	struct str text;
	size_t at; /* byte position of the cursor, always at a character's start */
};

void edit_init(struct edit *edit, const char *text);
void edit_deinit(struct edit *edit);
void edit_set(struct edit *edit, const char *text);
bool edit_key(struct edit *edit, const struct key *key); /* true: used */
void edit_insert(struct edit *edit, struct slice text);  /* line ends become blanks */
/* Draws it and, if asked, sets the surface's cursor. The part around the cursor is shown. */
void edit_draw(const struct edit *edit, struct region region, int row, int col, int cols,
	struct style style, bool is_focused);
