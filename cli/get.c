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
	char **names; /* as typed */
	int n, at;
	bool describe;
	struct net_loop_timer *settle;
	char (*uids)[FLEET_UID_BYTES]; /* one for each name; "": not found */
	cJSON *list;                   /* of several as JSON */
	int status;
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

/* ---- one after the other; what is printed together is collected */

static void next_name(struct cli_one *one);

static void print_rows(struct cli_one *one)
{
	const struct fleet *fleet = engine_fleet(one->cli->engine);
	const void **rows = x_calloc((size_t)one->n, sizeof *rows);
	size_t n = 0;
	for (int i = 0; i < one->n; i++) {
		const struct fleet_row *row =
			one->uids[i][0] ? fleet_find(fleet, one->uids[i]) : NULL;
		if (row != NULL)
			rows[n++] = row;
	}
	if (n > 0)
		cli_rows_print(one->cli, &fleet_sandbox_kind, rows, n);
	free(rows);
}

static void finish(struct cli_one *one)
{
	struct cli *cli = one->cli;
	if (one->list != NULL)
		cli_print_object(cli, one->list);
	else if (!one->describe && !cli_is_structured(cli))
		print_rows(one);
	cli_finish(cli, one->status);
}

/* A word that is no sandbox may be what others call a list of things. */
static void note_kind(const struct cli_one *one)
{
	const struct resource_kind *kind = engine_kind_find(one->names[one->at]);
	if (kind != NULL && kind->resource != NULL && one->n == 1)
		cli_note(one->cli, "There is a kind of that name: sandmux ls %s",
			one->names[one->at]);
}

/* The others are still shown. */
static void fail_one(struct cli_one *one, const struct err *err)
{
	int status = cli_fail(one->cli, err);
	if (err_exit_status(err) == EXIT_STATUS_NOT_FOUND)
		note_kind(one);
	if (one->status == EXIT_STATUS_OK)
		one->status = status;
	one->at++;
	next_name(one);
}

static void take_object(struct cli_one *one, cJSON *object)
{
	if (one->list != NULL) {
		cJSON_AddItemToArray(cJSON_GetObjectItem(one->list, "items"), object);
		return;
	}
	cli_print_object(one->cli, object);
	cJSON_Delete(object);
}

static void on_detail(void *arg, const struct err *err, const struct fleet_detail *detail)
{
	struct cli_one *one = arg;
	struct cli *cli = one->cli;
	if (err != NULL) {
		fail_one(one, err);
		return;
	}
	const struct fleet_row *row = fleet_find(engine_fleet(cli->engine), one->uids[one->at]);
	if (row == NULL) {
		struct err gone = { 0 };
		err_set(&gone, ERR_CLAIM_NOT_FOUND, "it was deleted while it was being read");
		fail_one(one, &gone);
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
		take_object(one, object);
	} else {
		if (one->at > 0)
			putchar('\n');
		describe(cli, row, detail);
	}
	one->at++;
	next_name(one);
}

static void show_one(struct cli_one *one)
{
	struct cli *cli = one->cli;
	struct err err = { 0 };
	struct fleet *fleet = engine_fleet(cli->engine);
	const char *uid = one->uids[one->at];
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_disarm(one->settle);
	if (fleet_find(fleet, uid) == NULL) {
		err_set(&err, ERR_CLAIM_NOT_FOUND, "it is gone");
		fail_one(one, &err);
	} else if (!one->describe && !cli_is_structured(cli)) {
		one->at++;
		next_name(one);
	} else if (fleet_detail_start(fleet, uid, on_detail, one, &err) == NULL) {
		fail_one(one, &err);
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
		fail_one(one, err);
		return;
	}
	snprintf(one->uids[one->at], sizeof one->uids[0], "%s", uid);
	if (is_settled(cli)) {
		show_one(one);
		return;
	}
	engine_on_change(cli->engine, on_settling, one);
	net_loop_timer_arm(one->settle, SETTLE_MS);
}

static void next_name(struct cli_one *one)
{
	struct err err = { 0 };
	if (one->at == one->n)
		finish(one);
	else if (engine_resolve_start(one->cli->engine, one->names[one->at], 0, on_one_resolved,
			 one, &err) == NULL)
		fail_one(one, &err);
}

static int run_one(struct cli *cli, char **names, int n, bool is_describe)
{
	struct err err = { 0 };
	if (!cli_rows_open(cli, &fleet_sandbox_kind, &err) || !cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct cli_one one = { .cli = cli, .names = names, .n = n, .describe = is_describe };
	one.uids = x_calloc((size_t)n, sizeof *one.uids);
	if (n > 1 && cli_is_structured(cli))
		one.list = cli_rows_list(&fleet_sandbox_kind);
	one.settle = net_loop_timer_new(cli->loop, on_settle_deadline, &one);
	next_name(&one);
	cli_run_loop(cli);
	net_loop_timer_free(one.settle);
	cJSON_Delete(one.list);
	free(one.uids);
	return cli->status;
}

/* NAME is a sandbox; KIND/NAME and KIND NAME… are what the kind says. With two words the first one has to be a kind, as it
 * always had to. */
static int run_either(struct cli *cli, int argc, char **argv, bool is_describe)
{
	char prefix[64];
	const char *slash = strchr(argv[0], '/');
	const struct resource_kind *kind = argc > 1 ? engine_kind_find(argv[0]) : NULL;
	bool is_named = kind != NULL;
	if (!is_named && slash != NULL) {
		snprintf(prefix, sizeof prefix, "%.*s", (int)(slash - argv[0]), argv[0]);
		/* as `ls -o name` prints a sandbox */
		bool is_sandbox = strcmp(prefix, "sandboxclaim") == 0;
		kind = is_sandbox ? NULL : engine_kind_find(prefix);
	}
	if (kind == NULL || kind->resource == NULL)
		return run_one(cli, argv + is_named, argc - is_named, is_describe);
	return cli_get_objects(cli, kind, argv + is_named, argc - is_named, is_describe);
}

/* One of a list that goes on. */
static int watch_one(struct cli *cli, int argc, char **argv)
{
	const struct resource_kind *kind = argc > 1 ? engine_kind_find(argv[0]) : NULL;
	if (argc > 2 || (argc == 2 && kind == NULL) || strchr(argv[argc - 1], '/') != NULL)
		return cli_fail_usage(cli, "-w follows one NAME");
	char *selector = x_asprintf("metadata.name=%s", argv[argc - 1]);
	cli->opt.field_selector = selector;
	int status = cli_verb_ls.run(cli, argc - 1, argv);
	free(selector);
	return status;
}

static int run_get(struct cli *cli, int argc, char **argv)
{
	if (argc == 0)
		return cli_verb_ls.run(cli, argc, argv);
	if (cli->opt.engine.label_selector != NULL || cli->opt.field_selector != NULL)
		return cli_fail_usage(cli, "names, or a selector: sandmux ls has selectors");
	return cli->opt.watch ? watch_one(cli, argc, argv) : run_either(cli, argc, argv, false);
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

const struct cli_verb cli_verb_get = { "get", "[KIND] NAME…",
	"one of them, or several; without a NAME as ls", CLI_OPT_LIST | CLI_OPT_ROWS, 0, -1,
	.run = run_get, .only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux get build-agent -o jsonpath={.podIP}\n"
		    "  sandmux get pods api-1 api-2 -o wide\n" };
const struct cli_verb cli_verb_describe = { "describe", "[KIND] NAME…",
	"one of them, whole, with conditions and events", 0, 1, -1, .run = run_describe,
	.only_cluster = CLI_NAME_NEEDS_CLUSTER,
	.examples = "  sandmux describe build-agent\n"
		    "  sandmux describe pvc data\n" };
const struct cli_verb cli_verb_status = { "status", "NAME",
	"SandboxReady, SandboxNotReady or SandboxNotFound", 0, 1, 1, .run = run_status,
	.only_cluster = "status is the cluster's word: see health",
	.examples = "  sandmux status box\n" };
