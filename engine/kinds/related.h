// SPDX-License-Identifier: Apache-2.0
/* What an object has to do with others, as questions to the API server: its kind's relations, filled in from the object.
 * Nothing is asked here. */
#pragma once

#include "engine/resource/kind.h"

enum { RELATED_NAME_BYTES = 320, RELATED_MAX = 200 }; /* of one object */

struct kinds_question {
	const struct resource_relation *relation;
	const char *kind;       /* as the API calls it */
	const char *namespace_; /* "" = none is said */
	const char *
		name; /* of one; NULL: a list, of those with `label`, or that mention `mentioned` */
	const char *uid;   /* it must have; NULL: any */
	const char *label; /* "key=value"; NULL: all */
	const char *mentioned;
	bool is_optional;   /* there need be none */
	bool must_be_owned; /* by the object */
};
/* For each; all texts are borrowed for the call. */
void kinds_related_each(const struct resource_kind *kind, const struct cJSON *object,
	void (*fn)(void *arg, const struct kinds_question *question), void *arg);
/* The one who controls it, else the first owner; false: it has none. Borrowed from the object. */
bool kinds_related_owner(const struct cJSON *object, struct kinds_question *owner);
bool kinds_related_is_owned(const struct cJSON *object, const char *owner_uid);
