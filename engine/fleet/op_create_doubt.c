// SPDX-License-Identifier: Apache-2.0
/* A controller that has just been told of a pool or its template may still say that it is not there (wire.md, 2.5: it
 * looks again within a minute). The API server knows better: only what it does not find ends the wait. */
#include "engine/fleet/op_create.h"

#include "engine/kube/resources.h"

#include <stdlib.h>

static void gives_up(struct fleet_op *op)
{
	struct err err = op->create->err;
	fleet_create_fail(op, &err);
}

static void exists(struct fleet_op *op)
{
	op->create->exists = op->create->err.code;
	fleet_create_look(op);
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

static bool get(struct fleet_op *op, const struct kube_resource *resource, const char *name,
	void (*done)(void *arg, const struct err *err, const cJSON *object))
{
	struct err err = { 0 };
	char *path = kube_path(resource, op->namespace_, name, NULL);
	op->call = fleet_op_call(op, "GET", path, NULL, NULL, NULL, done, &err);
	free(path);
	return op->call != NULL;
}

static void on_pool(void *arg, const struct err *err, const cJSON *object)
{
	struct fleet_op *op = arg;
	const char *name = json_str(object, "spec", "sandboxTemplateRef", "name", NULL);
	op->call = NULL;
	if (err == NULL && op->create->err.code == ERR_POOL_NOT_FOUND)
		exists(op);
	else if (err != NULL || name == NULL ||
		 !get(op, &kube_sandboxtemplates, name, on_template))
		gives_up(op);
}

const char *fleet_create_doubts(struct fleet_op *op, const struct err *err)
{
	struct create *create = op->create;
	if (err->code != ERR_POOL_NOT_FOUND && err->code != ERR_TEMPLATE_NOT_FOUND)
		return NULL;
	if (create->exists == err->code)
		return err->code == ERR_POOL_NOT_FOUND
			       ? "the controller has not seen the warm pool yet"
			       : "the controller has not seen the warm pool's template yet";
	if (op->call != NULL)
		return "";
	create->err = *err;
	return get(op, &kube_sandboxwarmpools, create->pool, on_pool) ? "" : NULL;
}
