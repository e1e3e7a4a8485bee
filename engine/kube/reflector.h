// SPDX-License-Identifier: Apache-2.0
/* Keeps a caller's copy of one collection equal to the server's: lists (one stream that goes on as the watch, or pages
 * and then a watch), resumes, relists when it must, backs off with jitter, and notices a deaf watch. It holds no
 * objects itself: each object is parsed, handed over, dropped.
 * Errors: ERR_KUBE_NOT_SERVED, ERR_KUBE_PROTOCOL, ERR_KUBE_TRANSPORT, those of engine/base/json.h, those of
 * engine/k8s/selector.h. */
#pragma once

#include "engine/kube/client.h"

enum kube_reflector_state {
	KUBE_REFLECTOR_STARTING,  /* first list under way */
	KUBE_REFLECTOR_LIVE,      /* watching */
	KUBE_REFLECTOR_RETRYING,  /* disconnected: data is ageing; see err */
	KUBE_REFLECTOR_DEAF,      /* open but silent too long: being replaced */
	KUBE_REFLECTOR_RELISTING, /* after 410 or a doubt */
	KUBE_REFLECTOR_FORBIDDEN, /* 403: asked again only every few minutes */
	KUBE_REFLECTOR_POLLED, /* may be listed but not watched: listed again and again; see err */
	KUBE_REFLECTOR_STATE_COUNT,
};
const char *kube_reflector_state_name(enum kube_reflector_state state); /* "live", … */

enum kube_change { KUBE_ADDED, KUBE_MODIFIED, KUBE_DELETED };

struct kube_reflector_opts {
	const struct k8s_resource *resource;
	const char *namespace_; /* NULL: all */
	const char *label_selector, *field_selector;
	int page_objects;     /* 0: 500 */
	int64_t read_idle_ms; /* deaf after this long without a byte; 0: the client's, else 90 s (bookmarks come each minute) */
	/* One object. During a list every object comes as ADDED, in a relist again (same uid + resourceVersion =
	 * unchanged: the caller skips it); those that are gone come through on_sync. A change may come in between.
	 * object is borrowed. */
	void (*on_object)(void *arg, enum kube_change change, const struct cJSON *object);
	/* A list has begun (begin = true; again if it starts over), or ended: whatever was not seen since it last began
	 * is gone. */
	void (*on_sync)(void *arg, bool begin);
	/* Errors: ERR_KUBE_*, ERR_OP_TIMEOUT, ERR_CONFIG_EXEC_PLUGIN. */
	void (*on_state)(void *arg, enum kube_reflector_state state, const struct err *err);
	void *arg;
};
struct kube_reflector;
/* Errors: ERR_ARG_INVALID (a selector). */
struct kube_reflector *kube_reflector_start(
	struct kube_client *client, const struct kube_reflector_opts *opts, struct err *err);
void kube_reflector_stop(struct kube_reflector *reflector); /* frees; no callback comes after */
enum kube_reflector_state kube_reflector_state_of(const struct kube_reflector *reflector);
/* Age of the data: ms since the last sign of life while live, since the last good byte otherwise. */
int64_t kube_reflector_age_ms(const struct kube_reflector *reflector);
/* The server answers: a pause after a failure ends now, unless the server has named its length. is_lane_dead: what seems
 * open goes over a connection that is dead, and is asked for anew from the last revision. */
void kube_reflector_hurry(struct kube_reflector *reflector, bool is_lane_dead);
/* Monotonic: nothing is asked before then, as the server has said (Retry-After); 0: it has not. */
int64_t kube_reflector_not_before_ms(const struct kube_reflector *reflector);
void kube_reflector_resync(
	struct kube_reflector *reflector); /* a person asked, or the machine slept */
/* Counters for the status line and the benches. */
struct kube_reflector_stats {
	uint64_t lists;   /* in pages */
	uint64_t streams; /* streaming lists */
	uint64_t watches; /* from a revision: not those that a streaming list becomes */
	uint64_t events;  /* changes */
	uint64_t bookmarks, retries;
};
struct kube_reflector_stats kube_reflector_stats_of(const struct kube_reflector *reflector);
