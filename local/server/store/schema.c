// SPDX-License-Identifier: Apache-2.0
/* One walk over object and schema together. Depth is bounded by the JSON reader. */
#include "local/server/store/schema.h"

#include "engine/base/json.h"
#include "engine/base/str.h"
#include "engine/k8s/status.h"
#include "engine/k8s/time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, MAX_REPORTS = 64 };

struct store_walk {
	struct store_schema_check *out;
	struct str path;
};

const cJSON *store_schema_all(void)
{
	static cJSON *all;
	if (!all)
		all = cJSON_ParseWithLength(
			(const char *)store_schema_json, store_schema_json_bytes);
	if (!all)
		abort();
	return all;
}

const cJSON *store_schema_find(const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(store_schema_all(), name);
}

const cJSON *store_schema_resolve(const cJSON *schema)
{
	const char *ref = json_str(schema, "$ref", NULL);
	if (!ref)
		return schema;
	const char *slash = strrchr(ref, '/');
	return store_schema_find(slash ? slash + 1 : ref);
}

static bool is_room(const cJSON *list)
{
	return cJSON_GetArraySize(list) < MAX_REPORTS;
}

static void complain(struct store_walk *w, const char *reason, const char *what)
{
	if (is_room(w->out->causes))
		k8s_status_add_cause(w->out->causes, reason, w->path.p, "%s", what);
}

static void complain_type(struct store_walk *w, const cJSON *value, const char *wanted)
{
	struct str text;
	const char *got = cJSON_IsString(value)   ? "string"
			  : cJSON_IsNumber(value) ? "number"
			  : cJSON_IsBool(value)   ? "boolean"
			  : cJSON_IsArray(value)  ? "array"
						  : "object";
	str_init(&text, 512);
	str_addf(&text, "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", got,
		w->path.p, wanted, got);
	complain(w, "FieldValueTypeInvalid", text.p);
	str_deinit(&text);
}

static void check_string(struct store_walk *w, const cJSON *schema, const cJSON *value)
{
	const cJSON *choices = json_get(schema, "enum", NULL), *choice;
	const char *format = json_str(schema, "format", NULL);
	const char *text = value->valuestring;
	int64_t ns;
	struct str message;
	str_init(&message, 512);
	if (choices) {
		bool found = false;
		str_addf(&message, "Unsupported value: \"%.100s\": supported values: ", text);
		cJSON_ArrayForEach(choice, choices)
		{
			found = found || strcmp(choice->valuestring, text) == 0;
			str_addf(&message, "%s\"%s\"", choice == choices->child ? "" : ", ",
				choice->valuestring);
		}
		if (!found)
			complain(w, "FieldValueNotSupported", message.p);
	}
	if ((int64_t)strlen(text) < json_int(schema, 0, "minLength", NULL)) {
		str_clear(&message);
		str_addf(&message,
			"Invalid value: \"%.100s\": %s in body should be at least %lld"
			" chars long",
			text, w->path.p, (long long)json_int(schema, 0, "minLength", NULL));
		complain(w, "FieldValueInvalid", message.p);
	}
	if (format &&
		((strcmp(format, "date-time") == 0 && !k8s_time_parse(text, &ns)) ||
			(strcmp(format, "micro-time") == 0 && !k8s_time_is_micro(text)))) {
		str_clear(&message);
		str_addf(&message,
			"Invalid value: \"%.100s\": %s in body must be of type"
			" date-time: \"%.100s\"",
			text, w->path.p, text);
		complain(w, "FieldValueTypeInvalid", message.p);
	}
	str_deinit(&message);
}

static void check_number(struct store_walk *w, const cJSON *schema, const cJSON *value)
{
	const char *format = json_str(schema, "format", NULL);
	const cJSON *min = json_get(schema, "minimum", NULL);
	const cJSON *max = json_get(schema, "maximum", NULL);
	double n = value->valuedouble;
	struct str message;
	if (n != floor(n)) {
		complain_type(w, value, "integer");
		return;
	}
	str_init(&message, 512);
	if (min && n < min->valuedouble)
		str_addf(&message,
			"Invalid value: %.0f: %s in body should be greater than or equal to %.0f",
			n, w->path.p, min->valuedouble);
	else if (max && n > max->valuedouble)
		str_addf(&message,
			"Invalid value: %.0f: %s in body should be less than or equal to %.0f",
			n, w->path.p, max->valuedouble);
	else if (format && strcmp(format, "int32") == 0 && fabs(n) > 2147483647.0)
		str_addf(&message, "Invalid value: %.0f: %s in body must be of type int32", n,
			w->path.p);
	if (message.n > 0)
		complain(w, "FieldValueInvalid", message.p);
	str_deinit(&message);
}

static void check_value(struct store_walk *w, const cJSON *schema, cJSON *value);

/* Appends to the path, checks, and cuts the path back. */
static void check_member(
	struct store_walk *w, const cJSON *schema, cJSON *value, const char *name)
{
	size_t n = w->path.n;
	if (name)
		str_addf(&w->path, "%s%s", n > 0 ? "." : "", name);
	check_value(w, schema, value);
	w->path.n = n;
	w->path.p[n] = '\0';
	w->path.truncated = false;
}

static void check_unknown(struct store_walk *w, cJSON *object, cJSON *field)
{
	struct str path;
	str_init(&path, PATH_BYTES);
	str_addf(&path, "%s%s%s", w->path.p, w->path.n ? "." : "", field->string);
	if (is_room(w->out->unknown))
		cJSON_AddItemToArray(w->out->unknown, cJSON_CreateString(path.p));
	str_deinit(&path);
	cJSON_Delete(cJSON_DetachItemViaPointer(object, field));
}

static void fill_defaults(const cJSON *properties, cJSON *object)
{
	const cJSON *property;
	cJSON_ArrayForEach(property, properties)
	{
		const cJSON *value = json_get(store_schema_resolve(property), "default", NULL);
		if (value && !cJSON_HasObjectItem(object, property->string))
			cJSON_AddItemToObject(
				object, property->string, cJSON_Duplicate(value, true));
	}
}

static void check_object(struct store_walk *w, const cJSON *schema, cJSON *object)
{
	const cJSON *properties = json_get(schema, "properties", NULL);
	const cJSON *rest = json_get(schema, "additionalProperties", NULL);
	bool keep = json_bool(schema, false, "x-kubernetes-preserve-unknown-fields", NULL);
	const cJSON *name;
	cJSON *field = object->child, *next;
	for (; field; field = next) {
		next = field->next;
		if (!field->string)
			continue;
		const cJSON *known =
			properties ? cJSON_GetObjectItemCaseSensitive(properties, field->string)
				   : NULL;
		if (cJSON_IsNull(field) && (known || !keep))
			cJSON_Delete(cJSON_DetachItemViaPointer(object, field));
		else if (known)
			check_member(w, known, field, field->string);
		else if (rest)
			check_member(w, rest, field, field->string);
		else if (!keep)
			check_unknown(w, object, field);
	}
	fill_defaults(properties, object);
	cJSON_ArrayForEach(name, json_get(schema, "required", NULL))
	{
		if (cJSON_GetObjectItemCaseSensitive(object, name->valuestring))
			continue;
		size_t n = w->path.n;
		str_addf(&w->path, "%s%s", n > 0 ? "." : "", name->valuestring);
		complain(w, "FieldValueRequired", "Required value");
		w->path.n = n;
		w->path.p[n] = '\0';
	}
}

static void check_array(struct store_walk *w, const cJSON *schema, cJSON *array)
{
	const cJSON *items = json_get(schema, "items", NULL);
	size_t n = w->path.n;
	int i = 0;
	cJSON *item;
	if (cJSON_GetArraySize(array) < json_int(schema, 0, "minItems", NULL))
		complain(w, "FieldValueRequired", "Required value");
	if (!items)
		return;
	cJSON_ArrayForEach(item, array)
	{
		str_addf(&w->path, "[%d]", i++);
		check_member(w, items, item, NULL);
		w->path.n = n;
		w->path.p[n] = '\0';
	}
}

static void check_value(struct store_walk *w, const cJSON *schema, cJSON *value)
{
	schema = store_schema_resolve(schema);
	const char *type = json_str(schema, "type", NULL);
	if (json_bool(schema, false, "x-kubernetes-int-or-string", NULL)) {
		if (!cJSON_IsString(value) && !cJSON_IsNumber(value))
			complain_type(w, value, "integer or string");
		return;
	}
	if (!type)
		return;
	if (strcmp(type, "object") == 0 && cJSON_IsObject(value))
		check_object(w, schema, value);
	else if (strcmp(type, "array") == 0 && cJSON_IsArray(value))
		check_array(w, schema, value);
	else if (strcmp(type, "string") == 0 && cJSON_IsString(value))
		check_string(w, schema, value);
	else if (strcmp(type, "integer") == 0 && cJSON_IsNumber(value))
		check_number(w, schema, value);
	else if (strcmp(type, "boolean") == 0 && cJSON_IsBool(value))
		return;
	else
		complain_type(w, value, type);
}

void store_schema_check(struct store_schema_check *out, const char *name, cJSON *object)
{
	struct store_walk w = { .out = out };
	out->unknown = cJSON_CreateArray();
	out->causes = cJSON_CreateArray();
	str_init(&w.path, PATH_BYTES);
	check_value(&w, store_schema_find(name), object);
	str_deinit(&w.path);
}

void store_schema_check_deinit(struct store_schema_check *out)
{
	cJSON_Delete(out->unknown);
	cJSON_Delete(out->causes);
	out->unknown = out->causes = NULL;
}
