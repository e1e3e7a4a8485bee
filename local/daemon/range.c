// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/range.h"

#include "engine/base/num.h"

#include <string.h>

struct daemon_text {
	const char *p;
	size_t n;
};

static struct daemon_text trim(struct daemon_text t)
{
	while (t.n > 0 && (*t.p == ' ' || *t.p == '\t')) {
		t.p++;
		t.n--;
	}
	while (t.n > 0 && (t.p[t.n - 1] == ' ' || t.p[t.n - 1] == '\t'))
		t.n--;
	return t;
}

static bool number(struct daemon_text t, int64_t *out)
{
	char digits[24];
	if (t.n == 0 || t.n >= sizeof digits)
		return false;
	memcpy(digits, t.p, t.n);
	digits[t.n] = 0;
	return strspn(digits, "0123456789") == t.n && num_parse_i64(digits, 0, INT64_MAX, out);
}

enum daemon_one { ONE_OK, ONE_BAD, ONE_BEYOND };

static enum daemon_one parse_one(
	struct daemon_text spec, int64_t size, struct daemon_range *range)
{
	const char *dash = memchr(spec.p, '-', spec.n);
	if (dash == NULL)
		return ONE_BAD;
	struct daemon_text from = trim((struct daemon_text){ spec.p, (size_t)(dash - spec.p) });
	struct daemon_text to =
		trim((struct daemon_text){ dash + 1, (size_t)(spec.p + spec.n - (dash + 1)) });
	int64_t first, last;
	if (from.n == 0) { /* the last bytes */
		if (!number(to, &last))
			return ONE_BAD;
		range->length = last < size ? last : size;
		range->start = size - range->length;
		return ONE_OK;
	}
	if (!number(from, &first))
		return ONE_BAD;
	if (first >= size)
		return ONE_BEYOND;
	last = size - 1;
	if (to.n > 0 && (!number(to, &last) || first > last))
		return ONE_BAD;
	if (last >= size)
		last = size - 1;
	range->start = first;
	range->length = last - first + 1;
	return ONE_OK;
}

enum daemon_range_result daemon_range_parse(
	const char *header, int64_t size, struct daemon_range ranges[RANGE_MAX], size_t *n)
{
	static const char unit[] = "bytes=";
	bool is_beyond = false, is_too_many = false;
	int64_t sum = 0;
	*n = 0;
	if (header == NULL || !*header)
		return RANGE_WHOLE;
	if (strncmp(header, unit, sizeof unit - 1) != 0)
		return RANGE_BAD;
	for (const char *p = header + sizeof unit - 1; *p;) {
		size_t length = strcspn(p, ",");
		struct daemon_text spec = trim((struct daemon_text){ p, length });
		p += length + (p[length] == ',');
		if (spec.n == 0)
			continue;
		struct daemon_range range;
		switch (parse_one(spec, size, &range)) {
		case ONE_BAD:
			return RANGE_BAD;
		case ONE_BEYOND:
			is_beyond = true;
			continue;
		case ONE_OK:
			break;
		}
		is_too_many = is_too_many || *n == RANGE_MAX;
		sum += range.length;
		if (*n < RANGE_MAX)
			ranges[(*n)++] = range;
		if (sum > size)
			is_too_many = true; /* would send more than the file has */
		if (is_too_many)
			sum = 0; /* keep it from overflowing: the rest is only checked */
	}
	if (*n == 0)
		return is_beyond && size > 0 ? RANGE_BEYOND : RANGE_WHOLE;
	return is_too_many ? RANGE_WHOLE : RANGE_SOME;
}
