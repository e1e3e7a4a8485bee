// SPDX-License-Identifier: Apache-2.0
/* The queue of one transfer, its progress and its end. All of it happens in turns asked for by transfer_schedule();
 * the caller's callbacks are called from here only. */
#include "engine/transfer/transfer.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/settings.h"
#include "engine/transfer/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	STARTS_A_TURN = 32,
	MAX_ASKING = 1000,
	MAX_LOOKING = 1000,
	MAX_VERIFYING = 128, /* each of a download holds its temp file open */
};

/* ---- progress */
static void sample_rate(struct transfer *transfer, int64_t now_ms)
{
	struct transfer_rate_sample *samples = transfer->samples;
	size_t n = transfer->n_samples;

	if (n == TRANSFER_RATE_SAMPLES) {
		memmove(samples, samples + 1, (n - 1) * sizeof *samples);
		n--;
	}
	samples[n] = (struct transfer_rate_sample){ now_ms, transfer->progress.bytes_done };
	transfer->n_samples = n + 1;
	int64_t ms = samples[n].mono_ms - samples[0].mono_ms;
	/* the bytes of a failed file are taken back */
	uint64_t bytes =
		samples[n].bytes > samples[0].bytes ? samples[n].bytes - samples[0].bytes : 0;
	transfer->progress.bytes_per_s = ms > 0 ? bytes * 1000 / (uint64_t)ms : 0;
}

static bool is_finishing(const struct transfer *transfer)
{
	const struct transfer_job *job;

	if (!transfer->is_resolved || !transfer_walk_is_done(transfer) || transfer->queued ||
		transfer->n_asking || transfer->n_looking)
		return false;
	DL_FOREACH(transfer->jobs, job)
		if (!job->is_data_over)
			return false;
	return true;
}

static void report(struct transfer *transfer)
{
	int64_t now = clock_mono_ms();

	transfer->progress.elapsed_ms = now - transfer->started_mono_ms;
	transfer->progress.current = transfer->current ? transfer->current : "";
	transfer->progress.is_planned = transfer->is_resolved &&
					transfer_walk_is_done(transfer) && !transfer->n_unsized;
	transfer->progress.is_finishing = is_finishing(transfer);
	sample_rate(transfer, now);
	if (transfer->opts.on_progress)
		transfer->opts.on_progress(transfer->opts.arg, &transfer->progress);
}

static void on_tick(void *arg)
{
	report(arg);
}

/* ---- end */
static void end_deinit(struct transfer_internal_end *end)
{
	if (end->kind == END_FD)
		transfer_local_restore(end);
	runtime_unref(end->runtime);
	free(end->path);
	free(end->root);
	free(end->top);
}

static void on_free(void *arg)
{
	struct transfer *transfer = arg;

	net_loop_timer_free(transfer->kick);
	net_loop_timer_free(transfer->tick);
	net_loop_timer_free(transfer->slow);
	free(transfer->current);
	free(transfer);
}

/* Stops everything and removes temp files; the memory itself goes at the end of the turn. */
static void tear_down(struct transfer *transfer)
{
	struct transfer_job *job, *next;

	transfer->is_ended = true;
	net_loop_timer_disarm(transfer->kick);
	net_loop_timer_disarm(transfer->tick);
	transfer_resolve_cancel(transfer);
	transfer_checksum_free(transfer);
	transfer_look_free(transfer);
	transfer_attributes_free(transfer);
	DL_FOREACH_SAFE(transfer->jobs, job, next) {
		transfer_job_free(job);
	}
	DL_FOREACH_SAFE(transfer->queued, job, next) {
		transfer_job_free(job);
	}
	transfer_walk_free(transfer->walk);
	transfer->walk = NULL;
	for (size_t i = 0; i < transfer->n_dirs; i++)
		transfer_directory_unref(transfer->dirs[i]);
	for (size_t i = 0; i < transfer->n_empty_dirs; i++)
		transfer_directory_unref(transfer->empty_dirs[i]);
	free(transfer->written.slots);
	transfer->written = (struct transfer_written){ 0 };
	free(transfer->empty_dirs);
	free(transfer->dirs);
	transfer->empty_dirs = transfer->dirs = NULL;
	transfer->n_empty_dirs = transfer->n_dirs = 0;
	transfer_directory_unref(transfer->top);
	transfer->top = NULL;
	end_deinit(&transfer->from);
	end_deinit(&transfer->to);
	net_loop_defer(transfer->loop, on_free, transfer);
}

static void finish(struct transfer *transfer)
{
	void (*done)(void *arg, const struct err *err,
		const struct transfer_progress *progress) = transfer->opts.done;
	void *arg = transfer->opts.arg;

	/* a copy: what the caller sees in done lives until done returns */
	report(transfer);
	if (transfer->is_ended)
		return;
	const struct err *err = transfer->first.code != ERR_NONE ? &transfer->first : NULL;
	telemetry_span_set_int(
		transfer->span, "sandbox.file.count", (int64_t)transfer->progress.files_done);
	telemetry_span_set_int(
		transfer->span, "sandbox.file.size", (int64_t)transfer->progress.bytes_done);
	telemetry_span_end(transfer->span, err);
	transfer->span = NULL;
	tear_down(transfer);
	done(arg, err, &transfer->progress);
}

void transfer_cancel(struct transfer *transfer)
{
	struct err cancelled = { .code = ERR_OP_CANCELLED };

	if (!transfer || transfer->is_ended)
		return;
	telemetry_span_end(transfer->span, &cancelled);
	transfer->span = NULL;
	tear_down(transfer);
}

/* ---- turns */
static void start_job(struct transfer *transfer)
{
	struct transfer_job *job = transfer->queued;

	DL_DELETE(transfer->queued, job);
	transfer->n_queued--;
	DL_APPEND(transfer->jobs, job);
	job->state = JOB_ACTIVE;
	transfer->n_active++;
	free(transfer->current);
	transfer->current = transfer_directory_relative(job->dir, job->name);
	transfer_job_begin(job);
}

static void ask(struct transfer *transfer)
{
	struct transfer_job *job;

	if (transfer->has_asked || !transfer->n_asking)
		return;
	DL_FOREACH(transfer->jobs, job) {
		if (job->state != JOB_ASKING)
			continue;
		char *target = transfer_directory_to_path(transfer, job->dir, job->to_name);
		transfer->has_asked = true;
		transfer->opts.on_conflict(
			transfer->opts.arg, target, job->existing_bytes, job->size_bytes);
		free(target);
		return;
	}
}

/* Too many entries: is that meant? What has begun goes on meanwhile. */
static void ask_limit(struct transfer *transfer)
{
	struct err err = { 0 };

	if (transfer->has_asked_limit || transfer->is_paused || transfer->is_fatal ||
		!transfer_is_over_limit(transfer))
		return;
	if (transfer->opts.on_limit) {
		transfer->has_asked_limit = true;
		transfer->opts.on_limit(transfer->opts.arg, transfer->max_entries);
		return;
	}
	err_set(&err, ERR_LIMIT_ENTRIES, "%s has more than %llu entries", transfer->from.path,
		(unsigned long long)transfer->max_entries);
	transfer_failed(transfer, &err);
	transfer_schedule(transfer);
}

void transfer_go_on(struct transfer *transfer, bool goes_on)
{
	struct err err = { 0 };

	if (transfer->is_ended || !transfer->has_asked_limit)
		return;
	transfer->has_asked_limit = false;
	if (goes_on) {
		while (transfer_is_over_limit(transfer))
			transfer->max_entries *= 2;
	} else {
		err_set(&err, ERR_LIMIT_ENTRIES, "%s has more than %llu entries",
			transfer->from.path, (unsigned long long)transfer->max_entries);
		transfer_failed(transfer, &err);
	}
	transfer_schedule(transfer);
}

static bool may_start(const struct transfer *transfer)
{
	return transfer->queued && transfer->n_active < TRANSFER_MAX_ACTIVE &&
	       transfer->n_asking < MAX_ASKING && transfer->n_looking < MAX_LOOKING &&
	       transfer->n_verifying < MAX_VERIFYING && !transfer->is_paused &&
	       !transfer->is_fatal && !transfer_is_over_limit(transfer);
}

static void on_kick(void *arg)
{
	struct transfer *transfer = arg;

	if (transfer->is_fatal) {
		finish(transfer);
		return;
	}
	if (!transfer->is_resolved)
		return;
	transfer_walk_turn(transfer);
	for (int i = 0; may_start(transfer); i++) {
		if (i == STARTS_A_TURN) {
			transfer_schedule(transfer);
			break;
		}
		start_job(transfer);
	}
	transfer_look_turn(transfer);
	transfer_checksum_turn(transfer);
	ask(transfer);
	if (!transfer->is_ended)
		ask_limit(transfer);
	if (transfer->is_ended)
		return;
	bool is_end = !transfer->is_fatal && transfer_walk_is_done(transfer) &&
		      !transfer_is_over_limit(transfer) && !transfer->jobs && !transfer->queued;
	if (transfer_attributes_turn(transfer, is_end) && is_end)
		finish(transfer);
}

static void on_resolve(void *arg)
{
	struct transfer *transfer = arg;

	if (!transfer->is_ended)
		transfer_resolve_start(transfer);
}

/* Back to the head of the queue: a thousand answered files must not all start at once. */
static void take_answer(struct transfer_job *job, enum transfer_conflict answer)
{
	transfer_job_requeue(job);
	job->has_answer = true;
	job->answer = answer;
}

void transfer_answer(struct transfer *transfer, enum transfer_conflict answer, bool for_all)
{
	struct transfer_job *job, *next;

	if (transfer->is_ended || answer == TRANSFER_ASK)
		return;
	if (for_all)
		transfer->conflict = answer;
	transfer->has_asked = false;
	DL_FOREACH_SAFE(transfer->jobs, job, next) {
		if (job->state != JOB_ASKING)
			continue;
		take_answer(job, answer);
		if (!for_all)
			break;
	}
	transfer_schedule(transfer);
}

void transfer_pause(struct transfer *transfer, bool paused)
{
	struct transfer_job *job;

	if (transfer->is_ended || transfer->is_paused == paused)
		return;
	transfer->is_paused = paused;
	if (paused)
		return;
	DL_FOREACH(transfer->jobs, job) {
		transfer_job_unpause(job);
	}
	transfer_schedule(transfer);
}

bool transfer_is_looking(const struct transfer *transfer)
{
	if (transfer->is_ended || transfer->is_fatal || transfer->conflict != TRANSFER_ASK)
		return false;
	if (!transfer->is_resolved)
		return true;
	const struct transfer_job *job = transfer->queued ? transfer->queued : transfer->jobs;
	if (transfer->from_stat.is_dir || !job || job->has_answer || job->rename_serial)
		return false;
	return job->state == JOB_ASKING ? !transfer->has_asked : !job->has_begun_data;
}

/* ---- start */
static bool take_end(
	struct transfer_internal_end *end, const struct transfer_end *from, struct err *err)
{
	end->runtime = from->runtime ? runtime_ref(from->runtime) : NULL;
	end->fd = from->fd;
	end->fd_flags = -1;
	if (from->runtime) {
		end->kind = END_REMOTE;
		if (!path_check(from->path, PATH_READ, err))
			return false;
	} else if (from->fd >= 0) {
		end->kind = END_FD;
	} else {
		end->kind = END_LOCAL;
		if (!from->path || !*from->path)
			return err_set(err, ERR_ARG_INVALID, "an empty path");
	}
	end->path = x_strdup(from->path ? from->path : "-");
	return true;
}

static bool check(struct transfer *transfer, struct err *err)
{
	if (!take_end(&transfer->from, &transfer->opts.from, err) ||
		!take_end(&transfer->to, &transfer->opts.to, err))
		return false;
	if (transfer->from.kind != END_REMOTE && transfer->to.kind != END_REMOTE)
		return err_set(err, ERR_OP_UNSUPPORTED, "neither end is in a sandbox");
	return true;
}

struct transfer *transfer_start(
	struct net_loop *loop, const struct transfer_opts *opts, struct err *err)
{
	struct transfer *transfer = x_calloc(1, sizeof *transfer);

	transfer->opts = *opts;
	transfer->loop = loop;
	transfer->conflict = opts->conflict;
	transfer->max_entries = (uint64_t)setting_get(SETTING_TRANSFER_MAX_ENTRIES);
	if (transfer->conflict == TRANSFER_ASK && !opts->on_conflict)
		transfer->conflict = TRANSFER_FAIL;
	if (!check(transfer, err)) {
		end_deinit(&transfer->from);
		end_deinit(&transfer->to);
		free(transfer);
		return NULL;
	}
	transfer->kick = net_loop_timer_new(loop, on_kick, transfer);
	transfer->tick = net_loop_timer_new(loop, on_tick, transfer);
	transfer->started_mono_ms = clock_mono_ms();
	transfer->span = telemetry_span_start(opts->telemetry, "transfer", NULL);
	net_loop_timer_arm_every(transfer->tick, TRANSFER_TICK_MS);
	net_loop_defer(loop, on_resolve, transfer);
	return transfer;
}
