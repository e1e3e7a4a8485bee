// SPDX-License-Identifier: Apache-2.0
/* The file that a person's editor gets (0600, in the 0700 runtime folder), and which editor that is. It stays until it is removed.
 * Part of the one door.
 * Errors: those of engine/base/file.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;
struct engine_draft;

/* name: of the object, for people. */
struct engine_draft *engine_draft_new(const char *name, struct err *err);
void engine_draft_free(struct engine_draft *draft); /* the file stays; NULL is fine */
const char *engine_draft_path(const struct engine_draft *draft);
bool engine_draft_write(struct engine_draft *draft, const char *text, struct err *err);
/* What is in it now, *n bytes, free(). Errors: ERR_LIMIT_RESPONSE, errno. */
char *engine_draft_read(const struct engine_draft *draft, size_t *n, struct err *err);
/* Somebody has written it since engine_draft_write(): also what was there already. */
bool engine_draft_was_written(const struct engine_draft *draft);
bool engine_draft_has_changes(const struct engine_draft *draft); /* its text is another one */
void engine_draft_remove(struct engine_draft *draft);

const char *engine_draft_editor(void); /* VISUAL, EDITOR, vi; may have arguments */
/* What runs the editor on the file, as git does it: for exec. As long-lived as the draft. */
const char *const *engine_draft_argv(struct engine_draft *draft);
