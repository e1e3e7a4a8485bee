// SPDX-License-Identifier: Apache-2.0
/* How rows of a kind are printed: as a table, as names, as JSON or YAML. Which columns there are, is the kind's business. */
#pragma once

#include "cli/cli.h"

/* Before anything is asked of a server: what the options say about rows of that kind (order, fields). */
bool cli_rows_open(struct cli *cli, const struct resource_kind *kind, struct err *err);
bool cli_row_is_listed(
	const struct cli *cli, const struct resource_kind *kind, const void *row);
/* Those that are listed, in the order that was asked for, else by namespace and name. The array is the caller's to free, the rows live for this turn. */
const void **cli_rows_sorted(const struct cli *cli, const struct resource_kind *kind,
	const struct resource_source *source, size_t *n);
void cli_rows_print(const struct cli *cli, const struct resource_kind *kind,
	const void *const *rows, size_t n);
/* A list object with empty "items"; the caller's to delete. */
struct cJSON *cli_rows_list(const struct resource_kind *kind);
/* get and describe of these names (or KIND/NAME); the exit status. */
int cli_get_objects(struct cli *cli, const struct resource_kind *kind, char **names, int n,
	bool is_describe);
/* A table row by row, for what comes later. */
struct cli_table *cli_rows_table(const struct cli *cli, const struct resource_kind *kind);
void cli_rows_add(struct cli_table *table, const struct cli *cli,
	const struct resource_kind *kind, const void *row);
/* One that is no more: what it is called, and as it was printed last. */
void cli_rows_add_gone(struct cli_table *table, const struct cli *cli,
	const struct resource_kind *kind, const char *name, const struct cJSON *last);
/* Everything that the form shows of a row but its age, as JSON. */
struct cJSON *cli_row_shown(
	const struct cli *cli, const struct resource_kind *kind, const void *row);
/* A field of -o json: null where nobody knows. */
void cli_row_add_field(
	struct cJSON *object, const struct resource_column *column, const void *row);
const char *cli_row_name(const struct resource_kind *kind, const void *row); /* borrowed */
/* How long ago, in short; empty for 0. Wall clock ms. */
void cli_table_age(struct cli_table *table, int64_t since_ms);
