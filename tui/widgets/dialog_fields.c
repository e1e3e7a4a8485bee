// SPDX-License-Identifier: Apache-2.0
// How the fields of a dialog are shown.
#include "tui/widgets/dialog_internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

static int label_cols(const struct widget_dialog *d)
{
	int widest = 0;
	for (int i = 0; i < d->n_fields; i++) {
		int cols = d->fields[i].is_switch ? 0 : draw_text_cols(d->fields[i].label);
		widest = cols > widest ? cols : widest;
	}
	return widest;
}

static void draw_field(struct widget_dialog *d, int i, struct draw_region inside, int row,
	const struct draw_theme *theme)
{
	struct widget_field *field = &d->fields[i];
	bool focused = d->focus == i && (d->has_keys || !d->is_surprise);
	struct draw_style plain = theme_style(theme, ROLE_DIALOG);
	field->at = draw_region_sub(inside, 0, row, inside.cols, 1);
	if (field->is_switch) {
		struct draw_style style =
			focused ? theme_style(theme, ROLE_BUTTON_ACTIVE) : plain;
		draw_region_text(
			inside, row, 0, inside.cols, style, field->on ? "[x] " : "[ ] ");
		draw_region_text(inside, row, 4, inside.cols - 4, style, field->label);
		return;
	}
	int labels = label_cols(d);
	if (labels > inside.cols / 2)
		labels = inside.cols / 2;
	draw_region_text(inside, row, 0, labels, plain, field->label);
	widget_edit_draw(&field->edit, inside, row, labels + 1, inside.cols - labels - 1,
		theme_style(theme, ROLE_INPUT), focused);
}

static int rows_of(const struct widget_dialog *d, int i)
{
	return 1 + (d->fields[i].error != NULL);
}

int widget_dialog_field_rows(const struct widget_dialog *d)
{
	int rows = 0;
	for (int i = 0; i < d->n_fields; i++)
		rows += rows_of(d, i);
	return rows;
}

/* The first of those that are shown: the one with the focus is among them, with what is wrong with it. */
static int first_shown(const struct widget_dialog *d, int rows)
{
	int first = d->focus < d->n_fields ? d->focus : d->n_fields - 1;
	int used = first >= 0 ? rows_of(d, first) : 0;
	while (first > 0 && used + rows_of(d, first - 1) <= rows)
		used += rows_of(d, --first);
	return first > 0 ? first : 0;
}

void widget_dialog_draw_fields(struct widget_dialog *d, struct draw_region inside, int row,
	int rows, const struct draw_theme *theme)
{
	struct draw_style bad = theme_style(theme, ROLE_DIALOG);
	struct draw_style border = theme_style(theme, ROLE_DIALOG_BORDER);
	bad.fg = theme_style(theme, ROLE_ERROR).fg;
	bad.attrs |= theme_style(theme, ROLE_ERROR).attrs;
	int first = first_shown(d, rows), end = row + rows, top = row, i;
	for (i = 0; i < d->n_fields; i++)
		d->fields[i].at = (struct draw_region){ 0 };
	for (i = first; i < d->n_fields && row < end; i++) {
		draw_field(d, i, inside, row++, theme);
		if (d->fields[i].error && row < end)
			draw_region_textf(inside, row++, 2, inside.cols - 2, bad, "! %s",
				d->fields[i].error);
	}
	if (first > 0)
		draw_region_text(inside, top, inside.cols - 1, 1, border, "↑");
	if (i < d->n_fields && end > top)
		draw_region_text(inside, end - 1, inside.cols - 1, 1, border, "↓");
}

void widget_dialog_set_field(struct widget_dialog *d, int field, const char *value)
{
	if (field < 0 || field >= d->n_fields || d->fields[field].is_switch)
		return;
	widget_edit_deinit(&d->fields[field].edit);
	widget_edit_init(&d->fields[field].edit, value);
}
