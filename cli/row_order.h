// SPDX-License-Identifier: Apache-2.0
/* --sort-by and --field-selector: which rows are printed, and in which order. Fields are those of -o json, by their name or
 * as a path (.metadata.name). Errors: ERR_ARG_INVALID with what there is. */
#pragma once

#include "cli/cli.h"

struct cli_row_order;

/* What the options say about rows of that kind, before anything is asked of a server. NULL with *err. */
struct cli_row_order *cli_row_order_new(
	const struct cli_options *opt, const struct resource_kind *kind, struct err *err);
void cli_row_order_free(struct cli_row_order *order); /* NULL is fine */
bool cli_row_order_selects(
	const struct cli_row_order *order, const void *row); /* order NULL: every row */
/* By what was asked for, else by what the kind says, and among equals by namespace and name. order NULL: nothing was
 * asked for. */
void cli_row_order_sort(const struct cli_row_order *order, const struct resource_kind *kind,
	const void **rows, size_t n);
