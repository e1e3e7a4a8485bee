// SPDX-License-Identifier: Apache-2.0
/* get, describe, status: one sandbox. */
#include "cli/cli.h"
#include "cli/limits.h"
#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE_MS = 2000, MAX_EVENTS = 50 };

struct cli_one {
	struct cli *cli;
	const char *name; /* as typed */
	bool describe;
	struct net_loop_timer *settle;
	char uid[FLEET_UID_BYTES];
};

static void print_line(const char *name, const char *value)
{
	if (value == NULL || value[0] == '\0')
		return;
	printf("%-14s", name);
	cli_put_safe(value);
	putchar('\n');
}

/* A sentence with the age of what it stands on. */
static void print_since(const char *name, const char *value, int64_t since_ms)
{
	char age[CLOCK_AGE_BYTES];
	if (since_ms == 0) {
		print_line(name, value);
		return;
	}
	int64_t ago = clock_wall_ms() - since_ms;
	char *text = x_asprintf("%s (for %s)", value, clock_format_age(ago > 0 ? ago : 0, age));
	print_line(name, value[0] ? text : "");
	free(text);
}

static void print_map(const char *title, const cJSON *map)
{
	if (!cJSON_IsObject(map) || map->child == NULL)
		return;
	printf("%s\n", title);
	for (const cJSON *item = map->child; item != NULL; item = item->next) {
		fputs("  ", stdout);
		cli_put_safe(item->string);
		fputs(" = ", stdout);
		cli_put_safe(cJSON_IsString(item) ? item->valuestring : "");
		putchar('\n');
	}
}

static void print_conditions(const char *title, const cJSON *object)
{
	const cJSON *conditions = json_get(object, "status", "conditions", NULL);
	if (!cJSON_IsArray(conditions) || conditions->child == NULL)
		return;
	static const char *const titles[] = { "  TYPE", "STATUS", "REASON", "AGE", "MESSAGE" };
	printf("%s\n", title);
	struct cli_table *table = cli_table_new(5, titles);
	for (const cJSON *item = conditions->child; item != NULL; item = item->next) {
		char *type = x_asprintf("  %s", json_str(item, "type", NULL));
		cli_table_cell(table, type);
		free(type);
		cli_table_cell(table, json_str(item, "status", NULL));
		cli_table_cell(table, json_str(item, "reason", NULL));
		const char *since = json_str(item, "lastTransitionTime", NULL);
		int64_t wall_ns = 0;
		bool known = since != NULL && clock_parse_rfc3339(since, &wall_ns);
		cli_table_age(table, known ? wall_ns / 1000000 : 0);
		cli_table_cell(table, json_str(item, "message", NULL));
	}
	cli_table_print(table, true);
}

static void print_events(const struct cli *cli, const char *uid)
{
	static const char *const titles[] = { "  AGE", "TYPE", "REASON", "OBJECT", "MESSAGE" };
	struct fleet_event events[MAX_EVENTS];
	size_t n = fleet_events(engine_fleet(cli->engine), uid, events, MAX_EVENTS);
	if (n == 0)
		return;
	printf("Events\n");
	struct cli_table *table = cli_table_new(5, titles);
	for (size_t i = 0; i < n; i++) {
		char age[CLOCK_AGE_BYTES], cell[CLOCK_AGE_BYTES + 4];
		int64_t ago = clock_wall_ms() - events[i].wall_ms;
		snprintf(cell, sizeof cell, "  %s", clock_format_age(ago > 0 ? ago : 0, age));
		cli_table_cell(table, cell);
		cli_table_cell(table, events[i].is_warning ? "Warning" : "Normal");
		cli_table_cell(table, events[i].reason);
		cli_table_cell(table, events[i].object);
		cli_table_cell(table, events[i].message);
	}
	cli_table_print(table, true);
}

/* What happened to it, oldest first. */
static void print_story(const struct cli *cli, const char *uid)
{
	struct fleet_story_entry *story = x_calloc(FLEET_STORY_MAX, sizeof *story);
	size_t n = fleet_story(engine_fleet(cli->engine), uid, story, FLEET_STORY_MAX);
	char time[CLOCK_RFC3339_BYTES];
	if (n > 0)
		printf("Story\n");
	for (size_t i = 0; i < n; i++) {
		printf("  %s  %s ", clock_format_rfc3339(story[i].wall_ms * 1000000, 0, time),
			fleet_story_glyph(story[i].kind));
		cli_put_safe(story[i].text);
		putchar('\n');
	}
	free(story);
}

static void describe(
	const struct cli *cli, const struct fleet_row *row, const struct fleet_detail *detail)
{
	char time[CLOCK_RFC3339_BYTES];
	print_line("Name", fleet_row_name(row));
	print_line("Namespace", row->namespace_);
	print_line("State", fleet_state_name(row->state));
	print_since("Why", row->why, row->why_since_ms);
	print_line("Next", row->next);
	print_line("Claim UID", detail->claim ? row->uid : "");
	print_line("Sandbox", row->sandbox);
	print_line("Pod", row->pod);
	print_line("Pod IP", row->pod_ip);
	print_line("Node", row->node);
	print_line("Pool", row->pool);
	print_line("Template", row->template_);
	print_line("Created by", row->created_by);
	if (row->created_ms != 0)
		print_line("Created", clock_format_rfc3339(row->created_ms * 1000000, 0, time));
	if (row->expires_ms != 0)
		print_line("Expires", clock_format_rfc3339(row->expires_ms * 1000000, 0, time));
	print_story(cli, row->uid);
	const cJSON *main_object = detail->claim ? detail->claim : detail->sandbox;
	print_map("Labels", json_get(main_object, "metadata", "labels", NULL));
	print_map("Annotations", json_get(main_object, "metadata", "annotations", NULL));
	cJSON *limits = cli_limits_of(detail->pod);
	cli_limits_print("Limits", limits);
	cJSON_Delete(limits);
	print_conditions("Claim conditions", detail->claim);
	print_conditions("Sandbox conditions", detail->sandbox);
	print_conditions("Pod conditions", detail->pod);
	print_events(cli, row->uid);
}

static void on_detail(void *arg, const struct err *err, const struct fleet_detail *detail)
{
	struct cli_one *one = arg;
	struct cli *cli = one->cli;
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	const struct fleet_row *row = fleet_find(engine_fleet(cli->engine), one->uid);
	if (row == NULL) {
		struct err gone = { 0 };
		err_set(&gone, ERR_CLAIM_NOT_FOUND, "it was deleted while it was being read");
		cli_finish(cli, cli_fail(cli, &gone));
		return;
	}
	if (cli_is_structured(cli)) {
		cJSON *object = cli_row_json(&fleet_sandbox_kind, row);
		const cJSON *parts[] = { detail->claim, detail->sandbox, detail->pod };
		static const char *const keys[] = { "claimObject", "sandboxObject",
			"podObject" };
		for (int i = 0; i < 3; i++)
			cJSON_AddItemToObject(object, keys[i],
				parts[i] ? cJSON_Duplicate(parts[i], true)
					 : cJSON_CreateNull());
		cJSON *limits = cli_limits_of(detail->pod);
		if (limits != NULL)
			cJSON_AddItemToObject(object, "limits", limits);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		describe(cli, row, detail);
	}
	cli_finish(cli, EXIT_STATUS_OK);
}

static void show_one(struct cli_one *one)
{
	struct cli *cli = one->cli;
	struct err err = { 0 };
	struct fleet *fleet = engine_fleet(cli->engine);
	const struct fleet_row *row = fleet_find(fleet, one->uid);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_disarm(one->settle);
	if (row == NULL) {
		err_set(&err, ERR_CLAIM_NOT_FOUND, "it is gone");
		cli_finish(cli, cli_fail(cli, &err));
	} else if (!one->describe && !cli_is_structured(cli)) {
		const void *rows[] = { row };
		cli_rows_print(cli, &fleet_sandbox_kind, rows, 1);
		cli_finish(cli, EXIT_STATUS_OK);
	} else if (fleet_detail_start(fleet, one->uid, on_detail, one, &err) == NULL) {
		cli_finish(cli, cli_fail(cli, &err));
	}
}

/* The claim and its Sandbox are known; the pod, the pool and the events are asked for at the same time and may
 * be a moment later, or forbidden. */
static bool is_settled(const struct cli *cli)
{
	return fleet_is_settled(engine_fleet(cli->engine));
}

static void on_settling(void *arg)
{
	struct cli_one *one = arg;
	if (is_settled(one->cli))
		show_one(one);
}

static void on_settle_deadline(void *arg)
{
	show_one(arg);
}

static void on_one_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_one *one = arg;
	struct cli *cli = one->cli;
	if (err != NULL) {
		const struct resource_kind *kind = engine_kind_find(one->name);
		int status = cli_fail(cli, err);
		if (status == EXIT_STATUS_NOT_FOUND && kind != NULL && kind->resource != NULL)
			cli_note(cli, "There is a kind of that name: sandmux ls %s", one->name);
		cli_finish(cli, status);
		return;
	}
	snprintf(one->uid, sizeof one->uid, "%s", uid);
	if (is_settled(cli)) {
		show_one(one);
		return;
	}
	engine_on_change(cli->engine, on_settling, one);
	net_loop_timer_arm(one->settle, SETTLE_MS);
}

static int run_one(struct cli *cli, char **argv, bool is_describe)
{
	struct err err = { 0 };
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct cli_one one = { .cli = cli, .name = argv[0], .describe = is_describe };
	one.settle = net_loop_timer_new(cli->loop, on_settle_deadline, &one);
	if (engine_resolve_start(cli->engine, argv[0], 0, on_one_resolved, &one, &err) == NULL)
		cli_finish(cli, cli_fail(cli, &err));
	cli_run_loop(cli);
	net_loop_timer_free(one.settle);
	return cli->status;
}

/* ---- an object of another kind */

struct cli_object {
	struct cli *cli;
	const struct resource_kind *kind;
	bool describe;
};

static void on_title(void *arg, const char *title)
{
	(void)arg;
	printf("%s\n", title);
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	(void)arg;
	(void)tone;
	(void)when_ms;
	fputs("  ", stdout);
	cli_put_safe(label);
	fputs(": ", stdout);
	cli_put_safe(text);
	putchar('\n');
}

static void on_object(void *arg, const struct err *err, const cJSON *object)
{
	struct cli_object *one = arg;
	struct cli *cli = one->cli;
	const struct resource_lines lines = { on_title, on_line, NULL };
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	void *row = engine_object_row(cli->engine, one->kind, object);
	const void *rows[] = { row };
	if (cli_is_structured(cli)) {
		cJSON *whole = cli_row_json(one->kind, row);
		cJSON_AddItemToObject(whole, "object", cJSON_Duplicate(object, true));
		cli_print_object(cli, whole);
		cJSON_Delete(whole);
	} else if (one->describe) {
		cli_put_safe(cli_row_name(one->kind, row));
		putchar('\n');
		kinds_page(one->kind, row, object, &lines);
	} else {
		cli_rows_print(cli, one->kind, rows, 1);
	}
	engine_object_row_free(one->kind, row);
	cli_finish(cli, EXIT_STATUS_OK);
}

static int run_object(
	struct cli *cli, const struct resource_kind *kind, const char *name, bool is_describe)
{
	struct err err = { 0 };
	struct cli_object one = { cli, kind, is_describe };
	if (name[0] == '\0' || strchr(name, '/') != NULL)
		return cli_fail_usage(cli, "'%s' is no name", name);
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (engine_object_start(cli->engine, kind, engine_namespace(cli->engine), name,
		    on_object, &one, &err) == NULL)
		return cli_fail(cli, &err);
	return cli_run_loop(cli);
}

/* NAME is a sandbox; KIND/NAME and KIND NAME are what the kind says. */
static int run_either(struct cli *cli, int argc, char **argv, bool is_describe)
{
	char prefix[64];
	const char *slash = strchr(argv[0], '/');
	const struct resource_kind *kind = NULL;
	if (argc == 2) {
		kind = engine_kind_find(argv[0]);
		if (kind == NULL)
			return cli_fail_usage(cli, "there is no kind '%s'", argv[0]);
	} else if (slash != NULL) {
		snprintf(prefix, sizeof prefix, "%.*s", (int)(slash - argv[0]), argv[0]);
		/* as `ls -o name` prints a sandbox */
		bool is_sandbox = strcmp(prefix, "sandboxclaim") == 0;
		kind = is_sandbox ? NULL : engine_kind_find(prefix);
	}
	if (kind == NULL || kind->resource == NULL)
		return run_one(cli, argv + argc - 1, is_describe);
	return run_object(cli, kind, argc == 2 ? argv[1] : slash + 1, is_describe);
}

static int run_get(struct cli *cli, int argc, char **argv)
{
	return run_either(cli, argc, argv, false);
}

static int run_describe(struct cli *cli, int argc, char **argv)
{
	return run_either(cli, argc, argv, true);
}

/* ---- status: the three words of the client references, for scripts */

static const char *ready_message(const cJSON *object)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(object, "status", "conditions", NULL))
	{
		const char *type = json_str(item, "type", NULL);
		if (type != NULL && strcmp(type, "Ready") == 0)
			return json_str(item, "message", NULL);
	}
	return NULL;
}

/* message: of the Sandbox's Ready condition, as the references print it; why: what is the matter, in our words. */
static void print_status(
	struct cli *cli, const char *word, const char *message, const char *why)
{
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "status", word);
		cli_json_text(object, "message", message != NULL ? message : why);
		cli_json_text(object, "why", why);
		cli_print_object(cli, object);
		cJSON_Delete(object);
		return;
	}
	fputs(word, stdout);
	if (why[0] != '\0') {
		fputs(": ", stdout);
		cli_put_safe(why);
	}
	putchar('\n');
}

struct cli_status {
	struct cli *cli;
	char uid[FLEET_UID_BYTES];
};

static void on_status_detail(
	void *arg, const struct err *err, const struct fleet_detail *detail)
{
	const struct cli_status *status = arg;
	struct cli *cli = status->cli;
	const struct fleet_row *row = fleet_find(engine_fleet(cli->engine), status->uid);
	if (row == NULL || row->state == FLEET_DELETED) {
		print_status(cli, "SandboxNotFound", NULL, "");
		cli_finish(cli, EXIT_STATUS_NOT_FOUND);
		return;
	}
	print_status(cli, row->state == FLEET_READY ? "SandboxReady" : "SandboxNotReady",
		err == NULL ? ready_message(detail->sandbox) : NULL, row->why);
	cli_finish(cli, EXIT_STATUS_OK);
}

static void on_status_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_status *status = arg;
	struct cli *cli = status->cli;
	struct err own = { 0 };
	bool is_missing = err != NULL && err_exit_status(err) == EXIT_STATUS_NOT_FOUND;
	if (is_missing) {
		print_status(cli, "SandboxNotFound", NULL, "");
		cli_finish(cli, EXIT_STATUS_NOT_FOUND);
	} else if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
	} else {
		snprintf(status->uid, sizeof status->uid, "%s", uid);
		if (fleet_detail_start(engine_fleet(cli->engine), uid, on_status_detail, status,
			    &own) == NULL)
			cli_finish(cli, cli_fail(cli, &own));
	}
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	struct err err = { 0 };
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct cli_status status = { .cli = cli };
	if (engine_resolve_start(cli->engine, argv[0], 0, on_status_resolved, &status, &err) ==
		NULL)
		return cli_fail(cli, &err);
	return cli_run_loop(cli);
}

const struct cli_verb cli_verb_get = { "get", "[KIND] NAME", "one of them", 0, 1, 2,
	.run = run_get, .only_cluster = CLI_NAME_NEEDS_CLUSTER };
const struct cli_verb cli_verb_describe = { "describe", "[KIND] NAME",
	"one of them, whole, with conditions and events", 0, 1, 2, .run = run_describe,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER };
const struct cli_verb cli_verb_status = { "status", "NAME",
	"SandboxReady, SandboxNotReady or SandboxNotFound", 0, 1, 1, .run = run_status,
	.only_cluster = "status is the cluster's word: see health" };
