// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/dry_run.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

bool kube_is_write(const char *method, const char *path)
{
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return false;
	/* asking what one may do changes nothing, although it is a POST */
	return strcmp(method, "POST") != 0 ||
	       (strncmp(path, "/apis/authorization.k8s.io/", 27) != 0 &&
		       strncmp(path, "/apis/authentication.k8s.io/", 28) != 0);
}

char *kube_dry_run_query(const char *query)
{
	if (query == NULL || query[0] == '\0')
		return x_strdup("dryRun=All");
	return strstr(query, "dryRun=") ? x_strdup(query) : x_asprintf("%s&dryRun=All", query);
}

char *kube_dry_run_body(const char *method, struct slice body)
{
	cJSON *options = strcmp(method, "DELETE") == 0 ? json_parse(body, NULL) : NULL;
	char *text = NULL;
	if (cJSON_IsObject(options)) {
		cJSON_DeleteItemFromObjectCaseSensitive(options, "dryRun");
		cJSON_AddItemToArray(
			cJSON_AddArrayToObject(options, "dryRun"), cJSON_CreateString("All"));
		text = cJSON_PrintUnformatted(options);
	}
	cJSON_Delete(options);
	return text;
}

/* The last segment of a path, which names the object. */
static void add_name(cJSON *metadata, const struct kube_write *write)
{
	const char *prefix = json_str(metadata, "generateName", NULL);
	const char *last = strrchr(write->path, '/');
	if (json_str(metadata, "name", NULL) != NULL)
		return;
	char *name = prefix ? x_asprintf("%sxxxxx", prefix) : x_strdup(last ? last + 1 : "");
	cJSON_AddStringToObject(metadata, "name", name);
	free(name);
}

char *kube_dry_run_answer(const struct kube_write *write)
{
	if (strcmp(write->method, "DELETE") == 0)
		return x_strdup("{\"kind\":\"Status\",\"status\":\"Success\"}");
	cJSON *object = json_parse(write->body, NULL);
	if (!cJSON_IsObject(object)) { /* a JSON patch, or nothing */
		cJSON_Delete(object);
		object = cJSON_CreateObject();
	}
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
	if (!cJSON_IsObject(metadata)) {
		cJSON_DeleteItemFromObjectCaseSensitive(object, "metadata");
		metadata = cJSON_AddObjectToObject(object, "metadata");
	}
	add_name(metadata, write);
	if (json_str(metadata, "uid", NULL) == NULL)
		cJSON_AddStringToObject(
			metadata, "uid", "00000000-0000-0000-0000-000000000000");
	if (json_str(metadata, "resourceVersion", NULL) == NULL)
		cJSON_AddStringToObject(metadata, "resourceVersion", "0");
	char *text = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	return text;
}
