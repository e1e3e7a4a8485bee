// SPDX-License-Identifier: Apache-2.0
/* One operation on several sandboxes. What it is for is fixed before it begins, by UID: a name that means another sandbox by
 * then is left alone. A few run at a time, no more than so many begin in a second, each is tried once, and every one has a
 * result; those that were not begun when it was cancelled are said to be so. It keeps the fleet that it was made for, also when another
 * namespace is looked at meanwhile, until all is done; then nothing can be tried again.
 * Errors: ERR_ARG_INVALID, ERR_CLAIM_NOT_FOUND, ERR_OP_CANCELLED, those of engine/fleet/fleet.h; of items also what `may` says. */
#pragma once

#include "engine/base/err.h"
#include "engine/fleet/fleet.h"

enum fleet_bulk_verb {
	FLEET_BULK_DELETE,
	FLEET_BULK_SUSPEND,
	FLEET_BULK_RESUME,
	FLEET_BULK_EXTEND,
	FLEET_BULK_VERB_COUNT,
};

enum fleet_bulk_result {
	FLEET_BULK_WAITING,
	FLEET_BULK_RUNNING,
	FLEET_BULK_DONE,
	FLEET_BULK_UNCHANGED, /* it was so already */
	FLEET_BULK_FAILED,
	FLEET_BULK_CANCELLED, /* before it began; or while it ran, and what came of it is not known (err says so) */
	FLEET_BULK_RESULT_COUNT,
};
const char *fleet_bulk_result_name(enum fleet_bulk_result result); /* "done", … */

struct fleet_bulk_item {
	char uid[FLEET_UID_BYTES];
	char *name, *namespace_; /* of the claim, or "sandbox/NAME" */
	enum fleet_bulk_result result;
	struct err *err; /* of FAILED and CANCELLED; else NULL */
};

struct fleet_bulk_opts {
	enum fleet_bulk_verb verb;
	int64_t extend_ms;                 /* of EXTEND */
	struct fleet_delete_opts deletion; /* of DELETE */
	int per_second;                    /* that begin; 0: the setting bulk-rate */
	/* Asked before each; false with *err: it fails so. NULL: always. */
	bool (*may)(void *arg, const char *uid, struct err *err);
	/* False: the API server does not answer, and rows that may be old do not say that there is nothing to do. NULL: they
	 * are current. */
	bool (*rows_are_current)(void *arg);
	/* Something has a result, once a turn of the loop; the last time fleet_bulk_is_finished(). Never from inside a call of
	 * these functions. */
	void (*on_change)(void *arg);
	void *arg;
};

struct fleet_bulk;
/* uids: each once; those without a row are left out. NULL with *err (ERR_OP_READ_ONLY, ERR_ARG_INVALID: nothing is left). */
struct fleet_bulk *fleet_bulk_new(struct fleet *fleet, const struct fleet_bulk_opts *opts,
	const char *const *uids, size_t n, struct err *err);
/* What is running is given up without waiting for an answer. No callback comes any more. NULL is fine. */
void fleet_bulk_free(struct fleet_bulk *bulk);
void fleet_bulk_set_extend(struct fleet_bulk *bulk, int64_t extend_ms); /* before it begins */
void fleet_bulk_start(struct fleet_bulk *bulk);
/* No more begin; those that run are waited for. */
void fleet_bulk_cancel(struct fleet_bulk *bulk);
/* Those that failed or were not begun, and nothing else, once more. False: there are none, or it is not finished. */
bool fleet_bulk_retry(struct fleet_bulk *bulk);

enum fleet_bulk_verb fleet_bulk_verb_of(const struct fleet_bulk *bulk);
size_t fleet_bulk_count(const struct fleet_bulk *bulk);
const struct fleet_bulk_item *fleet_bulk_at(const struct fleet_bulk *bulk, size_t i);
size_t fleet_bulk_count_of(const struct fleet_bulk *bulk, enum fleet_bulk_result result);
bool fleet_bulk_is_finished(const struct fleet_bulk *bulk);
/* Of a deletion: how many that the API server has taken are still seen. */
size_t fleet_bulk_still_there(const struct fleet_bulk *bulk);
/* A line of JSON each: name, namespace, uid, result, code, message. */
struct str;
void fleet_bulk_report(const struct fleet_bulk *bulk, struct str *out);

/* What it would do, counted before anybody is asked. */
struct fleet_bulk_plan {
	size_t n, by_state[FLEET_STATE_COUNT];
	size_t namespaces;
};
struct fleet_bulk_plan fleet_bulk_plan_of(const struct fleet_bulk *bulk);
