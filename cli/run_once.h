// SPDX-License-Identifier: Apache-2.0
/* run --rm and sh --rm: a sandbox of their own, made before and deleted after, also when a signal ends them. One that is
 * killed leaves it to the shutdown time that it has from the beginning (the setting run-rm-lifetime, or --shutdown-after). */
#pragma once

#include "cli/create_wish.h"

struct cli_once {
	struct cli *cli;
	struct cli_create_wish wish;
	struct fleet_op *op; /* the create under way */
	char *name;          /* of the claim; NULL: none yet */
	char uid[FLEET_UID_BYTES];
	cli_runtime_fn *fn;
	void *arg;
	bool is_deleting;
	struct err err; /* of the deletion */
};
/* Before cli_open(). Errors: as cli_create_wish_read(), and ERR_ARG_INVALID: what goes with a sandbox that stays only. */
bool cli_once_read(struct cli *cli, struct cli_once *once, struct err *err);
/* After cli_open(): makes it, calls fn when it is ready, runs the loop to its end; the status. */
int cli_once_run(struct cli_once *once, cli_runtime_fn *fn, void *arg);
void cli_once_end(
	struct cli_once *once); /* deletes it, and says so if it cannot; safe on a zeroed one */
