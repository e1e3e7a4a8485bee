// SPDX-License-Identifier: Apache-2.0
// The queue of copies.
//
//   request → copy ── items (one for each marked file or folder) ── transfer each, a few at a time
//   transfer asks → question → one dialog at a time → answer, for one or for all of that copy
//
// Sizes that the browser knows stand in for the totals of items that have not begun, so that the bar tells the truth
// from the first moment; the rate is measured over the whole copy, not over its last small file.
#include "tui/views/copies.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "tui/views/dialog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TICK_MS = 250, SAMPLES = 24, WHAT_BYTES_MAX = 256, ITEMS_MAX = 100000, ASKING_MAX = 64 };

enum item_state { ITEM_WAITING, ITEM_RUNNING, ITEM_DONE, ITEM_FAILED };

struct copy;
struct item {
	struct copy *copy;
	char *path;
	int64_t size_bytes; /* -1 unknown */
	enum item_state state;
	struct transfer *transfer;
	struct transfer_progress progress; /* current is not kept here */
	struct err *err;                   /* of a failure, while there are not too many */
};

struct place {
	bool is_local;
	char *uid;
	char *name; /* for people */
};

struct sample {
	int64_t mono_ms;
	uint64_t bytes;
};

struct copy {
	struct copies *copies;
	struct copy *prev, *next;
	unsigned id;
	enum copy_state state;
	struct place from, to;
	char *to_dir, *what, *current;
	enum transfer_conflict conflict;
	struct item *items;
	size_t n, n_begun, n_active, n_kept_errors;
	int64_t started_ms, elapsed_ms;
	struct sample samples[SAMPLES];
	size_t n_samples;
	uint64_t arrival; /* number of its end, if anything has arrived */
};

struct question {
	struct question *prev, *next;
	unsigned id; /* of the copy */
	size_t item;
	char *target;
	int64_t existing_bytes, new_bytes;
};

struct copies {
	struct host *host;
	struct copy *list; /* oldest first */
	size_t n;
	unsigned last_id;
	struct question *questions;
	bool has_dialog;
	struct loop_timer *tick, *step,
		*ask; /* timers and not deferred calls: they end with the queue */
	bool is_ticking;
	uint64_t revision, last_arrival;
};

static const char *const state_names[] = {
	[COPY_WAITING] = "waiting",
	[COPY_RUNNING] = "copying",
	[COPY_PAUSED] = "paused",
	[COPY_DONE] = "done",
	[COPY_FAILED] = "failed",
	[COPY_CANCELLED] = "cancelled",
};
_Static_assert(
	sizeof state_names / sizeof state_names[0] == COPY_STATE_COUNT, "a name for each");

const char *copy_state_name(enum copy_state state)
{
	return state_names[state];
}

bool copies_is_over(enum copy_state state)
{
	return state == COPY_DONE || state == COPY_FAILED || state == COPY_CANCELLED;
}

uint64_t copies_revision(const struct copies *copies)
{
	return copies->revision;
}

static void changed(struct copies *copies)
{
	copies->revision++;
	host_dirty(copies->host);
}

static struct copy *find(const struct copies *copies, unsigned id)
{
	struct copy *copy;
	DL_FOREACH(copies->list, copy)
		if (copy->id == id)
			return copy;
	return NULL;
}

/* ---- one copy's memory */

static void item_reset(struct item *item)
{
	transfer_cancel(item->transfer);
	item->transfer = NULL;
	if (item->err) {
		item->copy->n_kept_errors--;
		free(item->err);
		item->err = NULL;
	}
}

static void place_deinit(struct place *place)
{
	free(place->uid);
	free(place->name);
}

static void place_init(
	struct place *place, const struct host *host, const struct copies_place *from)
{
	place->is_local = from->is_local;
	place->uid = from->is_local ? NULL : x_strdup(from->uid);
	place->name = x_strdup(from->is_local ? "local" : host_row_name(host, from->uid));
}

static void copy_free(struct copy *copy)
{
	for (size_t i = 0; i < copy->n; i++) {
		item_reset(&copy->items[i]);
		free(copy->items[i].path);
	}
	free(copy->items);
	place_deinit(&copy->from);
	place_deinit(&copy->to);
	free(copy->to_dir);
	free(copy->what);
	free(copy->current);
	free(copy);
}

static void question_free(struct copies *copies, struct question *question)
{
	DL_DELETE(copies->questions, question);
	free(question->target);
	free(question);
}

enum { EVERY_ITEM = -1 };

static void drop_questions(struct copies *copies, unsigned id, ptrdiff_t item)
{
	struct question *question, *after;
	DL_FOREACH_SAFE(copies->questions, question, after)
		if (question->id == id &&
			(item == EVERY_ITEM || (size_t)item == question->item))
			question_free(copies, question);
}

/* ---- sums */

/* Bytes and files of a copy, from what its transfers say and from what the browser knew. */
static void sum_up(const struct copy *copy, struct copy_info *out)
{
	out->is_planned = true;
	for (size_t i = 0; i < copy->n; i++) {
		const struct item *item = &copy->items[i];
		const struct transfer_progress *p = &item->progress;
		bool is_over = item->state == ITEM_DONE || item->state == ITEM_FAILED;
		out->files_done += p->files_done;
		out->files_skipped += p->files_skipped;
		out->bytes_done += p->bytes_done;
		out->files_failed += p->files_failed;
		if (item->state == ITEM_FAILED && !p->files_failed)
			out->files_failed++;
		if (p->is_planned || is_over) {
			out->files_total += p->files_total ? p->files_total : 1;
			out->bytes_total += p->bytes_total;
			continue;
		}
		uint64_t known = item->size_bytes > 0 ? (uint64_t)item->size_bytes : 0;
		out->files_total += p->files_total ? p->files_total : 1;
		out->bytes_total += p->bytes_total > known ? p->bytes_total : known;
		out->is_planned = out->is_planned && item->size_bytes >= 0;
	}
}

static void take_sample(struct copy *copy)
{
	struct copy_info sum = { 0 };
	sum_up(copy, &sum);
	if (copy->n_samples == SAMPLES) {
		memmove(copy->samples, copy->samples + 1,
			(SAMPLES - 1) * sizeof copy->samples[0]);
		copy->n_samples--;
	}
	copy->samples[copy->n_samples++] = (struct sample){ clock_mono_ms(), sum.bytes_done };
}

static uint64_t rate_of(const struct copy *copy)
{
	if (copy->n_samples < 2)
		return 0;
	const struct sample *first = &copy->samples[0],
			    *last = &copy->samples[copy->n_samples - 1];
	if (last->mono_ms <= first->mono_ms || last->bytes < first->bytes)
		return 0;
	return (last->bytes - first->bytes) * 1000 / (uint64_t)(last->mono_ms - first->mono_ms);
}

static bool is_asking(const struct copy *copy)
{
	struct question *question;
	DL_FOREACH(copy->copies->questions, question)
		if (question->id == copy->id)
			return true;
	return false;
}

static struct copy_info info_of(const struct copy *copy)
{
	struct copy_info info = {
		.id = copy->id,
		.state = copy->state,
		.what = copy->what,
		.from = copy->from.name,
		.to = copy->to.name,
		.to_dir = copy->to_dir,
		.current = copy->current ? copy->current : "",
		.left_ms = -1,
		.is_asking = is_asking(copy),
		.n_failures = copy->n_kept_errors,
	};
	sum_up(copy, &info);
	info.elapsed_ms = copies_is_over(copy->state) ? copy->elapsed_ms
			  : copy->started_ms          ? clock_mono_ms() - copy->started_ms
						      : 0;
	info.bytes_per_s = copy->state == COPY_RUNNING ? rate_of(copy) : 0;
	if (info.bytes_per_s && info.is_planned && info.bytes_total >= info.bytes_done)
		info.left_ms = (int64_t)((info.bytes_total - info.bytes_done) * 1000 /
					 info.bytes_per_s);
	return info;
}

size_t copies_count(const struct copies *copies)
{
	return copies->n;
}

struct copy_info copies_at(const struct copies *copies, size_t index)
{
	struct copy *copy = copies->list ? copies->list->prev : NULL; /* the last */
	while (index-- > 0)
		copy = copy->prev;
	return info_of(copy);
}

bool copies_failure(const struct copies *copies, unsigned id, size_t index, const char **path,
	const struct err **err)
{
	const struct copy *copy = find(copies, id);
	for (size_t i = 0; copy && i < copy->n; i++) {
		if (!copy->items[i].err || index-- > 0)
			continue;
		*path = copy->items[i].path;
		*err = copy->items[i].err;
		return true;
	}
	return false;
}

size_t copies_running(const struct copies *copies)
{
	size_t n = 0;
	struct copy *copy;
	DL_FOREACH(copies->list, copy)
		n += !copies_is_over(copy->state);
	return n;
}

bool copies_summary(const struct copies *copies, struct str *out)
{
	size_t n = copies_running(copies);
	if (!n)
		return false;
	uint64_t done = 0, total = 0, rate = 0;
	bool is_planned = true, asks = false, is_paused = true;
	struct copy *copy;
	DL_FOREACH(copies->list, copy) {
		if (copies_is_over(copy->state))
			continue;
		struct copy_info info = info_of(copy);
		done += info.bytes_done;
		total += info.bytes_total;
		rate += info.bytes_per_s;
		is_planned = is_planned && info.is_planned;
		asks = asks || info.is_asking;
		is_paused = is_paused && info.state == COPY_PAUSED;
	}
	char size[NUM_SIZE_BYTES], age[CLOCK_AGE_BYTES];
	str_addf(out, "%zu cop%s", n, n == 1 ? "y" : "ies");
	if (is_planned && total)
		str_addf(out, " %u%%", (unsigned)(done * 100 / total));
	else
		str_addf(out, " %s", num_format_size(done, size));
	if (is_paused)
		str_add(out, " paused");
	else if (asks)
		str_add(out, " asks");
	else if (rate) {
		str_addf(out, " %s/s", num_format_size(rate, size));
		if (is_planned && total >= done)
			str_addf(out, " %s left",
				clock_format_age((int64_t)((total - done) * 1000 / rate), age));
	}
	return true;
}

/* ---- running */

static void copies_step(struct copies *copies);
static void ask_next(struct copies *copies);

static bool ends_of(
	struct copy *copy, struct transfer_end *from, struct transfer_end *to, struct err *err)
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

bool copies_has_arrived(const struct copies *copies, uint64_t *seen,
	const struct copies_place *to, const char *to_dir)
{
	bool has_arrived = false;
	struct copy *copy;
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

static void copy_end(struct copy *copy, enum copy_state state)
{
	struct host *host = copy->copies->host;
	copy->state = state;
	copy->elapsed_ms = copy->started_ms ? clock_mono_ms() - copy->started_ms : 0;
	free(copy->current);
	copy->current = NULL;
	drop_questions(copy->copies, copy->id, EVERY_ITEM);
	struct copy_info info = info_of(copy);
	char size[NUM_SIZE_BYTES];
	num_format_size(info.bytes_done, size);
	const char *path = NULL;
	const struct err *err = NULL;
	if (state == COPY_DONE) {
		struct str line;
		str_init(&line, 512);
		str_addf(&line, "copied %s (%llu file%s, %s) to %s", copy->what,
			(unsigned long long)info.files_done, info.files_done == 1 ? "" : "s",
			size, info.to);
		if (info.files_skipped)
			str_addf(&line, "; %llu skipped",
				(unsigned long long)info.files_skipped);
		host->ops->note(host, NOTE_OK, line.p);
		str_deinit(&line);
	} else if (state == COPY_CANCELLED) {
		host_notef(
			host, NOTE_WARNING, "copy of %s cancelled after %s", copy->what, size);
	} else if (copies_failure(copy->copies, copy->id, 0, &path, &err)) {
		host_failf(host, err, "Not copied to %s: %s%s", info.to, path,
			info.files_failed > 1 ? " (more in the list of copies)" : "");
	}
	copy->arrival = ++copy->copies->last_arrival; /* perhaps only folders, or a part */
}

static void item_failed(struct item *item, const struct err *err)
{
	item->state = ITEM_FAILED;
	if (item->copy->n_kept_errors < COPY_FAILURES_KEPT) {
		item->err = x_malloc(sizeof *item->err);
		*item->err = *err;
		item->copy->n_kept_errors++;
	}
}

static void take_progress(struct item *item, const struct transfer_progress *progress)
{
	item->progress = *progress;
	item->progress.current = NULL;
	if (progress->current && *progress->current) {
		free(item->copy->current);
		item->copy->current = x_strdup(progress->current);
	}
}

static void on_step(void *arg)
{
	copies_step(arg);
}

static void on_progress(void *arg, const struct transfer_progress *progress)
{
	struct item *item = arg;
	take_progress(item, progress);
	changed(item->copy->copies);
}

static void on_done(void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct item *item = arg;
	struct copy *copy = item->copy;
	item->transfer = NULL;
	if (progress)
		take_progress(item, progress);
	item->state = ITEM_DONE;
	if (err)
		item_failed(item, err);
	drop_questions(copy->copies, copy->id, item - copy->items);
	copy->n_active--;
	changed(copy->copies);
	copies_step(copy->copies);
}

static void on_ask(void *arg)
{
	ask_next(arg);
}

static void on_conflict(
	void *arg, const char *target, int64_t existing_bytes, int64_t new_bytes)
{
	struct item *item = arg;
	struct copies *copies = item->copy->copies;
	struct question *question = x_calloc(1, sizeof *question);
	question->id = item->copy->id;
	question->item = (size_t)(item - item->copy->items);
	question->target = x_strdup(target);
	question->existing_bytes = existing_bytes;
	question->new_bytes = new_bytes;
	DL_APPEND(copies->questions, question);
	changed(copies);
	loop_timer_arm(copies->ask, 0);
	loop_timer_arm(copies->step, 0);
}

static bool item_start(struct item *item, struct err *err)
{
	struct copy *copy = item->copy;
	struct transfer_opts opts = {
		.recursive = true,
		.conflict = copy->conflict,
		.verify = true,
		.telemetry = engine_telemetry(copy->copies->host->engine),
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
	item->transfer = transfer_start(copy->copies->host->loop, &opts, err);
	free(to);
	return item->transfer != NULL;
}

/* Those that wait for an answer take nobody's place, as long as they are not too many. */
static bool has_room(const struct copy *copy)
{
	size_t n_asking = 0;
	const struct question *question;
	DL_FOREACH(copy->copies->questions, question)
		n_asking += question->id == copy->id;
	n_asking = n_asking < ASKING_MAX ? n_asking : ASKING_MAX;
	return copy->n_active < COPY_ITEMS_PARALLEL + n_asking;
}

static void copy_step(struct copy *copy)
{
	while (copy->state == COPY_RUNNING && copy->n_begun < copy->n && has_room(copy)) {
		struct item *item = &copy->items[copy->n_begun++];
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
	if (copies_is_over(copy->state) || copy->n_active || copy->n_begun < copy->n)
		return;
	bool has_failed = false;
	for (size_t i = 0; i < copy->n; i++)
		has_failed = has_failed || copy->items[i].state == ITEM_FAILED;
	copy_end(copy, has_failed ? COPY_FAILED : COPY_DONE);
}

static void on_tick(void *arg)
{
	struct copies *copies = arg;
	bool is_any = false;
	struct copy *copy;
	DL_FOREACH(copies->list, copy)
		if (copy->state == COPY_RUNNING) {
			take_sample(copy);
			is_any = true;
		}
	if (!is_any) {
		loop_timer_disarm(copies->tick);
		copies->is_ticking = false;
	}
	changed(copies);
}

/* The questions of ended copies go; the oldest ended copies too, when there are many. */
static void sweep(struct copies *copies)
{
	struct copy *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (copies->n <= COPIES_KEPT_MAX)
			break;
		if (!copies_is_over(copy->state))
			continue;
		DL_DELETE(copies->list, copy);
		copies->n--;
		copy_free(copy);
	}
}

static void copies_step(struct copies *copies)
{
	size_t n_running = 0;
	struct copy *copy, *after;
	DL_FOREACH(copies->list, copy)
		n_running += copy->state == COPY_RUNNING;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (copy->state == COPY_WAITING && n_running < COPIES_PARALLEL) {
			copy->state = COPY_RUNNING;
			copy->started_ms =
				copy->started_ms ? copy->started_ms : clock_mono_ms();
			copy->n_samples = 0;
			take_sample(copy);
			n_running++;
		}
		bool was_over = copies_is_over(copy->state);
		copy_step(copy);
		if (!was_over && copies_is_over(copy->state)) {
			n_running--;
			loop_timer_arm(copies->step, 0);
		}
	}
	if (n_running && !copies->is_ticking) {
		copies->is_ticking = true;
		loop_timer_arm_every(copies->tick, TICK_MS);
	}
	changed(copies);
}

/* ---- conflicts */

struct answering {
	struct copies *copies;
	unsigned id;
	size_t item;
	int for_all; /* the switch */
};

enum { ANSWER_OVERWRITE, ANSWER_SKIP, ANSWER_RENAME, ANSWER_STOP };

static void answer_all(struct copies *copies, struct copy *copy, enum transfer_conflict answer)
{
	copy->conflict = answer;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_answer(copy->items[i].transfer, answer, true);
	drop_questions(copies, copy->id, EVERY_ITEM);
}

static void on_answered(void *arg, struct dialog *dialog, int button)
{
	struct answering *answering = arg;
	struct copies *copies = answering->copies;
	struct copy *copy = find(copies, answering->id);
	copies->has_dialog = false;
	struct question *question = NULL, *q;
	DL_FOREACH(copies->questions, q)
		if (q->id == answering->id && q->item == answering->item) {
			question = q;
			break;
		}
	if (copy && question && (button == ANSWER_STOP || button == DIALOG_CANCELLED)) {
		copies_cancel(copies, copy->id);
	} else if (copy && question) {
		enum transfer_conflict answer = button == ANSWER_OVERWRITE ? TRANSFER_OVERWRITE
						: button == ANSWER_RENAME  ? TRANSFER_RENAME
									   : TRANSFER_SKIP;
		struct transfer *transfer = copy->items[question->item].transfer;
		question_free(copies, question);
		if (dialog_switch(dialog, answering->for_all))
			answer_all(copies, copy, answer);
		else if (transfer)
			transfer_answer(transfer, answer, false);
	}
	changed(copies);
	loop_timer_arm(copies->ask, 0);
}

static void ask_next(struct copies *copies)
{
	struct question *question = copies->questions;
	if (copies->has_dialog || !question)
		return;
	const struct copy *copy = find(copies, question->id);
	struct answering *answering = x_calloc(1, sizeof *answering);
	*answering = (struct answering){ copies, question->id, question->item, 0 };
	struct dialog *dialog = dialog_new("It is there already", on_answered, answering, free);
	char old_size[NUM_SIZE_BYTES], new_size[NUM_SIZE_BYTES];
	dialog_add_textf(dialog, "%s on %s", question->target, copy->to.name);
	dialog_add_textf(dialog, "there: %s   new: %s",
		question->existing_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->existing_bytes, old_size),
		question->new_bytes < 0
			? "?"
			: num_format_size((uint64_t)question->new_bytes, new_size));
	dialog_add_text(dialog, "The other files go on meanwhile.");
	answering->for_all =
		dialog_add_switch(dialog, "the same for all others of this copy", false);
	dialog_add_button(dialog, "&Overwrite");
	dialog_add_button(dialog, "&Skip");
	dialog_add_button(dialog, "&Keep both");
	dialog_add_button(dialog, "S&top");
	dialog_focus_button(dialog, ANSWER_SKIP);
	copies->has_dialog = true;
	copies->host->ops->push_dialog(copies->host, dialog);
}

/* ---- hands */

static char *describe(const struct copies_request *request)
{
	const char *first = path_base(request->paths[0]);
	if (!*first)
		first = request->paths[0];
	if (request->n == 1)
		return x_strndup(first, WHAT_BYTES_MAX);
	return x_asprintf("%.*s and %zu more", WHAT_BYTES_MAX, first, request->n - 1);
}

bool copies_start(struct copies *copies, const struct copies_request *request, struct err *err)
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
	struct copy *copy = x_calloc(1, sizeof *copy);
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
	loop_timer_arm(copies->step, 0);
	host_notef(copies->host, NOTE_INFO, "copying %s to %s …", copy->what, copy->to.name);
	changed(copies);
	return true;
}

void copies_pause(struct copies *copies, unsigned id, bool paused)
{
	struct copy *copy = find(copies, id);
	if (!copy || copies_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++)
		if (copy->items[i].transfer)
			transfer_pause(copy->items[i].transfer, paused);
	copy->state = paused ? COPY_PAUSED : copy->n_active ? COPY_RUNNING : COPY_WAITING;
	copy->n_samples = 0;
	copies_step(copies);
}

void copies_cancel(struct copies *copies, unsigned id)
{
	struct copy *copy = find(copies, id);
	if (!copy || copies_is_over(copy->state))
		return;
	for (size_t i = 0; i < copy->n; i++) {
		transfer_cancel(copy->items[i].transfer);
		copy->items[i].transfer = NULL;
	}
	copy->n_active = 0;
	copy_end(copy, COPY_CANCELLED);
	copies_step(copies);
}

bool copies_retry(struct copies *copies, unsigned id, struct err *err)
{
	struct copy *copy = find(copies, id);
	if (!copy || (copy->state != COPY_FAILED && copy->state != COPY_CANCELLED))
		return err_set(err, ERR_ARG_INVALID, "this copy has nothing to be repeated");
	for (size_t i = 0; i < copy->n; i++) {
		struct item *item = &copy->items[i];
		if (item->state == ITEM_DONE)
			continue;
		/* what a tree has brought over already is not asked about again */
		if (copy->conflict == TRANSFER_ASK && item->progress.files_done)
			copy->conflict = TRANSFER_SKIP;
		item_reset(item);
		item->progress = (struct transfer_progress){ 0 };
		item->state = ITEM_WAITING;
	}
	copy->n_begun = 0;
	copy->state = COPY_WAITING;
	copy->started_ms = 0;
	copies_step(copies);
	return true;
}

void copies_clear(struct copies *copies)
{
	struct copy *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		if (!copies_is_over(copy->state))
			continue;
		DL_DELETE(copies->list, copy);
		copies->n--;
		copy_free(copy);
	}
	changed(copies);
}

struct copies *copies_new(struct host *host)
{
	struct copies *copies = x_calloc(1, sizeof *copies);
	copies->host = host;
	copies->tick = loop_timer_new(host->loop, on_tick, copies);
	copies->step = loop_timer_new(host->loop, on_step, copies);
	copies->ask = loop_timer_new(host->loop, on_ask, copies);
	return copies;
}

void copies_free(struct copies *copies)
{
	if (!copies)
		return;
	struct copy *copy, *after;
	DL_FOREACH_SAFE(copies->list, copy, after) {
		DL_DELETE(copies->list, copy);
		copy_free(copy);
	}
	while (copies->questions)
		question_free(copies, copies->questions);
	loop_timer_free(copies->tick);
	loop_timer_free(copies->step);
	loop_timer_free(copies->ask);
	free(copies);
}
