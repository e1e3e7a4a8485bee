// SPDX-License-Identifier: Apache-2.0
/* The public face of the store, and the one notification a turn. */
#include "engine/fleet/fleet_internal.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/fleet/story.h"
#include "engine/k8s/selector.h"
#include "engine/net/loop.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { EXPIRING_MS = 5 * 60 * 1000 };

static void on_store_change(void *arg)
{
	fleet_note_change(arg);
}

static void on_look_again(void *arg)
{
	struct fleet *fleet = arg;
	if (fleet_store_show_hidden(&fleet->store))
		net_loop_timer_arm(fleet->look_again, STORE_HIDE_MS);
}

/* ---- life */

struct fleet *fleet_new(struct net_loop *loop, struct kube_client *kube,
	const struct fleet_opts *opts, struct err *err)
{
	if (opts->label_selector != NULL && opts->label_selector[0]) {
		struct k8s_selector *selector =
			k8s_label_selector_parse(opts->label_selector, err);
		if (selector == NULL)
			return NULL;
		k8s_selector_free(selector);
	}
	struct fleet *fleet = x_calloc(1, sizeof *fleet);
	fleet->loop = loop;
	fleet->kube = kube;
	fleet->telemetry = opts->telemetry;
	fleet->read_only = opts->read_only;
	fleet->policy = opts->policy;
	fleet->namespace_ =
		opts->namespace_ && opts->namespace_[0] ? x_strdup(opts->namespace_) : NULL;
	fleet->label_selector = opts->label_selector && opts->label_selector[0]
					? x_strdup(opts->label_selector)
					: NULL;
	fleet->on_change = opts->on_change;
	fleet->arg = opts->arg;
	fleet_store_init(&fleet->store, on_store_change, fleet);
	fleet->store.usage = opts->usage;
	fleet->store.is_filtered = fleet->label_selector != NULL;
	fleet->look_again = net_loop_timer_new(loop, on_look_again, fleet);
	if (opts->keeps_deleted)
		fleet_tombstones_start(fleet);
	if (!opts->lazy)
		fleet_informers_start_whole(fleet);
	return fleet;
}

void fleet_free(struct fleet *fleet)
{
	if (fleet == NULL)
		return;
	struct fleet_hold *hold, *after;
	DL_FOREACH_SAFE(fleet->holds, hold, after)
		hold->on_retire(hold);
	if (fleet->holds !=
		NULL) { /* somebody works on it still; nobody looks at it any more */
		fleet->is_retired = true;
		fleet->on_change = NULL;
		return;
	}
	while (fleet->ops != NULL)
		fleet_op_cancel(fleet->ops);
	fleet_rollbacks_free(fleet);
	fleet_unbinds_free(fleet);
	fleet_informers_stop(fleet);
	net_loop_timer_free(fleet->look_again);
	net_loop_timer_free(fleet->tombstones_end);
	fleet->look_again = fleet->tombstones_end = NULL;
	fleet_store_deinit(&fleet->store);
	if (fleet->notice != NULL)
		fleet->notice->fleet = NULL;
	free(fleet->namespace_);
	free(fleet->label_selector);
	free(fleet);
}

void fleet_hold_begin(struct fleet *fleet, struct fleet_hold *hold)
{
	DL_APPEND(fleet->holds, hold);
}

void fleet_hold_end(struct fleet *fleet, struct fleet_hold *hold)
{
	DL_DELETE(fleet->holds, hold);
	if (fleet->holds == NULL && fleet->is_retired)
		fleet_free(fleet);
}

void fleet_watch(struct fleet *fleet)
{
	if (!fleet->is_watching) {
		fleet->store.is_synced[STORE_CLAIMS] = false;
		fleet_informers_start_whole(fleet);
	}
}

void fleet_single_watch(struct fleet *fleet, const char *namespace_, const char *name)
{
	if (!fleet->is_watching)
		fleet_informers_focus(fleet, namespace_, name);
}

/* ---- rows */

/* Holes are closed when somebody counts; that changes no row. */
static struct fleet_store *packed(const struct fleet *fleet)
{
	union {
		const struct fleet *borrowed;
		struct fleet *owned;
	} access = { fleet };
	fleet_store_pack(&access.owned->store);
	return &access.owned->store;
}

uint64_t fleet_revision(const struct fleet *fleet)
{
	return fleet->store.revision;
}

size_t fleet_count(const struct fleet *fleet)
{
	return packed(fleet)->n_rows;
}

const struct fleet_row *fleet_at(const struct fleet *fleet, size_t index)
{
	return &packed(fleet)->rows[index]->shown;
}

const struct fleet_row *fleet_find(const struct fleet *fleet, const char *uid)
{
	const struct fleet_store_row *row = fleet_store_find(&fleet->store, uid);
	return row ? &row->shown : NULL;
}

/* `<claim>.<uid8>` names one claim and no later one of the same name. */
static bool has_short_id(const struct fleet_row *row, const char *name)
{
	size_t n = strlen(row->claim);
	return strncmp(name, row->claim, n) == 0 && name[n] == '.' &&
	       strlen(name + n + 1) == 8 && strncmp(row->uid, name + n + 1, 8) == 0;
}

const struct fleet_row *fleet_find_name(
	const struct fleet *fleet, const char *namespace_, const char *name, struct err *err)
{
	bool by_sandbox = strncmp(name, "sandbox/", 8) == 0;
	const struct fleet_row *found = NULL;
	for (size_t i = 0; i < fleet_count(fleet); i++) {
		const struct fleet_row *row = fleet_at(fleet, i);
		if (strcmp(row->namespace_, namespace_) != 0)
			continue;
		if (by_sandbox) {
			/* a row may have none yet: "sandbox/" names nothing */
			if (name[8] != '\0' && strcmp(row->sandbox, name + 8) == 0)
				return row;
		} else if (row->claim[0]) {
			if (strcmp(row->claim, name) == 0)
				return row;
			if (has_short_id(row, name))
				found = row;
		}
	}
	if (found == NULL)
		err_set(err, by_sandbox ? ERR_SANDBOX_NOT_FOUND : ERR_CLAIM_NOT_FOUND,
			"no %s is called %s in namespace %s", by_sandbox ? "sandbox" : "claim",
			by_sandbox ? name + 8 : name, namespace_);
	return found;
}

void fleet_changes(const struct fleet *fleet, uint64_t since,
	void (*fn)(void *arg, const char *uid, const struct fleet_row *row), void *arg)
{
	fleet_store_changes(&fleet->store, since, fn, arg);
}

/* ---- counters, pools, events */

struct fleet_counters fleet_counters_of(const struct fleet *fleet)
{
	struct fleet_counters counters;
	memcpy(counters.by_state, fleet->store.by_state, sizeof counters.by_state);
	counters.expiring =
		fleet_store_n_expiring(&fleet->store, clock_wall_ms() + EXPIRING_MS);
	counters.next_end_ms = counters.expiring ? fleet_store_next_end(&fleet->store) : 0;
	return counters;
}

size_t fleet_pool_count(const struct fleet *fleet)
{
	return fleet->store.n_pools;
}

struct fleet_pool fleet_pool_at(const struct fleet *fleet, size_t index)
{
	const struct fleet_store *store = &fleet->store;
	const struct fleet_store_pool *pool = store->pool_list[index];
	return (struct fleet_pool){
		.namespace_ = pool->namespace_,
		.name = pool->name,
		.template_ = pool->template_,
		.desired = pool->desired,
		.ready = pool->ready,
		.is_template_missing =
			store->is_synced[STORE_TEMPLATES] &&
			fleet_store_template(store, pool->namespace_, pool->template_) == NULL,
	};
}

static size_t add_events(
	const struct fleet_event_list *list, struct fleet_event *out, size_t n, size_t max)
{
	for (const struct fleet_store_event *event = list ? list->events : NULL; event;
		event = event->next) {
		size_t at = n;
		while (at > 0 && out[at - 1].wall_ms < event->when_ms)
			at--;
		if (at == max)
			return n;
		if (n < max)
			n++;
		memmove(out + at + 1, out + at, (n - 1 - at) * sizeof *out);
		out[at] = (struct fleet_event){
			.wall_ms = event->when_ms,
			.is_warning = event->is_warning,
			.reason = event->reason,
			.message = event->message,
			.object = event->object,
			.count = event->count,
		};
	}
	return n;
}

size_t fleet_events(
	const struct fleet *fleet, const char *uid, struct fleet_event *out, size_t max)
{
	const struct fleet_store *store = &fleet->store;
	const struct fleet_store_row *row = fleet_store_find(store, uid);
	const struct fleet_tombstone *stone = row ? NULL : fleet_tombstone_of(store, uid);
	size_t n = 0;
	if (max == 0)
		return 0;
	for (size_t i = 0; stone != NULL && i < TOMBSTONE_OBJECTS; i++)
		n = add_events(fleet_events_about(store, &stone->about[i]), out, n, max);
	if (row == NULL)
		return n;
	if (row->claim != NULL)
		n = add_events(fleet_events_about(store, &row->claim->uid), out, n, max);
	if (row->sandbox != NULL) {
		n = add_events(fleet_events_about(store, &row->sandbox->uid), out, n, max);
		if (row->sandbox->pod != NULL)
			n = add_events(fleet_events_about(store, &row->sandbox->pod->uid), out,
				n, max);
	}
	return n;
}

size_t fleet_story(
	const struct fleet *fleet, const char *uid, struct fleet_story_entry *out, size_t max)
{
	const struct fleet_store *store = &fleet->store;
	const struct fleet_store_row *row = fleet_store_find(store, uid);
	const struct fleet_tombstone *stone = row ? NULL : fleet_tombstone_of(store, uid);
	if (row != NULL && max > 0)
		return fleet_story_of(store, row, out, max);
	if (stone == NULL)
		return 0;
	size_t n = stone->n_story < max ? stone->n_story : max;
	memcpy(out, stone->story, n * sizeof *out);
	return n;
}
