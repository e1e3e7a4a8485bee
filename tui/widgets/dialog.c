// SPDX-License-Identifier: Apache-2.0
// Dialogs. Focus goes round through fields and buttons; positions of the last draw serve the mouse.
#include "tui/widgets/dialog_internal.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "tui/draw/border.h"
#include "tui/widgets/wrap.h"

#include <ctype.h>
#include <stdlib.h>

enum { LINES_MAX = 200, TEXT_BYTES_MAX = 16 << 10, LINE_BYTES_MAX = 1000, BOX_COLS_MAX = 76 };

struct widget_dialog *widget_dialog_new(
	const char *title, widget_dialog_done_fn *done, void *arg, void (*arg_free)(void *arg))
{
	struct widget_dialog *d = x_calloc(1, sizeof *d);
	d->title = x_strdup(title);
	str_init(&d->text, TEXT_BYTES_MAX);
	d->done = done;
	d->arg = arg;
	d->arg_free = arg_free;
	d->answer = DIALOG_CANCELLED;
	return d;
}

void widget_dialog_free(struct widget_dialog *d)
{
	if (!d)
		return;
	for (int i = 0; i < d->n_fields; i++) {
		free(d->fields[i].label);
		free(d->fields[i].error);
		widget_edit_deinit(&d->fields[i].edit);
	}
	for (int i = 0; i < d->n_buttons; i++)
		free(d->buttons[i].label);
	if (d->arg_free)
		d->arg_free(d->arg);
	str_deinit(&d->text);
	free(d->title);
	free(d->footer);
	free(d->suffix);
	free(d);
}

void widget_dialog_set_owner(struct widget_dialog *d, const void *owner)
{
	d->owner = owner;
}

const void *widget_dialog_owner(const struct widget_dialog *d)
{
	return d->owner;
}

void widget_dialog_set_error(struct widget_dialog *d, bool is_error)
{
	d->is_error = is_error;
}

/* Lines are told apart by line ends, so those of the text are made visible before it is added. */
static void add_line(struct widget_dialog *d, const char *text)
{
	size_t n = 0;
	if (d->text.n)
		str_add_char(&d->text, '\n');
	for (; text[n] && n < LINE_BYTES_MAX; n++)
		if (text[n] == '\n')
			str_add(&d->text, "^J");
		else
			str_add_char(&d->text, text[n]);
	if (text[n]) /* what follows must not be pushed out */
		str_add(&d->text, "…");
}

void widget_dialog_add_text(struct widget_dialog *d, const char *text)
{
	add_line(d, text);
}

void widget_dialog_clear_text(struct widget_dialog *d)
{
	str_clear(&d->text);
}

void widget_dialog_add_textf(struct widget_dialog *d, const char *format, ...)
{
	struct str line;
	va_list args;
	str_init(&line, TEXT_BYTES_MAX);
	va_start(args, format);
	str_vaddf(&line, format, args);
	va_end(args);
	add_line(d, line.p);
	str_deinit(&line);
}

int widget_dialog_add_field(struct widget_dialog *d, const char *label, const char *value)
{
	if (d->n_fields == DIALOG_FIELDS_MAX)
		return -1;
	struct widget_field *field = &d->fields[d->n_fields];
	field->label = x_strdup(label);
	widget_edit_init(&field->edit, value);
	return d->n_fields++;
}

int widget_dialog_add_switch(struct widget_dialog *d, const char *label, bool on)
{
	int i = widget_dialog_add_field(d, label, "");
	if (i >= 0) {
		d->fields[i].is_switch = true;
		d->fields[i].on = on;
	}
	return i;
}

static bool has_letter(const struct widget_dialog *d, uint32_t letter)
{
	for (int i = 0; i < d->n_buttons; i++)
		if (d->buttons[i].letter == letter)
			return true;
	return false;
}

int widget_dialog_add_button(struct widget_dialog *d, const char *label)
{
	if (d->n_buttons == DIALOG_BUTTONS_MAX)
		return -1;
	struct widget_button *button = &d->buttons[d->n_buttons];
	button->label = x_strdup(label);
	button->letter_at = -1;
	char *mark = strchr(button->label, '&');
	if (mark) {
		memmove(mark, mark + 1, strlen(mark));
		size_t n = strlen(button->label), at = (size_t)(mark - button->label);
		for (size_t i = 0; i < n && button->letter_at < 0; i++) {
			size_t k = (at + i) % n;
			unsigned char c = (unsigned char)button->label[k];
			if (!isalnum(c) || has_letter(d, (uint32_t)tolower(c)))
				continue;
			button->letter = (uint32_t)tolower(c);
			button->letter_at = (int)k;
		}
	}
	return d->n_buttons++;
}

void widget_dialog_focus_button(struct widget_dialog *d, int button)
{
	d->focus = d->n_fields + button;
}

void widget_dialog_set_field_error(struct widget_dialog *d, int field, const char *text)
{
	if (field < 0 || field >= d->n_fields)
		return;
	free(d->fields[field].error);
	d->fields[field].error = text && *text ? x_strdup(text) : NULL;
	if (d->fields[field].error)
		d->focus = field;
}

void widget_dialog_set_check(struct widget_dialog *d, widget_dialog_check_fn *check)
{
	d->check = check;
}

/* ---- nobody asked for it */

static void set_string(char **at, const char *text)
{
	char *copy = x_strdup(text);
	free(*at);
	*at = copy;
}

void widget_dialog_set_serial(struct widget_dialog *d, uint64_t serial)
{
	d->serial = serial;
}

uint64_t widget_dialog_serial(const struct widget_dialog *d)
{
	return d->serial;
}

void widget_dialog_set_surprise(
	struct widget_dialog *d, const struct widget_dialog_surprise *surprise)
{
	d->is_surprise = true;
	d->has_keys = surprise->has_keys;
	d->at_bottom = surprise->at_bottom;
	set_string(&d->footer, surprise->footer);
	set_string(&d->suffix, surprise->suffix);
}

bool widget_dialog_has_fields(const struct widget_dialog *d)
{
	for (int i = 0; i < d->n_fields; i++)
		if (!d->fields[i].is_switch)
			return true;
	return false;
}

bool widget_dialog_is_notice(const struct widget_dialog *d)
{
	return d->n_buttons <= 1 && !d->n_fields;
}

struct draw_region widget_dialog_place(const struct widget_dialog *d)
{
	return d->at;
}

const char *widget_dialog_field(const struct widget_dialog *d, int field)
{
	return d->fields[field].edit.text.p;
}

bool widget_dialog_switch(const struct widget_dialog *d, int field)
{
	return d->fields[field].on;
}

static int fold_all(const struct widget_dialog *d, int cols, struct slice lines[LINES_MAX])
{
	struct slice rest = { d->text.p, d->text.n };
	int n = 0;
	while (rest.n && n < LINES_MAX) {
		size_t skip, bytes = widget_wrap_next(rest, cols, &skip);
		lines[n++] = (struct slice){ rest.p, bytes };
		rest.p += bytes + skip;
		rest.n -= bytes + skip;
	}
	return n;
}

static int button_cols(const struct widget_dialog *d, int i)
{
	return draw_text_cols(d->buttons[i].label) + 4;
}

static int buttons_cols(const struct widget_dialog *d)
{
	int sum = 0;
	for (int i = 0; i < d->n_buttons; i++)
		sum += button_cols(d, i) + (i > 0);
	return sum;
}

/* How many buttons from `first` on fit into one row, at least one. */
static int buttons_of_row(const struct widget_dialog *d, int first, int cols, int *used)
{
	int n = 0;
	*used = 0;
	while (first + n < d->n_buttons) {
		int more = button_cols(d, first + n) + (n > 0);
		if (n && *used + more > cols)
			break;
		*used += more;
		n++;
	}
	return n;
}

static int button_rows(const struct widget_dialog *d, int cols)
{
	int rows = 0, used;
	for (int i = 0; i < d->n_buttons; rows++)
		i += buttons_of_row(d, i, cols, &used);
	return rows;
}

static void draw_button(
	struct widget_dialog *d, int i, struct draw_region at, const struct draw_theme *theme)
{
	struct widget_button *button = &d->buttons[i];
	bool is_focused = d->focus == d->n_fields + i && (d->has_keys || !d->is_surprise);
	struct draw_style style =
		theme_style(theme, is_focused ? ROLE_BUTTON_ACTIVE : ROLE_BUTTON);
	button->at = at;
	draw_region_fill(at, style);
	draw_region_text(at, 0, 0, 2, style, is_focused ? "[ " : "  ");
	draw_region_text(at, 0, 2, at.cols - 4, style, button->label);
	draw_region_text(at, 0, at.cols - 2, 2, style, is_focused ? " ]" : "  ");
	if (button->letter_at >= 0 && !d->is_surprise)
		draw_region_add_attrs(at, 0, 2 + button->letter_at, 1, DRAW_UNDERLINE);
}

static void draw_buttons(struct widget_dialog *d, struct draw_region inside, int row,
	const struct draw_theme *theme)
{
	for (int i = 0; i < d->n_buttons; row++) {
		int used, n = buttons_of_row(d, i, inside.cols, &used);
		int col = inside.cols > used ? inside.cols - used : 0;
		for (int end = i + n; i < end; i++) {
			int cols = button_cols(d, i);
			draw_button(d, i, draw_region_sub(inside, col, row, cols, 1), theme);
			col += cols + 1;
		}
	}
}

static void title_of(const struct widget_dialog *d, struct str *out)
{
	str_add(out, d->title);
	if (d->suffix)
		str_add(out, d->suffix);
}

/* The columns inside of a box without fields: no wider than what it says. */
static int needed_cols(const struct widget_dialog *d, const struct slice *lines, int n_lines,
	const char *heading)
{
	int widest = buttons_cols(d);
	for (int i = 0; i < n_lines; i++) {
		char *line = x_strndup(lines[i].p, lines[i].n);
		int used = draw_text_cols(line);
		widest = used > widest ? used : widest;
		free(line);
	}
	int title = draw_text_cols(heading) + 4;
	widest = title > widest ? title : widest;
	int footer = d->footer ? draw_text_cols(d->footer) + 4 : 0;
	return footer > widest ? footer : widest;
}

void widget_dialog_draw(
	struct widget_dialog *d, struct draw_region screen, const struct draw_theme *theme)
{
	struct slice lines[LINES_MAX];
	struct str heading;
	str_init(&heading, 1024);
	title_of(d, &heading);
	int cols = screen.cols - 4 < BOX_COLS_MAX ? screen.cols - 4 : BOX_COLS_MAX;
	if (cols < 12)
		cols = screen.cols;
	int inner = cols - 4;
	int n_lines = fold_all(d, inner, lines);
	if (!d->n_fields) {
		int needed = needed_cols(d, lines, n_lines, heading.p);
		inner = needed < inner ? needed : inner;
		cols = inner + 4;
	}
	int n_rows = button_rows(d, inner);
	int gap = !d->is_surprise; /* the less it covers the better */
	int fields = widget_dialog_field_rows(d);
	int frame = (fields ? gap : 0) + (d->n_buttons ? gap + n_rows : 0) + 2;
	int most = screen.rows - frame - (n_lines > 0); /* a line of text stays */
	if (fields > 0 && fields > most)
		fields = most > 1 ? most : 1;
	int fixed = fields + frame;
	int room = screen.rows - fixed;
	room = room < 1 ? 1 : room;
	int shown = n_lines < room ? n_lines : room;
	int rows = shown + fixed;
	d->scroll_max = n_lines - shown;
	if (d->scroll > d->scroll_max)
		d->scroll = d->scroll_max;
	int top = !d->is_surprise ? (screen.rows - rows) / 2
		  : d->at_bottom  ? screen.rows - rows
				  : 0;
	struct draw_region box = draw_region_sub(
		screen, (screen.cols - cols) / 2, top > 0 ? top : 0, cols, rows);
	d->at = box;
	struct draw_style plain = theme_style(theme, ROLE_DIALOG);
	draw_region_fill(box, plain);
	struct draw_style border = theme_style(theme, ROLE_DIALOG_BORDER);
	struct draw_style title = theme_style(theme, ROLE_DIALOG_TITLE);
	if (d->is_error) {
		border.fg = theme_style(theme, ROLE_ERROR).fg;
		title.fg = border.fg;
		title.attrs |= theme_style(theme, ROLE_ERROR).attrs;
	}
	struct draw_region inside = draw_border_box(box, border, title, heading.p);
	draw_border_title(box, box.rows - 1, title, d->footer);
	inside = draw_region_sub(inside, 1, 0, inside.cols - 2, inside.rows);
	str_deinit(&heading);
	struct draw_surface_cursor none = { 0 };
	if (!d->is_surprise || d->has_keys)
		draw_surface_set_cursor(screen.surface, &none);
	for (int i = 0; i < shown; i++)
		draw_region_slice(inside, i, 0, inside.cols, plain, lines[i + d->scroll]);
	if (d->scroll < d->scroll_max && shown > 0)
		draw_region_text(inside, shown - 1, inside.cols - 1, 1, border, "↓");
	widget_dialog_draw_fields(
		d, inside, shown + (d->n_fields && shown ? gap : 0), fields, theme);
	if (d->n_buttons)
		draw_buttons(d, inside, inside.rows - n_rows, theme);
}

static void move_focus(struct widget_dialog *d, int by)
{
	int n = d->n_fields + d->n_buttons;
	if (n)
		d->focus = (d->focus + by + n) % n;
}

static bool press(struct widget_dialog *d, int button)
{
	struct err err = { 0 };
	int field = -1;
	if (button < 0 || button >= d->n_buttons)
		return false;
	for (int i = 0; i < d->n_fields; i++)
		widget_dialog_set_field_error(d, i, NULL);
	if (button == 0 && d->check && !d->check(d->arg, d, &field, &err)) {
		widget_dialog_set_field_error(d, field < 0 ? 0 : field, err.msg);
		return false;
	}
	d->answer = button;
	return true;
}

static bool letter_key(struct widget_dialog *d, const struct draw_key *key)
{
	bool in_field = d->focus < d->n_fields && !d->fields[d->focus].is_switch;
	if (key->sym != KEY_NONE || in_field || d->is_surprise)
		return false;
	uint32_t c =
		key->codepoint < 128 ? (uint32_t)tolower((int)key->codepoint) : key->codepoint;
	for (int i = 0; i < d->n_buttons; i++)
		if (d->buttons[i].letter && d->buttons[i].letter == c)
			return press(d, i);
	return false;
}

static bool is_cancel(const struct draw_key *key)
{
	return key->sym == KEY_SYM_ESCAPE ||
	       (key->sym == KEY_NONE && key->mods == MOD_CTRL && key->codepoint == 'c');
}

bool widget_dialog_key(struct widget_dialog *d, const struct draw_key *key)
{
	struct widget_field *field = d->focus < d->n_fields ? &d->fields[d->focus] : NULL;
	if (is_cancel(key)) {
		if (d->is_surprise) /* whoever has lost the box from their eyes must not answer it */
			return false;
		d->answer = DIALOG_CANCELLED;
		return true;
	}
	if (letter_key(d, key))
		return true;
	if (field && field->is_switch && key->sym == KEY_NONE && key->codepoint == ' ') {
		field->on = !field->on;
		return false;
	}
	if (field && !field->is_switch && widget_edit_key(&field->edit, key))
		return false;
	switch (key->sym) {
	case KEY_SYM_ENTER:
		return press(d, field ? 0 : d->focus - d->n_fields);
	case KEY_SYM_TAB:
		move_focus(d, key->mods & MOD_SHIFT ? -1 : 1);
		return false;
	case KEY_SYM_DOWN:
		if (!d->n_fields && d->scroll < d->scroll_max)
			d->scroll++;
		else if (d->n_fields)
			move_focus(d, 1);
		return false;
	case KEY_SYM_UP:
		if (!d->n_fields && d->scroll > 0)
			d->scroll--;
		else if (d->n_fields)
			move_focus(d, -1);
		return false;
	case KEY_SYM_LEFT:
		move_focus(d, -1);
		return false;
	case KEY_SYM_RIGHT:
		move_focus(d, 1);
		return false;
	default:
		if (key->sym == KEY_NONE && key->codepoint == ' ' && !field && !d->is_surprise)
			return press(d, d->focus - d->n_fields);
		return false;
	}
}

bool widget_dialog_mouse(struct widget_dialog *d, const struct draw_mouse *mouse)
{
	if (mouse->action == MOUSE_WHEEL_UP && d->scroll > 0)
		d->scroll--;
	if (mouse->action == MOUSE_WHEEL_DOWN && d->scroll < d->scroll_max)
		d->scroll++;
	if (mouse->action != MOUSE_PRESS || mouse->button != 1)
		return false;
	for (int i = 0; i < d->n_buttons; i++)
		if (draw_region_contains(d->buttons[i].at, mouse->col, mouse->row))
			return press(d, i);
	for (int i = 0; i < d->n_fields; i++)
		if (draw_region_contains(d->fields[i].at, mouse->col, mouse->row)) {
			d->focus = i;
			if (d->fields[i].is_switch)
				d->fields[i].on = !d->fields[i].on;
		}
	return false;
}

void widget_dialog_paste(struct widget_dialog *d, struct slice text)
{
	if (d->focus < d->n_fields && !d->fields[d->focus].is_switch)
		widget_edit_insert(&d->fields[d->focus].edit, text);
}

void widget_dialog_answer(struct widget_dialog *d)
{
	if (d->done)
		d->done(d->arg, d, d->answer);
}
