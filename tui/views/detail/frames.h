// SPDX-License-Identifier: Apache-2.0
/* What stands above the sections of the detail view: how it is, what it uses, who it is, what happened to it. On wide
 * screens in boxes, on narrow ones one under the other. Nothing is drawn of what is not known. */
#pragma once

#include "tui/views/detail/lines.h"

struct views_detail_head {
	const struct fleet_row *row; /* or a tombstone; NULL: it is gone, nothing is known */
	const char *name;
	const struct fleet_story_entry *story;
	size_t n_story;
};

/* Use (CPU, memory, disk, life) and identity as lines, pictures as text. */
/* cols: the room that a line has. */
void views_detail_add_use(
	struct views_detail_lines *lines, const struct fleet_row *row, int cols);
void views_detail_add_identity(struct views_detail_lines *lines, const struct fleet *fleet,
	const struct fleet_row *row);

/* Each draws from row on (rows outside the region are left out) and returns the rows that it takes. */
int views_detail_title_draw(const struct view_host *host, struct draw_region region, int row,
	const struct views_detail_head *head);
int views_detail_why_draw(const struct view_host *host, struct draw_region region, int row,
	const struct views_detail_head *head);
int views_detail_boxes_draw(const struct view_host *host, struct draw_region region, int row,
	const struct views_detail_head *head);
