// SPDX-License-Identifier: Apache-2.0
/* Conditions, and the small readers that all facts use. */
#include "engine/base/mem.h"
#include "engine/fleet/projection.h"
#include "engine/k8s/condition.h"
#include "engine/k8s/time.h"

#include <stdlib.h>
#include <string.h>

void fleet_projection_set_name(struct fleet_store *store, const char **slot, const char *text)
{
	fleet_string_pool_set(&store->texts, slot, text, STORE_MAX_NAME);
}

void fleet_projection_set_message(
	struct fleet_store *store, const char **slot, const char *text)
{
	fleet_string_pool_set(&store->texts, slot, text, STORE_MAX_MESSAGE);
}

void fleet_projection_drop_text(struct fleet_store *store, const char **slot)
{
	fleet_string_pool_unref(&store->texts, *slot);
	*slot = NULL;
}

static uint8_t reason_code(const char *reason)
{
	static const char *const names[] = { "",
#define X(name) #name,
		STORE_REASONS(X)
#undef X
	};
	for (size_t i = 1; reason != NULL && i < sizeof names / sizeof *names; i++) {
		if (strcmp(reason, names[i]) == 0)
			return (uint8_t)i;
	}
	return REASON_OTHER;
}

void fleet_condition_read(struct fleet_store *store, struct fleet_condition *condition,
	const cJSON *object, const char *type)
{
	const cJSON *found = k8s_condition_find(object, type);
	const char *status = json_str(found, "status", NULL);
	const char *reason = json_str(found, "reason", NULL);
	condition->status = found == NULL || status == NULL ? CONDITION_ABSENT
			    : strcmp(status, "True") == 0   ? CONDITION_TRUE
			    : strcmp(status, "False") == 0  ? CONDITION_FALSE
							    : CONDITION_UNKNOWN;
	condition->code = reason_code(reason);
	int64_t since_ms = k8s_time_ms(json_str(found, "lastTransitionTime", NULL));
	condition->since_s =
		since_ms > 0 && since_ms / 1000 <= UINT32_MAX ? (uint32_t)(since_ms / 1000) : 0;
	fleet_projection_set_name(store, &condition->reason, reason);
	fleet_projection_set_message(
		store, &condition->message, json_str(found, "message", NULL));
	int64_t generation = json_int(object, -1, "metadata", "generation", NULL);
	int64_t observed = json_int(found, generation, "observedGeneration", NULL);
	condition->is_current = generation < 0 || observed == generation;
}

void fleet_condition_drop(struct fleet_store *store, struct fleet_condition *condition)
{
	fleet_projection_drop_text(store, &condition->reason);
	fleet_projection_drop_text(store, &condition->message);
}

const struct fleet_condition fleet_condition_absent = {
	.reason = "", .message = "", .is_current = true
};
static const struct fleet_condition condition_fine = {
	.reason = "", .message = "", .status = CONDITION_TRUE, .is_current = true
};
const struct fleet_container_status fleet_no_container_status = { .container = "",
	.waiting = "",
	.waiting_message = "",
	.image = "",
	.ended = "",
	.ended_message = "" };
const struct fleet_pod_verdict fleet_no_pod_verdict = { "", "", "", "", 0 };

int64_t fleet_condition_since_ms(const struct fleet_condition *condition)
{
	return (int64_t)condition->since_s * 1000;
}

void fleet_condition_drop_rare(struct fleet_store *store, const struct fleet_condition **slot)
{
	union {
		const struct fleet_condition *borrowed;
		struct fleet_condition *owned;
	} condition = { *slot };
	if (*slot != NULL && *slot != &fleet_condition_absent && *slot != &condition_fine) {
		fleet_condition_drop(store, condition.owned);
		free(condition.owned);
	}
	*slot = &fleet_condition_absent;
}

/* A condition that most objects do not have, or have with nothing to say: memory only for the others. */
void fleet_condition_read_rare(struct fleet_store *store, const struct fleet_condition **slot,
	const cJSON *object, const char *type, bool true_is_fine)
{
	struct fleet_condition now = { 0 };
	fleet_condition_read(store, &now, object, type);
	fleet_condition_drop_rare(store, slot);
	if (now.status == CONDITION_ABSENT) {
		fleet_condition_drop(store, &now);
	} else if (now.status == CONDITION_TRUE && true_is_fine) {
		fleet_condition_drop(store, &now);
		*slot = &condition_fine;
	} else {
		struct fleet_condition *kept = x_malloc(sizeof *kept);
		*kept = now;
		*slot = kept;
	}
}

/* 8080 and 9090: sandboxd. 8888: the legacy Python runtime. */
uint8_t fleet_projection_runtime(const cJSON *pod_spec)
{
	bool has_rest = false, has_grpc = false, has_legacy = false;
	const cJSON *container, *port;
	cJSON_ArrayForEach(container, json_get(pod_spec, "containers", NULL))
	{
		cJSON_ArrayForEach(port, json_get(container, "ports", NULL))
		{
			int64_t number = json_int(port, 0, "containerPort", NULL);
			has_rest |= number == 8080;
			has_grpc |= number == 9090;
			has_legacy |= number == 8888;
		}
	}
	if (has_rest && has_grpc)
		return DECLARED_SANDBOXD;
	return has_legacy ? DECLARED_LEGACY : DECLARED_NOTHING;
}
