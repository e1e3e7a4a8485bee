// SPDX-License-Identifier: Apache-2.0
/* One pane of the file browser: a folder of the local disk or of a sandbox, its entries, their order, marks and
 * cursor. Folders are read by engine/files; what was there stays on screen until the new picture is complete, and cursor
 * and marks are kept by name. */
#pragma once

#include "tui/views/transfers/transfers.h"

#include "engine/base/err.h"
#include "tui/draw/input.h"

enum views_files_column { FILES_NAME, FILES_SIZE, FILES_TIME, FILES_MODE, FILES_COLUMN_COUNT };

struct views_files_pane {
	struct view_host *host;
	bool is_local;
	char *uid;  /* of a sandbox; NULL: the direct one */
	char *path; /* local: absolute; in a sandbox: from its root, "" is that */

	struct files_listing listing;
	struct files_entry **shown; /* in order, without what is filtered out */
	size_t n_shown;
	size_t n_marked;
	enum views_files_column sort;
	bool is_reversed, shows_hidden;
	char *filter; /* never NULL */

	size_t cursor, top; /* rows: ".." is row 0 unless this is the root */
	char *wanted;       /* where the cursor goes when it has been read; or NULL */

	bool is_reading, is_complete; /* complete: read to the end once, with no error */
	struct err err;               /* code NONE: none */
	struct files_op *read;
	struct net_loop_timer *unreachable;
	size_t n_read; /* of the folder that is being read */
	uint64_t seen_arrivals;
	char *name, *namespace_;       /* of the sandbox, as last seen; NULL: never */
	char pod_uid[FLEET_UID_BYTES]; /* of the sandbox when it was read */
	bool was_suspended, was_ready;

	/* of the last draw */
	struct draw_region at;
	int rows_shown;
	int column_at[FILES_COLUMN_COUNT], column_cols[FILES_COLUMN_COUNT]; /* -1: not shown */
	/* being dragged over */
	bool is_hovered;
	size_t hover_row; /* a folder's row, or HOVER_WHOLE */
};
enum { HOVER_WHOLE = -1 };

/* path NULL: the local start folder, or the sandbox's root. Starts to read. */
void views_files_pane_init(struct views_files_pane *pane, struct view_host *host, bool is_local,
	const char *uid, const char *path);
void views_files_pane_deinit(struct views_files_pane *pane);
/* Another place, or another folder of it. wanted: the name for the cursor, or NULL. */
void views_files_pane_connect(
	struct views_files_pane *pane, bool is_local, const char *uid, const char *path);
void views_files_pane_go(struct views_files_pane *pane, const char *path, const char *wanted);
void views_files_pane_read(struct views_files_pane *pane); /* again */
/* What has been read; what was being read is dropped. err: why it could not be. */
void views_files_pane_take(struct views_files_pane *pane, const struct err *err,
	struct files_listing *listing_take);
void views_files_pane_poll(
	struct views_files_pane *pane); /* reads again if a copy has arrived here */
/* The fleet has changed: a sandbox that has gone, moved, or been suspended is not shown as if nothing were. */
void views_files_pane_follow(struct views_files_pane *pane);

/* "local", or the sandbox's name also when it has gone. Raw foreign text, borrowed for this turn. */
const char *views_files_pane_name(const struct views_files_pane *pane);
struct transfer_place views_files_pane_place(const struct views_files_pane *pane);
bool views_files_pane_is_same_place(
	const struct views_files_pane *pane, bool is_local, const char *uid);
bool views_files_pane_is_root(const struct views_files_pane *pane);
/* New strings, free(). */
char *views_files_pane_join(const struct views_files_pane *pane, const char *name);
char *views_files_pane_parent(const struct views_files_pane *pane);
/* What a person typed, from here: absolute or relative, ".." resolved. NULL with *err. */
char *views_files_pane_resolve(
	const struct views_files_pane *pane, const char *typed, struct err *err);

size_t views_files_pane_rows(const struct views_files_pane *pane);
/* NULL: the row of "..", or none. */
struct files_entry *views_files_pane_at(const struct views_files_pane *pane, size_t row);
bool views_files_pane_is_parent_row(const struct views_files_pane *pane, size_t row);
bool views_files_is_folder(const struct files_entry *entry);
void views_files_pane_move(struct views_files_pane *pane, size_t row); /* the cursor, clamped */
void views_files_pane_sort(
	struct views_files_pane *pane, enum views_files_column column); /* again: reversed */
void views_files_pane_show_hidden(struct views_files_pane *pane, bool on);
void views_files_pane_filter(struct views_files_pane *pane, const char *text);
void views_files_pane_mark(struct views_files_pane *pane, size_t row, bool on);
void views_files_pane_mark_all(struct views_files_pane *pane, bool on); /* what is shown */
/* The first row at or after `from`, round the end, whose name begins with text (case ignored); else one that has it
 * anywhere. (size_t)-1: none. */
size_t views_files_pane_search(
	const struct views_files_pane *pane, size_t from, const char *text);
/* The marked entries, else the one under the cursor: a new array, free() it, not what is in it. */
struct files_entry **views_files_pane_chosen(const struct views_files_pane *pane, size_t *n);

/* For an operation of engine/files that begins now. False with *err: its sandbox cannot be reached. */
bool views_files_pane_place_now(
	const struct views_files_pane *pane, struct files_place *place, struct err *err);
/* engine_may() of an action on files, for either side. */
bool views_files_pane_may(
	const struct views_files_pane *pane, enum access_action action, struct err *err);

/* ---- draw.c */
void views_files_pane_draw(
	struct views_files_pane *pane, struct draw_region region, bool is_active);
/* The row at a place of the last draw; false: it is none. */
bool views_files_pane_row_at(
	const struct views_files_pane *pane, int col, int row, size_t *out);
const char *views_files_size_text(const struct files_entry *entry, char out[16]);
