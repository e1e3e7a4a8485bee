// SPDX-License-Identifier: Apache-2.0
// The one bar of hints: the keys that work here and now, the most important first, as many as fit; each can be clicked.
// Keys whose command makes no sense for what is selected are left out, those that are not allowed are dim in parentheses.
// What follows the prefix is also shown in a box over the pane, when it is asked for.
#include "tui/client/internal.h"

#include "tui/draw/border.h"

#include <string.h>

enum { HINTS_MAX = 48, GAP = 2, BOX_KEY_COLS = 12, BOX_CELL_COLS = 38, BOX_ROWS_MAX = 14 };

struct hint {
	const struct view_key_row *row;
	bool can, is_kept; /* kept: never the one that is left out for room */
};

struct hints {
	struct hint list[HINTS_MAX];
	size_t n;
};

static bool is_kept(const struct view_key_row *row)
{
	bool is_help = strcmp(row->command, "help") == 0;
	return (row->scope == SCOPE_GLOBAL && strcmp(row->command, "palette") == 0) ||
	       ((row->scope == SCOPE_GLOBAL || row->scope == SCOPE_PREFIX) && is_help);
}

/* A key of everywhere that means something else here. */
static bool is_shadowed(const struct view_key_row *row, enum view_key_scope here)
{
	struct draw_key pressed;
	return row->scope == SCOPE_GLOBAL && draw_key_parse(row->key, &pressed) &&
	       view_key_lookup(here, &pressed);
}

static void add_scope(const struct client *client, struct hints *hints,
	enum view_key_scope scope, enum view_key_scope here)
{
	size_t n;
	const struct view_key_row *rows = view_keys(&n);
	const struct view *view = client_focused(client);
	for (size_t i = 0; i < n && hints->n < HINTS_MAX; i++) {
		if (rows[i].scope != scope || !rows[i].hint || is_shadowed(&rows[i], here) ||
			!workspace_command_fits(client->workspace, view, rows[i].command))
			continue;
		hints->list[hints->n++] = (struct hint){ &rows[i],
			workspace_command_can(client->workspace, view, rows[i].command, NULL),
			is_kept(&rows[i]) };
	}
}

static int cols_of(const struct hint *hint)
{
	return draw_text_cols(hint->row->key) + 1 + draw_text_cols(hint->row->hint) +
	       (hint->can ? 0 : 2) + GAP;
}

static int cols_of_all(const struct hints *hints)
{
	int cols = 0;
	for (size_t i = 0; i < hints->n; i++)
		cols += cols_of(&hints->list[i]);
	return cols - GAP;
}

static void leave_out(struct hints *hints, size_t at)
{
	memmove(&hints->list[at], &hints->list[at + 1],
		(hints->n - at - 1) * sizeof hints->list[0]);
	hints->n--;
}

/* From the least important on: what is not allowed first, then whatever is not kept. */
static void fit(struct hints *hints, int cols)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = hints->n; i-- > 0 && cols_of_all(hints) > cols;)
			if (!hints->list[i].is_kept && (pass || !hints->list[i].can))
				leave_out(hints, i);
}

static void place(struct client *client, int col, int cols, const char *command)
{
	if (client->n_hints < CLIENT_HINTS_MAX)
		client->hints[client->n_hints++] = (struct client_hint){ col, cols, command };
}

static void draw_hint(
	struct client *client, struct draw_region bar, int *col, const struct hint *hint)
{
	const struct view_key_row *row = hint->row;
	struct draw_style plain = theme_style(&client->theme, ROLE_BAR);
	int from = *col;
	if (!hint->can) { /* not by its colour alone */
		*col += draw_region_textf(bar, 0, *col, bar.cols - *col,
			theme_style(&client->theme, ROLE_BAR_DISABLED), "(%s %s)", row->key,
			row->hint);
	} else {
		*col += draw_region_text(bar, 0, *col, bar.cols - *col,
				theme_style(&client->theme, ROLE_BAR_KEY), row->key) +
			1;
		*col += draw_region_text(bar, 0, *col, bar.cols - *col, plain, row->hint);
		place(client, from, *col - from, row->command);
	}
	*col += GAP;
}

static int draw_words(struct client *client, struct draw_region bar, int col, const char *key,
	const char *does)
{
	if (col + draw_text_cols(key) + 1 + draw_text_cols(does) > bar.cols)
		return col;
	col += draw_region_text(bar, 0, col, bar.cols - col,
		       theme_style(&client->theme, ROLE_BAR_KEY), key) +
	       1;
	return col + GAP +
	       draw_region_text(bar, 0, col, bar.cols - col,
		       theme_style(&client->theme, ROLE_BAR), does);
}

/* A dialog has the keys. */
static void draw_dialog_words(struct client *client, struct draw_region bar)
{
	bool has_fields = widget_dialog_has_fields(client->dialogs[client->n_dialogs - 1]);
	int col = draw_words(client, bar, 1, "enter", has_fields ? "do it" : "press");
	col = draw_words(client, bar, col, "esc", "leave it");
	col = draw_words(client, bar, col, "tab", has_fields ? "next field" : "next button");
	if (has_fields)
		draw_words(client, bar, col, "space", "switch");
}

void client_hints_draw(struct client *client, struct draw_region bar)
{
	struct hints hints = { .n = 0 };
	enum view_key_scope scope =
		client->is_prefix ? SCOPE_PREFIX : view_scope(client_focused(client));
	bool is_shell = scope == SCOPE_SHELL;
	bool is_alone = scope == SCOPE_PREFIX || scope == SCOPE_SCROLL || scope == SCOPE_DEAD;
	client->n_hints = 0;
	client->hint_row = bar.row;
	draw_region_fill(bar, theme_style(&client->theme, ROLE_BAR));
	if (client->n_dialogs) {
		draw_dialog_words(client, bar);
		return;
	}
	if (scope == SCOPE_TYPING) {
		int col = draw_words(client, bar, 1, "↓", "the next one");
		col = draw_words(client, bar, col, "enter", "take it");
		draw_words(client, bar, col, "esc", "end it");
		return;
	}
	int col = 1;
	if (is_shell)
		col = draw_words(client, bar, col, view_key_prefix_names(), "then");
	add_scope(client, &hints, is_shell ? SCOPE_PREFIX : scope, scope);
	if (!is_alone && !is_shell)
		add_scope(client, &hints, SCOPE_GLOBAL, scope);
	fit(&hints, bar.cols - col - 1);
	for (size_t i = 0; i < hints.n; i++)
		draw_hint(client, bar, &col, &hints.list[i]);
}

bool client_hints_press(struct client *client, const struct draw_mouse *mouse)
{
	if (mouse->row != client->hint_row || client->hint_row == 0)
		return false;
	for (size_t i = 0; mouse->button == 1 && i < client->n_hints; i++) {
		const struct client_hint *hint = &client->hints[i];
		if (mouse->col < hint->col || mouse->col >= hint->col + hint->cols)
			continue;
		workspace_command_try(client->workspace, hint->command);
		break;
	}
	return true;
}

/* ---- what follows the prefix */

/* Keys of one command stand together. */
static bool is_first(const struct view_key_row *rows, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (rows[i].scope == SCOPE_PREFIX &&
			strcmp(rows[i].command, rows[at].command) == 0)
			return false;
	return true;
}

static void keys_of(const struct view_key_row *rows, size_t n, size_t at, struct str *out)
{
	for (size_t i = at; i < n; i++)
		if (rows[i].scope == SCOPE_PREFIX &&
			strcmp(rows[i].command, rows[at].command) == 0)
			str_addf(out, "%s%s", i == at ? "" : " ", rows[i].key);
}

/* Tabs by number are one entry. */
static bool is_shown(const struct view_key_row *rows, size_t at)
{
	bool is_number = strncmp(rows[at].command, "tab ", 4) == 0 &&
			 rows[at].command[4] >= '2' && rows[at].command[4] <= '9';
	return rows[at].scope == SCOPE_PREFIX && is_first(rows, at) && !is_number;
}

void client_hints_draw_prefix(struct client *client, struct draw_region screen)
{
	size_t n, n_shown = 0, at = 0;
	const struct view_key_row *rows = view_keys(&n);
	for (size_t i = 0; i < n; i++)
		n_shown += is_shown(rows, i);
	int columns = (screen.cols - 4) / BOX_CELL_COLS;
	columns = columns < 1 ? 1 : columns > 3 ? 3 : columns;
	int in_rows = ((int)n_shown + columns - 1) / columns;
	int room = screen.rows - 4;
	in_rows = in_rows < room ? in_rows : room;
	int cols = columns * BOX_CELL_COLS + 3;
	cols = cols < screen.cols ? cols : screen.cols;
	struct draw_region box = draw_region_sub(
		screen, (screen.cols - cols) / 2, screen.rows - in_rows - 3, cols, in_rows + 2);
	draw_region_fill(box, theme_style(&client->theme, ROLE_DIALOG));
	struct draw_region in =
		draw_border_box(box, theme_style(&client->theme, ROLE_DIALOG_BORDER),
			theme_style(&client->theme, ROLE_DIALOG_TITLE),
			view_key_scope_title(SCOPE_PREFIX));
	draw_border_title(box, box.rows - 1, theme_style(&client->theme, ROLE_DIALOG_TITLE),
		"? all keys   esc nothing");
	for (size_t i = 0; i < n; i++) {
		if (!is_shown(rows, i))
			continue;
		struct str keys;
		str_init(&keys, 256);
		keys_of(rows, n, i, &keys);
		int col = 1 + (int)at / in_rows * BOX_CELL_COLS, row = (int)at % in_rows;
		if ((int)at++ / in_rows < columns) {
			draw_region_text(in, row, col, BOX_KEY_COLS - 1,
				theme_style(&client->theme, ROLE_DIALOG_TITLE), keys.p);
			draw_region_text(in, row, col + BOX_KEY_COLS,
				BOX_CELL_COLS - BOX_KEY_COLS - 1,
				theme_style(&client->theme, ROLE_DIALOG), rows[i].help);
		}
		str_deinit(&keys);
	}
	struct draw_surface_cursor hidden = { 0 };
	draw_surface_set_cursor(client->surface, &hidden);
}
