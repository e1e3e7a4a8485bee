// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_row_is_listed(const struct cli *cli, const struct resource_kind *kind, const void *row)
{
	/* those set aside (unclaimed warm sandboxes are the pool's business): only in the wide form */
	return cli->opt.output == CLI_WIDE || !kind->is_aside || !kind->is_aside(row);
}

const char *cli_row_name(const struct resource_kind *kind, const void *row)
{
	return kind->columns[kind->name_column].value(row).text;
}

static const char *namespace_of(const struct resource_kind *kind, const void *row)
{
	return kind->namespace_column == RESOURCE_NONE
		       ? ""
		       : kind->columns[kind->namespace_column].value(row).text;
}

static const struct resource_kind *sorting; /* qsort has no argument for it */

static int compare_rows(const void *left, const void *right)
{
	const void *const *a = left, *const *b = right;
	int order = strcmp(namespace_of(sorting, *a), namespace_of(sorting, *b));
	return order ? order : strcmp(cli_row_name(sorting, *a), cli_row_name(sorting, *b));
}

struct collecting {
	const struct cli *cli;
	const struct resource_kind *kind;
	const void **rows;
	size_t n, capacity;
};

static void collect(void *arg, const char *uid, const void *row)
{
	struct collecting *all = arg;
	(void)uid;
	if (!cli_row_is_listed(all->cli, all->kind, row))
		return;
	array_grow(&all->rows, &all->capacity, all->n + 1, sizeof *all->rows);
	all->rows[all->n++] = row;
}

const void **cli_rows_sorted(const struct cli *cli, const struct resource_kind *kind,
	const struct resource_source *source, size_t *n)
{
	struct collecting all = { .cli = cli, .kind = kind };
	source->ops->each(source->self, collect, &all);
	sorting = kind;
	if (all.n)
		qsort(all.rows, all.n, sizeof *all.rows, compare_rows);
	*n = all.n;
	return all.rows;
}

void cli_table_age(struct cli_table *table, int64_t since_ms)
{
	char age[CLOCK_AGE_BYTES];
	int64_t now = clock_wall_ms();
	cli_table_cell(table,
		since_ms ? clock_format_age(now > since_ms ? now - since_ms : 0, age) : "");
}

/* The columns of the form that was asked for. */
static size_t columns_of(const struct cli *cli, const struct resource_kind *kind,
	int columns[RESOURCE_COLUMNS_MAX])
{
	int i;
	size_t n = 0;
	RESOURCE_EACH(i, cli->opt.output == CLI_WIDE ? kind->wide : kind->table)
		if (i != kind->namespace_column || cli->opt.engine.all_namespaces)
			columns[n++] = i;
	return n;
}

void cli_rows_add(struct cli_table *table, const struct cli *cli,
	const struct resource_kind *kind, const void *row)
{
	int columns[RESOURCE_COLUMNS_MAX];
	char cell[RESOURCE_CELL_BYTES];
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table,
			resource_text(&kind->columns[columns[i]], row, clock_wall_ms(), cell));
}

/* What stays true of it, and its end for a state. */
static const char *gone_text(
	const struct resource_column *column, const char *name, const cJSON *last)
{
	static const char *const states[] = { "state", "status" };
	static const char *const kept[] = { "namespace", "sandbox", "pool" };
	if (!column->name)
		return "";
	if (strcmp(column->name, "name") == 0)
		return name;
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (strcmp(states[i], column->name) == 0)
			return "Deleted";
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		if (strcmp(kept[i], column->name) == 0) {
			const char *text = json_str(last, column->field, NULL);
			return text ? text : "";
		}
	return "";
}

void cli_rows_add_gone(struct cli_table *table, const struct cli *cli,
	const struct resource_kind *kind, const char *name, const cJSON *last)
{
	int columns[RESOURCE_COLUMNS_MAX];
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table, gone_text(&kind->columns[columns[i]], name, last));
}

struct cli_table *cli_rows_table(const struct cli *cli, const struct resource_kind *kind)
{
	int columns[RESOURCE_COLUMNS_MAX];
	const char *titles[RESOURCE_COLUMNS_MAX];
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++)
		titles[i] = kind->columns[columns[i]].title;
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

cJSON *cli_row_json(const struct resource_kind *kind, const void *row)
{
	cJSON *object = cJSON_CreateObject();
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].field)
			add_field(object, &kind->columns[i], row);
	return object;
}

cJSON *cli_row_shown(const struct cli *cli, const struct resource_kind *kind, const void *row)
{
	int i;
	if (cli_is_structured(cli))
		return cli_row_json(kind, row);
	cJSON *object = cJSON_CreateObject();
	RESOURCE_EACH(i, cli->opt.output == CLI_WIDE ? kind->wide : kind->table)
		if (kind->columns[i].field)
			add_field(object, &kind->columns[i], row);
	return object;
}

static void print_names(const struct resource_kind *kind, const void *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool is_claim = kind == &fleet_sandbox_kind &&
				((const struct fleet_row *)rows[i])->claim[0];
		printf("%s/", is_claim ? "sandboxclaim" : kind->singular);
		cli_put_safe(cli_row_name(kind, rows[i]));
		putchar('\n');
	}
	fflush(stdout);
}

void cli_rows_print(const struct cli *cli, const struct resource_kind *kind,
	const void *const *rows, size_t n)
{
	if (cli->opt.output == CLI_NAME) {
		print_names(kind, rows, n);
		return;
	}
	if (!cli_is_structured(cli)) {
		struct cli_table *table = cli_rows_table(cli, kind);
		for (size_t i = 0; i < n; i++)
			cli_rows_add(table, cli, kind, rows[i]);
		cli_table_print(table, true);
		return;
	}
	cJSON *list = cJSON_CreateObject();
	cJSON_AddStringToObject(list, "apiVersion", "sandmux/v1");
	cJSON_AddStringToObject(list, "kind", kind->list_kind);
	cJSON *items = cJSON_AddArrayToObject(list, "items");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(items, cli_row_json(kind, rows[i]));
	cli_print_object(cli, list);
	cJSON_Delete(list);
}
