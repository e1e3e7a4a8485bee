// SPDX-License-Identifier: Apache-2.0
/* What the application offers to a view. Views see nothing else of it: they change things by commands and by
 * operations of the engine, and ask here for everything around them. */
#pragma once

#include "engine/engine.h"
#include "tui/draw/theme.h"

#include <stdbool.h>

struct session;
struct sessions;
struct state_store;
struct views_actions;
struct views_edits;
struct view_command;
struct widget_dialog;
struct view_host;
struct view;
struct view_class;

enum view_note_level { NOTE_INFO, NOTE_OK, NOTE_WARNING };

/* What a view is opened with; borrowed for the call. */
struct view_args {
	const char *uid;                  /* row; NULL: none, or the direct runtime */
	const struct resource_kind *kind; /* resources, resource: what is listed */
	const char *namespace_, *name;    /* resource: which one */
	const char *path;                 /* files: where to start */
	const char *const *argv; /* shell: the command, NULL-terminated; NULL: a login shell */
	struct session *session; /* shell: one that is there already; NULL: a new one */
	/* The person does something else meanwhile: a new tab does not come to the front. */
	bool is_behind;
};

struct view_host_ops {
	void (*dirty)(struct view_host *host); /* something visible changed */
	/* Runs a command line as if typed; a failure is shown. */
	void (*run)(struct view_host *host, const char *command);
	/* While a key or a click is handled it is what was asked for, and gets the keyboard. Else nobody asked for it, and it
	 * waits until the person turns to it: whoever types goes on typing. */
	void (*push_dialog)(struct view_host *host, struct widget_dialog *dialog_take);
	void (*note)(struct view_host *host, enum view_note_level level,
		const char *text); /* one line, for a while */
	/* A dialog with code, cause and next step that stays until dismissed, put as by push_dialog. what: "Cannot delete x". */
	void (*fail)(struct view_host *host, const char *what, const struct err *err);
	/* A view by the name of its class, in a new tab, or the one that shows that already. */
	void (*open)(struct view_host *host, const char *name, const struct view_args *args);
	void (*close)(struct view_host *host, struct view *view); /* at the end of the turn */
	/* Changes with everything that the person does; for dialog_set_serial(). Never 0. */
	uint64_t (*input_serial)(const struct view_host *host);
	/* To the clipboard of the person's terminal (OSC 52). */
	void (*copy_text)(struct view_host *host, struct slice text);
	/* Looks at another context. False with *err: not, or not now. */
	bool (*use_context)(struct view_host *host, const char *name, struct err *err);
	/* The number of the tab that shows that session, as the tab bar has it; 0: none. May be NULL. */
	size_t (*tab_of)(const struct view_host *host, const struct session *session);
	/* The namespace that is looked at, "" = all. */
	const char *(*namespace_)(const struct view_host *host);
	/* The commands of the application and of rows, for help. */
	void (*each_command)(struct view_host *host,
		void (*fn)(void *arg, const char *group, const struct view_command *command),
		void *arg);
	/* For help: false with *err: why that command line would be refused now in a view of that scope (an enum
	 * key_scope), the one that help was opened from if it fits. */
	bool (*can)(const struct view_host *host, int scope, const char *line, struct err *err);
	/* The scope (an enum view_key_scope) of the view that the current tab was opened from; may be NULL. */
	int (*scope_before)(const struct view_host *host);
};

struct view_host {
	const struct view_host_ops *ops;
	struct net_loop *loop;
	struct engine *engine;
	const struct draw_theme *theme;
	struct sessions *sessions; /* the processes that shells show */
	struct transfer_queue *copies;
	struct views_actions *actions;
	/* From one run to the next (engine/base/state_store.h): set it when the person chooses, it is written a moment later.
	 * NULL: nothing is remembered. Never a secret. */
	struct state_store *remembered;
	struct views_edits *edits;
	const char *local_dir; /* where the local side of files begins; absolute */
};

static inline void host_dirty(struct view_host *host)
{
	host->ops->dirty(host);
}

static inline struct draw_style host_style(
	const struct view_host *host, enum draw_theme_role role)
{
	return theme_style(host->theme, role);
}

static inline uint64_t host_input_serial(const struct view_host *host)
{
	return host->ops->input_serial ? host->ops->input_serial(host) : 0;
}

/* printf forms of note. */
void view_host_notef(struct view_host *host, enum view_note_level level, const char *format,
	...) __attribute__((format(printf, 3, 4)));
void view_host_failf(struct view_host *host, const struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* "claim" or "sandbox/name" of a row, or the URL of the direct runtime: for titles and questions. Raw foreign
 * text, borrowed for this turn. */
const char *view_host_row_name(const struct view_host *host, const char *uid);
/* The API server does not answer (or late): what is shown is as of earlier, and drawn dim. */
bool view_host_is_stale(const struct view_host *host);
/* How it looks, in every view. */
enum draw_theme_role view_tone_role(enum resource_tone tone);
enum draw_theme_role view_host_state_role(enum fleet_state state);
