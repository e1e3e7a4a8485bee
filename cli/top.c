// SPDX-License-Identifier: Apache-2.0
/* top: what sandboxes use, those that use most first, once or at each new measurement. */
#include "cli/cli.h"
#include "cli/row_order.h"
#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/map.h"

#include <stdio.h>
#include <string.h>

enum { TOP_TIMEOUT_MS = 30000 };

/* A row that has been printed, and of when. */
struct told {
	char uid[RESOURCE_UID_BYTES];
	int64_t look[USAGE_RESOURCE_COUNT];
	UT_hash_handle hh;
};

struct cli_top {
	struct cli *cli;
	char **names;
	int n_names; /* 0: all */
	struct net_loop_timer *deadline, *again;
	uint64_t printed; /* revision of what is used */
	bool is_first_done, is_found;
	const char **uids; /* of the names; their rows' own */
	char (*own_uids)[RESOURCE_UID_BYTES];
	struct told *told;
};

static bool is_read(const struct fleet *fleet, enum fleet_kind kind)
{
	return fleet_is_listed(fleet, kind) || fleet_forbidden(fleet, kind) != NULL;
}

static void finish(struct cli_top *top, const struct err *err)
{
	cli_finish(top->cli, err ? cli_fail(top->cli, err) : EXIT_STATUS_OK);
}

/* ---- printing */

static int compare(const void *left, const void *right)
{
	const struct fleet_row *a = *(const void *const *)left,
			       *b = *(const void *const *)right;
	const int64_t cpu_a = fleet_cpu_order(a), cpu_b = fleet_cpu_order(b);
	if (cpu_a != cpu_b)
		return cpu_a < cpu_b ? -1 : 1;
	const int64_t memory_a = fleet_memory_order(a), memory_b = fleet_memory_order(b);
	if (memory_a != memory_b)
		return memory_a < memory_b ? -1 : 1;
	int order = strcmp(a->namespace_, b->namespace_);
	return order ? order : strcmp(fleet_row_name(a), fleet_row_name(b));
}

/* True where it says something else than when it was printed last. */
static bool note_told(struct cli_top *top, const struct fleet_row *row)
{
	struct told *told;
	int64_t look[USAGE_RESOURCE_COUNT];
	for (int i = 0; i < USAGE_RESOURCE_COUNT; i++) {
		struct fleet_use use = fleet_use_of(row, (enum usage_resource)i);
		look[i] = use.is_known ? use.amount : -1;
	}
	HASH_FIND_STR(top->told, row->uid, told);
	if (told && memcmp(told->look, look, sizeof look) == 0)
		return false;
	if (!told) {
		told = x_calloc(1, sizeof *told);
		snprintf(told->uid, sizeof told->uid, "%s", row->uid);
		HASH_ADD_STR(top->told, uid, told);
	}
	memcpy(told->look, look, sizeof look);
	return true;
}

static bool is_wanted(struct cli_top *top, const struct fleet_row *row)
{
	bool is_named = top->n_names == 0;
	for (int i = 0; i < top->n_names && !is_named; i++)
		is_named = strcmp(top->uids[i], row->uid) == 0;
	return is_named && cli_row_is_listed(top->cli, &fleet_usage_kind, row);
}

static void print_line(const struct cli_top *top, const struct fleet_row *row)
{
	if (cli_is_structured(top->cli)) {
		struct cJSON *object = cli_row_json(&fleet_usage_kind, row);
		if (top->cli->opt.output == CLI_YAML) {
			puts("---");
			cli_print_yaml(object);
		} else {
			cli_print_json_line(object);
		}
		cJSON_Delete(object);
	} else {
		struct cli_table *table = cli_rows_table(top->cli, &fleet_usage_kind);
		cli_rows_add(table, top->cli, &fleet_usage_kind, row);
		cli_table_print(table, false);
	}
}

static void print(struct cli_top *top)
{
	const struct fleet *fleet = engine_fleet(top->cli->engine);
	size_t n = 0, count = fleet_count(fleet);
	const void **rows = x_calloc(count + 1, sizeof *rows);
	bool is_lines =
		top->cli->opt.watch && (top->is_first_done || cli_is_structured(top->cli));
	for (size_t i = 0; i < count; i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		if (is_wanted(top, row) && note_told(top, row))
			rows[n++] = row;
	}
	if (top->cli->opt.sort_by)
		cli_row_order_sort(top->cli->row_order, &fleet_usage_kind, rows, n);
	else
		qsort(rows, n, sizeof *rows, compare);
	if (is_lines)
		for (size_t i = 0; i < n; i++)
			print_line(top, rows[i]);
	else if (n || cli_is_structured(top->cli))
		cli_rows_print(top->cli, &fleet_usage_kind, rows, n);
	else
		cli_note(top->cli, "No sandboxes found.");
	fflush(stdout);
	free(rows);
	if (ferror(stdout)) /* main() says why */
		finish(top, NULL);
}

/* ---- waiting */

/* False: *err says which is not there. */
static bool find_names(struct cli_top *top, struct err *err)
{
	const struct fleet *fleet = engine_fleet(top->cli->engine);
	for (int i = 0; i < top->n_names; i++) {
		const struct fleet_row *row = fleet_find_name(
			fleet, engine_namespace(top->cli->engine), top->names[i], err);
		if (!row)
			return false;
		snprintf(top->own_uids[i], RESOURCE_UID_BYTES, "%s", row->uid);
		top->uids[i] = top->own_uids[i];
	}
	return true;
}

static void look(struct cli_top *top)
{
	struct engine *engine = top->cli->engine;
	if (top->n_names)
		engine_usage_look_only(engine, top->uids, (size_t)top->n_names);
	else
		engine_usage_look(engine, NULL, 0);
}

/* Pods are read, or nobody has one: of names alone they are looked for when their Sandboxes are known. */
static bool are_pods_known(const struct cli_top *top)
{
	const struct fleet *fleet = engine_fleet(top->cli->engine);
	bool has_any = top->n_names == 0;
	for (int i = 0; i < top->n_names; i++) {
		const struct fleet_row *row = fleet_find(fleet, top->uids[i]);
		has_any = has_any || (row && *row->sandbox);
	}
	return !has_any || is_read(fleet, FLEET_PODS);
}

/* Rows and their pods are there; false: not yet, or the verb has ended. */
static bool is_fleet_read(struct cli_top *top)
{
	const struct fleet *fleet = engine_fleet(top->cli->engine);
	const struct err *failure = engine_source_failure(top->cli->engine);
	struct err err = { 0 };
	if (!fleet_is_synced(fleet)) {
		if (failure)
			finish(top, failure);
		return false;
	}
	if (!find_names(top, &err)) {
		finish(top, &err);
		return false;
	}
	return are_pods_known(top);
}

static void on_change(void *arg)
{
	struct cli_top *top = arg;
	struct engine *engine = top->cli->engine;
	if (!top->is_found) {
		if (!is_fleet_read(top))
			return;
		top->is_found = true;
		look(top);
	}
	struct engine_usage usage = engine_usage_of(engine);
	if (usage.err && !top->is_first_done) {
		finish(top, usage.err);
		return;
	}
	if (!usage.is_known || top->printed == engine_usage_revision(engine) + 1)
		return;
	top->printed = engine_usage_revision(engine) + 1; /* 0: nothing */
	print(top);
	top->is_first_done = true;
	net_loop_timer_disarm(top->deadline);
	if (!top->cli->opt.watch)
		finish(top, NULL);
}

static void on_again(void *arg)
{
	struct cli_top *top = arg;
	if (top->is_found)
		look(top);
}

static void on_deadline(void *arg)
{
	struct cli_top *top = arg;
	struct err err = { 0 };
	if (engine_is_logging_in(top->cli->engine)) {
		net_loop_timer_arm(top->deadline, TOP_TIMEOUT_MS);
		return;
	}
	err_set(&err, ERR_OP_TIMEOUT, "no %s from %s within %d s",
		top->is_found ? "measurements (metrics.k8s.io)" : "complete list",
		engine_server(top->cli->engine), TOP_TIMEOUT_MS / 1000);
	finish(top, &err);
}

/* ---- the verb */

static void forget_told(struct cli_top *top)
{
	struct told *told, *next;
	HASH_ITER(hh, top->told, told, next) {
		HASH_DEL(top->told, told);
		free(told);
	}
}

static int run_top(struct cli *cli, int argc, char **argv)
{
	enum { LOOK_AGAIN_MS = 5000 };
	struct err err = { 0 };
	struct cli_top top = { .cli = cli, .names = argv, .n_names = argc };
	if (argc > USAGE_NAMES_MAX)
		return cli_fail_usage(cli, "at most %d names", USAGE_NAMES_MAX);
	if (!cli_rows_open(cli, &fleet_usage_kind, &err) || !cli_open(cli, argc > 0, &err))
		return cli_fail(cli, &err);
	for (int i = 0; i < argc; i++)
		fleet_single_watch(
			engine_fleet(cli->engine), engine_namespace(cli->engine), argv[i]);
	top.uids = x_calloc((size_t)argc + 1, sizeof *top.uids);
	top.own_uids = x_calloc((size_t)argc + 1, sizeof *top.own_uids);
	top.deadline = net_loop_timer_new(cli->loop, on_deadline, &top);
	net_loop_timer_arm(top.deadline, TOP_TIMEOUT_MS);
	top.again = net_loop_timer_new(cli->loop, on_again, &top);
	net_loop_timer_arm_every(top.again, LOOK_AGAIN_MS);
	engine_on_change(cli->engine, on_change, &top);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_free(top.again);
	net_loop_timer_free(top.deadline);
	forget_told(&top);
	free(top.own_uids);
	free(top.uids);
	return cli->status;
}

const struct cli_verb cli_verb_top = { "top", "[NAME…]",
	"CPU, memory and workspace size of sandboxes, the most first",
	CLI_OPT_LIST | CLI_OPT_ROWS, 0, -1, .run = run_top,
	.examples = "  sandmux top\n"
		    "  sandmux top api-1 api-2 -w\n"
		    "  sandmux top -A -o json | jq '.items[] | [.name, .cpuMillis]'\n",
	.only_cluster = "top needs a cluster, not --rest/--grpc" };
