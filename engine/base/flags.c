// SPDX-License-Identifier: Apache-2.0
#include "engine/base/flags.h"

#include "engine/base/clock.h"
#include "engine/base/num.h"

#include <getopt.h>
#include <string.h>

void flags_options(
	const struct flag *flags, int n, const struct option *last, struct option *options)
{
	for (int i = 0; i < n; i++)
		options[i] = (struct option){ flags[i].name,
			flags[i].kind == FLAG_SWITCH ? no_argument : required_argument, NULL,
			i };
	for (options += n; last->name != NULL; last++)
		*options++ = *last;
	*options = (struct option){ 0 };
}

bool flags_set(const struct flag *flag, void *into, const char *text)
{
	void *field = (char *)into + flag->at;
	int64_t n;
	switch (flag->kind) {
	case FLAG_SWITCH:
		*(bool *)field = true;
		return true;
	case FLAG_TEXT:
		*(const char **)field = text;
		return true;
	case FLAG_NUMBER:
		if (!num_parse_i64(text, flag->min, flag->max, &n))
			return false;
		*(int64_t *)field = n * flag->unit;
		return true;
	case FLAG_SIZE:
		return num_parse_size(text, UINT64_MAX, field);
	case FLAG_TIME:
		return clock_parse_duration(text, field);
	case FLAG_CHOICE:
		*(bool *)field = strcmp(text, flag->on) == 0;
		return *(bool *)field || strcmp(text, flag->off) == 0;
	case FLAG_TAKE:
		return flag->take(into, text);
	}
	return false;
}
