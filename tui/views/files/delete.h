// SPDX-License-Identifier: Apache-2.0
/* Deleting what is chosen in a pane: first a look at how much it is, then a question that says it, then the
 * deletion. A link goes itself, never what it points to: on the local disk by unlinkat, in a sandbox by its own
 * rm. The daemon's DELETE follows links, so it is used only where there is no rm, and the question says so. */
#pragma once

#include "tui/views/files/pane.h"

struct views_files_delete;
/* Takes names and kinds from the pane, and keeps no pointer to it. done comes once, with the number of entries that
 * are gone, also when the answer was no (0); the handle is dead then. It shows its failures itself. */
struct views_files_delete *views_files_delete_start(struct views_files_pane *pane,
	void (*done)(void *arg, size_t n_deleted), void *arg, struct err *err);
void views_files_delete_cancel(struct views_files_delete *job); /* silent */
/* "deleting 3 entries": for the question when the view closes. NULL while nothing is being deleted. */
const char *views_files_delete_busy(const struct views_files_delete *job, struct str *into);
