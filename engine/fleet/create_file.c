// SPDX-License-Identifier: Apache-2.0
#include "engine/fleet/create_file.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static bool refuse(struct err *err, const char *key, const char *wanted)
{
	return err_set(err, ERR_ARG_INVALID, "%s: %s is wanted", key, wanted);
}

static cJSON *object_in(cJSON *parent, const char *key)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(parent, key);
	return item ? item : cJSON_AddObjectToObject(parent, key);
}

/* ---- a claim */

/* What a server or kubectl wrote is not for a new one. */
static bool is_served(const char *annotation)
{
	return starts_with(annotation, "agents.x-k8s.io/") ||
	       starts_with(annotation, "opentelemetry.io/") ||
	       starts_with(annotation, "kubectl.kubernetes.io/");
}

static void take_annotations(cJSON *metadata, const cJSON *annotations)
{
	cJSON *kept = cJSON_AddObjectToObject(metadata, "annotations");
	const cJSON *item;
	cJSON_ArrayForEach(item, annotations)
	{
		if (!is_served(item->string))
			cJSON_AddItemToObject(kept, item->string, cJSON_Duplicate(item, true));
	}
}

static bool read_claim(const cJSON *file, struct fleet_create_file *out, struct err *err)
{
	static const char *const kept[] = { "name", "generateName", "labels" };
	const cJSON *metadata = json_get(file, "metadata", NULL);
	const cJSON *spec = json_get(file, "spec", NULL);
	const char *version = json_str(file, "apiVersion", NULL);
	if (version != NULL && !starts_with(version, "extensions.agents.x-k8s.io/"))
		return err_set(err, ERR_ARG_INVALID,
			"apiVersion %s: a SandboxClaim of extensions.agents.x-k8s.io/v1beta1 is "
			"wanted",
			version);
	out->claim = cJSON_CreateObject();
	cJSON *made = cJSON_AddObjectToObject(out->claim, "metadata");
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		const cJSON *item = json_get(metadata, kept[i], NULL);
		bool is_made = json_get(metadata, "uid", NULL) != NULL;
		/* the prefix of a name that was generated already is not wanted beside it */
		if (item != NULL && !(is_made && strcmp(kept[i], "generateName") == 0))
			cJSON_AddItemToObject(made, kept[i], cJSON_Duplicate(item, true));
	}
	take_annotations(made, json_get(metadata, "annotations", NULL));
	const char *key =
		json_str(metadata, "annotations", "pai.dev/sandbox-binding-key", NULL);
	if (key != NULL) { /* the key finds or makes its claim */
		out->binding_key = x_strdup(key);
		cJSON_DeleteItemFromObjectCaseSensitive(made, "name");
	}
	out->namespace_ = x_strdup(json_str(metadata, "namespace", NULL));
	cJSON_AddItemToObject(out->claim, "spec",
		cJSON_IsObject(spec) ? cJSON_Duplicate(spec, true) : cJSON_CreateObject());
	return true;
}

/* ---- the short form: a key each */

static bool text_to(char **to, const cJSON *item, struct err *err)
{
	if (!cJSON_IsString(item))
		return refuse(err, item->string, "a text");
	free(*to);
	*to = x_strdup(item->valuestring);
	return true;
}

static bool put_name(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	if (!cJSON_IsString(item))
		return refuse(err, item->string, "a text");
	cJSON_AddStringToObject(
		object_in(out->claim, "metadata"), item->string, item->valuestring);
	return true;
}

static bool put_namespace(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return text_to(&out->namespace_, item, err);
}

static bool put_pool(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	if (!cJSON_IsString(item))
		return refuse(err, item->string, "the name of a warm pool");
	cJSON *spec = object_in(out->claim, "spec");
	cJSON_AddStringToObject(object_in(spec, "warmPoolRef"), "name", item->valuestring);
	return true;
}

static bool put_template(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return text_to(&out->template_, item, err);
}

/* Numbers and switches of YAML are text here: `build: 7` is meant as a label. */
static bool put_map(cJSON *parent, const char *key, const cJSON *item, struct err *err)
{
	const cJSON *pair;
	if (!cJSON_IsObject(item))
		return refuse(err, item->string, "a map of KEY: VALUE");
	cJSON *map = object_in(parent, key);
	cJSON_ArrayForEach(pair, item)
	{
		char *text = cJSON_IsString(pair) ? x_strdup(pair->valuestring)
						  : cJSON_PrintUnformatted(pair);
		bool ok = cJSON_IsString(pair) || cJSON_IsNumber(pair) || cJSON_IsBool(pair);
		if (ok)
			cJSON_AddStringToObject(map, pair->string, text);
		free(text);
		if (!ok)
			return err_set(err, ERR_ARG_INVALID, "%s: %s: a text is wanted",
				item->string, pair->string);
	}
	return true;
}

static bool put_metadata(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return put_map(object_in(out->claim, "metadata"), item->string, item, err);
}

static bool put_pod_metadata(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	cJSON *metadata = object_in(object_in(out->claim, "spec"), "additionalPodMetadata");
	return put_map(metadata,
		strcmp(item->string, "podLabels") == 0 ? "labels" : "annotations", item, err);
}

static bool put_env(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	cJSON *spec = object_in(out->claim, "spec");
	if (cJSON_IsArray(item)) {
		cJSON_AddItemToObject(spec, "env", cJSON_Duplicate(item, true));
		return true;
	}
	cJSON *map = cJSON_CreateObject();
	bool ok = put_map(map, "env", item, err);
	const cJSON *pairs = json_get(map, "env", NULL), *pair;
	cJSON *env = ok ? cJSON_AddArrayToObject(spec, "env") : NULL;
	cJSON_ArrayForEach(pair, pairs)
	{
		if (!ok)
			break;
		cJSON *variable = cJSON_CreateObject();
		cJSON_AddStringToObject(variable, "name", pair->string);
		cJSON_AddStringToObject(variable, "value", pair->valuestring);
		cJSON_AddItemToArray(env, variable);
	}
	cJSON_Delete(map);
	return ok;
}

static bool put_volumes(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	const cJSON *text;
	size_t n = 0;
	if (!cJSON_IsArray(item))
		return refuse(err, item->string, "a list of NAME:SIZE[:CLASS]");
	out->volumes = x_calloc((size_t)cJSON_GetArraySize(item) + 1, sizeof *out->volumes);
	cJSON_ArrayForEach(text, item)
	{
		if (!cJSON_IsString(text))
			return refuse(err, item->string, "a list of NAME:SIZE[:CLASS]");
		out->volumes[n++] = x_strdup(text->valuestring);
	}
	return true;
}

static bool put_templates(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	if (!cJSON_IsArray(item))
		return refuse(err, item->string, "a list");
	cJSON_AddItemToObject(
		object_in(out->claim, "spec"), item->string, cJSON_Duplicate(item, true));
	return true;
}

static bool time_to(int64_t *ms, const cJSON *item, int64_t least_ms, struct err *err)
{
	if (!cJSON_IsString(item) || !clock_parse_duration(item->valuestring, ms) ||
		*ms < least_ms)
		return refuse(err, item->string, "a time such as 30s, 5m, 1h30m");
	return true;
}

static bool put_shutdown_after(
	struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return time_to(&out->shutdown_after_ms, item, 1, err);
}

static bool put_timeout(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return time_to(&out->timeout_ms, item, 1, err);
}

static bool put_ttl(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	out->has_ttl = true;
	return time_to(&out->ttl_ms, item, 0, err);
}

static bool put_ttl_seconds(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	if (!cJSON_IsNumber(item) || item->valuedouble < 0 || item->valuedouble > INT32_MAX)
		return refuse(err, item->string, "a number of seconds");
	out->has_ttl = true;
	out->ttl_ms = (int64_t)item->valuedouble * 1000;
	return true;
}

static bool put_policy(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return text_to(&out->shutdown_policy, item, err);
}

static bool put_adopt(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	out->adopt = cJSON_IsTrue(item);
	return cJSON_IsBool(item) || refuse(err, item->string, "true or false");
}

static bool put_binding_key(struct fleet_create_file *out, const cJSON *item, struct err *err)
{
	return text_to(&out->binding_key, item, err);
}

static const struct {
	const char *key;
	bool (*put)(struct fleet_create_file *out, const cJSON *item, struct err *err);
} keys[] = {
	{ "name", put_name },
	{ "generateName", put_name },
	{ "namespace", put_namespace },
	{ "pool", put_pool },
	{ "warmPool", put_pool },
	{ "template", put_template },
	{ "labels", put_metadata },
	{ "annotations", put_metadata },
	{ "podLabels", put_pod_metadata },
	{ "podAnnotations", put_pod_metadata },
	{ "env", put_env },
	{ "volumes", put_volumes },
	{ "volumeClaimTemplates", put_templates },
	{ "shutdownAfter", put_shutdown_after },
	{ "shutdownPolicy", put_policy },
	{ "ttlAfterFinished", put_ttl },
	{ "ttlSecondsAfterFinished", put_ttl_seconds },
	{ "timeout", put_timeout },
	{ "adopt", put_adopt },
	{ "bindingKey", put_binding_key },
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

static bool read_short(const cJSON *file, struct fleet_create_file *out, struct err *err)
{
	const cJSON *item;
	out->claim = cJSON_CreateObject();
	cJSON_ArrayForEach(item, file)
	{
		size_t i = 0;
		while (i < KEY_COUNT && strcmp(keys[i].key, item->string) != 0)
			i++;
		if (i == KEY_COUNT)
			return err_set(err, ERR_ARG_INVALID,
				"'%s' is not known here (see sandmux create --help)",
				item->string);
		if (!cJSON_IsNull(item) && !keys[i].put(out, item, err))
			return false;
	}
	return true;
}

bool fleet_create_file_parse(struct slice text, struct fleet_create_file *out, struct err *err)
{
	cJSON *file = yaml_parse(text, err);
	const char *kind = json_str(file, "kind", NULL);
	bool is_claim = kind != NULL || json_get(file, "spec", NULL) != NULL;
	*out = (struct fleet_create_file){ 0 };
	if (file == NULL)
		return false;
	bool ok;
	if (!cJSON_IsObject(file))
		ok = err_set(err, ERR_ARG_INVALID, "a map is wanted");
	else if (kind != NULL && strcmp(kind, "SandboxClaim") != 0)
		ok = err_set(err, ERR_ARG_INVALID, "kind %s: a SandboxClaim is wanted", kind);
	else if (is_claim)
		ok = read_claim(file, out, err);
	else
		ok = read_short(file, out, err);
	cJSON_Delete(file);
	if (!ok)
		fleet_create_file_deinit(out);
	return ok;
}

void fleet_create_file_deinit(struct fleet_create_file *file)
{
	cJSON_Delete(file->claim);
	for (char **volume = file->volumes; volume != NULL && *volume != NULL; volume++)
		free(*volume);
	free(file->volumes);
	free(file->namespace_);
	free(file->template_);
	free(file->binding_key);
	free(file->shutdown_policy);
	*file = (struct fleet_create_file){ 0 };
}
