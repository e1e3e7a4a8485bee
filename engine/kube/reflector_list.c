// SPDX-License-Identifier: Apache-2.0
/* How a list begins, ends and fails.
 *
 * A streaming list is one request that goes on as the watch. Pages take over when the server does not offer it, and
 * when its initial events come so slowly that compressed pages would be faster: watches are never compressed. The same
 * look at the pace finds a dead connection, and a server that does not know the parameter and thus never ends the
 * initial events. What came until then stays with the owner; nothing is taken away before a list is complete. */
#include "engine/kube/reflector_internal.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"

#include <string.h>

enum {
	MAX_LIST_RESTARTS = 2,
	MAX_CUT_STREAMS =
		2, /* pages get further over a connection that breaks: they go on where they were */
	PACE_WINDOW_MS = 5 * 1000,
	MIN_BYTES_PER_SECOND = 512 << 10, /* objects compress about tenfold */
	STREAM_TIMEOUT_MS = 5 * 60 * 1000,
	ASK_AGAIN_MS = 10 * 60 * 1000,
	FORBIDDEN_MIN_MS = 150 * 1000,
	FORBIDDEN_MAX_MS = 210 * 1000,
};

bool kube_reflector_is_single(const struct kube_reflector *reflector)
{
	const char *selector = reflector->opts.field_selector;
	return selector != NULL && strncmp(selector, "metadata.name=", 14) == 0;
}

void kube_reflector_begin_list(struct kube_reflector *reflector)
{
	str_clear(&reflector->token);
	reflector->seen = 0;
	reflector->remaining = -1;
	reflector->is_listing = true;
	reflector->wants_list = false;
	reflector->is_inconsistent = false;
	/* one object by its name is one key for the server, and its list never costs a refusal first */
	reflector->is_streamed = !reflector->wants_pages &&
				 !kube_reflector_is_single(reflector) &&
				 kube_client_may_stream(reflector->client);
	if (reflector->opts.on_sync != NULL)
		reflector->opts.on_sync(reflector->opts.arg, true);
}

void kube_reflector_relist(struct kube_reflector *reflector, int64_t delay_ms)
{
	str_clear(&reflector->revision);
	reflector->is_listing = false;
	kube_reflector_go_on(reflector, delay_ms);
}

static void forbidden(struct kube_reflector *reflector, const struct err *err)
{
	kube_reflector_set_state(reflector, KUBE_REFLECTOR_FORBIDDEN, err);
	kube_reflector_relist(reflector, kube_jitter_ms(FORBIDDEN_MIN_MS, FORBIDDEN_MAX_MS));
}

static void list_is_complete(struct kube_reflector *reflector)
{
	str_clear(&reflector->revision);
	str_add(&reflector->revision, reflector->list_revision.p);
	reflector->is_listing = false;
	reflector->has_listed = reflector->is_fresh = true;
	reflector->list_restarts = 0;
	reflector->cut_streams = 0;
	reflector->wants_pages = false;
	if (reflector->opts.on_sync != NULL)
		reflector->opts.on_sync(reflector->opts.arg, false);
}

/* ---- pages */

void kube_reflector_page_ended(struct kube_reflector *reflector)
{
	if (reflector->token.n > 0) {
		kube_reflector_go_on(reflector, 0);
		return;
	}
	list_is_complete(reflector);
	/* pages of two revisions may miss a change between them: once more, later */
	reflector->wants_list = reflector->is_inconsistent;
	if (reflector->is_inconsistent)
		kube_reflector_relist(reflector, kube_backoff_next_ms(&reflector->backoff));
	else
		kube_reflector_go_on(reflector, 0);
}

/* The continue token has expired. The Status carries one that goes on at a newer revision: worth it only when more
 * than half is in, or when starting over never gets there. */
static void token_expired(struct kube_reflector *reflector, const struct kube_answer *answer)
{
	const char *token = json_str(answer->object, "metadata", "continue", NULL);
	bool is_half =
		reflector->remaining >= 0 && reflector->seen > (uint64_t)reflector->remaining;
	str_clear(&reflector->token);
	if (token != NULL && token[0] &&
		(is_half || reflector->list_restarts >= MAX_LIST_RESTARTS)) {
		str_add(&reflector->token, token);
		reflector->is_inconsistent = true;
		kube_reflector_go_on(reflector, 0);
		return;
	}
	reflector->list_restarts++;
	kube_reflector_relist(reflector, kube_backoff_next_ms(&reflector->backoff));
}

void kube_reflector_page_failed(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer)
{
	if (err->code == ERR_KUBE_NOT_SERVED &&
		kube_version_question_ask(&reflector->versions, reflector->client))
		return;
	if (err->code == ERR_KUBE_EXPIRED && reflector->token.n > 0) {
		token_expired(reflector, answer);
		return;
	}
	if (answer->status == 403) {
		forbidden(reflector, err);
		return;
	}
	/* the page is asked for again with its own token; a bad token starts over */
	if (answer->status == 400 || err->code == ERR_KUBE_EXPIRED)
		reflector->is_listing = false;
	kube_reflector_retry(reflector, err, answer, false);
}

/* ---- a streaming list */

/* From here on it is a watch like any other. */
bool kube_reflector_initial_ended(
	struct kube_reflector *reflector, const char *revision, struct err *err)
{
	if (revision == NULL || !revision[0])
		return err_set(err, ERR_KUBE_PROTOCOL, "the list has no resourceVersion");
	str_clear(&reflector->list_revision);
	str_add(&reflector->list_revision, revision);
	if (reflector->list_revision.truncated)
		return err_set(
			err, ERR_KUBE_PROTOCOL, "the list's resourceVersion is too long");
	reflector->phase = REFLECTOR_WATCH;
	reflector->began_ms = clock_mono_ms();
	list_is_complete(reflector);
	if (reflector->is_dead)
		return false;
	kube_reflector_watch_began(reflector);
	return !reflector->is_dead;
}

static void pages_instead(struct kube_reflector *reflector)
{
	reflector->wants_pages = true;
	kube_reflector_relist(reflector, 0);
}

/* What a refusal says about other collections and later lists: ms without streams, or -1 when it is none. */
static int64_t refused_for(int status, bool is_event, enum err_code code)
{
	if (status == 403 || status == 400)
		return 0; /* the right to watch alone may be missing, or this selector wrong: the list tells */
	if (status == 405 || status == 422 || status == 501)
		return INT64_MAX;
	/* 504: its cache is behind etcd, and so may be its pages */
	if (status == 401 || status == 404 || status == 410 || status == 429 || status == 504)
		return -1;
	/* an etcd that is too old for it; or these are no events at all */
	return is_event || code == ERR_KUBE_PROTOCOL ? ASK_AGAIN_MS : -1;
}

void kube_reflector_initial_failed(struct kube_reflector *reflector, const struct err *err,
	const struct kube_answer *answer)
{
	struct err cause;
	bool is_event = reflector->event_err.code != ERR_NONE;
	int status = is_event ? reflector->event_status : answer->status;
	if (status >= 200 && status < 300)
		status = 0;
	if (is_event)
		cause = reflector->event_err;
	else if (err != NULL)
		cause = *err;
	else
		err_set(&cause, ERR_KUBE_TRANSPORT, "the list ended early");
	reflector->is_listing = false;
	if (!is_event && cause.code == ERR_KUBE_NOT_SERVED &&
		kube_version_question_ask(&reflector->versions, reflector->client))
		return;
	int64_t refused_ms = refused_for(status, is_event, cause.code);
	if (refused_ms >= 0) {
		kube_client_no_streams(reflector->client, refused_ms);
		pages_instead(reflector);
		return;
	}
	reflector->wants_pages = ++reflector->cut_streams >= MAX_CUT_STREAMS;
	kube_reflector_retry(reflector, &cause, answer, false);
}

void kube_reflector_watch_pace(struct kube_reflector *reflector)
{
	reflector->window_bytes = 0;
	net_loop_timer_arm(reflector->idle, PACE_WINDOW_MS);
}

void kube_reflector_look_at_pace(struct kube_reflector *reflector)
{
	uint64_t bytes = reflector->window_bytes;
	bool is_fast = bytes >= (uint64_t)MIN_BYTES_PER_SECOND * PACE_WINDOW_MS / 1000;
	if (is_fast && clock_mono_ms() - reflector->began_ms < STREAM_TIMEOUT_MS) {
		kube_reflector_watch_pace(reflector);
		return;
	}
	kube_reflector_drop_request(reflector);
	/* it may be dead; if not, what is under way in it would still come before the pages */
	kube_client_reset_connections(reflector->client, reflector->pool_key);
	kube_client_no_streams(reflector->client, ASK_AGAIN_MS);
	pages_instead(reflector);
}
