// SPDX-License-Identifier: Apache-2.0
/* A session: a process of a sandbox behind a terminal (tui/term), its queues in both directions and what observes it. It
 * stands on the side of the engine: a view only shows one, and any number of views may show the same. It lives as long
 * as somebody holds a reference; the last one that goes ends the process.
 *
 * Two kinds of observers. A viewer shows it: it has a size and the focus, and is told what a person would notice. A tap
 * gets the bytes: a recording, a log, whoever waits for a text.
 *
 * One size for all: the terminal is as large as the viewer that had the focus last wants it, or the only one. The others
 * show what fits of it. Scroll position and selection are no part of a session: two viewers look at different places.
 *
 * Everything runs on the loop of the engine. Callbacks may read the session and its terminal; the viewer or tap that is
 * called may remove itself, no other, and none gives up the last reference. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct err;
struct term;
struct session;

/* All sessions of a workspace. */
struct sessions;
struct sessions *sessions_new(struct engine *engine); /* borrowed */
/* Ends those that are still held: their holders keep a dead session and are told nothing any more. NULL is fine. */
void sessions_free(struct sessions *sessions);
size_t sessions_count(const struct sessions *sessions);
/* In order of their opening; fn may open none and give up none. */
void sessions_each(
	struct sessions *sessions, void (*fn)(void *arg, struct session *session), void *arg);

enum {
	SESSION_HISTORY_BYTES = 16 << 20,   /* scrollback */
	SESSION_STDIN_BYTES_MAX = 16 << 20, /* typed or pasted and not yet taken */
};

enum session_state {
	SESSION_WAITING,  /* for the first size, or for the pod to be known */
	SESSION_STARTING, /* the runtime was asked; what is typed is kept for it */
	SESSION_RUNNING,
	SESSION_ENDED, /* the terminal stays readable; what is typed is dropped */
	SESSION_STATE_COUNT
};

struct session_opts {            /* copied */
	const char *uid;         /* row; NULL: the direct runtime */
	const char *name;        /* of the sandbox, for people */
	const char *const *argv; /* NULL-terminated; NULL: a login shell */
	int cols, rows;          /* both 0: it starts with the size of its first viewer */
	/* A program of this machine instead: uid is of no matter, and read-only mode neither. program: what it is called. */
	bool is_local;
	const char *program; /* NULL: by its argv */
	/* It has ended; or NULL: the session has gone, with its last viewer. May end no reference. */
	void (*on_end)(void *arg, struct session *session);
	void *arg;
};
/* One reference, of the caller. Refused at once where it is known now that no process can be started: op.read_only, and
 * what engine_runtime() says. Whatever stops it later is its end (session_add_reason). */
struct session *session_open(
	struct sessions *sessions, const struct session_opts *opts, struct err *err);
struct session *session_ref(struct session *session);
void session_unref(struct session *session); /* NULL is fine */
/* The same program again after its end, on the same terminal: its screen goes to the scrollback. ERR_OP_BUSY before. */
bool session_run_again(struct session *session, struct err *err);

bool session_is_local(const struct session *session);
/* Whoever opened it has done with it: the views that show it close. */
void session_dismiss(struct session *session);

enum session_state session_state(const struct session *session);
/* It has ended, and the terminal has got all of its output. */
bool session_is_over(const struct session *session);
bool session_ended_well(const struct session *session); /* by itself, with status 0 */
/* "bash ended with status 1", "… (conn.closed); the sandbox is gone": why it has ended, with what is known of its sandbox
 * by now. */
void session_add_reason(const struct session *session, struct str *out);
const char *session_uid(const struct session *session);     /* NULL: the direct runtime */
const char *session_name(const struct session *session);    /* of the sandbox */
const char *session_program(const struct session *session); /* base name */
/* Keys, mouse and pasted text go in by term_key_*() and so on; what they make is kept until the process takes it. Fed and
 * resized by the session alone. */
struct term *session_term(const struct session *session);
/* Bytes as they are for the process. */
void session_send(struct session *session, struct slice bytes);

/* What its program may do with the clipboard of the person who looks at it. */
enum session_clipboard {
	SESSION_CLIPBOARD_ASK,
	SESSION_CLIPBOARD_ALLOW,
	SESSION_CLIPBOARD_DENY
};
void session_set_clipboard(struct session *session, enum session_clipboard policy);
enum session_clipboard session_clipboard(const struct session *session);

/* ---- viewers */

struct session_events { /* each may be NULL */
	/* Something on the terminal changed, its title, or what a message about it says. */
	void (*on_change)(void *arg);
	void (*on_output)(void *arg); /* the terminal got some of the program */
	void (*on_state)(void *arg);  /* another state */
	void (*on_bell)(void *arg);
	/* To the latest viewer alone: a person is to be asked or told once. */
	void (*on_clipboard)(
		void *arg, struct slice bytes);          /* not where the policy denies it */
	void (*on_warning)(void *arg, const char *text); /* input does not reach the program */
	void (*on_dismiss)(void *arg); /* whoever opened it has done with it: close */
};
struct session_viewer;
/* Whoever views holds a reference of their own. events: static. */
struct session_viewer *session_viewer_add(
	struct session *session, const struct session_events *events, void *arg);
void session_viewer_remove(struct session_viewer *viewer); /* NULL is fine */
/* The room it has, in cells, each time it is drawn: the session takes it if this is the latest viewer, and begins. */
void session_viewer_resize(struct session_viewer *viewer, int cols, int rows);
/* The one with the focus becomes the latest; the program is told if it asked (CSI I, CSI O). */
void session_viewer_focus(struct session_viewer *viewer, bool in);
bool session_viewer_is_latest(const struct session_viewer *viewer);
size_t session_n_viewers(const struct session *session);

/* ---- taps */

enum session_flow {
	SESSION_OUT,    /* bytes of the process, as the terminal gets them */
	SESSION_IN,     /* bytes for the process, as they are accepted */
	SESSION_RESIZE, /* the size is another one */
	SESSION_FLOW_COUNT
};
struct session_traffic {
	enum session_flow flow;
	struct slice bytes; /* borrowed for the call */
	int cols, rows;     /* of the terminal */
};
typedef void session_tap_fn(void *arg, const struct session_traffic *traffic);
struct session_tap;
/* No reference: it goes with the session, after which it must not be removed. */
struct session_tap *session_tap_add(struct session *session, session_tap_fn *fn, void *arg);
void session_tap_remove(struct session_tap *tap); /* NULL is fine */
