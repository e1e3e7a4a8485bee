// SPDX-License-Identifier: Apache-2.0
#include "cli/run_once.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>

bool cli_once_read(struct cli *cli, struct cli_once *once, struct err *err)
{
	const struct cli_options *opt = &cli->opt;
	once->cli = cli;
	if (cli_is_direct(cli))
		return err_set(err, ERR_ARG_INVALID, "--rm needs a cluster, not --rest/--grpc");
	if (opt->adopt || opt->no_wait || opt->binding_key != NULL)
		return err_set(err, ERR_ARG_INVALID,
			"--rm makes a sandbox of its own: no --adopt, --binding-key or --no-wait");
	if (!cli_create_wish_read(cli, &once->wish, err))
		return false;
	if (once->wish.file.adopt || once->wish.file.binding_key != NULL)
		return err_set(err, ERR_ARG_INVALID,
			"--rm makes a sandbox of its own: no adopt or bindingKey in %s",
			opt->file);
	return true;
}

static void on_progress(void *arg, const char *stage)
{
	const struct cli_once *once = arg;
	cli_create_progress(once->cli, stage);
}

/* A claim that the file names stays when its create fails. */
static void on_left(void *arg, const char *name, const char *uid)
{
	struct cli_once *once = arg;
	(void)uid;
	cli_note(once->cli, "claim %s may be left; take it away with: sandmux rm %s", name,
		name);
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct cli_once *once = arg;
	struct cli *cli = once->cli;
	struct err own = { 0 };
	char id[CLI_ID_BYTES];
	once->op = NULL;
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	once->name = x_strdup(name);
	snprintf(once->uid, sizeof once->uid, "%s", row ? row->uid : "");
	cli_create_progress(cli, cli_claim_id(name, once->uid, id));
	struct runtime *runtime = engine_runtime(cli->engine, once->uid, &own);
	if (runtime == NULL)
		cli_finish(cli, cli_fail(cli, &own));
	else
		once->fn(cli, runtime, once->arg);
}

int cli_once_run(struct cli_once *once, cli_runtime_fn *fn, void *arg)
{
	struct cli *cli = once->cli;
	struct fleet_create_opts opts;
	struct err err = { 0 };
	once->fn = fn;
	once->arg = arg;
	if (!cli_create_wish_opts(cli, &once->wish, &opts, &err))
		return cli_fail(cli, &err);
	opts.env = NULL; /* it is the process's, and a warm sandbox will do */
	if (opts.shutdown_after_ms == 0)
		opts.shutdown_after_ms = setting_get(SETTING_RUN_RM_LIFETIME);
	opts.on_progress = on_progress;
	opts.on_left = on_left;
	opts.done = on_created;
	opts.arg = once;
	once->op = fleet_create_start(engine_fleet(cli->engine), &opts, &err);
	if (once->op == NULL)
		return cli_fail(cli, &err);
	return cli_run_loop(cli);
}

/* ---- the end */

static void on_deleted(void *arg, const struct err *err)
{
	struct cli_once *once = arg;
	once->is_deleting = false;
	err_copy(&once->err, err);
}

static void delete_it(struct cli_once *once)
{
	struct cli *cli = once->cli;
	int64_t until_ms = clock_mono_ms() + setting_get(SETTING_CLEANUP_TIMEOUT);
	once->is_deleting = fleet_delete_start(engine_fleet(cli->engine), once->uid, on_deleted,
				    once, &once->err) != NULL;
	while (once->is_deleting && clock_mono_ms() < until_ms)
		net_loop_run_once(cli->loop, 20);
	if (once->is_deleting)
		err_set(&once->err, ERR_CLAIM_ORPHANED, "no answer in time");
	if (once->err.code != ERR_NONE && once->err.code != ERR_CLAIM_NOT_FOUND)
		cli_note(cli,
			"claim %s could not be deleted (%s); it ends by its shutdown time, or with: "
			"sandmux rm %s",
			once->name, once->err.msg, once->name);
}

void cli_once_end(struct cli_once *once)
{
	struct cli *cli = once->cli;
	if (cli == NULL)
		return;
	if (once->op != NULL) { /* given up while it was made */
		fleet_op_cancel(once->op);
		cli_settle(cli);
	} else if (once->name != NULL) {
		delete_it(once);
	}
	free(once->name);
	cli_create_wish_deinit(&once->wish);
}
