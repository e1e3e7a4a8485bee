// SPDX-License-Identifier: Apache-2.0
// A pane of the file browser on screen: where it is, a header, entries, and a line of sums.
#include "tui/views/files/pane.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"
#include "tui/view/keys.h"
#include "tui/widgets/wrap.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	HEAD_ROWS = 2,
	FOOT_ROWS = 1,
	MARK_COLS = 1,
	NAME_COLS_MIN = 18,
	SIX_MONTHS_S = 15778800
};

static const struct {
	const char *title;
	int cols; /* 0: what is left */
	bool is_right;
} columns[] = {
	[FILES_NAME] = { "NAME", 0, false },
	[FILES_SIZE] = { "SIZE", 9, true },
	[FILES_TIME] = { "TIME", 12, false },
	[FILES_MODE] = { "MODE", 9, false },
};
_Static_assert(
	sizeof columns / sizeof columns[0] == FILES_COLUMN_COUNT, "a row for each column");

const char *views_files_size_text(const struct files_entry *entry, char out[16])
{
	if (views_files_is_folder(entry))
		return "DIR";
	switch (entry->kind) {
	case FILES_FIFO:
		return "FIFO";
	case FILES_SOCKET:
		return "SOCKET";
	case FILES_DEVICE:
		return "DEVICE";
	default:
		if (entry->size_bytes < 0)
			return "?";
		return num_format_size((uint64_t)entry->size_bytes, out);
	}
}

static const char *time_text(int64_t modified_s, char out[32])
{
	time_t seconds = (time_t)modified_s;
	struct tm tm;
	int64_t age_s = clock_wall_ms() / 1000 - modified_s;
	if (modified_s < 0 || !localtime_r(&seconds, &tm))
		return "";
	bool is_recent = age_s < SIX_MONTHS_S && age_s > -SIX_MONTHS_S;
	return strftime(out, 32, is_recent ? "%b %e %H:%M" : "%b %e  %Y", &tm) ? out : "";
}

static const char *mode_text(int mode, char out[16])
{
	static const char letters[] = "rwxrwxrwx";
	if (mode < 0)
		return "";
	for (int i = 0; i < 9; i++)
		out[i] = mode & (0400 >> i) ? letters[i] : '-';
	if (mode & 04000)
		out[2] = mode & 0100 ? 's' : 'S';
	if (mode & 02000)
		out[5] = mode & 010 ? 's' : 'S';
	if (mode & 01000)
		out[8] = mode & 1 ? 't' : 'T';
	out[9] = 0;
	return out;
}

static void lay_columns(struct views_files_pane *pane, int cols)
{
	int left = cols - MARK_COLS;
	bool is_on[FILES_COLUMN_COUNT];
	for (int i = 0; i < FILES_COLUMN_COUNT; i++) {
		is_on[i] = true;
		left -= columns[i].cols ? columns[i].cols + 1 : 0;
	}
	for (int i = FILES_COLUMN_COUNT - 1; i > FILES_NAME && left < NAME_COLS_MIN; i--) {
		is_on[i] = false;
		left += columns[i].cols + 1;
	}
	int at = MARK_COLS;
	for (int i = 0; i < FILES_COLUMN_COUNT; i++) {
		pane->column_at[i] = is_on[i] ? at : -1;
		pane->column_cols[i] = columns[i].cols ? columns[i].cols : left > 0 ? left : 0;
		at += is_on[i] ? pane->column_cols[i] + 1 : 0;
	}
}

/* The end of a path matters most: what does not fit goes at the front, at a character's start. */
static void draw_path(struct draw_region r, int col, struct draw_style style, const char *text)
{
	const char *from = text;
	int room = r.cols - col;
	while (*from && draw_text_cols(from) + (from > text) > room) {
		from++;
		while (((unsigned char)*from & 0xC0) == 0x80)
			from++;
	}
	if (from > text)
		draw_region_put(r, 0, col++, style, "…", strlen("…"), 1);
	draw_region_text(r, 0, col, r.cols - col, style, from);
}

static void draw_place(struct views_files_pane *pane, struct draw_region r, bool is_active)
{
	struct view_host *host = pane->host;
	struct draw_style style = host_style(host, is_active ? ROLE_TITLE_FOCUSED : ROLE_TITLE);
	if (pane->is_hovered && pane->hover_row == (size_t)HOVER_WHOLE)
		style = host_style(host, ROLE_DROP);
	draw_region_fill(r, style);
	int col = draw_region_textf(
		r, 0, 0, r.cols / 2, style, "%s:", views_files_pane_name(pane));
	char path[4096];
	snprintf(path, sizeof path, "%s%s", pane->is_local ? "" : "/", pane->path);
	draw_path(r, col, style, path);
}

static void draw_header(struct views_files_pane *pane, struct draw_region r)
{
	struct draw_style style = host_style(pane->host, ROLE_HEADER);
	for (int i = 0; i < FILES_COLUMN_COUNT; i++) {
		char title[32];
		const char *arrow = (int)pane->sort != i ? "" : pane->is_reversed ? "↓" : "↑";
		snprintf(title, sizeof title, "%s%s", columns[i].title, arrow);
		if (pane->column_at[i] < 0)
			continue;
		if (columns[i].is_right)
			draw_region_text_right(
				r, 0, pane->column_at[i], pane->column_cols[i], style, title);
		else
			draw_region_text(
				r, 0, pane->column_at[i], pane->column_cols[i], style, title);
	}
}

static struct draw_style entry_style(
	const struct views_files_pane *pane, const struct files_entry *entry)
{
	const struct view_host *host = pane->host;
	if (entry->is_marked)
		return host_style(host, ROLE_MARKED);
	switch (entry->kind) {
	case FILES_FOLDER:
		return host_style(host, ROLE_DIRECTORY);
	case FILES_LINK:
	case FILES_LINK_FOLDER:
		return host_style(host, ROLE_LINK);
	case FILES_LINK_BROKEN:
		return host_style(host, ROLE_ERROR);
	case FILES_FIFO:
	case FILES_SOCKET:
	case FILES_DEVICE:
		return host_style(host, ROLE_WARNING);
	default:
		return host_style(host,
			entry->mode > 0 && entry->mode & 0111 ? ROLE_EXECUTABLE : ROLE_TEXT);
	}
}

static void draw_entry(
	struct views_files_pane *pane, struct draw_region r, int at, size_t row, bool is_active)
{
	struct view_host *host = pane->host;
	const struct files_entry *entry = views_files_pane_at(pane, row);
	struct draw_style style =
		entry ? entry_style(pane, entry) : host_style(host, ROLE_DIRECTORY);
	bool is_cursor = row == pane->cursor;
	if (is_cursor && is_active)
		style = host_style(host, ROLE_CURSOR);
	else if (is_cursor) {
		style.attrs |= host_style(host, ROLE_CURSOR_UNFOCUSED).attrs;
	}
	if (pane->is_hovered && pane->hover_row == row)
		style = host_style(host, ROLE_DROP);
	draw_region_fill(draw_region_sub(r, 0, at, r.cols, 1), style);
	if (!entry) {
		draw_region_text(r, at, pane->column_at[FILES_NAME], r.cols, style, "..");
		return;
	}
	char buffer[32];
	if (entry->is_marked)
		draw_region_put(r, at, 0, style, "*", 1, 1);
	static const char *const tails[FILES_KIND_COUNT] = { "", "/", "@", "@/", "@!", "|", "=",
		"%" };
	int col = pane->column_at[FILES_NAME], cols = pane->column_cols[FILES_NAME];
	int tail = (int)strlen(tails[entry->kind]);
	int used = draw_region_text(
		r, at, col, cols > tail ? cols - tail : cols, style, entry->name);
	if (cols > tail)
		draw_region_text(r, at, col + used, tail, style, tails[entry->kind]);
	if (pane->column_at[FILES_SIZE] >= 0)
		draw_region_text_right(r, at, pane->column_at[FILES_SIZE],
			pane->column_cols[FILES_SIZE], style,
			views_files_size_text(entry, buffer));
	if (pane->column_at[FILES_TIME] >= 0)
		draw_region_text(r, at, pane->column_at[FILES_TIME],
			pane->column_cols[FILES_TIME], style,
			time_text(entry->modified_s, buffer));
	if (pane->column_at[FILES_MODE] >= 0)
		draw_region_text(r, at, pane->column_at[FILES_MODE],
			pane->column_cols[FILES_MODE], style, mode_text(entry->mode, buffer));
}

static void draw_error(struct views_files_pane *pane, struct draw_region r)
{
	struct view_host *host = pane->host;
	struct draw_style dim = host_style(host, ROLE_DIM);
	int row = 0;
	draw_region_text(
		r, row++, 1, r.cols - 1, host_style(host, ROLE_ERROR), err_name(&pane->err));
	row += widget_wrap_draw(
		r, row, 1, host_style(host, ROLE_TEXT), slice_of(pane->err.msg));
	if (*err_hint(&pane->err))
		row += widget_wrap_draw(r, row, 1, dim, slice_of(err_hint(&pane->err)));
	const char *again = view_key_of_command(SCOPE_FILES, "refresh"),
		   *up = view_key_of_command(SCOPE_FILES, "leave");
	if (row < r.rows) {
		char line[128];
		snprintf(line, sizeof line, "%s tries again%s%s%s", again,
			views_files_pane_is_root(pane) ? "" : ", ",
			views_files_pane_is_root(pane) ? "" : up,
			views_files_pane_is_root(pane) ? "" : " goes up");
		widget_wrap_draw(r, row, 1, dim, slice_of(line));
	}
}

static void draw_sums(struct views_files_pane *pane, struct draw_region r)
{
	struct view_host *host = pane->host;
	struct draw_style dim = host_style(host, ROLE_DIM);
	char size[NUM_SIZE_BYTES];
	uint64_t bytes = 0;
	for (size_t i = 0; pane->n_marked && i < pane->n_shown; i++)
		if (pane->shown[i]->is_marked && !views_files_is_folder(pane->shown[i]) &&
			pane->shown[i]->size_bytes > 0)
			bytes += (uint64_t)pane->shown[i]->size_bytes;
	int col = 0;
	if (pane->is_reading)
		col += pane->n_read
			       ? draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_BUSY),
					 "reading … %zu  ", pane->n_read)
			       : draw_region_text(r, 0, 0, r.cols, host_style(host, ROLE_BUSY),
					 "reading …  ");
	if (pane->n_marked)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_MARKED),
			"%zu marked, %s  ", pane->n_marked, num_format_size(bytes, size));
	if (!pane->is_complete)
		return;
	size_t unseen = pane->listing.n - pane->n_shown;
	col += draw_region_textf(r, 0, col, r.cols - col, dim, "%zu entr%s", pane->n_shown,
		pane->n_shown == 1 ? "y" : "ies");
	if (unseen)
		col += draw_region_textf(
			r, 0, col, r.cols - col, dim, ", %zu not shown", unseen);
	if (pane->listing.n_hidden)
		col += draw_region_textf(r, 0, col, r.cols - col,
			host_style(host, ROLE_WARNING), ", %zu with unsafe names",
			pane->listing.n_hidden);
	if (*pane->filter)
		draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_TEXT), "  /%s",
			pane->filter);
}

void views_files_pane_draw(
	struct views_files_pane *pane, struct draw_region region, bool is_active)
{
	pane->at = region;
	pane->rows_shown = 0;
	lay_columns(pane, region.cols);
	draw_place(pane, draw_region_sub(region, 0, 0, region.cols, 1), is_active);
	draw_header(pane, draw_region_sub(region, 0, 1, region.cols, 1));
	int room = region.rows - HEAD_ROWS - FOOT_ROWS;
	room = room > 0 ? room : 0;
	struct draw_region rows = draw_region_sub(region, 0, HEAD_ROWS, region.cols, room);
	size_t n = views_files_pane_rows(pane);
	if (pane->cursor < pane->top)
		pane->top = pane->cursor;
	if (room && pane->cursor >= pane->top + (size_t)room)
		pane->top = pane->cursor - (size_t)room + 1;
	if (pane->top + (size_t)room > n)
		pane->top = n > (size_t)room ? n - (size_t)room : 0;
	for (int i = 0; i < room && pane->top + (size_t)i < n; i++) {
		draw_entry(pane, rows, i, pane->top + (size_t)i, is_active);
		pane->rows_shown++;
	}
	if (pane->err.code != ERR_NONE)
		draw_error(pane, draw_region_sub(rows, 0, pane->rows_shown + 1, rows.cols,
					 rows.rows - pane->rows_shown - 1));
	else if (pane->is_complete && !pane->n_shown && room > pane->rows_shown)
		draw_region_text(rows, pane->rows_shown, 1, rows.cols - 1,
			host_style(pane->host, ROLE_DIM),
			pane->listing.n ? "nothing to show here" : "empty");
	draw_sums(pane, draw_region_sub(region, 0, region.rows - 1, region.cols, 1));
}

bool views_files_pane_row_at(const struct views_files_pane *pane, int col, int row, size_t *out)
{
	if (!draw_region_contains(pane->at, col, row))
		return false;
	int at = row - pane->at.row - HEAD_ROWS;
	if (at < 0 || at >= pane->rows_shown)
		return false;
	*out = pane->top + (size_t)at;
	return true;
}
