// SPDX-License-Identifier: Apache-2.0
/* Values interned: a cell holds a number instead of a style or a text of several code points.
 * The scrollback counts its references; what the screens use is marked when the table is swept, so
 * that writing a cell costs nothing. Ids start at 1; 0 means "none" (the default style). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct term_string_pool;

/* Values are item_bytes long and compared as bytes (no padding). At most max_items at once. */
struct term_string_pool *term_string_pool_new(size_t item_bytes, size_t max_items);
void term_string_pool_free(struct term_string_pool *table);

uint32_t term_string_pool_add(
	struct term_string_pool *table, const void *item); /* 0 if the table is full */
const void *term_string_pool_get(
	const struct term_string_pool *table, uint32_t id); /* NULL if there is none */
void term_string_pool_ref(struct term_string_pool *table, uint32_t id);
void term_string_pool_unref(struct term_string_pool *table, uint32_t id);

/* Sweep, when it is due: begin, mark each id that a cell on a screen holds, end. */
bool term_string_pool_sweep_is_due(const struct term_string_pool *table);
void term_string_pool_sweep_begin(struct term_string_pool *table);
void term_string_pool_sweep_mark(struct term_string_pool *table, uint32_t id);
void term_string_pool_sweep_end(struct term_string_pool *table);
