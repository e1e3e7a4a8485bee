// SPDX-License-Identifier: Apache-2.0
/* What belongs to an object and whose it is, as lines in a view, each of which can be opened: the tree is read when the view
 * asks for it, and the last one stays until the next is whole. */
#pragma once

#include "tui/view/view.h"

struct views_resources_kin {
	struct view_host *host;
	const struct resource_kind *kind; /* NULL: a sandbox, by uid */
	char *uid, *namespace_, *name;
	struct kinds_tree *shown;   /* NULL: none yet */
	struct kinds_tree *asked;   /* under way, or failed */
	bool is_done;               /* asked has answered, with err */
	struct err err;             /* why there is none; ERR_NONE */
	int64_t asked_ms;           /* monotonic; 0: never */
	size_t n_lines, asked_line; /* of shown */
};

void views_resources_kin_init(struct views_resources_kin *kin, struct view_host *host,
	const struct view_args *args); /* copies */
void views_resources_kin_deinit(struct views_resources_kin *kin);
/* Asks the API server unless that is under way, or was within that time. */
void views_resources_kin_refresh(struct views_resources_kin *kin, int64_t not_within_ms);
/* Draws it from that row on, the cursor's line as such (SIZE_MAX: none); rows outside are left out. Returns the rows it
 * takes in all. */
int views_resources_kin_draw(
	const struct views_resources_kin *kin, struct draw_region r, int row, size_t cursor);
/* Opens what a line is about: a view of that name, or the one that fits if NULL. False with *err: there is nothing to
 * open. */
bool views_resources_kin_open(
	const struct views_resources_kin *kin, size_t line, const char *view, struct err *err);
