// SPDX-License-Identifier: Apache-2.0
/* The sandbox list: a list of rows of the fleet, with what only sandboxes have: counters by state, warm ones of the pools,
 * columns that stay dark while one of their sources may not be read; or the one sandbox behind an address. */
#pragma once

#include "tui/views/list/list.h"

static inline struct fleet *sandboxes_fleet(const struct views_list *list)
{
	return engine_fleet(list->view.host->engine);
}

/* head.c: what stands above the table; its rows. */
int views_sandboxes_draw_head(struct views_list *list, struct draw_region region);
