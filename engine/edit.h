// SPDX-License-Identifier: Apache-2.0
/* Changing one object by hand, whoever has the editor: it is read, its text is edited, and what was changed in it is sent. Part of
 * the one door.
 *
 *   start ─▶ TEXT ─▶ an editor ─▶ engine_edit_save() ─▶ DONE, UNCHANGED or FAILED; or TEXT once more, with the reason in it
 *
 * What is sent is a merge patch (RFC 7386) with uid and resourceVersion as preconditions, asked with dryRun=All first: so the
 * server checks it, admission included, before anything is changed. If somebody else has changed the object meanwhile (409), both
 * changes are joined where they do not touch the same field; where they do, nothing is sent, and the text says both.
 * Errors: ERR_ARG_INVALID, ERR_INTERNAL, ERR_KUBE_CONFLICT, ERR_OP_CANCELLED, those of engine/action.h, those of engine/base/yaml.h,
 * those of engine/object.h. */
#pragma once

#include "engine/base/str.h"
#include "engine/object.h"

struct engine_edit;

enum engine_edit_step {
	ENGINE_EDIT_TEXT, /* this text is to be edited; err: why again, NULL: the first time */
	ENGINE_EDIT_UNCHANGED, /* there is nothing to change */
	ENGINE_EDIT_DONE,
	ENGINE_EDIT_FAILED, /* err: why; what was written is in nobody's hands but the caller's */
};
enum { ENGINE_EDIT_BYTES_MAX = 4 << 20 };

/* text, err: borrowed for the call. After the last step the edit is over and only to be freed. It may be freed in any of these
 * calls: nothing of it is touched after them. */
typedef void engine_edit_fn(
	void *arg, enum engine_edit_step step, const char *text, const struct err *err);
/* NULL with *err: it may not be changed (op.read_only, kube.forbidden), or not asked for. */
struct engine_edit *engine_edit_start(struct engine *engine, const struct engine_object_id *id,
	engine_edit_fn *told, void *arg, struct err *err);
/* What the editor has left of the text. Told from a later turn. A text that was given with a reason and comes back as it was: the
 * person has given up, FAILED with that reason; unless that was a conflict and the file was written again: then the person's
 * side is taken. */
void engine_edit_save(struct engine_edit *edit, struct slice text, bool was_written);
void engine_edit_free(struct engine_edit *edit); /* ends it; NULL is fine */
