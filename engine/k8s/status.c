// SPDX-License-Identifier: Apache-2.0
/* Both directions of a Status. What is written is worded as the Kubernetes API server words it: clients look for these
 * reasons, and some for these messages. */
#include "engine/k8s/status.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/k8s/resource.h"

#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 4096, MAX_TEXT_SHOWN = 200 };

/* Of several with one code the first is meant when a reason is none of them. */
static const struct k8s_status_row rows[] = {
	[K8S_BAD_REQUEST] = { 400, "BadRequest", ERR_KUBE_BAD_REQUEST },
	[K8S_UNAUTHORIZED] = { 401, "Unauthorized", ERR_KUBE_UNAUTHORIZED },
	[K8S_FORBIDDEN] = { 403, "Forbidden", ERR_KUBE_FORBIDDEN },
	[K8S_NOT_FOUND] = { 404, "NotFound", ERR_KUBE_NOT_FOUND },
	[K8S_METHOD_NOT_ALLOWED] = { 405, "MethodNotAllowed", ERR_KUBE_BAD_REQUEST },
	[K8S_NOT_ACCEPTABLE] = { 406, "NotAcceptable", ERR_KUBE_BAD_REQUEST },
	[K8S_CONFLICT] = { 409, "Conflict", ERR_KUBE_CONFLICT },
	[K8S_ALREADY_EXISTS] = { 409, "AlreadyExists", ERR_KUBE_EXISTS },
	[K8S_EXPIRED] = { 410, "Expired", ERR_KUBE_EXPIRED },
	[K8S_GONE] = { 410, "Gone", ERR_KUBE_EXPIRED },
	[K8S_TOO_LARGE] = { 413, "RequestEntityTooLarge", ERR_KUBE_TOO_LARGE },
	[K8S_UNSUPPORTED_MEDIA_TYPE] = { 415, "UnsupportedMediaType", ERR_KUBE_BAD_REQUEST },
	[K8S_MISDIRECTED] = { 421, "Invalid", ERR_KUBE_PROTOCOL },
	[K8S_INVALID] = { 422, "Invalid", ERR_KUBE_INVALID },
	[K8S_TOO_MANY_REQUESTS] = { 429, "TooManyRequests", ERR_KUBE_THROTTLED },
	[K8S_INTERNAL_ERROR] = { 500, "InternalError", ERR_KUBE_SERVER },
	[K8S_TIMEOUT] = { 504, "Timeout", ERR_KUBE_SERVER },
};
_Static_assert(sizeof rows / sizeof *rows == K8S_REASON_COUNT, "a row for each reason");

const struct k8s_status_row *k8s_status_row(enum k8s_reason reason)
{
	return &rows[reason];
}

/* ---- reading ---- */

static bool has_cause(const struct cJSON *object, const char *reason)
{
	const cJSON *cause;
	cJSON_ArrayForEach(cause, json_get(object, "details", "causes", NULL))
	{
		const char *is = json_str(cause, "reason", NULL);
		if (is != NULL && strcmp(is, reason) == 0)
			return true;
	}
	return false;
}

/* Quota, RBAC and a namespace that goes away share 403 Forbidden: quota differs from RBAC by words only. */
static enum err_code forbidden_code(const struct cJSON *object, const char *message)
{
	if (strstr(message, "exceeded quota") != NULL)
		return ERR_KUBE_QUOTA;
	if (has_cause(object, "NamespaceTerminating"))
		return ERR_KUBE_NAMESPACE_TERMINATING;
	return ERR_KUBE_FORBIDDEN;
}

static enum err_code code_of(
	int code, const struct cJSON *object, const char *reason, const char *message)
{
	const struct k8s_status_row *found = NULL;
	if (code == 403)
		return forbidden_code(object, message);
	if (code == 404 &&
		object == NULL) /* an unserved group or version answers in plain text */
		return ERR_KUBE_NOT_SERVED;
	for (size_t i = 0; i < K8S_REASON_COUNT; i++)
		if (rows[i].code == code &&
			(found == NULL || strcmp(rows[i].reason, reason) == 0))
			found = &rows[i];
	if (found != NULL)
		return found->err;
	return code >= 500 ? ERR_KUBE_SERVER : ERR_KUBE_PROTOCOL;
}

bool k8s_status_to_err(int code, const struct cJSON *object, struct slice text, struct err *err)
{
	const char *kind = json_str(object, "kind", NULL);
	if (kind == NULL || strcmp(kind, "Status") != 0)
		object =
			NULL; /* JSON of somebody else (a proxy, a gateway) says nothing reliable */
	const char *reason = json_str(object, "reason", NULL);
	const char *message = json_str(object, "message", NULL);
	char shown[MAX_TEXT_SHOWN + 1] = "";
	if (message == NULL || !message[0]) {
		size_t n = text.n < MAX_TEXT_SHOWN ? text.n : MAX_TEXT_SHOWN;
		if (n > 0 && object == NULL)
			memcpy(shown, text.p, n);
		while (n > 0 && (shown[n - 1] == '\n' || shown[n - 1] == '\r'))
			shown[--n] = '\0';
		message = shown;
	}
	reason = reason ? reason : "";
	if (strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0)
		code = 410;
	enum err_code is = code_of(code, object, reason, message);
	if (message[0])
		err_set(err, is, "%s", message);
	else
		err_set(err, is, "the API server answered %d %s", code, reason);
	if (err != NULL)
		err->sys = code;
	return false;
}

int64_t k8s_status_retry_after_s(const struct cJSON *object)
{
	return json_int(object, -1, "details", "retryAfterSeconds", NULL);
}

/* ---- writing ---- */

static cJSON *status_begin(const char *status)
{
	cJSON *s = cJSON_CreateObject();
	cJSON_AddStringToObject(s, "kind", "Status");
	cJSON_AddStringToObject(s, "apiVersion", "v1");
	cJSON_AddObjectToObject(s, "metadata");
	cJSON_AddStringToObject(s, "status", status);
	return s;
}

cJSON *k8s_status_success(void)
{
	return status_begin("Success");
}

__attribute__((format(printf, 2, 0))) static cJSON *status_vnew(
	enum k8s_reason reason, const char *format, va_list args)
{
	struct str text;
	cJSON *s = status_begin("Failure");
	str_init(&text, MESSAGE_BYTES);
	str_vaddf(&text, format, args);
	cJSON_AddStringToObject(s, "message", text.p);
	cJSON_AddStringToObject(s, "reason", rows[reason].reason);
	cJSON_AddNumberToObject(s, "code", rows[reason].code);
	str_deinit(&text);
	return s;
}

cJSON *k8s_status_new(enum k8s_reason reason, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cJSON *s = status_vnew(reason, format, args);
	va_end(args);
	return s;
}

cJSON *k8s_status_bad_request(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	cJSON *s = status_vnew(K8S_BAD_REQUEST, format, args);
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

cJSON *k8s_status_about(cJSON *s, const struct k8s_resource *r, const char *name)
{
	fill_details(s, name, r ? r->group : NULL, r ? r->plural : NULL);
	return s;
}

/* "sandboxclaims.extensions.agents.x-k8s.io", or "pods" */
static void add_qualified(struct str *out, const char *kind, const char *group)
{
	str_addf(out, "%s%s%s", kind, *group ? "." : "", group);
}

static cJSON *about_resource(enum k8s_reason reason, const struct k8s_resource *r,
	const char *name, const char *before, const char *after)
{
	struct str text;
	str_init(&text, MESSAGE_BYTES);
	str_add(&text, before);
	add_qualified(&text, r->plural, r->group);
	str_addf(&text, " \"%s\"%s", name, after);
	cJSON *s = k8s_status_about(k8s_status_new(reason, "%s", text.p), r, name);
	str_deinit(&text);
	return s;
}

cJSON *k8s_status_not_found(const struct k8s_resource *r, const char *name)
{
	return about_resource(K8S_NOT_FOUND, r, name, "", " not found");
}

cJSON *k8s_status_exists(const struct k8s_resource *r, const char *name, bool being_deleted)
{
	return about_resource(K8S_ALREADY_EXISTS, r, name,
		being_deleted ? "object is being deleted: " : "", " already exists");
}

cJSON *k8s_status_conflict(const struct k8s_resource *r, const char *name, const char *why)
{
	struct str after;
	str_init(&after, MESSAGE_BYTES);
	str_addf(&after, ": %s", why);
	cJSON *s = about_resource(
		K8S_CONFLICT, r, name, "Operation cannot be fulfilled on ", after.p);
	str_deinit(&after);
	return s;
}

void k8s_status_add_cause(
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

cJSON *k8s_status_invalid(const struct k8s_resource *r, const char *name, cJSON *causes)
{
	struct str text;
	const cJSON *c;
	int n = cJSON_GetArraySize(causes);
	str_init(&text, MESSAGE_BYTES);
	add_qualified(&text, r->kind, r->group);
	str_addf(&text, " \"%s\" is invalid: %s", name, n > 1 ? "[" : "");
	cJSON_ArrayForEach(c, causes)
	{
		str_addf(&text, "%s%s: %s", c == causes->child ? "" : ", ",
			json_str(c, "field", NULL), json_str(c, "message", NULL));
	}
	if (n > 1)
		str_add(&text, "]");
	cJSON *s = k8s_status_new(K8S_INVALID, "%s", text.p);
	str_deinit(&text);
	fill_details(s, name, r->group, r->kind);
	cJSON_AddItemToObject(cJSON_GetObjectItemCaseSensitive(s, "details"), "causes", causes);
	return s;
}

int k8s_status_code(const cJSON *status)
{
	return (int)json_int(status, 500, "code", NULL);
}
