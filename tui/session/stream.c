// SPDX-License-Identifier: Apache-2.0
// The bytes of a session in both directions.
//
//   process ─▶ queue ─▶ pump: a slice ─▶ term_feed ─▶ consumed (re-opens the window)
//   term, session_send() ─▶ held ─▶ runtime_process_write ─ full? ─▶ on_drained
//
// The window of the stream is given back only as the terminal takes the bytes, so a flood stops at the process's own
// pipe, memory stays flat, and between two slices the loop looks at the keyboard.
#include "tui/session/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum {
	FEED_BYTES = 64 << 10, /* fed to the terminal between two looks at the keyboard */
	WRITE_BYTES = 64 << 10,
	MOVE_BYTES = 1 << 20, /* fed already, before the rest of the queue moves to its begin */
};

/* ---- to the process */

void session_stream_flush(struct session *session)
{
	struct err err;
	if (!session_process_is_there(session) || session->state == SESSION_ENDED) {
		session->n_held = 0;
		return;
	}
	size_t sent = 0;
	while (sent < session->n_held) {
		size_t n = session->n_held - sent;
		n = n < WRITE_BYTES ? n : WRITE_BYTES;
		if (!session_process_write(
			    session, (struct slice){ session->held + sent, n }, &err)) {
			if (err.code != ERR_LIMIT_UPLOAD)
				sent = session->n_held;
			break;
		}
		sent += n;
	}
	session->n_held -= sent;
	if (session->n_held)
		memmove(session->held, session->held + sent, session->n_held);
}

void session_send(struct session *session, struct slice bytes)
{
	if (session->state == SESSION_ENDED || !bytes.n)
		return;
	if (session->n_held + bytes.n > SESSION_STDIN_BYTES_MAX) {
		session_tell_warning(session, "%s does not read: %zu bytes of input dropped",
			session->name, bytes.n);
		return;
	}
	array_grow(&session->held, &session->held_capacity, session->n_held + bytes.n, 1);
	memcpy(session->held + session->n_held, bytes.p, bytes.n);
	session->n_held += bytes.n;
	session_tell_traffic(session, SESSION_IN, bytes);
	if (session_process_is_there(session))
		session_stream_flush(session);
}

/* ---- from the terminal */

static void on_term_output(const char *bytes, size_t n, void *arg)
{
	session_send(arg, (struct slice){ bytes, n });
}

static void on_term_damage(void *arg)
{
	session_tell_change(arg);
}

static void on_term_title(const char *title, void *arg)
{
	(void)title; /* asked for when drawn */
	session_tell_change(arg);
}

static void on_term_bell(void *arg)
{
	session_tell_bell(arg);
}

static void on_term_clipboard(const char *bytes, size_t n, void *arg)
{
	session_tell_clipboard(arg, (struct slice){ bytes, n });
}

/* ---- from the process */

static void on_pump(void *arg)
{
	struct session *session = arg;
	size_t n = session->n_queue - session->fed;
	n = n < FEED_BYTES ? n : FEED_BYTES;
	if (n) {
		const struct slice fed = { session->queue + session->fed, n };
		term_feed(session->term, fed.p, n);
		session->fed += n;
		session_process_consumed(session, n);
		session_tell_traffic(session, SESSION_OUT, fed);
	}
	if (session->fed < session->n_queue) {
		net_loop_timer_arm(session->pump, 0);
	} else {
		session->n_queue = session->fed = 0;
		int64_t left = term_sync_left_ms(session->term, clock_mono_ms());
		if (left > 0) /* a program that forgets to end its frame */
			net_loop_timer_arm(session->sync, left + 1);
	}
	if (n)
		session_tell_output(session);
	session_tell_change(session);
}

static void on_sync_over(void *arg)
{
	session_tell_change(arg);
}

void session_stream_take(struct session *session, struct slice output)
{
	if (session->fed && session->fed == session->n_queue)
		session->n_queue = session->fed = 0;
	if (session->fed > MOVE_BYTES) {
		memmove(session->queue, session->queue + session->fed,
			session->n_queue - session->fed);
		session->n_queue -= session->fed;
		session->fed = 0;
	}
	if (!output.n)
		return;
	array_grow(&session->queue, &session->capacity, session->n_queue + output.n, 1);
	memcpy(session->queue + session->n_queue, output.p, output.n);
	session->n_queue += output.n;
	net_loop_timer_arm(session->pump, 0);
}

/* ---- life */

void session_stream_init(struct session *session, int cols, int rows)
{
	const struct term_opts opts = { .cols = cols,
		.rows = rows,
		.history_bytes = SESSION_HISTORY_BYTES,
		.callbacks = { .on_output = on_term_output,
			.on_damage = on_term_damage,
			.on_title = on_term_title,
			.on_bell = on_term_bell,
			.on_clipboard_write = on_term_clipboard },
		.arg = session };
	session->term = term_new(&opts);
	session->pump = net_loop_timer_new(session->loop, on_pump, session);
	session->sync = net_loop_timer_new(session->loop, on_sync_over, session);
}

void session_stream_deinit(struct session *session)
{
	net_loop_timer_free(session->pump);
	net_loop_timer_free(session->sync);
	term_free(session->term);
	free(session->queue);
	free(session->held);
}
