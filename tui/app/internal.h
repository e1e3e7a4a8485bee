// SPDX-License-Identifier: Apache-2.0
/* What the files of tui/app share. Nobody else includes this. */
#pragma once

#include "engine/base/mem.h"
#include "engine/engine.h"
#include "tui/app/app.h"
#include "tui/app/layout.h"
#include "tui/app/surprise.h"
#include "tui/draw/input.h"
#include "tui/draw/screen.h"
#include "tui/draw/terminal.h"
#include "tui/draw/theme.h"
#include "tui/session/session.h"
#include "tui/view/keys.h"
#include "tui/view/view.h"
#include "tui/views/actions/actions.h"
#include "tui/views/transfers/transfers.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"
#include "tui/widgets/edit.h"

enum {
	APP_COLS_MIN = 40,
	APP_ROWS_MIN = 10,
	FRAME_QUIET_MS = 2,
	FRAME_MAX_MS = 16,
	FRAME_CALM_MS = 50,
	NOTE_MS = 6000,
	DIALOGS_MAX = 16,
	TABS_MAX = 64,
	STRIP_ROWS = 6,
	AWAITED_MS = 2000, /* so long a person is taken to wait for the question of a command */
	NAMESPACE_BYTES = 256,
	HISTORY_MAX = 50,
};

struct app_tab {
	struct app_layout *root, *focus; /* leaves hold struct view */
	bool is_zoomed;
	struct app_tab *opener; /* where closing goes back to; NULL: the first */
	int col, cols;          /* on the tab bar, last draw */
};

/* Tabs that the bar has no room for, on one side of it. */
struct app_tabs_beside {
	size_t n, nearest; /* nearest: the index of the one beside those shown */
	int col, cols;     /* of its counter, last draw */
};

enum app_prompt_kind { PROMPT_NONE, PROMPT_COMMAND, PROMPT_FILTER };
struct app_prompt {
	enum app_prompt_kind kind;
	struct widget_edit edit;
	int choice;   /* of the completions; -1 none */
	char *before; /* the filter that was there */
	char *history[HISTORY_MAX];
	size_t n_history, at_history;
};

struct app_surprises { /* surprise.h; queue[0] is the one that is shown */
	struct widget_dialog *queue[SURPRISES_MAX];
	size_t n;
	bool has_keys, is_at_bottom;
	int rows;              /* of the last draw */
	int64_t since_ms;      /* it stands where it stands; 0: not drawn yet */
	int64_t hush_until_ms; /* it vanished while it had the keyboard */
	int64_t stays_until_ms;
	const void *last_owner; /* of the one answered last: to compare, never to follow */
};

struct app_lone { /* lone.c: a letter that waits whether another key follows */
	struct net_loop_timer *timer;
	struct view *view; /* to compare */
	enum view_key_scope scope;
	const char *command;
	int64_t at_ms, before_ms; /* of the last two keys */
};

struct app {
	struct view_host host; /* first: views hand it back */
	struct net_loop *loop;
	struct app_opts opts;
	struct draw_theme theme;
	char *theme_name; /* asked for */
	char *local_dir;
	/* terminal; NULL while detached */
	struct draw_terminal *tty;
	struct draw_screen *screen;
	struct draw_input *input;
	struct draw_surface *surface;
	bool is_mouse_on, is_every_motion, is_focused;
	struct str frame;
	/* frames */
	struct net_loop_timer *frame_timer, *tick_timer, *note_timer;
	int64_t dirty_since_ms, last_frame_ms, last_input_ms;
	bool is_dirty, is_frame_due, is_engine_telling;
	/* tabs */
	struct app_tab *tabs[TABS_MAX];
	size_t n_tabs, current;
	struct app_tabs_beside before, after;
	uint64_t rights_revision, link_revision; /* last seen */
	bool is_backend_starting;
	struct view *strip; /* the log below everything */
	bool is_strip_on, is_strip_focused;
	int strip_rows;
	struct app_rect body, strip_rect, bar_rect, link_rect;
	char namespace_[NAMESPACE_BYTES];
	/* input */
	bool is_prefix;
	struct app_prompt prompt;
	struct widget_dialog *dialogs[DIALOGS_MAX];
	size_t n_dialogs;
	struct app_surprises surprises;
	int n_handling; /* over 0: a key, a click or a command of the person is being handled */
	struct app_lone lone;
	uint64_t input_serial; /* counts what the person does */
	char note[512];
	enum view_note_level note_level;
	/* mouse */
	struct app_layout *border; /* being dragged */
	bool is_strip_border;
	struct view *mouse_view; /* has the button: gets drags and the release */
	bool has_press;
	struct draw_mouse press;
	struct view_drag *drag;
	struct view *drag_over;
	bool drag_ok;
	int mouse_col, mouse_row;
	/* at the end of the turn */
	struct view *closing[16];
	size_t n_closing;
	bool is_closing_deferred, is_quitting;
	/* signals */
	struct net_watch_signal *signals[3];
};

/* lone.c */
void app_lone_init(struct app *app);
void app_lone_deinit(struct app *app);
void app_lone_note_key(struct app *app); /* each key that comes, pasted text too */
/* True: this command waits, or the key came too early for it. */
bool app_lone_key(struct app *app, enum view_key_scope scope, const struct draw_key *key,
	const char *command);
/* app.c */
struct app *app_of(const struct view_host *host);
struct view *app_focused(const struct app *app); /* never NULL */
struct app_tab *app_tab(const struct app *app);
void app_fail(struct app *app, const char *what, const struct err *err);
/* What comes while a key or a click is handled was asked for, and gets the keyboard; else see surprise.h. */
void app_push_dialog(struct app *app, struct widget_dialog *dialog);
void app_pop_dialog(struct app *app);
void app_drop_dialogs(struct app *app, const void *owner);
/* What was asked to close closes now: the next key is for what is below. Not from inside a view. */
void app_close_pending(struct app *app);
void app_quit_now(struct app *app);
void app_gone(void *app); /* the terminal went away: detached at the end of the turn */
void app_ask_quit(struct app *app);

/* tabs.c */
bool app_tabs_open(struct app *app, const struct view_class *class,
	const struct view_args *args, struct err *err);
bool app_tabs_split(struct app *app, enum app_layout_way way, const struct view_class *class,
	const struct view_args *args, struct err *err);
void app_tabs_close_view(struct app *app, struct view *view);
void app_tabs_ask_close(struct app *app, struct view *view);
void app_tabs_select(struct app *app, size_t index);
void app_tabs_tell_changed(struct app *app); /* the fleet has changed */
void app_tabs_focus(struct app *app, struct app_layout *leaf);
void app_tabs_each_view(struct app *app, void (*fn)(void *arg, struct view *view), void *arg);
/* As the tab bar shows it; 0: it is in none. */
size_t app_tabs_number_of(struct app *app, const void *view);
void app_tabs_free(struct app *app);

/* Middle click on a tab: never the list, and nothing in which something runs without asking. */
void app_tabs_ask_close_all(struct app *app, size_t index);

/* tab_bar.c */
void app_tab_bar_draw(struct app *app, struct draw_region bar);
void app_tab_bar_press(struct app *app, const struct draw_mouse *mouse);
size_t app_tab_bar_at(const struct app *app, int col); /* an index; n_tabs: none */

/* frame.c */
void app_frame_dirty(struct app *app);
void app_frame_init(struct app *app);
void app_frame_deinit(struct app *app);
void app_frame_stop(struct app *app);
void app_frame_sent(struct app *app);
void app_frame_compose(struct app *app);
/* Where a view was drawn; false if it is hidden. */
bool app_frame_region(const struct app *app, const struct view *view, struct app_rect *out);

/* link_row.c: the row under the tabs while the API server does not answer */
int app_link_row_rows(const struct app *app); /* 0 or 1 */
void app_link_row_text(const struct app *app, const struct engine_link *link, struct str *out);
void app_link_row_draw(struct app *app, struct draw_region row);
int64_t app_link_row_redraw_after_ms(const struct app *app);
/* The backend can be started, and the offer has stood for long enough to be meant. */
bool app_link_row_offers(const struct app *app);
bool app_link_row_start(struct app *app, struct err *err);

/* commands.c */
bool app_command_run(struct app *app, const char *line, struct err *err);
void app_command_try(struct app *app, const char *line); /* shows the failure */
/* False with *err: why it would be refused now, with that view in the focus. */
bool app_command_can(
	const struct app *app, const struct view *view, const char *line, struct err *err);
bool app_command_can_in(const struct view_host *host, int scope, const char *line,
	struct err *err); /* host.can */
size_t app_command_complete(
	const struct app *app, const char *prefix, const struct view_command **out, size_t max);

void app_command_each(struct view_host *host,
	void (*fn)(void *arg, const char *group, const struct view_command *command),
	void *arg);

/* app_commands.c: the words that mean the same in every view; self: the application. */
extern const struct view_command app_commands[];
extern const size_t app_n_app_commands;

/* keys and mouse */
void app_dispatch_key(void *arg, const struct draw_key *key);
void app_dispatch_mouse(void *arg, const struct draw_mouse *mouse);
void app_dispatch_paste(void *arg, struct slice text, bool is_cut);
void app_dispatch_focus(void *arg, bool in);
void app_drag_end(struct app *app, bool is_drop);

/* prompt.c */
void app_prompt_open(struct app *app, enum app_prompt_kind kind);
void app_prompt_close(struct app *app);
void app_prompt_key(struct app *app, const struct draw_key *key);
void app_prompt_paste(struct app *app, struct slice text);
void app_prompt_draw(struct app *app, struct draw_region screen);

/* session.c */
void app_session_stop(struct app *app); /* job control */
void app_session_free(struct app *app);
