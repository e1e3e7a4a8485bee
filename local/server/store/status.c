// SPDX-License-Identifier: Apache-2.0
/* Status objects, worded as the Kubernetes API server words them: clients look for these reasons, and
 * some for these messages. */
#include "local/server/store/status.h"

#include "engine/base/json.h"
#include "engine/base/str.h"

#include <stdlib.h>

enum { MESSAGE_BYTES = 4096 };

__attribute__((format(printf, 3, 0))) static cJSON *status_vnew(
	int code, const char *reason, const char *format, va_list args)
{
	struct str text;
	cJSON *s = cJSON_CreateObject();
	str_init(&text, MESSAGE_BYTES);
	str_vaddf(&text, format, args);
	cJSON_AddStringToObject(s, "kind", "Status");
	cJSON_AddStringToObject(s, "apiVersion", "v1");
	cJSON_AddObjectToObject(s, "metadata");
	cJSON_AddStringToObject(s, "status", "Failure");
	cJSON_AddStringToObject(s, "message", text.p);
	if (reason)
		cJSON_AddStringToObject(s, "reason", reason);
	cJSON_AddNumberToObject(s, "code", code);
	str_deinit(&text);
	return s;
}

cJSON *store_status_new(int code, const char *reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cJSON *s = status_vnew(code, reason, format, args);
	va_end(args);
	return s;
}

cJSON *store_status_bad_request(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cJSON *s = status_vnew(400, "BadRequest", format, args);
	va_end(args);
	return s;
}

static void fill_details(cJSON *s, const char *name, const char *group, const char *kind)
{
	cJSON *details = cJSON_AddObjectToObject(s, "details");
	if (name && *name)
		cJSON_AddStringToObject(details, "name", name);
	if (group && *group)
		cJSON_AddStringToObject(details, "group", group);
	if (kind)
		cJSON_AddStringToObject(details, "kind", kind);
}

cJSON *store_status_about(cJSON *s, const struct store_resource *r, const char *name)
{
	fill_details(s, name, r ? r->api->group : NULL, r ? r->api->plural : NULL);
	return s;
}

/* "sandboxclaims.extensions.agents.x-k8s.io", or "pods" */
static void add_qualified(struct str *out, const char *kind, const char *group)
{
	str_addf(out, "%s%s%s", kind, *group ? "." : "", group);
}

static cJSON *about_resource(int code, const char *reason, const struct store_resource *r,
	const char *name, const char *before, const char *after)
{
	struct str text;
	str_init(&text, MESSAGE_BYTES);
	str_add(&text, before);
	add_qualified(&text, r->api->plural, r->api->group);
	str_addf(&text, " \"%s\"%s", name, after);
	cJSON *s = store_status_about(store_status_new(code, reason, "%s", text.p), r, name);
	str_deinit(&text);
	return s;
}

cJSON *store_status_not_found(const struct store_resource *r, const char *name)
{
	return about_resource(404, "NotFound", r, name, "", " not found");
}

cJSON *store_status_exists(const struct store_resource *r, const char *name, bool being_deleted)
{
	return about_resource(409, "AlreadyExists", r, name,
		being_deleted ? "object is being deleted: " : "", " already exists");
}

cJSON *store_status_conflict(const struct store_resource *r, const char *name, const char *why)
{
	struct str after;
	str_init(&after, MESSAGE_BYTES);
	str_addf(&after, ": %s", why);
	cJSON *s = about_resource(
		409, "Conflict", r, name, "Operation cannot be fulfilled on ", after.p);
	str_deinit(&after);
	return s;
}

void store_status_add_cause(
	cJSON *causes, const char *reason, const char *field, const char *format, ...)
{
	struct str text;
	va_list args;
	cJSON *cause = cJSON_CreateObject();
	str_init(&text, MESSAGE_BYTES);
	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	cJSON_AddStringToObject(cause, "reason", reason);
	cJSON_AddStringToObject(cause, "message", text.p);
	cJSON_AddStringToObject(cause, "field", field);
	cJSON_AddItemToArray(causes, cause);
	str_deinit(&text);
}

cJSON *store_status_invalid(const struct store_resource *r, const char *name, cJSON *causes)
{
	struct str text;
	const cJSON *c;
	int n = cJSON_GetArraySize(causes);
	str_init(&text, MESSAGE_BYTES);
	add_qualified(&text, r->api->kind, r->api->group);
	str_addf(&text, " \"%s\" is invalid: %s", name, n > 1 ? "[" : "");
	cJSON_ArrayForEach(c, causes)
	{
		str_addf(&text, "%s%s: %s", c == causes->child ? "" : ", ",
			json_str(c, "field", NULL), json_str(c, "message", NULL));
	}
	if (n > 1)
		str_add(&text, "]");
	cJSON *s = store_status_new(422, "Invalid", "%s", text.p);
	str_deinit(&text);
	fill_details(s, name, r->api->group, r->api->kind);
	cJSON_AddItemToObject(cJSON_GetObjectItemCaseSensitive(s, "details"), "causes", causes);
	return s;
}

int store_status_code(const cJSON *status)
{
	return (int)json_int(status, 500, "code", NULL);
}
