// SPDX-License-Identifier: Apache-2.0
/* local up|down|status|recover|reset: the embedded backend on this machine. */
#include "cli/cli.h"
#include "cli/limits.h"
#include "cli/verbs.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/path.h"
#include "engine/base/safe_text.h"
#include "engine/base/str.h"
#include "local/control/control.h"
#include "local/control/quarantine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 512, REPORT_BYTES = 1 << 20 };

/* Names and reasons come from files: foreign. */
static void print_quarantined(void *arg, const struct control_quarantined *q)
{
	int *n = arg;
	const char *whose = *q->claim ? q->claim : *q->sandbox ? q->sandbox : q->why;
	char *path = safe_text_dup(q->path, TEXT_BYTES),
	     *who = safe_text_dup(whose, TEXT_BYTES);
	if ((*n)++ == 0)
		printf("quarantine  put aside, not deleted:\n");
	printf("  %s  (%s)\n", path, who);
	free(path);
	free(who);
}

static void add_quarantined(void *arg, const struct control_quarantined *q)
{
	cJSON *list = arg, *item = cJSON_CreateObject();
	cli_json_text(item, "path", q->path);
	cli_json_text(item, "namespace", q->ns);
	cli_json_text(item, "claim", q->claim);
	cli_json_text(item, "sandbox", q->sandbox);
	cli_json_text(item, "why", q->why);
	cli_json_text(item, "movedAt", q->at);
	cJSON_AddItemToArray(list, item);
}

/* What the backend wrote down about itself when it started; NULL if it is not running. */
static cJSON *read_limits(const struct control_status *status)
{
	size_t n;
	char *path = path_join(status->state_dir, "limits.json");
	char *text = status->is_ready ? file_read(path, REPORT_BYTES, &n, NULL) : NULL;
	cJSON *rows = text ? json_parse((struct slice){ text, n }, NULL) : NULL;
	free(text);
	free(path);
	return rows;
}

static int print_status(struct cli *cli, const struct control_status *status)
{
	const char *word = status->is_ready     ? "ready"
			   : status->is_running ? "starting"
						: "stopped";
	cJSON *limits = read_limits(status);
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "status", word);
		cJSON_AddNumberToObject(object, "pid", (double)status->pid);
		cJSON_AddNumberToObject(object, "port", status->port);
		cJSON_AddStringToObject(object, "kubeconfig", status->kubeconfig);
		cJSON_AddStringToObject(object, "stateDir", status->state_dir);
		cJSON_AddStringToObject(object, "log", status->log);
		control_quarantine_list(status->state_dir, add_quarantined,
			cJSON_AddArrayToObject(object, "quarantine"));
		if (limits != NULL)
			cJSON_AddItemToObject(object, "limits", limits);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		printf("%s", word);
		if (status->is_running)
			printf(", pid %d, https://127.0.0.1:%u", (int)status->pid,
				status->port);
		printf("\nkubeconfig  %s\nlog         %s\n", status->kubeconfig, status->log);
		int n_quarantined = 0;
		control_quarantine_list(status->state_dir, print_quarantined, &n_quarantined);
		cli_limits_print("limits of each sandbox", limits);
		cJSON_Delete(limits);
	}
	if (control_ends_at_logout(status))
		cli_note(cli,
			"it ends when you log out; 'loginctl enable-linger' lets it run on");
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
	char question[PATH_MAX + 128];
	snprintf(question, sizeof question,
		"Delete every local sandbox with its files, the quarantine and the keys, in %s?",
		status->state_dir);
	if (cli_ask(question))
		return true;
	return err_set(err, ERR_OP_CANCELLED, "nothing was changed");
}

static int run_recover(struct cli *cli, const struct control_opts *opts)
{
	struct err err = { 0 };
	struct str report;
	str_init(&report, REPORT_BYTES);
	bool ok = control_recover(opts, &report, &err);
	fputs(report.p ? report.p : "", stdout); /* made safe by who wrote it */
	str_deinit(&report);
	return ok ? EXIT_STATUS_OK : cli_fail(cli, &err);
}

static int run_reset(struct cli *cli, const struct control_opts *opts)
{
	struct err err = { 0 };
	struct control_status status = { 0 };
	bool ok = control_get_status(opts, &status, &err);
	bool is_any = ok && access(status.state_dir, F_OK) == 0;
	if (!ok || !may_reset(cli, &status, &err) || !control_reset(opts, &err))
		return cli_fail(cli, &err);
	if (access(status.state_dir, F_OK) == 0)
		cli_note(cli, "what is left in %s is not sandmux's", status.state_dir);
	else
		cli_note(cli, is_any ? "%s is gone" : "there is nothing in %s",
			status.state_dir);
	return EXIT_STATUS_OK;
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
		bool was_ready = control_get_status(&opts, &status, NULL) && status.is_ready;
		ok = control_ensure_running(&opts, &status, &err);
		if (ok && was_ready)
			cli_note(cli, "the local backend was running already");
	} else if (strcmp(what, "status") == 0) {
		ok = control_get_status(&opts, &status, &err);
	} else if (strcmp(what, "down") == 0) {
		bool was_running =
			!control_get_status(&opts, &status, NULL) || status.is_running;
		if (!control_down(&opts, &err))
			return cli_fail(cli, &err);
		cli_note(cli, was_running
				      ? "the local backend is stopped; its sandboxes come back "
					"with the next start"
				      : "the local backend is not running");
		return EXIT_STATUS_OK;
	} else if (strcmp(what, "recover") == 0) {
		return run_recover(cli, &opts);
	} else if (strcmp(what, "reset") == 0) {
		return run_reset(cli, &opts);
	} else {
		return cli_fail_usage(
			cli, "local has up, down, status, recover and reset, not '%s'", what);
	}
	return ok ? print_status(cli, &status) : cli_fail(cli, &err);
}

const struct cli_verb cli_verb_local = { "local", "up|down|status|recover|reset",
	"the embedded backend on this machine", CLI_OPT_LOCAL | CLI_OPT_TIMEOUT, 1, 1,
	.run = run_local,
	.examples = "  sandmux local up\n"
		    "  sandmux local status -o json\n" };
