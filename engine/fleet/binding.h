// SPDX-License-Identifier: Apache-2.0
/* At most one live sandbox of a key in a namespace, over any number of processes: the binding keys of the GKE client.
 *
 * Its Lease (coordination.k8s.io/v1) is the one thing that only one creator can make. Name: the setting binding-prefix and 40
 * hex digits of the key's SHA-256. spec.holderIdentity is the name that is reserved for the claim; an annotation and an owner
 * reference have the claim's UID once there is one, so that the Lease goes with it.
 *
 *   create Lease ─201─> reserved ─(the caller makes the claim)─> record: UID and owner ─> recorded
 *     └ 409 ─> read Lease, read the claim that it names
 *                 ├ live, of the same template ─> its UID is recorded, if nobody has ─> found
 *                 ├ not there, reserved a moment ago ─> look again
 *                 └ gone, being deleted, or not there in time ─> delete the Lease as it was read ─> again
 *
 * Whether a reservation has lapsed is judged by the server's clock. What can stop at any step is what the next create finds
 * and goes on from: a Lease without a claim lapses, a claim that no Lease records is recorded by whoever finds it, a record
 * that comes too late takes its own claim back.
 * Errors: ERR_BIND_CONTENDED, ERR_CLAIM_EXPIRED, ERR_KUBE_PROTOCOL, ERR_POLICY_MISMATCH. */
#pragma once

#include "engine/fleet/op_create.h"

#define FLEET_BINDING_LABEL "sandmux/binding" /* of the claim: the digits of its Lease's name */

struct fleet_binding_hooks { /* one of them, once for each start or record */
	void (*reserved)(struct fleet_op *op, const char *claim_name, const char *digits);
	void (*found)(struct fleet_op *op, const cJSON *claim);
	void (*recorded)(struct fleet_op *op);
	void (*lost)(struct fleet_op *op); /* by the claim that was to be recorded */
	void (*failed)(struct fleet_op *op, const struct err *err);
	void (*progress)(struct fleet_op *op, const char *stage);
};
/* prefix: of generated names. hooks live as long as it. It uses op->call. */
struct fleet_binding *fleet_binding_new(struct fleet_op *op, const char *key, const char *pool,
	const char *prefix, const struct fleet_binding_hooks *hooks);
void fleet_binding_free(struct fleet_binding *binding); /* NULL is fine */
/* Also anew, after lost or when the claim that was found has gone. False with *err. */
bool fleet_binding_start(struct fleet_binding *binding, struct err *err);
void fleet_binding_record(struct fleet_binding *binding, const char *claim_uid);
/* What it waits for ("" for nothing): another creator's reservation. Borrowed. */
const char *fleet_binding_wait(const struct fleet_binding *binding);
/* The claim was not and will not be made: the reservation is given back, in the background. */
void fleet_binding_give_back(struct fleet_binding *binding);
