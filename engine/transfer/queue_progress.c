// SPDX-License-Identifier: Apache-2.0
// What people see of a copy: sums over its files, rate, what is left; the names of states.
//
// Sizes that whoever asked knew stand in for the totals of items that have not begun, so that the bar tells the truth
// from the first moment; the rate is measured over the whole copy, not over its last small file.
#include "engine/transfer/queue_internal.h"

#include "engine/base/clock.h"

#include <string.h>

static const char *const state_names[] = {
	[TRANSFER_COPY_WAITING] = "waiting",
	[TRANSFER_COPY_RUNNING] = "copying",
	[TRANSFER_COPY_PAUSED] = "paused",
	[TRANSFER_COPY_DONE] = "done",
	[TRANSFER_COPY_FAILED] = "failed",
	[TRANSFER_COPY_CANCELLED] = "cancelled",
};
_Static_assert(sizeof state_names / sizeof state_names[0] == TRANSFER_COPY_STATE_COUNT,
	"a name for each");

const char *transfer_copy_state_name(enum transfer_copy_state state)
{
	return state_names[state];
}

bool transfer_copy_is_over(enum transfer_copy_state state)
{
	return state == TRANSFER_COPY_DONE || state == TRANSFER_COPY_FAILED ||
	       state == TRANSFER_COPY_CANCELLED;
}

/* ---- sums */

/* Bytes and files of a copy, from what its transfers say and from what was known before. */
static void sum_up(struct transfer_copy *copy)
{
	struct transfer_copy_info *out = &copy->sums;
	if (copy->has_sums)
		return;
	*out = (struct transfer_copy_info){ .is_planned = true, .is_finishing = true };
	copy->has_sums = true;
	for (size_t i = 0; i < copy->n; i++) {
		const struct transfer_item *item = &copy->items[i];
		const struct transfer_progress *p = &item->progress;
		bool is_over = item->state == ITEM_DONE || item->state == ITEM_FAILED;
		out->files_done += p->files_done;
		out->files_skipped += p->files_skipped;
		out->bytes_done += p->bytes_done;
		out->files_failed += p->files_failed;
		if (item->state == ITEM_FAILED && !p->files_failed)
			out->files_failed++;
		out->is_finishing = out->is_finishing && (is_over || p->is_finishing);
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
	out->work_done = transfer_work(
		out->bytes_done, out->files_done + out->files_skipped + out->files_failed);
	out->work_total = transfer_work(out->bytes_total, out->files_total);
}

void transfer_copy_take_sample(struct transfer_copy *copy)
{
	sum_up(copy);
	if (copy->n_samples == TRANSFER_COPY_SAMPLES) {
		memmove(copy->samples, copy->samples + 1,
			(TRANSFER_COPY_SAMPLES - 1) * sizeof copy->samples[0]);
		copy->n_samples--;
	}
	copy->samples[copy->n_samples++] = (struct transfer_copy_sample){ clock_mono_ms(),
		copy->sums.bytes_done, copy->sums.work_done };
}

/* Per second; what a failure takes back is no negative rate. */
static uint64_t rate_of(const struct transfer_copy *copy, uint64_t *work_per_s)
{
	const struct transfer_copy_sample
		*first = &copy->samples[0],
		*last = &copy->samples[copy->n_samples ? copy->n_samples - 1 : 0];
	int64_t ms = last->mono_ms - first->mono_ms;
	*work_per_s = 0;
	if (copy->n_samples < 2 || ms <= 0)
		return 0;
	if (last->work > first->work)
		*work_per_s = (last->work - first->work) * 1000 / (uint64_t)ms;
	if (last->bytes <= first->bytes)
		return 0;
	return (last->bytes - first->bytes) * 1000 / (uint64_t)ms;
}

static int64_t left_ms(const struct transfer_copy_info *info, uint64_t work_per_s)
{
	if (!work_per_s || !info->is_planned || info->is_finishing ||
		info->work_total < info->work_done)
		return -1;
	return (int64_t)((info->work_total - info->work_done) * 1000 / work_per_s);
}

unsigned transfer_copy_percent(const struct transfer_copy_info *info)
{
	return info->state == TRANSFER_COPY_DONE
		       ? 100
		       : transfer_percent(info->work_done, info->work_total);
}

struct transfer_copy_info transfer_copy_info_of(struct transfer_copy *copy)
{
	sum_up(copy);
	struct transfer_copy_info info = copy->sums;
	info.id = copy->id;
	info.state = copy->state;
	info.what = copy->what;
	info.from = copy->from.name;
	info.to = copy->to.name;
	info.to_dir = copy->to_dir;
	info.current = copy->current ? copy->current : "";
	info.left_ms = -1;
	info.n_notes = copy->n_notes;
	info.is_finishing = info.is_finishing && copy->state == TRANSFER_COPY_RUNNING;
	info.is_asking = copy->n_asking > 0;
	info.n_failures = copy->n_kept_errors;
	info.elapsed_ms = transfer_copy_is_over(copy->state) ? copy->elapsed_ms
			  : copy->started_ms ? clock_mono_ms() - copy->started_ms
					     : 0;
	if (copy->state == TRANSFER_COPY_RUNNING) {
		uint64_t work_per_s;
		info.bytes_per_s = rate_of(copy, &work_per_s);
		info.left_ms = left_ms(&info, work_per_s);
	}
	return info;
}

/* ---- what there is */

struct transfer_copy *transfer_queue_find(const struct transfer_queue *queue, unsigned id)
{
	struct transfer_copy *copy;
	DL_FOREACH(queue->list, copy)
		if (copy->id == id)
			return copy;
	return NULL;
}

uint64_t transfer_queue_revision(const struct transfer_queue *queue)
{
	return queue->revision;
}

size_t transfer_queue_count(const struct transfer_queue *queue)
{
	return queue->n;
}

struct transfer_copy_info transfer_queue_at(const struct transfer_queue *queue, size_t index)
{
	struct transfer_copy *copy = queue->list ? queue->list->prev : NULL; /* the last */
	while (index-- > 0)
		copy = copy->prev;
	return transfer_copy_info_of(copy);
}

bool transfer_queue_failure(const struct transfer_queue *queue, unsigned id, size_t index,
	const char **path, const struct err **err)
{
	const struct transfer_copy *copy = transfer_queue_find(queue, id);
	for (size_t i = 0; copy && i < copy->n; i++) {
		if (!copy->items[i].err || index-- > 0)
			continue;
		*path = copy->items[i].path;
		*err = copy->items[i].err;
		return true;
	}
	return false;
}

bool transfer_queue_note(const struct transfer_queue *queue, unsigned id, size_t index,
	const char **path, const char **text)
{
	const struct transfer_copy *copy = transfer_queue_find(queue, id);
	if (!copy || index >= TRANSFER_COPY_NOTES_KEPT || index >= copy->n_notes)
		return false;
	*path = copy->notes[index].path;
	*text = copy->notes[index].text;
	return true;
}

size_t transfer_queue_running(const struct transfer_queue *queue)
{
	size_t n = 0;
	struct transfer_copy *copy;
	DL_FOREACH(queue->list, copy)
		n += !transfer_copy_is_over(copy->state);
	return n;
}

/* The longest time; -1: not known of one. */
static int64_t later(int64_t a_ms, int64_t b_ms)
{
	if (a_ms < 0 || b_ms < 0)
		return -1;
	return a_ms > b_ms ? a_ms : b_ms;
}

bool transfer_queue_sum(const struct transfer_queue *queue, struct transfer_copy_info *sum)
{
	bool is_any = false, is_paused = true;
	struct transfer_copy *copy;
	*sum = (struct transfer_copy_info){ .is_planned = true, .is_finishing = true };
	DL_FOREACH(queue->list, copy) {
		if (transfer_copy_is_over(copy->state))
			continue;
		struct transfer_copy_info info = transfer_copy_info_of(copy);
		sum->bytes_done += info.bytes_done;
		sum->work_done += info.work_done;
		sum->work_total += info.work_total;
		sum->bytes_per_s += info.bytes_per_s;
		sum->left_ms = later(sum->left_ms, info.left_ms);
		sum->is_planned = sum->is_planned && info.is_planned;
		sum->is_finishing = sum->is_finishing && info.is_finishing;
		sum->is_asking = sum->is_asking || info.is_asking;
		is_paused = is_paused && info.state == TRANSFER_COPY_PAUSED;
		is_any = true;
	}
	sum->state = is_paused ? TRANSFER_COPY_PAUSED : TRANSFER_COPY_RUNNING;
	return is_any;
}

bool transfer_queue_has_arrived(const struct transfer_queue *queue, uint64_t *seen,
	const struct transfer_place *to, const char *to_dir)
{
	bool has_arrived = false;
	struct transfer_copy *copy;
	if (*seen == queue->last_arrival)
		return false;
	DL_FOREACH(queue->list, copy)
		has_arrived =
			has_arrived ||
			(copy->arrival > *seen &&
				transfer_is_same_place(transfer_end_place(&copy->to), *to) &&
				strcmp(copy->to_dir, to_dir) == 0);
	*seen = queue->last_arrival;
	return has_arrived;
}
