// SPDX-License-Identifier: Apache-2.0
// One editable line, with the keys that every shell has.
#include "tui/widgets/edit.h"

#include "engine/base/safe_text.h"

void widget_edit_init(struct widget_edit *edit, const char *text)
{
	str_init(&edit->text, EDIT_BYTES_MAX);
	widget_edit_set(edit, text ? text : "");
}

void widget_edit_deinit(struct widget_edit *edit)
{
	str_deinit(&edit->text);
}

void widget_edit_set(struct widget_edit *edit, const char *text)
{
	str_clear(&edit->text);
	str_add(&edit->text, text);
	edit->at = edit->text.n;
}

static size_t before(const struct widget_edit *edit, size_t at)
{
	if (at == 0)
		return 0;
	do
		at--;
	while (at > 0 && ((unsigned char)edit->text.p[at] & 0xC0) == 0x80);
	return at;
}

static size_t after(const struct widget_edit *edit, size_t at)
{
	if (at >= edit->text.n)
		return edit->text.n;
	do
		at++;
	while (at < edit->text.n && ((unsigned char)edit->text.p[at] & 0xC0) == 0x80);
	return at;
}

static void cut(struct widget_edit *edit, size_t from, size_t to)
{
	struct str *text = &edit->text;
	memmove(text->p + from, text->p + to, text->n - to + 1);
	text->n -= to - from;
	edit->at = from;
}

static void insert(struct widget_edit *edit, const char *bytes, size_t n)
{
	struct str *text = &edit->text;
	if (text->n + n > EDIT_BYTES_MAX)
		return;
	char tail[EDIT_BYTES_MAX + 1];
	size_t n_tail = text->n - edit->at;
	memcpy(tail, text->p + edit->at, n_tail);
	text->n = edit->at;
	text->p[text->n] = 0;
	text->truncated = false;
	str_add_bytes(text, bytes, n);
	edit->at = text->n;
	str_add_bytes(text, tail, n_tail);
}

void widget_edit_insert(struct widget_edit *edit, struct slice text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '\r' || c == '\n' || c == '\t')
			c = ' ';
		if (c == 0)
			continue;
		insert(edit, &c, 1);
	}
}

static size_t word_start(const struct widget_edit *edit)
{
	size_t at = edit->at;
	while (at > 0 && edit->text.p[at - 1] == ' ')
		at--;
	while (at > 0 && edit->text.p[at - 1] != ' ')
		at--;
	return at;
}

static bool control_key(struct widget_edit *edit, uint32_t c)
{
	switch (c) {
	case 'a':
		edit->at = 0;
		return true;
	case 'e':
		edit->at = edit->text.n;
		return true;
	case 'u':
		cut(edit, 0, edit->at);
		return true;
	case 'k':
		cut(edit, edit->at, edit->text.n);
		return true;
	case 'w':
		cut(edit, word_start(edit), edit->at);
		return true;
	case 'b':
		edit->at = before(edit, edit->at);
		return true;
	case 'f':
		edit->at = after(edit, edit->at);
		return true;
	case 'h':
		cut(edit, before(edit, edit->at), edit->at);
		return true;
	default:
		return false;
	}
}

static bool insert_char(struct widget_edit *edit, const struct draw_key *key)
{
	char name[KEY_NAME_BYTES];
	struct draw_key plain = { .codepoint = key->codepoint };
	if (key->codepoint < 0x20 || key->codepoint == 0x7F)
		return false;
	if (key->codepoint == ' ') {
		insert(edit, " ", 1);
		return true;
	}
	draw_key_format(&plain, name);
	insert(edit, name, strlen(name));
	return true;
}

bool widget_edit_key(struct widget_edit *edit, const struct draw_key *key)
{
	if (key->sym == KEY_NONE) {
		if (key->mods & MOD_CTRL)
			return control_key(edit, key->codepoint);
		return !(key->mods & MOD_ALT) && insert_char(edit, key);
	}
	switch (key->sym) {
	case KEY_SYM_LEFT:
		edit->at = before(edit, edit->at);
		return true;
	case KEY_SYM_RIGHT:
		edit->at = after(edit, edit->at);
		return true;
	case KEY_SYM_HOME:
		edit->at = 0;
		return true;
	case KEY_SYM_END:
		edit->at = edit->text.n;
		return true;
	case KEY_SYM_BACKSPACE:
		cut(edit, before(edit, edit->at), edit->at);
		return true;
	case KEY_SYM_DELETE:
		cut(edit, edit->at, after(edit, edit->at));
		return true;
	default:
		return false;
	}
}

static int cols_between(const struct widget_edit *edit, size_t from, size_t to)
{
	return draw_slice_cols((struct slice){ edit->text.p + from, to - from });
}

void widget_edit_draw(const struct widget_edit *edit, struct draw_region region, int row,
	int col, int cols, struct draw_style style, bool is_focused)
{
	struct draw_region line = draw_region_sub(region, col, row, cols, 1);
	draw_region_fill(line, style);
	size_t start = 0;
	while (start < edit->at && cols_between(edit, start, edit->at) >= cols)
		start = after(edit, start);
	draw_region_slice(line, 0, 0, line.cols, style,
		(struct slice){ edit->text.p + start, edit->text.n - start });
	if (is_focused && line.cols > 0) {
		struct draw_surface_cursor cursor = {
			.col = line.col + cols_between(edit, start, edit->at),
			.row = line.row,
			.shape = CURSOR_BAR
		};
		if (cursor.col >= line.col + line.cols)
			cursor.col = line.col + line.cols - 1;
		draw_surface_set_cursor(region.surface, &cursor);
	}
}
