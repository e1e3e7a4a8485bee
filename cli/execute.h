// SPDX-License-Identifier: Apache-2.0
/* run in a sandbox whose runtime has no processes (runtime_can): the command's whole output at its end; no input, no
 * terminal, no signals. */
#pragma once

#include "cli/cli.h"

/* Ends the loop with the remote status, or with 125 to 127 and the error printed. timeout_ms: 0 = the setting's. */
void cli_execute(
	struct cli *cli, struct runtime *runtime, const char *const *argv, int64_t timeout_ms);
/* {"stdout":…,"stderr":…,"exitCode":…,"duration":…}: seconds; exit_code -1 is null: it has none. */
void cli_print_result(
	const struct cli *cli, const struct runtime_result *result, int64_t duration_ms);
int cli_execute_status(const struct err *err); /* of a command that did not run */
