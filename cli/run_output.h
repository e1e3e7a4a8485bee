// SPDX-License-Identifier: Apache-2.0
/* The output of a process on its way to our stdout and stderr, or collected for -o json|yaml. What comes in
 * one turn of the loop is written at once: a daemon's events are of 4 KiB. Writing blocks, which is the back-pressure of a
 * pipeline; a signal ends the wait, and what was left is written later. */
#pragma once

#include "cli/cli.h"

struct cli_run_output {
	struct cli *cli;
	int64_t limit_bytes; /* of both streams together; 0: none */
	bool collects, is_terminal;
	/* ended: nothing more is taken. Told once, from inside run_output_take() or from the loop. */
	void (*on_lost)(void *arg);
	void (*on_flushed)(void *arg); /* nothing waits any more */
	void *arg;

	/* inside */
	int64_t taken_bytes;
	int error; /* errno of a write */
	bool is_over_limit;
	struct str collected[2];
	struct str gathered; /* in this turn, of one stream */
	int gathered_fd;
	struct cli_run_turn *turn; /* at whose end it is written */
	struct net_loop_timer *later;
	struct cli_run_piece *pieces;
};

void cli_run_output_init(struct cli_run_output *output); /* what stands above has been set */
void cli_run_output_deinit(struct cli_run_output *output);
void cli_run_output_take(struct cli_run_output *output, int stream, struct slice bytes);
bool cli_run_output_is_lost(const struct cli_run_output *output);
bool cli_run_output_is_waiting(const struct cli_run_output *output);
/* cli_print_result() of what was collected. */
void cli_run_output_print(
	const struct cli_run_output *output, int exit_code, int64_t duration_ms);
/* Why output was lost, and the status for it: cli_closed_status() in silence where nobody reads any more. */
int cli_run_output_fail(const struct cli_run_output *output);
