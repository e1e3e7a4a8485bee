// SPDX-License-Identifier: Apache-2.0
/* Values interned: a cell holds a number instead of a style or a text of several code points.
 * The scrollback counts its references; what the screens use is marked when the table is swept, so
 * that writing a cell costs nothing. Ids start at 1; 0 means "none" (the default style). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intern;

/* Values are item_bytes long and compared as bytes (no padding). At most max_items at once. */
struct intern *intern_new(size_t item_bytes, size_t max_items);
void intern_free(struct intern *table);

uint32_t intern_add(struct intern *table, const void *item);     /* 0 if the table is full */
const void *intern_get(const struct intern *table, uint32_t id); /* NULL if there is none */
void intern_ref(struct intern *table, uint32_t id);
void intern_unref(struct intern *table, uint32_t id);

/* Sweep, when it is due: begin, mark each id that a cell on a screen holds, end. */
bool intern_sweep_is_due(const struct intern *table);
void intern_sweep_begin(struct intern *table);
void intern_sweep_mark(struct intern *table, uint32_t id);
void intern_sweep_end(struct intern *table);
