// SPDX-License-Identifier: Apache-2.0
/* What a character looks like on a terminal that knows ASCII alone: borders as + - |, bars by how full they are, signs by
 * the nearest letter. Pure. */
#pragma once

#include <stdint.h>

/* '?' for what has no likeness. ASCII stays what it is. */
char draw_ascii_of(uint32_t codepoint);
