// SPDX-License-Identifier: Apache-2.0
/* A directory listing of sandboxd, parsed while its bytes arrive: pure, no entry is looked at twice, and only the
 * entries stay in memory. Names are hostile: what is not one safe file name is counted and left out.
 * Errors: ERR_LIMIT_RESPONSE, ERR_RUNTIME_PROTOCOL, those of engine/base/json.h. */
#pragma once

#include "engine/base/str.h"
#include "engine/runtime/runtime.h"

#include <stdbool.h>

struct err;
struct runtime_listing;

struct runtime_listing *runtime_listing_new(void);
void runtime_listing_free(struct runtime_listing *listing);
/* False with ERR_RUNTIME_PROTOCOL or ERR_LIMIT_RESPONSE; then only runtime_listing_free() makes sense. */
bool runtime_listing_feed(struct runtime_listing *listing, struct slice bytes, struct err *err);
bool runtime_listing_finish(
	struct runtime_listing *listing, struct err *err); /* false if cut or no listing */
const struct runtime_entry *runtime_listing_entries(
	const struct runtime_listing *listing, size_t *n, size_t *n_hidden);

#define LISTING_UPLOAD_PREFIX ".sandboxd-tmp-"
