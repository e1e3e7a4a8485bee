// SPDX-License-Identifier: Apache-2.0
#include "cli/each.h"

#include "cli/rows.h"
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const outcome_words[] = { "", "deleted", "is being deleted", "suspended",
	"resumed", "extended", "changed" };
_Static_assert(
	sizeof outcome_words / sizeof *outcome_words == CLI_OUTCOME_COUNT, "a word for each");

static void each_next(struct cli_each *each);

/* ---- what became of it */

void cli_print_outcome(const struct cli *cli, const struct cli_outcome_line *line)
{
	char time[CLOCK_RFC3339_BYTES] = "";
	const char *kind = line->is_sandbox ? "sandbox" : "sandboxclaim";
	if (line->expires_ms != 0)
		clock_format_rfc3339(line->expires_ms * 1000000, 0, time);
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "kind", kind);
		cli_json_text(object, "name", line->name);
		cJSON_AddStringToObject(object, "result", line->words);
		cJSON_AddBoolToObject(object, "changed", line->is_changed);
		if (time[0] != '\0')
			cJSON_AddStringToObject(object, "expiresAt", time);
		if (cli->opt.output == CLI_YAML)
			puts("---");
		if (cli->opt.output == CLI_YAML)
			cli_print_yaml(object);
		else
			cli_print_json_line(object);
		cJSON_Delete(object);
	} else if (cli->opt.output == CLI_NAME) {
		printf("%s/", kind);
		cli_put_safe(line->name);
		putchar('\n');
	} else {
		cli_put_safe(line->label);
		printf(" %s%s%s\n", line->words, time[0] ? " until " : "", time);
	}
	fflush(stdout);
}

static void print_outcome(
	const struct cli_each *each, const char *words, bool is_changed, int64_t expires_ms)
{
	const struct cli_outcome_line line = {
		.label = each->names[each->at],
		.name = each->name,
		.words = words,
		.is_sandbox = each->is_sandbox,
		.is_changed = is_changed,
		.expires_ms = expires_ms,
	};
	cli_print_outcome(each->cli, &line);
}

static void each_end(struct cli_each *each)
{
	each->is_waiting = false;
	net_loop_timer_disarm(each->deadline);
	free(each->name);
	each->name = NULL;
	each->at++;
	each_next(each);
}

static void each_fail(struct cli_each *each, const struct err *err)
{
	int status = cli_fail(each->cli, err);
	if (each->status == EXIT_STATUS_OK)
		each->status = status;
	each_end(each);
}

static bool is_about_time(enum cli_outcome outcome)
{
	return outcome == CLI_EXTENDED || outcome == CLI_CHANGED;
}

static void each_succeed(struct cli_each *each, enum cli_outcome outcome)
{
	const struct fleet_row *row = fleet_find(engine_fleet(each->cli->engine), each->uid);
	print_outcome(each, outcome_words[outcome], true,
		is_about_time(outcome) && row != NULL ? row->expires_ms : 0);
	each_end(each);
}

/* ---- until it is gone */

static bool is_gone(const struct cli_each *each)
{
	return fleet_find(engine_fleet(each->cli->engine), each->uid) == NULL;
}

static void on_change(void *arg)
{
	struct cli_each *each = arg;
	if (each->is_waiting && is_gone(each))
		each_succeed(each, CLI_DELETED);
}

static void on_deadline(void *arg)
{
	struct cli_each *each = arg;
	struct err err = { 0 };
	const struct fleet_row *row = fleet_find(engine_fleet(each->cli->engine), each->uid);
	err_set(&err, ERR_OP_TIMEOUT, "%s is still being deleted%s%s", each->name,
		row != NULL && row->why[0] ? ": " : "", row != NULL ? row->why : "");
	each_fail(each, &err);
}

void cli_each_done(void *arg, const struct err *err)
{
	struct cli_each *each = arg;
	const struct cli_options *opt = &each->cli->opt;
	if (err != NULL) {
		each_fail(each, err);
	} else if (each->outcome != CLI_DELETED || is_gone(each)) {
		each_succeed(each, each->outcome);
	} else if (opt->no_delete_wait) {
		each_succeed(each, CLI_BEING_DELETED);
	} else {
		each->is_waiting = true;
		net_loop_timer_arm(each->deadline,
			opt->timeout_ms > 0 ? opt->timeout_ms
					    : setting_get(SETTING_READY_TIMEOUT));
	}
}

/* ---- one after the other */

static void act_on(struct cli_each *each, const struct fleet_row *row)
{
	struct err own = { 0 };
	const char *why = NULL;
	snprintf(each->uid, sizeof each->uid, "%s", row->uid);
	each->is_sandbox = row->claim[0] == '\0';
	each->name = x_strdup(fleet_row_name(row));
	if (each->is_done != NULL && each->is_done(row, &why)) {
		print_outcome(each, why, false, 0);
		each_end(each);
	} else if ((each->may != NULL && !each->may(each, row, &own)) ||
		   each->start(each, each->uid, &own) == NULL) {
		each_fail(each, &own);
	}
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_each *each = arg;
	if (err != NULL)
		each_fail(each, err);
	else
		act_on(each, fleet_find(engine_fleet(each->cli->engine), uid));
}

/* One that was listed is known already; it may have gone since. */
static void act_on_listed(struct cli_each *each)
{
	const struct fleet_row *row =
		fleet_find(engine_fleet(each->cli->engine), each->uids[each->at]);
	if (row != NULL) {
		act_on(each, row);
		return;
	}
	each->name = x_strdup(each->names[each->at]);
	print_outcome(each, "is gone already", false, 0);
	each_end(each);
}

static void on_pause_over(void *arg)
{
	struct cli_each *each = arg;
	struct err err = { 0 };
	each->began_ms = clock_mono_ms();
	if (each->uids != NULL)
		act_on_listed(each);
	else if (engine_resolve_start(each->cli->engine, each->names[each->at], 0, on_resolved,
			 each, &err) == NULL)
		each_fail(each, &err);
}

/* No faster than the setting bulk-rate says. */
static void each_next(struct cli_each *each)
{
	if (each->at == each->n) {
		cli_finish(each->cli, each->status);
		return;
	}
	int64_t until_ms = each->began_ms + 1000 / setting_get(SETTING_BULK_RATE);
	int64_t pause_ms = each->at > 0 ? until_ms - clock_mono_ms() : 0;
	net_loop_timer_arm(each->pause, pause_ms > 0 ? pause_ms : 0);
}

int cli_each_run(struct cli *cli, int argc, char **argv, struct cli_each what)
{
	struct err err = { 0 };
	struct cli_each *each = &what;
	each->cli = cli;
	each->names = argv;
	each->n = argc;
	if (cli->engine == NULL && !cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	each->deadline = net_loop_timer_new(cli->loop, on_deadline, each);
	each->pause = net_loop_timer_new(cli->loop, on_pause_over, each);
	engine_on_change(cli->engine, on_change, each);
	each_next(each);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_free(each->deadline);
	net_loop_timer_free(each->pause);
	free(each->name);
	cli_settle(cli);
	return cli->status;
}
