// SPDX-License-Identifier: Apache-2.0
/* Every kind that can be listed, by name, and looking at one. Part of the one door.
 * Errors: ERR_ARG_INVALID, ERR_CLAIM_NOT_FOUND, ERR_OP_UNSUPPORTED, those of engine/kinds/informers.h, those of engine/kinds/tree.h. */
#pragma once

#include "engine/kinds/informer.h"
#include "engine/kinds/page.h"
#include "engine/kinds/tree.h"

struct engine;
struct engine_object_call;

/* The sandboxes are the first; ends with NULL. */
extern const struct resource_kind *const engine_kinds[];
/* By name, singular or alias, in any case; NULL: there is none. */
const struct resource_kind *engine_kind_find(const char *name);
/* As the API calls it: "SandboxWarmPool"; NULL: it is not one of those that are listed. */
const struct resource_kind *engine_kind_of(const char *api_kind);

/* Rows of a kind that has a resource, of one namespace ("" = all): listed and watched while anybody looks. Changes are
 * told by engine_on_change(). NULL with *err: op.unsupported without a cluster, arg.invalid for a selector that is none
 * (NULL: none). Ends with engine_unwatch_kind(), before the engine is freed. */
struct kinds_informer *engine_watch_kind(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *label_selector,
	struct err *err);
/* Events about objects of that name, whatever their kind; as engine_watch_kind(). */
struct kinds_informer *engine_watch_events_of(struct engine *engine, const char *namespace_,
	const char *object_name, struct err *err);
/* One object by its name; as engine_watch_kind(). It may come with others of its kind. */
struct kinds_informer *engine_watch_object(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *name,
	struct err *err);
/* Once more: ends with another engine_unwatch_kind(). */
struct kinds_informer *engine_watch_again(
	struct engine *engine, struct kinds_informer *informer);
void engine_unwatch_kind(
	struct engine *engine, struct kinds_informer *informer); /* NULL is fine */

/* Where it may not be read: which verb on which resource ("not allowed: list persistentvolumeclaims in namespace x"), and the
 * rule that a Role needs for it. Nothing is added where it may. */
struct str;
void engine_kind_forbidden_format(
	const struct kinds_informer *informer, struct str *what, struct str *fix);
void engine_kinds_resync(struct engine *engine); /* a person asked */

/* One object as it is now. done: exactly once; object NULL with err (kube.*), borrowed for the call. */
typedef void engine_object_fn(void *arg, const struct err *err, const struct cJSON *object);
struct engine_object_call *engine_object_start(struct engine *engine,
	const struct resource_kind *kind, const char *namespace_, const char *name,
	engine_object_fn *done, void *arg, struct err *err);
/* An action of the kind on the object of a row, if it may be done. args: what the action is told, "" for none; *err: what its request()
 * refuses. */
struct engine_object_call *engine_object_act(struct engine *engine,
	const struct resource_kind *kind, const struct resource_action *action, const void *row,
	const char *args, engine_object_fn *done, void *arg, struct err *err);
/* The row of an object that has been read so, for its columns. Free with engine_object_row_free(). */
void *engine_object_row(const struct engine *engine, const struct resource_kind *kind,
	const struct cJSON *object);
void engine_object_row_free(const struct resource_kind *kind, void *row);
/* As engine_may(), for an action of a kind in that namespace ("" = all): ERR_OP_READ_ONLY, ERR_KUBE_FORBIDDEN. */
bool engine_object_may(struct engine *engine, const struct resource_kind *kind,
	const struct resource_action *action, const char *namespace_, struct err *err);
void engine_object_cancel(struct engine_object_call *call); /* NULL is fine */

/* What an object is made of and whose it is (engine/kinds/tree.h): of a kind that has a resource, or of a sandbox by the
 * row of the fleet: its claim, else its Sandbox. Ends with engine_tree_free(), not in done(), before the engine is freed. */
struct kinds_tree *engine_tree_start(struct engine *engine, const struct resource_kind *kind,
	const char *namespace_, const char *name,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err);
struct kinds_tree *engine_tree_of_row(struct engine *engine, const char *uid,
	void (*done)(void *arg, const struct err *err), void *arg, struct err *err);
void engine_tree_free(struct kinds_tree *tree); /* NULL is fine */
