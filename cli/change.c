// SPDX-License-Identifier: Apache-2.0
/* rm, suspend, resume, extend: each does one thing to each of its names, one after the other, and says of each what became of
 * it: done, nothing to do, or why not. The first failure decides the status, the rest goes on. */
#include "cli/cli.h"
#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum outcome {
	OUTCOME_NONE,
	DELETED,
	BEING_DELETED,
	SUSPENDED,
	RESUMED,
	EXTENDED,
	OUTCOME_COUNT
};
static const char *const outcome_words[] = { "", "deleted", "is being deleted", "suspended",
	"resumed", "extended" };
_Static_assert(
	sizeof outcome_words / sizeof *outcome_words == OUTCOME_COUNT, "a word for each");

struct cli_each {
	struct cli *cli;
	char **names;
	int n, at;
	enum outcome outcome;
	/* True: nothing to do, *why says so */
	bool (*is_done)(const struct fleet_row *row, const char **why);
	struct fleet_op *(*start)(struct cli_each *each, const char *uid, struct err *err);
	int status;

	/* of the one at work */
	bool is_sandbox;
	char *name; /* the claim's or the Sandbox's */
	char uid[FLEET_UID_BYTES];
	bool is_waiting; /* until it is gone */
	struct net_loop_timer *deadline;
};

static void each_next(struct cli_each *each);

/* ---- what became of it */

static void print_outcome(
	struct cli_each *each, const char *words, bool is_changed, int64_t expires_ms)
{
	struct cli *cli = each->cli;
	char time[CLOCK_RFC3339_BYTES] = "";
	const char *kind = each->is_sandbox ? "sandbox" : "sandboxclaim";
	if (expires_ms != 0)
		clock_format_rfc3339(expires_ms * 1000000, 0, time);
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "kind", kind);
		cli_json_text(object, "name", each->name);
		cJSON_AddStringToObject(object, "result", words);
		cJSON_AddBoolToObject(object, "changed", is_changed);
		if (time[0] != '\0')
			cJSON_AddStringToObject(object, "expiresAt", time);
		cli_print_item(cli, object);
		cJSON_Delete(object);
	} else if (cli->opt.output == CLI_NAME) {
		printf("%s/", kind);
		cli_put_safe(each->name);
		putchar('\n');
	} else {
		cli_put_safe(each->names[each->at]);
		printf(" %s%s%s\n", words, time[0] ? " until " : "", time);
	}
	fflush(stdout);
}

static void each_end(struct cli_each *each)
{
	each->is_waiting = false;
	net_loop_timer_disarm(each->deadline);
	free(each->name);
	each->name = NULL;
	each->at++;
	each_next(each);
}

static void each_fail(struct cli_each *each, const struct err *err)
{
	int status = cli_fail(each->cli, err);
	if (each->status == EXIT_STATUS_OK)
		each->status = status;
	each_end(each);
}

static void each_succeed(struct cli_each *each, enum outcome outcome)
{
	const struct fleet_row *row = fleet_find(engine_fleet(each->cli->engine), each->uid);
	print_outcome(each, outcome_words[outcome], true,
		outcome == EXTENDED && row != NULL ? row->expires_ms : 0);
	each_end(each);
}

/* ---- until it is gone */

static bool is_gone(const struct cli_each *each)
{
	return fleet_find(engine_fleet(each->cli->engine), each->uid) == NULL;
}

static void on_change(void *arg)
{
	struct cli_each *each = arg;
	if (each->is_waiting && is_gone(each))
		each_succeed(each, DELETED);
}

static void on_deadline(void *arg)
{
	struct cli_each *each = arg;
	struct err err = { 0 };
	const struct fleet_row *row = fleet_find(engine_fleet(each->cli->engine), each->uid);
	err_set(&err, ERR_OP_TIMEOUT, "%s is still being deleted%s%s", each->name,
		row != NULL && row->why[0] ? ": " : "", row != NULL ? row->why : "");
	each_fail(each, &err);
}

static void on_done(void *arg, const struct err *err)
{
	struct cli_each *each = arg;
	const struct cli_options *opt = &each->cli->opt;
	if (err != NULL) {
		each_fail(each, err);
	} else if (each->outcome != DELETED || is_gone(each)) {
		each_succeed(each, each->outcome);
	} else if (opt->no_delete_wait) {
		each_succeed(each, BEING_DELETED);
	} else {
		each->is_waiting = true;
		net_loop_timer_arm(each->deadline,
			opt->timeout_ms > 0 ? opt->timeout_ms
					    : setting_get(SETTING_READY_TIMEOUT));
	}
}

/* ---- one after the other */

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_each *each = arg;
	struct err own = { 0 };
	const char *why = NULL;
	if (err != NULL) {
		each_fail(each, err);
		return;
	}
	const struct fleet_row *row = fleet_find(engine_fleet(each->cli->engine), uid);
	snprintf(each->uid, sizeof each->uid, "%s", uid);
	each->is_sandbox = row->claim[0] == '\0';
	each->name = x_strdup(fleet_row_name(row));
	if (each->is_done != NULL && each->is_done(row, &why)) {
		print_outcome(each, why, false, 0);
		each_end(each);
	} else if (each->start(each, uid, &own) == NULL) {
		each_fail(each, &own);
	}
}

static void each_next(struct cli_each *each)
{
	struct err err = { 0 };
	if (each->at == each->n)
		cli_finish(each->cli, each->status);
	else if (engine_resolve_start(each->cli->engine, each->names[each->at], 0, on_resolved,
			 each, &err) == NULL)
		each_fail(each, &err);
}

/* what: its outcome, start and is_done */
static int run_each(struct cli *cli, int argc, char **argv, struct cli_each what)
{
	struct err err = { 0 };
	struct cli_each *each = &what;
	each->cli = cli;
	each->names = argv;
	each->n = argc;
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	each->deadline = net_loop_timer_new(cli->loop, on_deadline, each);
	engine_on_change(cli->engine, on_change, each);
	each_next(each);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_free(each->deadline);
	free(each->name);
	return cli->status;
}

/* ---- what is done */

static struct fleet_op *start_delete(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_delete_start(engine_fleet(each->cli->engine), uid, on_done, each, err);
}

static struct fleet_op *start_suspend(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, true, on_done, each, err);
}

static struct fleet_op *start_resume(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, false, on_done, each, err);
}

static struct fleet_op *start_extend(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_extend_start(engine_fleet(each->cli->engine), uid,
		each->cli->opt.timeout_ms, on_done, each, err);
}

static bool is_suspended(const struct fleet_row *row, const char **why)
{
	*why = "is suspended already";
	return row->state == FLEET_SUSPENDED;
}

static bool is_running(const struct fleet_row *row, const char **why)
{
	*why = "is running already";
	return row->state == FLEET_READY;
}

bool cli_ask(const char *question)
{
	char *safe = safe_text_dup(question, 4096);
	char answer[16] = "";
	fprintf(stderr, "%s [y/N] ", safe);
	free(safe);
	return fgets(answer, sizeof answer, stdin) != NULL &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

/* True to go on. Without a terminal there is nobody to ask: --yes must have been said. */
static bool confirm(const struct cli *cli, int n, char **names, struct err *err)
{
	struct str question;
	if (cli->opt.yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_ARG_INVALID, "delete without a terminal needs --yes");
	str_init(&question, 4096);
	str_add(&question, "delete");
	for (int i = 0; i < n; i++)
		str_addf(&question, " %s", names[i]);
	str_add(&question, "? Its processes and files are lost.");
	bool ok = cli_ask(question.p);
	str_deinit(&question);
	return ok || err_set(err, ERR_OP_CANCELLED, "nothing was changed");
}

static int run_rm(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	if (!confirm(cli, argc, argv, &err))
		return cli_fail(cli, &err);
	return run_each(cli, argc, argv,
		(struct cli_each){ .outcome = DELETED, .start = start_delete });
}

static int run_suspend(struct cli *cli, int argc, char **argv)
{
	return run_each(cli, argc, argv,
		(struct cli_each){ .outcome = SUSPENDED,
			.is_done = is_suspended,
			.start = start_suspend });
}

static int run_resume(struct cli *cli, int argc, char **argv)
{
	return run_each(cli, argc, argv,
		(struct cli_each){
			.outcome = RESUMED, .is_done = is_running, .start = start_resume });
}

static int run_extend(struct cli *cli, int argc, char **argv)
{
	if (cli->opt.timeout_ms == 0)
		return cli_fail_usage(
			cli, "extend needs --timeout TIME: how long it may still live");
	return run_each(cli, argc, argv,
		(struct cli_each){ .outcome = EXTENDED, .start = start_extend });
}

const struct cli_verb cli_verb_rm = { "rm", "NAME…", "delete claims with their sandboxes",
	CLI_OPT_DELETE | CLI_OPT_TIMEOUT, 1, -1, .run = run_rm,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux ls -o name -l team=blue | xargs sandmux rm --yes\n" };
const struct cli_verb cli_verb_suspend = { "suspend", "NAME…",
	"stop the pod; only its volumes survive", 0, 1, -1, .run = run_suspend,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER };
const struct cli_verb cli_verb_resume = { "resume", "NAME…", "start a suspended one again", 0,
	1, -1, .run = run_resume, .only_cluster = CLI_NAME_NEEDS_CLUSTER };
const struct cli_verb cli_verb_extend = { "extend", "NAME…",
	"let it live for --timeout from now; never shortens", CLI_OPT_TIMEOUT, 1, -1,
	.run = run_extend, .only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux extend box --timeout 2h\n" };
