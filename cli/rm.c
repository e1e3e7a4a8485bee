// SPDX-License-Identifier: Apache-2.0
/* rm: named ones, or those that are selected from a list. */
#include "cli/cli.h"
#include "cli/each.h"
#include "cli/row_order.h"
#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIST_TIMEOUT_MS = 30000, NAMES_SHOWN = 10 };

struct selection {
	struct cli *cli;
	char mine[FLEET_MAKER_BYTES]; /* whose claims; "": anybody's */
	char **names, **uids;
	int n;
	bool is_read;
	struct net_loop_timer *deadline;
};

static void selection_deinit(struct selection *selection)
{
	for (int i = 0; i < selection->n; i++) {
		free(selection->names[i]);
		free(selection->uids[i]);
	}
	free(selection->names);
	free(selection->uids);
	net_loop_timer_free(selection->deadline);
}

static bool is_wanted(const struct selection *selection, const struct fleet_row *row)
{
	return cli_row_is_listed(selection->cli, &fleet_sandbox_kind, row) &&
	       (selection->mine[0] == '\0' || fleet_row_is_made_by(row, selection->mine));
}

static void take_rows(struct selection *selection)
{
	struct cli *cli = selection->cli;
	size_t n = 0;
	const struct resource_source source = fleet_source(engine_fleet(cli->engine));
	const void **rows = cli_rows_sorted(cli, &fleet_sandbox_kind, &source, &n);
	selection->names = x_calloc(n + 1, sizeof *selection->names);
	selection->uids = x_calloc(n + 1, sizeof *selection->uids);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_row *row = rows[i];
		if (!is_wanted(selection, row))
			continue;
		selection->names[selection->n] = x_strdup(fleet_row_name(row));
		selection->uids[selection->n++] = x_strdup(row->uid);
	}
	free(rows);
}

static void on_list(void *arg)
{
	struct selection *selection = arg;
	struct cli *cli = selection->cli;
	const struct err *failure = engine_source_failure(cli->engine);
	if (selection->is_read)
		return;
	if (failure != NULL)
		cli_finish(cli, cli_fail(cli, failure));
	if (failure != NULL || !fleet_is_synced(engine_fleet(cli->engine)))
		return;
	selection->is_read = true;
	take_rows(selection);
	net_loop_stop(cli->loop);
}

static void on_deadline(void *arg)
{
	struct selection *selection = arg;
	struct cli *cli = selection->cli;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT, "no complete list from %s within %d s",
		engine_server(cli->engine), LIST_TIMEOUT_MS / 1000);
	cli_finish(cli, cli_fail(cli, &err));
}

/* Once: what comes later was not asked about. */
static bool read_list(struct selection *selection)
{
	struct cli *cli = selection->cli;
	selection->deadline = net_loop_timer_new(cli->loop, on_deadline, selection);
	net_loop_timer_arm(selection->deadline, LIST_TIMEOUT_MS);
	engine_on_change(cli->engine, on_list, selection);
	if (!cli->is_finished)
		net_loop_run(cli->loop);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_disarm(selection->deadline);
	return selection->is_read && !cli->is_finished;
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
	if (n > 1)
		str_addf(&question, " %d sandboxes:", n);
	for (int i = 0; i < n && i < NAMES_SHOWN; i++)
		str_addf(&question, " %s", names[i]);
	if (n > NAMES_SHOWN)
		str_addf(&question, " and %d more", n - NAMES_SHOWN);
	str_addf(&question, "? %s processes and files are lost.", n > 1 ? "Their" : "Its");
	bool ok = cli_ask(question.p);
	str_deinit(&question);
	return ok || err_set(err, ERR_OP_CANCELLED, "nothing was changed");
}

static struct fleet_op *start_delete(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_delete_with_start(engine_fleet(each->cli->engine), uid,
		&each->cli->opt.deletion, cli_each_done, each, err);
}

static int delete_all(struct cli *cli, int n, char **names, char **uids)
{
	struct err err = { 0 };
	if (!confirm(cli, n, names, &err))
		return cli_fail(cli, &err);
	return cli_each_run(cli, n, names,
		(struct cli_each){
			.outcome = CLI_DELETED, .uids = uids, .start = start_delete });
}

static int delete_selected(struct cli *cli)
{
	struct err err = { 0 };
	struct selection selection = { .cli = cli };
	if (cli->opt.mine && !fleet_maker_read(selection.mine))
		return cli_fail_usage(cli, "--mine: this user has created nothing yet");
	if (!cli_rows_open(cli, &fleet_sandbox_kind, &err) || !cli_open(cli, false, &err))
		return cli_fail(cli, &err);
	int status = EXIT_STATUS_OK;
	if (!read_list(&selection))
		status = cli->status;
	else if (selection.n == 0)
		cli_note(cli, "nothing is selected");
	else
		status = delete_all(cli, selection.n, selection.names, selection.uids);
	selection_deinit(&selection);
	return status;
}

static int run_rm(struct cli *cli, int argc, char **argv)
{
	const struct cli_options *opt = &cli->opt;
	bool is_selected = opt->engine.label_selector != NULL || opt->field_selector != NULL ||
			   opt->all || opt->mine;
	if (argc == 0 && !is_selected)
		return cli_fail_usage(
			cli, "rm needs names, or -l, --field-selector, --mine or --all");
	if (argc > 0 && is_selected)
		return cli_fail_usage(cli, "rm: names, or a selection, not both");
	return argc > 0 ? delete_all(cli, argc, argv, NULL) : delete_selected(cli);
}

const struct cli_verb cli_verb_rm = { "rm", "NAME…", "delete claims with their sandboxes",
	CLI_OPT_DELETE | CLI_OPT_TIMEOUT | CLI_OPT_DRY_RUN, 0, -1, .run = run_rm,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER, .aliases = "delete",
	.examples = "  sandmux rm box\n"
		    "  sandmux rm -l team=blue --yes\n"
		    "  sandmux rm --field-selector state=Failed\n"
		    "  sandmux rm --mine --cascade foreground\n" };
