// SPDX-License-Identifier: Apache-2.0
// What the person did not ask for.
//
//   waiting ── no dialog, no prompt ──▶ shown ── `answer`, a click ──▶ has the keyboard ── Enter, a button ──▶ answered
//                                         ▲──────── Esc, the prefix ────────┘
#include "tui/app/surprise.h"

#include "engine/base/clock.h"
#include "tui/app/internal.h"

#include <stdio.h>

enum { ROWS_SHOWN_MAX = 14, ROWS_MIN = 4, STAYS_MS = 200 };

static struct widget_dialog *shown(const struct app *app)
{
	const struct app_surprises *s = &app->surprises;
	return s->n && !app->n_dialogs && app->prompt.kind == PROMPT_NONE ? s->queue[0] : NULL;
}

static bool is_guarded(const struct app *app)
{
	const struct app_surprises *s = &app->surprises;
	return !s->since_ms || clock_mono_ms() - s->since_ms < SURPRISE_GUARD_MS;
}

void app_surprise_hide(struct app *app)
{
	app->surprises.since_ms = 0;
	app->surprises.has_keys = false;
}

/* Room for a question: the oldest that only says something, and is not the one that is shown, goes. */
static bool drop_a_notice(struct app_surprises *s)
{
	for (size_t i = 1; i < s->n; i++) {
		if (!widget_dialog_is_notice(s->queue[i]))
			continue;
		widget_dialog_free(s->queue[i]);
		s->n--;
		for (; i < s->n; i++)
			s->queue[i] = s->queue[i + 1];
		return true;
	}
	return false;
}

void app_surprise_push(struct app *app, struct widget_dialog *dialog)
{
	struct app_surprises *s = &app->surprises;
	if (s->n == SURPRISES_MAX &&
		!drop_a_notice(s)) { /* so many questions: the newest is taken as cancelled */
		widget_dialog_answer(dialog);
		widget_dialog_free(dialog);
		return;
	}
	s->queue[s->n++] = dialog;
	if (s->n == 1) { /* not drawn yet */
		app_surprise_hide(app);
		s->is_at_bottom = true;
	}
	app_frame_dirty(app);
}

static void take_first(struct app *app)
{
	struct app_surprises *s = &app->surprises;
	s->n--;
	for (size_t i = 0; i < s->n; i++)
		s->queue[i] = s->queue[i + 1];
	s->since_ms = 0;
	app_frame_dirty(app);
}

/* The next of the same asker has the keyboard at once, after its pause: sixty conflicts of a copy are one errand. */
static void answer(struct app *app)
{
	struct app_surprises *s = &app->surprises;
	struct widget_dialog *dialog = s->queue[0];
	take_first(app);
	s->has_keys = false;
	app->n_handling++; /* what the answer brings at once was asked for */
	widget_dialog_answer(dialog);
	app->n_handling--;
	s->last_owner = widget_dialog_owner(dialog);
	s->stays_until_ms = s->last_owner ? clock_mono_ms() + STAYS_MS : 0;
	widget_dialog_free(dialog);
}

void app_surprise_drop(struct app *app, const void *owner)
{
	struct app_surprises *s = &app->surprises;
	size_t kept = 0;
	bool is_first_gone = s->n && widget_dialog_owner(s->queue[0]) == owner;
	for (size_t i = 0; i < s->n; i++)
		if (widget_dialog_owner(s->queue[i]) == owner)
			widget_dialog_free(s->queue[i]);
		else
			s->queue[kept++] = s->queue[i];
	s->n = kept;
	if (!is_first_gone)
		return;
	/* it vanishes under the fingers: what they type next was for it */
	if (s->has_keys)
		s->hush_until_ms = clock_mono_ms() + SURPRISE_GUARD_MS;
	app_surprise_hide(app);
	app_frame_dirty(app);
}

void app_surprise_free_all(struct app *app)
{
	while (app->surprises.n)
		widget_dialog_free(app->surprises.queue[--app->surprises.n]);
}

/* ---- the picture */

/* Where somebody types, Esc is for what they type into. */
static bool may_dismiss(const struct app *app)
{
	enum view_key_scope scope = view_scope(app_focused(app));
	return scope != SCOPE_SHELL && scope != SCOPE_TYPING && scope != SCOPE_SCROLL &&
	       scope != SCOPE_DEAD;
}

static void show_who(struct app *app, struct widget_dialog *dialog)
{
	struct app_surprises *s = &app->surprises;
	char suffix[64] = "", footer[96];
	size_t tab = app_tabs_number_of(app, widget_dialog_owner(dialog));
	int n = 0;
	if (tab)
		n = snprintf(suffix, sizeof suffix, " · tab %zu", tab);
	if (s->n > 1)
		snprintf(suffix + n, sizeof suffix - (size_t)n, " · 1 of %zu", s->n);
	if (s->has_keys)
		snprintf(footer, sizeof footer, "%s",
			is_guarded(app) ? "a moment …"
					: "arrows and enter answer, esc goes back");
	else if (widget_dialog_is_notice(dialog) && may_dismiss(app))
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

void app_surprise_draw(struct app *app, struct draw_region screen)
{
	struct app_surprises *s = &app->surprises;
	struct widget_dialog *dialog = shown(app);
	if (!dialog)
		return;
	if (!s->since_ms && clock_mono_ms() < s->stays_until_ms)
		s->has_keys = widget_dialog_owner(dialog) == s->last_owner;
	struct draw_region area = draw_region_sub(
		screen, 0, app->body.row, screen.cols, screen.rows - app->body.row - 1);
	struct draw_surface_cursor cursor = draw_surface_cursor_of(app->surface);
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
	show_who(app, dialog);
	widget_dialog_draw(dialog, place, &app->theme);
	s->rows = widget_dialog_place(dialog).rows;
}

int64_t app_surprise_redraw_after_ms(const struct app *app)
{
	const struct app_surprises *s = &app->surprises;
	if (!app_surprise_has_keys(app) || !s->since_ms)
		return 0;
	int64_t left = s->since_ms + SURPRISE_GUARD_MS - clock_mono_ms();
	return left > 0 ? left + 1 : 0;
}

/* ---- hands */

bool app_surprise_turn_to(struct app *app)
{
	if (!shown(app))
		return false;
	app->surprises.has_keys = true;
	app_frame_dirty(app);
	return true;
}

bool app_surprise_key(struct app *app, const struct draw_key *key)
{
	struct app_surprises *s = &app->surprises;
	struct widget_dialog *dialog = shown(app);
	bool is_ctrl_c = key->sym == KEY_NONE && key->mods == MOD_CTRL && key->codepoint == 'c';
	if (s->hush_until_ms > clock_mono_ms() && !view_key_is_prefix(key))
		return true;
	if (!dialog || !s->has_keys)
		return false;
	app_frame_dirty(app);
	if (view_key_is_prefix(key)) { /* whatever follows it is not for the question */
		s->has_keys = false;
		return false;
	}
	if (key->sym == KEY_SYM_ESCAPE || is_ctrl_c)
		s->has_keys = false;
	else if (!is_guarded(app) && !(key->mods & MOD_ALT) && widget_dialog_key(dialog, key))
		answer(app);
	return true;
}

bool app_surprise_has_keys(const struct app *app)
{
	return app->surprises.has_keys && shown(app);
}

bool app_surprise_paste(struct app *app, struct slice text)
{
	struct app_surprises *s = &app->surprises;
	if (s->hush_until_ms > clock_mono_ms())
		return true;
	if (!app_surprise_has_keys(app))
		return false;
	if (!is_guarded(app))
		widget_dialog_paste(s->queue[0], text);
	return true;
}

bool app_surprise_mouse(struct app *app, const struct draw_mouse *mouse)
{
	struct app_surprises *s = &app->surprises;
	struct widget_dialog *dialog = shown(app);
	bool is_held = app->has_press || app->drag || app->border || app->is_strip_border;
	if (!dialog || !s->since_ms || is_held)
		return false;
	if (!draw_region_contains(widget_dialog_place(dialog), mouse->col, mouse->row)) {
		if (mouse->action == MOUSE_PRESS && s->has_keys) {
			s->has_keys = false;
			app_frame_dirty(app);
		}
		return false;
	}
	if (is_guarded(app))
		return true;
	app_frame_dirty(app);
	if (widget_dialog_mouse(dialog, mouse))
		answer(app);
	else if (mouse->action == MOUSE_PRESS)
		s->has_keys = true;
	return true;
}

bool app_surprise_dismiss(struct app *app)
{
	struct widget_dialog *dialog = shown(app);
	if (!dialog || !widget_dialog_is_notice(dialog) || !may_dismiss(app) || is_guarded(app))
		return false;
	answer(app);
	return true;
}
