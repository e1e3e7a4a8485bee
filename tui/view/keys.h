// SPDX-License-Identifier: Apache-2.0
/* The one table of keys: each row binds a key to a command line. Help, hints, the palette and docs/keys.md are
 * made from it; a test checks that. */
#pragma once

#include "tui/view/view.h"

struct err;

struct view_key_row {
	enum view_key_scope scope;
	const char *key;     /* as key_parse() reads it */
	const char *command; /* what would be typed after ':' */
	const char *help;    /* what it does, for people */
	const char *hint;    /* one word for the bottom line; NULL: not shown there */
};

/* The built-in table. */
extern const struct view_key_row view_key_rows[];
extern const size_t views_n_key_rows;
/* What is in force: built-in rows, and behind them a person's own (keymap.h) in the place of those on the same keys. */
const struct view_key_row *view_keys(size_t *n);
bool view_key_is_own(const struct view_key_row *row); /* of view_keys() */
/* For keymap.c: other rows are in force. Hands over the array; gives back the one before, NULL if that was the table. */
void view_keys_swap(struct view_key_row *rows_take, size_t n, size_t n_builtin,
	struct view_key_row **old, size_t *n_old, size_t *n_old_builtin);
const char *view_key_scope_name(enum view_key_scope scope); /* one word, in keymap.yaml */
const char *view_key_scope_title(enum view_key_scope scope);
/* The command bound in that scope, or NULL. */
const char *view_key_lookup(enum view_key_scope scope, const struct draw_key *key);
/* The first key bound to a command in that scope (or SCOPE_GLOBAL), or NULL. */
const char *view_key_of_command(enum view_key_scope scope, const char *command);
/* The keys that a live pane keeps for sandmux: "ctrl-] F12", or what the setting prefix-key says. */
enum { KEY_PREFIXES_MAX = 3, KEY_PREFIXES_BYTES = 64 };
/* Names of up to three keys with spaces between them; false: one is none, or text needs it. */
bool view_keys_set_prefix(const char *names, struct err *err);
const char *view_key_prefix_name(void);  /* the first, as hints name it */
const char *view_key_prefix_names(void); /* "ctrl-] or F12" */
bool view_key_is_prefix(const struct draw_key *key);
/* What stands above the tables of docs/keys.md. */
void view_keys_markdown_head(struct str *out);
