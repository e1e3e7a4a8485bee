// SPDX-License-Identifier: Apache-2.0
// The end: at once if nothing is lost by it, else after a question that names what is.
#include "tui/workspace/internal.h"

#include "engine/base/map.h"

void workspace_quit_now(struct workspace *ws)
{
	if (ws->is_quitting)
		return;
	ws->is_quitting = true;
	if (ws->opts.on_quit)
		ws->opts.on_quit(ws->opts.arg);
}

static void on_quit_answered(void *arg, struct widget_dialog *dialog, int button)
{
	(void)dialog;
	if (button == 0)
		workspace_quit_now(arg);
}

enum { LISTED_MAX = 8 };

struct busy_list {
	struct widget_dialog *dialog;
	size_t n;
};

static void add_busy(void *arg, struct view *view)
{
	struct busy_list *list = arg;
	struct str text;
	str_init(&text, 256);
	const char *why = view->class->busy ? view->class->busy(view, &text) : NULL;
	if (why && list->n++ < LISTED_MAX)
		widget_dialog_add_textf(list->dialog, "  %s", why);
	str_deinit(&text);
}

/* What a single pane shows has said so itself. */
static void add_session(void *arg, struct session *session)
{
	struct busy_list *list = arg;
	if (session_state(session) == SESSION_RUNNING && session_n_viewers(session) != 1 &&
		list->n++ < LISTED_MAX)
		widget_dialog_add_textf(list->dialog, "  %s is running in %s",
			session_program(session), session_name(session));
}

void workspace_ask_quit(struct workspace *ws)
{
	struct busy_list list = { widget_dialog_new("Quit?", on_quit_answered, ws, NULL), 0 };
	workspace_tabs_each_view(ws, add_busy, &list);
	size_t copies = 0, actions = 0, made = 0;
	const struct workspace_context *context;
	DL_FOREACH(ws->contexts, context) {
		sessions_each(context->host.sessions, add_session, &list);
		copies += transfer_queue_running(context->host.copies);
		actions += views_actions_running(context->host.actions);
		made += views_actions_to_clean_up(context->host.actions);
	}
	if (copies)
		widget_dialog_add_textf(list.dialog, "  %zu cop%s not finished", copies,
			copies == 1 ? "y is" : "ies are");
	if (actions)
		widget_dialog_add_textf(list.dialog, "  %zu operation%s not finished", actions,
			actions == 1 ? " is" : "s are");
	if (made)
		widget_dialog_add_textf(list.dialog,
			"  %zu sandbox%s that %s made here without a name (auto-cleanup)", made,
			made == 1 ? "" : "es", made == 1 ? "was" : "were");
	if (!list.n && !copies && !actions && !made) {
		widget_dialog_free(list.dialog);
		workspace_quit_now(ws);
		return;
	}
	widget_dialog_add_text(
		list.dialog, made ? "Quitting ends these; those without a name are deleted."
				  : "Quitting ends these. No sandbox is deleted.");
	widget_dialog_add_button(list.dialog, "&Quit");
	widget_dialog_add_button(list.dialog, "&Stay");
	widget_dialog_focus_button(list.dialog, 1);
	workspace_push_dialog(ws, list.dialog);
}
