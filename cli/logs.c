// SPDX-License-Identifier: Apache-2.0
/* logs: what a container of a sandbox's pod has written, and goes on writing. The bytes are as they are where stdout is no terminal;
 * on one they are made safe, without their colours. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/ansi.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct cli_logs {
	struct cli *cli;
	struct podlog *log;
	char *namespace_;
	bool is_safe; /* stdout is a terminal */
};

static void put_json(const struct podlog_line *line)
{
	char time[CLOCK_RFC3339_BYTES];
	cJSON *object = cJSON_CreateObject();
	if (line->wall_ns)
		cJSON_AddStringToObject(
			object, "time", clock_format_rfc3339(line->wall_ns, 9, time));
	cli_json_bytes(object, "text", line->text);
	cli_print_json_line(object);
	cJSON_Delete(object);
}

static void put_safe(struct slice text)
{
	struct str plain;
	str_init(&plain, PODLOG_LINE_BYTES);
	ansi_strip(text, &plain);
	cli_put_safe(plain.p);
	str_deinit(&plain);
}

static void on_line(void *arg, const struct podlog_line *line)
{
	const struct cli_logs *logs = arg;
	struct cli *cli = logs->cli;
	char time[CLOCK_RFC3339_BYTES];
	if (cli_is_structured(cli)) {
		put_json(line);
	} else {
		if (cli->opt.timestamps && line->wall_ns)
			printf("%s ", clock_format_rfc3339(line->wall_ns, 9, time));
		if (logs->is_safe)
			put_safe(line->text);
		else
			fwrite(line->text.p, 1, line->text.n, stdout);
		if (!line->is_piece)
			putchar('\n');
	}
	if (cli->opt.follow)
		fflush(stdout);
	if (cli_is_reader_gone())
		cli_finish(cli, cli_closed_status());
}

static void on_note(void *arg, const char *text)
{
	const struct cli_logs *logs = arg;
	cli_note(logs->cli, "%s", text);
}

static void on_state(void *arg)
{
	const struct cli_logs *logs = arg;
	const struct err *err = podlog_err(logs->log);
	if (podlog_state(logs->log) == PODLOG_ENDED)
		cli_finish(logs->cli, err ? cli_fail(logs->cli, err) : EXIT_STATUS_OK);
	else if (podlog_state(logs->log) == PODLOG_WAITING && err != NULL)
		cli_note(logs->cli, "waiting: %s", err->msg);
}

static void begin(struct cli_logs *logs, const char *pod)
{
	struct cli *cli = logs->cli;
	struct err err = { 0 };
	const struct podlog_opts opts = {
		.namespace_ = logs->namespace_,
		.pod = pod,
		.container = cli->opt.container,
		.is_following = cli->opt.follow,
		.is_previous = cli->opt.previous,
		.since_ms = cli->opt.since_ms,
		.since_time = cli->opt.since_time,
		.tail_lines = cli->opt.has_tail ? cli->opt.tail : -1,
		.limit_bytes = cli->opt.limit_bytes,
		.on_line = on_line,
		.on_note = on_note,
		.on_state = on_state,
		.arg = logs,
	};
	logs->log = engine_podlog_start(cli->engine, &opts, &err);
	if (logs->log == NULL)
		cli_finish(cli, cli_fail(cli, &err));
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_logs *logs = arg;
	struct cli *cli = logs->cli;
	struct err own = { 0 };
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	const struct fleet_row *row = fleet_find(engine_fleet(cli->engine), uid);
	if (row->pod[0] == '\0') {
		err_set(&own, ERR_SANDBOX_NOT_READY, "%s has no pod%s%s", fleet_row_name(row),
			row->why[0] ? ": " : "", row->why);
		cli_finish(cli, cli_fail(cli, &own));
		return;
	}
	free(logs->namespace_);
	logs->namespace_ = x_strdup(row->namespace_);
	begin(logs, row->pod);
}

static int run_logs(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct cli_logs logs = { .cli = cli, .is_safe = isatty(STDOUT_FILENO) };
	bool is_pod = strncmp(argv[0], "pod/", 4) == 0;
	(void)argc;
	if (cli->opt.follow && cli->opt.previous)
		return cli_fail_usage(cli, "what has ended does not go on: -f or -p");
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	logs.namespace_ = x_strdup(engine_namespace(cli->engine));
	if (is_pod)
		begin(&logs, argv[0] + 4);
	else if (engine_resolve_start(cli->engine, argv[0], 0, on_resolved, &logs, &err) ==
		 NULL)
		cli_finish(cli, cli_fail(cli, &err));
	cli_run_loop(cli);
	podlog_stop(logs.log);
	free(logs.namespace_);
	return cli->status;
}

const struct cli_verb cli_verb_logs = { "logs", "NAME|pod/NAME",
	"what a container of its pod has written", CLI_OPT_LOGS, 1, 1, .run = run_logs,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux logs box -f --tail 20\n  sandmux logs box -p --timestamps\n" };
