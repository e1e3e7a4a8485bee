// SPDX-License-Identifier: Apache-2.0
/* run in a sandbox whose runtime has no processes (runtime_can): the command's whole output at its end; no input, no
 * terminal, no signals. */
#pragma once

#include "cli/cli.h"

/* Ends the loop with the remote status, or with 125 to 127 and the error printed. */
void cli_execute(struct cli *cli, struct runtime *runtime, const char *const *argv);
int cli_execute_status(const struct err *err); /* of a command that did not run */
