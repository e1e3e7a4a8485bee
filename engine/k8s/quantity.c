// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/quantity.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

uint64_t k8s_quantity_milli(const char *text)
{
	static const struct {
		const char *suffix;
		double factor;
	} suffixes[] = { { "n", 1e-9 }, { "u", 1e-6 }, { "m", 0.001 }, { "", 1 }, { "k", 1e3 },
		{ "M", 1e6 }, { "G", 1e9 }, { "T", 1e12 }, { "Ki", 1024.0 },
		{ "Mi", 1048576.0 }, { "Gi", 1073741824.0 }, { "Ti", 1099511627776.0 } };
	char *end;
	if (!text || strpbrk(text, "xX")) /* strtod() would read 0x10 */
		return 0;
	double n = strtod(text, &end);
	if (end == text || !(n > 0) || n > 1e15)
		return 0;
	for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
		if (strcmp(end, suffixes[i].suffix) == 0 && n * suffixes[i].factor < 1e15)
			return (uint64_t)(n * suffixes[i].factor * 1000);
	return 0;
}

uint64_t k8s_quantity_milli_of(const struct cJSON *q)
{
	if (cJSON_IsNumber(q) && q->valuedouble > 0 && q->valuedouble < 1e15)
		return (uint64_t)(q->valuedouble * 1000);
	return cJSON_IsString(q) ? k8s_quantity_milli(q->valuestring) : 0;
}
