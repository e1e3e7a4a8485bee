// SPDX-License-Identifier: Apache-2.0
/* A filter of rows: words that all must fit. `word` is looked for in every text of a row that is worth searching,
 * `state:ready` in the column of that name (or alias), `!` in front turns a word round. Case does not matter. */
#pragma once

#include "engine/resource/kind.h"

struct resource_filter;
/* Never NULL; an empty text fits everything. */
struct resource_filter *resource_filter_parse(
	const struct resource_kind *kind, const char *text);
void resource_filter_free(struct resource_filter *filter);
bool resource_filter_fits(const struct resource_filter *filter, const void *row);
bool resource_filter_is_empty(const struct resource_filter *filter);
/* Every row that fits `next` fits `now` too: what is hidden stays hidden. */
bool resource_filter_narrows(
	const struct resource_filter *now, const struct resource_filter *next);
