// SPDX-License-Identifier: Apache-2.0
/* What NAME (a sandbox) or KIND/NAME on a command line leads to, read once: for verbs that print or use it. */
#pragma once

#include "cli/cli.h"

struct cli_tree {
	struct cli *cli;
	struct kinds_tree *tree; /* freed with cli_tree_free() */
	/* Exactly once, unless it could not begin. err NULL: tree is whole. */
	void (*done)(void *arg, const struct err *err);
	void *arg;
};
/* The engine is open; cli, done and arg are set. */
bool cli_tree_start(struct cli_tree *tree, const char *text, struct err *err);
void cli_tree_free(struct cli_tree *tree);
