// SPDX-License-Identifier: Apache-2.0
/* Shared by projection.c and conditions.c: fields of objects into interned texts. */
#pragma once

#include "engine/base/json.h"
#include "engine/fleet/store.h"

void fleet_projection_set_name(struct fleet_store *store, const char **slot, const char *text);
void fleet_projection_set_message(
	struct fleet_store *store, const char **slot, const char *text);
void fleet_projection_drop_text(struct fleet_store *store, const char **slot);
void fleet_projection_set_uid(
	struct fleet_store *store, struct fleet_uid *slot, const char *text);
/* The first valid IPv4 address of a list (field NULL: of texts), else the first valid address. */
const char *fleet_projection_first_ip(const cJSON *list, const char *field);
int64_t fleet_projection_deletion_ms(const cJSON *object); /* 0: it stays */
uint8_t fleet_projection_runtime(const cJSON *pod_spec); /* enum fleet_declared, by its ports */

void fleet_condition_read(struct fleet_store *store, struct fleet_condition *condition,
	const cJSON *object, const char *type);
void fleet_condition_drop(struct fleet_store *store, struct fleet_condition *condition);
/* A condition that most objects do not have, or have with nothing to say: memory only for the others. */
void fleet_condition_read_rare(struct fleet_store *store, const struct fleet_condition **slot,
	const cJSON *object, const char *type, bool true_is_fine);
void fleet_condition_drop_rare(struct fleet_store *store, const struct fleet_condition **slot);
