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
#include "engine/fleet/template_policy.h"
#include "engine/k8s/resource.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <string.h>

enum { MAX_REBINDS = 5 };

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
	free(create->template_);
	free(create->network);
	free(create->key);
	free(create->prefix);
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
	char because[FLEET_BECAUSE_BYTES];
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
		err_set(&err, ERR_SANDBOX_NOT_READY, "claim %s is not ready after %lld s: %s%s",
			op->name, (long long)(create->timeout_ms / 1000),
			fleet_state_name(row->state), fleet_row_because(row, because));
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
	if (!fleet_create_post(op, &err))
		create_fail(op, &err);
}

static void on_key_found(struct fleet_op *op, const cJSON *claim)
{
	struct err err = { 0 };
	if (op->create->rule != NULL &&
		!fleet_policy_check_claim(op->fleet->policy, op->create->rule, claim, &err)) {
		create_fail(op, &err);
		return;
	}
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

/* The rest of the claim, once its pool and what the policy says of its template are known. */
static void complete_body(struct fleet_op *op)
{
	struct fleet_create *create = op->create;
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(create->body, "spec"), *item;
	cJSON *pool = cJSON_GetObjectItemCaseSensitive(spec, "warmPoolRef");
	if (pool == NULL)
		pool = cJSON_AddObjectToObject(spec, "warmPoolRef");
	set_text(pool, "name", create->pool);
	if (create->rule == NULL)
		return;
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(create->body, "metadata");
	cJSON *labels = cJSON_GetObjectItemCaseSensitive(metadata, "labels");
	cJSON *wanted = fleet_policy_labels(op->fleet->policy, create->rule);
	cJSON_ArrayForEach(item, wanted) set_text(labels, item->string, item->valuestring);
	cJSON_Delete(wanted);
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(spec, "env"))
	{
		if (create->rule->container[0] && !cJSON_HasObjectItem(item, "containerName"))
			cJSON_AddStringToObject(item, "containerName", create->rule->container);
	}
}

static bool begin(struct fleet_op *op, struct err *err)
{
	struct fleet_create *create = op->create;
	complete_body(op);
	if (create->key == NULL)
		return fleet_create_post(op, err);
	create->binding =
		fleet_binding_new(op, create->key, create->pool, create->prefix, &key_hooks);
	return fleet_binding_start(create->binding, err);
}

static void on_chosen(struct fleet_op *op)
{
	struct err err = { 0 };
	if (!begin(op, &err))
		create_fail(op, &err);
}

/* A pool is looked at before only where that decides something. */
static bool begin_with_pool(struct fleet_op *op, struct err *err)
{
	struct fleet_create *create = op->create;
	bool must_ask =
		create->pool == NULL || create->template_ != NULL || op->fleet->policy != NULL;
	return must_ask ? fleet_create_choose_pool(op, err) : begin(op, err);
}

static void take_opts(struct fleet_op *op, const struct fleet_create_opts *opts,
	const struct fleet_policy_template *rule)
{
	struct fleet_create *create = op->create;
	op->namespace_ = x_strdup(opts->namespace_);
	op->name = x_strdup(fleet_create_name(opts));
	create->pool = x_strdup(fleet_create_pool(opts));
	create->template_ = x_strdup(rule ? rule->name : opts->template_);
	create->network = x_strdup(opts->network);
	create->key = x_strdup(opts->binding_key);
	create->prefix = x_strdup(json_str(opts->base, "metadata", "generateName", NULL));
	create->rule = rule;
	create->is_named = op->name != NULL;
	create->adopt = opts->adopt;
	create->no_wait = opts->no_wait;
	create->on_progress = opts->on_progress;
	create->on_left = opts->on_left;
	create->done = opts->done;
	create->arg = opts->arg;
	create->timeout_ms = opts->ready_timeout_ms > 0 ? opts->ready_timeout_ms
							: setting_get(SETTING_READY_TIMEOUT);
}

struct fleet_op *fleet_create_start(
	struct fleet *fleet, const struct fleet_create_opts *opts, struct err *err)
{
	const struct fleet_policy_template *rule;
	struct fleet_create_opts with = *opts;
	if (!fleet_op_may_write(fleet, "create", err) ||
		!fleet_create_check_policy(fleet, opts, &rule, err))
		return NULL;
	if (rule != NULL)
		with.template_ = rule->name;
	if (!fleet_create_check(&with, err))
		return NULL;
	struct fleet_op *op = fleet_op_new(fleet, "create");
	struct fleet_create *create = op->create = x_calloc(1, sizeof *create);
	op->drop = create_drop;
	take_opts(op, opts, rule);
	op->stage_span = telemetry_span_start(fleet->telemetry, "create_claim", op->span);
	char traceparent[SPAN_TRACEPARENT_BYTES];
	digest_random_hex(create->request_id, sizeof create->request_id - 1);
	create->settle = create_settle;
	create->chosen = on_chosen;
	create->there = claim_is_there;
	create->body = fleet_create_body(opts, create->request_id,
		telemetry_span_traceparent(op->stage_span, traceparent),
		clock_wall_ns() + kube_client_clock_skew_ms(fleet->kube) * 1000000, err);
	if (create->body == NULL || !begin_with_pool(op, err)) {
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
