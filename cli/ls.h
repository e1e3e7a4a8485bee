// SPDX-License-Identifier: Apache-2.0
/* Rows of a kind as `ls` lists them, once or as they change: for verbs that are about one kind. */
#pragma once

#include "cli/cli.h"

int cli_ls(struct cli *cli, const struct resource_kind *kind); /* the status */
/* A change of a row on one line, or as one YAML document; row NULL: it went. */
void cli_ls_print_event(const struct cli *cli, const struct resource_kind *kind,
	const char *type, const char *uid, const void *row);
