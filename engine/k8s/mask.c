// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/mask.h"

#include "engine/base/json.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char last_applied[] = "kubectl.kubernetes.io/last-applied-configuration";

static bool has_word(const char *name, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

bool k8s_looks_like_credential(const char *name)
{
	static const char *const words[] = { "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CRED",
		"KEY", "AUTH", "BEARER", "PRIVATE", "CERT", NULL };
	return has_word(name, words);
}

/* "KEY" and "AUTH" stand in the names of many annotations that are no secrets. */
static bool is_token(const char *name, const char *value)
{
	static const char *const words[] = { "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CRED",
		"BEARER", "PRIVATE", NULL };
	bool is_jwt = strncmp(value, "eyJ", 3) == 0 && strchr(value, '.');
	return is_jwt || strncasecmp(value, "Bearer ", 7) == 0 || has_word(name, words);
}

static size_t mask_text(cJSON *value)
{
	if (!cJSON_IsString(value) || !value->valuestring[0])
		return 0;
	cJSON_SetValuestring(value, K8S_MASK);
	return 1;
}

static size_t mask_map(cJSON *map)
{
	size_t n = 0;
	for (cJSON *value = cJSON_IsObject(map) ? map->child : NULL; value; value = value->next)
		n += mask_text(value);
	return n;
}

/* The object as it was applied, in an annotation: the same secrets once more. One that is no JSON goes whole. */
static size_t mask_applied(cJSON *value)
{
	cJSON *inner = json_parse(slice_of(value->valuestring), NULL);
	if (!inner)
		return mask_text(value);
	size_t n = k8s_mask(inner);
	char *text = n ? cJSON_PrintUnformatted(inner) : NULL;
	if (text)
		cJSON_SetValuestring(value, text);
	free(text);
	cJSON_Delete(inner);
	return n;
}

static size_t mask_annotations(const cJSON *object)
{
	size_t n = 0;
	const cJSON *map = json_get(object, "metadata", "annotations", NULL);
	for (cJSON *value = cJSON_IsObject(map) ? map->child : NULL; value;
		value = value->next) {
		if (!cJSON_IsString(value))
			continue;
		if (strcmp(value->string, last_applied) == 0)
			n += mask_applied(value);
		else if (is_token(value->string, value->valuestring))
			n += mask_text(value);
	}
	return n;
}

/* Environment variables, wherever they are. */
static size_t mask_env(cJSON *at, bool is_env)
{
	size_t n = 0;
	for (cJSON *child = at->child; child; child = child->next) {
		const char *name = is_env ? json_str(child, "name", NULL) : NULL;
		if (name && k8s_looks_like_credential(name))
			n += mask_text(cJSON_GetObjectItemCaseSensitive(child, "value"));
		if (cJSON_IsObject(child) || cJSON_IsArray(child))
			n += mask_env(
				child, child->string && strcmp(child->string, "env") == 0);
	}
	return n;
}

size_t k8s_mask(cJSON *object)
{
	const char *kind = json_str(object, "kind", NULL);
	size_t n = mask_annotations(object) + mask_env(object, false);
	if (kind && strcmp(kind, "Secret") == 0) {
		n += mask_map(cJSON_GetObjectItemCaseSensitive(object, "data"));
		n += mask_map(cJSON_GetObjectItemCaseSensitive(object, "stringData"));
	}
	return n;
}
