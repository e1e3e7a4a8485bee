// SPDX-License-Identifier: Apache-2.0
/* How rows of the fleet are printed: as a table, as names, as JSON or YAML. Which columns there are, is
 * engine/fleet/kind.c. */
#pragma once

#include "cli/cli.h"

bool cli_row_is_listed(const struct cli *cli, const struct fleet_row *row);
/* Those that are listed, by namespace and name. The array is the caller's to free, the rows live for this turn. */
const struct fleet_row **cli_rows_sorted(const struct cli *cli, size_t *n);
void cli_rows_print(const struct cli *cli, const struct fleet_row *const *rows, size_t n);
/* A table row by row, for what comes later. */
struct cli_table *cli_rows_table(const struct cli *cli);
void cli_rows_add(struct cli_table *table, const struct cli *cli, const struct fleet_row *row);
/* One that is no more, as far as it is known. */
struct cli_gone {
	const char *namespace_, *name, *sandbox, *pool;
};
void cli_rows_add_gone(
	struct cli_table *table, const struct cli *cli, const struct cli_gone *gone);
/* How long ago, in short; empty for 0. Wall clock ms. */
void cli_table_age(struct cli_table *table, int64_t since_ms);
