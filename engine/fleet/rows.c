// SPDX-License-Identifier: Apache-2.0
/* Joining: which Sandbox belongs to which claim, which pod to which Sandbox, and the row that shows them. Objects come in
 * any order (six watches), so each join is looked for from both ends. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <string.h>

enum { WHY_MAX_BYTES = 512, OLD_MS = 60000 };

/* ---- the row itself */

static void changed(struct store *store, struct row *row)
{
	row->shown.revision = ++store->revision;
	DL_DELETE(store->by_revision, row);
	DL_APPEND(store->by_revision, row);
	store->on_change(store->arg);
}

static struct row *row_new(struct store *store)
{
	struct row *row = x_calloc(1, sizeof *row);
	const char **texts[] = { &row->shown.namespace_, &row->shown.claim, &row->shown.sandbox,
		&row->shown.pod, &row->shown.pool, &row->shown.template_, &row->shown.node,
		&row->shown.pod_ip, &row->shown.service_fqdn, &row->shown.created_by,
		&row->shown.runtime_class, &row->shown.why };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		*texts[i] = fleet_text_get(&store->texts, "", 0);
	row->shown.state = FLEET_STATE_COUNT; /* differs from any: the first look is a change */
	array_grow(&store->rows, &store->row_capacity, store->n_rows + 1, sizeof *store->rows);
	row->position = store->n_rows;
	store->rows[store->n_rows++] = row;
	DL_APPEND(store->by_revision, row);
	return row;
}

static void row_remove(struct store *store, struct row *row)
{
	if (row->claim != NULL)
		row->claim->row = NULL;
	if (row->sandbox != NULL)
		row->sandbox->row = NULL;
	if (row->shown.state < FLEET_STATE_COUNT) {
		size_t at = store->n_removals % STORE_REMOVALS;
		if (store->n_removals >= STORE_REMOVALS)
			store->forgotten = store->removals[at].revision;
		store->removals[at].revision = ++store->revision;
		memcpy(store->removals[at].uid, row->shown.uid, FLEET_UID_BYTES);
		store->n_removals++;
		store->by_state[row->shown.state]--;
	}
	const char *texts[] = { row->shown.namespace_, row->shown.claim, row->shown.sandbox,
		row->shown.pod, row->shown.pool, row->shown.template_, row->shown.node,
		row->shown.pod_ip, row->shown.service_fqdn, row->shown.created_by,
		row->shown.runtime_class, row->shown.why };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		fleet_text_unref(&store->texts, texts[i]);
	DL_DELETE(store->by_revision, row);
	store->rows[row->position] = NULL;
	store->n_holes++;
	free(row);
	store->on_change(store->arg);
}

static int64_t local_ms(const struct store *store, int64_t server_ms)
{
	return server_ms == 0 ? 0 : server_ms - store->clock_skew_ms;
}

static const char *either(const char *a, const char *b)
{
	return a != NULL && a[0] ? a : b != NULL ? b : "";
}

static const char *pod_name(const struct sandbox *s)
{
	if (s == NULL)
		return "";
	if (s->pod != NULL)
		return s->pod->name;
	/* unseen (forbidden, or not here yet), but an address says that it is there */
	return s->pod_ip[0] ? either(s->pod_name, s->name) : "";
}

static void compute(const struct store *store, const struct row *row, struct fleet_row *out)
{
	const struct claim *c = row->claim;
	const struct sandbox *s = row->sandbox;
	const struct pod *p = s ? s->pod : NULL;
	memset(out, 0, sizeof *out);
	fleet_uid_format(c ? &c->uid : &s->uid, out->uid);
	out->namespace_ = c ? c->namespace_ : s->namespace_;
	out->claim = c ? c->name : "";
	out->sandbox = s ? s->name : c->sandbox;
	out->pod = pod_name(s);
	out->pool = c ? c->pool : s->pool;
	const struct pool *pool = fleet_store_pool(store, out->namespace_, out->pool);
	out->template_ = either(s ? s->template_ : "", pool ? pool->template_ : "");
	out->node = either(s ? s->node : "", p ? p->node : "");
	out->pod_ip =
		s ? either(s->pod_ip, p && !s->is_suspended_mode ? p->pod_ip : "") : c->pod_ip;
	out->service_fqdn = s ? s->service_fqdn : "";
	out->created_by = either(c ? c->created_by : "", s ? s->created_by : "");
	out->runtime_class = either(p ? p->runtime_class : "", s ? s->runtime_class : "");
	if (!out->runtime_class[0]) {
		const struct template *template_ =
			fleet_store_template(store, out->namespace_, out->template_);
		out->runtime_class = template_ ? template_->runtime_class : "";
	}
	if (s != NULL)
		fleet_uid_format(&s->uid, out->sandbox_uid);
	if (p != NULL)
		fleet_uid_format(&p->uid, out->pod_uid);
	int64_t first = c ? c->shutdown_ms : 0, second = s ? s->shutdown_ms : 0;
	bool take_second = first == 0 || (second != 0 && second < first);
	out->expires_ms = local_ms(store, take_second ? second : first);
	out->created_ms = local_ms(store, c ? c->created_ms : s->created_ms);
	out->restarts = p ? p->restarts : 0;
	out->is_warm_start = s != NULL && s->is_warm_start;
	out->is_standalone = c == NULL && s->owner != OWNER_POOL;
	out->state = fleet_state_of(c, s);
}

static bool take_text(const char **slot, const char *now)
{
	/* interned: equal text is the same pointer, and ours keeps it alive */
	return *slot != now && strcmp(*slot, now) != 0;
}

static void keep(struct store *store, const char **slot, const char *now)
{
	const char *old = *slot;
	*slot = now[0] ? fleet_text_ref(now) : fleet_text_get(&store->texts, "", 0);
	fleet_text_unref(&store->texts, old);
}

static bool take(struct store *store, struct fleet_row *shown, const struct fleet_row *now)
{
	const char **slots[] = { &shown->namespace_, &shown->claim, &shown->sandbox,
		&shown->pod, &shown->pool, &shown->template_, &shown->node, &shown->pod_ip,
		&shown->service_fqdn, &shown->created_by, &shown->runtime_class, &shown->why };
	const char *const texts[] = { now->namespace_, now->claim, now->sandbox, now->pod,
		now->pool, now->template_, now->node, now->pod_ip, now->service_fqdn,
		now->created_by, now->runtime_class, now->why };
	bool differs = shown->state != now->state || shown->why_since_ms != now->why_since_ms ||
		       shown->created_ms != now->created_ms ||
		       shown->expires_ms != now->expires_ms ||
		       shown->restarts != now->restarts ||
		       shown->is_warm_start != now->is_warm_start ||
		       shown->is_standalone != now->is_standalone ||
		       strcmp(shown->uid, now->uid) != 0 ||
		       strcmp(shown->sandbox_uid, now->sandbox_uid) != 0 ||
		       strcmp(shown->pod_uid, now->pod_uid) != 0;
	for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
		differs |= take_text(slots[i], texts[i]);
		keep(store, slots[i], texts[i]);
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
	shown->is_warm_start = now->is_warm_start;
	shown->is_standalone = now->is_standalone;
	return true;
}

/* What a state leaves behind for the next look. */
static void remember(struct row *row, enum fleet_state state)
{
	struct sandbox *s = row->sandbox;
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
static bool is_between(const struct row *row, const struct fleet_row *now)
{
	const struct condition *ready = fleet_state_ready_condition(row->claim, row->sandbox);
	enum fleet_state before = row->shown.state;
	return now->state == FLEET_UNKNOWN && ready->status == CONDITION_TRUE &&
	       !ready->is_current &&
	       (before == FLEET_READY || before == FLEET_PENDING || before == FLEET_CREATING);
}

void fleet_row_refresh(struct store *store, struct row *row)
{
	struct fleet_row now;
	struct str why;
	compute(store, row, &now);
	if (is_between(row, &now))
		now.state = row->shown.state;
	str_init(&why, WHY_MAX_BYTES);
	fleet_why_format(store, row, now.state, &why, &now.why_since_ms);
	now.why_since_ms = local_ms(store, now.why_since_ms);
	now.why = fleet_text_get(&store->texts, why.p, WHY_MAX_BYTES);
	bool differs = take(store, &row->shown, &now);
	fleet_text_unref(&store->texts, now.why);
	str_deinit(&why);
	remember(row, now.state);
	if (differs)
		changed(store, row);
}

/* ---- claim and Sandbox */

static struct claim *claim_of_uid(const struct store *store, const struct uid *uid)
{
	size_t cursor = INDEX_FIRST;
	struct claim *claim;
	if (fleet_uid_is_none(uid))
		return NULL;
	while ((claim = fleet_index_next(&store->claims, fleet_uid_hash(uid), &cursor)) !=
		NULL) {
		if (fleet_uid_equals(&claim->uid, uid))
			return claim;
	}
	return NULL;
}

static struct claim *claim_naming(const struct store *store, const struct sandbox *sandbox)
{
	size_t cursor = INDEX_FIRST;
	uint32_t hash = fleet_name_hash(sandbox->namespace_, sandbox->name);
	struct claim *claim;
	while ((claim = fleet_index_next(&store->claims_by_sandbox, hash, &cursor)) != NULL) {
		if (claim->namespace_ == sandbox->namespace_ && claim->sandbox == sandbox->name)
			return claim;
	}
	return NULL;
}

/* Of several Sandboxes of one claim (the old one goes, a new one was bound) the one its status names, then one that
 * stays, then the newest. */
static bool is_better(
	const struct claim *claim, const struct sandbox *a, const struct sandbox *b)
{
	if (b == NULL)
		return true;
	int weight_a = (a->name == claim->sandbox) * 2 + (a->deleted_ms == 0);
	int weight_b = (b->name == claim->sandbox) * 2 + (b->deleted_ms == 0);
	return weight_a != weight_b ? weight_a > weight_b : a->created_ms > b->created_ms;
}

static struct sandbox *sandbox_of(const struct store *store, const struct claim *claim)
{
	size_t cursor = INDEX_FIRST;
	uint32_t hash = fleet_uid_hash(&claim->uid);
	struct sandbox *sandbox, *best = NULL;
	while ((sandbox = fleet_index_next(&store->sandboxes_by_claim, hash, &cursor)) !=
		NULL) {
		if (fleet_uid_equals(&sandbox->claim_uid, &claim->uid) &&
			sandbox->namespace_ == claim->namespace_ &&
			is_better(claim, sandbox, best))
			best = sandbox;
	}
	if (best != NULL || !claim->sandbox[0])
		return best;
	cursor = INDEX_FIRST;
	hash = fleet_name_hash(claim->namespace_, claim->sandbox);
	while ((sandbox = fleet_index_next(&store->sandboxes_by_name, hash, &cursor)) != NULL) {
		if (sandbox->namespace_ == claim->namespace_ &&
			sandbox->name == claim->sandbox &&
			fleet_uid_is_none(&sandbox->claim_uid) && sandbox->owner == OWNER_NONE)
			return sandbox;
	}
	return NULL;
}

void fleet_rows_join_claim(struct store *store, struct claim *claim)
{
	if (claim->row == NULL) {
		claim->row = row_new(store);
		claim->row->claim = claim;
	}
	struct row *row = claim->row;
	struct sandbox *now = sandbox_of(store, claim), *old = row->sandbox;
	if (now != old) {
		if (now != NULL && now->row != NULL && now->row->claim == NULL)
			row_remove(store, now->row); /* it was shown by itself */
		if (now != NULL && now->row != NULL) {
			/* two claims name it: the last one wins */
			struct row *loser = now->row;
			now->row = NULL;
			loser->sandbox = NULL;
			fleet_row_refresh(store, loser);
		}
		if (old != NULL)
			old->row = NULL;
		row->sandbox = now;
		if (now != NULL)
			now->row = row;
	}
	fleet_row_refresh(store, row);
	if (old != NULL && now != old && fleet_uid_is_none(&old->claim_uid))
		fleet_rows_join_sandbox(store, old);
}

static void hide(struct store *store, struct sandbox *sandbox)
{
	if (sandbox->row != NULL && sandbox->row->claim == NULL)
		row_remove(store, sandbox->row);
	if (!store->is_filtered && !store->n_hidden++)
		store->on_change(
			store->arg); /* wakes whoever calls fleet_store_show_hidden() */
}

/* A Sandbox whose claim we do not know: the claim may come with the next event, or may just have gone. Shown by itself
 * only when neither is likely, so that nothing flickers and nothing stays hidden. */
static bool is_orphan(const struct store *store, struct sandbox *sandbox)
{
	int64_t now = clock_mono_ms();
	if (store->is_forbidden[STORE_CLAIMS])
		return true;
	if (!store->is_synced[STORE_CLAIMS])
		return false;
	if (sandbox->hidden_until_ms == 0) {
		int64_t age = clock_wall_ms() - local_ms(store, sandbox->created_ms);
		if (age > OLD_MS)
			return true;
		sandbox->hidden_until_ms = now + STORE_HIDE_MS;
	}
	return now >= sandbox->hidden_until_ms;
}

void fleet_rows_join_sandbox(struct store *store, struct sandbox *sandbox)
{
	struct row *old = sandbox->row;
	struct claim *claim = claim_of_uid(store, &sandbox->claim_uid);
	if (claim == NULL && fleet_uid_is_none(&sandbox->claim_uid) &&
		sandbox->owner == OWNER_NONE)
		claim = claim_naming(store, sandbox);
	if (old != NULL && old->claim != NULL && old->claim != claim) {
		/* it belonged to another claim until now */
		struct claim *former = old->claim;
		sandbox->row = NULL;
		old->sandbox = NULL;
		fleet_rows_join_claim(store, former);
	}
	if (claim != NULL) {
		if (sandbox->row != NULL && sandbox->row->claim == NULL)
			row_remove(store, sandbox->row);
		fleet_rows_join_claim(store, claim);
		return;
	}
	bool is_claimed = !fleet_uid_is_none(&sandbox->claim_uid);
	if (store->is_filtered || (is_claimed && !is_orphan(store, sandbox))) {
		hide(store, sandbox);
		return;
	}
	if (sandbox->row == NULL) {
		sandbox->row = row_new(store);
		sandbox->row->sandbox = sandbox;
	}
	fleet_row_refresh(store, sandbox->row);
}

void fleet_rows_leave_claim(struct store *store, struct claim *claim)
{
	struct sandbox *sandbox = claim->row ? claim->row->sandbox : NULL;
	if (claim->row != NULL)
		row_remove(store, claim->row);
	if (sandbox == NULL)
		return;
	/* it usually goes too, a moment later */
	sandbox->hidden_until_ms = clock_mono_ms() + STORE_HIDE_MS;
	fleet_rows_join_sandbox(store, sandbox);
}

void fleet_rows_leave_sandbox(struct store *store, struct sandbox *sandbox)
{
	struct row *row = sandbox->row;
	sandbox->row = NULL;
	if (row == NULL)
		return;
	row->sandbox = NULL;
	if (row->claim == NULL)
		row_remove(store, row);
	else
		fleet_rows_join_claim(store, row->claim);
}

/* ---- pods */

static struct sandbox *sandbox_of_uid(const struct store *store, const struct uid *uid)
{
	size_t cursor = INDEX_FIRST;
	struct sandbox *sandbox;
	if (fleet_uid_is_none(uid))
		return NULL;
	while ((sandbox = fleet_index_next(&store->sandboxes, fleet_uid_hash(uid), &cursor)) !=
		NULL) {
		if (fleet_uid_equals(&sandbox->uid, uid))
			return sandbox;
	}
	return NULL;
}

/* The pod that lives; of two, the newer (a resumed Sandbox has a new pod of the same name). */
static void choose_pod(
	const struct store *store, struct sandbox *sandbox, const struct pod *not_this)
{
	size_t cursor = INDEX_FIRST;
	struct pod *pod, *best = NULL;
	while ((pod = fleet_index_next(&store->pods_by_owner, fleet_uid_hash(&sandbox->uid),
			&cursor)) != NULL) {
		if (pod == not_this || !fleet_uid_equals(&pod->owner_uid, &sandbox->uid))
			continue;
		bool alive = pod->deleted_ms == 0;
		bool better = best == NULL || alive > (best->deleted_ms == 0) ||
			      (alive == (best->deleted_ms == 0) &&
				      pod->created_ms > best->created_ms);
		if (better)
			best = pod;
	}
	if (sandbox->pod != NULL && sandbox->pod != best)
		sandbox->pod->sandbox = NULL;
	sandbox->pod = best;
	if (best != NULL) {
		best->sandbox = sandbox;
		sandbox->had_pod = true;
	}
}

void fleet_rows_join_pod(struct store *store, struct pod *pod)
{
	struct sandbox *sandbox = sandbox_of_uid(store, &pod->owner_uid);
	if (pod->sandbox != NULL && pod->sandbox != sandbox)
		fleet_rows_leave_pod(store, pod);
	if (sandbox == NULL)
		return;
	choose_pod(store, sandbox, NULL);
	if (sandbox->row != NULL)
		fleet_row_refresh(store, sandbox->row);
}

void fleet_rows_leave_pod(struct store *store, struct pod *pod)
{
	struct sandbox *sandbox = pod->sandbox;
	pod->sandbox = NULL;
	if (sandbox == NULL)
		return;
	sandbox->pod = NULL;
	choose_pod(store, sandbox, pod);
	if (sandbox->row != NULL)
		fleet_row_refresh(store, sandbox->row);
}

/* ---- pools and templates */

void fleet_rows_of_pool(struct store *store, const char *namespace_, const char *pool)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		struct row *row = store->rows[i];
		if (row == NULL || row->shown.namespace_ != namespace_)
			continue;
		if ((row->claim ? row->claim->pool : row->sandbox->pool) == pool)
			fleet_row_refresh(store, row);
	}
}

void fleet_rows_of_template(struct store *store, const char *namespace_, const char *template_)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		struct row *row = store->rows[i];
		if (row != NULL && row->shown.namespace_ == namespace_ &&
			row->shown.template_ == template_)
			fleet_row_refresh(store, row);
	}
}
