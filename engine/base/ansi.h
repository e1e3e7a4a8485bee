// SPDX-License-Identifier: Apache-2.0
/* Text that was made for a terminal, without what it wanted of the terminal (ECMA-48): control sequences, strings (OSC, DCS, …) and
 * other escapes go, whether they are whole or not; a carriage return goes. What is left is still foreign text. */
#pragma once

#include "engine/base/str.h"

/* Adds it to out. */
void ansi_strip(struct slice text, struct str *out);
