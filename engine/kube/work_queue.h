// SPDX-License-Identifier: Apache-2.0
/* Bytes wait here for their turn: a burst of events is parsed in slices of a few milliseconds, one in a turn of the loop,
 * so that a key is answered between them. A backlog that grows is parsed at once instead: memory stays bounded.
 *
 * Whoever owns the queue and dies in feed() says so in *is_dead, and frees the queue later: nothing of it is touched then.
 * Errors: those of feed(). */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>

struct err;
struct evbuffer;
struct net_loop;
struct net_loop_timer;

struct kube_work_queue {
	/* A piece. False: *err, or the owner is dead. It may clear the queue. */
	bool (*feed)(void *arg, struct slice bytes, struct err *err);
	/* A piece failed in a turn of its own: nobody is there to be given the error. */
	void (*failed)(void *arg, const struct err *err);
	void *arg;
	const bool *is_dead;
	/* its own */
	struct evbuffer *backlog;
	struct net_loop_timer *turn;
	bool waits_for_turn, is_feeding, is_abandoned;
};

/* The fields above are set. */
void kube_work_queue_init(struct kube_work_queue *queue, struct net_loop *loop);
void kube_work_queue_deinit(struct kube_work_queue *queue);
/* False: *err as feed() gave it, or the owner is dead. */
bool kube_work_queue_add(struct kube_work_queue *queue, struct slice bytes, struct err *err);
bool kube_work_queue_finish(
	struct kube_work_queue *queue, struct err *err); /* all of it, now */
void kube_work_queue_clear(struct kube_work_queue *queue);
