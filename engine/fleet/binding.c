// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/binding.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/map.h"
#include "engine/base/settings.h"
#include "engine/fleet/binding_lease.h"
#include "engine/k8s/resource.h"
#include "engine/k8s/time.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <string.h>

enum {
	NAME_DIGITS = 10,
	LOOK_MS = 200,
	LOOK_MAX_MS = 1500,
	AGAIN_MS = 20,
	AGAIN_MAX_MS = 1000
};

struct fleet_binding {
	struct fleet_op *op;
	const struct fleet_binding_hooks *hooks;
	char *key, *pool, *prefix;
	char digits[FLEET_BINDING_DIGITS + 1];
	char *name;                      /* the Lease's */
	char *reserved;                  /* the claim's name that we reserve */
	char *wait;                      /* what is waited for; NULL */
	cJSON *lease;                    /* as it was read last */
	cJSON *claim;                    /* live, that it names */
	char claim_uid[FLEET_UID_BYTES]; /* ours, to be recorded; "" */
	char *template_;                 /* of the other pool, while ours is read */
	int races, looks;
	bool is_held; /* the reservation is ours, and has no claim yet */
	struct net_loop_timer *timer;
};

/* ---- small things */

static int64_t jittered(int64_t first_ms, int64_t most_ms, int n)
{
	uint16_t random;
	int64_t ms = first_ms << (n < 6 ? n : 6);
	digest_random(&random, sizeof random);
	if (ms > most_ms)
		ms = most_ms;
	return ms / 2 + ms * random / UINT16_MAX;
}

static void failed(struct fleet_binding *binding, const struct err *err)
{
	struct err why = *err;
	err_prefix(&why, "binding key %s", binding->key);
	binding->hooks->failed(binding->op, &why);
}

static bool call(struct fleet_binding *binding, const char *method,
	const struct k8s_resource *resource, const char *name, const cJSON *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object), struct err *err)
{
	struct fleet_op *op = binding->op;
	char *path = kube_path(resource, op->namespace_, name, NULL);
	op->call = fleet_op_call(op, method, path,
		body != NULL && strcmp(method, "DELETE") != 0 ? "fieldManager=sandmux" : NULL,
		NULL, body, done, err);
	free(path);
	return op->call != NULL;
}

static void must_call(struct fleet_binding *binding, const char *method,
	const struct k8s_resource *resource, const char *name, const cJSON *body,
	void (*done)(void *arg, const struct err *err, const cJSON *object))
{
	struct err err = { 0 };
	if (!call(binding, method, resource, name, body, done, &err))
		failed(binding, &err);
}

static struct fleet_binding *of(void *arg)
{
	return ((struct fleet_op *)arg)->create->binding;
}

static void take_lease(struct fleet_binding *binding, const cJSON *lease)
{
	cJSON_Delete(binding->lease);
	binding->lease = cJSON_Duplicate(lease, true);
}

static int64_t server_now_ns(const struct fleet_binding *binding)
{
	return clock_wall_ns() + kube_client_clock_skew_ms(binding->op->fleet->kube) * 1000000;
}

/* It may be that the answer was lost, not the request. */
static bool is_unknown(const struct err *err)
{
	return err->code == ERR_OP_TIMEOUT || err->code == ERR_KUBE_TRANSPORT ||
	       err->code == ERR_KUBE_SERVER || err->code == ERR_KUBE_PROTOCOL;
}

static void look(struct fleet_binding *binding);
static void reserve(struct fleet_binding *binding);

/* ---- again */

static void on_timer(void *arg)
{
	struct fleet_binding *binding = arg;
	if (binding->wait != NULL)
		look(binding);
	else
		reserve(binding);
}

/* Somebody was faster. */
static void race_again(struct fleet_binding *binding)
{
	struct err err = { 0 };
	if (++binding->races >= setting_get(SETTING_BINDING_ATTEMPTS)) {
		err_set(&err, ERR_BIND_CONTENDED, "the race for its Lease %s was lost %d times",
			binding->name, binding->races);
		failed(binding, &err);
		return;
	}
	free(binding->wait);
	binding->wait = NULL;
	binding->looks = 0;
	net_loop_timer_arm(binding->timer, jittered(AGAIN_MS, AGAIN_MAX_MS, binding->races));
}

static void look_again(struct fleet_binding *binding, const char *holder, int64_t left_ms)
{
	free(binding->wait);
	binding->wait = x_asprintf(
		"its key is reserved for claim %s, which is not there yet (%lld s left)",
		holder, (long long)(left_ms + 999) / 1000);
	binding->hooks->progress(binding->op, binding->wait);
	int64_t ms = jittered(LOOK_MS, LOOK_MAX_MS, binding->looks++);
	net_loop_timer_arm(binding->timer, ms < left_ms ? ms : left_ms + 1);
}

/* ---- a Lease that nobody needs */

static void on_freed(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	(void)object;
	op->call = NULL;
	bool is_over = err == NULL || err->code == ERR_KUBE_NOT_FOUND ||
		       err->code == ERR_KUBE_CONFLICT || is_unknown(err);
	if (is_over)
		race_again(of(op));
	else
		failed(of(op), err);
}

static void free_lease(struct fleet_binding *binding)
{
	cJSON *options = fleet_binding_delete_options(binding->lease);
	must_call(binding, "DELETE", &k8s_leases, binding->name, options, on_freed);
	cJSON_Delete(options);
}

/* ---- the claim that it names */

static void found(struct fleet_binding *binding)
{
	cJSON *claim = binding->claim;
	binding->claim = NULL;
	free(binding->wait);
	binding->wait = NULL;
	binding->hooks->found(binding->op, claim);
	cJSON_Delete(claim);
}

static void on_repaired(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	(void)object;
	op->call = NULL;
	if (err == NULL)
		found(binding);
	else if (err->code == ERR_KUBE_CONFLICT || err->code == ERR_KUBE_NOT_FOUND ||
		 is_unknown(err))
		race_again(binding); /* whoever was faster: what it says now decides */
	else
		failed(binding, err);
}

/* Only a claim that its Lease records is the key's: else the Lease may be freed under it at this moment. */
static void settle_found(struct fleet_binding *binding)
{
	const char *uid = json_str(binding->claim, "metadata", "uid", NULL);
	if (fleet_binding_recorded_uid(binding->lease) != NULL) {
		found(binding);
		return;
	}
	const char *name = json_str(binding->claim, "metadata", "name", NULL);
	fleet_binding_record_in(binding->lease, name, uid);
	must_call(binding, "PUT", &k8s_leases, binding->name, binding->lease, on_repaired);
}

static void mismatch(struct fleet_binding *binding, const char *why)
{
	struct err err = { 0 };
	err_set(&err, ERR_POLICY_MISMATCH, "it is bound to claim %s %s",
		json_str(binding->claim, "metadata", "name", NULL), why);
	failed(binding, &err);
}

static void other_template(struct fleet_binding *binding)
{
	const char *pool = json_str(binding->claim, "spec", "warmPoolRef", "name", NULL);
	char *why = x_asprintf("of warm pool %s, whose template is not that of %s",
		pool ? pool : "(none)", binding->pool);
	mismatch(binding, why);
	free(why);
}

static void on_our_pool(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	const char *ours = json_str(object, "spec", "sandboxTemplateRef", "name", NULL);
	op->call = NULL;
	if (err == NULL && ours != NULL && strcmp(ours, binding->template_) == 0)
		settle_found(binding);
	else
		other_template(binding);
}

static void on_its_pool(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	const char *its = json_str(object, "spec", "sandboxTemplateRef", "name", NULL);
	op->call = NULL;
	if (err != NULL || its == NULL) {
		other_template(binding);
		return;
	}
	free(binding->template_);
	binding->template_ = x_strdup(its);
	must_call(binding, "GET", &k8s_sandboxwarmpools, binding->pool, NULL, on_our_pool);
}

/* A live claim: is it what was asked for? */
static void compare(struct fleet_binding *binding)
{
	const cJSON *claim = binding->claim;
	const char *key = json_str(claim, "metadata", "annotations", FLEET_BINDING_KEY, NULL);
	const char *pool = json_str(claim, "spec", "warmPoolRef", "name", NULL);
	if (key == NULL || strcmp(key, binding->key) != 0)
		mismatch(binding, "that is not marked as its own");
	else if (pool != NULL && strcmp(pool, binding->pool) == 0)
		settle_found(binding);
	else if (pool != NULL)
		must_call(binding, "GET", &k8s_sandboxwarmpools, pool, NULL, on_its_pool);
	else
		other_template(binding);
}

static void claim_is_missing(struct fleet_binding *binding)
{
	const char *holder = fleet_binding_holder(binding->lease);
	int64_t left_ms =
		fleet_binding_left_ms(binding->lease, server_now_ns(binding) / 1000000);
	if (fleet_binding_recorded_uid(binding->lease) != NULL || left_ms <= 0)
		free_lease(binding);
	else
		look_again(binding, holder, left_ms);
}

static void on_claim(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		claim_is_missing(binding);
		return;
	}
	if (err != NULL) {
		failed(binding, err);
		return;
	}
	const char *uid = json_str(object, "metadata", "uid", NULL);
	const char *recorded = fleet_binding_recorded_uid(binding->lease);
	bool is_other = recorded != NULL && (uid == NULL || strcmp(uid, recorded) != 0);
	if (is_other || json_str(object, "metadata", "deletionTimestamp", NULL) != NULL) {
		free_lease(binding);
		return;
	}
	cJSON_Delete(binding->claim);
	binding->claim = cJSON_Duplicate(object, true);
	compare(binding);
}

/* ---- the Lease */

static void reserved(struct fleet_binding *binding)
{
	binding->is_held = true;
	free(binding->wait);
	binding->wait = NULL;
	binding->hooks->reserved(binding->op, binding->reserved, binding->digits);
}

static void on_lease(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		race_again(binding);
		return;
	}
	if (err != NULL) {
		failed(binding, err);
		return;
	}
	take_lease(binding, object);
	const char *holder = fleet_binding_holder(binding->lease);
	if (holder == NULL) /* nobody's: as good as free */
		free_lease(binding);
	else if (strcmp(holder, binding->reserved) == 0)
		reserved(binding); /* the answer to our own request was lost */
	else
		must_call(binding, "GET", &k8s_sandboxclaims, holder, NULL, on_claim);
}

static void look(struct fleet_binding *binding)
{
	must_call(binding, "GET", &k8s_leases, binding->name, NULL, on_lease);
}

static void on_reserved(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	op->call = NULL;
	if (err == NULL) {
		take_lease(binding, object);
		reserved(binding);
	} else if (err->code == ERR_KUBE_EXISTS || is_unknown(err)) {
		look(binding);
	} else {
		failed(binding, err);
	}
}

static void name_a_claim(struct fleet_binding *binding)
{
	char random[NAME_DIGITS + 1];
	digest_random_hex(random, NAME_DIGITS);
	free(binding->reserved);
	binding->reserved = x_asprintf("%s%s", binding->prefix, random);
}

static bool try_to_reserve(struct fleet_binding *binding, struct err *err)
{
	name_a_claim(binding);
	cJSON *lease = fleet_binding_lease(binding->op->namespace_, binding->name, binding->key,
		binding->reserved, server_now_ns(binding));
	bool ok = call(binding, "POST", &k8s_leases, NULL, lease, on_reserved, err);
	cJSON_Delete(lease);
	return ok;
}

static void reserve(struct fleet_binding *binding)
{
	struct err err = { 0 };
	if (!try_to_reserve(binding, &err))
		failed(binding, &err);
}

/* ---- recording our own claim */

static void record(struct fleet_binding *binding);

static void lost(struct fleet_binding *binding)
{
	binding->claim_uid[0] = '\0';
	binding->hooks->lost(binding->op);
}

static void on_looked_after(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		lost(binding);
		return;
	}
	if (err != NULL) {
		failed(binding, err);
		return;
	}
	take_lease(binding, object);
	const char *holder = fleet_binding_holder(binding->lease);
	const char *uid = fleet_binding_recorded_uid(binding->lease);
	bool is_ours = holder != NULL && strcmp(holder, binding->reserved) == 0;
	if (is_ours && uid != NULL && strcmp(uid, binding->claim_uid) == 0)
		binding->hooks->recorded(
			op); /* by one who has found it, or the answer was lost */
	else if (is_ours && uid == NULL &&
		 ++binding->races < setting_get(SETTING_BINDING_ATTEMPTS))
		record(binding);
	else
		lost(binding);
}

static void on_recorded(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_binding *binding = of(op);
	(void)object;
	op->call = NULL;
	if (err == NULL)
		binding->hooks->recorded(op);
	else if (err->code == ERR_KUBE_CONFLICT || err->code == ERR_KUBE_NOT_FOUND ||
		 is_unknown(err))
		must_call(binding, "GET", &k8s_leases, binding->name, NULL, on_looked_after);
	else
		failed(binding, err);
}

static void record(struct fleet_binding *binding)
{
	fleet_binding_record_in(binding->lease, binding->reserved, binding->claim_uid);
	must_call(binding, "PUT", &k8s_leases, binding->name, binding->lease, on_recorded);
}

void fleet_binding_record(struct fleet_binding *binding, const char *claim_uid)
{
	binding->is_held = false;
	snprintf(binding->claim_uid, sizeof binding->claim_uid, "%s", claim_uid);
	record(binding);
}

/* ---- its life */

struct fleet_binding *fleet_binding_new(struct fleet_op *op, const char *key, const char *pool,
	const char *prefix, const struct fleet_binding_hooks *hooks)
{
	struct fleet_binding *binding = x_calloc(1, sizeof *binding);
	binding->op = op;
	binding->hooks = hooks;
	binding->key = x_strdup(key);
	binding->pool = x_strdup(pool);
	binding->prefix = x_strdup(prefix ? prefix : "sandbox-claim-");
	fleet_binding_digits(key, binding->digits);
	binding->name = fleet_binding_name(binding->digits);
	binding->timer = net_loop_timer_new(op->fleet->loop, on_timer, binding);
	return binding;
}

void fleet_binding_free(struct fleet_binding *binding)
{
	if (binding == NULL)
		return;
	net_loop_timer_free(binding->timer);
	cJSON_Delete(binding->lease);
	cJSON_Delete(binding->claim);
	free(binding->key);
	free(binding->pool);
	free(binding->prefix);
	free(binding->name);
	free(binding->reserved);
	free(binding->wait);
	free(binding->template_);
	free(binding);
}

bool fleet_binding_start(struct fleet_binding *binding, struct err *err)
{
	return try_to_reserve(binding, err);
}

const char *fleet_binding_wait(const struct fleet_binding *binding)
{
	return binding->wait ? binding->wait : "";
}

void fleet_binding_give_back(struct fleet_binding *binding)
{
	if (binding->is_held)
		fleet_unbind_start(binding->op->fleet, binding->op->namespace_, binding->digits,
			binding->reserved, NULL);
	binding->is_held = false;
}
