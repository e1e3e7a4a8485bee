// SPDX-License-Identifier: Apache-2.0
/* cp: files and trees between here and sandboxes, or between two sandboxes. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct side {
	char *name; /* NULL: local */
	const char *path;
	char *own_path; /* as the daemon takes it, once that is known */
	struct runtime *runtime;
};

enum {
	STATUS_TIMEOUT = 124, /* as timeout(1) */
	NOTES_SHOWN = 20,     /* the others are counted */
	NOTES_KEPT = 1000,    /* in the receipt of -o json */
	CURRENT_BYTES = 40,
	ANSWER_BYTES = 64,
};

struct cli_copy {
	struct cli *cli;
	struct side from, to;
	struct files_op *look; /* where the sandbox's files are */
	struct transfer *transfer;
	struct net_loop_timer *deadline;
	struct net_watch_fd *answer; /* the terminal, while there is a question */
	cJSON *notes;
	uint64_t n_notes;
	int64_t started_ms; /* before anything was opened */
	bool shows_progress;
};

static void clear_progress(const struct cli_copy *copy)
{
	if (copy->shows_progress)
		fputs("\r\033[K", stderr);
}

/* ---- progress */
static void on_progress(void *arg, const struct transfer_progress *progress)
{
	const struct cli_copy *copy = arg;
	if (!copy->shows_progress || copy->answer != NULL)
		return;
	char done[NUM_SIZE_BYTES], total[NUM_SIZE_BYTES], rate[NUM_SIZE_BYTES];
	uint64_t over = progress->files_done + progress->files_skipped + progress->files_failed;
	clear_progress(copy);
	num_format_size(progress->bytes_done, done);
	if (progress->files_total == 0) {
		fputs("looking at the source …", stderr);
		return;
	}
	if (progress->is_planned && !progress->is_finishing)
		fprintf(stderr, "%u%%  ",
			transfer_percent(transfer_work(progress->bytes_done, over),
				transfer_work(progress->bytes_total, progress->files_total)));
	fputs(done, stderr);
	if (progress->is_planned)
		fprintf(stderr, " of %s", num_format_size(progress->bytes_total, total));
	fprintf(stderr, "  %" PRIu64 " of %" PRIu64 "%s file%s  ", over, progress->files_total,
		progress->is_planned ? "" : "+", progress->files_total == 1 ? "" : "s");
	if (progress->is_finishing) {
		fputs("finishing …", stderr);
		return;
	}
	char *current =
		safe_text_dup(progress->current ? progress->current : "", CURRENT_BYTES);
	fprintf(stderr, "%s/s  %s", num_format_size(progress->bytes_per_s, rate), current);
	free(current);
}

/* ---- the receipt */
static void on_note(void *arg, enum transfer_note note, const char *path, const char *text)
{
	struct cli_copy *copy = arg;
	if (++copy->n_notes > NOTES_KEPT)
		return;
	cJSON *object = cJSON_CreateObject();
	cli_json_text(object, "path", path);
	cJSON_AddStringToObject(object, "kind", transfer_note_name(note));
	cli_json_text(object, "text", text);
	cJSON_AddItemToArray(copy->notes, object);
}

static void print_notes(const struct cli_copy *copy)
{
	const cJSON *note;
	uint64_t n = 0;
	cJSON_ArrayForEach(note, copy->notes)
	{
		if (n++ == NOTES_SHOWN)
			break;
		cli_note(copy->cli, "  %s: %s", json_str(note, "path", NULL),
			json_str(note, "text", NULL));
	}
	if (copy->n_notes > NOTES_SHOWN)
		cli_note(copy->cli, "  … and %" PRIu64 " more such remarks (all with -o json)",
			copy->n_notes - NOTES_SHOWN);
}

static void print_json_receipt(struct cli_copy *copy, const struct transfer_progress *progress)
{
	cJSON *object = cJSON_CreateObject();
	cJSON_AddNumberToObject(object, "files", (double)progress->files_done);
	cJSON_AddNumberToObject(object, "skipped", (double)progress->files_skipped);
	cJSON_AddNumberToObject(object, "failed", (double)progress->files_failed);
	cJSON_AddNumberToObject(object, "bytes", (double)progress->bytes_done);
	cJSON_AddNumberToObject(object, "elapsedMs", (double)progress->elapsed_ms);
	cJSON_AddItemToObject(object, "notes", copy->notes);
	copy->notes = NULL;
	cli_print_object(copy->cli, object);
	cJSON_Delete(object);
}

static void print_receipt(struct cli_copy *copy, const struct transfer_progress *progress)
{
	const struct cli *cli = copy->cli;
	if (cli_is_structured(cli)) {
		print_json_receipt(copy, progress);
		return;
	}
	char size[NUM_SIZE_BYTES];
	bool to_stdout = copy->to.name == NULL && strcmp(copy->to.path, "-") == 0;
	if (!to_stdout || progress->files_failed > 0)
		cli_note(cli,
			"%" PRIu64 " files, %s copied, %" PRIu64 " skipped, %" PRIu64 " failed",
			progress->files_done, num_format_size(progress->bytes_done, size),
			progress->files_skipped, progress->files_failed);
	print_notes(copy);
}

static void on_copied(
	void *arg, const struct err *err, const struct transfer_progress *progress)
{
	struct cli_copy *copy = arg;
	copy->transfer = NULL;
	clear_progress(copy);
	if (progress != NULL && (err == NULL || progress->files_done > 0))
		print_receipt(copy, progress);
	cli_finish(copy->cli, err ? cli_fail(copy->cli, err) : EXIT_STATUS_OK);
}

/* ---- ended from outside: nothing unfinished stays */
static void end_early(struct cli_copy *copy, const struct err *err, int status)
{
	clear_progress(copy);
	transfer_cancel(copy->transfer);
	copy->transfer = NULL;
	cli_fail(copy->cli, err);
	cli_finish(copy->cli, status);
}

static void on_signal(void *arg, int signal_number)
{
	struct cli_copy *copy = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_CANCELLED,
		"the copy was cancelled; unfinished files were removed");
	end_early(copy, &err, cli_signal_status(signal_number));
}

static void on_deadline(void *arg)
{
	struct cli_copy *copy = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT,
		"the copy took longer than --timeout gives it; unfinished files were removed");
	end_early(copy, &err, STATUS_TIMEOUT);
}

static void watch_ends(struct cli_copy *copy)
{
	cli_on_signal(copy->cli, on_signal, copy);
	if (copy->cli->opt.timeout_ms == 0)
		return;
	copy->deadline = net_loop_timer_new(copy->cli->loop, on_deadline, copy);
	int64_t left_ms = copy->cli->opt.timeout_ms - (clock_mono_ms() - copy->started_ms);
	net_loop_timer_arm(copy->deadline, left_ms > 0 ? left_ms : 0);
}

/* ---- too many entries? */
static void on_answer(void *arg, bool is_readable, bool is_writable)
{
	struct cli_copy *copy = arg;
	char answer[ANSWER_BYTES];
	(void)is_writable;
	if (!is_readable)
		return;
	ssize_t n = read(STDIN_FILENO, answer, sizeof answer);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	net_watch_fd_free(copy->answer);
	copy->answer = NULL;
	transfer_go_on(copy->transfer, n > 0 && (answer[0] == 'y' || answer[0] == 'Y'));
}

static void on_limit(void *arg, uint64_t n)
{
	struct cli_copy *copy = arg;
	clear_progress(copy);
	fprintf(stderr, "this tree has more than %" PRIu64 " entries; go on? [y/N] ", n);
	copy->answer = net_watch_fd_new(copy->cli->loop, STDIN_FILENO, on_answer, copy, NULL);
	if (copy->answer != NULL)
		net_watch_fd_want(copy->answer, true, false);
	else
		transfer_go_on(copy->transfer, false);
}

static enum transfer_conflict conflict_of(const struct cli_options *opt)
{
	if (opt->conflict == NULL || strcmp(opt->conflict, "overwrite") == 0)
		return TRANSFER_OVERWRITE; /* as cp does */
	if (strcmp(opt->conflict, "skip") == 0)
		return TRANSFER_SKIP;
	return strcmp(opt->conflict, "rename") == 0 ? TRANSFER_RENAME : TRANSFER_FAIL;
}

static void start(struct cli_copy *copy)
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
		.on_note = on_note,
		.on_limit = isatty(STDIN_FILENO) && isatty(STDERR_FILENO) ? on_limit : NULL,
		.done = on_copied,
		.arg = copy,
	};
	copy->transfer = transfer_start(cli->loop, &opts, &err);
	if (copy->transfer == NULL)
		cli_finish(cli, cli_fail(cli, &err));
}

/* Resolves the sides one after the other, then starts. */
static void next_side(struct cli_copy *copy);

static void on_path(void *arg, const struct err *err, const char *path)
{
	struct cli_copy *copy = arg;
	struct side *side =
		copy->from.runtime && !copy->from.own_path ? &copy->from : &copy->to;
	copy->look = NULL;
	if (err != NULL) {
		cli_finish(copy->cli, cli_fail(copy->cli, err));
		return;
	}
	side->path = side->own_path = x_strdup(path);
	next_side(copy);
}

static void take_runtime(struct cli_copy *copy, const char *uid)
{
	struct err err = { 0 };
	struct side *side = copy->from.name && !copy->from.runtime ? &copy->from : &copy->to;
	struct runtime *runtime = engine_runtime(copy->cli->engine, uid, &err);
	if (runtime == NULL) {
		cli_finish(copy->cli, cli_fail(copy->cli, &err));
		return;
	}
	side->runtime = runtime_ref(runtime);
	copy->look = files_path_start(copy->cli->loop, runtime, side->path, on_path, copy);
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_copy *copy = arg;
	if (err != NULL)
		cli_finish(copy->cli, cli_fail(copy->cli, err));
	else
		take_runtime(copy, uid);
}

static void next_side(struct cli_copy *copy)
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

static bool check_sides(const struct cli_copy *copy, struct err *err)
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
	struct cli_copy copy = { .cli = cli, .notes = cJSON_CreateArray() };
	copy.started_ms = clock_mono_ms();
	cli_split_target(argv[0], &copy.from.name, &copy.from.path);
	cli_split_target(argv[1], &copy.to.name, &copy.to.path);
	copy.shows_progress = isatty(STDERR_FILENO) && !cli->opt.quiet;
	if (!check_sides(&copy, &err) || !cli_open(cli, true, &err)) {
		cli->status = cli_fail(cli, &err);
	} else {
		watch_ends(&copy);
		next_side(&copy);
		cli_run_loop(cli);
	}
	cli_on_signal(cli, NULL, NULL);
	files_cancel(copy.look);
	net_loop_timer_free(copy.deadline);
	net_watch_fd_free(copy.answer);
	cJSON_Delete(copy.notes);
	runtime_unref(copy.from.runtime);
	runtime_unref(copy.to.runtime);
	free(copy.from.name);
	free(copy.to.name);
	free(copy.from.own_path);
	free(copy.to.own_path);
	return cli->status;
}

const struct cli_verb cli_verb_cp = { "cp", "[-r] SRC DST",
	"copy; NAME:PATH on either side or both, - is stdin or stdout",
	CLI_OPT_COPY | CLI_OPT_TIMEOUT, 2, 2, .run = run_cp,
	.examples = "  sandmux cp notes.txt box:docs/\n"
		    "  sandmux cp -r box:results ./results --verify\n"
		    "  sandmux cp box:log.txt - | less\n" };
