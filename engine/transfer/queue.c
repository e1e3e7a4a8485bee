// SPDX-License-Identifier: Apache-2.0
/* The queue of copies.
 *
 *   request → copy ── items (one for each file or folder that was named) ── transfer each, a few at a time
 *   transfer asks → question → one at a time is handed out → answer, for one or for all of that copy */
#include "engine/transfer/queue_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/str.h"

#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 250, WHAT_BYTES_MAX = 256, ITEMS_MAX = 100000, ASKING_MAX = 64 };

/* ---- one copy's memory */

static void item_stop(struct transfer_item *item)
{
	transfer_question_forget(item);
	transfer_cancel(item->transfer);
	item->transfer = NULL;
}

static void item_reset(struct transfer_item *item)
{
	item_stop(item);
	if (item->err) {
		item->copy->n_kept_errors--;
		free(item->err);
		item->err = NULL;
	}
}

static void place_deinit(struct transfer_queue_end *place)
{
	free(place->uid);
	free(place->name);
}

static void place_init(struct transfer_queue_end *place, const struct transfer_queue *queue,
	const struct transfer_place *from)
{
	const struct transfer_queue_opts *opts = &queue->opts;
	place->is_local = from->is_local;
	place->uid = from->is_local ? NULL : x_strdup(from->uid);
	place->name = x_strdup(from->is_local ? "local" : opts->name(opts->arg, from->uid));
}

static void notes_clear(struct transfer_copy *copy)
{
	for (size_t i = 0; i < TRANSFER_COPY_NOTES_KEPT; i++) {
		free(copy->notes[i].path);
		free(copy->notes[i].text);
		copy->notes[i] = (struct transfer_copy_note){ 0 };
	}
	copy->n_notes = 0;
}

static void copy_free(struct transfer_copy *copy)
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

static bool runtime_of(const struct transfer_copy *copy, const struct transfer_queue_end *place,
	struct transfer_end *end, struct err *err)
{
	const struct transfer_queue_opts *opts = &copy->queue->opts;
	*end = (struct transfer_end){ .fd = -1 };
	if (place->is_local)
		return true;
	end->runtime = opts->runtime(opts->arg, place->uid, err);
	return end->runtime || err_prefix(err, "%s", place->name);
}

static bool ends_of(struct transfer_copy *copy, struct transfer_end *from,
	struct transfer_end *to, struct err *err)
{
	return runtime_of(copy, &copy->from, from, err) && runtime_of(copy, &copy->to, to, err);
}

static void tell(struct transfer_copy *copy)
{
	const struct transfer_queue_opts *opts = &copy->queue->opts;
	const struct transfer_copy_info info = transfer_copy_info_of(copy);
	opts->on_copy(opts->arg, &info);
}

static void copy_end(struct transfer_copy *copy, enum transfer_copy_state state)
{
	copy->state = state;
	copy->elapsed_ms = copy->started_ms ? clock_mono_ms() - copy->started_ms : 0;
	free(copy->current);
	copy->current = NULL;
	transfer_question_drop(copy, NULL, false);
	tell(copy);
	copy->arrival = ++copy->queue->last_arrival; /* perhaps only folders, or a part */
}

static void item_failed(struct transfer_item *item, const struct err *err)
{
	item->state = ITEM_FAILED;
	item->copy->has_sums = false;
	if (item->copy->n_kept_errors < TRANSFER_COPY_FAILURES_KEPT) {
		item->err = x_malloc(sizeof *item->err);
		*item->err = *err;
		item->copy->n_kept_errors++;
	}
}

static void take_progress(struct transfer_item *item, const struct transfer_progress *progress)
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
	struct transfer_item *item = arg;
	struct transfer_copy *copy = item->copy;
	(void)note;
	if (copy->n_notes < TRANSFER_COPY_NOTES_KEPT)
		copy->notes[copy->n_notes] =
			(struct transfer_copy_note){ x_strdup(path), x_strdup(text) };
	copy->n_notes++;
}

static void on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes)
{
	transfer_question_add(arg, target, existing_bytes, new_bytes, 0);
}

static void on_limit(void *arg, uint64_t n)
{
	struct transfer_item *item = arg;
	transfer_question_add(item, item->path, -1, -1, n);
}

static void on_step(void *queue);

static void on_progress(void *arg, const struct transfer_progress *progress)
{
	struct transfer_item *item = arg;
	take_progress(item, progress);
	transfer_question_look(item->copy->queue);
	transfer_queue_changed(item->copy->queue);
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct transfer_item *item = arg;
	struct transfer_copy *copy = item->copy;
	item->transfer = NULL;
	transfer_question_forget(item);
	if (progress)
		take_progress(item, progress);
	item->state = ITEM_DONE;
	copy->has_sums = false;
	if (err)
		item_failed(item, err);
	transfer_question_drop(copy, item, false);
	copy->n_active--;
	transfer_queue_changed(copy->queue);
	on_step(copy->queue);
}

static bool item_start(struct transfer_item *item, struct err *err)
{
	struct transfer_copy *copy = item->copy;
	struct transfer_opts opts = {
		.recursive = true,
		.conflict = copy->conflict,
		.verify = true,
		.keep_times = true,
		.on_note = on_note,
		.on_limit = on_limit,
		.telemetry = copy->queue->opts.telemetry,
		.on_progress = on_progress,
		.on_conflict = on_conflict,
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
	item->transfer = transfer_start(copy->queue->opts.loop, &opts, err);
	free(to);
	if (item->transfer)
		transfer_question_expect(item);
	return item->transfer != NULL;
}

/* Those that wait for an answer take nobody's place, as long as they are not too many. */
static bool has_room(const struct transfer_copy *copy)
{
	size_t n_asking = copy->n_asking;
	n_asking = n_asking < ASKING_MAX ? n_asking : ASKING_MAX;
	return copy->n_active < TRANSFER_COPY_ITEMS_PARALLEL + n_asking;
}

static void copy_step(struct transfer_copy *copy)
{
	while (copy->state == TRANSFER_COPY_RUNNING && copy->n_begun < copy->n &&
		has_room(copy)) {
		struct transfer_item *item = &copy->items[copy->n_begun++];
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
	if (transfer_copy_is_over(copy->state) || copy->n_active || copy->n_begun < copy->n)
		return;
	bool has_failed = false;
	for (size_t i = 0; i < copy->n; i++)
		has_failed = has_failed || copy->items[i].state == ITEM_FAILED;
	copy_end(copy, has_failed ? TRANSFER_COPY_FAILED : TRANSFER_COPY_DONE);
}

static void on_tick(void *arg)
{
	struct transfer_queue *queue = arg;
	bool is_any = false;
	struct transfer_copy *copy;
	DL_FOREACH(queue->list, copy)
		if (copy->state == TRANSFER_COPY_RUNNING) {
			transfer_copy_take_sample(copy);
			is_any = true;
		}
	if (!is_any) {
		net_loop_timer_disarm(queue->tick);
		queue->is_ticking = false;
	}
	transfer_queue_changed(queue);
}

/* The oldest ended copies go when there are many. */
static void sweep(struct transfer_queue *queue)
{
	struct transfer_copy *copy, *after;
	DL_FOREACH_SAFE(queue->list, copy, after) {
		if (queue->n <= TRANSFER_COPIES_KEPT_MAX)
			break;
		if (!transfer_copy_is_over(copy->state))
			continue;
		DL_DELETE(queue->list, copy);
		queue->n--;
		copy_free(copy);
	}
}

static void on_step(void *arg)
{
	struct transfer_queue *queue = arg;
	size_t n_running = 0;
	struct transfer_copy *copy, *after;
	DL_FOREACH(queue->list, copy)
		n_running += copy->state == TRANSFER_COPY_RUNNING;
	DL_FOREACH_SAFE(queue->list, copy, after) {
		if (copy->state == TRANSFER_COPY_WAITING &&
			n_running < TRANSFER_COPIES_PARALLEL) {
			copy->state = TRANSFER_COPY_RUNNING;
			copy->started_ms =
				copy->started_ms ? copy->started_ms : clock_mono_ms();
			copy->n_samples = 0;
			transfer_copy_take_sample(copy);
			n_running++;
		}
		bool was_over = transfer_copy_is_over(copy->state);
		copy_step(copy);
		if (!was_over && transfer_copy_is_over(copy->state)) {
			n_running--;
			net_loop_timer_arm(queue->step, 0);
		}
	}
	if (n_running && !queue->is_ticking) {
		queue->is_ticking = true;
		net_loop_timer_arm_every(queue->tick, TICK_MS);
	}
	transfer_queue_changed(queue);
}

/* ---- hands */

/* The folder that it lies in; "/x" lies in "/", "x" in "". */
static bool is_in(const char *path, const char *dir)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash ? (size_t)(slash - path) + (slash == path) : 0;
	return strlen(dir) == n && strncmp(dir, path, n) == 0;
}

bool transfer_is_into_itself(const char *path, const char *to_dir)
{
	size_t n = strlen(path);
	bool is_inside = strncmp(to_dir, path, n) == 0 && (!to_dir[n] || to_dir[n] == '/');
	return is_inside || is_in(path, to_dir);
}

static bool check(const struct transfer_queue *queue, const struct transfer_request *request,
	struct err *err)
{
	if (!request->n)
		return err_set(err, ERR_ARG_INVALID, "nothing is selected to copy");
	if (request->n > ITEMS_MAX)
		return err_set(err, ERR_ARG_INVALID,
			"%zu files at once are too many: copy their folder instead",
			request->n);
	if (transfer_is_same_place(request->from, request->to) &&
		is_in(request->paths[0], request->to_dir))
		return err_set(err, ERR_ARG_INVALID, "both sides are the same folder");
	if (request->from.is_local && request->to.is_local)
		return err_set(err, ERR_OP_UNSUPPORTED, "one side of a copy must be a sandbox");
	if (!request->to.is_local && queue->opts.read_only)
		return err_set(err, ERR_OP_READ_ONLY, "writing into sandboxes is off");
	return true;
}

static char *describe(const struct transfer_request *request)
{
	const char *first = path_base(request->paths[0]);
	if (!*first)
		first = request->paths[0];
	if (request->n == 1)
		return x_strndup(first, WHAT_BYTES_MAX);
	return x_asprintf("%.*s and %zu more", WHAT_BYTES_MAX, first, request->n - 1);
}

bool transfer_queue_start(
	struct transfer_queue *queue, const struct transfer_request *request, struct err *err)
{
	if (!check(queue, request, err))
		return false;
	struct transfer_copy *copy = x_calloc(1, sizeof *copy);
	copy->queue = queue;
	copy->id = ++queue->last_id;
	place_init(&copy->from, queue, &request->from);
	place_init(&copy->to, queue, &request->to);
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
	DL_APPEND(queue->list, copy);
	queue->n++;
	sweep(queue);
	net_loop_timer_arm(queue->step, 0);
	tell(copy);
	transfer_queue_changed(queue);
	return true;
}

void transfer_queue_pause(struct transfer_queue *queue, unsigned id, bool paused)
{
	struct transfer_copy *copy = transfer_queue_find(queue, id);
	if (!copy || transfer_copy_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_pause(copy->items[i].transfer, paused);
	copy->state = paused           ? TRANSFER_COPY_PAUSED
		      : copy->n_active ? TRANSFER_COPY_RUNNING
				       : TRANSFER_COPY_WAITING;
	copy->n_samples = 0;
	transfer_question_look(queue);
	on_step(queue);
}

void transfer_queue_cancel(struct transfer_queue *queue, unsigned id)
{
	struct transfer_copy *copy = transfer_queue_find(queue, id);
	if (!copy || transfer_copy_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++)
		item_stop(&copy->items[i]);
	copy->n_active = 0;
	copy_end(copy, TRANSFER_COPY_CANCELLED);
	on_step(queue);
}

bool transfer_queue_retry(struct transfer_queue *queue, unsigned id, struct err *err)
{
	struct transfer_copy *copy = transfer_queue_find(queue, id);
	if (!copy ||
		(copy->state != TRANSFER_COPY_FAILED && copy->state != TRANSFER_COPY_CANCELLED))
		return err_set(err, ERR_ARG_INVALID, "this copy has nothing to be repeated");
	for (size_t i = 0; i < copy->n; i++) {
		struct transfer_item *item = &copy->items[i];
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
	copy->state = TRANSFER_COPY_WAITING;
	copy->has_sums = false;
	copy->started_ms = 0;
	on_step(queue);
	return true;
}

void transfer_queue_clear(struct transfer_queue *queue)
{
	struct transfer_copy *copy, *after;
	DL_FOREACH_SAFE(queue->list, copy, after) {
		if (!transfer_copy_is_over(copy->state))
			continue;
		DL_DELETE(queue->list, copy);
		queue->n--;
		copy_free(copy);
	}
	transfer_queue_changed(queue);
}

/* ---- answers */

static enum transfer_conflict conflict_of(enum transfer_choice choice)
{
	return choice == TRANSFER_CHOOSE_OVERWRITE ? TRANSFER_OVERWRITE
	       : choice == TRANSFER_CHOOSE_RENAME  ? TRANSFER_RENAME
						   : TRANSFER_SKIP;
}

static void answer_all(struct transfer_copy *copy, enum transfer_conflict answer)
{
	copy->conflict = answer;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_answer(copy->items[i].transfer, answer, true);
	transfer_question_drop(copy, NULL, true);
}

void transfer_queue_answer(struct transfer_queue *queue, unsigned question_id,
	enum transfer_choice choice, bool for_all)
{
	bool is_limit = false;
	struct transfer_item *item = transfer_question_take(queue, question_id, &is_limit);
	if (queue->asked == question_id)
		queue->asked = 0;
	if (item && choice == TRANSFER_CHOOSE_STOP)
		transfer_queue_cancel(queue, item->copy->id);
	else if (item && is_limit)
		transfer_go_on(item->transfer, true);
	else if (item && for_all)
		answer_all(item->copy, conflict_of(choice));
	else if (item)
		transfer_answer(item->transfer, conflict_of(choice), false);
	transfer_queue_changed(queue);
	net_loop_timer_arm(queue->ask, 0);
}

/* ---- the queue */

struct transfer_queue *transfer_queue_new(const struct transfer_queue_opts *opts)
{
	struct transfer_queue *queue = x_calloc(1, sizeof *queue);
	queue->opts = *opts;
	queue->tick = net_loop_timer_new(opts->loop, on_tick, queue);
	queue->step = net_loop_timer_new(opts->loop, on_step, queue);
	queue->ask = net_loop_timer_new(opts->loop, transfer_question_ask, queue);
	return queue;
}

void transfer_queue_free(struct transfer_queue *queue)
{
	if (!queue)
		return;
	struct transfer_copy *copy, *after;
	DL_FOREACH_SAFE(queue->list, copy, after) {
		transfer_question_drop(copy, NULL, false);
		DL_DELETE(queue->list, copy);
		copy_free(copy);
	}
	net_loop_timer_free(queue->tick);
	net_loop_timer_free(queue->step);
	net_loop_timer_free(queue->ask);
	free(queue);
}
