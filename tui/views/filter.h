// SPDX-License-Identifier: Apache-2.0
/* The filter of the sandbox list: words that all must fit. `word` is looked for in every text of a row,
 * `state:ready`, `ns:x`, `pool:x`, `pod:x`, `node:x`, `sandbox:x` in one of them, `!` in front turns a word round.
 * Case does not matter. */
#pragma once

#include "engine/engine.h"

struct filter;
struct filter *filter_parse(const char *text); /* never NULL; an empty text fits everything */
void filter_free(struct filter *filter);
bool filter_fits(const struct filter *filter, const struct fleet_row *row);
bool filter_is_empty(const struct filter *filter);
/* Every row that fits `next` fits `now` too: what is hidden stays hidden. */
bool filter_narrows(const struct filter *now, const struct filter *next);
