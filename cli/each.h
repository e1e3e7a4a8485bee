// SPDX-License-Identifier: Apache-2.0
/* Verbs that do one thing to each of several sandboxes, one after the other, and say of each what became of it: done, nothing
 * to do, or why not. The first failure decides the status, the rest goes on. */
#pragma once

#include "cli/cli.h"

enum cli_outcome {
	CLI_OUTCOME_NONE,
	CLI_DELETED,
	CLI_BEING_DELETED,
	CLI_SUSPENDED,
	CLI_RESUMED,
	CLI_EXTENDED,
	CLI_CHANGED,
	CLI_OUTCOME_COUNT
};

struct cli_each {
	struct cli *cli;
	char **names;
	char **uids; /* of the names, where they are known already; NULL: looked up */
	int n, at;
	enum cli_outcome outcome;
	/* True: nothing to do, *why says so */
	bool (*is_done)(const struct fleet_row *row, const char **why);
	/* Asked before start; false with *err: it is not to be done. NULL: always. */
	bool (*may)(struct cli_each *each, const struct fleet_row *row, struct err *err);
	struct fleet_op *(*start)(struct cli_each *each, const char *uid, struct err *err);
	int status;
	const void *arg; /* the verb's own */

	/* of the one at work */
	bool is_sandbox;
	char *name; /* the claim's or the Sandbox's */
	char uid[FLEET_UID_BYTES];
	bool is_waiting; /* until it is gone */
	int64_t began_ms;
	struct net_loop_timer *deadline, *pause;
};
/* One line of what became of one. */
struct cli_outcome_line {
	const char *label, *name; /* as it was given; the object's */
	const char *words;
	bool is_sandbox, is_changed;
	int64_t expires_ms; /* 0: not said */
};
void cli_print_outcome(const struct cli *cli, const struct cli_outcome_line *line);
/* what: its outcome, start, is_done, may, arg, and uids where they are known. Opens the engine unless it is open. */
int cli_each_run(struct cli *cli, int argc, char **argv, struct cli_each what);
void cli_each_done(
	void *arg, const struct err *err); /* a fleet_done_fn, for what start starts */
