// SPDX-License-Identifier: Apache-2.0
/* What a create asks the API server while it waits.
 *
 * A controller that has just been told of a pool or its template may still say that it is not there (wire.md, 2.5: it
 * looks again within a minute): only what the API server does not find ends the wait. And an adopted claim that went may
 * be somebody's new one by now, which the watch has not told yet. */
#include "engine/fleet/op_create.h"

#include "engine/k8s/resource.h"

#include <stdlib.h>
#include <string.h>

bool fleet_create_get(struct fleet_op *op, const struct k8s_resource *resource,
	const char *name, void (*done)(void *arg, const struct err *err, const cJSON *object),
	struct err *err)
{
	char *path = kube_path(resource, op->namespace_, name, NULL);
	op->call = fleet_op_call(op, "GET", path, NULL, NULL, NULL, done, err);
	free(path);
	return op->call != NULL;
}

/* ---- a pool or a template that is said not to be there */

static void gives_up(struct fleet_op *op)
{
	struct err err = op->create->err;
	op->create->settle(op, &err);
}

static void exists(struct fleet_op *op)
{
	op->create->exists = op->create->err.code;
	op->create->settle(op, NULL);
}

static void on_template(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	(void)object;
	op->call = NULL;
	if (err != NULL)
		gives_up(op);
	else
		exists(op);
}

static void on_pool(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	const char *name = json_str(object, "spec", "sandboxTemplateRef", "name", NULL);
	struct err own = { 0 };
	op->call = NULL;
	if (err == NULL && op->create->err.code == ERR_POOL_NOT_FOUND)
		exists(op);
	else if (err != NULL || name == NULL ||
		 !fleet_create_get(op, &k8s_sandboxtemplates, name, on_template, &own))
		gives_up(op);
}

const char *fleet_create_confirms(struct fleet_op *op, const struct err *err)
{
	struct fleet_create *create = op->create;
	struct err own = { 0 };
	if (err->code != ERR_POOL_NOT_FOUND && err->code != ERR_TEMPLATE_NOT_FOUND)
		return NULL;
	if (create->exists == err->code)
		return err->code == ERR_POOL_NOT_FOUND
			       ? "the controller has not seen the warm pool yet"
			       : "the controller has not seen the warm pool's template yet";
	if (op->call != NULL)
		return "";
	create->err = *err;
	return fleet_create_get(op, &k8s_sandboxwarmpools, create->pool, on_pool, &own) ? ""
											: NULL;
}

/* ---- a claim that went */

static void gone(struct fleet_op *op, bool is_replaced)
{
	struct fleet_create *create = op->create;
	struct err err = { 0 };
	if (is_replaced)
		err_set(&err, ERR_CLAIM_REPLACED,
			"claim %s was deleted and created again by somebody", op->name);
	else
		err_set(&err, ERR_CLAIM_NOT_FOUND, "claim %s was deleted while waiting",
			op->name);
	create->is_made = false; /* nothing to roll back */
	create->settle(op, &err);
}

static void on_who_is_there(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	const char *uid = json_str(object, "metadata", "uid", NULL);
	op->call = NULL;
	gone(op, err == NULL && uid != NULL && strcmp(uid, op->create->uid) != 0);
}

void fleet_create_vanished(struct fleet_op *op)
{
	struct err err = { 0 };
	op->look = NULL;
	kube_call_cancel(op->call);
	op->call = NULL;
	if (!op->create->is_adopted ||
		!fleet_create_get(op, &k8s_sandboxclaims, op->name, on_who_is_there, &err))
		gone(op, false);
}
