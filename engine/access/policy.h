// SPDX-License-Identifier: Apache-2.0
/* What would be refused, known before it is tried: what this user may do, by the server's own access reviews, and what
 * the runtime of a sandbox can do. Part of the one door. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct engine;
struct err;

enum engine_action {
	ENGINE_CREATE,
	ENGINE_DELETE,
	ENGINE_SUSPEND, /* and resume */
	ENGINE_EXTEND,
	ENGINE_SHELL,
	ENGINE_FILES,
	ENGINE_MAKE_FOLDER,
	ENGINE_DELETE_FILES,
	ENGINE_ACTION_COUNT,
};

/* False with *err: why not. True also while nothing is known, and where the server answers no reviews: whoever tries
 * is told then. uid: the row, NULL for the direct runtime; a create is about namespace_ instead ("" = all). The first
 * question about a namespace sends its reviews, once the lists are in; engine_access_reviews_revision() grows with each
 * answer, and engine_on_change() tells. A "no" is asked about again after some minutes. */
bool engine_may(struct engine *engine, enum engine_action action, const char *uid,
	const char *namespace_, struct err *err);
/* The server refused that: a "no" from now on, if err says that the right is what was missing. */
void engine_refused(struct engine *engine, enum engine_action action, const char *uid,
	const char *namespace_, const struct err *err);
uint64_t engine_access_reviews_revision(const struct engine *engine);
void engine_access_reviews_forget(struct engine *engine); /* everything is asked again */

/* Which collections may not be read ("not allowed: list pods in namespace x"), and the rules that a Role needs for them;
 * nothing is added where all may. */
struct str;
void engine_forbidden_format(const struct engine *engine, struct str *out, struct str *fix);
