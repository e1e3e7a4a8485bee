// SPDX-License-Identifier: Apache-2.0
/* One terminal at a workspace (tui/workspace): its bytes in and frames out, keys, mouse, prompt, dialogs, colours. It may be
 * without a terminal (detached); then it keeps its dialogs, takes nothing and draws nothing.
 *
 * Runs on the loop of the workspace. Nothing of a pane or a tab is kept here: what is shown is asked for at each frame. */
#pragma once

#include "tui/draw/input.h"

#include <stdbool.h>

struct client;
struct draw_surface;
struct err;
struct net_loop;
struct workspace;
struct workspace_client;

struct client_opts {
	bool no_color; /* NO_COLOR */
	const char *
		theme; /* name or path; NULL: what was chosen last time, else what suits the terminal */
	bool no_mouse; /* leave the mouse to the terminal */
	/* The terminal has gone (hang-up): it is already detached. At the end of a turn. */
	void (*on_gone)(void *arg);
	void *arg;
};
/* Joins the workspace, without a terminal. ERR_CONFIG_FILE, ERR_FILE_NOT_FOUND: the theme that was asked for. */
struct client *client_new(struct net_loop *loop, struct workspace *workspace,
	const struct client_opts *opts, struct err *err);
void client_free(struct client *client); /* detaches, leaves. NULL is fine */
struct client *client_of(struct workspace_client *place);
struct workspace *client_workspace(const struct client *client);

/* Takes a terminal: two descriptors (borrowed), TERM, COLORTERM (or NULL). It replaces the one that was there. ERR_TTY_NONE: they
 * are no terminal, or TERM is of no use. */
bool client_attach(struct client *client, int in_fd, int out_fd, const char *term,
	const char *colorterm, struct err *err);
void client_detach(struct client *client); /* restores it */
bool client_is_attached(const struct client *client);
void client_resized(struct client *client); /* looks how large it is now */
/* SIGWINCH, SIGTSTP, SIGCONT of a program that owns this terminal; until client_free(). */
bool client_handle_signals(struct client *client, struct err *err);
void client_stop(
	struct client *client); /* job control: gives the terminal to the shell and stops */

/* ---- for the words of its person */

enum client_prompt_kind { PROMPT_NONE, PROMPT_COMMAND, PROMPT_FILTER };
void client_prompt_open(struct client *client, enum client_prompt_kind kind);
bool client_set_theme(struct client *client, const char *name, struct err *err);
const char *client_theme(const struct client *client); /* the name of what is shown */
void client_set_mouse(struct client *client, bool on);
bool client_has_mouse(const struct client *client);
void client_repaint(struct client *client); /* the whole screen */
/* The keyboard goes to the surprise that is shown; false: there is none. */
bool client_surprise_turn_to(struct client *client);
