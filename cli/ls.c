// SPDX-License-Identifier: Apache-2.0
/* ls, get, describe, status: what exists and how it is. */
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_TIMEOUT_MS = 30000, SETTLE_MS = 2000, MAX_EVENTS = 50 };

static const char *row_name(const struct fleet_row *row)
{
	return row->claim[0] ? row->claim : row->sandbox;
}

static bool is_listed(const struct cli *cli, const struct fleet_row *row)
{
	/* unclaimed warm sandboxes are the pool's business: only in the wide form */
	return row->state != FLEET_WARM || cli->opt.output == CLI_WIDE;
}

static int compare_rows(const void *left, const void *right)
{
	const struct fleet_row *const *a = left, *const *b = right;
	int order = strcmp((*a)->namespace_, (*b)->namespace_);
	return order ? order : strcmp(row_name(*a), row_name(*b));
}

static const struct fleet_row **sorted_rows(const struct cli *cli, size_t *n)
{
	struct fleet *fleet = engine_fleet(cli->engine);
	size_t count = fleet_count(fleet);
	const struct fleet_row **rows = x_calloc(count, sizeof *rows);
	*n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		if (is_listed(cli, row))
			rows[(*n)++] = row;
	}
	qsort(rows, *n, sizeof *rows, compare_rows);
	return rows;
}

static void add_age(struct cli_table *table, int64_t since_ms)
{
	char age[CLOCK_AGE_BYTES];
	int64_t now = clock_wall_ms();
	cli_table_cell(table,
		since_ms ? clock_format_age(now > since_ms ? now - since_ms : 0, age) : "");
}

static void add_row(struct cli_table *table, const struct cli *cli, const struct fleet_row *row)
{
	char number[16];
	bool wide = cli->opt.output == CLI_WIDE;
	if (cli->opt.engine.all_namespaces)
		cli_table_cell(table, row->namespace_);
	cli_table_cell(table, row_name(row));
	cli_table_cell(table, fleet_state_name(row->state));
	cli_table_cell(table, row->sandbox);
	cli_table_cell(table, row->pool);
	if (wide) {
		bool is_known = fleet_forbidden(engine_fleet(cli->engine), FLEET_PODS) == NULL;
		if (is_known)
			snprintf(number, sizeof number, "%d", row->restarts);
		else
			snprintf(number, sizeof number, "-");
		cli_table_cell(table, row->pod);
		cli_table_cell(table, row->pod_ip);
		cli_table_cell(table, row->node);
		cli_table_cell(table, row->template_);
		cli_table_cell(table, number);
	}
	add_age(table, row->created_ms);
	cli_table_cell(table, row->why);
}

static struct cli_table *rows_table(const struct cli *cli)
{
	static const char *const titles[] = { "NAMESPACE", "NAME", "STATE", "SANDBOX", "POOL",
		"AGE", "WHY" };
	static const char *const wide[] = { "NAMESPACE", "NAME", "STATE", "SANDBOX", "POOL",
		"POD", "IP", "NODE", "TEMPLATE", "RESTARTS", "AGE", "WHY" };
	size_t skip = cli->opt.engine.all_namespaces ? 0 : 1;
	if (cli->opt.output == CLI_WIDE)
		return cli_table_new(sizeof wide / sizeof *wide - skip, wide + skip);
	return cli_table_new(sizeof titles / sizeof *titles - skip, titles + skip);
}

static void print_names(const struct fleet_row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputs(rows[i]->claim[0] ? "sandboxclaim/" : "sandbox/", stdout);
		cli_put_safe(row_name(rows[i]));
		putchar('\n');
	}
	fflush(stdout);
}

static void print_rows(const struct cli *cli, const struct fleet_row *const *rows, size_t n)
{
	if (cli->opt.output == CLI_NAME) {
		print_names(rows, n);
		return;
	}
	if (!cli_is_structured(cli)) {
		struct cli_table *table = rows_table(cli);
		for (size_t i = 0; i < n; i++)
			add_row(table, cli, rows[i]);
		cli_table_print(table, true);
		return;
	}
	cJSON *list = cJSON_CreateObject();
	cJSON_AddStringToObject(list, "apiVersion", "sandmux/v1");
	cJSON_AddStringToObject(list, "kind", "SandboxList");
	cJSON *items = cJSON_AddArrayToObject(list, "items");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(items, cli_row_json(rows[i]));
	cli_print_object(cli, list);
	cJSON_Delete(list);
}

/* ---- ls */

struct list {
	struct cli *cli;
	struct loop_timer *deadline;
	uint64_t printed; /* revision */
	bool is_first_done;
};

/* One JSON object a line, or one YAML document: what scripts read. */
static void print_event(
	const struct cli *cli, const char *type, const char *uid, const struct fleet_row *row)
{
	cJSON *change = cJSON_CreateObject();
	cJSON_AddStringToObject(change, "type", type);
	if (row != NULL)
		cJSON_AddItemToObject(change, "object", cli_row_json(row));
	else if (uid != NULL)
		cJSON_AddStringToObject(change, "uid", uid);
	if (cli->opt.output == CLI_YAML) {
		puts("---");
		cli_print_yaml(change);
	} else {
		char *text = cJSON_PrintUnformatted(change);
		puts(text ? text : "");
		free(text);
	}
	cJSON_Delete(change);
}

static void print_all(const struct cli *cli)
{
	size_t n;
	const struct fleet_row **rows = sorted_rows(cli, &n);
	if (cli->opt.watch && cli_is_structured(cli)) {
		for (size_t i = 0; i < n; i++)
			print_event(cli, "CHANGED", NULL, rows[i]);
		fflush(stdout);
	} else if (n > 0 || cli_is_structured(cli)) {
		print_rows(cli, rows, n);
	} else if (cli->opt.engine.all_namespaces) {
		cli_note(cli, "No sandboxes found.");
	} else {
		cli_note(cli, "No sandboxes found in namespace %s.",
			engine_namespace(cli->engine));
	}
	free(rows);
}

static void print_change(void *arg, const char *uid, const struct fleet_row *row)
{
	struct list *list = arg;
	struct cli *cli = list->cli;
	if (uid == NULL) { /* more changes than are remembered: all anew */
		if (cli_is_structured(cli))
			print_event(cli, "RESET", NULL, NULL);
		print_all(cli);
		return;
	}
	if (row != NULL && !is_listed(cli, row))
		return;
	if (cli_is_structured(cli)) {
		print_event(cli, row ? "CHANGED" : "DELETED", uid, row);
	} else if (row != NULL) {
		struct cli_table *table = rows_table(cli);
		add_row(table, cli, row);
		cli_table_print(table, false);
	} else {
		printf("(gone: %s)\n", uid);
	}
	fflush(stdout);
	if (ferror(stdout))
		cli_finish(cli, EXIT_STATUS_FAILED);
}

/* One of the two may not be read: what the other tells is still worth a list. */
static bool is_one_hidden(const struct cli *cli)
{
	const struct fleet *fleet = engine_fleet(cli->engine);
	return (fleet_forbidden(fleet, FLEET_CLAIMS) == NULL) !=
	       (fleet_forbidden(fleet, FLEET_SANDBOXES) == NULL);
}

static void note_hidden(const struct cli *cli)
{
	const struct fleet *fleet = engine_fleet(cli->engine);
	const struct err *claims = fleet_forbidden(fleet, FLEET_CLAIMS);
	const struct err *sandboxes = fleet_forbidden(fleet, FLEET_SANDBOXES);
	if (claims != NULL)
		cli_note(cli, "Only Sandboxes are listed: %s", claims->msg);
	if (sandboxes != NULL)
		cli_note(cli, "Only claims are listed: %s", sandboxes->msg);
}

static void on_list_change(void *arg)
{
	struct list *list = arg;
	struct cli *cli = list->cli;
	struct fleet *fleet = engine_fleet(cli->engine);
	if (list->is_first_done) {
		fleet_changes(fleet, list->printed, print_change, list);
		list->printed = fleet_revision(fleet);
		return;
	}
	const struct err *failure = engine_source_failure(cli->engine);
	bool is_settled = fleet_is_synced(fleet);
	/* forbidden: the other one decides */
	bool waits = failure != NULL && failure->code == ERR_KUBE_FORBIDDEN &&
		     (!is_settled || is_one_hidden(cli));
	if (failure != NULL && !waits) {
		cli_finish(cli, cli_fail(cli, failure));
		return;
	}
	if (!is_settled)
		return;
	loop_timer_disarm(list->deadline);
	list->is_first_done = true;
	list->printed = fleet_revision(fleet);
	print_all(cli);
	note_hidden(cli);
	if (!cli->opt.watch)
		cli_finish(cli, EXIT_STATUS_OK);
}

static void on_list_deadline(void *arg)
{
	struct list *list = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT, "no complete list from %s within %d s",
		engine_server(list->cli->engine), LIST_TIMEOUT_MS / 1000);
	cli_finish(list->cli, cli_fail(list->cli, &err));
}

static int run_ls(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct err err = { 0 };
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "ls needs a cluster, not --rest/--grpc");
	if (!cli_open(cli, false, &err))
		return cli_fail(cli, &err);
	struct list list = { .cli = cli };
	list.deadline = loop_timer_new(cli->loop, on_list_deadline, &list);
	loop_timer_arm(list.deadline, LIST_TIMEOUT_MS);
	engine_on_change(cli->engine, on_list_change, &list);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	loop_timer_free(list.deadline);
	return cli->status;
}

/* ---- get and describe */

struct one {
	struct cli *cli;
	bool describe;
	struct loop_timer *settle;
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
		add_age(table, known ? wall_ns / 1000000 : 0);
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

static void describe(
	const struct cli *cli, const struct fleet_row *row, const struct fleet_detail *detail)
{
	char time[CLOCK_RFC3339_BYTES];
	print_line("Name", row_name(row));
	print_line("Namespace", row->namespace_);
	print_line("State", fleet_state_name(row->state));
	print_line("Why", row->why);
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
	const cJSON *main_object = detail->claim ? detail->claim : detail->sandbox;
	print_map("Labels", json_get(main_object, "metadata", "labels", NULL));
	print_map("Annotations", json_get(main_object, "metadata", "annotations", NULL));
	print_conditions("Claim conditions", detail->claim);
	print_conditions("Sandbox conditions", detail->sandbox);
	print_conditions("Pod conditions", detail->pod);
	print_events(cli, row->uid);
}

static void on_detail(void *arg, const struct err *err, const struct fleet_detail *detail)
{
	struct one *one = arg;
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
		cJSON *object = cli_row_json(row);
		const cJSON *parts[] = { detail->claim, detail->sandbox, detail->pod };
		static const char *const keys[] = { "claimObject", "sandboxObject",
			"podObject" };
		for (int i = 0; i < 3; i++)
			cJSON_AddItemToObject(object, keys[i],
				parts[i] ? cJSON_Duplicate(parts[i], true)
					 : cJSON_CreateNull());
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		describe(cli, row, detail);
	}
	cli_finish(cli, EXIT_STATUS_OK);
}

static void show_one(struct one *one)
{
	struct cli *cli = one->cli;
	struct err err = { 0 };
	struct fleet *fleet = engine_fleet(cli->engine);
	const struct fleet_row *row = fleet_find(fleet, one->uid);
	engine_on_change(cli->engine, NULL, NULL);
	loop_timer_disarm(one->settle);
	if (row == NULL) {
		err_set(&err, ERR_CLAIM_NOT_FOUND, "it is gone");
		cli_finish(cli, cli_fail(cli, &err));
	} else if (!one->describe && !cli_is_structured(cli)) {
		print_rows(cli, &row, 1);
		cli_finish(cli, EXIT_STATUS_OK);
	} else if (fleet_detail_start(fleet, one->uid, on_detail, one, &err) == NULL) {
		cli_finish(cli, cli_fail(cli, &err));
	}
}

/* The claim and its Sandbox are known; the pod, the pool and the events are asked for at the same time and may
 * be a moment later, or forbidden. */
static bool is_settled(const struct cli *cli)
{
	struct fleet_source sources[8];
	size_t n = fleet_sources(engine_fleet(cli->engine), sources, 8);
	bool settled = true;
	for (size_t i = 0; i < n; i++)
		settled = settled && (sources[i].synced || sources[i].err != NULL);
	return settled;
}

static void on_settling(void *arg)
{
	struct one *one = arg;
	if (is_settled(one->cli))
		show_one(one);
}

static void on_settle_deadline(void *arg)
{
	show_one(arg);
}

static void on_one_resolved(void *arg, const struct err *err, const char *uid)
{
	struct one *one = arg;
	struct cli *cli = one->cli;
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	snprintf(one->uid, sizeof one->uid, "%s", uid);
	if (is_settled(cli)) {
		show_one(one);
		return;
	}
	engine_on_change(cli->engine, on_settling, one);
	loop_timer_arm(one->settle, SETTLE_MS);
}

static int run_one(struct cli *cli, char **argv, bool is_describe)
{
	struct err err = { 0 };
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "a name needs a cluster, not --rest/--grpc");
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct one one = { .cli = cli, .describe = is_describe };
	one.settle = loop_timer_new(cli->loop, on_settle_deadline, &one);
	if (engine_resolve_start(cli->engine, argv[0], 0, on_one_resolved, &one, &err) == NULL)
		cli_finish(cli, cli_fail(cli, &err));
	cli_run_loop(cli);
	loop_timer_free(one.settle);
	return cli->status;
}

static int run_get(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	return run_one(cli, argv, false);
}

static int run_describe(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	return run_one(cli, argv, true);
}

/* ---- status: the three words of the client references, for scripts */

static void on_status_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli *cli = arg;
	const char *word = "SandboxNotFound", *why = "";
	const struct fleet_row *row = uid ? fleet_find(engine_fleet(cli->engine), uid) : NULL;
	bool is_missing = err != NULL && err_exit_status(err) == EXIT_STATUS_NOT_FOUND;
	if (err != NULL && !is_missing) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	if (row != NULL) {
		word = row->state == FLEET_READY ? "SandboxReady" : "SandboxNotReady";
		why = row->why;
	}
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "status", word);
		char *safe = safe_text_dup(why, 1024);
		cJSON_AddStringToObject(object, "message", safe);
		free(safe);
		cli_print_object(cli, object);
		cJSON_Delete(object);
	} else {
		fputs(word, stdout);
		if (why[0] != '\0') {
			fputs(": ", stdout);
			cli_put_safe(why);
		}
		putchar('\n');
	}
	cli_finish(cli, is_missing ? EXIT_STATUS_NOT_FOUND : EXIT_STATUS_OK);
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	struct err err = { 0 };
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "status is the cluster's word: see health");
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	if (engine_resolve_start(cli->engine, argv[0], 0, on_status_resolved, cli, &err) ==
		NULL)
		return cli_fail(cli, &err);
	return cli_run_loop(cli);
}

const struct cli_verb cli_verb_ls = { "ls", "", "claims and sandboxes, joined", CLI_OPT_LIST, 0,
	0, run_ls };
const struct cli_verb cli_verb_get = { "get", "NAME", "one of them", 0, 1, 1, run_get };
const struct cli_verb cli_verb_describe = { "describe", "NAME",
	"one of them, whole, with conditions and events", 0, 1, 1, run_describe };
const struct cli_verb cli_verb_status = { "status", "NAME",
	"SandboxReady, SandboxNotReady or SandboxNotFound", 0, 1, 1, run_status };
