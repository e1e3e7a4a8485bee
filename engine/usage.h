// SPDX-License-Identifier: Apache-2.0
/* What sandboxes use (metrics.k8s.io), asked while somebody looks; engine/fleet/usage.h has the numbers of one row. Part of
 * the one door. */
#pragma once

#include "engine/fleet/usage.h"

#include <stddef.h>

enum { USAGE_NAMES_MAX = 64 };

struct engine;
struct err;
struct str;

/* Somebody looks: called whenever it is drawn. uids: the rows on the screen. */
void engine_usage_look(struct engine *engine, const char *const *uids, size_t n);
/* Only these rows (at most USAGE_NAMES_MAX) are wanted, by the name of their pods: nothing is listed. */
void engine_usage_look_only(struct engine *engine, const char *const *uids, size_t n);
/* Grows when what is known of any pod has changed: rows do not change with it. engine_on_change() is called then. 0 in direct mode. */
uint64_t engine_usage_revision(const struct engine *engine);

struct engine_usage {
	bool is_asked;    /* somebody looks */
	bool is_known;    /* the last question was answered */
	uint64_t n_lists; /* answers that had every pod; others had those on the screen alone */
	int64_t age_ms;   /* since the last answer; -1: there was none */
	int64_t again_ms; /* until it is asked again; -1: it is not waited for */
	const struct err *
		err; /* why it is not known; NULL: known, or not answered yet. Borrowed for this turn */
};
struct engine_usage engine_usage_of(const struct engine *engine);
/* The same as a sentence for people: why the columns are empty and what would help, or how old they are. */
void engine_usage_format(const struct engine *engine, struct str *out);
