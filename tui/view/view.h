// SPDX-License-Identifier: Apache-2.0
/* A view: one const row of functions. It draws into a region from its state and the engine's, handles keys that
 * the key table leaves to it, and offers commands. Everything optional may be NULL. */
#pragma once

#include "tui/draw/input.h"
#include "tui/draw/surface.h"
#include "tui/view/host.h"

enum view_key_scope {
	SCOPE_GLOBAL, /* everywhere but in a shell and in dialogs */
	SCOPE_LIST,
	SCOPE_DETAIL,
	SCOPE_FILES,
	SCOPE_LOG,
	SCOPE_COPIES,
	SCOPE_HELP,
	SCOPE_SCROLL,    /* a shell pane in scroll mode */
	SCOPE_DEAD,      /* a shell pane whose process has ended */
	SCOPE_SHELL,     /* a live shell pane: keys go to the process */
	SCOPE_TYPING,    /* a text is typed in a view (quick search): keys go to the view */
	SCOPE_PREFIX,    /* after the prefix key, everywhere */
	SCOPE_RESOURCES, /* a list of another kind than sandboxes */
	SCOPE_RESOURCE,  /* the page about one of these */
	SCOPE_YAML,      /* an object as YAML */
	SCOPE_BULK,      /* what became of each of several */
	SCOPE_LOGS,      /* the log of a container */
	SCOPE_CONTEXTS,  /* the contexts of the kubeconfig */
	SCOPE_TREE,      /* what belongs to an object, and whose it is */
	SCOPE_COUNT,
};

/* A command is one row: of a view's table, of those on rows (views/actions), or of the application's. Palette, completion,
 * help and hints read it there. A key binds a command line (keys.h): one command may have several, with other arguments. */
struct view_command {
	const char *name;
	const char *args; /* "" or "NAME", "[PROGRAM ARG…]": for help and completion */
	const char *help; /* one line */
	/* self: the view, or the client (struct workspace_client). args: the rest of the line, "" if none. */
	bool (*run)(void *self, const char *args, struct err *err);
	/* What most do without. */
	const char *aliases; /* with spaces between them: what fingers from elsewhere type */
	bool has_right;      /* then it is greyed, and refused, where all its targets lack: */
	enum access_action right; /* of commands on rows; a view's own ask its can() */
	/* A bare letter that is bound to it in a pane that scrolls or has ended counts only if none follows (client/lone.c). */
	bool is_lone;
	/* What could follow it, told one by one, for completion: raw foreign text is fine. What is typed of it is args; all may be
	 * told, the palette picks. NULL: the words of args, if it is a list of words ("on|off"). self as for run. */
	void (*complete)(void *self, const char *args,
		void (*add)(void *add_arg, const char *candidate), void *add_arg);
	/* Of commands on rows: false: it makes no sense for the targets as they are now, and is not offered. It is not
	 * refused: who types it is told why by the one who knows. NULL: it always does. */
	bool (*fits)(const struct view *view);
};

struct view_drag { /* something held by the mouse */
	struct view *from;
	bool is_local; /* the files are on this machine's disk */
	char *uid;     /* else the row whose they are; NULL: the direct runtime */
	char **paths;  /* full paths there */
	size_t n_paths;
	char label[64]; /* what the ghost shows; raw */
};

struct view {
	const struct view_class *class;
	struct view_host *host;
	int64_t ended_ms; /* monotonic: its program did, and keys may have been on their way to it; 0 */
};

/* What has happened where nobody looks. */
enum view_mark {
	VIEW_BELL = 1 << 0,   /* it rang, and has not had the focus since */
	VIEW_OUTPUT = 1 << 1, /* there is output that was not on the screen yet */
};

struct view_class {
	const char *name;
	/* Which keys apply now. */
	enum view_key_scope (*scope)(const struct view *view);
	const struct view_command *commands;
	size_t n_commands;

	/* NULL with *err when it cannot be opened. */
	struct view *(*open)(
		struct view_host *host, const struct view_args *args, struct err *err);
	void (*free)(struct view *view);
	void (*title)(const struct view *view, struct str *out); /* raw foreign text is fine */
	void (*draw)(struct view *view, struct draw_region region, bool is_focused);
	/* Keys the table did not take; true: used. */
	bool (*key)(struct view *view, const struct draw_key *key);
	/* Positions are relative to the region of the last draw. */
	bool (*mouse)(struct view *view, const struct draw_mouse *mouse);
	void (*paste)(struct view *view, struct slice text, bool is_cut);
	void (*focus)(struct view *view, bool in);
	/* The fleet has changed; told while visible, and when it becomes so. Calls host_dirty() if that shows. */
	void (*changed)(struct view *view);
	/* False with *err: why that command of its own (by name) would be refused now: it is drawn as such, and whoever runs
	 * it is told at once. */
	bool (*can)(const struct view *view, const char *command, struct err *err);
	/* Rows that a command acts on: the marked ones, else the one under the cursor. */
	size_t (*targets)(const struct view *view, const char **uids, size_t max);
	/* The filter's text, while being typed and when done. NULL: cannot filter. */
	void (*filter)(struct view *view, const char *text);
	const char *(*filter_text)(const struct view *view);
	/* What is wrong with that text, for whoever types it; "" if nothing. NULL: nothing ever is. */
	const char *(*filter_error)(const struct view *view);
	/* What that text could become with another end, told one by one: whole texts. All may be told, the prompt picks. */
	void (*filter_complete)(const struct view *view, const char *text,
		void (*add)(void *add_arg, const char *candidate), void *add_arg);
	/* Drag and drop. begin fills *drag (heap strings, freed by the caller) if there is something at the place;
	 * hover says whether it may be dropped there and marks the target until the next call or leave. */
	bool (*drag_begin)(struct view *view, int col, int row, struct view_drag *drag);
	bool (*drag_hover)(struct view *view, const struct view_drag *drag, int col, int row);
	void (*drag_leave)(struct view *view);
	void (*drop)(struct view *view, const struct view_drag *drag, int col, int row);
	/* Esc: true if there was something to take back, such as marks. */
	bool (*escape)(struct view *view);
	/* Non-NULL: why closing it loses something ("bash is running in x"), for the question. */
	const char *(*busy)(const struct view *view, struct str *into);
	/* The same thing is asked for again: true if this view shows it. */
	bool (*shows)(const struct view *view, const struct view_args *args);
	const struct session *(*session)(const struct view *view); /* that it shows */
	bool (*wants_motion)(const struct view *view); /* of the mouse, without a button */
	/* Bits of enum view_mark, for the tab bar. */
	unsigned (*marks)(const struct view *view);
	/* When it wants to be drawn again with nothing having changed (ages): ms, 0 = never. */
	int64_t (*redraw_after_ms)(const struct view *view);
};

/* view_class.shows of what there is one of: the same whatever it is opened with. */
bool view_is_the_only_one(const struct view *view, const struct view_args *args);

static inline enum view_key_scope view_scope(const struct view *view)
{
	return view->class->scope(view);
}
