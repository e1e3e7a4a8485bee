// SPDX-License-Identifier: Apache-2.0
/* Commands on rows, for every view that has targets(): shell, files, detail, delete, suspend, resume, extend; and
 * create. They ask first where something is lost, run a few at a time, and say what came of it. */
#pragma once

#include "tui/view/view.h"

struct views_actions; /* those under way */
struct views_actions *views_actions_new(struct view_host *host);
void views_actions_free(struct views_actions *actions); /* cancels them silently */
size_t views_actions_running(const struct views_actions *actions);

/* How many that were made here without a name go when the program ends: 0 unless the setting auto-cleanup is on. */
size_t views_actions_to_clean_up(const struct views_actions *actions);

/* The one that was begun last, for the view that shows it; NULL: none. Borrowed. */
struct fleet_bulk *views_actions_bulk(const struct views_actions *actions);
/* Those of it that failed or were not begun, once more; false: there are none, or it is not finished. */
bool views_actions_bulk_retry(struct views_actions *actions);

extern const struct view_command views_row_commands[]; /* self: the focused view */
extern const size_t views_n_row_commands;
/* False with *err: why that would be refused on all rows that a command of this view is for. */
bool views_actions_may(const struct view *view, enum access_action action, struct err *err);
