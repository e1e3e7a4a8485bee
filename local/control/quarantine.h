// SPDX-License-Identifier: Apache-2.0
/* Files whose object is not known. They are never deleted, only moved: "<state>/quarantine/<kind>-<UID>", and a manifest
 * "….json" beside it says whose they were, where they were and why they were moved.
 * Errors: errno, those of engine/base/file.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err;

/* Moves "<state>/<kind>/<uid>" there (kind "volumes" or "pods"), with its manifest "<uid>.json" if there is one. Cut short
 * at any point, it can be repeated. */
bool control_quarantine_put(const char *state_dir, const char *kind, const char *uid,
	const char *why, struct err *err);

struct control_quarantined {
	const char *path;  /* of the folder or file */
	const char *claim; /* the sandbox's name for people; "" if it is not known */
	const char *sandbox, *ns;
	const char *why, *at; /* RFC 3339 */
};
/* What is there, in the order of the folder. Values are borrowed for the call, and foreign: safe_text. */
typedef void control_quarantine_fn(void *arg, const struct control_quarantined *q);
void control_quarantine_list(const char *state_dir, control_quarantine_fn *fn, void *arg);
