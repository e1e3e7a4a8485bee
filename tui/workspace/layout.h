// SPDX-License-Identifier: Apache-2.0
/* The tree of panes of one tab: leaves hold something, splits hold two. Pure geometry, no drawing.
 * Side by side they share a column for the line between them; one above the other, the title row of the lower
 * one is the border. */
#pragma once

#include <stdbool.h>

struct app_layout;
struct app_rect {
	int col, row, cols, rows;
};
enum app_layout_way { LAYOUT_LEFT, LAYOUT_RIGHT, LAYOUT_UP, LAYOUT_DOWN };
enum { LAYOUT_COLS_MIN = 6, LAYOUT_ROWS_MIN = 3 };

struct app_layout *app_layout_new(void *data); /* one leaf */
void app_layout_free(struct app_layout *root); /* not what the leaves hold */
bool app_layout_is_leaf(const struct app_layout *node);
void *app_layout_data(const struct app_layout *leaf);
void app_layout_set_data(struct app_layout *leaf, void *data);
struct app_rect app_layout_rect(
	const struct app_layout *node); /* of the last app_layout_place() */

/* The new leaf stands to the right of the old one or below it. */
struct app_layout *app_layout_split(
	struct app_layout **root, struct app_layout *leaf, enum app_layout_way way, void *data);
/* Frees the leaf; returns the one that should have the focus now, NULL if it was the last. */
struct app_layout *app_layout_remove(struct app_layout **root, struct app_layout *leaf);
void app_layout_place(struct app_layout *root, struct app_rect rect);
/* The leaf there; or the split whose border is there, with *is_border. */
struct app_layout *app_layout_at(struct app_layout *root, int col, int row, bool *is_border);
void app_layout_drag(struct app_layout *split, int col, int row); /* then place again */
/* Moves the nearest border of the leaf that way by some cells. */
bool app_layout_grow(
	struct app_layout *root, struct app_layout *leaf, enum app_layout_way way, int by);
struct app_layout *app_layout_next(
	struct app_layout *root, struct app_layout *leaf, bool forward);
struct app_layout *app_layout_toward(
	struct app_layout *root, struct app_layout *leaf, enum app_layout_way way);
void app_layout_each(
	struct app_layout *root, void (*fn)(void *arg, struct app_layout *leaf), void *arg);
/* Calls fn for every vertical line between panes. */
void app_layout_lines(
	struct app_layout *root, void (*fn)(void *arg, int col, int row, int rows), void *arg);
