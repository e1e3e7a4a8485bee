// SPDX-License-Identifier: Apache-2.0
/* What would be refused, known before it is tried: by read-only mode, by the runtime, because it is out of sight, for want of
 * a right; in that order. And which collections may not be read. Part of the one door.
 * Errors: ERR_KUBE_FORBIDDEN, ERR_OP_UNSUPPORTED, those of engine/access/access.h, those of engine/access/policy.h. */
#pragma once

#include "engine/access/policy.h"

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* False with *err: why not (ERR_OP_READ_ONLY, ERR_OP_UNSUPPORTED, ERR_KUBE_FORBIDDEN, ERR_PORTFWD_DENIED; err->denied has the
 * right that is missing). True also while nothing is known, and where the server answers no reviews: whoever tries is told
 * then. uid: the row, NULL for the direct runtime; a create is about namespace_ instead ("" = all). The first question about
 * a namespace sends its reviews, once the lists are in; engine_access_revision() grows with each answer, and
 * engine_on_change() tells. A "no" is asked about again after some minutes. */
bool engine_may(struct engine *engine, enum access_action action, const char *uid,
	const char *namespace_, struct err *err);
/* The same of any resource: see access_may(). */
bool engine_may_verb(struct engine *engine, const struct access_attributes *about,
	const char *namespace_, struct err *err);
/* The server refused something: a "no" from now on, if err says which right is missing. */
void engine_refused(struct engine *engine, const struct err *err);
uint64_t engine_access_revision(const struct engine *engine);
void engine_access_forget(struct engine *engine); /* everything is asked again */

/* Which collections may not be read ("not allowed: list pods in namespace x"), and the rules that a Role needs for them;
 * nothing is added where all may. */
void engine_forbidden_format(const struct engine *engine, struct str *out, struct str *fix);
