// SPDX-License-Identifier: Apache-2.0
/* Does the API server, or in direct mode the daemon, still answer?
 *
 *   LIVE ── quiet for a while: a question ── an answer in time ──> LIVE
 *     │                          ├─ none within LINK_PATIENCE_MS ──> SILENT ── an answer, late ──> SLOW
 *     │                          └─ refused, lost, 5xx ────────────> DOWN
 *     └─ both deciding watches have been down for a second ────────> DOWN
 *
 *   The question is GET /version; of a daemon, which has no watches, its health.
 *
 *   DOWN, SILENT: asked about twice a second, unless the server has named a time (Retry-After); an answer makes the watches go on at once (fleet_hurry), and when those are
 *   open it is LIVE. A question that times out leaves its connections: what was on them is opened anew as well. */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/internal.h"
#include "engine/kinds/informers.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"
#include "engine/kube/reflector.h"
#include "engine/kube/request.h"
#include "engine/net/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	QUIET_MS = 3000,
	QUIET_LOCAL_MS = 1000,
	AGAIN_MS = 500,
	TICK_MS = 250, /* while something is waited for */
	BROKEN_MS = 1000,
	QUESTION_MS = 10000,
	PAUSE_MAX_MS = 60000, /* whatever the server says: a person waits */
	SOURCES_MAX = 8,
};

struct engine_link_monitor {
	struct engine *engine;
	struct net_loop_timer *timer;
	struct kube_request *question;
	struct net_http_req *of_daemon; /* the same in direct mode */
	uint64_t pool_key;              /* of the question */
	int64_t asked_ms;      /* the question was put; monotonic, as all but the wall times */
	int64_t unanswered_ms; /* the first one that has not been answered; 0: none */
	int64_t answered_ms;   /* the last good answer; 0: none */
	int64_t took_ms;       /* it took */
	int64_t good_ms;       /* what is shown was right then; 0: never */
	int64_t not_before_ms; /* the server has said so to a question; 0 */
	int64_t followed_ms;   /* its address was looked for again */
	int64_t broken_ms;     /* the deciding watches are down since; 0: they are not */
	int64_t as_of_wall_ms;
	struct err err; /* of the last question; ERR_NONE: it was answered */
	bool is_looking, is_lane_dead;
	struct engine_link shown;
	char reason[sizeof(((struct err *)0)->msg)];
};

/* ---- the watches */

struct watches {
	int64_t byte_ms; /* when the last byte came on any of them; 0: never */
	size_t n, n_broken;
	const struct err *err;
	int64_t not_before_ms; /* of the one that may go on first; 0: not said */
};

static bool is_broken(const struct fleet_informer_state *source)
{
	switch ((enum kube_reflector_state)source->state) {
	case KUBE_REFLECTOR_RETRYING:
	case KUBE_REFLECTOR_DEAF:
		return true;
	case KUBE_REFLECTOR_STARTING:
		return source->err != NULL;
	default:
		return false;
	}
}

/* Claims and Sandboxes decide; of the others only the bytes count. */
static void look_at_watches(const struct engine_link_monitor *link, struct watches *out)
{
	struct fleet_informer_state sources[SOURCES_MAX];
	int64_t now = clock_mono_ms();
	*out = (struct watches){ 0 };
	if (link->engine->fleet == NULL)
		return;
	size_t n = fleet_informers(link->engine->fleet, sources, SOURCES_MAX);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_informer_state *source = &sources[i];
		bool has_bytes = source->synced || source->age_ms > 0;
		if (has_bytes && now - source->age_ms > out->byte_ms)
			out->byte_ms = now - source->age_ms;
		bool is_deciding = strcmp(source->resource, "sandboxclaims") == 0 ||
				   strcmp(source->resource, "sandboxes") == 0;
		if (!is_deciding || source->state == KUBE_REFLECTOR_FORBIDDEN)
			continue;
		out->n++;
		if (!is_broken(source))
			continue;
		out->n_broken++;
		out->err = out->err ? out->err : source->err;
		int64_t then = source->not_before_ms;
		if (out->n_broken == 1 || then < out->not_before_ms)
			out->not_before_ms = then;
	}
}

/* ---- the state */

static void show(
	struct engine_link_monitor *link, enum engine_link_state state, const struct err *err)
{
	struct engine_link *shown = &link->shown;
	const char *reason = err && err->code != ERR_NONE ? err->msg : "";
	bool is_refused = err && (err->sys == ECONNREFUSED || err->code == ERR_CONN_REFUSED);
	bool is_other = state != shown->state || is_refused != shown->is_refused ||
			strcmp(link->reason, reason) != 0;
	if (!is_other)
		return;
	bool was_bad = shown->state == ENGINE_LINK_SILENT || shown->state == ENGINE_LINK_DOWN;
	bool is_bad_too = state == ENGINE_LINK_SILENT || state == ENGINE_LINK_DOWN;
	if (state != shown->state && !(was_bad && is_bad_too)) /* one outage is one time */
		shown->since_ms = clock_mono_ms();
	shown->state = state;
	shown->is_refused = is_refused;
	shown->revision++;
	snprintf(link->reason, sizeof link->reason, "%s", reason);
	if (link->engine->on_change != NULL)
		link->engine->on_change(link->engine->on_change_arg);
}

static bool is_bad(const struct engine_link_monitor *link)
{
	return link->shown.state == ENGINE_LINK_SILENT || link->shown.state == ENGINE_LINK_DOWN;
}

/* When it is tried again, where that is not at once. */
static int64_t next_try_ms(
	const struct engine_link_monitor *link, const struct watches *watches)
{
	bool is_asked = link->question != NULL || link->of_daemon != NULL;
	int64_t then = link->err.code == ERR_NONE ? watches->not_before_ms
		       : is_asked                 ? 0
						  : link->not_before_ms;
	return is_bad(link) && then > clock_mono_ms() ? then : 0;
}

static void judge(struct engine_link_monitor *link, const struct watches *watches)
{
	int64_t now = clock_mono_ms();
	bool are_all_down = watches->n > 0 && watches->n_broken == watches->n;
	bool is_any_down = watches->n_broken > 0;
	/* once down, all of them must be up again */
	bool are_down = link->shown.state == ENGINE_LINK_DOWN ? is_any_down : are_all_down;
	if (!are_down)
		link->broken_ms = 0;
	else if (!link->broken_ms)
		link->broken_ms = now;
	int64_t unanswered = link->unanswered_ms ? now - link->unanswered_ms : 0;
	bool is_late =
		unanswered >= LINK_PATIENCE_MS && now - watches->byte_ms >= LINK_PATIENCE_MS;
	link->shown.took_ms = unanswered;
	if (is_late)
		show(link, ENGINE_LINK_SILENT, NULL);
	else if (link->err.code != ERR_NONE)
		show(link, ENGINE_LINK_DOWN, &link->err);
	else if (link->broken_ms &&
		 (now - link->broken_ms >= BROKEN_MS || link->shown.state == ENGINE_LINK_DOWN))
		show(link, ENGINE_LINK_DOWN, watches->err);
	else if (link->answered_ms && link->took_ms >= LINK_PATIENCE_MS)
		show(link, ENGINE_LINK_SLOW, NULL);
	else if (link->answered_ms || watches->byte_ms)
		show(link, ENGINE_LINK_LIVE, NULL);
	if (link->shown.state == ENGINE_LINK_SLOW)
		link->shown.took_ms = link->took_ms;
	link->shown.next_try_ms = next_try_ms(link, watches);
	if (link->shown.state != ENGINE_LINK_LIVE && link->shown.state != ENGINE_LINK_SLOW)
		return;
	/* an answer says how things were when it was asked for, at the latest */
	int64_t answered = link->answered_ms ? link->answered_ms - link->took_ms : 0;
	link->good_ms = watches->byte_ms > answered ? watches->byte_ms : answered;
	link->as_of_wall_ms = clock_wall_ms() - (now - link->good_ms);
}

/* ---- the question */

static void tick(struct engine_link_monitor *link);

/* good: it answered, whatever it said (401 is an answer too) */
static void answered(struct engine_link_monitor *link, bool is_good, const struct err *err)
{
	struct watches watches;
	int64_t now = clock_mono_ms();
	look_at_watches(link, &watches);
	bool is_timeout = !is_good && err->code == ERR_OP_TIMEOUT;
	if (!is_timeout)
		link->unanswered_ms = 0;
	if (is_good) {
		link->err.code = ERR_NONE;
		link->took_ms = now - link->asked_ms;
		link->answered_ms = now;
		/* on the old connections nothing has come while this was under way on a new one */
		bool is_stuck = link->is_lane_dead && watches.byte_ms < link->asked_ms;
		link->is_lane_dead = false;
		if (link->engine->fleet != NULL)
			fleet_hurry(link->engine->fleet, is_stuck);
		if (link->engine->kinds != NULL)
			kinds_informers_hurry(link->engine->kinds, is_stuck);
	} else if (is_timeout) { /* silent as before; perhaps it is the connection */
		if (link->engine->kube != NULL)
			kube_client_reset_connections(link->engine->kube, link->pool_key);
		link->is_lane_dead = true;
	} else {
		link->err = *err;
	}
	tick(link);
}

static void on_answer(void *arg, const struct err *err, const struct kube_answer *answer)
{
	struct engine_link_monitor *link = arg;
	link->question = NULL;
	int64_t pause_ms = answer->retry_after_ms;
	link->not_before_ms = pause_ms <= 0             ? 0
			      : pause_ms < PAUSE_MAX_MS ? clock_mono_ms() + pause_ms
							: clock_mono_ms() + PAUSE_MAX_MS;
	answered(link, answer->status >= 200 && answer->status < 500, err);
}

static void on_daemon(
	void *arg, const struct err *err, const struct net_http_reply *reply, struct slice body)
{
	struct engine_link_monitor *link = arg;
	struct err own = { 0 };
	(void)body;
	link->of_daemon = NULL;
	bool is_good = reply != NULL && reply->status >= 200 && reply->status < 500;
	if (err != NULL)
		own = *err;
	else if (!is_good)
		err_set(&own, ERR_RUNTIME_UNAVAILABLE, "its health is told with status %d",
			reply != NULL ? reply->status : 0);
	answered(link, is_good, &own);
}

static void ask(struct engine_link_monitor *link)
{
	struct kube_client *kube = link->engine->kube;
	const struct kube_request_opts opts = {
		.method = "GET",
		.path = "/version",
		.rate = KUBE_RATE_NONE,
		.timeout_ms = QUESTION_MS,
		.done = on_answer,
		.arg = link,
	};
	link->asked_ms = clock_mono_ms();
	if (!link->unanswered_ms)
		link->unanswered_ms = link->asked_ms;
	if (kube == NULL) {
		link->of_daemon = runtime_ask(connect_direct(link->engine->connect),
			QUESTION_MS, on_daemon, link, &link->err);
	} else {
		link->pool_key = kube_client_lane_number(kube);
		link->question = kube_request_start(kube, &opts, &link->err);
	}
	if (link->question == NULL && link->of_daemon == NULL)
		link->unanswered_ms = 0;
}

/* A backend of this machine writes its context anew when it starts: its old port may have been taken meanwhile. */
static void follow(struct engine_link_monitor *link)
{
	struct engine *engine = link->engine;
	link->followed_ms = clock_mono_ms();
	if (!engine->is_local || !kube_config_follow(engine->config))
		return;
	kube_request_cancel(link->question); /* whoever has the port now may keep it */
	link->question = NULL;
	link->asked_ms = link->followed_ms - AGAIN_MS;
	free(engine->server);
	engine->server = x_strdup(kube_config_server(engine->config));
	kube_client_reset_connections(engine->kube, kube_client_lane_number(engine->kube));
	link->is_lane_dead = true;
}

static void tick(struct engine_link_monitor *link)
{
	struct watches watches;
	int64_t now = clock_mono_ms();
	if (!link->is_looking)
		return;
	if (is_bad(link) && now - link->followed_ms >= AGAIN_MS)
		follow(link);
	look_at_watches(link, &watches);
	int64_t last =
		link->answered_ms > watches.byte_ms ? link->answered_ms : watches.byte_ms;
	bool is_in_doubt = is_bad(link) || link->shown.state == ENGINE_LINK_SLOW ||
			   link->unanswered_ms || watches.n_broken > 0 ||
			   link->err.code != ERR_NONE;
	int64_t quiet = link->engine->is_local ? QUIET_LOCAL_MS : QUIET_MS;
	int64_t due = is_in_doubt ? link->asked_ms + AGAIN_MS
				  : (last > link->asked_ms ? last : link->asked_ms) + quiet;
	bool is_asked = link->question != NULL || link->of_daemon != NULL;
	if (due < link->not_before_ms)
		due = link->not_before_ms;
	if (!is_asked && now >= due) {
		ask(link);
		due = now + AGAIN_MS;
	}
	judge(link, &watches);
	bool is_waiting = is_asked || is_bad(link) || link->broken_ms;
	int64_t wait = due - now > 0 ? due - now : 1;
	net_loop_timer_arm(link->timer, is_waiting && wait > TICK_MS ? TICK_MS : wait);
}

static void on_timer(void *arg)
{
	tick(arg);
}

void engine_link_check(struct engine *engine)
{
	struct engine_link_monitor *link = engine->link;
	struct watches watches;
	if (link == NULL || !link->is_looking)
		return;
	look_at_watches(link, &watches);
	/* rows that came are as of now, even if the next thing is an outage: nothing else looks at them for seconds */
	if (link->shown.state == ENGINE_LINK_WAITING && watches.byte_ms > 0)
		judge(link, &watches);
	/* a watch that breaks, and one that is open again, are worth a look at once */
	if (watches.n_broken > 0 || is_bad(link))
		net_loop_timer_arm(link->timer, 0);
}

/* ---- from outside */

void engine_look(struct engine *engine, bool is_looking)
{
	struct engine_link_monitor *link = engine->link;
	if (link == NULL || link->is_looking == is_looking)
		return;
	link->is_looking = is_looking;
	if (is_looking) {
		net_loop_timer_arm(link->timer, 0);
		return;
	}
	net_loop_timer_disarm(link->timer);
	kube_request_cancel(link->question);
	net_http_cancel(link->of_daemon);
	link->question = NULL;
	link->of_daemon = NULL;
}

void engine_link_try(struct engine *engine)
{
	struct engine_link_monitor *link = engine->link;
	if (link == NULL)
		return;
	follow(link);
	link->not_before_ms = 0;
	link->asked_ms = clock_mono_ms() - AGAIN_MS;
	net_loop_timer_arm(link->timer, 0);
}

bool engine_link_of(const struct engine *engine, struct engine_link *out)
{
	const struct engine_link_monitor *link = engine->link;
	if (link == NULL)
		return false;
	*out = link->shown;
	out->as_of_wall_ms = link->good_ms ? link->as_of_wall_ms : 0;
	out->reason = link->reason;
	return true;
}

void engine_link_init(struct engine *engine)
{
	struct engine_link_monitor *link = x_calloc(1, sizeof *link);
	link->engine = engine;
	link->timer = net_loop_timer_new(engine->loop, on_timer, link);
	engine->link = link;
}

void engine_link_deinit(struct engine *engine)
{
	struct engine_link_monitor *link = engine->link;
	if (link == NULL)
		return;
	kube_request_cancel(link->question);
	net_http_cancel(link->of_daemon);
	net_loop_timer_free(link->timer);
	free(link);
	engine->link = NULL;
}
