// SPDX-License-Identifier: Apache-2.0
/* SHA-256 of what the sandbox has, by its own sha256sum: many files a process. When a whole batch fails, each file
 * is asked for alone. A sandbox without that program (or a runtime without processes) is read back
 * instead, and the sum is ours. */
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <stdlib.h>

enum {
	BATCH = 64,
	MAX_READING = 4,
	MAX_ARGV_BYTES = 64 << 10,
	MIN_MS = 60 * 1000,
	BYTES_PER_MS = 10 << 10, /* a slow sandbox: 10 MiB a second */
	HEX = DIGEST_SHA256_HEX - 1,
};

struct transfer_checksum {
	struct runtime_op *op;
	struct transfer_job *batch[BATCH];
	size_t n;
	bool is_unavailable;
	size_t n_alone;    /* jobs to be asked for alone */
	int n_reading;     /* back */
	size_t n_prefixes; /* jobs of a source that may have grown: is_prefix */
};

static char *remote_path(const struct transfer_job *job)
{
	const struct transfer *transfer = job->transfer;
	char *path = transfer->to.kind == END_REMOTE
			     ? transfer_directory_to_path(transfer, job->dir, job->to_name)
			     : transfer_directory_from_path(transfer, job->dir, job->name);
	/* never an option, whatever it begins with */
	char *safe = x_asprintf("./%s", path);

	free(path);
	return safe;
}

void transfer_checksum_add(
	struct transfer_job *job, void (*done)(struct transfer_job *job, const struct err *err))
{
	struct transfer *transfer = job->transfer;

	if (!transfer->verify)
		transfer->verify = x_calloc(1, sizeof *transfer->verify);
	transfer->n_active--;
	transfer->n_verifying++;
	job->state = JOB_VERIFYING;
	job->on_verified = done;
	/* the sum of a longer file is of no use */
	if (transfer->to.kind != END_REMOTE && job->has_grown) {
		job->is_prefix = true;
		transfer->verify->n_prefixes++;
	}
	transfer_schedule(transfer);
}

/* One line a file, in the order asked for: "<hex>  <name>", with a backslash in front if the name is escaped. */
static bool next_hex(struct slice *text, struct slice *hex)
{
	const char *end = memchr(text->p, '\n', text->n);
	size_t n = end ? (size_t)(end - text->p) : text->n;
	const char *line = text->p;

	if (!end)
		return false;
	text->p += n + 1;
	text->n -= n + 1;
	if (n && line[0] == '\\') {
		line++;
		n--;
	}
	*hex = (struct slice){ line, HEX };
	return n > HEX && line[HEX] == ' ';
}

static void judge(struct transfer_job *job, struct slice hex)
{
	struct err err = { 0 };

	if (memcmp(hex.p, job->hex, HEX) == 0) {
		job->on_verified(job, NULL);
		return;
	}
	/* a source that has grown since begins with what has come, if that is right */
	if (job->transfer->to.kind != END_REMOTE && !job->is_prefix) {
		job->is_prefix = true;
		job->transfer->verify->n_prefixes++;
		transfer_schedule(job->transfer);
		return;
	}
	err_set(&err, ERR_FILE_VERIFY, "%s: the SHA-256 differs on the two sides", job->name);
	job->on_verified(job, &err);
}

/* ---- reading back */
static bool on_back_bytes(void *arg, struct slice bytes, struct err *err)
{
	struct transfer_job *job = arg;
	uint64_t left = (uint64_t)job->bytes - job->back_bytes;
	size_t n = bytes.n < left ? bytes.n : (size_t)left;

	/* a file that we wrote has nothing to be longer for */
	if (job->transfer->to.kind == END_REMOTE)
		n = bytes.n;
	digest_add(job->digest, bytes.p, n);
	job->back_bytes += n;
	if (n == bytes.n)
		return true;
	job->has_grown = true;
	return err_set(err, ERR_OP_CANCELLED, "the rest is not wanted");
}

static void on_back_read(void *arg, const struct err *err, int64_t bytes_read)
{
	struct transfer_job *job = arg;
	char hex[DIGEST_SHA256_HEX];

	(void)bytes_read;
	job->read = NULL;
	job->transfer->verify->n_reading--;
	if (job->is_prefix)
		job->transfer->verify->n_prefixes--;
	job->is_prefix = true; /* for the last time */
	if (err && job->back_bytes < (uint64_t)job->bytes) {
		job->on_verified(job, err);
		return;
	}
	digest_finish_hex(job->digest, hex);
	judge(job, (struct slice){ hex, HEX });
}

static void read_back(struct transfer_job *job)
{
	struct transfer *transfer = job->transfer;
	bool is_upload = transfer->to.kind == END_REMOTE;
	char *path = is_upload ? transfer_directory_to_path(transfer, job->dir, job->to_name)
			       : transfer_directory_from_path(transfer, job->dir, job->name);
	struct runtime_read_opts opts = {
		.path = path,
		.if_unmodified_since_s = -1,
		.on_bytes = on_back_bytes,
		.done = on_back_read,
		.arg = job,
	};
	struct err err = { 0 };

	digest_free(job->digest);
	job->digest = digest_new();
	job->back_bytes = 0;
	job->read = runtime_read_start(
		is_upload ? transfer->to.runtime : transfer->from.runtime, &opts, &err);
	free(path);
	if (job->read) {
		transfer->verify->n_reading++;
		return;
	}
	if (job->is_prefix)
		transfer->verify->n_prefixes--;
	job->on_verified(job, &err);
}

static void read_back_some(struct transfer *transfer)
{
	struct transfer_job *job, *next;

	DL_FOREACH_SAFE(transfer->jobs, job, next) {
		if (transfer->verify->n_reading >= MAX_READING)
			return;
		if (job->state == JOB_VERIFYING && !job->read &&
			(job->is_prefix || transfer->verify->is_unavailable))
			read_back(job);
	}
}

/* ---- sha256sum */
static bool is_whole(const struct runtime_result *result, size_t n)
{
	struct slice text = result->out, hex;

	if (result->exit_code != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!next_hex(&text, &hex))
			return false;
	return text.n == 0;
}

static void on_summed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct transfer *transfer = arg;
	struct transfer_checksum *verify = transfer->verify;
	size_t n = verify->n;
	struct err failure = { 0 };

	verify->op = NULL;
	verify->n = 0;
	transfer_schedule(transfer);
	if (err && transfer_means_unavailable(err)) {
		verify->is_unavailable = true;
		return;
	}
	if (!err && is_whole(result, n)) {
		struct slice text = result->out, hex;
		for (size_t i = 0; i < n && next_hex(&text, &hex); i++)
			judge(verify->batch[i], hex);
		if (verify->n_alone)
			verify->n_alone--;
		return;
	}
	if (!err && n > 1) {
		/* one of them is gone or unreadable: which? */
		verify->n_alone = n;
		return;
	}
	if (verify->n_alone)
		verify->n_alone--;
	if (!err)
		err_set(&failure, ERR_FILE_VERIFY, "sha256sum failed in the sandbox: %.*s",
			(int)(result->err_out.n < 200 ? result->err_out.n : 200),
			result->err_out.p);
	for (size_t i = 0; i < n; i++)
		verify->batch[i]->on_verified(verify->batch[i], err ? err : &failure);
}

static void start_batch(struct transfer *transfer)
{
	struct transfer_checksum *verify = transfer->verify;
	const char *argv[BATCH + 3] = { "sha256sum", "--" };
	char *paths[BATCH];
	size_t max = verify->n_alone ? 1 : BATCH, argv_bytes = 0, n = 0;
	int64_t bytes = 0;
	struct transfer_job *job;
	struct err err = { 0 };

	DL_FOREACH(transfer->jobs, job) {
		if (job->state != JOB_VERIFYING || job->is_prefix)
			continue;
		if (n == max || argv_bytes > MAX_ARGV_BYTES)
			break;
		paths[n] = remote_path(job);
		argv[n + 2] = paths[n];
		argv_bytes += strlen(paths[n]);
		verify->batch[n++] = job;
		bytes += job->bytes;
	}
	verify->n = n;
	struct runtime *runtime =
		transfer->to.kind == END_REMOTE ? transfer->to.runtime : transfer->from.runtime;
	verify->op = runtime_execute_start(runtime, argv, NULL, NULL,
		MIN_MS + bytes / BYTES_PER_MS, on_summed, transfer, &err);
	for (size_t i = 0; i < n; i++)
		free(paths[i]);
	if (!verify->op)
		on_summed(transfer, &err, NULL);
}

void transfer_checksum_turn(struct transfer *transfer)
{
	struct transfer_checksum *verify = transfer->verify;

	if (!verify || verify->op || !transfer->n_verifying || transfer->is_ended)
		return;
	if (verify->n_prefixes || verify->is_unavailable)
		read_back_some(transfer);
	if (verify->is_unavailable)
		return;
	size_t n = transfer->n_verifying - verify->n_prefixes;
	/* a full batch, or nothing that could fill it */
	if (n >= BATCH || (n && verify->n_alone) ||
		(n && !transfer->n_active && !transfer->n_queued && !transfer->n_looking))
		start_batch(transfer);
}

void transfer_checksum_free(struct transfer *transfer)
{
	if (!transfer->verify)
		return;
	runtime_cancel(transfer->verify->op);
	free(transfer->verify);
	transfer->verify = NULL;
}
