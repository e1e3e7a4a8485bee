// SPDX-License-Identifier: Apache-2.0
/* wait: until each of its names is so, one after the other, all within one time. */
#include "cli/cli.h"
#include "cli/each.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	LOOK_MS = 1000,     /* at conditions, which the rows do not have */
	LAST_LOOK_MS = 1000 /* at a name whose turn comes when the time is over */
};

enum goal { GOAL_READY, GOAL_DELETED, GOAL_SUSPENDED, GOAL_CONDITION };

struct cli_wait {
	struct cli *cli;
	char **names;
	int n, at;
	enum goal goal;
	char *type;         /* of the condition */
	const char *status; /* that it must have */
	int64_t until_ms, timeout_ms;
	int status_code;
	char *seen; /* the condition, as it was seen last; NULL */

	/* of the one at work */
	char uid[FLEET_UID_BYTES]; /* "": it is being looked up */
	char *name;
	bool is_sandbox;
	struct engine_resolve *resolve; /* NULL: it has been */
	struct fleet_op *look;
	struct net_loop_timer *deadline, *again;
};

static void wait_next(struct cli_wait *wait);

static void wait_end(struct cli_wait *wait, const struct err *err)
{
	const struct cli_outcome_line line = {
		.label = wait->names[wait->at],
		.name = wait->name ? wait->name : wait->names[wait->at],
		.words = wait->goal == GOAL_DELETED ? "deleted" : "condition met",
		.is_sandbox = wait->is_sandbox,
	};
	fleet_op_cancel(wait->look);
	wait->look = NULL;
	net_loop_timer_disarm(wait->again);
	if (err == NULL)
		cli_print_outcome(wait->cli, &line);
	else if (wait->status_code == EXIT_STATUS_OK)
		wait->status_code = cli_fail(wait->cli, err);
	else
		cli_fail(wait->cli, err);
	free(wait->name);
	wait->name = NULL;
	wait->uid[0] = '\0';
	wait->at++;
	wait_next(wait);
}

/* ---- conditions */

static bool has_condition(struct cli_wait *wait, const cJSON *object)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "status", "conditions", NULL))
	{
		const char *type = json_str(item, "type", NULL);
		const char *status = json_str(item, "status", NULL);
		if (type == NULL || status == NULL || strcasecmp(type, wait->type) != 0)
			continue;
		free(wait->seen);
		wait->seen = x_asprintf("%s is %s", type, status);
		if (strcasecmp(status, wait->status) == 0)
			return true;
	}
	return false;
}

static void on_detail(void *arg, const struct err *err, const struct fleet_detail *detail)
{
	struct cli_wait *wait = arg;
	wait->look = NULL;
	if (err != NULL)
		wait_end(wait, err);
	else if (has_condition(wait, detail->claim) || has_condition(wait, detail->sandbox))
		wait_end(wait, NULL);
	else
		net_loop_timer_arm(wait->again, LOOK_MS);
}

static void look_at_conditions(struct cli_wait *wait)
{
	struct err err = { 0 };
	if (wait->look != NULL)
		return;
	wait->look = fleet_detail_start(
		engine_fleet(wait->cli->engine), wait->uid, on_detail, wait, &err);
	if (wait->look == NULL)
		wait_end(wait, &err);
}

/* ---- either */

static void wait_look(struct cli_wait *wait)
{
	struct err err = { 0 };
	const struct fleet_row *row = fleet_find(engine_fleet(wait->cli->engine), wait->uid);
	bool is_gone = row == NULL || row->state == FLEET_DELETED;
	if (is_gone && wait->goal == GOAL_DELETED) {
		wait_end(wait, NULL);
	} else if (is_gone) {
		err_set(&err, ERR_SANDBOX_DELETED, "%s was deleted meanwhile", wait->name);
		wait_end(wait, &err);
	} else if (wait->goal == GOAL_SUSPENDED && row->state == FLEET_SUSPENDED) {
		wait_end(wait, NULL);
	} else if (wait->goal == GOAL_CONDITION) {
		look_at_conditions(wait);
	}
}

static void on_change(void *arg)
{
	struct cli_wait *wait = arg;
	if (wait->uid[0] != '\0')
		wait_look(wait);
}

static void on_again(void *arg)
{
	wait_look(arg);
}

static const char *goal_text(const struct cli_wait *wait)
{
	static const char *const texts[] = { "ready", "deleted", "suspended" };
	return wait->goal == GOAL_CONDITION ? wait->type : texts[wait->goal];
}

static void on_deadline(void *arg)
{
	struct cli_wait *wait = arg;
	struct err err = { 0 };
	char because[FLEET_BECAUSE_BYTES];
	const struct fleet_row *row =
		wait->uid[0] ? fleet_find(engine_fleet(wait->cli->engine), wait->uid) : NULL;
	if (wait->resolve != NULL) {
		engine_resolve_end(wait->resolve);
		return;
	}
	err_set(&err, ERR_OP_TIMEOUT, "%s is not %s%s%s after %lld s: %s%s", wait->name,
		goal_text(wait), wait->goal == GOAL_CONDITION ? "=" : "",
		wait->goal == GOAL_CONDITION ? wait->status : "",
		(long long)wait->timeout_ms / 1000,
		wait->seen ? wait->seen
		: row      ? fleet_state_name(row->state)
			   : "gone",
		row ? fleet_row_because(row, because) : "");
	wait_end(wait, &err);
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_wait *wait = arg;
	wait->resolve = NULL;
	bool is_missing = err != NULL && err_exit_status(err) == EXIT_STATUS_NOT_FOUND;
	if (is_missing && wait->goal == GOAL_DELETED) {
		wait_end(wait, NULL);
		return;
	}
	if (err != NULL) {
		wait_end(wait, err);
		return;
	}
	const struct fleet_row *row = fleet_find(engine_fleet(wait->cli->engine), uid);
	snprintf(wait->uid, sizeof wait->uid, "%s", uid);
	wait->is_sandbox = row->claim[0] == '\0';
	wait->name = x_strdup(fleet_row_name(row));
	int64_t left_ms = wait->until_ms - clock_mono_ms();
	if (wait->goal == GOAL_READY) {
		wait_end(wait, NULL);
		return;
	}
	net_loop_timer_arm(wait->deadline, left_ms > 0 ? left_ms : 0);
	wait_look(wait);
}

static void wait_next(struct cli_wait *wait)
{
	struct err err = { 0 };
	if (wait->at == wait->n) {
		cli_finish(wait->cli, wait->status_code);
		return;
	}
	int64_t left_ms = wait->until_ms - clock_mono_ms();
	if (wait->at > 0 && left_ms < LAST_LOOK_MS)
		left_ms = LAST_LOOK_MS;
	net_loop_timer_arm(wait->deadline, left_ms > 0 ? left_ms : 0);
	wait->resolve = engine_resolve_start(wait->cli->engine, wait->names[wait->at],
		wait->goal != GOAL_READY ? 0
		: left_ms > 0            ? left_ms
					 : 1,
		on_resolved, wait, &err);
	if (wait->resolve == NULL)
		wait_end(wait, &err);
}

static bool parse_goal(struct cli_wait *wait, const char *text)
{
	if (text == NULL || strcasecmp(text, "ready") == 0)
		wait->goal = GOAL_READY;
	else if (strcmp(text, "deleted") == 0 || strcmp(text, "delete") == 0)
		wait->goal = GOAL_DELETED;
	else if (strcmp(text, "suspended") == 0)
		wait->goal = GOAL_SUSPENDED;
	else if (strncmp(text, "condition=", 10) == 0 && text[10] != '\0') {
		const char *equals = strchr(text + 10, '=');
		wait->goal = GOAL_CONDITION;
		wait->type = x_strndup(text + 10, strcspn(text + 10, "="));
		wait->status = equals ? equals + 1 : "True";
		return wait->type[0] != '\0' && wait->status[0] != '\0';
	} else
		return false;
	return true;
}

static int run_wait(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct cli_wait wait = { .cli = cli, .names = argv, .n = argc };
	if (!parse_goal(&wait, cli->opt.wait_for)) {
		free(wait.type);
		return cli_fail_usage(cli,
			"--for '%s' is not one of ready, deleted, suspended, "
			"condition=TYPE[=STATUS]",
			cli->opt.wait_for);
	}
	wait.timeout_ms = cli->opt.timeout_ms > 0 ? cli->opt.timeout_ms
						  : setting_get(SETTING_READY_TIMEOUT);
	wait.until_ms = clock_mono_ms() + wait.timeout_ms;
	if (cli_open(cli, true, &err)) {
		wait.deadline = net_loop_timer_new(cli->loop, on_deadline, &wait);
		wait.again = net_loop_timer_new(cli->loop, on_again, &wait);
		engine_on_change(cli->engine, on_change, &wait);
		wait_next(&wait);
		cli_run_loop(cli);
		engine_on_change(cli->engine, NULL, NULL);
	} else {
		cli->status = cli_fail(cli, &err);
	}
	net_loop_timer_free(wait.deadline);
	net_loop_timer_free(wait.again);
	free(wait.name);
	free(wait.type);
	free(wait.seen);
	return cli->status;
}

const struct cli_verb cli_verb_wait = { "wait", "NAME…",
	"until each is ready, deleted, suspended or has a condition",
	CLI_OPT_WAIT | CLI_OPT_TIMEOUT, 1, -1, .run = run_wait,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux wait box --for ready --timeout 3m\n"
		    "  sandmux wait box --for deleted\n"
		    "  sandmux wait a b --for condition=Finished\n" };
