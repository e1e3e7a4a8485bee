// SPDX-License-Identifier: Apache-2.0
// What the queue says in one line: that a copy began, how it ended, and how all of them do.
#include "tui/views/transfers/transfers.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"

static void note_done(struct view_host *host, const struct transfer_copy_info *info)
{
	char size[NUM_SIZE_BYTES];
	const char *path, *text;
	struct str line;
	str_init(&line, 512);
	num_format_size(info->bytes_done, size);
	if (info->files_done || !info->files_skipped)
		str_addf(&line, "copied %s (%llu file%s, %s) to %s", info->what,
			(unsigned long long)info->files_done, info->files_done == 1 ? "" : "s",
			size, info->to);
	else
		str_addf(&line, "nothing copied to %s", info->to);
	if (info->files_skipped)
		str_addf(&line, "; %llu skipped", (unsigned long long)info->files_skipped);
	if (transfer_queue_note(host->copies, info->id, 0, &path, &text))
		str_addf(&line, "; %s: %s%s", path, text,
			info->n_notes > 1 ? " (more in the list of copies)" : "");
	host->ops->note(host, NOTE_OK, line.p);
	str_deinit(&line);
}

void views_transfers_on_copy(void *arg, const struct transfer_copy_info *info)
{
	struct view_host *host = arg;
	char size[NUM_SIZE_BYTES];
	const char *path;
	const struct err *err;
	if (info->state == TRANSFER_COPY_WAITING)
		view_host_notef(host, NOTE_INFO, "copying %s to %s …", info->what, info->to);
	else if (info->state == TRANSFER_COPY_DONE)
		note_done(host, info);
	else if (info->state == TRANSFER_COPY_CANCELLED)
		view_host_notef(host, NOTE_WARNING, "copy of %s cancelled after %s", info->what,
			num_format_size(info->bytes_done, size));
	else if (transfer_queue_failure(host->copies, info->id, 0, &path, &err))
		view_host_failf(host, err, "Not copied to %s: %s%s", info->to, path,
			info->files_failed > 1 ? " (more in the list of copies)" : "");
}

bool views_transfers_summary(const struct transfer_queue *copies, struct str *out)
{
	size_t n = transfer_queue_running(copies);
	struct transfer_copy_info sum;
	char size[NUM_SIZE_BYTES], age[CLOCK_AGE_BYTES];
	if (!transfer_queue_sum(copies, &sum))
		return false;
	str_addf(out, "%zu cop%s", n, n == 1 ? "y" : "ies");
	if (sum.is_planned && sum.work_total)
		str_addf(out, " %u%%", transfer_copy_percent(&sum));
	else
		str_addf(out, " %s", num_format_size(sum.bytes_done, size));
	if (sum.state == TRANSFER_COPY_PAUSED) {
		str_add(out, " paused");
	} else if (sum.is_asking) {
		str_add(out, " asks");
	} else if (sum.is_finishing) {
		str_add(out, " finishing…");
	} else if (sum.bytes_per_s) {
		str_addf(out, " %s/s", num_format_size(sum.bytes_per_s, size));
		if (sum.left_ms > 0)
			str_addf(out, " %s left", clock_format_age(sum.left_ms, age));
	}
	return true;
}
