// SPDX-License-Identifier: Apache-2.0
/* The parts of the claim that a create sends: claim_body.c has its order, limits and life, claim_metadata.c labels and
 * annotations, claim_volume.c volumes and environment. Each adds what the options say to what the base claim has, and checks
 * the whole of it.
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include "engine/fleet/op_create.h"

/* What is not wished but true of this request. */
struct fleet_claim_stamp {
	const char *request_id, *traceparent;
	int64_t now_ns; /* the server's wall clock */
};

/* What the next error is about, for opts->part. */
static inline void fleet_claim_about(
	const struct fleet_create_opts *opts, enum fleet_create_part part)
{
	if (opts->part != NULL)
		*opts->part = part;
}
cJSON *fleet_claim_object(cJSON *object, const char *key); /* made if it is not there */
bool fleet_claim_add_metadata(cJSON *claim, const struct fleet_create_opts *opts,
	const struct fleet_claim_stamp *stamp, struct err *err);
bool fleet_claim_add_pod_metadata(
	cJSON *spec, const struct fleet_create_opts *opts, struct err *err);
bool fleet_claim_add_env(cJSON *spec, const struct fleet_create_opts *opts, struct err *err);
bool fleet_claim_add_volumes(
	cJSON *spec, const struct fleet_create_opts *opts, struct err *err);
