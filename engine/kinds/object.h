// SPDX-License-Identifier: Apache-2.0
/* What rows of every kind in this folder have: metadata of the object (meta/v1 ObjectMeta), the columns that show it, and
 * texts of their own. A kind's row begins with a struct kinds_object and has more behind it. */
#pragma once

#include "engine/resource/kind.h"

#include <stdbool.h>
#include <stdint.h>

enum { KINDS_TEXT_BYTES = 256 }; /* of a text in a row: what is longer is cut */

/* Texts are never NULL, foreign bytes, as long-lived as the row. Times: our wall clock, ms, 0: none. */
struct kinds_object {
	const char *uid, *name, *namespace_;
	const char *labels; /* "key=value,key=value" */
	int64_t created_ms, deleted_ms;
};

/* What every object has; the kind's project() comes after it. */
void kinds_object_read(struct kinds_object *row, const struct cJSON *object, int64_t skew_ms);
void kinds_object_drop(struct kinds_object *row);

/* *slot becomes a copy of that text ("" for NULL), cut at KINDS_TEXT_BYTES; what it was is freed. */
void kinds_text_set(const char **slot, const char *text);
void kinds_text_drop(const char **slot);

/* Several of them. */
void kinds_texts_drop(const char **slots, size_t n);

/* A date of the server's by our clock; 0: there is none, or it is not one. text may be NULL. */
int64_t kinds_time(const char *text, int64_t skew_ms);
/* What is at "spec.volumeName"; what is left of the path may be one key ("metadata.labels.a.b/c"). NULL: there is
 * none. Borrowed from the object. */
const struct cJSON *kinds_at(const struct cJSON *object, const char *path);
const char *kinds_text_at(const struct cJSON *object, const char *path);
int64_t kinds_int_at(const struct cJSON *object, const char *path, int64_t fallback);
bool kinds_is_true_at(const struct cJSON *object, const char *path);
/* The object that controls this one, else the first that owns it: "Sandbox/box"; "" for none. */
struct str;
void kinds_owner_format(const struct cJSON *object, struct str *out);
/* The condition of that type; NULL: it has none. */
const struct cJSON *kinds_condition(const struct cJSON *object, const char *type);

/* Values of columns. */
struct resource_value kinds_text_value(const char *text);
struct resource_value kinds_time_value(int64_t wall_ms);
struct resource_value kinds_count_value(int64_t count);
/* value() of a column that shows a text of a row of that struct. */
#define KINDS_TEXT_COLUMN(row_struct, member)                                                  \
	static struct resource_value member(const void *row)                                   \
	{                                                                                      \
		return kinds_text_value(((const struct row_struct *)row)->member);             \
	}

/* Rows of a table of columns. */
struct resource_value kinds_uid(const void *row);
struct resource_value kinds_name(const void *row);
struct resource_value kinds_namespace(const void *row);
struct resource_value kinds_created(const void *row);
const char *kinds_labels(const void *row); /* resource_kind.labels */
#define KINDS_COLUMN_UID                                                                       \
	{                                                                                      \
		.field = "uid", .value = kinds_uid                                             \
	}
#define KINDS_COLUMN_NAMESPACE                                                                 \
	{                                                                                      \
		.title = "NAMESPACE", .name = "namespace", .alias = "ns",                      \
		.field = "namespace", .cols = 14, .rank = 5, .is_searched = true,              \
		.value = kinds_namespace                                                       \
	}
#define KINDS_COLUMN_NAME                                                                      \
	{                                                                                      \
		.title = "NAME", .name = "name", .field = "name", .is_searched = true,         \
		.value = kinds_name                                                            \
	}
#define KINDS_COLUMN_CREATED                                                                   \
	{                                                                                      \
		.field = "createdAt", .format = RESOURCE_TIME, .value = kinds_created          \
	}
#define KINDS_COLUMN_AGE                                                                       \
	{                                                                                      \
		.title = "AGE", .name = "age", .format = RESOURCE_AGE, .cols = 6, .rank = 2,   \
		.value = kinds_created                                                         \
	}
/* A text that filters look at. */
#define KINDS_COLUMN_TEXT(title_, name_, field_, cols_, rank_, value_)                         \
	{                                                                                      \
		.title = title_, .name = name_, .field = field_, .cols = cols_, .rank = rank_, \
		.is_searched = true, .value = value_                                           \
	}
