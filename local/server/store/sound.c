// SPDX-License-Identifier: Apache-2.0
/* cJSON prints what it cannot parse (depth), and parses what it prints otherwise (infinite numbers become null, a name
 * given twice is printed twice and found once). Each of these once made an object that the next start lost. */
#include "local/server/store/sound.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static bool is_utf8(const char *text)
{
	utf8proc_int32_t codepoint;
	size_t n = strlen(text);
	for (size_t i = 0; i < n;) {
		utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text + i,
			(utf8proc_ssize_t)(n - i), &codepoint);
		if (used <= 0)
			return false;
		i += (size_t)used;
	}
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorted, since a client decides how many there are. */
static bool has_each_name_once(const cJSON *object, const char **twice)
{
	const cJSON *field;
	size_t n = 0, count = 0;
	cJSON_ArrayForEach(field, object) n++;
	const char **names = x_calloc(n + 1, sizeof *names);
	cJSON_ArrayForEach(field, object) names[count++] = field->string;
	qsort(names, n, sizeof *names, by_name);
	*twice = NULL;
	for (size_t i = 1; i < n && !*twice; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			*twice = names[i];
	free(names);
	return *twice == NULL;
}

static bool check_value(const cJSON *value, struct err *err);

static bool check_children(const cJSON *value, struct err *err)
{
	const cJSON *child;
	const char *twice;
	cJSON_ArrayForEach(child, value)
	{
		if (child->string && !is_utf8(child->string))
			return err_set(err, ERR_KUBE_INVALID,
				"the name of a field is not valid UTF-8");
		if (!check_value(child, err))
			return false;
	}
	return !cJSON_IsObject(value) || has_each_name_once(value, &twice) ||
	       err_set(err, ERR_KUBE_INVALID, "field \"%.100s\" is there twice", twice);
}

/* Only called once the depth is known to be bounded. */
static bool check_value(const cJSON *value, struct err *err)
{
	if (cJSON_IsNumber(value) && !isfinite(value->valuedouble))
		return err_set(err, ERR_KUBE_INVALID, "a number is out of range");
	if (cJSON_IsString(value) && !is_utf8(value->valuestring))
		return err_set(err, ERR_KUBE_INVALID, "text is not valid UTF-8");
	return check_children(value, err);
}

static bool has_identity(enum store_kind kind, const cJSON *json, struct err *err)
{
	static const char *const wanted[] = { "name", "uid", "namespace" };
	int n = store_resource_of(kind)->api->is_namespaced ? 3 : 2;
	for (int i = 0; i < n; i++) {
		const char *text = json_str(json, "metadata", wanted[i], NULL);
		if (!text || !*text)
			return err_set(
				err, ERR_KUBE_INVALID, "metadata.%s is missing", wanted[i]);
	}
	return true;
}

cJSON *store_sound_parse(enum store_kind kind, struct slice text, struct err *err)
{
	cJSON *json = json_parse(text, err);
	if (json && has_identity(kind, json, err))
		return json;
	cJSON_Delete(json);
	return NULL;
}

bool store_sound_check(const struct store_object *o, struct err *err)
{
	struct err why = { 0 };
	cJSON *again = store_sound_parse(o->kind, (struct slice){ o->text, o->text_n }, &why);
	if (!again)
		return err_set(err,
			why.code == ERR_LIMIT_RESPONSE && o->text_n > JSON_MAX_BYTES
				? ERR_KUBE_TOO_LARGE
				: ERR_KUBE_INVALID,
			"the object could not be read again: %.400s", why.msg);
	char *text = check_value(o->json, err) ? cJSON_PrintUnformatted(again) : NULL;
	cJSON_Delete(again);
	if (!text)
		return false;
	bool ok = strcmp(text, o->text) == 0;
	free(text);
	return ok || err_set(err, ERR_KUBE_INVALID, "the object would be read as another one");
}
