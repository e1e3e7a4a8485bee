// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json_merge.h"

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024 };

static const cJSON *field(const cJSON *object, const char *name)
{
	return cJSON_IsObject(object) ? cJSON_GetObjectItemCaseSensitive(object, name) : NULL;
}

static bool is_same(const cJSON *a, const cJSON *b)
{
	return (!a && !b) || (a && b && cJSON_Compare(a, b, true));
}

cJSON *json_merge_diff(const cJSON *from, const cJSON *to)
{
	cJSON *patch = cJSON_CreateObject();
	for (const cJSON *now = to->child; now; now = now->next) {
		const cJSON *was = field(from, now->string);
		if (is_same(was, now))
			continue;
		bool is_tree = cJSON_IsObject(was) && cJSON_IsObject(now);
		cJSON_AddItemToObject(patch, now->string,
			is_tree ? json_merge_diff(was, now) : cJSON_Duplicate(now, true));
	}
	for (const cJSON *was = from->child; was; was = was->next)
		if (!field(to, was->string))
			cJSON_AddNullToObject(patch, was->string);
	return patch;
}

/* ---- three ways */

struct merge {
	struct str path;
	json_merge_conflict_fn *on_conflict;
	void *arg;
};

static cJSON *join(
	struct merge *merge, const cJSON *base, const cJSON *ours, const cJSON *theirs);

static const char *name_of(const cJSON *element)
{
	return json_str(element, "name", NULL);
}

/* An array of objects that are told apart by their names, as an object by these; NULL: it is none. */
static cJSON *by_name(const cJSON *array)
{
	if (!cJSON_IsArray(array))
		return NULL;
	cJSON *object = cJSON_CreateObject();
	for (const cJSON *element = array->child; element; element = element->next) {
		const char *name = name_of(element);
		if (!name || field(object, name)) {
			cJSON_Delete(object);
			return NULL;
		}
		cJSON_AddItemToObject(object, name, cJSON_Duplicate(element, true));
	}
	return object;
}

static cJSON *as_array(cJSON *object)
{
	cJSON *array = cJSON_CreateArray();
	while (object->child)
		cJSON_AddItemToArray(array, cJSON_DetachItemViaPointer(object, object->child));
	cJSON_Delete(object);
	return array;
}

/* NULL: they are not all such arrays. */
static cJSON *join_named(
	struct merge *merge, const cJSON *base, const cJSON *ours, const cJSON *theirs)
{
	cJSON *b = by_name(base), *o = by_name(ours), *t = by_name(theirs), *all = NULL;
	if (b && o && t)
		all = as_array(join(merge, b, o, t));
	cJSON_Delete(b);
	cJSON_Delete(o);
	cJSON_Delete(t);
	return all;
}

/* One field; NULL: it is not there. */
static cJSON *join_value(
	struct merge *merge, const cJSON *base, const cJSON *ours, const cJSON *theirs)
{
	const cJSON *taken = ours;
	if (is_same(ours, base))
		taken = theirs;
	else if (!is_same(theirs, base) && !is_same(ours, theirs)) {
		if (cJSON_IsObject(ours) && cJSON_IsObject(theirs))
			return join(merge, base, ours, theirs);
		cJSON *named = join_named(merge, base, ours, theirs);
		if (named)
			return named;
		merge->on_conflict(merge->arg, merge->path.p, ours, theirs);
	}
	return taken ? cJSON_Duplicate(taken, true) : NULL;
}

static void add_joined(struct merge *merge, cJSON *to, const char *name, const cJSON *base,
	const cJSON *ours, const cJSON *theirs)
{
	size_t n = merge->path.n;
	str_addf(&merge->path, "%s%s", n ? "." : "", name);
	cJSON *value =
		join_value(merge, field(base, name), field(ours, name), field(theirs, name));
	if (value)
		cJSON_AddItemToObject(to, name, value);
	merge->path.p[n] = '\0';
	merge->path.n = n;
	merge->path.truncated = false;
}

static cJSON *join(
	struct merge *merge, const cJSON *base, const cJSON *ours, const cJSON *theirs)
{
	cJSON *all = cJSON_CreateObject();
	for (const cJSON *is = theirs->child; is; is = is->next)
		add_joined(merge, all, is->string, base, ours, theirs);
	for (const cJSON *is = ours->child; is; is = is->next)
		if (!field(theirs, is->string))
			add_joined(merge, all, is->string, base, ours, theirs);
	return all;
}

cJSON *json_merge_three(const cJSON *base, const cJSON *ours, const cJSON *theirs,
	json_merge_conflict_fn *on_conflict, void *arg)
{
	struct merge merge = { .on_conflict = on_conflict, .arg = arg };
	str_init(&merge.path, PATH_BYTES);
	cJSON *all = join(&merge, base, ours, theirs);
	str_deinit(&merge.path);
	return all;
}
