// SPDX-License-Identifier: Apache-2.0
/* Objects that are edited by hand: the person's editor (VISUAL, EDITOR, vi) in a pane, on a terminal of its own, with the text in a
 * file of ours (0600, in the 0700 runtime folder). What was written is never lost: the file goes when the server has taken it or
 * nothing was changed, and is named otherwise.
 * Errors: those of engine/edit.h. */
#pragma once

#include "tui/view/host.h"

struct views_edits;
struct views_edits *views_edits_new(struct view_host *host);
/* After the views: a pane that closes ends its edit. */
void views_edits_free(struct views_edits *edits);

/* Reads the object and opens the editor. False with *err: it may not be changed. */
bool views_edits_start(
	struct view_host *host, const struct engine_object_id *id, struct err *err);
