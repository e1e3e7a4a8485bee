// SPDX-License-Identifier: Apache-2.0
/* local up|down|status|reset: the embedded backend on this machine. */
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "local/control/control.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_status(struct cli *cli, const struct control_status *status)
{
	const char *word = status->is_ready     ? "ready"
			   : status->is_running ? "starting"
						: "stopped";
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "status", word);
		cJSON_AddNumberToObject(object, "pid", (double)status->pid);
		cJSON_AddNumberToObject(object, "port", status->port);
		cJSON_AddStringToObject(object, "kubeconfig", status->kubeconfig);
		cJSON_AddStringToObject(object, "stateDir", status->state_dir);
		cJSON_AddStringToObject(object, "log", status->log);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		printf("%s", word);
		if (status->is_running)
			printf(", pid %d, https://127.0.0.1:%u", (int)status->pid,
				status->port);
		printf("\nkubeconfig  %s\nlog         %s\n", status->kubeconfig, status->log);
	}
	/* a script asks with the exit status */
	return status->is_ready ? EXIT_STATUS_OK : EXIT_STATUS_UNREACHABLE;
}

static bool may_reset(
	const struct cli *cli, const struct control_status *status, struct err *err)
{
	if (cli->opt.yes)
		return true;
	if (!isatty(STDIN_FILENO))
		return err_set(err, ERR_ARG_INVALID, "reset without a terminal needs --yes");
	fprintf(stderr,
		"Delete every local sandbox with its files, and the keys, in %s? [y/N] ",
		status->state_dir);
	char answer[16] = "";
	if (fgets(answer, sizeof answer, stdin) != NULL &&
		(answer[0] == 'y' || answer[0] == 'Y'))
		return true;
	return err_set(err, ERR_OP_CANCELLED, "nothing was changed");
}

static int run_local(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	struct err err = { 0 };
	struct control_status status = { 0 };
	const struct control_opts opts = {
		.state_dir = cli->opt.state_dir,
		.isolation = cli->opt.isolation,
		.daemon_auth = cli->opt.daemon_auth,
		.timeout_ms = cli->opt.timeout_ms,
	};
	const char *what = argv[0];
	bool ok;
	if (strcmp(what, "up") == 0) {
		ok = control_ensure_running(&opts, &status, &err);
	} else if (strcmp(what, "status") == 0) {
		ok = control_get_status(&opts, &status, &err);
	} else if (strcmp(what, "down") == 0) {
		if (!control_down(&opts, &err))
			return cli_fail(cli, &err);
		cli_note(cli,
			"the local backend is stopped; its sandboxes come back with the next start");
		return EXIT_STATUS_OK;
	} else if (strcmp(what, "reset") == 0) {
		if (!control_get_status(&opts, &status, &err) ||
			!may_reset(cli, &status, &err) || !control_reset(&opts, &err))
			return cli_fail(cli, &err);
		if (access(status.state_dir, F_OK) == 0)
			cli_note(cli, "what is left in %s is not sandmux's", status.state_dir);
		else
			cli_note(cli, "%s is gone", status.state_dir);
		return EXIT_STATUS_OK;
	} else {
		return cli_fail_usage(
			cli, "local has up, down, status and reset, not '%s'", what);
	}
	return ok ? print_status(cli, &status) : cli_fail(cli, &err);
}

const struct cli_verb cli_verb_local = { "local", "up|down|status|reset",
	"the embedded backend on this machine", CLI_OPT_LOCAL | CLI_OPT_TIMEOUT, 1, 1,
	run_local };
