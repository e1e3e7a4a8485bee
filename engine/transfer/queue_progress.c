// SPDX-License-Identifier: Apache-2.0
// What people see of a copy: sums over its files, rate, what is left; the names of states.
//
// Sizes that the browser knows stand in for the totals of items that have not begun, so that the bar tells the truth
// from the first moment; the rate is measured over the whole copy, not over its last small file.
#include "tui/views/transfers/internal.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"

#include <string.h>

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

const char *views_transfer_state_name(enum views_transfer_state state)
{
	return state_names[state];
}

bool views_transfers_is_over(enum views_transfer_state state)
{
	return state == COPY_DONE || state == COPY_FAILED || state == COPY_CANCELLED;
}

/* ---- sums */

/* Bytes and files of a copy, from what its transfers say and from what the browser knew. */
static void sum_up(struct views_transfer *copy)
{
	struct views_transfer_info *out = &copy->sums;
	if (copy->has_sums)
		return;
	*out = (struct views_transfer_info){ .is_planned = true, .is_finishing = true };
	copy->has_sums = true;
	for (size_t i = 0; i < copy->n; i++) {
		const struct views_item *item = &copy->items[i];
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

void views_transfer_take_sample(struct views_transfer *copy)
{
	sum_up(copy);
	if (copy->n_samples == COPY_SAMPLES) {
		memmove(copy->samples, copy->samples + 1,
			(COPY_SAMPLES - 1) * sizeof copy->samples[0]);
		copy->n_samples--;
	}
	copy->samples[copy->n_samples++] = (struct views_sample){ clock_mono_ms(),
		copy->sums.bytes_done, copy->sums.work_done };
}

/* Per second; what a failure takes back is no negative rate. */
static uint64_t rate_of(const struct views_transfer *copy, uint64_t *work_per_s)
{
	const struct views_sample
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

static int64_t left_ms(const struct views_transfer_info *info, uint64_t work_per_s)
{
	if (!work_per_s || !info->is_planned || info->is_finishing ||
		info->work_total < info->work_done)
		return -1;
	return (int64_t)((info->work_total - info->work_done) * 1000 / work_per_s);
}

unsigned views_transfers_percent(const struct views_transfer_info *info)
{
	return info->state == COPY_DONE ? 100
					: transfer_percent(info->work_done, info->work_total);
}

struct views_transfer_info views_transfer_info_of(struct views_transfer *copy)
{
	sum_up(copy);
	struct views_transfer_info info = copy->sums;
	info.id = copy->id;
	info.state = copy->state;
	info.what = copy->what;
	info.from = copy->from.name;
	info.to = copy->to.name;
	info.to_dir = copy->to_dir;
	info.current = copy->current ? copy->current : "";
	info.left_ms = -1;
	info.n_notes = copy->n_notes;
	info.is_finishing = info.is_finishing && copy->state == COPY_RUNNING;
	info.is_asking = views_transfers_questions_of(copy->copies, copy->id) > 0;
	info.n_failures = copy->n_kept_errors;
	info.elapsed_ms = views_transfers_is_over(copy->state) ? copy->elapsed_ms
			  : copy->started_ms ? clock_mono_ms() - copy->started_ms
					     : 0;
	if (copy->state == COPY_RUNNING) {
		uint64_t work_per_s;
		info.bytes_per_s = rate_of(copy, &work_per_s);
		info.left_ms = left_ms(&info, work_per_s);
	}
	return info;
}

size_t views_transfers_count(const struct views_transfers *copies)
{
	return copies->n;
}

struct views_transfer_info views_transfers_at(
	const struct views_transfers *copies, size_t index)
{
	struct views_transfer *copy = copies->list ? copies->list->prev : NULL; /* the last */
	while (index-- > 0)
		copy = copy->prev;
	return views_transfer_info_of(copy);
}

bool views_transfers_failure(const struct views_transfers *copies, unsigned id, size_t index,
	const char **path, const struct err **err)
{
	const struct views_transfer *copy = views_transfers_find(copies, id);
	for (size_t i = 0; copy && i < copy->n; i++) {
		if (!copy->items[i].err || index-- > 0)
			continue;
		*path = copy->items[i].path;
		*err = copy->items[i].err;
		return true;
	}
	return false;
}

bool views_transfers_note(const struct views_transfers *copies, unsigned id, size_t index,
	const char **path, const char **text)
{
	const struct views_transfer *copy = views_transfers_find(copies, id);
	if (!copy || index >= COPY_NOTES_KEPT || index >= copy->n_notes)
		return false;
	*path = copy->notes[index].path;
	*text = copy->notes[index].text;
	return true;
}

size_t views_transfers_running(const struct views_transfers *copies)
{
	size_t n = 0;
	struct views_transfer *copy;
	DL_FOREACH(copies->list, copy)
		n += !views_transfers_is_over(copy->state);
	return n;
}

bool views_transfers_summary(const struct views_transfers *copies, struct str *out)
{
	size_t n = views_transfers_running(copies);
	if (!n)
		return false;
	struct views_transfer_info sum = { .is_planned = true, .is_finishing = true };
	uint64_t rate = 0;
	int64_t left = 0; /* of the one that takes longest; -1: not known of one */
	bool asks = false, is_paused = true;
	struct views_transfer *copy;
	DL_FOREACH(copies->list, copy) {
		if (views_transfers_is_over(copy->state))
			continue;
		struct views_transfer_info info = views_transfer_info_of(copy);
		sum.bytes_done += info.bytes_done;
		sum.work_done += info.work_done;
		sum.work_total += info.work_total;
		rate += info.bytes_per_s;
		left = left < 0 || info.left_ms < 0 ? -1
		       : left > info.left_ms        ? left
						    : info.left_ms;
		sum.is_planned = sum.is_planned && info.is_planned;
		sum.is_finishing = sum.is_finishing && info.is_finishing;
		asks = asks || info.is_asking;
		is_paused = is_paused && info.state == COPY_PAUSED;
	}
	char size[NUM_SIZE_BYTES], age[CLOCK_AGE_BYTES];
	str_addf(out, "%zu cop%s", n, n == 1 ? "y" : "ies");
	if (sum.is_planned && sum.work_total)
		str_addf(out, " %u%%", views_transfers_percent(&sum));
	else
		str_addf(out, " %s", num_format_size(sum.bytes_done, size));
	if (is_paused)
		str_add(out, " paused");
	else if (asks)
		str_add(out, " asks");
	else if (sum.is_finishing)
		str_add(out, " finishing…");
	else if (rate) {
		str_addf(out, " %s/s", num_format_size(rate, size));
		if (left > 0)
			str_addf(out, " %s left", clock_format_age(left, age));
	}
	return true;
}
