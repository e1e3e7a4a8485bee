// SPDX-License-Identifier: Apache-2.0
// The queue of copies.
//
//   request → copy ── items (one for each marked file or folder) ── transfer each, a few at a time
//   transfer asks → question → one dialog at a time → answer, for one or for all of that copy
#include "tui/views/transfers/internal.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"
#include "engine/base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 250, WHAT_BYTES_MAX = 256, ITEMS_MAX = 100000, ASKING_MAX = 64 };

uint64_t views_transfers_revision(const struct views_transfers *copies)
{
	return copies->revision;
}

void views_transfers_changed(struct views_transfers *copies)
{
	copies->revision++;
	host_dirty(copies->host);
}

struct views_transfer *views_transfers_find(const struct views_transfers *copies, unsigned id)
{
	struct views_transfer *copy;
	DL_FOREACH(copies->list, copy)
		if (copy->id == id)
			return copy;
	return NULL;
}

/* ---- one copy's memory */

static void item_reset(struct views_item *item)
{
	transfer_cancel(item->transfer);
	item->transfer = NULL;
	if (item->err) {
		item->copy->n_kept_errors--;
		free(item->err);
		item->err = NULL;
	}
}

static void place_deinit(struct views_place *place)
{
	free(place->uid);
	free(place->name);
}

static void place_init(struct views_place *place, const struct view_host *host,
	const struct views_transfers_place *from)
{
	place->is_local = from->is_local;
	place->uid = from->is_local ? NULL : x_strdup(from->uid);
	place->name = x_strdup(from->is_local ? "local" : view_host_row_name(host, from->uid));
}

static void notes_clear(struct views_transfer *copy)
{
	for (size_t i = 0; i < COPY_NOTES_KEPT; i++) {
		free(copy->notes[i].path);
		free(copy->notes[i].text);
		copy->notes[i] = (struct views_note){ 0 };
	}
	copy->n_notes = 0;
}

static void copy_free(struct views_transfer *copy)
{
	for (size_t i = 0; i < copy->n; i++) {
		item_reset(&copy->items[i]);
		free(copy->items[i].path);
	}
	free(copy->items);
	notes_clear(copy);
	place_deinit(&copy->from);
	place_deinit(&copy->to);
	free(copy->to_dir);
	free(copy->what);
	free(copy->current);
	free(copy);
}

/* ---- running */

static bool ends_of(struct views_transfer *copy, struct transfer_end *from,
	struct transfer_end *to, struct err *err)
{
	struct engine *engine = copy->copies->host->engine;
	*from = *to = (struct transfer_end){ .fd = -1 };
	if (!copy->from.is_local) {
		from->runtime = engine_runtime(engine, copy->from.uid, err);
		if (!from->runtime)
			return err_prefix(err, "%s", copy->from.name);
	}
	if (!copy->to.is_local) {
		to->runtime = engine_runtime(engine, copy->to.uid, err);
		if (!to->runtime)
			return err_prefix(err, "%s", copy->to.name);
	}
	return true;
}

bool views_transfers_has_arrived(const struct views_transfers *copies, uint64_t *seen,
	const struct views_transfers_place *to, const char *to_dir)
{
	bool has_arrived = false;
	struct views_transfer *copy;
	if (*seen == copies->last_arrival)
		return false;
	DL_FOREACH(copies->list, copy)
		has_arrived = has_arrived ||
			      (copy->arrival > *seen && copy->to.is_local == to->is_local &&
				      (to->is_local || strcmp(copy->to.uid ? copy->to.uid : "",
							       to->uid ? to->uid : "") == 0) &&
				      strcmp(copy->to_dir, to_dir) == 0);
	*seen = copies->last_arrival;
	return has_arrived;
}

static void copy_end(struct views_transfer *copy, enum views_transfer_state state)
{
	struct view_host *host = copy->copies->host;
	copy->state = state;
	copy->elapsed_ms = copy->started_ms ? clock_mono_ms() - copy->started_ms : 0;
	free(copy->current);
	copy->current = NULL;
	views_transfers_drop_questions(copy->copies, copy->id, EVERY_ITEM);
	struct views_transfer_info info = views_transfer_info_of(copy);
	char size[NUM_SIZE_BYTES];
	num_format_size(info.bytes_done, size);
	const char *path = NULL;
	const struct err *err = NULL;
	if (state == COPY_DONE) {
		struct str line;
		str_init(&line, 512);
		if (info.files_done || !info.files_skipped)
			str_addf(&line, "copied %s (%llu file%s, %s) to %s", copy->what,
				(unsigned long long)info.files_done,
				info.files_done == 1 ? "" : "s", size, info.to);
		else
			str_addf(&line, "nothing copied to %s", info.to);
		if (info.files_skipped)
			str_addf(&line, "; %llu skipped",
				(unsigned long long)info.files_skipped);
		const char *text = NULL;
		if (views_transfers_note(copy->copies, copy->id, 0, &path, &text))
			str_addf(&line, "; %s: %s%s", path, text,
				info.n_notes > 1 ? " (more in the list of copies)" : "");
		host->ops->note(host, NOTE_OK, line.p);
		str_deinit(&line);
	} else if (state == COPY_CANCELLED) {
		view_host_notef(
			host, NOTE_WARNING, "copy of %s cancelled after %s", copy->what, size);
	} else if (views_transfers_failure(copy->copies, copy->id, 0, &path, &err)) {
		view_host_failf(host, err, "Not copied to %s: %s%s", info.to, path,
			info.files_failed > 1 ? " (more in the list of copies)" : "");
	}
	copy->arrival = ++copy->copies->last_arrival; /* perhaps only folders, or a part */
}

static void item_failed(struct views_item *item, const struct err *err)
{
	item->state = ITEM_FAILED;
	item->copy->has_sums = false;
	if (item->copy->n_kept_errors < COPY_FAILURES_KEPT) {
		item->err = x_malloc(sizeof *item->err);
		*item->err = *err;
		item->copy->n_kept_errors++;
	}
}

static void take_progress(struct views_item *item, const struct transfer_progress *progress)
{
	item->copy->has_sums = false;
	item->progress = *progress;
	item->progress.current = NULL;
	if (progress->current && *progress->current) {
		free(item->copy->current);
		item->copy->current = x_strdup(progress->current);
	}
}

static void on_note(void *arg, enum transfer_note note, const char *path, const char *text)
{
	struct views_item *item = arg;
	struct views_transfer *copy = item->copy;
	(void)note;
	if (copy->n_notes < COPY_NOTES_KEPT)
		copy->notes[copy->n_notes] =
			(struct views_note){ x_strdup(path), x_strdup(text) };
	copy->n_notes++;
}

static void on_step(void *arg)
{
	views_transfers_step(arg);
}

static void on_progress(void *arg, const struct transfer_progress *progress)
{
	struct views_item *item = arg;
	take_progress(item, progress);
	views_transfers_changed(item->copy->copies);
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct views_item *item = arg;
	struct views_transfer *copy = item->copy;
	item->transfer = NULL;
	if (progress)
		take_progress(item, progress);
	item->state = ITEM_DONE;
	copy->has_sums = false;
	if (err)
		item_failed(item, err);
	views_transfers_drop_questions(copy->copies, copy->id, item - copy->items);
	copy->n_active--;
	views_transfers_changed(copy->copies);
	views_transfers_step(copy->copies);
}

static bool item_start(struct views_item *item, struct err *err)
{
	struct views_transfer *copy = item->copy;
	struct transfer_opts opts = {
		.recursive = true,
		.conflict = copy->conflict,
		.verify = true,
		.keep_times = true,
		.on_note = on_note,
		.on_limit = views_transfers_on_limit,
		.telemetry = engine_telemetry(copy->copies->host->engine),
		.on_progress = on_progress,
		.on_conflict = views_transfers_on_conflict,
		.done = on_done,
		.arg = item,
	};
	if (!ends_of(copy, &opts.from, &opts.to, err))
		return false;
	/* into the folder, whatever is there now */
	size_t n = strlen(copy->to_dir);
	char *to = n && copy->to_dir[n - 1] != '/' ? x_asprintf("%s/", copy->to_dir)
						   : x_strdup(copy->to_dir);
	opts.from.path = item->path;
	opts.to.path = to;
	item->transfer = transfer_start(copy->copies->host->loop, &opts, err);
	free(to);
	return item->transfer != NULL;
}

/* Those that wait for an answer take nobody's place, as long as they are not too many. */
static bool has_room(const struct views_transfer *copy)
{
	size_t n_asking = views_transfers_questions_of(copy->copies, copy->id);
	n_asking = n_asking < ASKING_MAX ? n_asking : ASKING_MAX;
	return copy->n_active < COPY_ITEMS_PARALLEL + n_asking;
}

static void copy_step(struct views_transfer *copy)
{
	while (copy->state == COPY_RUNNING && copy->n_begun < copy->n && has_room(copy)) {
		struct views_item *item = &copy->items[copy->n_begun++];
		struct err err = { 0 };
		if (item->state != ITEM_WAITING)
			continue; /* a retry leaves what is done alone */
		if (item_start(item, &err)) {
			item->state = ITEM_RUNNING;
			copy->n_active++;
		} else {
			item_failed(item, &err);
		}
	}
	if (views_transfers_is_over(copy->state) || copy->n_active || copy->n_begun < copy->n)
		return;
	bool has_failed = false;
	for (size_t i = 0; i < copy->n; i++)
		has_failed = has_failed || copy->items[i].state == ITEM_FAILED;
	copy_end(copy, has_failed ? COPY_FAILED : COPY_DONE);
}

static void on_tick(void *arg)
{
	struct views_transfers *copies = arg;
	bool is_any = false;
	struct views_transfer *copy;
	DL_FOREACH(copies->list, copy)
		if (copy->state == COPY_RUNNING) {
			views_transfer_take_sample(copy);
			is_any = true;
		}
	if (!is_any) {
		net_loop_timer_disarm(copies->tick);
		copies->is_ticking = false;
	}
	views_transfers_changed(copies);
}

/* The oldest ended copies go when there are many. */
static void sweep(struct views_transfers *copies)
{
	struct views_transfer *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (copies->n <= COPIES_KEPT_MAX)
			break;
		if (!views_transfers_is_over(copy->state))
			continue;
		DL_DELETE(copies->list, copy);
		copies->n--;
		copy_free(copy);
	}
}

void views_transfers_step(struct views_transfers *copies)
{
	size_t n_running = 0;
	struct views_transfer *copy, *after;
	DL_FOREACH(copies->list, copy)
		n_running += copy->state == COPY_RUNNING;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (copy->state == COPY_WAITING && n_running < COPIES_PARALLEL) {
			copy->state = COPY_RUNNING;
			copy->started_ms =
				copy->started_ms ? copy->started_ms : clock_mono_ms();
			copy->n_samples = 0;
			views_transfer_take_sample(copy);
			n_running++;
		}
		bool was_over = views_transfers_is_over(copy->state);
		copy_step(copy);
		if (!was_over && views_transfers_is_over(copy->state)) {
			n_running--;
			net_loop_timer_arm(copies->step, 0);
		}
	}
	if (n_running && !copies->is_ticking) {
		copies->is_ticking = true;
		net_loop_timer_arm_every(copies->tick, TICK_MS);
	}
	views_transfers_changed(copies);
}

/* ---- hands */

static char *describe(const struct views_transfers_request *request)
{
	const char *first = path_base(request->paths[0]);
	if (!*first)
		first = request->paths[0];
	if (request->n == 1)
		return x_strndup(first, WHAT_BYTES_MAX);
	return x_asprintf("%.*s and %zu more", WHAT_BYTES_MAX, first, request->n - 1);
}

bool views_transfers_start(struct views_transfers *copies,
	const struct views_transfers_request *request, struct err *err)
{
	if (!request->n)
		return err_set(err, ERR_ARG_INVALID, "nothing is selected to copy");
	if (request->n > ITEMS_MAX)
		return err_set(err, ERR_ARG_INVALID,
			"%zu files at once are too many: copy their folder instead",
			request->n);
	if (request->from.is_local && request->to.is_local)
		return err_set(err, ERR_OP_UNSUPPORTED, "one side of a copy must be a sandbox");
	if (!request->to.is_local && engine_is_read_only(copies->host->engine))
		return err_set(err, ERR_OP_READ_ONLY, "writing into sandboxes is off");
	struct views_transfer *copy = x_calloc(1, sizeof *copy);
	copy->copies = copies;
	copy->id = ++copies->last_id;
	place_init(&copy->from, copies->host, &request->from);
	place_init(&copy->to, copies->host, &request->to);
	copy->to_dir = x_strdup(request->to_dir);
	copy->what = describe(request);
	copy->conflict = request->conflict;
	copy->items = x_calloc(request->n, sizeof *copy->items);
	copy->n = request->n;
	for (size_t i = 0; i < request->n; i++) {
		copy->items[i].copy = copy;
		copy->items[i].path = x_strdup(request->paths[i]);
		copy->items[i].size_bytes = request->sizes ? request->sizes[i] : -1;
	}
	struct transfer_end from, to;
	if (!ends_of(copy, &from, &to, err)) {
		copy_free(copy);
		return false;
	}
	DL_APPEND(copies->list, copy);
	copies->n++;
	sweep(copies);
	net_loop_timer_arm(copies->step, 0);
	view_host_notef(
		copies->host, NOTE_INFO, "copying %s to %s …", copy->what, copy->to.name);
	views_transfers_changed(copies);
	return true;
}

void views_transfers_pause(struct views_transfers *copies, unsigned id, bool paused)
{
	struct views_transfer *copy = views_transfers_find(copies, id);
	if (!copy || views_transfers_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_pause(copy->items[i].transfer, paused);
	copy->state = paused ? COPY_PAUSED : copy->n_active ? COPY_RUNNING : COPY_WAITING;
	copy->n_samples = 0;
	views_transfers_step(copies);
}

void views_transfers_cancel(struct views_transfers *copies, unsigned id)
{
	struct views_transfer *copy = views_transfers_find(copies, id);
	if (!copy || views_transfers_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++) {
		transfer_cancel(copy->items[i].transfer);
		copy->items[i].transfer = NULL;
	}
	copy->n_active = 0;
	copy_end(copy, COPY_CANCELLED);
	views_transfers_step(copies);
}

bool views_transfers_retry(struct views_transfers *copies, unsigned id, struct err *err)
{
	struct views_transfer *copy = views_transfers_find(copies, id);
	if (!copy || (copy->state != COPY_FAILED && copy->state != COPY_CANCELLED))
		return err_set(err, ERR_ARG_INVALID, "this copy has nothing to be repeated");
	for (size_t i = 0; i < copy->n; i++) {
		struct views_item *item = &copy->items[i];
		if (item->state == ITEM_DONE)
			continue;
		/* what a tree has brought over already is not asked about again */
		if (copy->conflict == TRANSFER_ASK && item->progress.files_done)
			copy->conflict = TRANSFER_SKIP;
		item_reset(item);
		item->progress = (struct transfer_progress){ 0 };
		item->state = ITEM_WAITING;
	}
	notes_clear(copy);
	copy->n_begun = 0;
	copy->state = COPY_WAITING;
	copy->has_sums = false;
	copy->started_ms = 0;
	views_transfers_step(copies);
	return true;
}

void views_transfers_clear(struct views_transfers *copies)
{
	struct views_transfer *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (!views_transfers_is_over(copy->state))
			continue;
		DL_DELETE(copies->list, copy);
		copies->n--;
		copy_free(copy);
	}
	views_transfers_changed(copies);
}

struct views_transfers *views_transfers_new(struct view_host *host)
{
	struct views_transfers *copies = x_calloc(1, sizeof *copies);
	copies->host = host;
	copies->tick = net_loop_timer_new(host->loop, on_tick, copies);
	copies->step = net_loop_timer_new(host->loop, on_step, copies);
	copies->ask = net_loop_timer_new(host->loop, views_transfers_on_ask, copies);
	return copies;
}

void views_transfers_free(struct views_transfers *copies)
{
	if (!copies)
		return;
	struct views_transfer *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		views_transfers_drop_questions(copies, copy->id, EVERY_ITEM);
		DL_DELETE(copies->list, copy);
		copy_free(copy);
	}
	net_loop_timer_free(copies->tick);
	net_loop_timer_free(copies->step);
	net_loop_timer_free(copies->ask);
	free(copies);
}
