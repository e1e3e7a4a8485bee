// SPDX-License-Identifier: Apache-2.0
#include "tui/views/detail/page.h"

#include "tui/widgets/cursor_motion.h"

enum { WHEEL_ROWS = 3, COLS_MIN = 8 };

static int draw_all(
	const struct view_host *host, struct views_detail_page *page, struct draw_region r)
{
	int row = -page->top;
	for (size_t i = 0; i < page->lines.n; i++) {
		const struct views_detail_line *line = &page->lines.lines[i];
		if (line->is_title && i)
			row++;
		row += views_detail_line_draw(host, r, row, line);
	}
	return row + page->top;
}

void views_detail_page_draw(
	const struct view_host *host, struct views_detail_page *page, struct draw_region r)
{
	page->rows = r.rows;
	if (r.cols < COLS_MIN)
		return;
	page->rows_in_all = draw_all(host, page, r);
	int last = page->rows_in_all > r.rows ? page->rows_in_all - r.rows : 0;
	if (page->top > last) { /* it has become shorter */
		page->top = last;
		draw_region_fill(r, host_style(host, ROLE_TEXT));
		draw_all(host, page, r);
	}
	if (page->top < last)
		draw_region_text(r, r.rows - 1, r.cols - 1, 1, host_style(host, ROLE_DIM), "↓");
}

static void scroll_to(struct view_host *host, struct views_detail_page *page, int top)
{
	int last = page->rows_in_all > page->rows ? page->rows_in_all - page->rows : 0;
	page->top = top < 0 ? 0 : top < last ? top : last;
	host_dirty(host);
}

bool views_detail_page_move(struct view_host *host, struct views_detail_page *page,
	const char *args, struct err *err)
{
	size_t top = page->top > 0 ? (size_t)page->top : 0;
	if (!widget_cursor_motion(args, page->rows, (size_t)page->rows_in_all, &top, err))
		return false;
	scroll_to(host, page, (int)top);
	return true;
}

void views_detail_page_wheel(
	struct view_host *host, struct views_detail_page *page, const struct draw_mouse *mouse)
{
	if (mouse->action == MOUSE_WHEEL_UP)
		scroll_to(host, page, page->top - WHEEL_ROWS);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		scroll_to(host, page, page->top + WHEEL_ROWS);
}
