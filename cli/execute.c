// SPDX-License-Identifier: Apache-2.0
/* run in a sandbox whose runtime has no processes: the command runs to its end, and then its output comes. */
#include "cli/execute.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_OWN_FAILURE = 125, STATUS_KILLED = 137 };

static void on_executed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct cli *cli = arg;
	if (err != NULL) {
		cli_fail(cli, err);
		cli_finish(cli, cli_execute_status(err));
		return;
	}
	bool ok = fwrite(result->out.p, 1, result->out.n, stdout) == result->out.n &&
		  fflush(stdout) == 0;
	fwrite(result->err_out.p, 1, result->err_out.n, stderr);
	if (!ok)
		cli_finish(cli, STATUS_OWN_FAILURE);
	else
		cli_finish(cli, result->exit_code < 0 ? STATUS_KILLED : result->exit_code);
}

int cli_execute_status(const struct err *err)
{
	switch (err->code) {
	case ERR_PROC_COMMAND_NOT_FOUND:
		return 127;
	case ERR_PROC_DENIED:
		return 126;
	default:
		return STATUS_OWN_FAILURE;
	}
}

void cli_execute(struct cli *cli, struct runtime *runtime, const char *const *argv)
{
	struct err err = { 0 };
	struct stat st;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		cli_note(cli, "this runtime takes no standard input: the file is not sent");
	if (runtime_execute_start(runtime, argv, cli->opt.env.items, cli->opt.cwd,
		    cli->opt.timeout_given ? cli->opt.timeout_ms : 0, on_executed, cli,
		    &err) != NULL)
		return;
	cli_fail(cli, &err);
	cli_finish(cli, cli_execute_status(&err));
}
