// SPDX-License-Identifier: Apache-2.0
// Who observes a session: viewers with their sizes, of which one decides, and taps.
#include "tui/session/internal.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- telling them: each may remove itself */

#define TELL(session, event)                                                                   \
	do {                                                                                   \
		struct session_viewer *viewer_, *next_;                                        \
		DL_FOREACH_SAFE((session)->viewers, viewer_, next_)                            \
			if (viewer_->events->event)                                            \
				viewer_->events->event(viewer_->arg);                          \
	} while (0)

void session_tell_change(struct session *session)
{
	TELL(session, on_change);
}

void session_tell_output(struct session *session)
{
	TELL(session, on_output);
}

void session_tell_state(struct session *session)
{
	TELL(session, on_state);
}

void session_tell_bell(struct session *session)
{
	TELL(session, on_bell);
}

void session_tell_dismiss(struct session *session)
{
	TELL(session, on_dismiss);
}

void session_tell_clipboard(struct session *session, struct slice bytes)
{
	const struct session_viewer *latest = session->latest;
	if (session->clipboard != SESSION_CLIPBOARD_DENY && latest &&
		latest->events->on_clipboard)
		latest->events->on_clipboard(latest->arg, bytes);
}

void session_tell_warning(struct session *session, const char *format, ...)
{
	enum { WARNING_BYTES = 1024 };
	const struct session_viewer *latest = session->latest;
	char text[WARNING_BYTES];
	va_list args;
	if (!latest || !latest->events->on_warning)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	latest->events->on_warning(latest->arg, text);
}

void session_tell_traffic(struct session *session, enum session_flow flow, struct slice bytes)
{
	struct session_tap *tap, *next;
	const struct session_traffic traffic = { flow, bytes, term_cols(session->term),
		term_rows(session->term) };
	DL_FOREACH_SAFE(session->taps, tap, next)
		tap->fn(tap->arg, &traffic);
}

/* ---- the size */

void session_queue_start(struct session *session)
{
	if (session->state != SESSION_WAITING || session->is_start_queued || !session->owner)
		return;
	session->is_start_queued = true;
	net_loop_timer_arm(session->starter, 0);
}

/* As large as the latest viewer has room for. */
static void fit(struct session *session)
{
	const struct session_viewer *latest = session->latest;
	if (!latest || !latest->cols)
		return;
	if (latest->cols != term_cols(session->term) ||
		latest->rows != term_rows(session->term)) {
		term_resize(session->term, latest->cols, latest->rows);
		session_process_resize(session, latest->cols, latest->rows);
		session_tell_traffic(session, SESSION_RESIZE, (struct slice){ NULL, 0 });
	}
}

void session_viewer_resize(struct session_viewer *viewer, int cols, int rows)
{
	viewer->cols = cols;
	viewer->rows = rows;
	if (!viewer->session->latest->cols) /* which is not on a screen */
		viewer->session->latest = viewer;
	if (viewer != viewer->session->latest)
		return;
	fit(viewer->session);
	session_queue_start(viewer->session);
}

void session_viewer_focus(struct session_viewer *viewer, bool in)
{
	struct session *session = viewer->session;
	bool has_other = false;
	const struct session_viewer *other;
	viewer->is_focused = in;
	if (in) {
		session->latest = viewer;
		fit(session);
	}
	DL_FOREACH(session->viewers, other)
		has_other = has_other || (other != viewer && other->is_focused);
	if (session->state == SESSION_RUNNING && (in || !has_other))
		term_focus(session->term, in);
}

bool session_viewer_is_latest(const struct session_viewer *viewer)
{
	return viewer->session->latest == viewer;
}

/* ---- coming and going */

size_t session_n_viewers(const struct session *session)
{
	size_t n = 0;
	const struct session_viewer *viewer;
	DL_FOREACH(session->viewers, viewer)
		n++;
	return n;
}

struct session_viewer *session_viewer_add(
	struct session *session, const struct session_events *events, void *arg)
{
	struct session_viewer *viewer = x_calloc(1, sizeof *viewer);
	viewer->session = session;
	viewer->events = events;
	viewer->arg = arg;
	DL_APPEND(session->viewers, viewer);
	if (!session->latest)
		session->latest = viewer;
	return viewer;
}

void session_viewer_remove(struct session_viewer *viewer)
{
	if (!viewer)
		return;
	struct session *session = viewer->session;
	DL_DELETE(session->viewers, viewer);
	if (session->latest == viewer) {
		session->latest = session->viewers;
		fit(session);
	}
	free(viewer);
}

struct session_tap *session_tap_add(struct session *session, session_tap_fn *fn, void *arg)
{
	struct session_tap *tap = x_calloc(1, sizeof *tap);
	*tap = (struct session_tap){ .session = session, .fn = fn, .arg = arg };
	DL_APPEND(session->taps, tap);
	return tap;
}

void session_tap_remove(struct session_tap *tap)
{
	if (!tap)
		return;
	DL_DELETE(tap->session->taps, tap);
	free(tap);
}
