// SPDX-License-Identifier: Apache-2.0
/* The work of a person: tabs and the panes in them, the sessions that these show, copies and operations under way, notes
 * and questions that wait. It knows no terminal. Clients (tui/client) show it and bring what hands do; without any it
 * goes on.
 *
 * One layout for all clients, as large as the latest one: the client that was attached, typed in or focused last. The
 * current tab and the focused pane are the workspace's as well: whoever attaches finds what was left.
 *
 * Runs on one loop; nothing here blocks. What a view asks for (struct view_host) is answered here, and where it needs a
 * terminal, by the latest client. */
#pragma once

#include "tui/view/view.h"
#include "tui/workspace/layout.h"

struct session;
struct widget_dialog;
struct workspace;

enum { WORKSPACE_TABS_MAX = 64, WORKSPACE_NAMESPACE_BYTES = 256, WORKSPACE_SURPRISES_MAX = 32 };

struct workspace_opts {
	struct engine *engine; /* borrowed */
	const char *
		local_dir; /* copied; where the local side of files begins; NULL: the working directory */
	const char
		*state_path; /* the file of what is remembered, read and written; NULL: none */
	/* The words that mean the same in every view, borrowed. Their self is the latest client (struct workspace_client). */
	const struct view_command *commands;
	size_t n_commands;
	void (*on_quit)(void *arg); /* a person asked to quit, and confirmed; NULL: nothing */
	/* Starts the embedded backend, without blocking; one done() comes later. NULL: it cannot be started from here. Whoever
	 * frees the workspace while it starts makes sure that none comes any more. */
	bool (*start_backend)(void *arg, void (*done)(void *done_arg, const struct err *err),
		void *done_arg, struct err *err);
	/* An engine for another context, the workspace's to free. NULL: there is no other. */
	struct engine *(*open_engine)(void *arg, const char *context, struct err *err);
	void *arg;
};
/* With the list in its only tab. Does not touch the network. NULL: as the open() of a view. */
struct workspace *workspace_new(
	struct net_loop *loop, const struct workspace_opts *opts, struct err *err);
/* After its clients. Ends sessions, cancels copies, deletes nothing else. NULL is fine. */
void workspace_free(struct workspace *workspace);
struct view_host *workspace_host(struct workspace *workspace);
/* While drawing for a client: its colours; NULL: the built-in ones. Borrowed. */
void workspace_set_theme(struct workspace *workspace, const struct draw_theme *theme);

/* ---- clients */

/* A place at the workspace, embedded in a client. The functions are called on the loop, also from inside of what the client
 * calls here; they free neither. */
struct workspace_client {
	const struct workspace_client_ops *ops;
	struct workspace *workspace;
	bool is_attached;
	struct workspace_client *prev, *next;
};
enum workspace_surprise_event {
	WORKSPACE_SURPRISE_CAME,     /* there was none */
	WORKSPACE_SURPRISE_ANSWERED, /* the one before it */
	WORKSPACE_SURPRISE_DROPPED,  /* the one before it, unanswered: its owner has gone */
};
struct workspace_client_ops {
	/* Something that is shown has changed; is_telling: the cluster did it, nobody here. */
	void (*dirty)(struct workspace_client *client, bool is_telling);
	/* A question with the keyboard, at once. */
	void (*push_dialog)(struct workspace_client *client, struct widget_dialog *dialog_take);
	void (*drop_dialogs)(struct workspace_client *client, const void *owner);
	/* Its person did something a moment ago, and is taken to wait for what comes of it. */
	bool (*is_awaited)(const struct workspace_client *client);
	/* The first of the surprises is another one. */
	void (*surprise)(struct workspace_client *client, enum workspace_surprise_event event);
	void (*copy_text)(struct workspace_client *client, struct slice text);
	void (*view_gone)(struct workspace_client *client, const struct view *view);
};
void workspace_join(struct workspace *workspace, struct workspace_client *client);
void workspace_leave(struct workspace_client *client);
void workspace_use(struct workspace_client *client); /* it is the latest from now on */
/* It has a terminal, or none any more: while one has, the engine looks at what may be seen, and the latest is one of these. */
void workspace_attached(struct workspace_client *client, bool is_attached);
struct workspace_client *workspace_latest(const struct workspace *workspace); /* or NULL */
/* Around the handling of a key, a click or a command: what comes meanwhile was asked for. is_new: a person did something. */
void workspace_begin_input(struct workspace_client *client, bool is_new);
void workspace_end_input(struct workspace *workspace);
void workspace_dirty(struct workspace *workspace);

/* ---- what a person is told */

/* A question or a failure: to the latest client if it was asked for, else it is a surprise. */
void workspace_push_dialog(struct workspace *workspace, struct widget_dialog *dialog_take);
void workspace_drop_dialogs(struct workspace *workspace, const void *owner);
void workspace_fail(struct workspace *workspace, const char *what, const struct err *err);
/* The line at the bottom, "" if there is none; borrowed for this turn. */
const char *workspace_note(const struct workspace *workspace, enum view_note_level *level);

/* What nobody asked for, the oldest first. Clients show the first one. */
struct widget_dialog *workspace_surprise(const struct workspace *workspace); /* or NULL */
size_t workspace_n_surprises(const struct workspace *workspace);
/* The first one is answered and goes; returns its owner, to compare. */
const void *workspace_surprise_answer(struct workspace *workspace);

/* ---- tabs and panes */

struct view *workspace_focused(const struct workspace *workspace); /* never NULL */
size_t workspace_n_tabs(const struct workspace *workspace);
size_t workspace_current(const struct workspace *workspace);
const void *workspace_tab_id(const struct workspace *workspace, size_t index); /* to compare */
struct view *workspace_tab_view(const struct workspace *workspace, size_t index); /* in focus */
unsigned workspace_tab_marks(const struct workspace *workspace, size_t index); /* view_mark */
/* In a new tab, or the one that shows it already. ERR_OP_BUSY: too many. */
bool workspace_tabs_open(struct workspace *workspace, const struct view_class *class,
	const struct view_args *args, struct err *err);
/* ERR_OP_BUSY: no room. */
bool workspace_tabs_split(struct workspace *workspace, enum workspace_layout_way way,
	const struct view_class *class, const struct view_args *args, struct err *err);
void workspace_tabs_select(struct workspace *workspace, size_t index);
void workspace_tabs_ask_close(struct workspace *workspace, struct view *view);
/* Middle click on a tab: never the list, and nothing in which something runs without asking. */
void workspace_tabs_ask_close_all(struct workspace *workspace, size_t index);
/* As the tab bar shows it; 0: it is in none. */
size_t workspace_tabs_number_of(const struct workspace *workspace, const void *view);
void workspace_tabs_each_view(
	struct workspace *workspace, void (*fn)(void *arg, struct view *view), void *arg);
/* What was asked to close closes now: the next key is for what is below. Not from inside a view. */
void workspace_close_pending(struct workspace *workspace);
/* Quits, after a question if something runs. */
void workspace_ask_quit(struct workspace *workspace);
void workspace_quit_now(struct workspace *workspace);

void workspace_focus_view(
	struct workspace *workspace, struct view *view); /* of a pane or the strip */
void workspace_focus_next(struct workspace *workspace, bool forward);
void workspace_focus_toward(struct workspace *workspace, enum workspace_layout_way way);
void workspace_grow(struct workspace *workspace, enum workspace_layout_way way);
void workspace_zoom(struct workspace *workspace); /* the focused pane alone, or all again */
void workspace_show_strip(struct workspace *workspace); /* the log below all tabs, or not */

/* ---- where they are, in cells of the latest client's screen */

/* The place between the bars. Panes of all tabs take it, and what runs in them learns of it when drawn. */
void workspace_place(struct workspace *workspace, struct workspace_rect area);
struct workspace_rect workspace_body(const struct workspace *workspace);
struct workspace_rect workspace_strip(
	const struct workspace *workspace); /* rows 0: not shown */
/* What is visible of the current tab, and the strip; rect with the title row if it has one. */
void workspace_each_pane(struct workspace *workspace,
	void (*fn)(void *arg, struct view *view, struct workspace_rect rect, bool has_title),
	void *arg);
void workspace_each_line(struct workspace *workspace,
	void (*fn)(void *arg, int col, int row, int rows), void *arg);
/* Where a view was drawn, without its title; false if it is hidden. */
bool workspace_region(
	const struct workspace *workspace, const struct view *view, struct workspace_rect *out);
struct view *workspace_view_at(struct workspace *workspace, int col, int row); /* or NULL */
/* A border that can be moved: between panes, or the title of the strip. */
struct workspace_border {
	struct workspace_layout *split; /* until a view goes; NULL: none, or the strip's */
	bool is_strip;
};
bool workspace_border_at(
	struct workspace *workspace, int col, int row, struct workspace_border *out);
void workspace_border_drag(
	struct workspace *workspace, const struct workspace_border *border, int col, int row);

/* ---- what it looks at */

const char *workspace_namespace(const struct workspace *workspace); /* "" = all */
/* ERR_OP_BUSY while operations run; errors of engine_watch_namespace(). */
bool workspace_set_namespace(struct workspace *workspace, const char *name, struct err *err);
/* Looks at another context, once its server has answered; the present one stays where it does not. ERR_OP_BUSY, ERR_OP_UNSUPPORTED,
 * errors of engine_new(). */
bool workspace_use_context(struct workspace *workspace, const char *name, struct err *err);
/* Raw foreign text; one of another context than the current says which, in front. */
void workspace_view_title(
	const struct workspace *workspace, const struct view *view, struct str *out);
/* The API server is gone, silent or slow: a row says so. */
bool workspace_link_is_bad(const struct workspace *workspace, struct engine_link *link);
bool workspace_backend_is_starting(const struct workspace *workspace);
bool workspace_can_start_backend(
	const struct workspace *workspace, const struct engine_link *link);
/* ERR_OP_UNSUPPORTED, ERR_OP_BUSY. */
bool workspace_start_backend(struct workspace *workspace, struct err *err);

/* ---- commands: the words of the focused view, of rows, and those of everywhere, in that order */

bool workspace_command_run(struct workspace *workspace, const char *line, struct err *err);
void workspace_command_try(
	struct workspace *workspace, const char *line); /* shows the failure */
/* With that view in the focus; NULL: there is none. */
const struct view_command *workspace_command_find(
	const struct workspace *workspace, const struct view *view, const char *line);
/* False with *err: why it would be refused now, with that view in the focus. */
bool workspace_command_can(const struct workspace *workspace, const struct view *view,
	const char *line, struct err *err);
/* What the command does that a line begins with, of whichever view, of rows, or of a kind; NULL: none has it. */
const char *workspace_command_help(const char *line);
/* It makes sense for what is selected there now; else it is not offered. */
bool workspace_command_fits(
	const struct workspace *workspace, const struct view *view, const char *line);
/* Commands that fit what is typed (tui/widgets/fuzzy.h), the best first; all of them for "". */
size_t workspace_command_complete(const struct workspace *workspace, const char *typed,
	const struct view_command **out, size_t max);
/* What may follow the command of that line. */
void workspace_command_complete_args(const struct workspace *workspace, const char *line,
	void (*add)(void *add_arg, const char *candidate), void *add_arg);
