// SPDX-License-Identifier: Apache-2.0
/* The one table of keys: each row binds a key to a command line. Help, hints, the palette and docs/keys.md are
 * made from it; a test checks that. */
#pragma once

#include "tui/views/view.h"

struct key_row {
	enum key_scope scope;
	const char *key;     /* as key_parse() reads it */
	const char *command; /* what would be typed after ':' */
	const char *help;    /* what it does, for people */
	const char *hint;    /* one word for the bottom line; NULL: not shown there */
};

extern const struct key_row key_rows[];
extern const size_t n_key_rows;
const char *key_scope_title(enum key_scope scope);
/* The command bound in that scope, or NULL. */
const char *key_lookup(enum key_scope scope, const struct key *key);
/* The first key bound to a command in that scope (or SCOPE_GLOBAL), or NULL. */
const char *key_of_command(enum key_scope scope, const char *command);
extern const char key_prefix_name[]; /* "ctrl-]" */
bool key_is_prefix(const struct key *key);
/* The whole table as Markdown: docs/keys.md. */
void keys_markdown(struct str *out);
