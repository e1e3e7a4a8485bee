// SPDX-License-Identifier: Apache-2.0
/* Creating a sandbox: a claim, then patience.
 *
 *   POST claim ─201─────────────────────────────> wait for Ready ─> done
 *     ├ 409, adopt ─> GET: same pool, staying? ──────^
 *     ├ binding key: its Lease is reserved first, and says which claim it is (binding.h)
 *     ├ outcome unknown ─> list by our request id ─ found ─^, not found ─> POST once more
 *     └ failed, timed out, hopeless ─> delete what we made and did not name ─> done with the error */
#include "engine/fleet/op_create.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/binding.h"
#include "engine/k8s/resource.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <string.h>

enum { MAX_POSTS = 2, MAX_REBINDS = 5 };

/* Ours, not named by the caller, and there or perhaps there. One that is bound is its key's: others may have found it, and
 * the next create does; unless it can never be ready. */
static bool must_roll_back(const struct fleet_create *create)
{
	if (create->binding != NULL)
		return create->is_made && create->is_hopeless;
	return !create->is_named && (create->is_made || create->is_posting);
}

static struct fleet_orphan *roll_back(struct fleet_op *op, fleet_done_fn *done)
{
	const struct fleet_create *create = op->create;
	return fleet_rollback_start(op->fleet, op->namespace_, op->name,
		create->uid[0] ? create->uid : NULL, create->request_id, done, op);
}

static void tell_left(struct fleet_op *op)
{
	const struct fleet_create *create = op->create;
	if (create->on_left != NULL && (create->is_named || create->binding != NULL) &&
		(create->is_made || create->is_posting))
		create->on_left(create->arg, op->name, create->uid);
}

static void create_drop(struct fleet_op *op)
{
	struct fleet_create *create = op->create;
	if (create->rollback != NULL)
		fleet_rollback_ignore(create->rollback);
	else if (!create->is_done && must_roll_back(create)) /* cancelled */
		roll_back(op, NULL);
	else if (!create->is_done)
		tell_left(op);
	if (create->binding != NULL && !create->is_made && !create->is_posting)
		fleet_binding_give_back(create->binding);
	fleet_binding_free(create->binding);
	if (create->body != NULL)
		cJSON_Delete(create->body);
	free(create->pool);
	free(create->stage);
	free(create);
}

static void create_finish(struct fleet_op *op, const struct err *err)
{
	struct fleet_create *create = op->create;
	void (*done)(void *, const struct err *, const char *, const struct fleet_row *) =
		create->done;
	void *arg = create->arg;
	struct err kept = { 0 };
	if (err != NULL) {
		kept = *err;
		tell_left(op);
	}
	struct fleet *fleet = op->fleet;
	char uid[FLEET_UID_BYTES];
	snprintf(uid, sizeof uid, "%s", create->uid);
	char *name = op->name;
	op->name = NULL;
	create->is_done = true;
	fleet_op_end_spans(op, err);
	fleet_op_free(op);
	done(arg, err ? &kept : NULL, name ? name : "",
		err == NULL ? fleet_find(fleet, uid) : NULL);
	free(name);
}

/* ---- failing */

static void on_rolled_back(void *arg, const struct err *err)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err why = create->err;
	create->rollback = NULL;
	create->is_made = err != NULL;
	if (err != NULL)
		err_set(&why, ERR_CLAIM_ORPHANED, "%s (after: %s)", err->msg, create->err.msg);
	create_finish(op, &why);
}

static void create_fail(struct fleet_op *op, const struct err *err)
{
	struct fleet_create *create = op->create;
	op->look = NULL;
	kube_call_cancel(op->call);
	op->call = NULL;
	if (op->deadline != NULL)
		net_loop_timer_disarm(op->deadline);
	if (!must_roll_back(create)) {
		create_finish(op, err);
		return;
	}
	create->err = *err;
	create->rollback = roll_back(op, on_rolled_back);
}

/* How much longer, since a person has been asked for credentials meanwhile: that takes the time that it takes. */
static int64_t more_time_ms(struct fleet_op *op)
{
	enum { STILL_ASKED_MS = 1000 };
	struct fleet_create *create = op->create;
	int64_t before = create->login_ms;
	create->login_ms = kube_client_login_ms(op->fleet->kube);
	if (create->login_ms > before)
		return create->login_ms - before;
	return kube_client_is_logging_in(op->fleet->kube) ? STILL_ASKED_MS : 0;
}

static void on_deadline(void *arg)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err err = { 0 };
	int64_t more_ms = more_time_ms(op);
	if (more_ms > 0) {
		net_loop_timer_arm(op->deadline, more_ms);
		return;
	}
	const struct fleet_row *row =
		create->uid[0] ? fleet_find(op->fleet, create->uid) : NULL;
	if (create->binding != NULL && fleet_binding_wait(create->binding)[0])
		err_set(&err, ERR_BIND_CONTENDED, "%s", fleet_binding_wait(create->binding));
	else if (row != NULL)
		err_set(&err, ERR_SANDBOX_NOT_READY,
			"claim %s is not ready after %lld s: %s%s%s%s%s", op->name,
			(long long)(create->timeout_ms / 1000), fleet_state_name(row->state),
			row->why[0] ? ": " : "", row->why, row->next[0] ? "; " : "", row->next);
	else
		err_set(&err, ERR_OP_TIMEOUT, "the API server did not answer within %lld s",
			(long long)(create->timeout_ms / 1000));
	create_fail(op, &err);
}

/* ---- waiting */

static void say(struct fleet_op *op, const char *stage)
{
	struct fleet_create *create = op->create;
	if (create->on_progress == NULL || !stage[0] ||
		(create->stage != NULL && strcmp(create->stage, stage) == 0))
		return;
	free(create->stage);
	create->stage = x_strdup(stage);
	create->on_progress(create->arg, create->stage);
}

static void bind_again(struct fleet_op *op);

/* What the key was bound to is going or gone: it is free again. */
static bool may_bind_again(const struct fleet_create *create)
{
	return create->binding != NULL && create->rebinds < MAX_REBINDS;
}

static void create_look(struct fleet_op *op)
{
	struct fleet_create *create = op->create;
	const struct fleet_row *row = fleet_find(op->fleet, create->uid);
	struct err err = { 0 };
	if (row == NULL) {
		fleet_create_vanished(op);
		return;
	}
	if (row->state == FLEET_TERMINATING) {
		if (may_bind_again(create)) {
			bind_again(op);
			return;
		}
		err_set(&err, ERR_CLAIM_TERMINATING, "claim %s is being deleted", op->name);
		create->is_made = false;
		create_fail(op, &err);
		return;
	}
	if (fleet_op_is_hopeless(op->fleet, row, &err)) {
		const char *doubt = fleet_create_confirms(op, &err);
		create->is_hopeless = doubt == NULL;
		if (doubt == NULL)
			create_fail(op, &err);
		else
			say(op, doubt);
		return;
	}
	bool has_sandbox = row->sandbox_uid[0] || fleet_informers_sandboxes_unknown(op->fleet);
	if (row->state == FLEET_READY && has_sandbox) {
		create_finish(op, NULL);
		return;
	}
	if (row->why[0])
		say(op, row->why);
	else if (row->state == FLEET_READY)
		say(op, "waiting for the Sandbox");
	else
		say(op, fleet_state_name(row->state));
}

static bool is_gone(const struct err *err)
{
	return err->code == ERR_CLAIM_NOT_FOUND || err->code == ERR_CLAIM_REPLACED;
}

static void create_settle(struct fleet_op *op, const struct err *err)
{
	struct fleet_create *create = op->create;
	if (err != NULL && is_gone(err) && may_bind_again(create)) {
		bind_again(op);
		return;
	}
	create->is_hopeless = err != NULL && create->uid[0] != '\0' && !is_gone(err);
	if (err != NULL)
		create_fail(op, err);
	else
		create_look(op);
}

static void on_first_look(void *arg)
{
	struct fleet_op *op = arg;
	if (op->look != NULL) /* a change may have come first, and failed it */
		op->look(op);
}

static void wait_for_ready(struct fleet_op *op)
{
	struct fleet_create *create = op->create;
	telemetry_span_end(op->stage_span, NULL);
	op->stage_span = NULL;
	if (create->no_wait) {
		create_finish(op, NULL);
		return;
	}
	op->stage_span =
		telemetry_span_start(op->fleet->telemetry, "wait_for_sandbox_ready", op->span);
	telemetry_span_set_str(op->stage_span, "sandbox.claim.name", op->name);
	fleet_single_watch(op->fleet, op->namespace_, op->name);
	op->look = create_look;
	if (op->kick == NULL)
		op->kick = net_loop_timer_new(op->fleet->loop, on_first_look, op);
	net_loop_timer_arm(op->kick, 0);
}

/* The claim is there: made by us, or adopted. */
static void claim_is_there(struct fleet_op *op, const cJSON *claim)
{
	struct fleet_create *create = op->create;
	struct err err = { 0 };
	const char *name = json_str(claim, "metadata", "name", NULL);
	const char *uid = json_str(claim, "metadata", "uid", NULL);
	if (name == NULL || uid == NULL || strlen(uid) >= sizeof create->uid) {
		err_set(&err, ERR_KUBE_PROTOCOL, "the claim has no name or uid");
		create_fail(op, &err);
		return;
	}
	char *copy = x_strdup(name);
	free(op->name);
	op->name = copy;
	snprintf(create->uid, sizeof create->uid, "%s", uid);
	create->is_posting = false;
	telemetry_span_set_str(op->span, "sandbox.claim.name", name);
	telemetry_span_set_str(op->stage_span, "sandbox.claim.name", name);
	/* shown at once, before the watch brings it; unless that has brought it already, and its end */
	if (!fleet_store_was_removed(&op->fleet->store, uid))
		fleet_store_apply(&op->fleet->store, STORE_CLAIMS, KUBE_MODIFIED, claim);
	if (create->binding != NULL && create->is_made) {
		fleet_binding_record(create->binding, create->uid);
		return;
	}
	if (create->binding == NULL) {
		cJSON_Delete(create->body); /* it may hold secrets, and is no longer needed */
		create->body = NULL;
	}
	wait_for_ready(op);
}

/* ---- the claim */

static bool post(struct fleet_op *op, struct err *err);

static void post_again(struct fleet_op *op, const struct err *cause)
{
	struct err err = { 0 };
	struct err kept = *cause;
	if (op->create->posts >= MAX_POSTS)
		create_fail(op, &kept);
	else if (!post(op, &err))
		create_fail(op, &err);
}

static bool is_ours(const struct fleet_create *create, const cJSON *claim)
{
	const char *id = json_str(claim, "metadata", "labels", CREATE_REQUEST_ID, NULL);
	return id != NULL && strcmp(id, create->request_id) == 0;
}

static void on_existing(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		post_again(op, err); /* it went between the two calls */
		return;
	}
	if (err != NULL) {
		create_fail(op, err);
		return;
	}
	if (is_ours(create, object)) { /* the answer to our own POST was lost */
		create->is_made = true;
		claim_is_there(op, object);
		return;
	}
	const char *pool = json_str(object, "spec", "warmPoolRef", "name", NULL);
	if (!create->adopt)
		err_set(&why, ERR_CLAIM_EXISTS, "claim %s exists already", op->name);
	else if (json_str(object, "metadata", "deletionTimestamp", NULL) != NULL)
		err_set(&why, ERR_CLAIM_TERMINATING, "claim %s is being deleted", op->name);
	else if (pool == NULL || strcmp(pool, create->pool) != 0)
		err_set(&why, ERR_CLAIM_ADOPT_MISMATCH, "claim %s uses warm pool %s, not %s",
			op->name, pool ? pool : "(none)", create->pool);
	if (why.code != ERR_NONE) {
		create_fail(op, &why);
		return;
	}
	create->is_adopted = true;
	claim_is_there(op, object);
}

static void look_at_existing(struct fleet_op *op)
{
	struct err err = { 0 };
	if (!fleet_create_get(op, &k8s_sandboxclaims, op->name, on_existing, &err))
		create_fail(op, &err);
}

static void on_found(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	op->call = NULL;
	if (err != NULL) {
		struct err cause = create->err;
		create_fail(op, &cause);
		return;
	}
	const cJSON *item = cJSON_GetArrayItem(json_get(object, "items", NULL), 0);
	if (item == NULL) {
		create->is_posting = false;
		post_again(op, &create->err);
		return;
	}
	create->is_made = true;
	claim_is_there(op, item);
}

/* The POST may have taken effect: a second claim must not be made beside the first. */
static void look_for_ours(struct fleet_op *op)
{
	struct err err = { 0 };
	struct str query;
	str_init(&query, 1024);
	char *selector = x_asprintf("%s=%s", CREATE_REQUEST_ID, op->create->request_id);
	kube_query_add(&query, "labelSelector", selector);
	char *path = kube_path(&k8s_sandboxclaims, op->namespace_, NULL, NULL);
	op->call = fleet_op_call(op, "GET", path, query.p, NULL, NULL, on_found, &err);
	free(path);
	free(selector);
	str_deinit(&query);
	if (op->call == NULL)
		create_fail(op, &err);
}

static void on_posted(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err why = { 0 };
	op->call = NULL;
	if (err == NULL) {
		create->is_made = true;
		claim_is_there(op, object);
		return;
	}
	switch (err->code) {
	case ERR_OP_TIMEOUT:
	case ERR_KUBE_TRANSPORT:
	case ERR_KUBE_SERVER:
	case ERR_KUBE_PROTOCOL:
		create->err = *err;
		look_for_ours(op);
		return;
	case ERR_KUBE_EXISTS:
		create->is_posting = false;
		if (!create->is_named && create->binding == NULL) {
			create_fail(op, err);
		} else if (strncmp(err->msg, "object is being deleted", 23) == 0) {
			err_set(&why, ERR_CLAIM_TERMINATING, "claim %s is being deleted",
				op->name);
			create_fail(op, &why);
		} else {
			look_at_existing(op);
		}
		return;
	default:
		create->is_posting = false;
		create_fail(op, err);
	}
}

static bool post(struct fleet_op *op, struct err *err)
{
	struct fleet_create *create = op->create;
	create->posts++;
	create->is_posting = true;
	char *path = kube_path(&k8s_sandboxclaims, op->namespace_, NULL, NULL);
	op->call =
		fleet_op_call(op, "POST", path, "fieldManager=sandmux&fieldValidation=Strict",
			NULL, create->body, on_posted, err);
	free(path);
	return op->call != NULL;
}

/* ---- a binding key */

static void set_text(cJSON *object, const char *key, const char *text)
{
	cJSON_DeleteItemFromObjectCaseSensitive(object, key);
	cJSON_AddStringToObject(object, key, text);
}

static void on_key_reserved(struct fleet_op *op, const char *claim_name, const char *digits)
{
	struct fleet_create *create = op->create;
	struct err err = { 0 };
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(create->body, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "generateName");
	set_text(metadata, "name", claim_name);
	set_text(cJSON_GetObjectItemCaseSensitive(metadata, "labels"), FLEET_BINDING_LABEL,
		digits);
	free(op->name);
	op->name = x_strdup(claim_name);
	create->posts = 0;
	if (!post(op, &err))
		create_fail(op, &err);
}

static void on_key_found(struct fleet_op *op, const cJSON *claim)
{
	op->create->is_adopted = true;
	claim_is_there(op, claim);
}

static void on_key_taken_back(void *arg, const struct err *err)
{
	struct fleet_op *op = arg;
	op->create->rollback = NULL;
	if (err != NULL)
		create_fail(op, err);
	else
		bind_again(op);
}

/* Its reservation had lapsed before it was recorded, and the key may be another claim's by now. */
static void on_key_lost(struct fleet_op *op)
{
	op->create->rollback = roll_back(op, on_key_taken_back);
}

static const struct fleet_binding_hooks key_hooks = {
	.reserved = on_key_reserved,
	.found = on_key_found,
	.recorded = wait_for_ready,
	.lost = on_key_lost,
	.failed = create_fail,
	.progress = say,
};

static void bind_again(struct fleet_op *op)
{
	struct fleet_create *create = op->create;
	struct err err = { 0 };
	op->look = NULL;
	kube_call_cancel(op->call);
	op->call = NULL;
	create->is_made = create->is_adopted = create->is_posting = false;
	create->uid[0] = '\0';
	create->rebinds++;
	if (!fleet_binding_start(create->binding, &err))
		create_fail(op, &err);
}

static bool begin(struct fleet_op *op, const struct fleet_create_opts *opts, struct err *err)
{
	struct fleet_create *create = op->create;
	if (opts->binding_key == NULL)
		return post(op, err);
	create->binding = fleet_binding_new(op, opts->binding_key, create->pool,
		json_str(opts->base, "metadata", "generateName", NULL), &key_hooks);
	return fleet_binding_start(create->binding, err);
}

struct fleet_op *fleet_create_start(
	struct fleet *fleet, const struct fleet_create_opts *opts, struct err *err)
{
	if (!fleet_op_may_write(fleet, "create", err) || !fleet_create_check(opts, err))
		return NULL;
	struct fleet_op *op = fleet_op_new(fleet, "create");
	struct fleet_create *create = op->create = x_calloc(1, sizeof *create);
	op->drop = create_drop;
	op->namespace_ = x_strdup(opts->namespace_);
	op->name = x_strdup(fleet_create_name(opts));
	create->pool = x_strdup(fleet_create_pool(opts));
	create->is_named = op->name != NULL;
	create->adopt = opts->adopt;
	create->no_wait = opts->no_wait;
	create->on_progress = opts->on_progress;
	create->on_left = opts->on_left;
	create->done = opts->done;
	create->arg = opts->arg;
	create->timeout_ms = opts->ready_timeout_ms > 0 ? opts->ready_timeout_ms
							: setting_get(SETTING_READY_TIMEOUT);
	op->stage_span = telemetry_span_start(fleet->telemetry, "create_claim", op->span);
	char traceparent[SPAN_TRACEPARENT_BYTES];
	digest_random_hex(create->request_id, sizeof create->request_id - 1);
	create->settle = create_settle;
	create->body = fleet_create_body(opts, create->request_id,
		telemetry_span_traceparent(op->stage_span, traceparent),
		clock_wall_ns() + kube_client_clock_skew_ms(fleet->kube) * 1000000, err);
	if (create->body == NULL || !begin(op, opts, err)) {
		create->is_done = true;
		create->is_posting = false;
		fleet_op_end_spans(op, err);
		fleet_op_free(op);
		return NULL;
	}
	create->login_ms = kube_client_login_ms(fleet->kube);
	op->deadline = net_loop_timer_new(fleet->loop, on_deadline, op);
	net_loop_timer_arm(op->deadline, create->timeout_ms);
	return op;
}
