// SPDX-License-Identifier: Apache-2.0
/* A person's own keys: keymap.yaml of the configuration folder, read before the dashboard opens.
 *
 *   list:                 # where: the names of view_key_scope_name()
 *     x: delete           # a key, as the table writes them, and a command line
 *     ctrl-d: none        # nothing any more
 *   everywhere:
 *     F2: theme light
 *
 * Each mistake is refused with its line and key: an unknown place, an unknown key, one that is there twice, a command that
 * no view has. Errors: ERR_CONFIG_FILE, those of engine/base/file.h. */
#pragma once

#include "tui/view/keys.h"

/* What the command does that a line begins with, in one line; NULL: no view has it. Borrowed. */
typedef const char *view_keymap_help_fn(const char *line);

/* On failure the keys stay as they were. */
bool view_keymap_parse(struct slice yaml, view_keymap_help_fn *help_of, struct err *err);
/* A file that is not there is fine: then the keys are the built-in ones. The message names the file. */
bool view_keymap_read(const char *path, view_keymap_help_fn *help_of, struct err *err);
/* The key table as it is in force, as Markdown, with what of keymap.yaml is out of reach: `sandmux help keys`, and of the
 * built-in table docs/keys.md. */
void view_keymap_markdown(struct str *out);
/* The built-in keys alone again. */
void view_keymap_reset(void);
/* Why that key of the person's does not do what they may expect everywhere; false: it does. */
bool view_keymap_conflict(const struct view_key_row *row, struct str *out);
