// SPDX-License-Identifier: Apache-2.0
/* The informers of one API server, shared by all who look at the same: one starts when somebody first looks, and stops
 * when nobody does any more.
 * Errors: those of engine/kinds/informer.h. */
#pragma once

#include "engine/kinds/informer.h"

struct net_loop;
struct kinds_informers;

/* on_change: at most once a turn of the loop, for all of them; may open and close. */
struct kinds_informers *kinds_informers_new(struct net_loop *loop, struct kube_client *client,
	void (*on_change)(void *arg), void *arg);
void kinds_informers_free(struct kinds_informers *informers); /* with all that are open */

/* opts: beside, on_change and arg are those of the set. Given back with kinds_informers_close(); NULL with *err as
 * kinds_informer_start(). */
struct kinds_informer *kinds_informers_open(struct kinds_informers *informers,
	const struct kinds_informer_opts *opts, struct err *err);
/* The one that has that object among others, if somebody looks at them, else one of that object alone: a list of thousands
 * is not asked for because of one. */
struct kinds_informer *kinds_informers_open_object(struct kinds_informers *informers,
	const struct kinds_informer_opts *opts, const char *name, struct err *err);
/* One that is open, once more: closed as often as it was opened. */
void kinds_informers_keep(struct kinds_informers *informers, struct kinds_informer *informer);
void kinds_informers_close(
	struct kinds_informers *informers, struct kinds_informer *informer); /* NULL is fine */

void kinds_informers_resync(struct kinds_informers *informers);
void kinds_informers_hurry(struct kinds_informers *informers, bool is_lane_dead);
