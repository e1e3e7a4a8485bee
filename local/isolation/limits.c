// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/limits.h"

#include "engine/base/json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const hows[] = { [LIMIT_NONE] = "none",
	[LIMIT_CGROUP] = "cgroup",
	[LIMIT_RLIMIT] = "rlimit",
	[LIMIT_TMPFS] = "tmpfs",
	[LIMIT_NAMESPACE] = "namespace",
	[LIMIT_WATCHED] = "watched" };
_Static_assert(sizeof hows / sizeof hows[0] == LIMIT_HOW_COUNT, "a name each");

const char *isolation_limit_how_name(enum isolation_limit_how how)
{
	return hows[how];
}

void isolation_limits_add(struct isolation_limits *limits, const char *what, uint64_t value,
	enum isolation_limit_unit unit, enum isolation_limit_how how, const char *why, ...)
{
	if (limits->n == LIMITS_MAX_ROWS)
		return;
	struct isolation_limit_row *row = &limits->rows[limits->n++];
	*row = (struct isolation_limit_row){
		.what = what, .value = value, .unit = unit, .how = how
	};
	if (why == NULL)
		return;
	va_list args;
	va_start(args, why);
	vsnprintf(row->why, sizeof row->why, why, args);
	va_end(args);
}

static void format_bytes(uint64_t value, char out[LIMIT_TEXT_BYTES])
{
	static const char *const suffixes[] = { "", "Ki", "Mi", "Gi", "Ti" };
	size_t i = 0;
	uint64_t whole = value;
	while (i < 4 && whole >= 1024 && whole % 1024 == 0) {
		whole /= 1024;
		i++;
	}
	if (whole < 10000) {
		snprintf(out, LIMIT_TEXT_BYTES, "%" PRIu64 "%s", whole, suffixes[i]);
		return;
	}
	double rounded = (double)whole;
	while (i < 4 && rounded >= 1024) {
		rounded /= 1024;
		i++;
	}
	snprintf(out, LIMIT_TEXT_BYTES, "%.1f%s", rounded, suffixes[i]);
}

const char *isolation_limit_format(
	uint64_t value, enum isolation_limit_unit unit, char out[LIMIT_TEXT_BYTES])
{
	if (unit == LIMIT_BYTES)
		format_bytes(value, out);
	else if (unit == LIMIT_MILLI_CPU && value % 1000 != 0)
		snprintf(out, LIMIT_TEXT_BYTES, "%" PRIu64 "m", value);
	else
		snprintf(out, LIMIT_TEXT_BYTES, "%" PRIu64,
			unit == LIMIT_MILLI_CPU ? value / 1000 : value);
	return out;
}

cJSON *isolation_limits_json(const struct isolation_limits *limits)
{
	cJSON *list = cJSON_CreateArray();
	for (size_t i = 0; i < limits->n; i++) {
		const struct isolation_limit_row *row = &limits->rows[i];
		char text[LIMIT_TEXT_BYTES];
		cJSON *object = cJSON_CreateObject();
		cJSON_AddStringToObject(object, "what", row->what);
		if (row->value > 0)
			cJSON_AddStringToObject(object, "value",
				isolation_limit_format(row->value, row->unit, text));
		cJSON_AddStringToObject(object, "how", isolation_limit_how_name(row->how));
		if (row->why[0])
			cJSON_AddStringToObject(object, "why", row->why);
		cJSON_AddItemToArray(list, object);
	}
	return list;
}
