// SPDX-License-Identifier: Apache-2.0
/* Which fields each resource can be selected by, and where labels and fields are in an object. */
#include "local/server/store/selector.h"

#include "engine/base/err.h"
#include "engine/base/json.h"

#include <string.h>

/* A wrong selector is the client's mistake: 400. */
static struct k8s_selector *checked(struct k8s_selector *selector, bool *ok, struct err *err)
{
	*ok = selector != NULL;
	if (!*ok && err != NULL)
		err->code = ERR_KUBE_BAD_REQUEST;
	return selector;
}

struct k8s_selector *store_selector_parse_labels(const char *text, bool *ok, struct err *err)
{
	*ok = true;
	if (!text || !text[strspn(text, " \t\r\n")])
		return NULL;
	struct k8s_selector *selector = k8s_label_selector_parse(text, err);
	if (!selector)
		err_prefix(err, "unable to parse requirement");
	return checked(selector, ok, err);
}

static bool is_supported_field(const void *arg, const char *field)
{
	const struct store_resource *r = arg;
	static const char *const pod[] = { "status.phase", "spec.nodeName", "status.podIP",
		"spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", NULL };
	static const char *const core_event[] = { "involvedObject.kind",
		"involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion",
		"involvedObject.fieldPath", "reason", "reportingComponent", "source", "type",
		NULL };
	static const char *const new_event[] = { "regarding.kind", "regarding.namespace",
		"regarding.name", "regarding.uid", "regarding.apiVersion",
		"regarding.resourceVersion", "regarding.fieldPath", "reason",
		"reportingController", "type", NULL };
	static const char *const namespace[] = { "status.phase", NULL };
	const char *const *more = r->kind == KIND_POD         ? pod
				  : r->kind == KIND_NAMESPACE ? namespace
				  : r->kind != KIND_EVENT     ? NULL
				  : r->is_view                ? new_event
							      : core_event;
	if (strcmp(field, "metadata.name") == 0 || strcmp(field, "metadata.namespace") == 0)
		return true;
	for (; more && *more; more++)
		if (strcmp(*more, field) == 0)
			return true;
	return false;
}

struct k8s_selector *store_selector_parse_fields(
	const char *text, const struct store_resource *r, bool *ok, struct err *err)
{
	*ok = true;
	if (!text || !*text)
		return NULL;
	return checked(k8s_field_selector_parse(text, is_supported_field, r, err), ok, err);
}

static const char *label_of(const void *arg, const char *key)
{
	const cJSON *labels = arg;
	return labels ? json_str(labels, key, NULL) : NULL;
}

bool store_selector_matches_labels(const struct k8s_selector *selector, const cJSON *object)
{
	return k8s_selector_matches(
		selector, label_of, json_get(object, "metadata", "labels", NULL));
}

/* A missing field counts as empty. */
static const char *field_value(const cJSON *object, const char *path)
{
	char part[64];
	while (object) {
		size_t n = strcspn(path, ".");
		if (n >= sizeof part)
			return "";
		memcpy(part, path, n);
		part[n] = '\0';
		object = cJSON_GetObjectItemCaseSensitive(object, part);
		if (!path[n])
			break;
		path += n + 1;
	}
	return cJSON_IsString(object) ? object->valuestring : "";
}

static const char *field_of(const void *arg, const char *key)
{
	return field_value(arg, strcmp(key, "source") == 0 ? "source.component" : key);
}

bool store_selector_matches_fields(const struct k8s_selector *selector, const cJSON *object)
{
	return k8s_selector_matches(selector, field_of, object);
}

const char *store_selector_name(const struct k8s_selector *fields)
{
	return k8s_selector_value(fields, "metadata.name");
}
