// SPDX-License-Identifier: Apache-2.0
/* cp: files and trees between here and sandboxes, or between two sandboxes. */
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/num.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct side {
	char *name; /* NULL: local */
	const char *path;
	struct runtime *runtime;
};

struct copy {
	struct cli *cli;
	struct side from, to;
	struct transfer *transfer;
	bool shows_progress;
};

static void clear_progress(const struct copy *copy)
{
	if (copy->shows_progress)
		fputs("\r\033[K", stderr);
}

static void on_progress(void *arg, const struct transfer_progress *progress)
{
	const struct copy *copy = arg;
	if (!copy->shows_progress)
		return;
	char done[NUM_SIZE_BYTES], total[NUM_SIZE_BYTES], rate[NUM_SIZE_BYTES];
	char *current = safe_text_dup(progress->current ? progress->current : "", 40);
	fprintf(stderr, "\r\033[K%s of %s%s  %s/s  %" PRIu64 "/%" PRIu64 " files  %s",
		num_format_size(progress->bytes_done, done),
		num_format_size(progress->bytes_total, total), progress->is_planned ? "" : "+",
		num_format_size(progress->bytes_per_s, rate), progress->files_done,
		progress->files_total, current);
	free(current);
}

static void print_receipt(const struct copy *copy, const struct transfer_progress *progress)
{
	const struct cli *cli = copy->cli;
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddNumberToObject(object, "files", (double)progress->files_done);
		cJSON_AddNumberToObject(object, "skipped", (double)progress->files_skipped);
		cJSON_AddNumberToObject(object, "failed", (double)progress->files_failed);
		cJSON_AddNumberToObject(object, "bytes", (double)progress->bytes_done);
		cJSON_AddNumberToObject(object, "elapsedMs", (double)progress->elapsed_ms);
		cli_print_object(cli, object);
		cJSON_Delete(object);
		return;
	}
	char size[NUM_SIZE_BYTES];
	bool to_stdout = copy->to.name == NULL && strcmp(copy->to.path, "-") == 0;
	if (!to_stdout || progress->files_failed > 0)
		cli_note(cli,
			"%" PRIu64 " files, %s copied, %" PRIu64 " skipped, %" PRIu64 " failed",
			progress->files_done, num_format_size(progress->bytes_done, size),
			progress->files_skipped, progress->files_failed);
}

static void on_copied(
	void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct copy *copy = arg;
	copy->transfer = NULL;
	clear_progress(copy);
	if (progress != NULL && (err == NULL || progress->files_done > 0))
		print_receipt(copy, progress);
	cli_finish(copy->cli, err ? cli_fail(copy->cli, err) : EXIT_STATUS_OK);
}

static void on_signal(void *arg, int signal_number)
{
	struct copy *copy = arg;
	struct err err = { 0 };
	if (copy->transfer == NULL) /* still looking for the sandboxes */
		return cli_finish(copy->cli, cli_signal_status(signal_number));
	clear_progress(copy);
	transfer_cancel(copy->transfer);
	copy->transfer = NULL;
	err_set(&err, ERR_OP_CANCELLED,
		"the copy was cancelled; unfinished files were removed");
	cli_fail(copy->cli, &err);
	cli_finish(copy->cli, cli_signal_status(signal_number));
}

static enum transfer_conflict conflict_of(const struct cli_options *opt)
{
	if (opt->conflict == NULL || strcmp(opt->conflict, "overwrite") == 0)
		return TRANSFER_OVERWRITE; /* as cp does */
	if (strcmp(opt->conflict, "skip") == 0)
		return TRANSFER_SKIP;
	return strcmp(opt->conflict, "rename") == 0 ? TRANSFER_RENAME : TRANSFER_FAIL;
}

static void start(struct copy *copy)
{
	struct cli *cli = copy->cli;
	struct err err = { 0 };
	const struct transfer_opts opts = {
		.from = { copy->from.runtime, copy->from.path,
			copy->from.name == NULL && strcmp(copy->from.path, "-") == 0
				? STDIN_FILENO
				: -1 },
		.to = { copy->to.runtime, copy->to.path,
			copy->to.name == NULL && strcmp(copy->to.path, "-") == 0 ? STDOUT_FILENO
										 : -1 },
		.recursive = cli->opt.recursive,
		.conflict = conflict_of(&cli->opt),
		.verify = cli->opt.verify,
		.telemetry = engine_telemetry(cli->engine),
		.on_progress = on_progress,
		.done = on_copied,
		.arg = copy,
	};
	copy->transfer = transfer_start(cli->loop, &opts, &err);
	if (copy->transfer == NULL) {
		cli_finish(cli, cli_fail(cli, &err));
		return;
	}
	cli_on_signal(cli, on_signal, copy);
}

/* Resolves the sides one after the other, then starts. */
static void next_side(struct copy *copy);

static void take_runtime(struct copy *copy, const char *uid)
{
	struct err err = { 0 };
	struct side *side = copy->from.name && !copy->from.runtime ? &copy->from : &copy->to;
	side->runtime = engine_runtime(copy->cli->engine, uid, &err);
	if (side->runtime == NULL)
		cli_finish(copy->cli, cli_fail(copy->cli, &err));
	else
		next_side(copy);
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct copy *copy = arg;
	if (err != NULL)
		cli_finish(copy->cli, cli_fail(copy->cli, err));
	else
		take_runtime(copy, uid);
}

static void next_side(struct copy *copy)
{
	struct cli *cli = copy->cli;
	struct err err = { 0 };
	struct side *side = NULL;
	if (copy->to.name && !copy->to.runtime)
		side = &copy->to;
	if (copy->from.name && !copy->from.runtime)
		side = &copy->from;
	if (side == NULL)
		start(copy);
	else if (cli_is_direct(cli))
		take_runtime(copy, NULL);
	else if (engine_resolve_start(cli->engine, side->name,
			 setting_get(SETTING_READY_TIMEOUT), on_resolved, copy, &err) == NULL)
		cli_finish(cli, cli_fail(cli, &err));
}

static bool check_sides(const struct copy *copy, struct err *err)
{
	const struct side *sides[] = { &copy->from, &copy->to };
	if (copy->from.name == NULL && copy->to.name == NULL)
		return err_set(err, ERR_ARG_INVALID,
			"neither '%s' nor '%s' is in a sandbox: write NAME:PATH (or :PATH with "
			"--rest)",
			copy->from.path, copy->to.path);
	for (int i = 0; i < 2; i++) {
		const char *name = sides[i]->name;
		if (name == NULL)
			continue;
		if (cli_is_direct(copy->cli) && name[0] != '\0')
			return err_set(err, ERR_ARG_INVALID,
				"with --rest there is one daemon and no NAME: write :%s",
				sides[i]->path);
		if (!cli_is_direct(copy->cli) && name[0] == '\0')
			return err_set(err, ERR_ARG_INVALID,
				"':%s' has no NAME before the colon", sides[i]->path);
	}
	return true;
}

static int run_cp(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	struct err err = { 0 };
	struct copy copy = { .cli = cli };
	cli_split_target(argv[0], &copy.from.name, &copy.from.path);
	cli_split_target(argv[1], &copy.to.name, &copy.to.path);
	copy.shows_progress = isatty(STDERR_FILENO) && !cli->opt.quiet;
	if (!check_sides(&copy, &err) || !cli_open(cli, true, &err)) {
		cli->status = cli_fail(cli, &err);
	} else {
		next_side(&copy);
		cli_run_loop(cli);
	}
	free(copy.from.name);
	free(copy.to.name);
	return cli->status;
}

const struct cli_verb cli_verb_cp = { "cp", "[-r] SRC DST",
	"copy; NAME:PATH on either side or both, - is stdin or stdout", CLI_OPT_COPY, 2, 2,
	run_cp };
