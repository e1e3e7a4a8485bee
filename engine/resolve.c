// SPDX-License-Identifier: Apache-2.0
/* Resolving a name for a headless verb: focus the fleet on it, then look at every change until the row is
 * there and in the state that is wanted, or a reason ends the wait. */
#include "engine/internal.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "engine/kube/client.h"
#include "engine/kube/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	JOIN_GRACE_MS = 1500,
};

struct engine_resolve {
	struct engine *engine;
	char *namespace_;
	char *name;
	int64_t wait_ready_ms;
	int64_t name_ms; /* so long nothing may be known of it */
	int64_t began_ms;
	int64_t grace_until_ms; /* 0: not begun */
	struct net_loop_timer *deadline;
	struct net_loop_timer *first_look;
	void (*done)(void *arg, const struct err *err, const char *uid);
	void *arg;
	struct engine_resolve *prev, *next;
};

static void resolve_free(struct engine_resolve *resolve)
{
	DL_DELETE(resolve->engine->resolves, resolve);
	net_loop_timer_free(resolve->deadline);
	net_loop_timer_free(resolve->first_look);
	free(resolve->namespace_);
	free(resolve->name);
	free(resolve);
}

void engine_resolve_cancel(struct engine_resolve *resolve)
{
	if (resolve != NULL)
		resolve_free(resolve);
}

static void resolve_finish(
	struct engine_resolve *resolve, const struct err *err, const char *uid)
{
	void (*done)(void *, const struct err *, const char *) = resolve->done;
	void *arg = resolve->arg;
	char found[FLEET_UID_BYTES] = "";
	if (uid != NULL)
		snprintf(found, sizeof found, "%s", uid);
	resolve_free(resolve);
	done(arg, err, uid ? found : NULL);
}

const struct err *engine_source_failure(struct engine *engine)
{
	struct fleet_informer_state sources[8];
	size_t n = fleet_informers(engine->fleet, sources, sizeof sources / sizeof *sources);
	for (size_t i = 0; i < n; i++) {
		bool decides = strcmp(sources[i].resource, "sandboxclaims") == 0 ||
			       strcmp(sources[i].resource, "sandboxes") == 0;
		if (decides && !sources[i].synced && sources[i].err != NULL)
			return sources[i].err;
	}
	return NULL;
}

static bool ends_the_wait(const struct fleet_row *row, struct err *err)
{
	switch (row->state) {
	case FLEET_FAILED:
		err_set(err, ERR_CLAIM_FAILED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_EXPIRED:
		err_set(err, ERR_CLAIM_EXPIRED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_FINISHED:
		err_set(err, ERR_SANDBOX_FINISHED, "%s: %s", row->claim, row->why);
		return true;
	case FLEET_SUSPENDED:
	case FLEET_SUSPENDING:
		err_set(err, ERR_SANDBOX_SUSPENDED, "sandbox %s is suspended", row->sandbox);
		return true;
	case FLEET_TERMINATING:
		err_set(err, ERR_CLAIM_TERMINATING, "%s is being deleted", row->claim);
		return true;
	default:
		return false;
	}
}

static bool is_pod_hidden(struct engine *engine)
{
	struct fleet_informer_state sources[8];
	size_t n = fleet_informers(engine->fleet, sources, sizeof sources / sizeof *sources);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(sources[i].resource, "pods") == 0)
			return sources[i].err != NULL;
	}
	return false;
}

/* The Sandbox behind a claim is looked for a moment later than the claim, and its pod later still: verbs that act on
 * it need the first, those that reach into it both (the pod may be on its way out). A claim may also name one that is
 * gone, so the wait is short. */
static bool is_joined(struct engine_resolve *resolve, const struct fleet_row *row)
{
	struct engine *engine = resolve->engine;
	bool has_sandbox = row->sandbox[0] == '\0' || row->sandbox_uid[0] != '\0' ||
			   engine_source_failure(engine) != NULL;
	bool has_pod =
		resolve->wait_ready_ms == 0 || row->pod_uid[0] != '\0' || is_pod_hidden(engine);
	/* what the template policy asks about */
	bool has_template = engine->policy == NULL || row->template_[0] != '\0';
	if (has_sandbox && has_pod && has_template)
		return true;
	if (resolve->grace_until_ms == 0) {
		resolve->grace_until_ms = clock_mono_ms() + JOIN_GRACE_MS;
		net_loop_timer_arm(resolve->first_look, JOIN_GRACE_MS + 1);
	}
	return clock_mono_ms() >= resolve->grace_until_ms;
}

static void resolve_look(struct engine_resolve *resolve)
{
	struct engine *engine = resolve->engine;
	struct err err = { 0 };
	const struct fleet_row *row =
		fleet_find_name(engine->fleet, resolve->namespace_, resolve->name, &err);
	bool is_ready = row != NULL && row->state == FLEET_READY && !row->is_pod_ending;
	if (is_ready || (row != NULL && resolve->wait_ready_ms == 0)) {
		if (is_joined(resolve, row))
			resolve_finish(resolve, NULL, row->uid);
		return;
	}
	if (row != NULL) {
		/* what ended may be a pod that is being replaced: the pod tells */
		bool may_pass = row->state == FLEET_FINISHED || row->state == FLEET_FAILED;
		if (may_pass && !is_joined(resolve, row))
			return;
		if (ends_the_wait(row, &err))
			resolve_finish(resolve, &err, NULL);
		return;
	}
	const struct err *failure = engine_source_failure(engine);
	if (failure != NULL) {
		err = *failure; /* a copy: the callback may change the fleet */
		resolve_finish(resolve, &err, NULL);
	} else if (fleet_is_synced(engine->fleet)) {
		resolve_finish(resolve, &err, NULL);
	}
}

static void on_first_look(void *arg)
{
	resolve_look(arg);
}

/* What is known of it decides. */
static void resolve_give_up(struct engine_resolve *resolve, const struct fleet_row *row)
{
	struct err err = { 0 };
	char because[FLEET_BECAUSE_BYTES];
	if (row != NULL && resolve->wait_ready_ms == 0) {
		resolve_finish(resolve, NULL, row->uid);
		return;
	}
	if (row != NULL)
		err_set(&err, ERR_SANDBOX_NOT_READY, "%s is %s%s", resolve->name,
			fleet_state_name(row->state), fleet_row_because(row, because));
	else
		err_set(&err, ERR_OP_TIMEOUT, "no answer about %s from %s", resolve->name,
			resolve->engine->server);
	resolve_finish(resolve, &err, NULL);
}

static const struct fleet_row *resolve_row(const struct engine_resolve *resolve)
{
	return fleet_find_name(
		resolve->engine->fleet, resolve->namespace_, resolve->name, NULL);
}

/* One time for the name, and one, from the same moment on, for what has that name to be ready. */
static void on_resolve_deadline(void *arg)
{
	struct engine_resolve *resolve = arg;
	const struct fleet_row *row = resolve_row(resolve);
	int64_t whole_ms = row != NULL && resolve->wait_ready_ms ? resolve->wait_ready_ms
								 : resolve->name_ms;
	int64_t left_ms = resolve->began_ms + whole_ms - clock_mono_ms();
	/* a person takes the time that a person takes */
	if (kube_client_is_logging_in(resolve->engine->kube))
		net_loop_timer_arm(resolve->deadline, whole_ms);
	else if (left_ms > 0)
		net_loop_timer_arm(resolve->deadline, left_ms);
	else
		resolve_give_up(resolve, row);
}

void engine_resolve_end(struct engine_resolve *resolve)
{
	resolve_give_up(resolve, resolve_row(resolve));
}

/* What -o name and kubectl print: KIND/NAME and KIND.GROUP/NAME. A Sandbox keeps its "sandbox/", a claim is the bare name. */
static char *plain_name(const char *name)
{
	const char *slash = strchr(name, '/');
	size_t kind = slash ? strcspn(name, "./") : 0;
	struct slice word = { name, kind };
	if (slash == NULL)
		return x_strdup(name);
	if (slice_equals(word, "sandboxclaim") || slice_equals(word, "sandboxclaims"))
		return x_strdup(slash + 1);
	if (slice_equals(word, "sandbox") || slice_equals(word, "sandboxes"))
		return x_asprintf("sandbox/%s", slash + 1);
	return x_strdup(name);
}

struct engine_resolve *engine_resolve_start(struct engine *engine, const char *name,
	int64_t wait_ready_ms, void (*done)(void *arg, const struct err *err, const char *uid),
	void *arg, struct err *err)
{
	if (engine->fleet == NULL) {
		err_set(err, ERR_ARG_INVALID, "a name needs a cluster, not --rest/--grpc");
		return NULL;
	}
	struct engine_resolve *resolve = x_calloc(1, sizeof *resolve);
	resolve->engine = engine;
	resolve->name_ms = setting_get(SETTING_RESOLVE_TIMEOUT);
	resolve->began_ms = clock_mono_ms();
	resolve->name = plain_name(name);
	resolve->namespace_ =
		x_strdup(engine->namespace_[0] ? engine->namespace_
					       : kube_config_namespace(engine->config));
	resolve->wait_ready_ms = wait_ready_ms;
	resolve->done = done;
	resolve->arg = arg;
	DL_APPEND(engine->resolves, resolve);
	resolve->deadline = net_loop_timer_new(engine->loop, on_resolve_deadline, resolve);
	bool is_sooner = wait_ready_ms > 0 && wait_ready_ms < resolve->name_ms;
	net_loop_timer_arm(resolve->deadline, is_sooner ? wait_ready_ms : resolve->name_ms);
	resolve->first_look = net_loop_timer_new(engine->loop, on_first_look, resolve);
	net_loop_timer_arm(resolve->first_look, 0);
	fleet_single_watch(engine->fleet, resolve->namespace_, resolve->name);
	return resolve;
}

void engine_resolves_look(struct engine *engine)
{
	struct engine_resolve *resolve, *after;
	DL_FOREACH_SAFE(engine->resolves, resolve, after)
		resolve_look(resolve);
}
