// SPDX-License-Identifier: Apache-2.0
/* One row: made, computed anew from its claim, Sandbox and pod, compared with what is shown, removed. */
#include "engine/base/map.h"
#include "engine/base/str.h"
#include "engine/fleet/limits.h"
#include "engine/fleet/observations.h"
#include "engine/fleet/store.h"
#include "engine/usage/table.h"

#include <string.h>

enum { WHY_MAX_BYTES = 1024, NEXT_MAX_BYTES = 512 };

/* The strings of a row. */
static const size_t texts[] = {
	offsetof(struct fleet_row, namespace_),
	offsetof(struct fleet_row, claim),
	offsetof(struct fleet_row, sandbox),
	offsetof(struct fleet_row, pod),
	offsetof(struct fleet_row, pool),
	offsetof(struct fleet_row, template_),
	offsetof(struct fleet_row, node),
	offsetof(struct fleet_row, pod_ip),
	offsetof(struct fleet_row, service_fqdn),
	offsetof(struct fleet_row, created_by),
	offsetof(struct fleet_row, runtime_class),
	offsetof(struct fleet_row, labels),
	offsetof(struct fleet_row, why),
	offsetof(struct fleet_row, next),
};
enum { N_TEXTS = sizeof texts / sizeof *texts };

static const char **text_of(struct fleet_row *row, size_t i)
{
	return (const char **)(void *)((char *)row + texts[i]);
}

static void changed(struct fleet_store *store, struct fleet_store_row *row)
{
	row->shown.revision = ++store->revision;
	DL_DELETE(store->by_revision, row);
	DL_APPEND(store->by_revision, row);
	store->on_change(store->arg);
}

struct fleet_store_row *fleet_row_new(struct fleet_store *store)
{
	struct fleet_store_row *row = x_calloc(1, sizeof *row);
	for (size_t i = 0; i < N_TEXTS; i++)
		*text_of(&row->shown, i) = fleet_string_pool_get(&store->texts, "", 0);
	row->shown.usage = store->usage;
	row->shown.state = FLEET_STATE_COUNT; /* differs from any: the first look is a change */
	array_grow(&store->rows, &store->row_capacity, store->n_rows + 1, sizeof *store->rows);
	row->position = store->n_rows;
	store->rows[store->n_rows++] = row;
	DL_APPEND(store->by_revision, row);
	return row;
}

/* The pod that was measured is not the one that is there now: a resumed Sandbox has a new one of the same name. */
static void restart_usage(const struct fleet_store *store, const struct fleet_row *shown,
	const struct fleet_row *now)
{
	if (store->usage != NULL && shown->pod_uid[0] &&
		(now == NULL || strcmp(shown->pod_uid, now->pod_uid) != 0))
		usage_table_restart(store->usage, shown->namespace_, shown->pod);
}

void fleet_row_record_removal(struct fleet_store *store, const char *uid)
{
	size_t at = store->n_removals % STORE_REMOVALS;
	if (store->n_removals >= STORE_REMOVALS)
		store->forgotten = store->removals[at].revision;
	store->removals[at].revision = ++store->revision;
	memcpy(store->removals[at].uid, uid, FLEET_UID_BYTES);
	store->n_removals++;
}

void fleet_row_ref_texts(struct fleet_row *row)
{
	for (size_t i = 0; i < N_TEXTS; i++)
		fleet_string_pool_ref(*text_of(row, i));
}

void fleet_row_unref_texts(struct fleet_store *store, struct fleet_row *row)
{
	for (size_t i = 0; i < N_TEXTS; i++)
		fleet_string_pool_unref(&store->texts, *text_of(row, i));
}

/* Its place among those that end. */
static void note_expiry(struct fleet_store *store, struct fleet_store_row *row, int64_t ms)
{
	if (ms == row->expiry_ms)
		return;
	if (row->expiry_ms)
		resource_order_remove(store->by_expiry, row);
	row->expiry_ms = ms;
	if (ms)
		resource_order_insert(store->by_expiry, row);
}

void fleet_row_remove(struct fleet_store *store, struct fleet_store_row *row)
{
	if (row->claim != NULL)
		row->claim->row = NULL;
	if (row->sandbox != NULL)
		row->sandbox->row = NULL;
	if (row->shown.state < FLEET_STATE_COUNT) {
		fleet_row_record_removal(store, row->shown.uid);
		store->by_state[row->shown.state]--;
	}
	note_expiry(store, row, 0);
	restart_usage(store, &row->shown, NULL);
	fleet_row_unref_texts(store, &row->shown);
	fleet_observations_free(store, row->seen);
	DL_DELETE(store->by_revision, row);
	store->rows[row->position] = NULL;
	store->n_holes++;
	free(row);
	store->on_change(store->arg);
}

int64_t fleet_local_ms(const struct fleet_store *store, int64_t server_ms)
{
	return server_ms == 0 ? 0 : server_ms - store->clock_skew_ms;
}

static const char *either(const char *a, const char *b)
{
	return a != NULL && a[0] ? a : b != NULL ? b : "";
}

static const char *pod_name(const struct fleet_sandbox *s)
{
	if (s == NULL)
		return "";
	if (s->pod != NULL)
		return s->pod->name;
	/* unseen (forbidden, or not here yet), but an address says that it is there */
	return s->pod_ip[0] ? either(s->pod_name, s->name) : "";
}

static void compute(const struct fleet_store *store, const struct fleet_store_row *row,
	struct fleet_row *out)
{
	const struct fleet_claim *c = row->claim;
	const struct fleet_sandbox *s = row->sandbox;
	const struct fleet_pod *p = s ? s->pod : NULL;
	memset(out, 0, sizeof *out);
	fleet_uid_format(c ? &c->uid : &s->uid, out->uid);
	out->namespace_ = c ? c->namespace_ : s->namespace_;
	out->claim = c ? c->name : "";
	out->sandbox = s ? s->name : c->sandbox;
	out->pod = pod_name(s);
	out->pool = c ? c->pool : s->pool;
	const struct fleet_store_pool *pool =
		fleet_store_pool(store, out->namespace_, out->pool);
	out->template_ = either(s ? s->template_ : "", pool ? pool->template_ : "");
	out->node = either(s ? s->node : "", p ? p->node : "");
	out->pod_ip =
		s ? either(s->pod_ip, p && !s->is_suspended_mode ? p->pod_ip : "") : c->pod_ip;
	out->service_fqdn = s ? s->service_fqdn : "";
	out->created_by = either(c ? c->created_by : "", s ? s->created_by : "");
	out->runtime_class = either(p ? p->runtime_class : "", s ? s->runtime_class : "");
	out->labels = c ? c->labels : s->labels;
	uint8_t declared = p && p->runtime ? p->runtime : s ? s->runtime : DECLARED_NOTHING;
	if (!out->runtime_class[0] || !declared) {
		const struct fleet_template *template_ =
			fleet_store_template(store, out->namespace_, out->template_);
		if (!out->runtime_class[0])
			out->runtime_class = template_ ? template_->runtime_class : "";
		if (!declared && template_)
			declared = template_->runtime;
	}
	out->is_legacy = declared == DECLARED_LEGACY;
	if (s != NULL)
		fleet_uid_format(&s->uid, out->sandbox_uid);
	if (p != NULL)
		fleet_uid_format(&p->uid, out->pod_uid);
	int64_t first = c ? c->shutdown_ms : 0, second = s ? s->shutdown_ms : 0;
	bool take_second = first == 0 || (second != 0 && second < first);
	out->expires_ms = fleet_local_ms(store, take_second ? second : first);
	out->created_ms = fleet_local_ms(store, c ? c->created_ms : s->created_ms);
	out->restarts = p ? p->restarts : 0;
	if (p != NULL)
		out->limits = p->limits;
	out->is_warm_start = s != NULL && s->is_warm_start;
	out->is_pod_ending =
		s != NULL && !s->is_suspended_mode && (p ? p->deleted_ms != 0 : s->had_pod);
	out->is_standalone = c == NULL && s->owner != OWNER_POOL;
	out->is_claim_hidden = c == NULL && store->is_forbidden[STORE_CLAIMS] &&
			       !fleet_uid_is_none(&s->claim_uid);
	out->state = fleet_state_of(c, s);
}

static bool take_text(const char **slot, const char *now)
{
	/* interned: equal text is the same pointer, and ours keeps it alive */
	return *slot != now && strcmp(*slot, now) != 0;
}

static void keep(struct fleet_store *store, const char **slot, const char *now)
{
	const char *old = *slot;
	*slot = now[0] ? fleet_string_pool_ref(now)
		       : fleet_string_pool_get(&store->texts, "", 0);
	fleet_string_pool_unref(&store->texts, old);
}

static bool take(struct fleet_store *store, struct fleet_row *shown, struct fleet_row *now)
{
	bool differs = shown->state != now->state || shown->why_since_ms != now->why_since_ms ||
		       shown->created_ms != now->created_ms ||
		       shown->expires_ms != now->expires_ms ||
		       shown->restarts != now->restarts ||
		       !fleet_limits_equal(&shown->limits, &now->limits) ||
		       shown->is_warm_start != now->is_warm_start ||
		       shown->is_standalone != now->is_standalone ||
		       shown->is_claim_hidden != now->is_claim_hidden ||
		       shown->is_legacy != now->is_legacy ||
		       shown->is_pod_ending != now->is_pod_ending ||
		       strcmp(shown->uid, now->uid) != 0 ||
		       strcmp(shown->sandbox_uid, now->sandbox_uid) != 0 ||
		       strcmp(shown->pod_uid, now->pod_uid) != 0;
	restart_usage(store, shown, now);
	for (size_t i = 0; i < N_TEXTS; i++) {
		const char **slot = text_of(shown, i), *text = *text_of(now, i);
		differs |= take_text(slot, text);
		keep(store, slot, text);
	}
	if (!differs)
		return false;
	memcpy(shown->uid, now->uid, sizeof shown->uid);
	memcpy(shown->sandbox_uid, now->sandbox_uid, sizeof shown->sandbox_uid);
	memcpy(shown->pod_uid, now->pod_uid, sizeof shown->pod_uid);
	if (shown->state < FLEET_STATE_COUNT)
		store->by_state[shown->state]--;
	shown->state = now->state;
	store->by_state[shown->state]++;
	shown->why_since_ms = now->why_since_ms;
	shown->created_ms = now->created_ms;
	shown->expires_ms = now->expires_ms;
	shown->restarts = now->restarts;
	shown->limits = now->limits;
	shown->is_warm_start = now->is_warm_start;
	shown->is_standalone = now->is_standalone;
	shown->is_claim_hidden = now->is_claim_hidden;
	shown->is_legacy = now->is_legacy;
	shown->is_pod_ending = now->is_pod_ending;
	return true;
}

/* What a state leaves behind for the next look. */
static void remember(struct fleet_store_row *row, enum fleet_state state)
{
	struct fleet_sandbox *s = row->sandbox;
	bool is_up = state == FLEET_READY;
	if (state == FLEET_WARM)
		is_up = s->ready.status == CONDITION_TRUE && s->ready.is_current;
	if (!is_up)
		return;
	if (row->claim != NULL)
		row->claim->was_ready = true;
	if (s != NULL) {
		s->was_ready = true;
		s->was_suspended = false;
	}
}

/* Ready but for an older generation (adoption and every change of the spec do that for some 100 ms): the controller has
 * not looked yet. What was shown until then stays; a row shown for the first time says Unknown. */
static bool is_between(const struct fleet_store_row *row, const struct fleet_row *now)
{
	const struct fleet_condition *ready =
		fleet_state_ready_condition(row->claim, row->sandbox);
	enum fleet_state before = row->shown.state;
	return now->state == FLEET_UNKNOWN && ready->status == CONDITION_TRUE &&
	       !ready->is_current &&
	       (before == FLEET_READY || before == FLEET_PENDING || before == FLEET_CREATING);
}

void fleet_row_refresh(struct fleet_store *store, struct fleet_store_row *row)
{
	struct fleet_row now;
	struct str why, next;
	compute(store, row, &now);
	if (is_between(row, &now))
		now.state = row->shown.state;
	str_init(&why, WHY_MAX_BYTES);
	str_init(&next, NEXT_MAX_BYTES);
	fleet_diagnosis_format(store, row, now.state, &why, &next, &now.why_since_ms);
	now.why_since_ms = fleet_local_ms(store, now.why_since_ms);
	now.why = fleet_string_pool_get(&store->texts, why.p, WHY_MAX_BYTES);
	now.next = fleet_string_pool_get(&store->texts, next.p, NEXT_MAX_BYTES);
	fleet_observe(store, row, &now);
	bool differs = take(store, &row->shown, &now);
	note_expiry(store, row, now.state == FLEET_EXPIRED ? 0 : now.expires_ms);
	fleet_string_pool_unref(&store->texts, now.why);
	fleet_string_pool_unref(&store->texts, now.next);
	str_deinit(&why);
	str_deinit(&next);
	remember(row, now.state);
	if (differs)
		changed(store, row);
}
