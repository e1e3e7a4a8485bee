// SPDX-License-Identifier: Apache-2.0
/* What a create, an update and a delete mean for every kind: names, UIDs, generations, status as a
 * subresource, finalizers, validation. The HTTP layer and the controllers both write through here. */
#pragma once

#include "local/server/store/store.h"

enum store_objects_validation {
	OBJECTS_WARN,   /* unknown fields are pruned and reported in warnings (the default) */
	OBJECTS_STRICT, /* unknown fields are an error */
	OBJECTS_IGNORE, /* unknown fields are pruned silently */
};

struct store_objects_how {
	enum store_objects_validation validation;
	bool dry_run;    /* everything but the write */
	bool needs_rv;   /* PUT of a custom resource must say which version it replaces */
	cJSON *warnings; /* array that warnings are added to, or NULL */
};

enum store_objects_part { OBJECTS_MAIN, OBJECTS_STATUS };

/* Each takes the body, returns NULL or a Status, and on success gives *out (a reference of the caller's;
 * out may be NULL). how NULL: the controllers' own writes (no warnings, no strictness). */
cJSON *store_objects_create(struct store *s, const struct store_resource *r, const char *ns,
	cJSON *body_take, const struct store_objects_how *how, struct store_object **out);
cJSON *store_objects_update(struct store *s, const struct store_resource *r,
	struct store_object *old, cJSON *body_take, enum store_objects_part part,
	const struct store_objects_how *how, struct store_object **out);

enum store_objects_policy { OBJECTS_BACKGROUND, OBJECTS_FOREGROUND, OBJECTS_ORPHAN };
struct store_objects_delete {
	enum store_objects_policy policy;
	const char *uid;              /* precondition or NULL */
	const char *resource_version; /* precondition or NULL */
	int64_t grace_seconds;        /* -1: the kind's own */
	bool dry_run;
};
/* *kept: the object, marked, when something still holds it; NULL when it is gone. */
cJSON *store_objects_delete(struct store *s, const struct store_resource *r,
	struct store_object *o, const struct store_objects_delete *how,
	struct store_object **kept);

bool store_objects_has_finalizer(const cJSON *json, const char *name);
/* Adds or removes a finalizer in a tree that is not stored yet. */
void store_objects_set_finalizer(cJSON *json, const char *name, bool present);
/* DNS-1123 subdomain, at most 253 bytes. */
bool store_objects_is_terminating(const struct store_object *o);

#define OBJECTS_FINALIZER_FOREGROUND "foregroundDeletion"
#define OBJECTS_FINALIZER_ORPHAN "orphan"
