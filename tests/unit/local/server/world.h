// SPDX-License-Identifier: Apache-2.0
/* The controllers over a store in memory. Nothing runs by itself: a test calls the reconcile functions, plays the
 * node (the status of pods, their end), and looks at the objects. JSON is written with ' for ". */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/json.h"
#include "engine/net/loop.h"
#include "local/server/manager/internal.h"
#include "local/server/store/objects.h"

#include <stdio.h>
#include <string.h>

struct world {
	struct server server;
	struct controller *c;
};

int world_set_up(void **state);
int world_tear_down(void **state);

cJSON *world_json(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Created as a client would, in the namespace "default" unless the kind has none. */
struct store_object *world_make(struct world *w, enum store_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Stored as it is, without checks: times, UIDs and marks can be chosen. */
struct store_object *world_put(struct world *w, enum store_kind kind, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
struct store_object *world_get(struct world *w, enum store_kind kind, const char *name);
/* Merged into the object; OBJECTS_STATUS: into its status. */
struct store_object *world_change(struct world *w, enum store_kind kind, const char *name,
	enum store_objects_part part, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void world_remove(struct world *w, enum store_kind kind, const char *name);
void world_delete(struct world *w, enum store_kind kind, const char *name,
	enum store_objects_policy policy);

/* reconcile_<kind>() of the object of that name. */
int64_t world_pass(struct world *w, enum store_kind kind, const char *name);
/* What the garbage collector has to do, until it has nothing more to do. */
void world_collect_garbage(struct world *w);

/* "True DependenciesReady Pod is Ready" of a condition; "" if there is none. Static. */
const char *world_condition(
	struct world *w, enum store_kind kind, const char *name, const char *type);
/* How many events with this reason are about `name`; counts add up. */
int64_t world_events(struct world *w, const char *name, const char *reason);

#define assert_str(text, ...) assert_string_equal_or(json_str(__VA_ARGS__, NULL), text)
void assert_string_equal_or(const char *is, const char *wanted);
