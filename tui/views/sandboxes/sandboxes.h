// SPDX-License-Identifier: Apache-2.0
/* The sandbox list: a list of rows of the fleet, with what only sandboxes have: counters by state, warm ones of the pools,
 * columns that stay dark while one of their sources may not be read; or the one sandbox behind an address. */
#pragma once

#include "tui/views/list/list.h"

/* A count of the head that can be clicked: rows of that state alone. */
struct views_sandboxes_place {
	int col, cols;
	enum fleet_state state;
};

enum { VIEWS_SANDBOXES_LOOKED_AT = 64 };

/* usage.c: what is drawn of it, and the rows that were asked about. */
struct views_sandboxes_usage {
	uint64_t revision, n_lists;
	char shown[VIEWS_SANDBOXES_LOOKED_AT][RESOURCE_UID_BYTES];
	size_t n_shown;
};

struct views_sandboxes {
	struct views_list list; /* first */
	struct views_sandboxes_usage usage;
	bool is_card_hidden;
	struct views_sandboxes_place places[FLEET_STATE_COUNT]; /* of the last draw */
	int n_places;
};

static inline struct views_sandboxes *sandboxes_of(struct views_list *list)
{
	return (struct views_sandboxes *)list;
}

static inline struct fleet *sandboxes_fleet(const struct views_list *list)
{
	return engine_fleet(list->view.host->engine);
}

/* head.c: what stands above the table; its rows. */
int views_sandboxes_draw_head(struct views_list *list, struct draw_region region);

/* usage.c: before it is drawn, and after. */
void views_sandboxes_follow_usage(struct views_list *list);
void views_sandboxes_look_at_usage(struct views_list *list);
bool views_sandboxes_is_usage_behind(struct views_list *list);

/* shells.c: the column of the shells that are open, at init. */
void views_sandboxes_add_shells(struct views_list *list);

/* card.c: the row under the cursor, told at more length, in the last rows of the region; the rows it takes, 0 where there
 * is no room for it. */
int views_sandboxes_card_rows(const struct views_list *list, int rows);
void views_sandboxes_draw_card(struct views_list *list, struct draw_region region);

/* empty.c: in the place of the rows, while there are none. */
void views_sandboxes_draw_empty(struct views_list *list, struct draw_region region);
