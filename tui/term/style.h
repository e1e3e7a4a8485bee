// SPDX-License-Identifier: Apache-2.0
/* Styles interned: a cell holds a number. The scrollback counts its references; what the screen uses
 * is marked when the table is swept, so writing a cell costs nothing. */
#pragma once

#include "tui/term/term.h"

#include <stdbool.h>
#include <stdint.h>

enum { STYLE_MAX = 1 << 16 }; /* more than this at once: new ones are drawn as the default */

struct style_table;

struct style_table *style_table_new(void);
void style_table_free(struct style_table *table);

/* The id of a style, 0 for the default one. */
uint32_t style_intern(struct style_table *table, const struct term_style *style);
const struct term_style *style_get(
	const struct style_table *table, uint32_t id); /* never NULL */
void style_ref(struct style_table *table, uint32_t id);
void style_unref(struct style_table *table, uint32_t id);

/* Sweep: when it is due, begin, mark each id that a cell on a screen holds, end. */
bool style_sweep_is_due(const struct style_table *table);
void style_sweep_begin(struct style_table *table);
void style_sweep_mark(struct style_table *table, uint32_t id);
void style_sweep_end(struct style_table *table);
