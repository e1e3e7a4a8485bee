// SPDX-License-Identifier: Apache-2.0
/* What the files of a client share, those that are only called first: frame.c when a frame is due, tab_bar.c, link_row.c, hints.c and
 * prompt.c parts of it, drag.c, dialogs.c, surprise.c and lone.c the hands, compose.c what is on a frame, dispatch.c and
 * mouse.c who gets it, terminal.c the terminal, job_control.c its signals, client.c the life. Nobody else includes this. */
#pragma once

#include "engine/base/mem.h"
#include "engine/engine.h"
#include "tui/client/client.h"
#include "tui/client/surprise.h"
#include "tui/draw/screen.h"
#include "tui/draw/terminal.h"
#include "tui/draw/theme.h"
#include "tui/view/keys.h"
#include "tui/widgets/dialog.h"
#include "tui/widgets/edit.h"
#include "tui/workspace/workspace.h"

enum {
	CLIENT_COLS_MIN = 40,
	CLIENT_ROWS_MIN = 10,
	FRAME_QUIET_MS = 2,
	FRAME_MAX_MS = 16,
	FRAME_CALM_MS = 50,
	DIALOGS_MAX = 16,
	AWAITED_MS = 2000, /* so long a person is taken to wait for the question of a command */
	HISTORY_MAX = 50,
	CLIENT_HINTS_MAX = 48,
	BACKGROUND_WAIT_MS =
		2000, /* a terminal that says later what it looks like is not obeyed any more */
};

/* Where a tab stands on the bar, last draw. */
struct client_bar_place {
	const void *tab; /* to compare: workspace_tab_id() */
	int col, cols;   /* cols 0: nowhere */
};
/* Tabs that the bar has no room for, on one side of it. */
struct client_tabs_beside {
	size_t n, nearest; /* nearest: the index of the one beside those shown */
	int col, cols;     /* of its counter, last draw */
};

/* A hint on the bar, last draw. */
struct client_hint {
	int col, cols;
	const char *command; /* of the key table */
};

struct client_prompt {
	enum client_prompt_kind kind;
	struct widget_edit edit;
	int choice;   /* of the completions; -1 none */
	char *before; /* the filter that was there */
	char *history[HISTORY_MAX];
	size_t n_history, at_history;
};

struct client_surprise { /* surprise.h: how the first one of the workspace stands here */
	bool has_keys, is_at_bottom;
	int rows;              /* of the last draw */
	int64_t since_ms;      /* it stands where it stands; 0: not drawn yet */
	int64_t hush_until_ms; /* it vanished while it had the keyboard */
	int64_t stays_until_ms;
	const void *last_owner; /* of the one answered last: to compare, never to follow */
};

struct client_lone { /* lone.c: a letter that waits whether another key follows */
	struct net_loop_timer *timer;
	struct view *view; /* to compare */
	enum view_key_scope scope;
	const char *command;
	int64_t at_ms, before_ms; /* of the last two keys */
};

struct client {
	struct workspace_client place; /* first: the workspace hands it back */
	struct workspace *workspace;
	struct net_loop *loop;
	struct client_opts opts;
	struct draw_theme theme;
	char *theme_name; /* asked for; NULL: nobody did, the terminal's background decides */
	bool is_light;    /* what that is taken for */
	int64_t asked_ms; /* the terminal about it; 0: not */
	/* terminal; NULL while detached */
	struct draw_terminal *tty;
	struct draw_screen *screen;
	struct draw_input *input;
	struct draw_surface *surface;
	struct draw_surface
		*canvas; /* the panes, while they are as large as another client; or NULL */
	bool is_mouse_on, is_every_motion, is_focused;
	struct str frame;
	/* frames */
	void (*paint)(struct client *client); /* compose.c: draws and sends one */
	struct net_loop_timer *frame_timer, *tick_timer;
	int64_t dirty_since_ms, last_frame_ms, last_input_ms;
	bool is_dirty, is_frame_due;
	/* the bars, last draw */
	struct client_bar_place tab_places[WORKSPACE_TABS_MAX];
	struct client_tabs_beside before, after;
	int link_rows; /* in row 1 */
	struct client_hint hints[CLIENT_HINTS_MAX];
	size_t n_hints;
	int hint_row;
	/* keys */
	bool is_prefix, is_prefix_help; /* help: what follows it is shown in a box */
	struct client_prompt prompt;
	struct widget_dialog *dialogs[DIALOGS_MAX];
	size_t n_dialogs;
	struct client_surprise surprise;
	struct client_lone lone;
	/* mouse */
	struct workspace_border border; /* being dragged */
	bool is_border_held;
	struct view *mouse_view; /* has the button: gets drags and the release */
	bool has_press;
	struct draw_mouse press;
	struct view_drag *drag;
	struct view *drag_over;
	bool drag_ok;
	int mouse_col, mouse_row;
	struct net_watch_signal *signals[3];
};

static inline struct view *client_focused(const struct client *client)
{
	return workspace_focused(client->workspace);
}

static inline struct view_host *client_host(const struct client *client)
{
	return workspace_host(client->workspace);
}

/* What cannot be seen is not steered. */
bool client_is_too_small(const struct client *client);

/* frame.c */
void client_frame_dirty(
	struct client *client, bool is_telling); /* workspace_client_ops.dirty */
void client_frame_init(struct client *client);
void client_frame_deinit(struct client *client);
void client_frame_stop(struct client *client);
void client_frame_sent(struct client *client);
void client_frame_tick(struct client *client, int64_t after_ms); /* by itself; 0: not */
static inline void client_dirty(struct client *client)
{
	client_frame_dirty(client, false);
}

/* tab_bar.c */
void client_tab_bar_draw(struct client *client, struct draw_region bar);
void client_tab_bar_press(struct client *client, const struct draw_mouse *mouse);
size_t client_tab_bar_at(
	const struct client *client, int col); /* an index; the number of tabs: none */

/* hints.c */
void client_hints_draw(struct client *client, struct draw_region bar);
bool client_hints_press(
	struct client *client, const struct draw_mouse *mouse); /* true: it was on the bar */
void client_hints_draw_prefix(struct client *client, struct draw_region screen);

/* link_row.c: the row under the tabs while the API server does not answer */
int client_link_row_rows(const struct client *client); /* 0 or 1 */
void client_link_row_draw(struct client *client, struct draw_region row);
int64_t client_link_row_redraw_after_ms(const struct client *client);
/* The backend can be started, and the offer has stood for long enough to be meant. */
bool client_link_row_offers(const struct client *client);

/* prompt.c */
void client_prompt_init(struct client *client);
void client_prompt_deinit(struct client *client);
void client_prompt_close(struct client *client);
void client_prompt_key(struct client *client, const struct draw_key *key);
void client_prompt_paste(struct client *client, struct slice text);
void client_prompt_draw(struct client *client, struct draw_region screen);

/* drag.c */
void client_drag_begin(struct client *client); /* if there is something to carry at the press */
void client_drag_move(struct client *client);
void client_drag_end(struct client *client, bool is_drop);
void client_drag_forget(struct client *client, const struct view *view); /* it goes */

/* dialogs.c */
void client_dialogs_push(struct client *client, struct widget_dialog *dialog_take);
void client_dialogs_pop(struct client *client);
void client_dialogs_drop(struct client *client, const void *owner);

/* lone.c */
void client_lone_init(struct client *client);
void client_lone_deinit(struct client *client);
void client_lone_note_key(struct client *client); /* each key that comes, pasted text too */
/* True: this command waits, or the key came too early for it. */
bool client_lone_key(struct client *client, enum view_key_scope scope,
	const struct draw_key *key, const char *command);

/* compose.c */
void client_compose(struct client *client);
void client_paint(struct client *client);

/* dispatch.c, mouse.c: arg: the client */
void client_dispatch_key(void *arg, const struct draw_key *key);
void client_dispatch_mouse(void *arg, const struct draw_mouse *mouse);
void client_dispatch_paste(void *arg, struct slice text, bool is_cut);
void client_dispatch_focus(void *arg, bool in);

/* terminal.c */
/* The theme that was asked for, or the one that suits the background, for the colours of the terminal. */
void client_terminal_theme(struct client *client);
void client_terminal_take_back(struct client *client); /* after a stop */
void client_terminal_copy(
	struct client *client, struct slice text); /* to its clipboard (OSC 52) */

/* job_control.c */
void client_job_control_deinit(struct client *client);
