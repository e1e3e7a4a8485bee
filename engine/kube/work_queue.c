// SPDX-License-Identifier: Apache-2.0
/* Bytes wait here for their turn: a burst of events is parsed in slices of a few milliseconds, one in a turn of the loop,
 * so that a key is answered between them. A backlog that grows is parsed at once instead: memory stays bounded. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>

enum { SLICE_MS = 3, PIECE_BYTES = 4 << 10, BACKLOG_MAX_BYTES = 1 << 20 };

enum fed { FED, FED_ABANDONED, FED_FAILED };

/* A piece, with what came of it: a callback may have dropped the request, or the reflector. */
static enum fed feed(struct kube_reflector *reflector, struct slice piece, struct err *err)
{
	reflector->is_feeding = true;
	bool ok = kube_reflector_feed(reflector, piece, err);
	bool is_abandoned = reflector->is_abandoned;
	reflector->is_feeding = reflector->is_abandoned = false;
	if (!ok || reflector->is_dead)
		return FED_FAILED;
	return is_abandoned ? FED_ABANDONED : FED;
}

static size_t piece_of(size_t n)
{
	return n < PIECE_BYTES ? n : PIECE_BYTES;
}

/* Down to keep bytes, or until then. False: *err says why, or the reflector is dead. */
static bool drain(
	struct kube_reflector *reflector, size_t keep, int64_t until_ms, struct err *err)
{
	while (evbuffer_get_length(reflector->backlog) > keep) {
		struct evbuffer_iovec first;
		evbuffer_peek(reflector->backlog, -1, NULL, &first, 1);
		size_t n = piece_of(first.iov_len);
		enum fed fed = feed(reflector, (struct slice){ first.iov_base, n }, err);
		if (reflector->is_dead)
			return false;
		evbuffer_drain(reflector->backlog,
			fed == FED ? n : evbuffer_get_length(reflector->backlog));
		if (fed == FED_FAILED)
			return false;
		if (clock_mono_ms() >= until_ms)
			break;
	}
	return true;
}

/* What comes while nothing waits: parsed where it is, and only the rest of it kept. */
static bool feed_at_once(
	struct kube_reflector *reflector, struct slice bytes, int64_t until_ms, struct err *err)
{
	for (size_t at = 0, n; at < bytes.n; at += n) {
		n = piece_of(bytes.n - at);
		enum fed fed = feed(reflector, (struct slice){ bytes.p + at, n }, err);
		if (fed != FED)
			return fed == FED_ABANDONED;
		if (clock_mono_ms() >= until_ms) {
			at += n;
			evbuffer_add(reflector->backlog, bytes.p + at, bytes.n - at);
			break;
		}
	}
	return true;
}

/* After a slice: what is left, or what still comes in this turn, waits for the next one. */
static void wait_for_turn(struct kube_reflector *reflector, int64_t began_ms)
{
	reflector->waits_for_turn =
		evbuffer_get_length(reflector->backlog) > 0 || clock_mono_ms() > began_ms;
	if (reflector->waits_for_turn)
		net_loop_timer_arm(reflector->turn, 0);
}

static void on_turn(void *arg)
{
	struct kube_reflector *reflector = arg;
	struct err err = { 0 };
	int64_t began_ms = clock_mono_ms();
	reflector->waits_for_turn = false;
	if (reflector->is_dead || reflector->request == NULL)
		return;
	if (drain(reflector, 0, began_ms + SLICE_MS, &err)) {
		wait_for_turn(reflector, began_ms);
		return;
	}
	if (reflector->is_dead)
		return;
	/* outside of the request: it ends here as it would have from inside */
	const struct kube_answer answer = { .status = 200, .retry_after_ms = -1 };
	kube_reflector_drop_request(reflector);
	kube_reflector_ended(reflector, &err, &answer);
}

bool kube_work_queue_add(struct kube_reflector *reflector, struct slice bytes, struct err *err)
{
	int64_t began_ms = clock_mono_ms();
	if (reflector->waits_for_turn) {
		evbuffer_add(reflector->backlog, bytes.p, bytes.n);
		return drain(reflector, BACKLOG_MAX_BYTES, INT64_MAX, err);
	}
	if (!feed_at_once(reflector, bytes, began_ms + SLICE_MS, err))
		return false;
	wait_for_turn(reflector, began_ms);
	return true;
}

bool kube_work_queue_finish(struct kube_reflector *reflector, struct err *err)
{
	bool ok = drain(reflector, 0, INT64_MAX, err);
	kube_work_queue_clear(reflector);
	return ok;
}

void kube_work_queue_clear(struct kube_reflector *reflector)
{
	net_loop_timer_disarm(reflector->turn);
	reflector->waits_for_turn = false;
	if (reflector->is_feeding)
		reflector->is_abandoned = true; /* a piece of it is in use */
	else
		evbuffer_drain(reflector->backlog, evbuffer_get_length(reflector->backlog));
}

void kube_work_queue_init(struct kube_reflector *reflector, struct net_loop *loop)
{
	reflector->backlog = evbuffer_new();
	reflector->turn = net_loop_timer_new(loop, on_turn, reflector);
}

void kube_work_queue_deinit(struct kube_reflector *reflector)
{
	net_loop_timer_free(reflector->turn);
	if (reflector->backlog != NULL)
		evbuffer_free(reflector->backlog);
}
