// SPDX-License-Identifier: Apache-2.0
/* Rows of one kind, of one namespace or all, kept equal to the server's by a reflector: listed and watched from the start
 * until the stop. It keeps the rows and no objects; at most KINDS_ROWS_MAX of them.
 * Errors: those of engine/kube/reflector.h. */
#pragma once

#include "engine/resource/source.h"

struct err;
struct kube_client;
struct kinds_informer;

enum { KINDS_ROWS_MAX = 300000 };

struct kinds_informer_opts {
	const struct resource_kind *kind; /* with a resource */
	const char *namespace_;     /* "" or NULL: all; of no matter where the kind has none */
	const char *label_selector; /* NULL: none */
	const char *field_selector; /* NULL: none */
	const struct resource_kind
		*beside_kind; /* for a set of informers: kind->beside's; NULL: none */
	/* Of the kind that stands beside this one (resource_kind.beside): stays until this one has stopped. NULL: rows tell
	 * nothing of it. */
	const struct kinds_informer *beside;
	/* Something has changed: for each change, while the reflector is at work; may not stop the informer. */
	void (*on_change)(void *arg);
	void *arg;
};
/* NULL with *err: what the client refuses at once (a label selector: arg.invalid). */
struct kinds_informer *kinds_informer_start(
	struct kube_client *client, const struct kinds_informer_opts *opts, struct err *err);
void kinds_informer_stop(struct kinds_informer *informer); /* frees; NULL is fine */

/* Its rows; as long-lived as the informer. */
struct resource_source kinds_informer_source(const struct kinds_informer *informer);
const struct resource_kind *kinds_informer_kind(const struct kinds_informer *informer);
const char *kinds_informer_namespace(const struct kinds_informer *informer); /* "" = all */

struct kinds_informer_state {
	const char *name; /* of the reflector's state: "live", "retrying", … */
	bool is_synced; /* listed at least once, and what is beside it too, or that may not be: before that, that there is nothing is not known */
	bool is_live;   /* nothing is wrong: live, not so far yet, or is_polled */
	bool is_forbidden;     /* may not be listed: asked again every few minutes */
	bool is_polled;        /* may be listed and not watched */
	int64_t age_ms;        /* of the data */
	size_t n_dropped;      /* objects over KINDS_ROWS_MAX */
	const struct err *err; /* the last failure; NULL: none; borrowed for this turn */
};
struct kinds_informer_state kinds_informer_state_of(const struct kinds_informer *informer);
/* Looks at what is beside it again if either has changed since. */
void kinds_informer_join(struct kinds_informer *informer);
void kinds_informer_resync(struct kinds_informer *informer); /* a person asked */
/* The server answers again; see kube_reflector_hurry(). */
void kinds_informer_hurry(struct kinds_informer *informer, bool is_lane_dead);
