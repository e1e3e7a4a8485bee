// SPDX-License-Identifier: Apache-2.0
/* Bytes wait here for their turn: a burst of events is parsed in slices of a few milliseconds, one in a turn of the loop,
 * so that a key is answered between them. A backlog that grows is parsed at once instead: memory stays bounded. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>

enum { SLICE_MS = 3, PIECE_BYTES = 4 << 10, BACKLOG_MAX_BYTES = 1 << 20 };

/* Down to keep bytes, or for budget_ms (-1: as long as it takes). False: *err says why, or the reflector is dead. */
static bool drain(
	struct kube_reflector *reflector, size_t keep, int64_t budget_ms, struct err *err)
{
	int64_t until_ms = budget_ms < 0 ? INT64_MAX : clock_mono_ms() + budget_ms;
	while (evbuffer_get_length(reflector->backlog) > keep) {
		struct evbuffer_iovec first;
		evbuffer_peek(reflector->backlog, -1, NULL, &first, 1);
		size_t n = first.iov_len < PIECE_BYTES ? first.iov_len : PIECE_BYTES;
		reflector->is_feeding = true;
		bool ok = kube_reflector_feed(
			reflector, (struct slice){ first.iov_base, n }, err);
		reflector->is_feeding = false;
		if (reflector->is_dead)
			return false;
		if (!ok || reflector->is_abandoned)
			n = evbuffer_get_length(reflector->backlog);
		evbuffer_drain(reflector->backlog, n);
		reflector->is_abandoned = false;
		if (!ok)
			return false;
		if (clock_mono_ms() >= until_ms)
			break;
	}
	return true;
}

/* One slice; what is left, or what still comes in this turn, waits for the next one. */
static bool slice(struct kube_reflector *reflector, struct err *err)
{
	int64_t began_ms = clock_mono_ms();
	if (!drain(reflector, 0, SLICE_MS, err))
		return false;
	reflector->waits_for_turn =
		evbuffer_get_length(reflector->backlog) > 0 || clock_mono_ms() > began_ms;
	if (reflector->waits_for_turn)
		loop_timer_arm(reflector->turn, 0);
	return true;
}

static void on_turn(void *arg)
{
	struct kube_reflector *reflector = arg;
	struct err err = { 0 };
	reflector->waits_for_turn = false;
	if (reflector->is_dead || reflector->request == NULL || slice(reflector, &err) ||
		reflector->is_dead)
		return;
	/* outside of the request: it ends here as it would have from inside */
	const struct kube_answer answer = { .status = 200, .retry_after_ms = -1 };
	kube_reflector_drop_request(reflector);
	kube_reflector_ended(reflector, &err, &answer);
}

bool kube_reflector_backlog_add(
	struct kube_reflector *reflector, struct slice bytes, struct err *err)
{
	evbuffer_add(reflector->backlog, bytes.p, bytes.n);
	if (!drain(reflector, BACKLOG_MAX_BYTES, -1, err))
		return false;
	return reflector->waits_for_turn || slice(reflector, err);
}

bool kube_reflector_backlog_finish(struct kube_reflector *reflector, struct err *err)
{
	bool ok = drain(reflector, 0, -1, err);
	kube_reflector_backlog_clear(reflector);
	return ok;
}

void kube_reflector_backlog_clear(struct kube_reflector *reflector)
{
	loop_timer_disarm(reflector->turn);
	reflector->waits_for_turn = false;
	if (reflector->is_feeding)
		reflector->is_abandoned = true; /* a piece of it is in use */
	else
		evbuffer_drain(reflector->backlog, evbuffer_get_length(reflector->backlog));
}

void kube_reflector_backlog_init(struct kube_reflector *reflector, struct loop *loop)
{
	reflector->backlog = evbuffer_new();
	reflector->turn = loop_timer_new(loop, on_turn, reflector);
}

void kube_reflector_backlog_deinit(struct kube_reflector *reflector)
{
	loop_timer_free(reflector->turn);
	if (reflector->backlog != NULL)
		evbuffer_free(reflector->backlog);
}
