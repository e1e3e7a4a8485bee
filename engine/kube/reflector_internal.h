// SPDX-License-Identifier: Apache-2.0
/* The reflector's inside, shared by reflector.c (states, timers, watches), reflector_list.c (decisions about lists)
 * and reflector_stream.c (requests and what their bytes mean). */
#pragma once

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/kube/backoff.h"
#include "engine/kube/reflector.h"
#include "engine/kube/request.h"

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
	struct kube_call *discovery; /* which versions the group has, after a 404 */
	struct json_split *split;
	/* work_queue.c */
	struct evbuffer *backlog;
	struct net_loop_timer *turn;
	bool waits_for_turn, is_feeding, is_abandoned;
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

/* Each starts one request; its end comes as kube_reflector_ended(). */
void kube_reflector_start_page(struct kube_reflector *reflector);
void kube_reflector_start_streaming_list(struct kube_reflector *reflector);
void kube_reflector_start_watch(struct kube_reflector *reflector);
void kube_reflector_drop_request(struct kube_reflector *reflector);

/* Decisions about lists. */
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

/* States, and the pause before the next request. */
void kube_reflector_set_state(struct kube_reflector *reflector, enum kube_reflector_state state,
	const struct err *err);
void kube_reflector_go_on(struct kube_reflector *reflector, int64_t delay_ms);
void kube_reflector_retry(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer, bool at_once);
void kube_reflector_forbidden(struct kube_reflector *reflector, const struct err *err);

/* What the bytes of a request go through; on their own for the fuzz target. */
struct json_split *kube_reflector_split_new(
	struct kube_reflector *reflector, enum kube_reflector_phase phase);
bool kube_reflector_feed(struct kube_reflector *reflector, struct slice bytes, struct err *err);

/* work_queue.c: the same, a slice at a time. False: *err, or the reflector is dead. */
void kube_work_queue_init(struct kube_reflector *reflector, struct net_loop *loop);
void kube_work_queue_deinit(struct kube_reflector *reflector);
bool kube_work_queue_add(struct kube_reflector *reflector, struct slice bytes, struct err *err);
bool kube_work_queue_finish(struct kube_reflector *reflector, struct err *err);
void kube_work_queue_clear(struct kube_reflector *reflector);

void kube_reflector_began(struct kube_reflector *reflector); /* a success status line */
/* err NULL: whole and well-formed. event_status etc. say more. */
void kube_reflector_ended(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer);
/* After a 404 of the path itself: asks which versions the group has, then comes as kube_reflector_not_served(). False: not
 * asked. */
bool kube_reflector_ask_versions(struct kube_reflector *reflector);
void kube_reflector_not_served(struct kube_reflector *reflector, const struct err *err);
