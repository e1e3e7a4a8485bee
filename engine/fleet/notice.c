// SPDX-License-Identifier: Apache-2.0
/* The one notification a turn: operations look at what has changed, then whoever has the fleet is told. */
#include "engine/fleet/fleet_internal.h"

#include "engine/base/map.h"
#include "engine/net/loop.h"

static void tell(void *arg)
{
	struct fleet_notice *notice = arg;
	struct fleet *fleet = notice->fleet;
	free(notice);
	if (fleet == NULL)
		return;
	fleet->notice = NULL;
	fleet->store.clock_skew_ms = kube_client_clock_skew_ms(fleet->kube);
	if (fleet->store.n_hidden > 0 && fleet->look_again != NULL)
		net_loop_timer_arm(fleet->look_again, STORE_HIDE_MS);
	fleet_tombstones_watch(fleet);
	/* an operation that ends takes itself off the list, and its callback may start or cancel others: go on from the
	 * beginning until none has anything to do */
	struct fleet_op *op = fleet->ops;
	while (op != NULL) {
		struct fleet_op *next = op->next;
		size_t before = fleet->n_ended;
		if (op->look != NULL)
			op->look(op);
		op = fleet->n_ended == before ? next : fleet->ops;
	}
	if (fleet->on_change != NULL)
		fleet->on_change(fleet->arg);
}

void fleet_note_change(struct fleet *fleet)
{
	if (fleet->notice != NULL)
		return;
	fleet->notice = x_calloc(1, sizeof *fleet->notice);
	fleet->notice->fleet = fleet;
	net_loop_defer(fleet->loop, tell, fleet->notice);
}
