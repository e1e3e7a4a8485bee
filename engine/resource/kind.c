// SPDX-License-Identifier: Apache-2.0
#include "engine/resource/kind.h"

#include "engine/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* As Kubernetes writes quantities, at most three digits of it. */
static const char *format_bytes(int64_t bytes, char buffer[RESOURCE_CELL_BYTES])
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	double n = (double)bytes;
	size_t unit = 0;
	while (n >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
		n /= 1024;
		unit++;
	}
	snprintf(buffer, RESOURCE_CELL_BYTES, unit && n < 9.95 ? "%.1f%s" : "%.0f%s", n,
		units[unit]);
	return buffer;
}

const char *resource_text(const struct resource_column *column, const void *row, int64_t now_ms,
	char buffer[RESOURCE_CELL_BYTES])
{
	struct resource_value value = column->value(row);
	enum resource_format format = column->format;
	if (format == RESOURCE_TEXT)
		return value.text;
	if (!value.is_known && column->amount) {
		value = column->amount(row);
		format = column->amount_format;
	}
	if (!value.is_known)
		return RESOURCE_IS_MEASURED(format) ? "-" : "";
	switch (format) {
	case RESOURCE_AGE:
		return clock_format_age(
			now_ms > value.number ? now_ms - value.number : 0, buffer);
	case RESOURCE_LEFT:
		return value.number <= now_ms ? "over"
					      : clock_format_age(value.number - now_ms, buffer);
	case RESOURCE_TIME:
		return clock_format_rfc3339(value.number * 1000000, 0, buffer);
	case RESOURCE_COUNT:
		snprintf(buffer, RESOURCE_CELL_BYTES, "%" PRId64, value.number);
		return buffer;
	case RESOURCE_BOOL:
		return value.number ? "true" : "false";
	case RESOURCE_SHARE:
		snprintf(buffer, RESOURCE_CELL_BYTES, "%" PRId64 "%%", value.number / 10);
		return buffer;
	case RESOURCE_RATE:
		snprintf(buffer, RESOURCE_CELL_BYTES, "%" PRId64 ".%d/min",
			(value.number + 50) / 1000, (int)((value.number + 50) % 1000 / 100));
		return buffer;
	case RESOURCE_MILLI:
		snprintf(buffer, RESOURCE_CELL_BYTES, "%" PRId64 "m", value.number);
		return buffer;
	case RESOURCE_BYTES:
		return format_bytes(value.number, buffer);
	case RESOURCE_TEXT:
		break;
	}
	return "";
}

bool resource_is_right(const struct resource_column *column)
{
	return column->format == RESOURCE_AGE || column->format == RESOURCE_LEFT ||
	       column->format == RESOURCE_COUNT || column->format == RESOURCE_RATE ||
	       RESOURCE_IS_MEASURED(column->format);
}

enum resource_tone resource_tone(const struct resource_column *column, const void *row)
{
	return column->tone ? column->tone(row) : RESOURCE_PLAIN;
}

bool resource_is_called(const struct resource_kind *kind, const char *name)
{
	if (strcasecmp(kind->name, name) == 0 || strcasecmp(kind->singular, name) == 0)
		return true;
	for (const char *const *alias = kind->aliases; alias && *alias; alias++)
		if (strcasecmp(*alias, name) == 0)
			return true;
	return false;
}

const struct resource_action *resource_find_action(
	const struct resource_kind *kind, const char *name)
{
	for (const struct resource_action *a = kind->actions; a && a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

int resource_find_column(const struct resource_kind *kind, const char *name)
{
	for (int i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].name && strcmp(kind->columns[i].name, name) == 0)
			return i;
	return RESOURCE_NONE;
}

bool resource_is_among(int column, const int *columns)
{
	int i;
	RESOURCE_EACH(i, columns)
		if (i == column)
			return true;
	return false;
}
