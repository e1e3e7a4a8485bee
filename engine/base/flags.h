// SPDX-License-Identifier: Apache-2.0
/* Options of our small programs as rows: a name, what its value is, and the field of a struct that takes it. The words about a
 * wrong value are the program's. Pure; strings are those of argv. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option;

enum flag_kind {
	FLAG_SWITCH, /* bool: no value */
	FLAG_TEXT,   /* const char * */
	FLAG_NUMBER, /* int64_t or uint64_t, from min to max, times unit */
	FLAG_SIZE,   /* uint64_t, bytes: 1GiB */
	FLAG_TIME,   /* int64_t, ms: 10s */
	FLAG_CHOICE, /* bool: on or off */
	FLAG_TAKE,   /* a function, which says itself what is wrong */
};

struct flag {
	const char *name;
	enum flag_kind kind;
	size_t at;
	int64_t min, max, unit;
	const char *on, *off;
	bool (*take)(void *into, const char *text);
};

/* Where a field is; does not compile when it has another type. */
#define FLAG_FIELD(type, of, field)                                                            \
	.at = offsetof(struct of, field) +                                                     \
	      0 * sizeof(_Generic(((struct of *)NULL)->field, type : 1))

/* The rows for getopt_long(), each with its index as val, then those of last; options has room for n and them. */
void flags_options(
	const struct flag *flags, int n, const struct option *last, struct option *options);
/* False: the value is refused. */
bool flags_set(const struct flag *flag, void *into, const char *text);
