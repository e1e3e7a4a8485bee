// SPDX-License-Identifier: Apache-2.0
/* Questions about the way to a cluster and its sandboxes, each answered with what was found and the fix; and the
 * probe, the cheapest question of all. Part of the one door.
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include <stdbool.h>

struct engine;
struct err;

enum engine_level {
	ENGINE_OK,
	ENGINE_WARNING,
	ENGINE_FAILURE,
	ENGINE_SKIPPED,
	ENGINE_LEVEL_COUNT
};
struct engine_finding {
	enum engine_level level;
	const char *check; /* "API server", "right to create sandboxclaims", … */
	const char *found; /* foreign text is possible */
	const char *fix;   /* "" when all is well */
};
/* Asks one thing after the other; on_finding for each, then done once. Borrowed for the call. Errors: ERR_ARG_INVALID (no
 * cluster); what fails later is a finding. */
struct engine_doctor;
struct engine_doctor *engine_doctor_start(struct engine *engine,
	void (*on_finding)(void *arg, const struct engine_finding *finding),
	void (*done)(void *arg), void *arg, struct err *err);
void engine_doctor_cancel(struct engine_doctor *doctor);

/* connect_probe_start() in the namespace of the context; cancel with connect_probe_cancel(). Also ERR_ARG_INVALID: there is
 * no cluster. */
struct connect_probe;
struct connect_probe *engine_probe_start(struct engine *engine, const char *template_name,
	void (*done)(void *arg, const struct err *err, const char *reason), void *arg,
	struct err *err);
