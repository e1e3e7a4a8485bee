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
#include "tui/workspace/workspace.h"

#include <stdbool.h>
#include <stdint.h>

struct client;
struct draw_key;
struct draw_mouse;
struct draw_region;

enum { SURPRISE_GUARD_MS = 500 };

/* The first one is another one. */
void client_surprise_event(struct client *client, enum workspace_surprise_event event);
/* The terminal is another one: the pause begins anew. */
void client_surprise_hide(struct client *client);

/* After everything else of the frame, since it looks where the cursor is. */
void client_surprise_draw(struct client *client, struct draw_region screen);
/* When the picture changes by itself (the pause is over), ms; 0: it does not. */
int64_t client_surprise_redraw_after_ms(const struct client *client);
/* True: it was for the surprise, or is swallowed. */
bool client_surprise_key(struct client *client, const struct draw_key *key);
bool client_surprise_has_keys(const struct client *client);
bool client_surprise_paste(struct client *client, struct slice text);
bool client_surprise_mouse(struct client *client, const struct draw_mouse *mouse);
/* Esc where nobody types closes what only says something. */
bool client_surprise_dismiss(struct client *client);
