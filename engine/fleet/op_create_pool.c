// SPDX-License-Identifier: Apache-2.0
/* Which warm pool a create takes, where that has to be asked: a template was named instead of a pool, or a template policy wants
 * to know which template the pool is of. Nothing is made before that is settled. */
#include "engine/fleet/op_create.h"

#include "engine/base/map.h"
#include "engine/fleet/template_policy.h"
#include "engine/k8s/resource.h"

#include <string.h>

bool fleet_create_check_policy(const struct fleet *fleet, const struct fleet_create_opts *opts,
	const struct fleet_policy_template **out, struct err *err)
{
	const struct fleet_policy *policy = fleet->policy;
	*out = NULL;
	if (policy == NULL)
		return opts->network == NULL ||
		       err_set(err, ERR_ARG_INVALID,
			       "a network can be asserted of a declared template only: name a "
			       "template policy");
	if (opts->template_ != NULL)
		*out = fleet_policy_find(policy, opts->template_, err);
	else if (fleet_create_pool(opts) == NULL)
		*out = fleet_policy_default(policy);
	else
		return true; /* its pool will tell */
	return *out != NULL && fleet_policy_check_network(*out, opts->network, err);
}

static void settle(struct fleet_op *op, const char *pool)
{
	struct fleet_create *create = op->create;
	free(create->pool);
	create->pool = x_strdup(pool);
	create->chosen(op);
}

static const char *template_of(const cJSON *pool)
{
	return json_str(pool, "spec", "sandboxTemplateRef", "name", NULL);
}

/* ---- a pool was named: which template is it of? */

static bool admit_pool(struct fleet_op *op, const cJSON *pool, struct err *err)
{
	struct fleet_create *create = op->create;
	const char *name = template_of(pool);
	if (name == NULL)
		return err_set(
			err, ERR_KUBE_PROTOCOL, "warm pool %s names no template", create->pool);
	if (create->template_ != NULL && strcmp(create->template_, name) != 0)
		return err_set(err, ERR_POLICY_MISMATCH,
			"warm pool %s is of template %s, not of %s", create->pool, name,
			create->template_);
	if (op->fleet->policy == NULL)
		return true;
	create->rule = fleet_policy_find(op->fleet->policy, name, err);
	return create->rule != NULL &&
	       fleet_policy_check_network(create->rule, create->network, err);
}

static void on_pool(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct err why = { 0 };
	op->call = NULL;
	if (err != NULL && err->code == ERR_KUBE_NOT_FOUND) {
		err_set(&why, ERR_POOL_NOT_FOUND, "there is no warm pool %s", op->create->pool);
		err = &why;
	} else if (err == NULL && !admit_pool(op, object, &why)) {
		err = &why;
	}
	if (err != NULL)
		op->create->settle(op, err);
	else
		op->create->chosen(op);
}

/* ---- a template was named: which pool is of it? */

/* One of its own name first, then the one with the most that are ready. */
static bool is_better(const cJSON *pool, const cJSON *than, const char *template_)
{
	if (than == NULL)
		return true;
	if (strcmp(json_str(than, "metadata", "name", NULL), template_) == 0)
		return false;
	if (strcmp(json_str(pool, "metadata", "name", NULL), template_) == 0)
		return true;
	return json_int(pool, 0, "status", "readyReplicas", NULL) >
	       json_int(than, 0, "status", "readyReplicas", NULL);
}

static void on_pools(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	struct fleet_create *create = op->create;
	struct err why = { 0 };
	const cJSON *pool, *best = NULL;
	op->call = NULL;
	if (err != NULL) {
		create->settle(op, err);
		return;
	}
	cJSON_ArrayForEach(pool, json_get(object, "items", NULL))
	{
		const char *its = template_of(pool);
		if (its != NULL && strcmp(its, create->template_) == 0 &&
			json_str(pool, "metadata", "name", NULL) != NULL &&
			is_better(pool, best, create->template_))
			best = pool;
	}
	if (best != NULL) {
		settle(op, json_str(best, "metadata", "name", NULL));
		return;
	}
	err_set(&why, ERR_POOL_NOT_FOUND, "no warm pool in namespace %s is of template %s",
		op->namespace_, create->template_);
	create->settle(op, &why);
}

bool fleet_create_choose_pool(struct fleet_op *op, struct err *err)
{
	struct fleet_create *create = op->create;
	bool is_named = create->pool != NULL;
	char *path = kube_path(
		&k8s_sandboxwarmpools, op->namespace_, is_named ? create->pool : NULL, NULL);
	op->call = fleet_op_call(
		op, "GET", path, NULL, NULL, NULL, is_named ? on_pool : on_pools, err);
	free(path);
	return op->call != NULL;
}
