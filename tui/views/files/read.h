// SPDX-License-Identifier: Apache-2.0
/* Reading a folder into a pane: the local disk in slices, so that no frame waits for a large or slow folder; a
 * sandbox by the listing of its daemon. */
#pragma once

#include "tui/views/files/pane.h"

enum { FILES_SLICE_ENTRIES = 64, FILES_SLICE_MS = 4, FILES_ENTRIES_MAX = 2000000 };

/* Reads pane->path into pane->next and calls done once, later; what was being read is dropped. */
void views_files_read_start(struct views_files_pane *pane,
	void (*done)(struct views_files_pane *pane, const struct err *err));
void views_files_read_stop(struct views_files_pane *pane); /* silent */

void views_files_listing_clear(struct views_files_listing *listing);
/* The entry is copied, its name too. */
void views_files_listing_add(
	struct views_files_listing *listing, const struct views_files_entry *entry);
