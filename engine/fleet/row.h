// SPDX-License-Identifier: Apache-2.0
/* One row per sandbox, joined from claim, Sandbox, pod, template and pool (Agent Sandbox v1beta1). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fleet_state {
	FLEET_TERMINATING,
	FLEET_EXPIRED,
	FLEET_FAILED,
	FLEET_BLOCKED,
	FLEET_FINISHED,
	FLEET_SUSPENDED,
	FLEET_SUSPENDING,
	FLEET_RESUMING,
	FLEET_READY,
	FLEET_ERROR,
	FLEET_PENDING,
	FLEET_DEGRADED,
	FLEET_CREATING,
	FLEET_UNKNOWN,
	FLEET_WARM,     /* unclaimed, owned by a pool: hidden by default */
	FLEET_CRASHING, /* a container of its pod ends again and again */
	FLEET_DELETED,  /* it is no more: what is left is what was known of it */
	FLEET_STATE_COUNT,
};
const char *fleet_state_name(enum fleet_state state); /* "Ready", … */

enum { FLEET_UID_BYTES = 37 };

/* Of a pod, all its containers together; 0: none. */
struct fleet_limits {
	int64_t memory_bytes, memory_request_bytes, disk_bytes;
	int32_t cpu_milli, cpu_request_milli; /* thousandths of a core */
};

struct usage_table;

/* Strings are never NULL ("" = unknown), foreign bytes, borrowed until the row changes: do not keep pointers to
 * rows or strings over a turn of the loop; keep the uid and look it up again. */
struct fleet_row {
	char uid[FLEET_UID_BYTES]; /* claim's uid, or the Sandbox's when there is no claim: the row's key */
	const char *namespace_;
	const char *claim;   /* claim name */
	const char *sandbox; /* Sandbox name */
	const char *pod;
	const char *pool;
	const char *template_;
	const char *node;
	const char *pod_ip;
	const char *service_fqdn;
	const char *created_by;
	const char *runtime_class;
	const char *labels; /* of the claim, else of the Sandbox: "key=value,key=value" */
	char sandbox_uid[FLEET_UID_BYTES];
	char pod_uid[FLEET_UID_BYTES];
	enum fleet_state state;
	const char *
		why; /* one sentence: why it is not Ready, with the object at fault; "" when Ready and well */
	const char *
		next; /* one short sentence: what to do about it; "" where nothing is to be done */
	int64_t why_since_ms;            /* wall clock of the evidence; 0 unknown */
	int64_t created_ms;              /* wall clock */
	int64_t expires_ms;              /* min of both shutdown times; 0 = none */
	int restarts;                    /* of the pod's containers */
	struct fleet_limits limits;      /* of its pod */
	const struct usage_table *usage; /* fleet_opts.usage: see engine/fleet/usage.h */
	bool is_warm_start;
	bool is_legacy; /* its pod declares the legacy Python runtime's port (8888), not sandboxd's (8080 and 9090) */
	bool is_pod_ending;   /* its pod is being deleted or is gone, and another one is due */
	bool is_standalone;   /* a Sandbox without claim and without pool */
	bool is_claim_hidden; /* it belongs to a claim that this user may not read */
	uint64_t revision;    /* of the store when it changed last */
};

enum { FLEET_BECAUSE_BYTES = 512 };
/* ": WHY; NEXT", as far as that is known, for the end of a message about a row that is not ready; "". */
const char *fleet_row_because(const struct fleet_row *row, char out[FLEET_BECAUSE_BYTES]);
