// SPDX-License-Identifier: Apache-2.0
/* A filter of rows. Words that all must fit, with ` | ` between groups of which one must; `!` in front turns a word round.
 *
 *   web "two words"          in any text of a row that is worth searching
 *   /^web-[0-9]+$/           the same as an extended regular expression (POSIX)
 *   state:ready why:/image/  in the column of that name (or alias); state=ready, state!=ready: all of it
 *   age>1h ends<10m cpu>=50 mem>1Gi restarts>0        spans of time, per cent or an amount, counts
 *   label:app=x,tier!=db   -l app=x   -l "app in (a,b)"   a selector of labels as kubectl has it
 *
 * Case does not matter, but in selectors. What is not finished yet ("state:", "age>", "-l") counts for nothing, so that
 * rows stay while it is typed.
 * Errors: ERR_ARG_INVALID. */
#pragma once

#include "engine/resource/kind.h"

enum { RESOURCE_FILTER_BYTES_MAX = 1024, RESOURCE_FILTER_TERMS_MAX = 32 };

struct resource_filter;
/* An empty text fits everything. NULL with *err: it cannot be understood; err names the word. */
struct resource_filter *resource_filter_parse(
	const struct resource_kind *kind, const char *text, struct err *err);
void resource_filter_free(struct resource_filter *filter); /* NULL is fine */
bool resource_filter_fits(const struct resource_filter *filter, const void *row);
bool resource_filter_is_empty(const struct resource_filter *filter);
/* What fits changes as time passes. */
bool resource_filter_is_timed(const struct resource_filter *filter);
/* Every row that fits `next` fits `now` too: what is hidden stays hidden. */
bool resource_filter_narrows(
	const struct resource_filter *now, const struct resource_filter *next);
