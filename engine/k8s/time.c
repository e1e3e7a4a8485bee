// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/time.h"

#include <string.h>

const char *k8s_time_format(
	int64_t wall_ns, enum k8s_time_form form, char out[CLOCK_RFC3339_BYTES])
{
	return clock_format_rfc3339(wall_ns, (int)form, out);
}

const char *k8s_time_now(enum k8s_time_form form, char out[CLOCK_RFC3339_BYTES])
{
	return k8s_time_format(clock_wall_ns(), form, out);
}

bool k8s_time_parse(const char *text, int64_t *wall_ns)
{
	return text != NULL && clock_parse_rfc3339(text, wall_ns);
}

int64_t k8s_time_ms(const char *text)
{
	int64_t ns;
	return k8s_time_parse(text, &ns) ? ns / 1000000 : 0;
}

bool k8s_time_is_micro(const char *text)
{
	int64_t ns;
	const char *dot = text ? strchr(text, '.') : NULL;
	return dot != NULL && k8s_time_parse(text, &ns) && strspn(dot + 1, "0123456789") == 6;
}
