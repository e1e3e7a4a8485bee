// SPDX-License-Identifier: Apache-2.0
/* What a job reads in a sandbox: a file by the daemon, or a pipe or device by `cat` there, since the daemon's answer to
 * those never begins. Both push bytes and pause alike: of a process what was not taken stays in its pipe. */
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/transfer/internal.h"

#include <stdlib.h>

enum { REASON_BYTES = 160 };

struct transfer_cat {
	struct net_loop *loop;
	struct runtime_process *process;
	struct runtime_read_opts opts;
	size_t n_held; /* taken, and not said so: the process waits */
	uint64_t n_bytes;
	bool is_paused, is_over;
	char reason[REASON_BYTES + 1]; /* the beginning of its stderr */
	size_t n_reason;
};

static void free_cat(void *arg)
{
	struct transfer_cat *cat = arg;

	runtime_process_free(cat->process);
	free(cat);
}

static void end(struct transfer_cat *cat, const struct err *err)
{
	cat->is_over = true;
	net_loop_defer(cat->loop, free_cat, cat);
	cat->opts.done(cat->opts.arg, err, (int64_t)cat->n_bytes);
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	struct transfer_cat *cat = arg;
	uint64_t max = (uint64_t)setting_get(SETTING_DOWNLOAD_LIMIT);
	struct err err = { 0 };

	if (cat->is_over)
		return;
	if (stream == 2) {
		size_t n = REASON_BYTES - cat->n_reason;
		n = n < bytes.n ? n : bytes.n;
		memcpy(cat->reason + cat->n_reason, bytes.p, n);
		cat->n_reason += n;
		runtime_process_consumed(cat->process, bytes.n);
		return;
	}
	cat->n_bytes += bytes.n;
	if (max && cat->n_bytes > max) {
		err_set(&err, ERR_LIMIT_DOWNLOAD, "the limit is %llu bytes",
			(unsigned long long)max);
		end(cat, &err);
		return;
	}
	bool goes_on = cat->opts.on_bytes(cat->opts.arg, bytes, &err);
	if (cat->is_over)
		return; /* cancelled in there */
	if (!goes_on && err.code != ERR_NONE) {
		end(cat, &err);
		return;
	}
	cat->is_paused = cat->is_paused || !goes_on;
	if (cat->is_paused)
		cat->n_held += bytes.n;
	else
		runtime_process_consumed(cat->process, bytes.n);
}

static void on_exit_event(void *arg, const struct err *err, int exit_code)
{
	struct transfer_cat *cat = arg;
	struct err failure = { 0 };

	if (cat->is_over)
		return;
	if (!err && exit_code != 0) {
		err_set(&failure, ERR_FILE_SERVER, "cat failed in the sandbox: %s",
			cat->reason);
		err = &failure;
	}
	end(cat, err);
}

static struct transfer_cat *cat_start(
	struct transfer *transfer, const struct runtime_read_opts *opts, struct err *err)
{
	struct transfer_cat *cat = x_calloc(1, sizeof *cat);
	char *path = x_asprintf("./%s", opts->path);
	const char *const argv[] = { "cat", "--", path, NULL };
	const struct runtime_start_opts start = {
		.argv = argv,
		.on_output = on_output,
		.on_exit = on_exit_event,
		.arg = cat,
	};

	cat->loop = transfer->loop;
	cat->opts = *opts;
	cat->process = runtime_process_start(transfer->from.runtime, &start, err);
	free(path);
	if (cat->process)
		return cat;
	free(cat);
	return NULL;
}

/* ---- either */
bool transfer_stream_start(
	struct transfer_job *job, const struct runtime_read_opts *opts, struct err *err)
{
	struct transfer *transfer = job->transfer;

	if (!transfer->from_is_stream) {
		job->read = runtime_read_start(transfer->from.runtime, opts, err);
		return job->read != NULL;
	}
	job->cat = cat_start(transfer, opts, err);
	if (job->cat)
		opts->on_info(opts->arg, -1, -1);
	return job->cat != NULL;
}

bool transfer_stream_is_open(const struct transfer_job *job)
{
	return job->read || job->cat;
}

void transfer_stream_resume(struct transfer_job *job)
{
	struct transfer_cat *cat = job->cat;

	if (job->read)
		runtime_resume(job->read);
	if (!cat || !cat->is_paused)
		return;
	size_t n = cat->n_held;
	cat->is_paused = false;
	cat->n_held = 0;
	runtime_process_consumed(cat->process, n);
}

void transfer_stream_ended(struct transfer_job *job)
{
	job->read = NULL;
	job->cat = NULL;
}

void transfer_stream_cancel(struct transfer_job *job)
{
	runtime_cancel(job->read);
	if (job->cat) {
		job->cat->is_over = true;
		net_loop_defer(job->cat->loop, free_cat, job->cat);
	}
	transfer_stream_ended(job);
}
