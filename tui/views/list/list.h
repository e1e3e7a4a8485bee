// SPDX-License-Identifier: Apache-2.0
/* What lists of rows have in common, whatever their kind: a view begins with a struct views_list. list.c follows a source
 * of rows and takes keys and mouse, draw.c draws the table, complete.c tells what may be typed, columns.c decides which columns there is room for and how wide
 * they are, cell.c what one says; none knows what the rows are or what stands around them. */
#pragma once

#include "engine/resource/source.h"
#include "tui/view/view.h"

enum {
	LIST_AGE_STEP_MS = 5000, /* of the data's age, while all is well */
	LIST_SLIP_MS = 500,
	LIST_ENDS_SOON_MS = 300000, /* an end of life that is nearer warns */
	LIST_MARK_COLS = 2,         /* before the first column */
};

/* Why a column tells nothing. */
enum views_list_dark {
	LIST_KNOWN,
	LIST_WAITED_FOR, /* its source has not been read yet */
	LIST_HIDDEN,     /* and may not be */
};

/* What the cells of a column were like, of the rows that have been seen and of a sample of the others. */
struct views_list_measure {
	int cols;             /* of the widest */
	bool is_any, differs; /* one says something; two say different things */
	uint32_t hash;        /* of the first text */
	uint64_t echoes;      /* bits: columns of which it has only said the same, or nothing */
};

struct views_list;
/* A column of the view, not of its kind: what its rows are to this workspace. It is no field, and nothing is sorted by it. */
struct views_list_own_column {
	struct resource_column column; /* title, cols and rank; no value() */
	/* What it says of a row; "" for nothing. May point into `buffer`. */
	const char *(*text)(const struct views_list *list, const void *row,
		char buffer[RESOURCE_CELL_BYTES]);
	bool (*is_any)(const struct views_list *list); /* it says something of some row */
};

struct views_list {
	struct view view; /* first */
	const struct resource_kind *kind;
	const struct views_list_own_column *own; /* NULL: it has none */
	int screen
		[RESOURCE_COLUMNS_MAX]; /* which columns in which order; its own is n_columns */
	/* Asked anew each time: what holds the rows may be replaced between two turns. */
	struct resource_source (*source)(const struct views_list *list);
	struct resource_follower follower;
	struct resource_collection *rows;
	char cursor[RESOURCE_UID_BYTES];
	size_t cursor_at, top;
	int64_t slipped_ms; /* its row went, and another one came under it: monotonic; 0: never */
	int rows_shown, first_row; /* of the last draw */
	int header_row;
	int column_at[RESOURCE_COLUMNS_MAX],
		column_cols[RESOURCE_COLUMNS_MAX]; /* -1: not shown */
	struct views_list_measure measures[RESOURCE_COLUMNS_MAX];
	const void *measured_self; /* whose rows those were */
	size_t n_measured;         /* how many rows there were then */
	uint64_t measured_revision;
	int64_t measured_ms,
		moved_ms; /* monotonic: measured anew, and the last move of the cursor by hand */
	enum views_list_dark is_dark[RESOURCE_COLUMNS_MAX];
	bool shows_seconds, is_stale; /* stale: drawn dim */
};

static inline struct views_list *list_of(const struct view *view)
{
	return (struct views_list *)(uintptr_t)view;
}

static inline const void *views_list_find(const struct views_list *list, const char *uid)
{
	const struct resource_source source = list->source(list);
	return resource_source_find(&source, uid);
}

static inline const struct resource_column *views_list_column(
	const struct views_list *list, int column)
{
	bool is_own = column == list->kind->n_columns;
	return is_own ? &list->own->column : &list->kind->columns[column];
}

static inline bool views_list_is_own(const struct views_list *list, int column)
{
	return column == list->kind->n_columns;
}

/* ---- list.c */

/* Before the column of the kind that has that name; after init, before the first draw. */
void views_list_add_column(
	struct views_list *list, const struct views_list_own_column *own, const char *before);
void views_list_init(struct views_list *list, struct view_host *host,
	const struct view_class *class, const struct resource_kind *kind,
	struct resource_source (*source)(const struct views_list *list));
void views_list_deinit(struct views_list *list);
bool views_list_is_behind(const struct views_list *list);
void views_list_changed(
	struct view *view); /* view_class.changed: drawn anew when it is behind */
/* Takes over what the source has changed; the cursor stays on its row. */
void views_list_follow(struct views_list *list);
void views_list_keep_cursor(
	struct views_list *list); /* after the order or the filter changed */
/* The row under the cursor; NULL: there is none, or another one has just come under it. */
const void *views_list_row(const struct views_list *list);
size_t views_list_marked_or_cursor(
	const struct views_list *list, const char **uids, size_t max);
bool views_list_clear_marks(struct views_list *list); /* false: there were none */

/* Commands of a view that begins with a struct views_list. */
bool views_list_move(void *self, const char *args, struct err *err);
bool views_list_mark(void *self, const char *args, struct err *err);
bool views_list_sort(void *self, const char *args, struct err *err);
/* Functions of its class. */
bool views_list_mouse(struct view *view, const struct draw_mouse *mouse);
void views_list_filter(struct view *view, const char *text);
const char *views_list_filter_text(const struct view *view);
const char *views_list_filter_error(const struct view *view);
int64_t views_list_redraw_after_ms(const struct view *view);

/* ---- complete.c: of a view that begins with a struct views_list; as view_command.complete and view_class.filter_complete */

void views_list_filter_complete(const struct view *view, const char *text,
	void (*add)(void *add_arg, const char *candidate), void *add_arg);
void views_list_complete_mark(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg);
void views_list_complete_sort(void *self, const char *args,
	void (*add)(void *add_arg, const char *candidate), void *add_arg);

/* ---- cell.c */

/* What a cell says on a screen; "" for nothing. May point into `buffer` or into the row. */
const char *views_list_cell_text(const struct views_list *list, const void *row, int column,
	char buffer[RESOURCE_CELL_BYTES]);
/* The columns that it wants, its picture, glyph and note included. */
int views_list_cell_cols(
	const struct views_list *list, const void *row, int column, const char *text);
/* The most that one of that column may take; 0: no limit of its own. */
int views_list_cell_cols_max(const struct resource_column *column);
enum views_list_look {
	LIST_PLAIN,
	LIST_UNDER_CURSOR,
	LIST_DIMMED, /* no colours of states, which speak of now */
};
void views_list_cell_draw(const struct views_list *list, struct draw_region r, int at,
	int column, const void *row, struct draw_style base, enum views_list_look look);

/* ---- columns.c */

/* Looks at the cells of the rows from list->top on, and now and then at a sample of all: what it costs does not grow with
 * their number. Widths only grow while somebody moves through the list. */
void views_list_measure(struct views_list *list, size_t n_visible);
/* Fills column_at and column_cols. is_all: of all namespaces. */
void views_list_lay_columns(struct views_list *list, int cols, bool is_all);
/* What stands over a column, with the arrow of the order. */
void views_list_column_title(const struct views_list *list, int column, char title[32]);

/* ---- draw.c */

/* The header and the rows, from row `head` of the region on; false: there are no rows, and what is below the header
 * (first_row) is free. is_all: of all namespaces. */
bool views_list_draw(struct views_list *list, struct draw_region region, int head, bool is_all,
	bool is_focused);
/* As of earlier: no colour of a state, which speaks of now. */
struct draw_style views_list_dimmed(const struct views_list *list, struct draw_style style);
/* "data 3s old", at the right of the first row; returns its columns. */
int views_list_draw_age(
	struct views_list *list, struct draw_region r, int64_t age_ms, bool is_bad);
