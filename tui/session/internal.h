// SPDX-License-Identifier: Apache-2.0
/* What the files of a session share: session.c its life, stream.c the bytes in both directions, observers.c viewers and
 * taps. */
#pragma once

#include "engine/engine.h"
#include "tui/session/session.h"
#include "tui/term/term.h"

struct session_viewer {
	struct session *session;
	const struct session_events *events;
	void *arg;
	int cols, rows; /* 0: not known yet */
	bool is_focused;
	struct session_viewer *prev, *next;
};

struct session_tap {
	struct session *session;
	session_tap_fn *fn;
	void *arg;
	struct session_tap *prev, *next;
};

struct sessions {
	struct engine *engine;
	struct session *list;
};

struct session {
	struct sessions *owner; /* NULL: it has outlived it */
	struct session *prev, *next;
	int n_refs;
	struct engine *engine;
	struct net_loop *loop;
	char *uid, *name, *namespace_; /* namespace_: NULL: not known */
	char **argv;                   /* NULL: a login shell */
	char *program;
	struct term *term;
	bool is_local;
	struct runtime_process *process; /* of a sandbox */
	struct net_pty *pty;             /* of this machine, and where it brings things */
	void (*on_output)(void *session, int stream, struct slice bytes);
	void (*on_exit)(void *session, const struct err *err, int exit_code);
	void (*on_end)(void *arg, struct session *session);
	void *on_end_arg;
	enum session_state state;
	bool is_start_queued;
	int exit_code;
	bool has_err;
	struct err err; /* why it ended, when not by itself */
	/* output that the terminal has not got yet */
	char *queue;
	size_t n_queue, fed, capacity;
	struct net_loop_timer *pump, *starter, *sync;
	/* input that the process has not taken yet */
	char *held;
	size_t n_held, held_capacity;
	enum session_clipboard clipboard;
	struct session_viewer *viewers, *latest; /* latest: had the focus last */
	struct session_tap *taps;
};

/* process.c: whichever of the two it is */
bool session_process_start(
	struct session *session, const struct runtime_start_opts *opts, struct err *err);
bool session_process_is_there(const struct session *session);
bool session_process_write(struct session *session, struct slice bytes, struct err *err);
void session_process_consumed(struct session *session, size_t n);
void session_process_resize(struct session *session, int cols, int rows);
void session_process_on_drained(struct session *session, void (*fn)(void *arg));
void session_process_drop(
	struct session *session); /* it has ended: freed at the end of the turn */
void session_process_kill(struct session *session);

/* observers.c */
void session_tell_change(struct session *session);
void session_tell_output(struct session *session);
void session_tell_state(struct session *session);
void session_tell_bell(struct session *session);
void session_tell_dismiss(struct session *session);
void session_tell_clipboard(struct session *session, struct slice bytes);
void session_tell_warning(struct session *session, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void session_tell_traffic(struct session *session, enum session_flow flow, struct slice bytes);
void session_queue_start(struct session *session); /* in the next turn, if it waits */

/* stream.c */
void session_stream_init(struct session *session, int cols, int rows);
void session_stream_deinit(struct session *session);
void session_stream_flush(struct session *session); /* what is held, to the process */
void session_stream_take(struct session *session, struct slice output);
