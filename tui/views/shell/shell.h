// SPDX-License-Identifier: Apache-2.0
/* The shell pane: what its files share. It shows a session (tui/session) and owns only how: where it is scrolled to, what is
 * selected, and the picture of its last frame. These are places in the terminal, not state of it: two panes of one
 * session, or two terminals, look at different lines. scroll.c places, draw.c the picture, input.c keys and mouse,
 * commands.c the words, shell.c the view. */
#pragma once

#include "tui/session/session.h"
#include "tui/term/term.h"
#include "tui/view/view.h"

enum { SHELL_TTY_LINE_BYTES = 4095 /* a canonical terminal cuts longer lines */ };

struct views_shell {
	struct view view;
	struct session *session; /* a reference */
	struct session_viewer *viewer;
	struct term *term; /* the session's */
	bool has_bell;     /* rang without the focus */
	bool is_focused;   /* the keyboard is here, and the terminal has the focus */
	bool has_output;   /* since it was drawn last */
	/* the clipboard, as long as a person is asked */
	bool is_asking;
	char *clip;
	size_t n_clip;
	/* the picture of the last frame: rows are drawn again only when they changed */
	struct draw_surface *shot;
	uint64_t revision;
	bool is_shot_stale;
	draw_color shot_fg, shot_bg; /* of text without colours of its own */
	/* scrolling */
	bool is_scrolling,
		is_peeking;         /* peeking: by the wheel; a key goes back to the program */
	struct term_marker top, at; /* first line shown; the cursor */
	bool has_selection, is_block, is_selecting;
	struct term_marker from, to;
};

static inline struct views_shell *shell_of(const struct view *view)
{
	return (struct views_shell *)(uintptr_t)view;
}

static inline bool shell_is_live(const struct views_shell *shell)
{
	return session_state(shell->session) != SESSION_ENDED;
}

/* scroll.c */
/* The line of the terminal at the top of the pane. */
int views_shell_top_line(const struct views_shell *shell);
void views_shell_scroll_begin(struct views_shell *shell, bool is_peek);
void views_shell_scroll_end(struct views_shell *shell);
void views_shell_scroll_by(
	struct views_shell *shell, int lines); /* the view, negative is back in time */
/* The cursor of the scroll mode to that place, and the view and the selection with it. */
void views_shell_scroll_to(struct views_shell *shell, int line, int col);
/* Where that cursor is; false: its line is gone. */
bool views_shell_scroll_cursor(const struct views_shell *shell, struct term_pos *out);
void views_shell_select_begin(struct views_shell *shell, int line, int col, bool is_block);
void views_shell_select_to(struct views_shell *shell, int line, int col);
void views_shell_select_word(struct views_shell *shell, int line, int col);
void views_shell_select_clear(struct views_shell *shell);
bool views_shell_select_copy(struct views_shell *shell); /* false if there is nothing */
/* Both ends in reading order. */
bool views_shell_selection(
	const struct views_shell *shell, struct term_pos *from, struct term_pos *to);

/* clipboard.c */
/* session_events.on_clipboard of a pane. */
void views_shell_clipboard_ask(void *arg, struct slice bytes);

/* draw.c */
void views_shell_draw(struct view *view, struct draw_region region, bool is_focused);

/* input.c */
bool views_shell_key(struct view *view, const struct draw_key *key);
void views_shell_send_key(
	struct term *term, const struct draw_key *key); /* as xterm would send it */
bool views_shell_mouse(struct view *view, const struct draw_mouse *mouse);
void views_shell_paste(struct view *view, struct slice text, bool is_cut);

/* commands.c */
enum { SHELL_COMMANDS = 7 };
extern const struct view_command views_shell_commands[SHELL_COMMANDS];
