// SPDX-License-Identifier: Apache-2.0
// What the person did not ask for.
//
//   waiting ── no dialog, no prompt ──▶ shown ── `answer`, a click ──▶ has the keyboard ── Enter, a button ──▶ answered
//                                         ▲──────── Esc, the prefix ────────┘
#include "tui/client/surprise.h"

#include "engine/base/clock.h"
#include "tui/client/internal.h"

#include <stdio.h>

enum { ROWS_SHOWN_MAX = 14, ROWS_MIN = 4, STAYS_MS = 200 };

static struct widget_dialog *shown(const struct client *client)
{
	bool is_free = !client->n_dialogs && client->prompt.kind == PROMPT_NONE;
	return is_free ? workspace_surprise(client->workspace) : NULL;
}

static bool is_guarded(const struct client *client)
{
	const struct client_surprise *s = &client->surprise;
	return !s->since_ms || clock_mono_ms() - s->since_ms < SURPRISE_GUARD_MS;
}

void client_surprise_hide(struct client *client)
{
	client->surprise.since_ms = 0;
	client->surprise.has_keys = false;
}

void client_surprise_event(struct client *client, enum workspace_surprise_event event)
{
	struct client_surprise *s = &client->surprise;
	/* it vanishes under the fingers: what they type next was for it */
	if (event == WORKSPACE_SURPRISE_DROPPED && s->has_keys)
		s->hush_until_ms = clock_mono_ms() + SURPRISE_GUARD_MS;
	if (event == WORKSPACE_SURPRISE_CAME)
		s->is_at_bottom = true;
	client_surprise_hide(client);
}

/* The next of the same asker has the keyboard at once, after its pause: sixty conflicts of a copy are one errand. */
static void answer(struct client *client)
{
	struct client_surprise *s = &client->surprise;
	s->last_owner = workspace_surprise_answer(client->workspace);
	s->stays_until_ms = s->last_owner ? clock_mono_ms() + STAYS_MS : 0;
}

/* ---- the picture */

/* Where somebody types, Esc is for what they type into. */
static bool may_dismiss(const struct client *client)
{
	enum view_key_scope scope = view_scope(client_focused(client));
	return scope != SCOPE_SHELL && scope != SCOPE_TYPING && scope != SCOPE_SCROLL &&
	       scope != SCOPE_DEAD;
}

static void show_who(struct client *client, struct widget_dialog *dialog)
{
	struct client_surprise *s = &client->surprise;
	char suffix[64] = "", footer[96];
	size_t tab = workspace_tabs_number_of(client->workspace, widget_dialog_owner(dialog));
	int n = 0;
	if (tab)
		n = snprintf(suffix, sizeof suffix, " · tab %zu", tab);
	size_t waiting = workspace_n_surprises(client->workspace);
	if (waiting > 1)
		snprintf(suffix + n, sizeof suffix - (size_t)n, " · 1 of %zu", waiting);
	if (s->has_keys)
		snprintf(footer, sizeof footer, "%s",
			is_guarded(client) ? "a moment …"
					   : "arrows and enter answer, esc goes back");
	else if (widget_dialog_is_notice(dialog) && may_dismiss(client))
		snprintf(footer, sizeof footer, "esc closes it");
	else
		snprintf(footer, sizeof footer, "%s a answers", view_key_prefix_name());
	const struct widget_dialog_surprise how = { footer, suffix, s->has_keys,
		s->is_at_bottom };
	widget_dialog_set_surprise(dialog, &how);
}

/* The rows above or below the cursor. */
static struct draw_region beside(struct draw_region area, int cursor_row, bool is_below)
{
	int at = cursor_row - area.row;
	int rows = is_below ? area.rows - at - 1 : at;
	rows = rows < ROWS_SHOWN_MAX ? rows : ROWS_SHOWN_MAX;
	return draw_region_sub(area, 0, is_below ? area.rows - rows : 0, area.cols, rows);
}

void client_surprise_draw(struct client *client, struct draw_region screen)
{
	struct client_surprise *s = &client->surprise;
	struct widget_dialog *dialog = shown(client);
	if (!dialog)
		return;
	if (!s->since_ms && clock_mono_ms() < s->stays_until_ms)
		s->has_keys = widget_dialog_owner(dialog) == s->last_owner;
	struct draw_region area =
		draw_region_sub(screen, 0, workspace_body(client->workspace).row, screen.cols,
			screen.rows - workspace_body(client->workspace).row - 1);
	struct draw_surface_cursor cursor = draw_surface_cursor_of(client->surface);
	bool was_at_bottom = s->is_at_bottom;
	struct draw_region place = area;
	if (s->has_keys || cursor.shape == CURSOR_HIDDEN) {
		place = beside(area, s->is_at_bottom ? area.row - 1 : area.row + area.rows,
			s->is_at_bottom);
	} else {
		int above = cursor.row - area.row, below = area.rows - above - 1;
		int wanted = s->rows > ROWS_MIN ? s->rows : ROWS_MIN;
		if ((s->is_at_bottom ? below : above) < wanted) /* the cursor has come near */
			s->is_at_bottom = below > above;
		place = beside(area, cursor.row, s->is_at_bottom);
	}
	if (!s->since_ms || was_at_bottom != s->is_at_bottom)
		s->since_ms = clock_mono_ms();
	show_who(client, dialog);
	widget_dialog_draw(dialog, place, &client->theme);
	s->rows = widget_dialog_place(dialog).rows;
}

int64_t client_surprise_redraw_after_ms(const struct client *client)
{
	const struct client_surprise *s = &client->surprise;
	if (!client_surprise_has_keys(client) || !s->since_ms)
		return 0;
	int64_t left = s->since_ms + SURPRISE_GUARD_MS - clock_mono_ms();
	return left > 0 ? left + 1 : 0;
}

/* ---- hands */

bool client_surprise_turn_to(struct client *client)
{
	if (!shown(client))
		return false;
	client->surprise.has_keys = true;
	client_dirty(client);
	return true;
}

bool client_surprise_key(struct client *client, const struct draw_key *key)
{
	struct client_surprise *s = &client->surprise;
	struct widget_dialog *dialog = shown(client);
	bool is_ctrl_c = key->sym == KEY_NONE && key->mods == MOD_CTRL && key->codepoint == 'c';
	if (s->hush_until_ms > clock_mono_ms() && !view_key_is_prefix(key))
		return true;
	if (!dialog || !s->has_keys)
		return false;
	client_dirty(client);
	if (view_key_is_prefix(key)) { /* whatever follows it is not for the question */
		s->has_keys = false;
		return false;
	}
	if (key->sym == KEY_SYM_ESCAPE || is_ctrl_c)
		s->has_keys = false;
	else if (!is_guarded(client) && !(key->mods & MOD_ALT) &&
		 widget_dialog_key(dialog, key))
		answer(client);
	return true;
}

bool client_surprise_has_keys(const struct client *client)
{
	return client->surprise.has_keys && shown(client);
}

bool client_surprise_paste(struct client *client, struct slice text)
{
	struct client_surprise *s = &client->surprise;
	if (s->hush_until_ms > clock_mono_ms())
		return true;
	if (!client_surprise_has_keys(client))
		return false;
	if (!is_guarded(client))
		widget_dialog_paste(workspace_surprise(client->workspace), text);
	return true;
}

bool client_surprise_mouse(struct client *client, const struct draw_mouse *mouse)
{
	struct client_surprise *s = &client->surprise;
	struct widget_dialog *dialog = shown(client);
	bool is_held = client->has_press || client->drag || client->is_border_held;
	if (!dialog || !s->since_ms || is_held)
		return false;
	if (!draw_region_contains(widget_dialog_place(dialog), mouse->col, mouse->row)) {
		if (mouse->action == MOUSE_PRESS && s->has_keys) {
			s->has_keys = false;
			client_dirty(client);
		}
		return false;
	}
	if (is_guarded(client))
		return true;
	client_dirty(client);
	if (widget_dialog_mouse(dialog, mouse))
		answer(client);
	else if (mouse->action == MOUSE_PRESS)
		s->has_keys = true;
	return true;
}

bool client_surprise_dismiss(struct client *client)
{
	struct widget_dialog *dialog = shown(client);
	if (!dialog || !widget_dialog_is_notice(dialog) || !may_dismiss(client) ||
		is_guarded(client))
		return false;
	answer(client);
	return true;
}
