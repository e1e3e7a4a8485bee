// SPDX-License-Identifier: Apache-2.0
/* Writes of the controllers to the store: what it refuses is logged, and what it could not take is done again later. */
#include "local/server/controller/controller.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/k8s/status.h"
#include "engine/net/loop.h"

enum { BEHIND_MS = 5000 };

void controller_is_behind(struct controller *c)
{
	if (c->behind_timer)
		net_loop_timer_arm(c->behind_timer, BEHIND_MS);
}

static struct store_object *finish_write(
	struct controller *c, cJSON *status, struct store_object *out, const char *what)
{
	if (!status) {
		store_object_unref(out); /* the store holds it */
		return out;
	}
	if (k8s_status_code(status) >= 500)
		controller_is_behind(c);
	LOG("controller", LOG_WARN, "%s: %s", what, json_str(status, "message", NULL));
	cJSON_Delete(status);
	return NULL;
}

struct store_object *controller_update(
	struct controller *c, struct store_object *o, cJSON *json, enum store_objects_part part)
{
	struct store_object *out = NULL;
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(json, "metadata");
	cJSON_DeleteItemFromObjectCaseSensitive(metadata, "resourceVersion");
	cJSON *status = store_objects_update(
		c->server->store, store_resource_of(o->kind), o, json, part, NULL, &out);
	return finish_write(c, status, out, "update");
}

struct store_object *controller_create(struct controller *c, enum store_kind kind,
	const char *ns, cJSON *json, struct err *err)
{
	struct store_object *out = NULL;
	cJSON *status = store_objects_create(
		c->server->store, store_resource_of(kind), ns, json, NULL, &out);
	if (status)
		err_set(err, ERR_KUBE_INVALID, "%s", json_str(status, "message", NULL));
	return finish_write(c, status, out, "create");
}

void controller_delete(
	struct controller *c, struct store_object *o, enum store_objects_policy policy)
{
	struct store_objects_delete how = { .policy = policy, .grace_seconds = -1 };
	struct store_object *kept = NULL;
	if (store_objects_is_terminating(o) && policy != OBJECTS_FOREGROUND)
		return;
	cJSON *status = store_objects_delete(
		c->server->store, store_resource_of(o->kind), o, &how, &kept);
	store_object_unref(kept);
	finish_write(c, status, NULL, "delete");
}
