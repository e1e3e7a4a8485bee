// SPDX-License-Identifier: Apache-2.0
// A shell pane: a view that shows a session, and what its events mean for a person who looks at it.
//
// The process starts at the first draw, when the size of the pane is known. A pane whose process has ended keeps its
// screen, takes no input, says why, and offers to run it again. Closing the last pane of a session ends it.
#include "tui/views/shell/shell.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the session tells */

static void on_change(void *arg)
{
	host_dirty(((struct views_shell *)arg)->view.host);
}

static void on_output(void *arg)
{
	((struct views_shell *)arg)->has_output = true;
}

static void on_state(void *arg)
{
	struct views_shell *shell = arg;
	enum session_state state = session_state(shell->session);
	if (state == SESSION_ENDED) {
		shell->view.ended_ms = clock_mono_ms();
		views_shell_select_clear(shell);
	} else if (state == SESSION_WAITING) { /* once more, on a screen that is empty */
		views_shell_scroll_end(shell);
	}
	host_dirty(shell->view.host);
}

static void on_bell(void *arg)
{
	struct views_shell *shell = arg;
	if (shell->is_focused) /* whoever looks at it has seen it */
		return;
	shell->has_bell = true;
	host_dirty(shell->view.host);
}

static void on_dismiss(void *arg)
{
	struct view *view = arg;
	view->host->ops->close(view->host, view);
}

static void on_warning(void *arg, const char *text)
{
	view_host_notef(((struct views_shell *)arg)->view.host, NOTE_WARNING, "%s", text);
}

static const struct session_events events = {
	.on_change = on_change,
	.on_output = on_output,
	.on_state = on_state,
	.on_bell = on_bell,
	.on_dismiss = on_dismiss,
	.on_clipboard = views_shell_clipboard_ask,
	.on_warning = on_warning,
};

/* ---- the view */

static enum view_key_scope scope(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	if (shell->is_scrolling && !shell->is_peeking)
		return SCOPE_SCROLL;
	return session_is_over(shell->session) ? SCOPE_DEAD : SCOPE_SHELL;
}

static void title(const struct view *view, struct str *out)
{
	const struct views_shell *shell = shell_of(view);
	const char *told = term_title(shell->term);
	str_addf(out, "%s %s", session_program(shell->session), session_name(shell->session));
	if (*told)
		str_addf(out, " · %s", told);
	if (shell->is_scrolling)
		str_add(out, " [scroll]");
	if (!shell_is_live(shell))
		str_add(out, " (ended)");
}

static void focus(struct view *view, bool in)
{
	struct views_shell *shell = shell_of(view);
	shell->is_focused = in;
	if (in)
		shell->has_bell = false;
	session_viewer_focus(shell->viewer, in);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_shell *shell = shell_of(view);
	if (!session_uid(shell->session) || !max)
		return 0;
	uids[0] = session_uid(shell->session);
	return 1;
}

static unsigned marks(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	return (shell->has_bell ? VIEW_BELL : 0U) | (shell->has_output ? VIEW_OUTPUT : 0U);
}

static bool wants_motion(const struct view *view)
{
	const struct views_shell *shell = shell_of(view);
	struct term_modes modes;
	term_get_modes(shell->term, &modes);
	return session_state(shell->session) == SESSION_RUNNING &&
	       modes.mouse == TERM_MOUSE_MOTION;
}

/* Why an ended process ended may only be known later: the row says it. */
static void changed(struct view *view)
{
	if (!shell_is_live(shell_of(view)))
		host_dirty(view->host);
}

static const char *busy(const struct view *view, struct str *into)
{
	const struct views_shell *shell = shell_of(view);
	/* what has not begun is not lost, nor what another pane shows */
	if (session_state(shell->session) != SESSION_RUNNING ||
		session_n_viewers(shell->session) > 1)
		return NULL;
	str_addf(into, "%s is running in %s", session_program(shell->session),
		session_name(shell->session));
	return into->p;
}

/* args->session is shown, or a new one on the row is opened. */
static struct view *open_shell(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	const struct session_opts opts = { .uid = args->uid,
		.name = view_host_row_name(host, args->uid),
		.argv = args->argv };
	struct session *session = args->session ? session_ref(args->session)
						: session_open(host->sessions, &opts, err);
	if (!session)
		return NULL;
	struct views_shell *shell = x_calloc(1, sizeof *shell);
	shell->view.class = &view_shell;
	shell->view.host = host;
	shell->session = session;
	shell->term = session_term(session);
	shell->viewer = session_viewer_add(session, &events, shell);
	shell->shot = draw_surface_new(1, 1);
	shell->is_shot_stale = true;
	return &shell->view;
}

static void free_shell(struct view *view)
{
	struct views_shell *shell = shell_of(view);
	session_viewer_remove(shell->viewer);
	session_unref(shell->session);
	draw_surface_free(shell->shot);
	free(shell->clip);
	free(shell);
}

static const struct session *session_shown(const struct view *view)
{
	return shell_of(view)->session;
}

const struct view_class view_shell = {
	.name = "shell",
	.scope = scope,
	.commands = views_shell_commands,
	.n_commands = SHELL_COMMANDS,
	.open = open_shell,
	.free = free_shell,
	.title = title,
	.draw = views_shell_draw,
	.key = views_shell_key,
	.mouse = views_shell_mouse,
	.paste = views_shell_paste,
	.focus = focus,
	.targets = targets,
	.changed = changed,
	.busy = busy,
	.session = session_shown,
	.wants_motion = wants_motion,
	.marks = marks,
};
