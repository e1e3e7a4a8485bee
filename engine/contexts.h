// SPDX-License-Identifier: Apache-2.0
/* The contexts that there are, and what this one is. Part of the one door.
 * Errors: those of engine/kube/contexts.h. */
#pragma once

#include "engine/kube/contexts.h"

struct engine;

/* The setting production-contexts has a pattern (fnmatch(3)) for that name: what changes many there asks twice. */
bool engine_context_is_production(const char *name);
bool engine_is_production(const struct engine *engine);
