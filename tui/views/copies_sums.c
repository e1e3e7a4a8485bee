// SPDX-License-Identifier: Apache-2.0
// What people see of a copy: sums over its files, rate, what is left; the names of states.
//
// Sizes that the browser knows stand in for the totals of items that have not begun, so that the bar tells the truth
// from the first moment; the rate is measured over the whole copy, not over its last small file.
#include "tui/views/copies_internal.h"

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

const char *copy_state_name(enum copy_state state)
{
	return state_names[state];
}

bool copies_is_over(enum copy_state state)
{
	return state == COPY_DONE || state == COPY_FAILED || state == COPY_CANCELLED;
}

/* ---- sums */

/* Bytes and files of a copy, from what its transfers say and from what the browser knew. */
static void sum_up(struct copy *copy)
{
	struct copy_info *out = &copy->sums;
	if (copy->has_sums)
		return;
	*out = (struct copy_info){ .is_planned = true };
	copy->has_sums = true;
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

void copy_take_sample(struct copy *copy)
{
	sum_up(copy);
	if (copy->n_samples == COPY_SAMPLES) {
		memmove(copy->samples, copy->samples + 1,
			(COPY_SAMPLES - 1) * sizeof copy->samples[0]);
		copy->n_samples--;
	}
	copy->samples[copy->n_samples++] =
		(struct sample){ clock_mono_ms(), copy->sums.bytes_done };
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

struct copy_info copy_info_of(struct copy *copy)
{
	sum_up(copy);
	struct copy_info info = copy->sums;
	info.id = copy->id;
	info.state = copy->state;
	info.what = copy->what;
	info.from = copy->from.name;
	info.to = copy->to.name;
	info.to_dir = copy->to_dir;
	info.current = copy->current ? copy->current : "";
	info.left_ms = -1;
	info.is_asking = copies_questions_of(copy->copies, copy->id) > 0;
	info.n_failures = copy->n_kept_errors;
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
	return copy_info_of(copy);
}

bool copies_failure(const struct copies *copies, unsigned id, size_t index, const char **path,
	const struct err **err)
{
	const struct copy *copy = copies_find(copies, id);
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
		struct copy_info info = copy_info_of(copy);
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
