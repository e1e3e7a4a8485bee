// SPDX-License-Identifier: Apache-2.0
/* probe and doctor: is the way to the sandboxes open, and if not, what mends it. */
#include "cli/cli.h"
#include "cli/terminal_check.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- probe */

static void on_probed(void *arg, const struct err *err, const char *reason)
{
	struct cli *cli = arg;
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "reason", reason);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		printf("%s\n", reason);
	}
	cli_finish(cli, err ? cli_fail(cli, err) : EXIT_STATUS_OK);
}

static int run_probe(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (engine_probe_start(cli->engine, argc > 0 ? argv[0] : NULL, on_probed, cli, &err) ==
		NULL)
		return cli_fail(cli, &err);
	return cli_run_loop(cli);
}

/* ---- doctor */

struct doctor {
	struct cli *cli;
	cJSON *list; /* -o json|yaml */
	int failures;
};

static void show(struct doctor *doctor, const struct engine_finding *finding)
{
	static const char *const words[] = { "ok", "warning", "FAILED", "skipped" };
	_Static_assert(
		sizeof words / sizeof *words == ENGINE_LEVEL_COUNT, "a word for each level");
	doctor->failures += finding->level == ENGINE_FAILURE;
	char *found = safe_text_dup(finding->found, 1024);
	if (doctor->list != NULL) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "level", words[finding->level]);
		cJSON_AddStringToObject(object, "check", finding->check);
		cJSON_AddStringToObject(object, "found", found);
		cJSON_AddStringToObject(object, "fix", finding->fix);
		cJSON_AddItemToArray(doctor->list, object);
	} else {
		printf("%-8s %-42s %s\n", words[finding->level], finding->check, found);
		if (finding->fix[0] != '\0')
			printf("%-8s   fix: %s\n", "", finding->fix);
		fflush(stdout);
	}
	free(found);
}

static void on_finding(void *arg, const struct engine_finding *finding)
{
	show(arg, finding);
}

static void on_done(void *arg)
{
	struct doctor *doctor = arg;
	cli_finish(doctor->cli, doctor->failures ? EXIT_STATUS_FAILED : EXIT_STATUS_OK);
}

static int run_doctor(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct err err = { 0 };
	struct doctor doctor = { .cli = cli };
	if (cli_is_structured(cli))
		doctor.list = cJSON_CreateArray();
	cli_terminal_check(on_finding, &doctor);
	if (!cli_open(cli, true, &err)) {
		const struct engine_finding finding = { ENGINE_FAILURE, "configuration",
			err.msg, err_hint(&err) };
		show(&doctor, &finding);
		cli->status = EXIT_STATUS_FAILED;
	} else if (engine_doctor_start(cli->engine, on_finding, on_done, &doctor, &err) ==
		   NULL) {
		cli->status = cli_fail(cli, &err);
	} else {
		cli_run_loop(cli);
	}
	if (doctor.list != NULL)
		cli_print_object(cli, doctor.list);
	cJSON_Delete(doctor.list);
	return cli->status;
}

const struct cli_verb cli_verb_probe = { "probe", "[TEMPLATE]",
	"one cheap question: healthy, auth, not-served, transport or backend", 0, 0, 1,
	.run = run_probe, .examples = "  sandmux probe && echo a create would work\n" };
const struct cli_verb cli_verb_doctor = { "doctor", "",
	"checks the way to the sandboxes and prints the fix for each finding", 0, 0, 0,
	.run = run_doctor, .examples = "  sandmux doctor --context prod\n" };
