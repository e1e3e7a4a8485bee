// SPDX-License-Identifier: Apache-2.0
#include "cli/rows.h"

#include "cli/expression.h"
#include "cli/row_order.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_row_is_listed(const struct cli *cli, const struct resource_kind *kind, const void *row)
{
	/* those set aside (unclaimed warm sandboxes are the pool's business): only in the wide form */
	if (cli->opt.output != CLI_WIDE && kind->is_aside && kind->is_aside(row))
		return false;
	return cli_row_order_selects(cli->row_order, row);
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
	cli_row_order_sort(cli->row_order, kind, all.rows, all.n);
	*n = all.n;
	return all.rows;
}

bool cli_rows_open(struct cli *cli, const struct resource_kind *kind, struct err *err)
{
	if (cli->opt.show_labels && kind->labels == NULL)
		return err_set(err, ERR_ARG_INVALID, "--show-labels: %s have none", kind->name);
	cli_row_order_free(cli->row_order);
	cli->row_order = cli_row_order_new(&cli->opt, kind, err);
	return cli->row_order != NULL;
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
	if (cli->opt.output == CLI_COLUMNS) {
		cJSON *object = cli_row_json(kind, row);
		cli_table_add_columns(table, cli->opt.expression, object);
		cJSON_Delete(object);
		return;
	}
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++) {
		const struct resource_column *column = &kind->columns[columns[i]];
		cli_table_toned(table, resource_tone(column, row),
			resource_text(column, row, clock_wall_ms(), cell));
	}
	if (cli->opt.show_labels)
		cli_table_cell(table, kind->labels(row)[0] ? kind->labels(row) : "<none>");
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
	if (cli->opt.output == CLI_COLUMNS) {
		cli_table_add_columns(table, cli->opt.expression, last);
		return;
	}
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++)
		cli_table_cell(table, gone_text(&kind->columns[columns[i]], name, last));
	if (cli->opt.show_labels)
		cli_table_cell(table, "");
}

struct cli_table *cli_rows_table(const struct cli *cli, const struct resource_kind *kind)
{
	int columns[RESOURCE_COLUMNS_MAX];
	const char *titles[RESOURCE_COLUMNS_MAX + 1];
	if (cli->opt.output == CLI_COLUMNS)
		return cli_table_new(cli_expression_columns(cli->opt.expression),
			cli_expression_titles(cli->opt.expression));
	size_t n = columns_of(cli, kind, columns);
	for (size_t i = 0; i < n; i++)
		titles[i] = kind->columns[columns[i]].title;
	if (cli->opt.show_labels)
		titles[n++] = "LABELS";
	struct cli_table *table = cli_table_new(n, titles);
	cli_table_color(table, cli_has_color(cli));
	return table;
}

cJSON *cli_row_shown(const struct cli *cli, const struct resource_kind *kind, const void *row)
{
	int i;
	if (cli_is_structured(cli))
		return cli_row_json(kind, row); /* all of it is for the expression */
	cJSON *object = cJSON_CreateObject();
	RESOURCE_EACH(i, cli->opt.output == CLI_WIDE ? kind->wide : kind->table)
		if (kind->columns[i].field)
			cli_row_add_field(object, &kind->columns[i], row);
	return object;
}

static void print_names(const struct resource_kind *kind, const void *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool is_claim = (kind == &fleet_sandbox_kind || kind == &fleet_usage_kind) &&
				((const struct fleet_row *)rows[i])->claim[0];
		printf("%s/", is_claim ? "sandboxclaim" : kind->singular);
		cli_put_safe(cli_row_name(kind, rows[i]));
		putchar('\n');
	}
	fflush(stdout);
}

cJSON *cli_rows_list(const struct resource_kind *kind)
{
	cJSON *list = cJSON_CreateObject();
	cJSON_AddStringToObject(list, "apiVersion", "sandmux/v1");
	cJSON_AddStringToObject(list, "kind", kind->list_kind);
	cJSON_AddArrayToObject(list, "items");
	return list;
}

void cli_rows_print(const struct cli *cli, const struct resource_kind *kind,
	const void *const *rows, size_t n)
{
	if (cli->opt.output == CLI_NAME) {
		print_names(kind, rows, n);
		return;
	}
	if (cli_is_table(cli)) {
		struct cli_table *table = cli_rows_table(cli, kind);
		for (size_t i = 0; i < n; i++)
			cli_rows_add(table, cli, kind, rows[i]);
		cli_table_print(table, !cli->opt.no_headers);
		return;
	}
	cJSON *list = cli_rows_list(kind), *items = cJSON_GetObjectItem(list, "items");
	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(items, cli_row_json(kind, rows[i]));
	cli_print_object(cli, list);
	cJSON_Delete(list);
}
