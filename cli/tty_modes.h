// SPDX-License-Identifier: Apache-2.0
/* What a program in a sandbox has switched on in our terminal, read off the bytes on their way there. A program that ends
 * orderly switches it off itself; one that was killed, or whose connection was lost, does not. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct cli_tty_modes {
	/* what is on: bits of the table of tty_modes.c */
	uint32_t on;
	int keyboard_pushes; /* of the kitty protocol */
	/* the parser: one escape sequence */
	int state;
	char text[32];
	size_t n;
};

/* True if something was switched on or off. */
bool cli_tty_modes_feed(struct cli_tty_modes *modes, const char *bytes, size_t n);
/* The bytes that switch off what is on; none if nothing is. */
void cli_tty_modes_undo(const struct cli_tty_modes *modes, struct str *out);
