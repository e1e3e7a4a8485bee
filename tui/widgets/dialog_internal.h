// SPDX-License-Identifier: Apache-2.0
/* The inside of a dialog: dialog.c has its life, keys and frame, dialog_fields.c how its fields are shown. */
#pragma once

#include "engine/base/str.h"
#include "tui/widgets/dialog.h"
#include "tui/widgets/edit.h"

struct widget_field {
	char *label;
	char *error; /* NULL: none */
	bool is_switch, on;
	struct widget_edit edit;
	struct draw_region at; /* of the last draw */
};

struct widget_button {
	char *label; /* without '&' */
	uint32_t letter;
	int letter_at;
	struct draw_region at;
};

struct widget_dialog {
	char *title;
	const void *owner;
	bool is_error;
	struct str text;
	struct widget_field fields[DIALOG_FIELDS_MAX];
	int n_fields;
	struct widget_button buttons[DIALOG_BUTTONS_MAX];
	int n_buttons;
	int focus; /* fields, then buttons */
	int scroll, scroll_max;
	int answer;
	/* nobody asked for it */
	bool is_surprise, has_keys, at_bottom;
	char *footer, *suffix;
	uint64_t serial;
	struct draw_region at; /* of the last draw */
	widget_dialog_check_fn *check;
	widget_dialog_done_fn *done;
	void *arg;
	void (*arg_free)(void *arg);
};

/* dialog_fields.c. rows: how many there are for them; those around the focus are shown, and what does not fit is told by
 * arrows. */
int widget_dialog_field_rows(
	const struct widget_dialog *dialog); /* with what is wrong with them */
void widget_dialog_draw_fields(struct widget_dialog *dialog, struct draw_region inside, int row,
	int rows, const struct draw_theme *theme);
