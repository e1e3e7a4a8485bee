// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/observations.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/fleet/sentence.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 4 };

const struct fleet_observation *fleet_observation_at(
	const struct fleet_observations *observations, size_t position)
{
	return &observations->list[(observations->first + position) % FLEET_OBSERVATIONS_MAX];
}

void fleet_observation_format_restart(const struct fleet_pod *pod, struct str *out)
{
	const struct fleet_container_status *c = pod->trouble;
	str_addf(out, "container %s restarted", c->container);
	if (c->ended[0])
		str_addf(out, ": %s", c->ended);
	if (c->exit_code != 0)
		str_addf(out, "%sexit code %d", c->ended[0] ? ", " : ": ", c->exit_code);
	str_addf(out, " (%d×); its processes are lost", pod->restarts);
}

void fleet_observations_free(struct fleet_store *store, struct fleet_observations *observations)
{
	if (observations == NULL)
		return;
	for (size_t i = 0; i < observations->n; i++)
		fleet_string_pool_unref(&store->texts, observations->list[i].text);
	free(observations);
}

/* A place for one more; the oldest goes when there is none. */
static struct fleet_observation *place(
	struct fleet_store *store, struct fleet_observations **observations)
{
	struct fleet_observations *list = *observations;
	uint8_t capacity = list ? list->capacity : 0;
	if (list == NULL || (list->n == capacity && capacity < FLEET_OBSERVATIONS_MAX)) {
		capacity = capacity ? (uint8_t)(capacity * 2) : FIRST_CAPACITY;
		list = x_realloc(list, 1, sizeof *list + capacity * sizeof *list->list);
		if (*observations == NULL)
			list->n = list->first = 0;
		list->capacity = capacity;
		*observations = list;
	}
	if (list->n < list->capacity)
		return &list->list[list->n++];
	struct fleet_observation *oldest = &list->list[list->first];
	fleet_string_pool_unref(&store->texts, oldest->text);
	list->first = (uint8_t)((list->first + 1) % FLEET_OBSERVATIONS_MAX);
	return oldest;
}

static void note(struct fleet_store *store, struct fleet_store_row *row,
	enum fleet_story_kind kind, int64_t server_ms, const char *text)
{
	int64_t now_ms = clock_wall_ms() + store->clock_skew_ms;
	struct fleet_observation *slot = place(store, &row->seen);
	slot->kind = (uint8_t)kind;
	slot->at_s = (uint32_t)((server_ms > 0 ? server_ms : now_ms) / 1000);
	slot->text = fleet_string_pool_get(&store->texts, text, FLEET_STORY_TEXT_BYTES - 1);
}

static int64_t since(const struct fleet_condition *condition)
{
	return condition->status == CONDITION_ABSENT ? 0 : fleet_condition_since_ms(condition);
}

static bool was_off(enum fleet_state state)
{
	return state == FLEET_SUSPENDED || state == FLEET_SUSPENDING || state == FLEET_RESUMING;
}

static void observe_state(struct fleet_store *store, struct fleet_store_row *row,
	const struct fleet_row *now, struct str *text)
{
	const struct fleet_condition *ready =
		fleet_state_ready_condition(row->claim, row->sandbox);
	enum fleet_state before = row->shown.state;
	switch (now->state) {
	case FLEET_READY:
		note(store, row, was_off(before) ? FLEET_STORY_RESUMED : FLEET_STORY_READY,
			since(ready), "");
		break;
	case FLEET_SUSPENDED:
		note(store, row, FLEET_STORY_SUSPENDED,
			row->sandbox ? since(&row->sandbox->suspended) : 0, "");
		break;
	case FLEET_EXPIRED:
		note(store, row, FLEET_STORY_EXPIRED, since(ready), "");
		break;
	case FLEET_FAILED:
	case FLEET_FINISHED:
		note(store, row, FLEET_STORY_ENDED, since(ready), now->why);
		break;
	case FLEET_TERMINATING:
		str_addf(text, "deletion was asked for; it was %s%s%s",
			fleet_state_name(before), row->shown.why[0] ? ": " : "",
			row->shown.why);
		note(store, row, FLEET_STORY_DELETED,
			row->claim     ? row->claim->deleted_ms
			: row->sandbox ? row->sandbox->deleted_ms
				       : 0,
			text->p);
		break;
	case FLEET_DEGRADED:
	case FLEET_CRASHING:
	case FLEET_BLOCKED:
	case FLEET_ERROR:
		if (before == FLEET_READY)
			note(store, row, FLEET_STORY_UNREADY, since(ready), now->why);
		break;
	default:
		break;
	}
}

void fleet_observe(
	struct fleet_store *store, struct fleet_store_row *row, const struct fleet_row *now)
{
	const struct fleet_row *shown = &row->shown;
	if (shown->state == FLEET_STATE_COUNT || now->state == FLEET_WARM)
		return; /* what it is like when it is seen first, the API tells */
	struct str text;
	str_init(&text, FLEET_STORY_TEXT_BYTES);
	if (now->state != shown->state)
		observe_state(store, row, now, &text);
	str_clear(&text);
	if (now->restarts > shown->restarts && shown->pod_uid[0] &&
		strcmp(now->pod_uid, shown->pod_uid) == 0) {
		const struct fleet_pod *pod = row->sandbox->pod;
		fleet_observation_format_restart(pod, &text);
		note(store, row, FLEET_STORY_RESTARTED, (int64_t)pod->trouble->ended_s * 1000,
			text.p);
	}
	if (shown->pod_uid[0] && now->pod_uid[0] && strcmp(now->pod_uid, shown->pod_uid) != 0 &&
		!was_off(shown->state)) {
		str_clear(&text);
		str_addf(&text, "another pod%s%s", now->node[0] ? ", on node " : "", now->node);
		note(store, row, FLEET_STORY_MOVED, row->sandbox->pod->created_ms, text.p);
	}
	if (shown->expires_ms && now->expires_ms > shown->expires_ms)
		note(store, row, FLEET_STORY_EXTENDED, 0, "");
	str_deinit(&text);
}
