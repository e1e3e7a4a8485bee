// SPDX-License-Identifier: Apache-2.0
/* Differences of JSON trees: as a merge patch (RFC 7386), and two sets of changes to one tree joined. Arrays are one value, except
 * those whose elements are all objects with a "name" of their own, which are joined element by element. */
#pragma once

#include <cjson/cJSON.h>
#include <stddef.h>

/* What makes `to` of `from`; an empty object: nothing. Both are objects. Free with cJSON_Delete(). */
cJSON *json_merge_diff(const cJSON *from, const cJSON *to);

/* One place where both have changed the same to something else. ours, theirs: NULL where it was taken away. Borrowed. */
typedef void json_merge_conflict_fn(
	void *arg, const char *path, const cJSON *ours, const cJSON *theirs);
/* `theirs` with what `ours` has changed of `base`. Where both did, ours is taken and on_conflict is told. Free with
 * cJSON_Delete(). */
cJSON *json_merge_three(const cJSON *base, const cJSON *ours, const cJSON *theirs,
	json_merge_conflict_fn *on_conflict, void *arg);
