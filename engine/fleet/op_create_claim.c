// SPDX-License-Identifier: Apache-2.0
/* The claim of a create: sent, and found again where its answer was lost, or somebody else's of that name. It ends in
 * create->there with the claim, or in create->settle with an error. */
#include "engine/fleet/op_create.h"

#include "engine/base/map.h"
#include "engine/fleet/template_policy.h"
#include "engine/k8s/resource.h"

#include <string.h>

enum { MAX_POSTS = 2 };

static void post_again(struct fleet_op *op, const struct err *cause)
{
	struct err err = { 0 };
	struct err kept = *cause;
	if (op->create->posts >= MAX_POSTS)
		op->create->settle(op, &kept);
	else if (!fleet_create_post(op, &err))
		op->create->settle(op, &err);
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
		op->create->settle(op, err);
		return;
	}
	if (is_ours(create, object)) { /* the answer to our own POST was lost */
		create->is_made = true;
		op->create->there(op, object);
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
	if (why.code == ERR_NONE && create->rule != NULL)
		fleet_policy_check_claim(op->fleet->policy, create->rule, object, &why);
	if (why.code != ERR_NONE) {
		op->create->settle(op, &why);
		return;
	}
	create->is_adopted = true;
	op->create->there(op, object);
}

static void look_at_existing(struct fleet_op *op)
{
	struct err err = { 0 };
	if (!fleet_create_get(op, &k8s_sandboxclaims, op->name, on_existing, &err))
		op->create->settle(op, &err);
}

static void on_found(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	op->call = NULL;
	if (err != NULL) {
		struct err cause = create->err;
		op->create->settle(op, &cause);
		return;
	}
	const cJSON *item = cJSON_GetArrayItem(json_get(object, "items", NULL), 0);
	if (item == NULL) {
		create->is_posting = false;
		post_again(op, &create->err);
		return;
	}
	create->is_made = true;
	op->create->there(op, item);
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
		op->create->settle(op, &err);
}

static void on_posted(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err why = { 0 };
	op->call = NULL;
	if (err == NULL) {
		create->is_made = true;
		op->create->there(op, object);
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
			op->create->settle(op, err);
		} else if (strncmp(err->msg, "object is being deleted", 23) == 0) {
			err_set(&why, ERR_CLAIM_TERMINATING, "claim %s is being deleted",
				op->name);
			op->create->settle(op, &why);
		} else {
			look_at_existing(op);
		}
		return;
	default:
		create->is_posting = false;
		op->create->settle(op, err);
	}
}

bool fleet_create_post(struct fleet_op *op, struct err *err)
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
