// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_row_is_listed(const struct cli *cli, const struct fleet_row *row)
{
	/* unclaimed warm sandboxes are the pool's business: only in the wide form */
	return row->state != FLEET_WARM || cli->opt.output == CLI_WIDE;
}

static int compare_rows(const void *left, const void *right)
{
	const struct fleet_row *const *a = left, *const *b = right;
	int order = strcmp((*a)->namespace_, (*b)->namespace_);
	return order ? order : strcmp(fleet_row_name(*a), fleet_row_name(*b));
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

/* The columns of the form that was asked for. */
static size_t columns_of(const struct cli *cli, int columns[RESOURCE_COLUMNS_MAX])
{
	const struct resource_kind *kind = &fleet_sandbox_kind;
	int i;
	size_t n = 0;
	RESOURCE_EACH(i, cli->opt.output == CLI_WIDE ? kind->wide : kind->table)
		if (i != kind->namespace_column || cli->opt.engine.all_namespaces)
			columns[n++] = i;
	return n;
}

void cli_rows_add(struct cli_table *table, const struct cli *cli, const struct fleet_row *row)
{
	int columns[RESOURCE_COLUMNS_MAX];
	char cell[RESOURCE_CELL_BYTES];
	size_t n = columns_of(cli, columns);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table, resource_text(&fleet_sandbox_kind.columns[columns[i]],
					      row, clock_wall_ms(), cell));
}

/* What is still known of it, and its end for a state. */
static const char *gone_text(const struct cli_gone *gone, const struct resource_column *column)
{
	const struct {
		const char *name, *text;
	} known[] = {
		{ "namespace", gone->namespace_ },
		{ "name", gone->name },
		{ "state", "Deleted" },
		{ "sandbox", gone->sandbox },
		{ "pool", gone->pool },
	};
	for (size_t i = 0; column->name && i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].name, column->name) == 0)
			return known[i].text;
	return "";
}

void cli_rows_add_gone(
	struct cli_table *table, const struct cli *cli, const struct cli_gone *gone)
{
	int columns[RESOURCE_COLUMNS_MAX];
	size_t n = columns_of(cli, columns);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table, gone_text(gone, &fleet_sandbox_kind.columns[columns[i]]));
}

struct cli_table *cli_rows_table(const struct cli *cli)
{
	int columns[RESOURCE_COLUMNS_MAX];
	const char *titles[RESOURCE_COLUMNS_MAX];
	size_t n = columns_of(cli, columns);
	for (size_t i = 0; i < n; i++)
		titles[i] = fleet_sandbox_kind.columns[columns[i]].title;
	return cli_table_new(n, titles);
}

/* A field of -o json: null where nobody knows. */
static void add_field(cJSON *object, const struct resource_column *column, const void *row)
{
	struct resource_value value = column->value(row);
	char text[RESOURCE_CELL_BYTES];
	if (!value.is_known)
		cJSON_AddNullToObject(object, column->field);
	else if (column->format == RESOURCE_BOOL)
		cJSON_AddBoolToObject(object, column->field, value.number != 0);
	else if (column->format == RESOURCE_COUNT)
		cJSON_AddNumberToObject(object, column->field, (double)value.number);
	else
		cli_json_text(object, column->field, resource_text(column, row, 0, text));
}

cJSON *cli_row_json(const struct fleet_row *row)
{
	cJSON *object = cJSON_CreateObject();
	for (int i = 0; i < fleet_sandbox_kind.n_columns; i++)
		if (fleet_sandbox_kind.columns[i].field)
			add_field(object, &fleet_sandbox_kind.columns[i], row);
	return object;
}

static void print_names(const struct fleet_row *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fputs(rows[i]->claim[0] ? "sandboxclaim/" : "sandbox/", stdout);
		cli_put_safe(fleet_row_name(rows[i]));
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
	cJSON_AddStringToObject(list, "kind", fleet_sandbox_kind.list_kind);
	cJSON *items = cJSON_AddArrayToObject(list, "items");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(items, cli_row_json(rows[i]));
	cli_print_object(cli, list);
	cJSON_Delete(list);
}
