// SPDX-License-Identifier: Apache-2.0
/* Patches. JSON patch works on a copy, so that a failing operation changes nothing. */
#include "local/server/store/patch.h"

#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 10000, MAX_COPIED_NODES = 200000 };

cJSON *store_patch_merge(cJSON *target, const cJSON *patch)
{
	const cJSON *field;
	if (!cJSON_IsObject(patch)) {
		cJSON_Delete(target);
		return cJSON_Duplicate(patch, true);
	}
	if (!cJSON_IsObject(target)) {
		cJSON_Delete(target);
		target = cJSON_CreateObject();
	}
	cJSON_ArrayForEach(field, patch)
	{
		cJSON *old = cJSON_DetachItemFromObjectCaseSensitive(target, field->string);
		if (cJSON_IsNull(field))
			cJSON_Delete(old);
		else
			cJSON_AddItemToObject(
				target, field->string, store_patch_merge(old, field));
	}
	return target;
}

cJSON *store_patch_three_way(const cJSON *last, const cJSON *to)
{
	const cJSON *field;
	if (!cJSON_IsObject(to))
		return cJSON_Duplicate(to, true);
	cJSON *patch = cJSON_CreateObject();
	cJSON_ArrayForEach(field, to)
	{
		const cJSON *was = cJSON_IsObject(last) ? cJSON_GetObjectItemCaseSensitive(
								  last, field->string)
							: NULL;
		cJSON_AddItemToObject(patch, field->string, store_patch_three_way(was, field));
	}
	if (cJSON_IsObject(last)) {
		cJSON_ArrayForEach(field, last)
		{
			if (!cJSON_GetObjectItemCaseSensitive(to, field->string))
				cJSON_AddNullToObject(patch, field->string);
		}
	}
	return patch;
}

/* ---- JSON pointers ---- */

/* Cuts the next reference token from *pointer into free()-able text; NULL at the end or if malformed. */
static char *next_token(const char **pointer)
{
	const char *p = *pointer;
	if (*p != '/')
		return NULL;
	size_t n = strcspn(++p, "/"), used = 0;
	char *token = x_malloc(n + 1);
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '~' && i + 1 < n && (p[i + 1] == '0' || p[i + 1] == '1'))
			token[used++] = p[++i] == '0' ? '~' : '/';
		else
			token[used++] = p[i];
	}
	token[used] = '\0';
	*pointer = p + n;
	return token;
}

static cJSON *child_of(cJSON *parent, const char *token)
{
	int64_t index;
	if (cJSON_IsObject(parent))
		return cJSON_GetObjectItemCaseSensitive(parent, token);
	if (cJSON_IsArray(parent) && num_parse_i64(token, 0, INT32_MAX, &index))
		return cJSON_GetArrayItem(parent, (int)index);
	return NULL;
}

/* The value at pointer; with last, the parent of it and the last token (free()). */
static cJSON *walk(cJSON *doc, const char *pointer, char **last)
{
	while (doc && *pointer) {
		char *token = next_token(&pointer);
		if (!token)
			return NULL;
		if (last && !*pointer) {
			*last = token;
			return doc;
		}
		doc = child_of(doc, token);
		free(token);
	}
	return last ? NULL : doc;
}

static bool missing(const char *path, struct err *err)
{
	return err_set(err, ERR_KUBE_INVALID,
		"the server rejected our request due to an error in our request: path %.200s"
		" does not exist",
		path);
}

/* cJSON_InsertItemInArray of Debian 12 refuses every index but 0. */
static void insert_at(cJSON *array, int index, cJSON *value)
{
	cJSON *tail = cJSON_CreateArray();
	for (cJSON *item = cJSON_GetArrayItem(array, index), *next; item; item = next) {
		next = item->next;
		cJSON_AddItemToArray(tail, cJSON_DetachItemViaPointer(array, item));
	}
	cJSON_AddItemToArray(array, value);
	while (tail->child)
		cJSON_AddItemToArray(array, cJSON_DetachItemViaPointer(tail, tail->child));
	cJSON_Delete(tail);
}

static int depth_of(const cJSON *tree)
{
	int deepest = 0;
	const cJSON *child;
	cJSON_ArrayForEach(child, tree)
	{
		int n = depth_of(child);
		deepest = n > deepest ? n : deepest;
	}
	return deepest + (cJSON_IsObject(tree) || cJSON_IsArray(tree));
}

/* Each operation could add as many levels as a body may have: the document would become deeper than any reader takes,
 * and than recursion can follow. */
static bool fits(const char *path, const cJSON *value, struct err *err)
{
	int levels = depth_of(value);
	for (const char *p = path; *p && levels <= JSON_MAX_DEPTH; p++)
		levels += *p == '/';
	return levels <= JSON_MAX_DEPTH ||
	       err_set(err, ERR_KUBE_INVALID, "JSON patch: nested deeper than %d",
		       JSON_MAX_DEPTH);
}

/* Puts value_take at path; replaces in an object, inserts in an array. */
static bool put(cJSON **doc, const char *path, cJSON *value, struct err *err)
{
	char *last = NULL;
	int64_t index = -1;
	if (!fits(path, value, err)) {
		cJSON_Delete(value);
		return false;
	}
	if (!*path) {
		cJSON_Delete(*doc);
		*doc = value;
		return true;
	}
	cJSON *parent = walk(*doc, path, &last);
	bool ok = true;
	if (parent && cJSON_IsObject(parent)) {
		cJSON_DeleteItemFromObjectCaseSensitive(parent, last);
		cJSON_AddItemToObject(parent, last, value);
	} else if (parent && cJSON_IsArray(parent) && strcmp(last, "-") == 0) {
		cJSON_AddItemToArray(parent, value);
	} else if (parent && cJSON_IsArray(parent) &&
		   num_parse_i64(last, 0, cJSON_GetArraySize(parent), &index)) {
		insert_at(parent, (int)index, value);
	} else {
		cJSON_Delete(value);
		ok = missing(path, err);
	}
	free(last);
	return ok;
}

static cJSON *detach(cJSON *doc, const char *path)
{
	char *last = NULL;
	cJSON *parent = walk(doc, path, &last);
	cJSON *item = parent ? child_of(parent, last) : NULL;
	free(last);
	return item ? cJSON_DetachItemViaPointer(parent, item) : NULL;
}

static size_t count_nodes(const cJSON *tree, size_t limit)
{
	size_t n = 1;
	const cJSON *child;
	cJSON_ArrayForEach(child, tree)
	{
		if (n >= limit)
			break;
		n += count_nodes(child, limit - n);
	}
	return n;
}

/* A copy may not grow the document without end: copies of copies double it each time. */
static bool copy(
	cJSON **doc, const char *from, const char *path, size_t *copied, struct err *err)
{
	cJSON *source = walk(*doc, from, NULL);
	if (!source)
		return missing(from, err);
	*copied += count_nodes(source, MAX_COPIED_NODES + 1);
	if (*copied > MAX_COPIED_NODES)
		return err_set(err, ERR_KUBE_INVALID, "JSON patch: copies over %d values",
			MAX_COPIED_NODES);
	return put(doc, path, cJSON_Duplicate(source, true), err);
}

static bool apply_one(cJSON **doc, const cJSON *operation, size_t *copied, struct err *err)
{
	const char *op = json_str(operation, "op", NULL);
	const char *path = json_str(operation, "path", NULL);
	const char *from = json_str(operation, "from", NULL);
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(operation, "value");
	if (!op || !path || (*path && *path != '/'))
		return err_set(err, ERR_KUBE_BAD_REQUEST, "JSON patch: bad op or path");
	bool wants_value =
		strcmp(op, "add") == 0 || strcmp(op, "replace") == 0 || strcmp(op, "test") == 0;
	bool wants_from = strcmp(op, "move") == 0 || strcmp(op, "copy") == 0;
	if ((wants_value && !value) || (wants_from && (!from || (*from && *from != '/'))))
		return err_set(err, ERR_KUBE_BAD_REQUEST, "JSON patch: %s lacks %s", op,
			wants_value ? "value" : "from");
	cJSON *at = walk(*doc, path, NULL);
	if (strcmp(op, "add") == 0)
		return put(doc, path, cJSON_Duplicate(value, true), err);
	if (strcmp(op, "test") == 0)
		return (at && cJSON_Compare(at, value, true)) ||
		       err_set(err, ERR_KUBE_INVALID,
			       "the server rejected our request due to an error in our request:"
			       " testing value %.200s failed",
			       path);
	if (strcmp(op, "remove") == 0) {
		cJSON *gone = detach(*doc, path);
		cJSON_Delete(gone);
		return gone || missing(path, err);
	}
	if (strcmp(op, "replace") == 0) {
		if (!at)
			return missing(path, err);
		if (!fits(path, value, err))
			return false;
		/* in place: add would insert before an element of an array */
		cJSON *parent;
		char *last = NULL;
		if (!*path)
			return put(doc, path, cJSON_Duplicate(value, true), err);
		parent = walk(*doc, path, &last);
		cJSON *copy = cJSON_Duplicate(value, true);
		if (cJSON_IsObject(parent)) {
			cJSON_ReplaceItemInObjectCaseSensitive(parent, last, copy);
		} else {
			cJSON_ReplaceItemViaPointer(parent, at, copy);
		}
		free(last);
		return true;
	}
	if (strcmp(op, "copy") == 0)
		return copy(doc, from, path, copied, err);
	if (strcmp(op, "move") == 0) {
		size_t n = strlen(from);
		if (strncmp(path, from, n) == 0 && path[n] == '/')
			return err_set(err, ERR_KUBE_INVALID, "JSON patch: move into itself");
		cJSON *moved = detach(*doc, from);
		return moved ? put(doc, path, moved, err) : missing(from, err);
	}
	return err_set(err, ERR_KUBE_BAD_REQUEST, "JSON patch: unknown op %.40s", op);
}

bool store_patch_json(cJSON **doc, const cJSON *operations, struct err *err)
{
	const cJSON *operation;
	size_t copied = 0;
	if (!cJSON_IsArray(operations))
		return err_set(err, ERR_KUBE_BAD_REQUEST, "a JSON patch is an array");
	if (cJSON_GetArraySize(operations) > MAX_OPERATIONS)
		return err_set(err, ERR_KUBE_BAD_REQUEST, "JSON patch: over %d operations",
			MAX_OPERATIONS);
	cJSON *work = cJSON_Duplicate(*doc, true);
	cJSON_ArrayForEach(operation, operations)
	{
		if (!apply_one(&work, operation, &copied, err)) {
			cJSON_Delete(work);
			return false;
		}
	}
	cJSON_Delete(*doc);
	*doc = work;
	return true;
}
