// SPDX-License-Identifier: Apache-2.0
/* What lists of rows have in common, whatever their kind: a view begins with a struct views_list. list.c follows a source
 * of rows and takes keys and mouse, draw.c draws the table; neither knows what the rows are or what stands around them. */
#pragma once

#include "engine/resource/source.h"
#include "tui/view/view.h"

enum {
	LIST_AGE_STEP_MS = 5000, /* of the data's age, while all is well */
	LIST_SLIP_MS = 500,
};

/* Why a column tells nothing. */
enum views_list_dark {
	LIST_KNOWN,
	LIST_WAITED_FOR, /* its source has not been read yet */
	LIST_HIDDEN,     /* and may not be */
};

struct views_list {
	struct view view; /* first */
	const struct resource_kind *kind;
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

/* ---- list.c */

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
int64_t views_list_redraw_after_ms(const struct view *view);

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
