// SPDX-License-Identifier: Apache-2.0
/* create: a claim for a sandbox, waited for. What fails or is given up takes back what it made, or says what is left. */
#include "cli/cli.h"
#include "cli/create_wish.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_create {
	struct cli *cli;
	struct fleet_op *op;
	bool is_cancelled;              /* by a signal */
	char *left;                     /* a claim that was made and stays; NULL */
	char left_uid[FLEET_UID_BYTES]; /* "": it may have been made */
};

static void on_stage(void *arg, const char *stage)
{
	const struct cli_create *create = arg;
	cli_create_progress(create->cli, stage);
}

static void on_left(void *arg, const char *name, const char *uid)
{
	struct cli_create *create = arg;
	free(create->left);
	create->left = x_strdup(name);
	snprintf(create->left_uid, sizeof create->left_uid, "%s", uid);
}

static void tell_left(const struct cli_create *create)
{
	const struct cli *cli = create->cli;
	if (create->left == NULL)
		return;
	cli_note(cli, "claim %s %s; take it away with: sandmux rm %s", create->left,
		create->left_uid[0] ? "is left" : "may have been made", create->left);
}

static void on_signal(void *arg, int signal_number)
{
	struct cli_create *create = arg;
	create->is_cancelled = create->op != NULL;
	fleet_op_cancel(create->op);
	create->op = NULL;
	cli_finish(create->cli, cli_signal_status(signal_number));
}

static void tell_cancelled(const struct cli_create *create)
{
	struct cli *cli = create->cli;
	struct err err = { 0 };
	cli_settle(cli); /* then it is known */
	if (fleet_cleanups_pending(engine_fleet(cli->engine)) == 0)
		err_set(&err, ERR_OP_CANCELLED, "the create was cancelled%s",
			create->left ? "" : "; nothing is left of it");
	else
		err_set(&err, ERR_CLAIM_ORPHANED,
			"the create was cancelled, and its claim could not be deleted in time");
	cli_fail(cli, &err);
	tell_left(create);
}

static void on_taken_away(void *arg, const struct err *err)
{
	struct cli_create *create = arg;
	if (err != NULL)
		cli_fail(create->cli, err);
	else
		cli_note(create->cli, "claim %s is deleted", create->left);
	cli_finish(create->cli, create->cli->status);
}

/* With somebody to ask, it is offered; else it is told. */
static void end_failed(struct cli_create *create)
{
	struct cli *cli = create->cli;
	struct err err = { 0 };
	bool may_ask = create->left_uid[0] && !cli->opt.quiet && isatty(STDIN_FILENO) &&
		       isatty(STDERR_FILENO);
	if (may_ask) {
		char question[512];
		snprintf(question, sizeof question, "Claim %s is left. Delete it?",
			create->left);
		if (cli_ask(question)) {
			if (fleet_delete_start(engine_fleet(cli->engine), create->left_uid,
				    on_taken_away, create, &err) != NULL)
				return;
			cli_fail(cli, &err);
		}
	}
	tell_left(create);
	cli_finish(cli, cli->status);
}

static void print_object(struct cli *cli, const char *name, const struct fleet_row *row)
{
	char id[CLI_ID_BYTES];
	cJSON *object = row ? cli_row_json(&fleet_sandbox_kind, row) : cJSON_CreateObject();
	if (row == NULL)
		cJSON_AddStringToObject(object, "claim", name);
	else
		cJSON_AddStringToObject(object, "id", cli_claim_id(name, row->uid, id));
	cli_print_object(cli, object);
	cJSON_Delete(object);
}

static void on_created(
	void *arg, const struct err *err, const char *name, const struct fleet_row *row)
{
	struct cli_create *create = arg;
	struct cli *cli = create->cli;
	char id[CLI_ID_BYTES];
	create->op = NULL;
	if (err != NULL) {
		cli->status = cli_fail(cli, err);
		end_failed(create);
		return;
	}
	if (cli_is_structured(cli)) {
		print_object(cli, name, row);
	} else {
		if (cli->opt.output == CLI_NAME)
			fputs("sandboxclaim/", stdout);
		cli_put_safe(name);
		putchar('\n');
		if (row != NULL)
			cli_create_progress(cli, cli_claim_id(name, row->uid, id));
	}
	cli_finish(cli, EXIT_STATUS_OK);
}

/* What -o name prints is a claim's name too. */
static const char *claim_name(const char *text)
{
	const char *slash = strchr(text, '/');
	bool is_claim = strncmp(text, "sandboxclaim", 12) == 0;
	return slash != NULL && is_claim ? slash + 1 : text;
}

static int create_all(
	struct cli *cli, const struct cli_create_wish *wish, struct cli_create *create)
{
	struct err err = { 0 };
	struct fleet_create_opts opts;
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (!cli_create_wish_opts(cli, wish, &opts, &err))
		return cli_fail(cli, &err);
	opts.on_progress = on_stage;
	opts.on_left = on_left;
	opts.done = on_created;
	opts.arg = create;
	if (fleet_create_is_cold(&opts) != NULL)
		cli_create_progress(cli, fleet_create_is_cold(&opts));
	create->op = fleet_create_start(engine_fleet(cli->engine), &opts, &err);
	if (create->op == NULL)
		return cli_fail(cli, &err);
	cli_on_signal(cli, on_signal, create);
	cli_run_loop(cli);
	cli_on_signal(cli, NULL, NULL);
	if (create->is_cancelled)
		tell_cancelled(create);
	return cli->status;
}

static int run_create(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct cli_create create = { .cli = cli };
	struct cli_create_wish wish = { .name = argc > 0 ? claim_name(argv[0]) : NULL };
	int status;
	if (cli_create_wish_read(cli, &wish, &err))
		status = create_all(cli, &wish, &create);
	else
		status = cli_fail(cli, &err);
	cli->opt.engine.namespace_ = NULL; /* it may be the file's */
	cli_create_wish_deinit(&wish);
	free(create.left);
	return status;
}

const struct cli_verb cli_verb_create = { "create", "[NAME]",
	"a claim for a sandbox of a warm pool; prints its name",
	CLI_OPT_CREATE | CLI_OPT_TIMEOUT | CLI_OPT_DRY_RUN, 0, 1, .run = run_create,
	.examples = "  sandmux create --pool workers --shutdown-after 1h\n"
		    "  sandmux create box --pool workers --adopt\n"
		    "  sandmux create --pool workers --binding-key thread-123\n"
		    "  sandmux create -f box.yaml --label team=blue\n",
	.only_cluster = "create needs a cluster, not --rest/--grpc" };
