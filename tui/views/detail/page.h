// SPDX-License-Identifier: Apache-2.0
/* Lines that are scrolled: what pages about one object have in common. Whoever has one fills its lines before it draws. */
#pragma once

#include "tui/draw/input.h"
#include "tui/views/detail/lines.h"

struct views_detail_page {
	struct views_detail_lines lines;
	int top, rows, rows_in_all; /* of the last draw */
};
void views_detail_page_draw(const struct view_host *host, struct views_detail_page *page,
	struct draw_region region);
/* The command `move`. */
bool views_detail_page_move(struct view_host *host, struct views_detail_page *page,
	const char *args, struct err *err);
void views_detail_page_wheel(
	struct view_host *host, struct views_detail_page *page, const struct draw_mouse *mouse);
