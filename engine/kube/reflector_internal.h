// SPDX-License-Identifier: Apache-2.0
/* The reflector's inside. Each of its files calls only those under it:
 *
 *   reflector.c         the handle, timers, how a watch ends
 *   reflector_list.c    decisions about lists
 *   reflector_stream.c  requests and what their bytes mean
 *   reflector_state.c, reflector_versions.c, work_queue.c */
#pragma once

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/kube/backoff.h"
#include "engine/kube/reflector.h"
#include "engine/kube/reflector_versions.h"
#include "engine/kube/request.h"
#include "engine/kube/work_queue.h"

enum kube_reflector_phase {
	REFLECTOR_PAGE,
	REFLECTOR_INITIAL, /* a streaming list before its end; then the same request is a watch */
	REFLECTOR_WATCH,
};

struct kube_reflector {
	struct kube_client *client;
	struct kube_reflector_opts opts; /* strings copied */
	char *path;
	enum kube_reflector_state state;
	struct err err; /* code ERR_NONE: none */
	enum kube_reflector_phase phase;
	struct kube_request *request;
	struct kube_version_question versions; /* after a 404 */
	struct json_split *split;
	const struct kube_reflector_events *events;
	struct kube_work_queue queue;
	struct str scratch;          /* an object without its managedFields */
	struct net_loop_timer *next; /* starts the next request */
	struct net_loop_timer *idle; /* notices a deaf watch */
	struct net_loop_wake *wake;
	struct kube_backoff backoff;
	struct kube_reflector_stats stats;
	struct str revision; /* where the watch goes on */
	/* the list under way */
	struct str token;         /* continue; "" = first page */
	struct str list_revision; /* of its last page */
	uint64_t seen;            /* objects of this list so far */
	int64_t remaining;        /* as the last page said; -1 unknown */
	int list_restarts;
	bool is_listing;      /* on_sync(begin) was called, its end not yet */
	bool is_inconsistent; /* pages of two revisions: list again afterwards */
	bool page_has_rest;
	bool is_streamed;      /* the list under way is a streaming one */
	bool wants_pages;      /* until a list is complete: no stream */
	int cut_streams;       /* in a row */
	uint64_t stream_bytes; /* of the initial events */
	uint64_t window_bytes; /* since their pace was last looked at */
	bool has_listed;       /* a list was complete once */
	bool is_fresh;         /* a list was complete, and no watch has begun since */
	bool wants_list;       /* a resync waits for its turn */
	struct err event_err;  /* an ERROR event ended the watch */
	int event_status;
	int internal_errors;  /* 500s in a row at the start of a watch */
	int relists;          /* in a row, without a watch that lived */
	int64_t last_byte_ms; /* monotonic; 0: none yet */
	int64_t began_ms;
	int64_t not_before_ms; /* Retry-After; 0: not said */
	uint64_t pool_key;
	bool is_dead;
};

/* reflector_stream.c: requests and what their bytes mean. What came of them is told by reflector->events. */
struct kube_reflector_events {
	void (*began)(struct kube_reflector *reflector); /* a success status line */
	/* The initial events are in: from here on it is a watch. False: *err, or the reflector is dead. */
	bool (*initial_ended)(
		struct kube_reflector *reflector, const char *revision, struct err *err);
	/* err NULL: whole and well-formed. event_status etc. say more. */
	void (*ended)(struct kube_reflector *reflector, const struct err *err,
		const struct kube_answer *answer);
};
void kube_reflector_stream_init(struct kube_reflector *reflector, struct net_loop *loop);
void kube_reflector_stream_deinit(struct kube_reflector *reflector);
/* Each starts one request. */
void kube_reflector_start_page(struct kube_reflector *reflector);
void kube_reflector_start_streaming_list(struct kube_reflector *reflector);
void kube_reflector_start_watch(struct kube_reflector *reflector);
void kube_reflector_drop_request(struct kube_reflector *reflector);
/* What the bytes of a request go through; on their own for the fuzz target. */
struct json_split *kube_reflector_split_new(
	struct kube_reflector *reflector, enum kube_reflector_phase phase);
bool kube_reflector_feed(struct kube_reflector *reflector, struct slice bytes, struct err *err);

/* reflector_list.c: decisions about lists. */
bool kube_reflector_is_single(
	const struct kube_reflector *reflector); /* one object by its name */
void kube_reflector_begin_list(struct kube_reflector *reflector);
void kube_reflector_relist(struct kube_reflector *reflector, int64_t delay_ms);
void kube_reflector_page_ended(struct kube_reflector *reflector);
void kube_reflector_page_failed(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer);
bool kube_reflector_initial_ended(
	struct kube_reflector *reflector, const char *revision, struct err *err);
void kube_reflector_initial_failed(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer);
/* The pace of the initial events: from now on, and what it was. */
void kube_reflector_watch_pace(struct kube_reflector *reflector);
void kube_reflector_look_at_pace(struct kube_reflector *reflector);

/* reflector_state.c: the state, and the pause before the next request. */
void kube_reflector_set_state(struct kube_reflector *reflector, enum kube_reflector_state state,
	const struct err *err);
void kube_reflector_go_on(struct kube_reflector *reflector, int64_t delay_ms);
void kube_reflector_retry(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer, bool at_once);
int64_t kube_reflector_idle_ms(
	const struct kube_reflector *reflector); /* after which a watch is deaf */
void kube_reflector_watch_began(struct kube_reflector *reflector);
