// SPDX-License-Identifier: Apache-2.0
/* The Lease of a binding key: its name, its fields, and giving it back. The flow is in binding.c. */
#pragma once

#include "engine/fleet/fleet_internal.h"

enum { FLEET_BINDING_DIGITS = 40 };

void fleet_binding_digits(const char *key, char out[FLEET_BINDING_DIGITS + 1]);
char *fleet_binding_name(const char *digits); /* of the Lease */
cJSON *fleet_binding_lease(const char *namespace_, const char *name, const char *key,
	const char *claim_name, int64_t now_ns);
const char *fleet_binding_holder(const cJSON *lease);       /* the claim's name; NULL: none */
const char *fleet_binding_recorded_uid(const cJSON *lease); /* the claim's; NULL: none yet */
void fleet_binding_record_in(cJSON *lease, const char *claim_name, const char *claim_uid);
/* Of its reservation, by the server's clock; 0 or less: it has lapsed. */
int64_t fleet_binding_left_ms(const cJSON *lease, int64_t server_now_ms);
cJSON *fleet_binding_delete_options(const cJSON *lease); /* as it was read, or not at all */
