// SPDX-License-Identifier: Apache-2.0
/* create, rm, suspend, resume, extend: the life of a sandbox. */
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- create */

struct create {
	struct cli *cli;
	struct fleet_op *op;
};

static void on_stage(void *arg, const char *stage)
{
	const struct create *create = arg;
	if (isatty(STDERR_FILENO))
		cli_note(create->cli, "%s", stage);
}

/* What was made and not named is taken back by cli_settle(). */
static void on_signal(void *arg, int signal_number)
{
	struct create *create = arg;
	struct err err = { 0 };
	if (create->op == NULL)
		return;
	fleet_op_cancel(create->op);
	create->op = NULL;
	err_set(&err, ERR_OP_CANCELLED,
		"the create was cancelled; a claim without a given name is deleted again");
	cli_fail(create->cli, &err);
	cli_finish(create->cli, cli_signal_status(signal_number));
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct create *create = arg;
	struct cli *cli = create->cli;
	create->op = NULL;
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	if (cli_is_structured(cli)) {
		cJSON *object = row ? cli_row_json(row) : cJSON_CreateObject();
		if (row == NULL)
			cJSON_AddStringToObject(object, "claim", name);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		if (cli->opt.output == CLI_NAME)
			fputs("sandboxclaim/", stdout);
		cli_put_safe(name);
		putchar('\n');
	}
	cli_finish(cli, EXIT_STATUS_OK);
}

static int run_create(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct cli_options *opt = &cli->opt;
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "create needs a cluster, not --rest/--grpc");
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (opt->engine.all_namespaces)
		return cli_fail_usage(cli, "create needs one namespace, not -A");
	if (opt->pool == NULL && engine_is_local(cli->engine))
		opt->pool = "local";
	if (opt->pool == NULL)
		return cli_fail_usage(cli, "create needs --pool POOL");
	if (opt->adopt && argc == 0)
		return cli_fail_usage(cli, "--adopt needs the NAME of the claim");
	struct create create = { .cli = cli };
	const struct fleet_create_opts create_opts = {
		.namespace_ = engine_namespace(cli->engine),
		.name = argc > 0 ? argv[0] : NULL,
		.pool = opt->pool,
		.adopt = opt->adopt,
		.labels = opt->labels.items,
		.pod_labels = opt->pod_labels.items,
		.pod_annotations = opt->pod_annotations.items,
		.env = opt->env.items,
		.shutdown_after_ms = opt->shutdown_after_ms,
		.ready_timeout_ms = opt->timeout_ms,
		.no_wait = opt->no_wait,
		.on_progress = on_stage,
		.done = on_created,
		.arg = &create,
	};
	create.op = fleet_create_start(engine_fleet(cli->engine), &create_opts, &err);
	if (create.op == NULL)
		return cli_fail(cli, &err);
	cli_on_signal(cli, on_signal, &create);
	cli_run_loop(cli);
	cli_on_signal(cli, NULL, NULL);
	return cli->status;
}

/* ---- verbs over names, one after the other: the first failure decides the status, the rest goes on */

struct each {
	struct cli *cli;
	char **names;
	int n, at;
	const char *verb; /* "deleted", … */
	struct fleet_op *(*start)(struct each *each, const char *uid, struct err *err);
	int status;
};

static void each_next(struct each *each);

static void each_ended(struct each *each, const struct err *err)
{
	if (err != NULL) {
		int status = cli_fail(each->cli, err);
		if (each->status == EXIT_STATUS_OK)
			each->status = status;
	} else if (each->cli->opt.output == CLI_NAME) {
		printf("sandboxclaim/%s\n", each->names[each->at]);
	} else if (!cli_is_structured(each->cli)) {
		cli_put_safe(each->names[each->at]);
		printf(" %s\n", each->verb);
	}
	each->at++;
	each_next(each);
}

static void on_each_done(void *arg, const struct err *err)
{
	each_ended(arg, err);
}

static void on_each_resolved(void *arg, const struct err *err, const char *uid)
{
	struct each *each = arg;
	struct err own = { 0 };
	if (err != NULL)
		each_ended(each, err);
	else if (each->start(each, uid, &own) == NULL)
		each_ended(each, &own);
}

static void each_next(struct each *each)
{
	struct err err = { 0 };
	if (each->at == each->n) {
		cli_finish(each->cli, each->status);
		return;
	}
	if (engine_resolve_start(each->cli->engine, each->names[each->at], 0, on_each_resolved,
		    each, &err) == NULL)
		each_ended(each, &err);
}

static int run_each(struct cli *cli, struct each *each)
{
	struct err err = { 0 };
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "a name needs a cluster, not --rest/--grpc");
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	each->cli = cli;
	each_next(each);
	cli_run_loop(cli);
	return each->status;
}

static struct fleet_op *start_delete(struct each *each, const char *uid, struct err *err)
{
	return fleet_delete_start(
		engine_fleet(each->cli->engine), uid, on_each_done, each, err);
}

static struct fleet_op *start_suspend(struct each *each, const char *uid, struct err *err)
{
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, true, on_each_done, each, err);
}

static struct fleet_op *start_resume(struct each *each, const char *uid, struct err *err)
{
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, false, on_each_done, each, err);
}

static struct fleet_op *start_extend(struct each *each, const char *uid, struct err *err)
{
	return fleet_extend_start(engine_fleet(each->cli->engine), uid,
		each->cli->opt.timeout_ms, on_each_done, each, err);
}

/* True to go on. Without a terminal there is nobody to ask: --yes must have been said. */
static bool confirm(
	const struct cli *cli, int n, char **names, const char *what, struct err *err)
{
	if (cli->opt.yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_ARG_INVALID, "%s without a terminal needs --yes", what);
	fprintf(stderr, "%s", what);
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %s", names[i]);
	fprintf(stderr, "? Its processes and files are lost. [y/N] ");
	char answer[16] = "";
	if (fgets(answer, sizeof answer, stdin) == NULL)
		answer[0] = 'n';
	if (answer[0] == 'y' || answer[0] == 'Y')
		return true;
	return err_set(err, ERR_OP_CANCELLED, "nothing was changed");
}

static int run_rm(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	if (!confirm(cli, argc, argv, "delete", &err))
		return cli_fail(cli, &err);
	struct each each = {
		.names = argv, .n = argc, .verb = "deleted", .start = start_delete
	};
	return run_each(cli, &each);
}

static int run_suspend(struct cli *cli, int argc, char **argv)
{
	struct each each = {
		.names = argv, .n = argc, .verb = "suspended", .start = start_suspend
	};
	return run_each(cli, &each);
}

static int run_resume(struct cli *cli, int argc, char **argv)
{
	struct each each = {
		.names = argv, .n = argc, .verb = "resumed", .start = start_resume
	};
	return run_each(cli, &each);
}

static int run_extend(struct cli *cli, int argc, char **argv)
{
	if (!cli->opt.timeout_given)
		return cli_fail_usage(
			cli, "extend needs --timeout TIME: how long it may still live");
	struct each each = {
		.names = argv, .n = argc, .verb = "extended", .start = start_extend
	};
	return run_each(cli, &each);
}

const struct cli_verb cli_verb_create = { "create", "[NAME]",
	"a claim for a sandbox of a warm pool; prints its name",
	CLI_OPT_CREATE | CLI_OPT_TIMEOUT, 0, 1, run_create };
const struct cli_verb cli_verb_rm = { "rm", "NAME…", "delete claims with their sandboxes",
	CLI_OPT_DELETE, 1, -1, run_rm };
const struct cli_verb cli_verb_suspend = { "suspend", "NAME…",
	"stop the pod; only its volumes survive", 0, 1, -1, run_suspend };
const struct cli_verb cli_verb_resume = { "resume", "NAME…", "start a suspended one again", 0,
	1, -1, run_resume };
const struct cli_verb cli_verb_extend = { "extend", "NAME…",
	"let it live for --timeout from now; never shortens", CLI_OPT_TIMEOUT, 1, -1,
	run_extend };
