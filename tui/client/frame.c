// SPDX-License-Identifier: Apache-2.0
// Frames: when one is drawn.
//
//   dirty ── 2 ms of quiet, at most 16 ms ──▶ compose ─▶ paint ─▶ send ── sent ──▶ next, if dirty
//
// What the cluster does by itself is shown at once, but not more often than every 50 ms: a thousand changes a second
// would else cost sixty frames, most of them for nobody. Keys and panes do not wait for that.
// While the terminal has not taken the last frame no other is drawn: a slow terminal skips frames, and the engine
// never waits for it. Hidden views are not drawn.
#include "engine/base/clock.h"
#include "tui/client/internal.h"

enum { ANSWER_MS = 100 };

static void draw_frame(struct client *client)
{
	if (draw_terminal_is_sending(client->tty)) {
		client->is_frame_due = true;
		return;
	}
	client->is_dirty = client->is_frame_due = false;
	client->last_frame_ms = clock_mono_ms();
	client->paint(client);
}

static void on_frame(void *arg)
{
	struct client *client = arg;
	if (client->tty && client->is_dirty)
		draw_frame(client);
}

void client_frame_sent(struct client *client)
{
	if (client->is_frame_due)
		net_loop_timer_arm(client->frame_timer, 0);
}

void client_frame_dirty(struct client *client, bool is_telling)
{
	if (!client->tty)
		return;
	int64_t now = clock_mono_ms();
	bool was_dirty = client->is_dirty;
	if (!was_dirty) {
		client->is_dirty = true;
		client->dirty_since_ms = now;
	}
	if (is_telling) {
		int64_t pause = client->last_frame_ms + FRAME_CALM_MS - now;
		if (!was_dirty)
			net_loop_timer_arm(client->frame_timer,
				pause > FRAME_QUIET_MS ? pause : FRAME_QUIET_MS);
		return;
	}
	/* the answer to a key is drawn at once; what follows it is collected as ever */
	bool is_answer = now - client->last_input_ms < ANSWER_MS &&
			 now - client->last_frame_ms >= FRAME_MAX_MS;
	int64_t wait = is_answer ? 0 : FRAME_QUIET_MS;
	int64_t left = client->dirty_since_ms + FRAME_MAX_MS - now;
	if (wait > left)
		wait = left > 0 ? left : 0;
	net_loop_timer_arm(client->frame_timer, wait);
}

/* Drawn in this turn: waiting for quiet would wake the machine twice. */
static void on_tick(void *arg)
{
	struct client *client = arg;
	client->is_dirty = true;
	net_loop_timer_disarm(client->frame_timer);
	on_frame(client);
}

void client_frame_tick(struct client *client, int64_t after_ms)
{
	if (after_ms)
		net_loop_timer_arm(client->tick_timer, after_ms);
	else
		net_loop_timer_disarm(client->tick_timer);
}

void client_frame_init(struct client *client)
{
	client->frame_timer = net_loop_timer_new(client->loop, on_frame, client);
	client->tick_timer = net_loop_timer_new(client->loop, on_tick, client);
	net_loop_timer_set_urgent(client->frame_timer);
	net_loop_timer_set_urgent(client->tick_timer);
}

void client_frame_deinit(struct client *client)
{
	net_loop_timer_free(client->frame_timer);
	net_loop_timer_free(client->tick_timer);
}

void client_frame_stop(struct client *client)
{
	net_loop_timer_disarm(client->frame_timer);
	net_loop_timer_disarm(client->tick_timer);
	client->is_dirty = client->is_frame_due = false;
}
