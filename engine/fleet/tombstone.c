// SPDX-License-Identifier: Apache-2.0
/* A tombstone in the store: made of a row that goes, kept, forgotten. */
#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/str.h"
#include "engine/fleet/store.h"
#include "engine/fleet/story.h"

#include <string.h>

struct fleet_tombstone *fleet_tombstone_named(const struct fleet_store *store, const char *uid)
{
	struct fleet_tombstone *stone;
	DL_FOREACH(store->tombstones, stone) {
		if (strcmp(stone->shown.uid, uid) == 0)
			return stone;
	}
	return NULL;
}

const struct fleet_tombstone *fleet_tombstone_of(
	const struct fleet_store *store, const char *uid)
{
	return fleet_tombstone_named(store, uid);
}

/* ---- going */

void fleet_tombstone_remove(
	struct fleet_store *store, struct fleet_tombstone *stone, bool is_seen)
{
	DL_DELETE(store->tombstones, stone);
	store->n_tombstones--;
	if (is_seen) {
		store->by_state[FLEET_DELETED]--;
		fleet_row_record_removal(store, stone->shown.uid);
	}
	fleet_row_unref_texts(store, &stone->shown);
	for (size_t i = 0; i < TOMBSTONE_OBJECTS; i++)
		fleet_uid_drop(store, &stone->about[i]);
	free(stone->story);
	free(stone);
}

void fleet_tombstones_deinit(struct fleet_store *store)
{
	while (store->tombstones != NULL)
		fleet_tombstone_remove(store, store->tombstones, false);
}

int64_t fleet_tombstones_expire(struct fleet_store *store, int64_t keep_ms)
{
	int64_t now = clock_mono_ms();
	bool is_any = false;
	while (store->tombstones != NULL && now - store->tombstones->gone_mono_ms >= keep_ms) {
		fleet_tombstone_remove(store, store->tombstones, !store->hides_tombstones);
		is_any = true;
	}
	if (is_any)
		store->on_change(store->arg);
	return store->tombstones ? store->tombstones->gone_mono_ms + keep_ms - now : -1;
}

/* ---- coming */

/* A Sandbox that outlived its claim for a moment has one already. */
static bool is_known(const struct fleet_store *store, const struct fleet_row *row)
{
	const struct fleet_tombstone *stone;
	DL_FOREACH(store->tombstones, stone) {
		if (row->sandbox_uid[0] &&
			strcmp(stone->shown.sandbox_uid, row->sandbox_uid) == 0)
			return true;
	}
	return false;
}

static void set_text(struct fleet_store *store, const char **slot, const char *text)
{
	fleet_string_pool_set(&store->texts, slot, text, STORE_MAX_MESSAGE);
}

static void tell_last(struct fleet_store *store, struct fleet_tombstone *stone,
	const struct fleet_store_row *row)
{
	struct fleet_story_entry *last =
		stone->n_story ? &stone->story[stone->n_story - 1] : NULL;
	struct str why;
	str_init(&why, STORE_MAX_MESSAGE);
	if (row->shown.state == FLEET_TERMINATING && last && last->kind == FLEET_STORY_DELETED)
		str_add(&why, last->text);
	else
		str_addf(&why, "it was %s%s%s", fleet_state_name(row->shown.state),
			row->shown.why[0] ? ": " : "", row->shown.why);
	set_text(store, &stone->shown.why, why.p);
	str_deinit(&why);
}

struct fleet_tombstone *fleet_tombstone_make(
	struct fleet_store *store, const struct fleet_store_row *row)
{
	const struct fleet_row *shown = &row->shown;
	if (store->max_tombstones == 0 || shown->state == FLEET_STATE_COUNT ||
		shown->state == FLEET_WARM || is_known(store, shown))
		return NULL;
	struct fleet_tombstone *stone = x_calloc(1, sizeof *stone);
	stone->shown = *shown;
	fleet_row_ref_texts(&stone->shown);
	stone->gone_mono_ms = clock_mono_ms();
	const char *const uids[TOMBSTONE_OBJECTS] = { shown->claim[0] ? shown->uid : "",
		shown->sandbox_uid, shown->pod_uid };
	for (size_t i = 0; i < TOMBSTONE_OBJECTS; i++)
		stone->about[i] = fleet_uid_parse(store, uids[i]);
	stone->story = x_calloc(FLEET_STORY_MAX, sizeof *stone->story);
	stone->n_story = fleet_story_of(store, row, stone->story, FLEET_STORY_MAX - 1);
	tell_last(store, stone, row);
	struct fleet_story_entry *gone = &stone->story[stone->n_story++];
	gone->wall_ms = clock_wall_ms();
	gone->kind = FLEET_STORY_DELETED;
	memcpy(gone->text, "it is gone", sizeof "it is gone");
	stone->n_story = fleet_story_order(stone->story, stone->n_story, FLEET_STORY_MAX);
	stone->shown.why_since_ms = gone->wall_ms;
	stone->shown.state = FLEET_DELETED;
	stone->shown.expires_ms = 0;
	stone->shown.usage = NULL; /* what is measured under its pod's name is another one's */
	set_text(store, &stone->shown.next, "");
	return stone;
}

void fleet_tombstone_add(struct fleet_store *store, struct fleet_tombstone *stone)
{
	if (stone == NULL)
		return;
	while (store->n_tombstones >= store->max_tombstones)
		fleet_tombstone_remove(store, store->tombstones, !store->hides_tombstones);
	stone->shown.revision = ++store->revision;
	DL_APPEND(store->tombstones, stone);
	store->n_tombstones++;
	if (!store->hides_tombstones)
		store->by_state[FLEET_DELETED]++;
	store->on_change(store->arg);
}
