// SPDX-License-Identifier: Apache-2.0
/* run in a sandbox whose runtime has no processes: the command runs to its end, and then its output comes. */
#include "cli/execute.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t began_ms, ends_ms; /* ends_ms: of the time limit; 0: none */

void cli_print_result(
	const struct cli *cli, const struct runtime_result *result, int64_t duration_ms)
{
	cJSON *object = cJSON_CreateObject();
	cli_json_bytes(object, "stdout", result->out);
	cli_json_bytes(object, "stderr", result->err_out);
	if (result->exit_code < 0)
		cJSON_AddNullToObject(object, "exitCode");
	else
		cJSON_AddNumberToObject(object, "exitCode", result->exit_code);
	cJSON_AddNumberToObject(object, "duration", (double)duration_ms / 1000);
	cli_print_object(cli, object);
	cJSON_Delete(object);
}

static void on_executed(void *arg, const struct err *err, const struct runtime_result *result)
{
	struct cli *cli = arg;
	if (err != NULL) {
		/* whichever clock rings first, that of the call or that of the whole run */
		bool is_overdue = ends_ms > 0 && clock_mono_ms() >= ends_ms;
		cli_fail(cli, err);
		cli_finish(cli, is_overdue ? STATUS_OVERDUE : cli_execute_status(err));
		return;
	}
	int status = result->exit_code < 0 ? STATUS_KILLED : result->exit_code;
	if (cli_is_structured(cli)) {
		cli_print_result(cli, result, clock_mono_ms() - began_ms);
		cli_finish(cli, status);
		return;
	}
	bool ok = fwrite(result->out.p, 1, result->out.n, stdout) == result->out.n &&
		  fflush(stdout) == 0;
	fwrite(result->err_out.p, 1, result->err_out.n, stderr);
	if (!ok)
		status = cli_is_reader_gone() ? cli_closed_status() : STATUS_OWN_FAILURE;
	cli_finish(cli, status);
}

int cli_execute_status(const struct err *err)
{
	switch (err->code) {
	case ERR_PROC_COMMAND_NOT_FOUND:
		return STATUS_NOT_FOUND;
	case ERR_PROC_DENIED:
		return STATUS_NOT_EXECUTABLE;
	default:
		return STATUS_OWN_FAILURE;
	}
}

void cli_execute(
	struct cli *cli, struct runtime *runtime, const char *const *argv, int64_t timeout_ms)
{
	struct err err = { 0 };
	struct stat st;
	began_ms = clock_mono_ms();
	ends_ms = timeout_ms > 0 ? began_ms + timeout_ms : 0;
	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		cli_note(cli, "this runtime takes no standard input: the file is not sent");
	if (runtime_execute_start(runtime, argv, cli->opt.env.items, cli->opt.cwd, timeout_ms,
		    on_executed, cli, &err) != NULL)
		return;
	cli_fail(cli, &err);
	cli_finish(cli, cli_execute_status(&err));
}
