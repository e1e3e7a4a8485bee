// SPDX-License-Identifier: Apache-2.0
/* The tree of panes of one tab: leaves hold something, splits hold two. Pure geometry, no drawing.
 * Side by side they share a column for the line between them; one above the other, the title row of the lower
 * one is the border. */
#pragma once

#include <stdbool.h>

struct workspace_layout;
struct workspace_rect {
	int col, row, cols, rows;
};
enum workspace_layout_way { LAYOUT_LEFT, LAYOUT_RIGHT, LAYOUT_UP, LAYOUT_DOWN };
enum { LAYOUT_COLS_MIN = 6, LAYOUT_ROWS_MIN = 3 };

struct workspace_layout *workspace_layout_new(void *data); /* one leaf */
void workspace_layout_free(struct workspace_layout *root); /* not what the leaves hold */
bool workspace_layout_is_leaf(const struct workspace_layout *node);
void *workspace_layout_data(const struct workspace_layout *leaf);
void workspace_layout_set_data(struct workspace_layout *leaf, void *data);
struct workspace_rect workspace_layout_rect(
	const struct workspace_layout *node); /* of the last workspace_layout_place() */

/* The new leaf stands to the right of the old one or below it. */
struct workspace_layout *workspace_layout_split(struct workspace_layout **root,
	struct workspace_layout *leaf, enum workspace_layout_way way, void *data);
/* Frees the leaf; returns the one that should have the focus now, NULL if it was the last. */
struct workspace_layout *workspace_layout_remove(
	struct workspace_layout **root, struct workspace_layout *leaf);
void workspace_layout_place(struct workspace_layout *root, struct workspace_rect rect);
/* The leaf there; or the split whose border is there, with *is_border. */
struct workspace_layout *workspace_layout_at(
	struct workspace_layout *root, int col, int row, bool *is_border);
void workspace_layout_drag(
	struct workspace_layout *split, int col, int row); /* then place again */
/* Moves the nearest border of the leaf that way by some cells. */
bool workspace_layout_grow(struct workspace_layout *root, struct workspace_layout *leaf,
	enum workspace_layout_way way, int by);
struct workspace_layout *workspace_layout_next(
	struct workspace_layout *root, struct workspace_layout *leaf, bool forward);
struct workspace_layout *workspace_layout_toward(struct workspace_layout *root,
	struct workspace_layout *leaf, enum workspace_layout_way way);
void workspace_layout_each(struct workspace_layout *root,
	void (*fn)(void *arg, struct workspace_layout *leaf), void *arg);
/* Calls fn for every vertical line between panes. */
void workspace_layout_lines(struct workspace_layout *root,
	void (*fn)(void *arg, int col, int row, int rows), void *arg);
