// SPDX-License-Identifier: Apache-2.0
/* uthash with our seeded hash (foreign keys cannot choose their bucket) and our allocator.
 * Include this instead of uthash.h / utlist.h. */
#pragma once

#include "engine/base/mem.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

uint32_t map_hash(const void *key, size_t n); /* seeded once per process */

#define HASH_FUNCTION(keyptr, keylen, hashv)                                                   \
	do {                                                                                   \
		(hashv) = map_hash((keyptr), (keylen));                                        \
	} while (0)
#define uthash_malloc(size) x_malloc(size)
#define uthash_free(ptr, size) free(ptr)
#define uthash_fatal(msg) abort()
#include <uthash.h>
#include <utlist.h>
