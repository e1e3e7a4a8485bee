// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_row_name(const struct fleet_row *row)
{
	return row->claim[0] ? row->claim : row->sandbox;
}

bool cli_row_is_listed(const struct cli *cli, const struct fleet_row *row)
{
	/* unclaimed warm sandboxes are the pool's business: only in the wide form */
	return row->state != FLEET_WARM || cli->opt.output == CLI_WIDE;
}

static int compare_rows(const void *left, const void *right)
{
	const struct fleet_row *const *a = left, *const *b = right;
	int order = strcmp((*a)->namespace_, (*b)->namespace_);
	return order ? order : strcmp(cli_row_name(*a), cli_row_name(*b));
}

const struct fleet_row **cli_rows_sorted(const struct cli *cli, size_t *n)
{
	struct fleet *fleet = engine_fleet(cli->engine);
	size_t count = fleet_count(fleet);
	const struct fleet_row **rows = x_calloc(count, sizeof *rows);
	*n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		if (cli_row_is_listed(cli, row))
			rows[(*n)++] = row;
	}
	qsort(rows, *n, sizeof *rows, compare_rows);
	return rows;
}

void cli_table_age(struct cli_table *table, int64_t since_ms)
{
	char age[CLOCK_AGE_BYTES];
	int64_t now = clock_wall_ms();
	cli_table_cell(table,
		since_ms ? clock_format_age(now > since_ms ? now - since_ms : 0, age) : "");
}

void cli_rows_add(struct cli_table *table, const struct cli *cli, const struct fleet_row *row)
{
	char number[16];
	bool wide = cli->opt.output == CLI_WIDE;
	if (cli->opt.engine.all_namespaces)
		cli_table_cell(table, row->namespace_);
	cli_table_cell(table, cli_row_name(row));
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
	cli_table_age(table, row->created_ms);
	cli_table_cell(table, row->why);
}

void cli_rows_add_gone(struct cli_table *table, const struct cli *cli, const char *name,
	const char *namespace_, const char *sandbox, const char *pool)
{
	if (cli->opt.engine.all_namespaces)
		cli_table_cell(table, namespace_);
	cli_table_cell(table, name);
	cli_table_cell(table, "Deleted");
	cli_table_cell(table, sandbox);
	cli_table_cell(table, pool);
	for (int i = cli->opt.output == CLI_WIDE ? 0 : 5; i < 7; i++)
		cli_table_cell(table, "");
}

struct cli_table *cli_rows_table(const struct cli *cli)
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
		cli_put_safe(cli_row_name(rows[i]));
		putchar('\n');
	}
	fflush(stdout);
}

void cli_rows_print(const struct cli *cli, const struct fleet_row *const *rows, size_t n)
{
	if (cli->opt.output == CLI_NAME) {
		print_names(rows, n);
		return;
	}
	if (!cli_is_structured(cli)) {
		struct cli_table *table = cli_rows_table(cli);
		for (size_t i = 0; i < n; i++)
			cli_rows_add(table, cli, rows[i]);
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
