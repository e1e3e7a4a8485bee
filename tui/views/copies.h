// SPDX-License-Identifier: Apache-2.0
/* The copies a person has started: progress, pause, cancel, conflicts. They go on while no view shows them. */
#pragma once

#include "tui/draw/surface.h"
#include "tui/views/host.h"

struct copies;
struct copies *copies_new(struct host *host);
void copies_free(struct copies *copies); /* cancels what runs; half-written files are removed */
size_t copies_running(const struct copies *copies);

struct copy_end {
	struct runtime *runtime; /* NULL: local */
	const char *uid;         /* of the row, for messages; NULL: direct or local */
};
/* Copies paths (files or folders) into the folder to_dir. Shows failures itself. on_done may be NULL; it is called
 * once when the copy has ended in any way. */
void copies_start(struct copies *copies, const struct copy_end *from, const char *const *paths,
	size_t n_paths, const struct copy_end *to, const char *to_dir, void (*on_done)(void *arg),
	void *arg);
/* No on_done with this arg comes any more (its view closes). */
void copies_forget(struct copies *copies, void *arg);
/* The runtime is about to go: its copies end with that message. */

int copies_strip_rows(const struct copies *copies); /* lines that the strip wants */
void copies_draw_strip(struct copies *copies, struct region region);

/* For the view of all: newest first. */
struct copy_info {
	unsigned id;
	const char *label; /* raw */
	const struct transfer_progress *progress;
	bool is_running, is_paused, is_cancelled;
	const struct err *err; /* NULL: well */
};
size_t copies_count(const struct copies *copies);
bool copies_at(const struct copies *copies, size_t index, struct copy_info *out);
void copies_cancel(struct copies *copies, unsigned id);
void copies_pause(struct copies *copies, unsigned id);
void copies_clear_finished(struct copies *copies);
/* "12 of 40 files, 3.1 of 9.0 MiB, 2.0 MiB/s, 3s left" */
void copies_describe(const struct copy_info *copy, struct str *out);
