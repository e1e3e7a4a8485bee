// SPDX-License-Identifier: Apache-2.0
#include "engine/kinds/request.h"

#include "engine/base/json.h"
#include "engine/kinds/object.h"

bool kinds_request_delete(
	const void *row, const char *args, struct resource_request *out, struct err *err)
{
	const struct kinds_object *object = row;
	(void)args;
	(void)err;
	cJSON *options = cJSON_CreateObject();
	cJSON_AddStringToObject(options, "kind", "DeleteOptions");
	cJSON_AddStringToObject(options, "apiVersion", "v1");
	cJSON *preconditions = cJSON_AddObjectToObject(options, "preconditions");
	cJSON_AddStringToObject(preconditions, "uid", object->uid);
	out->method = "DELETE";
	out->body = options;
	return true;
}
