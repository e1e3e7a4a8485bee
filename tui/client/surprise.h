// SPDX-License-Identifier: Apache-2.0
/* The one place that shows what the person did not ask for: questions of panes (clipboard), of copies (a file is there
 * already), of slow commands when something else was typed meanwhile, and failures of what was begun earlier.
 *
 * Whoever types goes on typing: a surprise takes no key until the person turns to it (the command `answer`, or a click),
 * and none in the first SURPRISE_GUARD_MS after it appears or moves, when a hand may still be on its way. It stands where
 * the cursor is not, says who asks, and one at a time is shown, the oldest first. Turned to, it takes arrows, Tab and
 * Enter; letters only in its fields. Esc leaves it standing and goes back. While a dialog or the prompt is open it waits
 * out of sight. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct app;
struct widget_dialog;
struct draw_key;
struct draw_mouse;
struct draw_region;

enum { SURPRISE_GUARD_MS = 500, SURPRISES_MAX = 32 };

void app_surprise_push(struct app *app, struct widget_dialog *dialog_take);
/* Those of an owner that goes are thrown away unanswered. */
void app_surprise_drop(struct app *app, const void *owner);
void app_surprise_free_all(struct app *app);
/* The terminal is another one: the pause begins anew. */
void app_surprise_hide(struct app *app);

/* After everything else of the frame, since it looks where the cursor is. */
void app_surprise_draw(struct app *app, struct draw_region screen);
/* When the picture changes by itself (the pause is over), ms; 0: it does not. */
int64_t app_surprise_redraw_after_ms(const struct app *app);
/* The keyboard goes to the one that is shown; false: there is none. */
bool app_surprise_turn_to(struct app *app);
/* True: it was for the surprise, or is swallowed. */
bool app_surprise_key(struct app *app, const struct draw_key *key);
bool app_surprise_has_keys(const struct app *app);
bool app_surprise_paste(struct app *app, struct slice text);
bool app_surprise_mouse(struct app *app, const struct draw_mouse *mouse);
/* Esc where nobody types closes what only says something. */
bool app_surprise_dismiss(struct app *app);
