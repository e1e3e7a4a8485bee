// SPDX-License-Identifier: Apache-2.0
/* The sandbox list: what its files share. list.c follows the fleet and takes keys and mouse, views_list_draw.c draws. */
#pragma once

#include "engine/resource/collection.h"
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
	struct view view;
	struct resource_collection *rows;
	const struct fleet
		*fleet;    /* whose rows these are: another namespace brings another one */
	uint64_t revision; /* of the fleet, as last taken over */
	char cursor[FLEET_UID_BYTES];
	size_t cursor_at, top;
	int64_t slipped_ms; /* its row went, and another one came under it: monotonic; 0: never */
	int rows_shown, first_row; /* of the last draw */
	int header_row;
	int column_at[RESOURCE_COLUMNS_MAX],
		column_cols[RESOURCE_COLUMNS_MAX]; /* -1: not shown */
	enum views_list_dark is_dark[RESOURCE_COLUMNS_MAX];
	bool is_rebuilding;
	bool shows_seconds, is_stale; /* stale: drawn dim */
};

static inline struct views_list *list_of(const struct view *view)
{
	return (struct views_list *)(uintptr_t)view;
}

static inline const struct resource_column *list_column(int i)
{
	return &fleet_sandbox_kind.columns[i];
}

static inline struct fleet *list_fleet(const struct views_list *list)
{
	return engine_fleet(list->view.host->engine);
}

/* list.c */
void views_list_follow(struct view *view); /* takes over what the fleet has changed */
void views_list_keep_cursor(struct views_list *list);

/* list_head.c: what stands above the table; its rows. */
int views_list_draw_head(struct views_list *list, struct draw_region region);

/* views_list_draw.c */
void views_list_draw(struct view *view, struct draw_region region, bool is_focused);
