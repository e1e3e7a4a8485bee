// SPDX-License-Identifier: Apache-2.0
/* Inside of fleet_create_start(): the flow is in op_create.c, what it asks while it waits in op_create_confirmation.c, the
 * claim's body in claim_body.c.
 * Errors: ERR_BIND_CONTENDED, ERR_CLAIM_ADOPT_MISMATCH, ERR_CLAIM_EXISTS, ERR_CLAIM_NOT_FOUND, ERR_CLAIM_ORPHANED, ERR_CLAIM_REPLACED,
 * ERR_ARG_INVALID, ERR_CLAIM_TERMINATING, ERR_POLICY_MISMATCH, ERR_POOL_NOT_FOUND, ERR_KUBE_PROTOCOL, ERR_OP_TIMEOUT, ERR_SANDBOX_NOT_READY. */
#pragma once

#include "engine/base/digest.h"
#include "engine/fleet/fleet_internal.h"

#define CREATE_REQUEST_ID "sandmux/request-id"

struct fleet_binding;
struct fleet_policy_template;

struct fleet_create {
	char *pool; /* NULL: to be chosen */
	char *template_, *network, *key, *prefix;
	const struct fleet_policy_template *rule; /* of the template policy; NULL: none */
	bool is_named, adopt, no_wait;
	bool is_posting; /* a POST was sent and its outcome is not known yet */
	bool is_made;    /* by us: to be rolled back unless named */
	bool is_adopted, is_done;
	bool is_hopeless; /* nobody will ever use it */
	int posts, rebinds;
	int64_t timeout_ms, login_ms; /* login_ms: of a plugin, which does not count */
	char request_id[33];
	char uid[FLEET_UID_BYTES];
	cJSON *body;
	char *stage;
	struct err err;       /* the failure that a rollback follows, or that is doubted */
	enum err_code exists; /* what was said not to be there, and is */
	struct fleet_orphan *rollback;
	struct fleet_binding *binding; /* NULL: no key */
	/* What was asked while it waits (op_create_confirmation.c) is answered: NULL: go on, else the end. */
	void (*settle)(struct fleet_op *op, const struct err *err);
	void (*there)(struct fleet_op *op, const cJSON *claim); /* made by us, or adopted */
	void (*chosen)(struct fleet_op *op); /* create->pool and rule are settled */
	void (*on_progress)(void *arg, const char *stage);
	void (*on_left)(void *arg, const char *name, const char *uid);
	void (*done)(void *arg, const struct err *err, const char *name,
		const struct fleet_row *row);
	void *arg;
};

/* op_create_pool.c: what the policy says before anything is sent, *out NULL: its pool decides; and the asking, which ends in
 * chosen or in settle with an error. */
bool fleet_create_check_policy(const struct fleet *fleet, const struct fleet_create_opts *opts,
	const struct fleet_policy_template **out, struct err *err);
bool fleet_create_choose_pool(struct fleet_op *op, struct err *err);
/* op_create_claim.c. Sends the body; also anew. */
bool fleet_create_post(struct fleet_op *op, struct err *err);
/* op_create_confirmation.c. Sets op->call; false: *err. */
bool fleet_create_get(struct fleet_op *op, const struct k8s_resource *resource,
	const char *name, void (*done)(void *arg, const struct err *err, const cJSON *object),
	struct err *err);
void fleet_create_vanished(struct fleet_op *op); /* ends it */
/* Whether err need not be the end. NULL: it is; else what is waited for ("" while it is being asked). */
const char *fleet_create_confirms(struct fleet_op *op, const struct err *err);

#define FLEET_BINDING_KEY "pai.dev/sandbox-binding-key" /* annotation of the claim */

/* Of the options, or of their base; NULL: none. */
const char *fleet_create_name(const struct fleet_create_opts *opts);
const char *fleet_create_pool(const struct fleet_create_opts *opts);
bool fleet_claim_is_shutdown_policy(const char *text);
/* Names, pool, numbers: what can be told before anything is sent. */
bool fleet_create_check(const struct fleet_create_opts *opts, struct err *err);
/* now_ns: the server's wall clock. NULL with *err for a bad label, annotation or variable. */
cJSON *fleet_create_body(const struct fleet_create_opts *opts, const char *request_id,
	const char *traceparent, int64_t now_ns, struct err *err);
