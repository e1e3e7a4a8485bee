// SPDX-License-Identifier: Apache-2.0
#include "engine/base/num.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

/* Digits from *p on; false if there is none or the value does not fit. */
static bool take_u64(const char **p, uint64_t *out)
{
	const char *start = *p;
	uint64_t value = 0;
	for (; isdigit((unsigned char)**p); (*p)++)
		if (__builtin_mul_overflow(value, 10u, &value) ||
			__builtin_add_overflow(value, (uint64_t)(**p - '0'), &value))
			return false;
	*out = value;
	return *p != start;
}

bool num_parse_u64(const char *text, uint64_t max, uint64_t *out)
{
	uint64_t value;
	const char *p = text;
	if (text == NULL || !take_u64(&p, &value) || *p != '\0' || value > max)
		return false;
	*out = value;
	return true;
}

bool num_parse_i64(const char *text, int64_t min, int64_t max, int64_t *out)
{
	if (text == NULL)
		return false;
	bool negative = *text == '-';
	const char *p = text + negative;
	uint64_t magnitude;
	int64_t value;
	if (!take_u64(&p, &magnitude) || *p != '\0')
		return false;
	if (negative ? __builtin_sub_overflow(0, magnitude, &value)
		     : __builtin_add_overflow(magnitude, 0, &value))
		return false;
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

static const char units[] = "KMGTP";

/* "", "B", or K, KB, KiB and so on: all are powers of 1024 here. */
static bool take_unit(const char *p, unsigned *shift)
{
	*shift = 0;
	if (*p == '\0' || strcasecmp(p, "b") == 0)
		return true;
	for (unsigned i = 0; units[i] != '\0'; i++) {
		if (toupper((unsigned char)*p) != units[i])
			continue;
		*shift = 10 * (i + 1);
		return p[1] == '\0' || strcasecmp(p + 1, "b") == 0 ||
		       strcasecmp(p + 1, "ib") == 0;
	}
	return false;
}

bool num_parse_size(const char *text, uint64_t max, uint64_t *bytes)
{
	uint64_t whole, fraction = 0, scale = 1, value;
	const char *p = text;
	if (text == NULL || !take_u64(&p, &whole))
		return false;
	if (*p == '.') {
		const char *start = ++p;
		for (; isdigit((unsigned char)*p); p++) {
			if (scale >= 1000000)
				continue; /* finer than a byte of a MiB: ignored */
			fraction = fraction * 10 + (uint64_t)(*p - '0');
			scale *= 10;
		}
		if (p == start)
			return false;
	}
	while (*p == ' ')
		p++;
	unsigned shift;
	if (!take_unit(p, &shift) || (scale > 1 && shift == 0))
		return false;
	uint64_t unit = (uint64_t)1 << shift;
	if (__builtin_mul_overflow(whole, unit, &value) ||
		__builtin_add_overflow(value,
			(uint64_t)((double)unit * (double)fraction / (double)scale), &value) ||
		value > max)
		return false;
	*bytes = value;
	return true;
}

const char *num_format_size(uint64_t bytes, char out[NUM_SIZE_BYTES])
{
	if (bytes < 1024) {
		snprintf(out, NUM_SIZE_BYTES, "%d B", (int)bytes);
		return out;
	}
	double value = (double)bytes;
	int unit = -1;
	do {
		value /= 1024;
		unit++;
	} while (value >= 1023.95 && units[unit + 1] != '\0');
	snprintf(out, NUM_SIZE_BYTES, "%.1f %ciB", value, units[unit]);
	return out;
}
