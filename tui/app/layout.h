// SPDX-License-Identifier: Apache-2.0
/* The tree of panes of one tab: leaves hold something, splits hold two. Pure geometry, no drawing.
 * Side by side they share a column for the line between them; one above the other, the title row of the lower
 * one is the border. */
#pragma once

#include <stdbool.h>

struct layout;
struct rect {
	int col, row, cols, rows;
};
enum layout_way { LAYOUT_LEFT, LAYOUT_RIGHT, LAYOUT_UP, LAYOUT_DOWN };
enum { LAYOUT_COLS_MIN = 6, LAYOUT_ROWS_MIN = 3 };

struct layout *layout_new(void *data); /* one leaf */
void layout_free(struct layout *root); /* not what the leaves hold */
bool layout_is_leaf(const struct layout *node);
void *layout_data(const struct layout *leaf);
void layout_set_data(struct layout *leaf, void *data);
struct rect layout_rect(const struct layout *node); /* of the last layout_place() */

/* The new leaf stands to the right of the old one or below it. */
struct layout *layout_split(
	struct layout **root, struct layout *leaf, enum layout_way way, void *data);
/* Frees the leaf; returns the one that should have the focus now, NULL if it was the last. */
struct layout *layout_remove(struct layout **root, struct layout *leaf);
void layout_place(struct layout *root, struct rect rect);
/* The leaf there; or the split whose border is there, with *is_border. */
struct layout *layout_at(struct layout *root, int col, int row, bool *is_border);
void layout_drag(struct layout *split, int col, int row); /* then place again */
/* Moves the nearest border of the leaf that way by some cells. */
bool layout_grow(struct layout *root, struct layout *leaf, enum layout_way way, int by);
struct layout *layout_next(struct layout *root, struct layout *leaf, bool forward);
struct layout *layout_toward(struct layout *root, struct layout *leaf, enum layout_way way);
void layout_each(struct layout *root, void (*fn)(void *arg, struct layout *leaf), void *arg);
/* Calls fn for every vertical line between panes. */
void layout_lines(
	struct layout *root, void (*fn)(void *arg, int col, int row, int rows), void *arg);
