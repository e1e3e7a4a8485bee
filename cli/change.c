// SPDX-License-Identifier: Apache-2.0
/* suspend, resume, extend, lifetime: what changes a sandbox's life and does not end it. */
#include "cli/cli.h"
#include "cli/each.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cli_ask(const char *question)
{
	char *safe = safe_text_dup(question, 4096);
	char answer[16] = "";
	fprintf(stderr, "%s [y/N] ", safe);
	free(safe);
	return fgets(answer, sizeof answer, stdin) != NULL &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static struct fleet_op *start_suspend(struct cli_each *each, const char *uid, struct err *err)
{
	if (isatty(STDERR_FILENO))
		cli_note(each->cli,
			"%s: its processes end, and shells in it; only what is on volumes survives",
			each->name);
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, true, cli_each_done, each, err);
}

static struct fleet_op *start_resume(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_suspend_start(
		engine_fleet(each->cli->engine), uid, false, cli_each_done, each, err);
}

static struct fleet_op *start_extend(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_extend_start(engine_fleet(each->cli->engine), uid,
		each->cli->opt.timeout_ms, cli_each_done, each, err);
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

static int run_suspend(struct cli *cli, int argc, char **argv)
{
	return cli_each_run(cli, argc, argv,
		(struct cli_each){ .outcome = CLI_SUSPENDED,
			.is_done = is_suspended,
			.start = start_suspend });
}

static int run_resume(struct cli *cli, int argc, char **argv)
{
	return cli_each_run(cli, argc, argv,
		(struct cli_each){
			.outcome = CLI_RESUMED, .is_done = is_running, .start = start_resume });
}

static int run_extend(struct cli *cli, int argc, char **argv)
{
	if (cli->opt.timeout_ms == 0)
		return cli_fail_usage(
			cli, "extend needs --timeout TIME: how long it may still live");
	return cli_each_run(cli, argc, argv,
		(struct cli_each){ .outcome = CLI_EXTENDED, .start = start_extend });
}

/* ---- lifetime */

static int64_t new_end_ms(const struct fleet_lifetime *lifetime)
{
	if (lifetime->end == FLEET_END_AFTER)
		return clock_wall_ms() + lifetime->end_ms;
	return lifetime->end == FLEET_END_AT ? lifetime->end_ms : 0;
}

/* A life is not shortened without a word. */
static bool may_change(struct cli_each *each, const struct fleet_row *row, struct err *err)
{
	const struct fleet_lifetime *lifetime = each->arg;
	char was[CLOCK_RFC3339_BYTES], question[512];
	int64_t end_ms = new_end_ms(lifetime);
	bool is_shorter =
		end_ms != 0 && (row->expires_ms == 0 || end_ms + 1000 < row->expires_ms);
	if (!is_shorter || each->cli->opt.yes)
		return true;
	if (row->expires_ms != 0)
		clock_format_rfc3339(row->expires_ms * 1000000, 0, was);
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_ARG_INVALID,
			"%s %s%s: to end it earlier without a terminal needs --yes", each->name,
			row->expires_ms ? "lives until " : "has no end",
			row->expires_ms ? was : "");
	snprintf(question, sizeof question,
		"%s %s%s. End it earlier? Its processes and files are lost then.", each->name,
		row->expires_ms ? "lives until " : "has no end", row->expires_ms ? was : "");
	return cli_ask(question) ||
	       err_set(err, ERR_OP_CANCELLED, "%s was not changed", each->name);
}

static struct fleet_op *start_lifetime(struct cli_each *each, const char *uid, struct err *err)
{
	return fleet_lifetime_start(
		engine_fleet(each->cli->engine), uid, each->arg, cli_each_done, each, err);
}

static int run_lifetime(struct cli *cli, int argc, char **argv)
{
	const struct cli_options *opt = &cli->opt;
	struct fleet_lifetime lifetime = {
		.shutdown_policy = opt->shutdown_policy,
		.has_ttl = opt->has_ttl,
		.ttl_ms = opt->ttl_ms,
		.clears_ttl = opt->no_ttl,
	};
	if ((opt->end_in_ms != 0) + (opt->end_at_ms != 0) + opt->never > 1)
		return cli_fail_usage(cli, "--in, --at and --never: one of them");
	if (opt->has_ttl && opt->no_ttl)
		return cli_fail_usage(cli, "--ttl and --no-ttl: one of them");
	if (opt->end_in_ms != 0)
		lifetime.end = FLEET_END_AFTER;
	else if (opt->end_at_ms != 0)
		lifetime.end = FLEET_END_AT;
	else if (opt->never)
		lifetime.end = FLEET_END_NEVER;
	lifetime.end_ms = opt->end_in_ms ? opt->end_in_ms : opt->end_at_ms;
	if (lifetime.end == FLEET_END_KEPT && lifetime.shutdown_policy == NULL &&
		!lifetime.has_ttl && !lifetime.clears_ttl)
		return cli_fail_usage(cli,
			"lifetime needs --in TIME, --at DATE, --never, --shutdown-policy, --ttl "
			"or --no-ttl");
	return cli_each_run(cli, argc, argv,
		(struct cli_each){ .outcome = CLI_CHANGED,
			.may = may_change,
			.start = start_lifetime,
			.arg = &lifetime });
}

const struct cli_verb cli_verb_suspend = { "suspend", "NAME…",
	"stop the pod; only its volumes survive", CLI_OPT_DRY_RUN, 1, -1, .run = run_suspend,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER, .examples = "  sandmux suspend web-1 web-2\n" };
const struct cli_verb cli_verb_resume = { "resume", "NAME…", "start a suspended one again",
	CLI_OPT_DRY_RUN, 1, -1, .run = run_resume, .only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux resume web-1\n" };
const struct cli_verb cli_verb_extend = { "extend", "NAME…",
	"let it live for --timeout from now; never shortens", CLI_OPT_TIMEOUT | CLI_OPT_DRY_RUN,
	1, -1, .run = run_extend, .only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux extend box --timeout 2h\n" };
const struct cli_verb cli_verb_lifetime = { "lifetime", "NAME…",
	"set, move or clear the end of life, its policy and the time to live after its end",
	CLI_OPT_LIFE | CLI_OPT_DRY_RUN, 1, -1, .run = run_lifetime,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples =
		"  sandmux lifetime box --in 2h\n"
		"  sandmux lifetime box --never\n"
		"  sandmux lifetime box --at 2027-01-01T00:00:00Z --shutdown-policy Retain\n" };
