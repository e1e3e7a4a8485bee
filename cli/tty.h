// SPDX-License-Identifier: Apache-2.0
/* Our own terminal in raw mode, given back on every way out (exit, signals, a crash), with what the bytes written to it have
 * switched on switched off again. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

bool cli_tty_raw(void); /* stdin; false if it is no terminal */
void cli_tty_restore(void);
/* Bytes that are about to be written to the terminal while it is raw. */
void cli_tty_will_write(const char *bytes, size_t n);
bool cli_tty_size(int *cols, int *rows);

/* Finds Enter ~ . in what is typed, as in ssh: the way out when nothing answers. */
struct cli_tty_escape {
	int state; /* 0 nothing, 1 at a line start, 2 after ~ */
	bool has_begun;
};
bool cli_tty_escape_found(struct cli_tty_escape *escape, const char *bytes, size_t n);
