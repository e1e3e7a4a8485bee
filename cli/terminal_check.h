// SPDX-License-Identifier: Apache-2.0
/* What the terminal of stdin and stdout can do: its environment's promises, and, where it is one, its own answers
 * (DECRQM and DA1 of VT220 and xterm, and where the cursor is after some text). Takes half a second at most. */
#pragma once

#include "engine/engine.h"

void cli_terminal_check(
	void (*say)(void *arg, const struct engine_finding *finding), void *arg);
