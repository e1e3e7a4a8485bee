// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/work_queue.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/net/loop.h"

#include <event2/buffer.h>

enum { SLICE_MS = 3, PIECE_BYTES = 4 << 10, BACKLOG_MAX_BYTES = 1 << 20 };

enum fed { FED, FED_ABANDONED, FED_FAILED };

/* A piece, with what came of it: it may have cleared the queue, or ended its owner. */
static enum fed feed(struct kube_work_queue *queue, struct slice piece, struct err *err)
{
	queue->is_feeding = true;
	bool ok = queue->feed(queue->arg, piece, err);
	bool is_abandoned = queue->is_abandoned;
	queue->is_feeding = queue->is_abandoned = false;
	if (!ok || *queue->is_dead)
		return FED_FAILED;
	return is_abandoned ? FED_ABANDONED : FED;
}

static size_t piece_of(size_t n)
{
	return n < PIECE_BYTES ? n : PIECE_BYTES;
}

/* Down to keep bytes, or until then. False: *err says why, or the owner is dead. */
static bool drain(struct kube_work_queue *queue, size_t keep, int64_t until_ms, struct err *err)
{
	while (evbuffer_get_length(queue->backlog) > keep) {
		struct evbuffer_iovec first;
		evbuffer_peek(queue->backlog, -1, NULL, &first, 1);
		size_t n = piece_of(first.iov_len);
		enum fed fed = feed(queue, (struct slice){ first.iov_base, n }, err);
		if (*queue->is_dead)
			return false;
		evbuffer_drain(
			queue->backlog, fed == FED ? n : evbuffer_get_length(queue->backlog));
		if (fed == FED_FAILED)
			return false;
		if (clock_mono_ms() >= until_ms)
			break;
	}
	return true;
}

/* What comes while nothing waits: parsed where it is, and only the rest of it kept. */
static bool feed_at_once(
	struct kube_work_queue *queue, struct slice bytes, int64_t until_ms, struct err *err)
{
	for (size_t at = 0, n; at < bytes.n; at += n) {
		n = piece_of(bytes.n - at);
		enum fed fed = feed(queue, (struct slice){ bytes.p + at, n }, err);
		if (fed != FED)
			return fed == FED_ABANDONED;
		if (clock_mono_ms() >= until_ms) {
			at += n;
			evbuffer_add(queue->backlog, bytes.p + at, bytes.n - at);
			break;
		}
	}
	return true;
}

/* After a slice: what is left, or what still comes in this turn, waits for the next one. */
static void wait_for_turn(struct kube_work_queue *queue, int64_t began_ms)
{
	queue->waits_for_turn =
		evbuffer_get_length(queue->backlog) > 0 || clock_mono_ms() > began_ms;
	if (queue->waits_for_turn)
		net_loop_timer_arm(queue->turn, 0);
}

static void on_turn(void *arg)
{
	struct kube_work_queue *queue = arg;
	struct err err = { 0 };
	int64_t began_ms = clock_mono_ms();
	queue->waits_for_turn = false;
	if (*queue->is_dead)
		return;
	if (drain(queue, 0, began_ms + SLICE_MS, &err)) {
		wait_for_turn(queue, began_ms);
		return;
	}
	if (!*queue->is_dead)
		queue->failed(queue->arg, &err);
}

bool kube_work_queue_add(struct kube_work_queue *queue, struct slice bytes, struct err *err)
{
	int64_t began_ms = clock_mono_ms();
	if (queue->waits_for_turn) {
		evbuffer_add(queue->backlog, bytes.p, bytes.n);
		return drain(queue, BACKLOG_MAX_BYTES, INT64_MAX, err);
	}
	if (!feed_at_once(queue, bytes, began_ms + SLICE_MS, err))
		return false;
	wait_for_turn(queue, began_ms);
	return true;
}

bool kube_work_queue_finish(struct kube_work_queue *queue, struct err *err)
{
	bool ok = drain(queue, 0, INT64_MAX, err);
	kube_work_queue_clear(queue);
	return ok;
}

void kube_work_queue_clear(struct kube_work_queue *queue)
{
	net_loop_timer_disarm(queue->turn);
	queue->waits_for_turn = false;
	if (queue->is_feeding)
		queue->is_abandoned = true; /* a piece of it is in use */
	else
		evbuffer_drain(queue->backlog, evbuffer_get_length(queue->backlog));
}

void kube_work_queue_init(struct kube_work_queue *queue, struct net_loop *loop)
{
	queue->backlog = evbuffer_new();
	queue->turn = net_loop_timer_new(loop, on_turn, queue);
}

void kube_work_queue_deinit(struct kube_work_queue *queue)
{
	net_loop_timer_free(queue->turn);
	if (queue->backlog != NULL)
		evbuffer_free(queue->backlog);
}
