// SPDX-License-Identifier: Apache-2.0
/* The shell pane: what its files share. shell.c process and life, views_shell_draw.c the picture, shell_input.c keys and
 * mouse, shell_scroll.c scrolling and selecting. */
#pragma once

#include "tui/term/term.h"
#include "tui/view/view.h"

enum {
	SHELL_FEED_BYTES = 64 << 10, /* fed to the terminal between two looks at the keyboard */
	SHELL_HISTORY_BYTES = 16 << 20,   /* scrollback of a pane */
	SHELL_STDIN_BYTES_MAX = 16 << 20, /* typed or pasted and not yet taken */
	SHELL_TTY_LINE_BYTES = 4095,      /* a canonical terminal cuts longer lines */
};

enum views_shell_state { SHELL_WAITING, SHELL_STARTING, SHELL_RUNNING, SHELL_ENDED };
enum views_clipboard_policy { CLIPBOARD_ASK, CLIPBOARD_ALLOW, CLIPBOARD_DENY };

struct views_shell {
	struct view view;
	char *uid;               /* NULL: the direct runtime */
	char *name, *namespace_; /* namespace_: NULL: not known */
	char **argv;             /* NULL: a login shell */
	char *program;           /* for titles: base name */
	struct term *term;
	struct runtime_process *process;
	enum views_shell_state state;
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
	bool is_stdin_full;
	bool has_bell;   /* rang without the focus */
	bool is_focused; /* the keyboard is here, and the terminal has the focus */
	bool has_output; /* since it was drawn last */
	enum views_clipboard_policy clipboard;
	bool is_asking;
	char *clip; /* waits for the answer */
	size_t n_clip;
	/* the picture of the last frame: rows are drawn again only when they changed */
	struct draw_surface *shot;
	uint64_t revision;
	bool is_shot_stale;
	struct draw_region region; /* of the last draw */
	int banner_rows;
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

/* shell.c */
void views_shell_send(struct views_shell *shell, const char *bytes, size_t n);
void views_shell_queue_start(struct views_shell *shell);
bool views_shell_is_live(const struct views_shell *shell);
bool views_shell_run_again(void *self, const char *args, struct err *err);
bool views_shell_run_clear(void *self, const char *args, struct err *err);

/* views_shell_draw.c */
void views_shell_draw(struct view *view, struct draw_region region, bool is_focused);
/* The line of the terminal at the top of the pane. */
int views_shell_top_line(const struct views_shell *shell);

/* shell_input.c */
bool views_shell_key(struct view *view, const struct draw_key *key);
void views_shell_send_key(
	struct term *term, const struct draw_key *key); /* as xterm would send it */
bool views_shell_mouse(struct view *view, const struct draw_mouse *mouse);
void views_shell_paste(struct view *view, struct slice text, bool is_cut);

/* shell_scroll.c */
void views_shell_scroll_begin(struct views_shell *shell, bool is_peek);
void views_shell_scroll_end(struct views_shell *shell);
void views_shell_scroll_by(
	struct views_shell *shell, int lines); /* the view, negative is back in time */
void views_shell_select_begin(struct views_shell *shell, int line, int col, bool is_block);
void views_shell_select_to(struct views_shell *shell, int line, int col);
void views_shell_select_word(struct views_shell *shell, int line, int col);
void views_shell_select_clear(struct views_shell *shell);
bool views_shell_select_copy(struct views_shell *shell); /* false if there is nothing */
/* Both ends in reading order. */
bool views_shell_selection(
	const struct views_shell *shell, struct term_pos *from, struct term_pos *to);
enum { SHELL_COMMANDS = 7 };
extern const struct view_command views_shell_commands[SHELL_COMMANDS];
