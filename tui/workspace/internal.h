// SPDX-License-Identifier: Apache-2.0
/* What the files of a workspace share: clients.c who shows it, surprises.c and dialogs.c what a person is told, tabs.c and
 * place.c the panes, commands.c the words, host.c what views ask for, backend.c the way to the server, quit.c its end,
 * workspace.c its life. Nobody else includes this. */
#pragma once

#include "engine/base/mem.h"
#include "tui/session/session.h"
#include "tui/views/actions/actions.h"
#include "tui/views/edit/edit.h"
#include "tui/views/transfers/transfers.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"
#include "tui/workspace/workspace.h"

struct workspace_tab {
	struct workspace_layout *root, *focus; /* leaves hold struct view */
	bool is_zoomed;
	struct workspace_tab *opener; /* where closing goes back to; NULL: the first */
};

/* One context of the kubeconfig: its engine, and what runs on it. The current one is what new views see; another lives on as long
 * as a pane shows it or something runs there. */
struct workspace_context {
	struct view_host host; /* first: views hand it back */
	struct workspace *workspace;
	bool is_owned; /* its engine was opened here */
	char namespace_[WORKSPACE_NAMESPACE_BYTES];
	uint64_t rights_revision, link_revision; /* last seen */
	struct workspace_context *prev, *next;
};

struct workspace {
	struct view_host *host;               /* of the current context */
	const struct view_host_ops *host_ops; /* of every one */
	struct workspace_context *contexts;
	struct state_store *remembered;
	struct workspace_change *change; /* to another context, under way; NULL */
	struct net_loop *loop;
	struct workspace_opts opts;
	struct draw_theme theme; /* as long as no client draws */
	char *local_dir;
	struct workspace_client *clients, *latest;
	/* tabs */
	struct workspace_tab *tabs[WORKSPACE_TABS_MAX];
	size_t n_tabs, current;
	struct view *strip; /* the log below everything */
	bool is_strip_on, is_strip_focused;
	int strip_rows;
	struct workspace_rect body, strip_rect;
	/* what a person is told */
	char note[512];
	enum view_note_level note_level;
	struct net_loop_timer *note_timer;
	struct net_loop_timer *save_timer;                        /* of what is remembered */
	struct widget_dialog *surprises[WORKSPACE_SURPRISES_MAX]; /* the first one is shown */
	size_t n_surprises;
	/* what a person does */
	int n_handling;        /* over 0: a key, a click or a command is being handled */
	uint64_t input_serial; /* counts it */
	/* the engine */
	bool is_engine_telling, is_backend_starting;
	/* at the end of the turn */
	struct view *closing[16];
	size_t n_closing;
	bool is_closing_deferred, is_quitting;
};

static inline struct workspace_context *workspace_context_of(const struct view_host *host)
{
	return (struct workspace_context *)(uintptr_t)host;
}

static inline struct workspace *workspace_of(const struct view_host *host)
{
	return workspace_context_of(host)->workspace;
}

static inline struct workspace_tab *workspace_tab(const struct workspace *workspace)
{
	return workspace->tabs[workspace->current];
}

/* clients.c */
void workspace_set_note(
	struct workspace *workspace, enum view_note_level level, const char *text);

/* surprises.c */
void workspace_surprise_push(struct workspace *workspace, struct widget_dialog *dialog_take);
/* Those of an owner that goes are thrown away unanswered. */
void workspace_surprise_drop(struct workspace *workspace, const void *owner);

void workspace_surprises_free(struct workspace *workspace);

/* contexts.c */
struct workspace_context *workspace_context_new(
	struct workspace *workspace, struct engine *engine, bool is_owned);
void workspace_contexts_free(struct workspace *workspace); /* after the tabs */
void workspace_contexts_end(
	struct workspace *workspace); /* before them: what runs is told to nobody */
/* Those that nobody needs any more go. */
void workspace_contexts_sweep(struct workspace *workspace);

/* tabs.c */
bool workspace_tabs_open_in(struct workspace *workspace, struct view_host *host,
	const struct view_class *class, const struct view_args *args, struct err *err);
/* Another view in its place; the old one is freed. */
void workspace_tabs_replace(
	struct workspace *workspace, struct view *old, struct view *new_take);
void workspace_tabs_free(struct workspace *workspace);
void workspace_tabs_close_view(struct workspace *workspace, struct view *view);
void workspace_tabs_tell_changed(struct workspace *workspace); /* the fleet has changed */

/* host.c */
extern const struct view_host_ops workspace_host_ops;

/* commands.c: for host_ops */
bool workspace_command_can_in(
	const struct view_host *host, int scope, const char *line, struct err *err);
int workspace_command_scope_before(const struct view_host *host);
void workspace_command_each(struct view_host *host,
	void (*fn)(void *arg, const char *group, const struct view_command *command),
	void *arg);
