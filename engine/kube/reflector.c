// SPDX-License-Identifier: Apache-2.0
/*                 ┌──────────── 410, resync, doubt ─────────────┐
 *   start ─> streaming list ── its end bookmark: on_sync(end) ─> watch ─┐
 *              └─ not offered ─> list page ─> page ─> on_sync(end) ─^   │
 *                                                    ^── end, error ────┘
 *
 * A watch that lived over a second is taken up again at once from the last resourceVersion; whatever fails sooner waits
 * with growing pauses. Rows stay meanwhile: the owner shows their age. Model: client-go tools/cache Reflector. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/k8s/selector.h"
#include "engine/net/loop.h"

#include <stdlib.h>
#include <string.h>

enum {
	POLL_ONE_MS = 2 * 1000, /* a single object, on which somebody waits */
	LIVED_MS = 1000,
	MAX_INTERNAL_ERRORS = 3,
	TOKEN_MAX_BYTES = 8 << 10,
	REVISION_MAX_BYTES = 256,
};

/* ---- endings */

static enum kube_reflector_state waiting_state(const struct kube_reflector *reflector)
{
	return reflector->has_listed ? KUBE_REFLECTOR_RETRYING : KUBE_REFLECTOR_STARTING;
}

/* The right to watch alone may be missing: only a list tells. */
static void watch_forbidden(struct kube_reflector *reflector, const struct err *err)
{
	int64_t interval = kube_reflector_is_single(reflector)
				   ? POLL_ONE_MS
				   : setting_get(SETTING_POLL_INTERVAL);
	if (!reflector->is_fresh) {
		kube_reflector_set_state(reflector, KUBE_REFLECTOR_RELISTING, err);
		kube_reflector_relist(reflector, 0);
		return;
	}
	reflector->wants_pages = true;
	kube_reflector_set_state(reflector, KUBE_REFLECTOR_POLLED, err);
	kube_reflector_relist(reflector, kube_jitter_ms(interval, interval + interval / 4));
}

static void on_not_served(void *arg, const struct err *err)
{
	const struct kube_answer answer = { .status = 404, .retry_after_ms = -1 };
	kube_reflector_retry(arg, err, &answer, false);
}

static void watch_failed(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer, bool lived)
{
	struct err cause = reflector->event_err.code != ERR_NONE ? reflector->event_err : *err;
	int status = reflector->event_status ? reflector->event_status : answer->status;
	if (cause.code == ERR_KUBE_EXPIRED) {
		kube_reflector_set_state(reflector, KUBE_REFLECTOR_RELISTING, &cause);
		/* a server that expires everything at once must not be listed in a loop */
		kube_reflector_relist(reflector,
			reflector->relists++ == 0 ? 0
						  : kube_backoff_next_ms(&reflector->backoff));
		return;
	}
	if (status == 403) {
		watch_forbidden(reflector, &cause);
		return;
	}
	/* 400 and 404 come of the revision or of the resource itself: a list will tell */
	bool doubt = status == 400 || status == 404;
	if (status >= 500 && !lived)
		doubt = ++reflector->internal_errors >= MAX_INTERNAL_ERRORS;
	if (doubt) {
		reflector->internal_errors = 0;
		str_clear(&reflector->revision);
	}
	kube_reflector_retry(reflector, &cause, answer, lived && status == 0);
}

static void watch_ended(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer)
{
	int64_t age = clock_mono_ms() - reflector->began_ms;
	bool lived = age > LIVED_MS;
	if (lived) {
		reflector->internal_errors = 0;
		reflector->relists = 0;
	}
	if (age >= KUBE_BACKOFF_HEALTHY_MS)
		kube_backoff_reset(&reflector->backoff);
	if (err != NULL || reflector->event_err.code != ERR_NONE) {
		/* status 200 was the beginning; the cause is how it ended */
		struct kube_answer end = *answer;
		if (end.status >= 200 && end.status < 300)
			end.status = 0;
		watch_failed(reflector, err ? err : &reflector->event_err, &end, lived);
		return;
	}
	if (lived) { /* the server's own timeout */
		kube_reflector_go_on(reflector, 0);
		return;
	}
	struct err why;
	err_set(&why, ERR_KUBE_TRANSPORT, "the server ends the watch as soon as it begins");
	kube_reflector_retry(reflector, &why, answer, false);
}

static void ended(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer)
{
	net_loop_timer_disarm(reflector->idle);
	if (reflector->is_dead)
		return;
	if (reflector->phase == REFLECTOR_WATCH)
		watch_ended(reflector, err, answer);
	else if (reflector->phase == REFLECTOR_INITIAL)
		kube_reflector_initial_failed(reflector, err, answer);
	else if (err != NULL)
		kube_reflector_page_failed(reflector, err, answer);
	else
		kube_reflector_page_ended(reflector);
}

static void began(struct kube_reflector *reflector)
{
	if (reflector->phase == REFLECTOR_INITIAL)
		kube_reflector_watch_pace(reflector);
	if (reflector->phase == REFLECTOR_WATCH)
		kube_reflector_watch_began(reflector);
}

static const struct kube_reflector_events events = {
	.began = began, .initial_ended = kube_reflector_initial_ended, .ended = ended
};

/* ---- timers */

static void on_next(void *arg)
{
	struct kube_reflector *reflector = arg;
	if (reflector->request != NULL || reflector->versions.call != NULL ||
		reflector->is_dead)
		return;
	if (reflector->revision.n > 0 && !reflector->wants_list) {
		kube_reflector_start_watch(reflector);
		return;
	}
	if (!reflector->is_listing || reflector->is_streamed) {
		if (reflector->has_listed && reflector->state == KUBE_REFLECTOR_LIVE)
			kube_reflector_set_state(reflector, KUBE_REFLECTOR_RELISTING, NULL);
		kube_reflector_begin_list(reflector);
	}
	if (reflector->is_dead)
		return;
	if (reflector->is_streamed)
		kube_reflector_start_streaming_list(reflector);
	else
		kube_reflector_start_page(reflector);
}

/* Armed once per silence, not per byte: it looks how long ago the last byte came. */
static void on_idle(void *arg)
{
	struct kube_reflector *reflector = arg;
	if (reflector->phase == REFLECTOR_INITIAL) {
		kube_reflector_look_at_pace(reflector);
		return;
	}
	int64_t silent = clock_mono_ms() - reflector->last_byte_ms;
	if (silent < kube_reflector_idle_ms(reflector)) {
		net_loop_timer_arm(reflector->idle, kube_reflector_idle_ms(reflector) - silent);
		return;
	}
	struct err err;
	err_set(&err, ERR_KUBE_TRANSPORT, "the watch has been silent for %lld s",
		(long long)(silent / 1000));
	kube_reflector_drop_request(reflector);
	kube_client_reset_connections(reflector->client, reflector->pool_key);
	reflector->stats.retries++;
	kube_reflector_set_state(reflector, KUBE_REFLECTOR_DEAF, &err);
	kube_reflector_go_on(reflector, 0);
}

/* The machine slept: every connection is suspect, and a half-open one would never say so. */
static void on_wake(void *arg)
{
	struct kube_reflector *reflector = arg;
	if (reflector->state == KUBE_REFLECTOR_FORBIDDEN)
		return;
	struct err err;
	err_set(&err, ERR_KUBE_TRANSPORT, "the clock jumped: reconnecting");
	kube_reflector_drop_request(reflector);
	net_loop_timer_disarm(reflector->idle);
	kube_client_reset_connections(reflector->client, reflector->pool_key);
	kube_reflector_set_state(reflector, waiting_state(reflector), &err);
	kube_reflector_go_on(reflector, 0);
}

/* ---- the handle */

struct kube_reflector *kube_reflector_start(
	struct kube_client *client, const struct kube_reflector_opts *opts, struct err *err)
{
	if (opts->label_selector != NULL) {
		struct k8s_selector *selector =
			k8s_label_selector_parse(opts->label_selector, err);
		if (selector == NULL)
			return NULL;
		k8s_selector_free(selector);
	}
	struct kube_reflector *reflector = x_calloc(1, sizeof *reflector);
	struct net_loop *loop = kube_client_loop(client);
	reflector->client = client;
	reflector->opts = *opts;
	reflector->opts.namespace_ = x_strdup(opts->namespace_);
	reflector->opts.label_selector = x_strdup(opts->label_selector);
	reflector->opts.field_selector = x_strdup(opts->field_selector);
	reflector->path = kube_path(opts->resource, opts->namespace_, NULL, NULL);
	reflector->remaining = -1;
	str_init(&reflector->revision, REVISION_MAX_BYTES);
	str_init(&reflector->list_revision, REVISION_MAX_BYTES);
	str_init(&reflector->token, TOKEN_MAX_BYTES);
	str_init(&reflector->scratch, JSON_MAX_BYTES);
	reflector->next = net_loop_timer_new(loop, on_next, reflector);
	reflector->idle = net_loop_timer_new(loop, on_idle, reflector);
	reflector->events = &events;
	reflector->versions = (struct kube_version_question){
		.resource = opts->resource, .done = on_not_served, .arg = reflector
	};
	kube_reflector_stream_init(reflector, loop);
	reflector->wake = net_loop_wake_add(loop, on_wake, reflector);
	net_loop_timer_arm(reflector->next, 0);
	return reflector;
}

static void reflector_free(void *arg)
{
	struct kube_reflector *reflector = arg;
	net_loop_timer_free(reflector->next);
	net_loop_timer_free(reflector->idle);
	kube_reflector_stream_deinit(reflector);
	str_deinit(&reflector->revision);
	str_deinit(&reflector->list_revision);
	str_deinit(&reflector->token);
	str_deinit(&reflector->scratch);
	free(reflector->path);
	union {
		const char *borrowed;
		char *owned;
	} text[] = { { reflector->opts.namespace_ }, { reflector->opts.label_selector },
		{ reflector->opts.field_selector } };
	for (size_t i = 0; i < sizeof text / sizeof *text; i++)
		free(text[i].owned);
	free(reflector);
}

void kube_reflector_stop(struct kube_reflector *reflector)
{
	if (reflector == NULL || reflector->is_dead)
		return;
	reflector->is_dead = true;
	kube_reflector_drop_request(reflector);
	net_loop_timer_disarm(reflector->next);
	net_loop_timer_disarm(reflector->idle);
	net_loop_wake_remove(reflector->wake);
	/* one of its callbacks may be running: the memory goes at the end of the turn */
	net_loop_defer(kube_client_loop(reflector->client), reflector_free, reflector);
}

enum kube_reflector_state kube_reflector_state_of(const struct kube_reflector *reflector)
{
	return reflector->state;
}

int64_t kube_reflector_age_ms(const struct kube_reflector *reflector)
{
	return reflector->last_byte_ms ? clock_mono_ms() - reflector->last_byte_ms : 0;
}

void kube_reflector_hurry(struct kube_reflector *reflector, bool is_lane_dead)
{
	bool is_waiting = reflector->request == NULL && reflector->versions.call == NULL;
	bool is_paused = reflector->state == KUBE_REFLECTOR_RETRYING ||
			 (reflector->state == KUBE_REFLECTOR_STARTING &&
				 reflector->err.code != ERR_NONE);
	if (reflector->is_dead || reflector->not_before_ms > clock_mono_ms())
		return;
	if (is_lane_dead && reflector->request != NULL) {
		kube_reflector_drop_request(reflector);
		net_loop_timer_disarm(reflector->idle);
		reflector->stats.retries++;
		kube_reflector_go_on(reflector, 0);
	} else if (is_waiting && is_paused) {
		kube_reflector_go_on(reflector, 0);
	}
}

int64_t kube_reflector_not_before_ms(const struct kube_reflector *reflector)
{
	bool is_waiting = reflector->request == NULL && reflector->versions.call == NULL;
	return is_waiting && reflector->not_before_ms > clock_mono_ms()
		       ? reflector->not_before_ms
		       : 0;
}

void kube_reflector_resync(struct kube_reflector *reflector)
{
	kube_reflector_drop_request(reflector);
	net_loop_timer_disarm(reflector->idle);
	kube_client_reset_connections(reflector->client, reflector->pool_key);
	if (reflector->has_listed && reflector->state != KUBE_REFLECTOR_FORBIDDEN)
		kube_reflector_set_state(reflector, KUBE_REFLECTOR_RELISTING, NULL);
	kube_reflector_relist(reflector, 0);
}

struct kube_reflector_stats kube_reflector_stats_of(const struct kube_reflector *reflector)
{
	return reflector->stats;
}
