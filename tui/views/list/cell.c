// SPDX-License-Identifier: Apache-2.0
// What stands where a row and a column meet: a glyph, a picture, a text and a note, in the colour of its tone.
#include "tui/views/list/list.h"

#include "engine/base/clock.h"
#include "tui/widgets/meter.h"
#include "tui/widgets/middle.h"

#include <stdio.h>
#include <string.h>

enum {
	GLYPH_COLS = 2, /* with the blank behind it */
	NOTE_COLS = 5,  /* the most that is kept for one */
	SPARKLINE_COLS = 5,
	GAUGE_COLS = 4,
	PERCENT_COLS = 4,
};

static const struct resource_column *column_of(const struct views_list *list, int i)
{
	return views_list_column(list, i);
}

static int picture_cols(const struct resource_column *column)
{
	return column->picture == RESOURCE_SPARKLINE ? SPARKLINE_COLS
	       : column->picture == RESOURCE_GAUGE   ? GAUGE_COLS
						     : 0;
}

static bool ends_soon(const struct resource_column *column, const void *row)
{
	if (column->format != RESOURCE_LEFT)
		return false;
	struct resource_value value = column->value(row);
	int64_t left = value.number - clock_wall_ms();
	return value.is_known && left > 0 && left < LIST_ENDS_SOON_MS;
}

const char *views_list_cell_text(
	const struct views_list *list, const void *row, int i, char buffer[RESOURCE_CELL_BYTES])
{
	const struct resource_column *column = column_of(list, i);
	if (views_list_is_own(list, i))
		return list->own->text(list, row, buffer);
	const char *text = resource_text(column, row, clock_wall_ms(), buffer);
	if (column->format == RESOURCE_COUNT && strcmp(text, "0") == 0)
		text = "";
	if (text == buffer && ends_soon(column, row)) {
		size_t n = strlen(buffer);
		snprintf(buffer + n, RESOURCE_CELL_BYTES - n, "!");
	}
	if (list->is_dark[i] && !*text)
		text = list->is_dark[i] == LIST_HIDDEN ? "–" : "…";
	return text;
}

int views_list_cell_cols(
	const struct views_list *list, const void *row, int i, const char *text)
{
	const struct resource_column *column = column_of(list, i);
	char buffer[RESOURCE_CELL_BYTES];
	if (!*text)
		return 0;
	int cols = draw_text_cols(text);
	if (picture_cols(column))
		return picture_cols(column) + 1 + (cols > PERCENT_COLS ? cols : PERCENT_COLS);
	const char *note = column->note ? column->note(row, buffer) : "";
	return cols + (column->glyph ? GLYPH_COLS : 0) + (*note ? 1 + draw_text_cols(note) : 0);
}

int views_list_cell_cols_max(const struct resource_column *column)
{
	if (picture_cols(column))
		return picture_cols(column) + 1 + column->cols;
	return column->cols ? column->cols + (column->glyph ? GLYPH_COLS : 0) +
				      (column->note ? NOTE_COLS : 0)
			    : 0;
}

static enum resource_tone tone_of(const struct resource_column *column, const void *row)
{
	enum resource_tone tone = resource_tone(column, row);
	return tone == RESOURCE_PLAIN && ends_soon(column, row) ? RESOURCE_WARNING : tone;
}

/* On the row under the cursor a state keeps its colour: themes see to it that each can be read on the cursor's background
 * (tui/draw/theme.h). */
static struct draw_style on_cursor(
	struct view_host *host, struct draw_style base, enum resource_tone tone)
{
	bool speaks = tone == RESOURCE_GOOD || tone == RESOURCE_BUSY ||
		      tone == RESOURCE_WARNING || tone == RESOURCE_BAD;
	if (speaks)
		base.fg = host_style(host, view_tone_role(tone)).fg;
	return base;
}

static struct draw_style styled(const struct views_list *list, int i, enum resource_tone tone,
	struct draw_style base, enum views_list_look look)
{
	struct view_host *host = list->view.host;
	if (look == LIST_DIMMED)
		return base;
	if (look == LIST_UNDER_CURSOR)
		return on_cursor(host, base, tone);
	if (tone != RESOURCE_PLAIN) {
		base.fg = host_style(host, view_tone_role(tone)).fg;
	} else if (list->is_dark[i]) {
		const struct draw_style disabled = host_style(host, ROLE_DISABLED);
		base.fg = disabled.fg;
		base.attrs |= disabled.attrs;
	}
	return base;
}

static void draw_picture(const struct resource_column *column, struct draw_region r, int at,
	int col, const void *row, struct draw_style style)
{
	int16_t values[RESOURCE_HISTORY_MAX];
	struct resource_value now = column->value(row);
	if (column->picture == RESOURCE_GAUGE && now.is_known)
		widget_meter_gauge(r, at, col, GAUGE_COLS, style, (int)now.number);
	else if (column->picture == RESOURCE_SPARKLINE && column->history)
		widget_meter_sparkline(r, at, col, SPARKLINE_COLS, style, values,
			column->history(row, values, RESOURCE_HISTORY_MAX));
}

/* Sentences end where the room does; names are cut where they tell least. */
static int draw_words(const struct resource_column *column, struct draw_region r, int at,
	int col, int cols, struct draw_style style, const char *text, bool is_sentence)
{
	if (resource_is_right(column)) {
		draw_region_text_right(r, at, col, cols, style, text);
		return cols;
	}
	return is_sentence ? draw_region_text(r, at, col, cols, style, text)
			   : widget_middle_draw(r, at, col, cols, style, text);
}

void views_list_cell_draw(const struct views_list *list, struct draw_region r, int at, int i,
	const void *row, struct draw_style base, enum views_list_look look)
{
	const struct resource_column *column = column_of(list, i);
	char buffer[RESOURCE_CELL_BYTES];
	const char *text = views_list_cell_text(list, row, i, buffer);
	int col = list->column_at[i], end = col + list->column_cols[i];
	if (!*text)
		return;
	struct draw_style style = styled(list, i, tone_of(column, row), base, look);
	if (picture_cols(column)) {
		draw_picture(column, r, at, col, row, style);
		col += picture_cols(column);
	}
	if (column->glyph && end - col > GLYPH_COLS) {
		int cols = draw_region_text(r, at, col, 1, style, column->glyph(row));
		draw_region_text(r, at, col + cols, 1, style, " ");
		col += GLYPH_COLS;
	}
	bool is_sentence = !column->cols && i != list->kind->name_column;
	col += draw_words(column, r, at, col, end - col, style, text, is_sentence);
	const char *note = column->note ? column->note(row, buffer) : "";
	if (*note && end - col > 1)
		draw_region_text(r, at, col + 1, end - col - 1,
			styled(list, i, RESOURCE_WARNING, base, look), note);
}
