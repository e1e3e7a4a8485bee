// SPDX-License-Identifier: Apache-2.0
/* The table of the verbs. */
#include "cli/verbs.h"
#include "cli/cli.h"

#include <stddef.h>

#define ROW(name) &cli_verb_##name,
const struct cli_verb *const cli_verbs[] = { CLI_VERBS(ROW) NULL };
