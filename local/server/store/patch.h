// SPDX-License-Identifier: Apache-2.0
/* Changes to JSON trees: merge patch (RFC 7386) and JSON patch (RFC 6902) with JSON pointers (RFC 6901). */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

struct err;

/* Returns the patched tree; target is taken (may be NULL), patch is read. */
cJSON *store_patch_merge(cJSON *target_take, const cJSON *patch);
/* Applies all operations or none. *doc may be replaced. ERR_KUBE_INVALID if an operation does not apply (a
 * `test` that fails too), ERR_KUBE_BAD_REQUEST if the patch is malformed. At most 10,000 operations. */
bool store_patch_json(cJSON **doc, const cJSON *operations, struct err *err);
/* What must change so that `from` becomes `to`, as a merge patch that touches only keys of `last`
 * (removed in `to`) and of `to`: the three-way form that apply needs. */
cJSON *store_patch_three_way(const cJSON *last, const cJSON *to);
