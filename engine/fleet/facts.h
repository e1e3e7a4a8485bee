// SPDX-License-Identifier: Apache-2.0
/* Shared by facts.c and conditions.c: fields of objects into interned texts. */
#pragma once

#include "engine/base/json.h"
#include "engine/fleet/store.h"

void fleet_facts_set_name(struct store *store, const char **slot, const char *text);
void fleet_facts_set_message(struct store *store, const char **slot, const char *text);
void fleet_facts_drop_text(struct store *store, const char **slot);
int64_t fleet_facts_date_ms(const char *text);      /* 0: none, or not a date */
uint8_t fleet_facts_runtime(const cJSON *pod_spec); /* enum declared, by its ports */

void fleet_condition_read(struct store *store, struct condition *condition, const cJSON *object,
	const char *type);
void fleet_condition_drop(struct store *store, struct condition *condition);
/* A condition that most objects do not have, or have with nothing to say: memory only for the others. */
void fleet_condition_read_rare(struct store *store, const struct condition **slot,
	const cJSON *object, const char *type, bool true_is_fine);
void fleet_condition_drop_rare(struct store *store, const struct condition **slot);
