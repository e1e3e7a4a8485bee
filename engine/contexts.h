// SPDX-License-Identifier: Apache-2.0
/* The contexts that there are, and what this one is. Part of the one door.
 * Errors: those of engine/kube/contexts.h. */
#pragma once

#include "engine/kube/contexts.h"

struct cJSON;
struct engine;
struct err;

/* The setting production-contexts has a pattern (fnmatch(3)) for that name: what changes many there asks twice. */
bool engine_context_is_production(const char *name);
/* The file that the kubeconfig option named; NULL: none (KUBECONFIG, ~/.kube/config), or the embedded backend's own. */
#define ENGINE_LOCAL_CONTEXT                                                                   \
	"sandmux-local" /* of the embedded backend, in a kubeconfig of its own */
const char *engine_kubeconfig(const struct engine *engine);
bool engine_is_production(const struct engine *engine);

/* Does its server answer, and take our credentials? GET /version, with a deadline of its own. Ends with engine_object_cancel(). */
struct engine_object_call;
struct engine_object_call *engine_ping_start(struct engine *engine,
	void (*done)(void *arg, const struct err *err, const struct cJSON *object), void *arg,
	struct err *err);
