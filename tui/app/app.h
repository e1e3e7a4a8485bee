// SPDX-License-Identifier: Apache-2.0
/* The dashboard: a workspace (tui/workspace) and one client (tui/client) of it. It is given an engine, two descriptors and a
 * TERM, never stdin or stdout by assumption. The terminal may be taken away and another one given: the workspace lives on
 * meanwhile. */
#pragma once

#include <stdbool.h>

struct app;
struct engine;
struct err;
struct net_loop;

struct app_opts {
	struct engine *engine; /* borrowed */
	int in_fd, out_fd;     /* borrowed; both -1: begin without a terminal */
	const char *term;      /* TERM */
	const char *colorterm; /* COLORTERM; may be NULL */
	bool no_color;         /* NO_COLOR */
	const char *
		theme; /* name or path; NULL: what was chosen last time, else what suits the terminal */
	bool no_mouse; /* leave the mouse to the terminal */
	const char *
		local_dir; /* where the local side of files begins; NULL: the working directory */
	const char *state_path; /* what is remembered from run to run; NULL: nothing */
	/* A person asked to quit (and confirmed): stop the loop. */
	void (*on_quit)(void *arg);
	/* The terminal has gone (hang-up): it is already detached. NULL: as on_quit. */
	void (*on_gone)(void *arg);
	/* Starts the embedded backend, without blocking; one done() comes later. NULL: it cannot be started from here. Whoever
	 * frees the application while it starts makes sure that none comes any more. */
	bool (*start_backend)(void *arg, void (*done)(void *done_arg, const struct err *err),
		void *done_arg, struct err *err);
	/* An engine for another context, the application's to free. NULL: there is no other. */
	struct engine *(*open_engine)(void *arg, const char *context, struct err *err);
	void *arg;
};

/* Does not touch the network: the first frame is painted before any answer. ERR_TTY_NONE if the descriptors are no
 * terminal or TERM is of no use; ERR_CONFIG_FILE for a theme. */
struct app *app_new(struct net_loop *loop, const struct app_opts *opts, struct err *err);
void app_free(struct
	app *app); /* restores the terminal; ends shells; cancels copies; deletes nothing else */

bool app_attach(struct app *app, int in_fd, int out_fd, const char *term, const char *colorterm,
	struct err *err);         /* replaces the terminal that was there */
void app_detach(struct app *app); /* restores it; the rest goes on */
bool app_is_attached(const struct app *app);
void app_resized(struct app *app); /* SIGWINCH does this by itself */

/* The signals of a program that owns its terminal: SIGWINCH, SIGTSTP, SIGCONT. Stopped by app_free(). At those that end it
 * (net_watch_fatal_new() of engine/net/watch.h) the program calls app_free(). */
bool app_handle_signals(struct app *app, struct err *err);

/* Runs a command line as if typed: "shell", "files", "namespace all". For start options and tests. */
bool app_run(struct app *app, const char *command, struct err *err);
/* What the command does that a line begins with, whichever view has it; NULL: none has. For keymap.yaml. */
const char *app_command_help(const char *line);
void app_note(struct app *app, const char *text); /* one line at the bottom */
