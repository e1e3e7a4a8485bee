// SPDX-License-Identifier: Apache-2.0
/* Joining: which Sandbox belongs to which claim, which pod to which Sandbox, and the row that shows them. Objects come in
 * any order (six watches), so each join is looked for from both ends. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <string.h>

enum { OLD_MS = 60000 };

static struct fleet_claim *claim_naming(
	const struct fleet_store *store, const struct fleet_sandbox *sandbox)
{
	size_t cursor = INDEX_FIRST;
	uint32_t hash = fleet_name_hash(sandbox->namespace_, sandbox->name);
	struct fleet_claim *claim;
	while ((claim = fleet_index_next(&store->claims_by_sandbox, hash, &cursor)) != NULL) {
		if (claim->namespace_ == sandbox->namespace_ && claim->sandbox == sandbox->name)
			return claim;
	}
	return NULL;
}

/* Of several Sandboxes of one claim (the old one goes, a new one was bound) the one its status names, then one that
 * stays, then the newest. */
static bool is_better(const struct fleet_claim *claim, const struct fleet_sandbox *a,
	const struct fleet_sandbox *b)
{
	if (b == NULL)
		return true;
	int weight_a = (a->name == claim->sandbox) * 2 + (a->deleted_ms == 0);
	int weight_b = (b->name == claim->sandbox) * 2 + (b->deleted_ms == 0);
	return weight_a != weight_b ? weight_a > weight_b : a->created_ms > b->created_ms;
}

static struct fleet_sandbox *sandbox_of(
	const struct fleet_store *store, const struct fleet_claim *claim)
{
	size_t cursor = INDEX_FIRST;
	uint32_t hash = fleet_uid_hash(&claim->uid);
	struct fleet_sandbox *sandbox, *best = NULL;
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

void fleet_rows_join_claim(struct fleet_store *store, struct fleet_claim *claim)
{
	if (claim->row == NULL) {
		claim->row = fleet_row_new(store);
		claim->row->claim = claim;
	}
	struct fleet_store_row *row = claim->row;
	struct fleet_sandbox *now = sandbox_of(store, claim), *old = row->sandbox;
	if (now != old) {
		if (now != NULL && now->row != NULL && now->row->claim == NULL)
			fleet_row_remove(store, now->row); /* it was shown by itself */
		if (now != NULL && now->row != NULL) {
			/* two claims name it: the last one wins */
			struct fleet_store_row *loser = now->row;
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

static void hide(struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	if (sandbox->row != NULL && sandbox->row->claim == NULL)
		fleet_row_remove(store, sandbox->row);
	if (!store->is_filtered && !store->n_hidden++)
		store->on_change(
			store->arg); /* wakes whoever calls fleet_store_show_hidden() */
}

/* A Sandbox whose claim we do not know: the claim may come with the next event, or may just have gone. Shown by itself
 * only when neither is likely, so that nothing flickers and nothing stays hidden. */
static bool is_orphan(const struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	int64_t now = clock_mono_ms();
	if (store->is_forbidden[STORE_CLAIMS])
		return true;
	if (!store->is_synced[STORE_CLAIMS])
		return false;
	if (sandbox->hidden_until_ms == 0) {
		int64_t age = clock_wall_ms() - fleet_local_ms(store, sandbox->created_ms);
		if (age > OLD_MS)
			return true;
		sandbox->hidden_until_ms = now + STORE_HIDE_MS;
	}
	return now >= sandbox->hidden_until_ms;
}

void fleet_rows_join_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	struct fleet_store_row *old = sandbox->row;
	struct fleet_claim *claim = fleet_claim_of_uid(store, &sandbox->claim_uid);
	if (claim == NULL && fleet_uid_is_none(&sandbox->claim_uid) &&
		sandbox->owner == OWNER_NONE)
		claim = claim_naming(store, sandbox);
	if (old != NULL && old->claim != NULL && old->claim != claim) {
		/* it belonged to another claim until now */
		struct fleet_claim *former = old->claim;
		sandbox->row = NULL;
		old->sandbox = NULL;
		fleet_rows_join_claim(store, former);
	}
	if (claim != NULL) {
		if (sandbox->row != NULL && sandbox->row->claim == NULL)
			fleet_row_remove(store, sandbox->row);
		fleet_rows_join_claim(store, claim);
		return;
	}
	bool is_claimed = !fleet_uid_is_none(&sandbox->claim_uid);
	if (store->is_filtered || (is_claimed && !is_orphan(store, sandbox))) {
		hide(store, sandbox);
		return;
	}
	if (sandbox->row == NULL) {
		sandbox->row = fleet_row_new(store);
		sandbox->row->sandbox = sandbox;
	}
	fleet_row_refresh(store, sandbox->row);
}

/* Its object is no more; unless we may not see it any more. */
static void bury(
	struct fleet_store *store, struct fleet_store_row *row, enum fleet_store_kind kind)
{
	struct fleet_tombstone *stone =
		store->is_forbidden[kind] ? NULL : fleet_tombstone_make(store, row);
	fleet_row_remove(store, row);
	fleet_tombstone_add(store, stone);
}

void fleet_rows_leave_claim(struct fleet_store *store, struct fleet_claim *claim)
{
	struct fleet_sandbox *sandbox = claim->row ? claim->row->sandbox : NULL;
	if (claim->row != NULL)
		bury(store, claim->row, STORE_CLAIMS);
	if (sandbox == NULL)
		return;
	/* it usually goes too, a moment later */
	sandbox->hidden_until_ms = clock_mono_ms() + STORE_HIDE_MS;
	fleet_rows_join_sandbox(store, sandbox);
}

void fleet_rows_leave_sandbox(struct fleet_store *store, struct fleet_sandbox *sandbox)
{
	struct fleet_store_row *row = sandbox->row;
	sandbox->row = NULL;
	if (row == NULL)
		return;
	if (row->claim == NULL) {
		bury(store, row, STORE_SANDBOXES);
		return;
	}
	row->sandbox = NULL;
	fleet_rows_join_claim(store, row->claim);
}

/* ---- pods */

/* The pod that lives; of two, the newer (a resumed Sandbox has a new pod of the same name). */
static void choose_pod(const struct fleet_store *store, struct fleet_sandbox *sandbox,
	const struct fleet_pod *not_this)
{
	size_t cursor = INDEX_FIRST;
	struct fleet_pod *pod, *best = NULL;
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
	if (best == NULL && sandbox->pod_gone_s == 0 && sandbox->had_pod)
		sandbox->pod_gone_s =
			(uint32_t)((clock_wall_ms() + store->clock_skew_ms) / 1000);
	sandbox->pod = best;
	if (best != NULL) {
		sandbox->pod_gone_s = 0;
		best->sandbox = sandbox;
		sandbox->had_pod = true;
	}
}

void fleet_rows_join_pod(struct fleet_store *store, struct fleet_pod *pod)
{
	struct fleet_sandbox *sandbox = fleet_sandbox_of_uid(store, &pod->owner_uid);
	if (pod->sandbox != NULL && pod->sandbox != sandbox)
		fleet_rows_leave_pod(store, pod);
	if (sandbox == NULL)
		return;
	choose_pod(store, sandbox, NULL);
	if (sandbox->row != NULL)
		fleet_row_refresh(store, sandbox->row);
}

void fleet_rows_leave_pod(struct fleet_store *store, struct fleet_pod *pod)
{
	struct fleet_sandbox *sandbox = pod->sandbox;
	pod->sandbox = NULL;
	if (sandbox == NULL)
		return;
	sandbox->pod = NULL;
	choose_pod(store, sandbox, pod);
	if (sandbox->row != NULL)
		fleet_row_refresh(store, sandbox->row);
}

/* ---- pools and templates */

void fleet_rows_of_pool(struct fleet_store *store, const char *namespace_, const char *pool)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		struct fleet_store_row *row = store->rows[i];
		if (row == NULL || row->shown.namespace_ != namespace_)
			continue;
		if ((row->claim ? row->claim->pool : row->sandbox->pool) == pool)
			fleet_row_refresh(store, row);
	}
}

void fleet_rows_of_template(
	struct fleet_store *store, const char *namespace_, const char *template_)
{
	for (size_t i = 0; i < store->n_rows; i++) {
		struct fleet_store_row *row = store->rows[i];
		if (row != NULL && row->shown.namespace_ == namespace_ &&
			row->shown.template_ == template_)
			fleet_row_refresh(store, row);
	}
}
