// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/managed_fields.h"

static const char key[] = "\"managedFields\"";

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* p stands on '['; the byte after its ']', or NULL. */
static const char *array_end(const char *p, const char *end)
{
	size_t depth = 0;
	for (; p < end; p++) {
		if (*p == '"') {
			for (p++; p < end && *p != '"'; p++)
				p += *p == '\\';
		} else if (*p == '[' || *p == '{') {
			depth++;
		} else if ((*p == ']' || *p == '}') && --depth == 0) {
			return p + 1;
		}
	}
	return NULL;
}

struct slice kube_without_managed_fields(struct slice json, struct str *scratch)
{
	const char *end = json.p + json.n, *at = json.p;
	size_t n = sizeof key - 1;
	while ((at = memmem(at, (size_t)(end - at), key, n)) != NULL) {
		const char *value = skip_space(at + n, end);
		/* inside a string its quotes would be escaped */
		bool is_key = value < end && *value == ':' && (at == json.p || at[-1] != '\\');
		at += n;
		if (!is_key)
			continue;
		value = skip_space(value + 1, end);
		const char *after = value < end && *value == '[' ? array_end(value, end) : NULL;
		if (after == NULL)
			continue;
		str_clear(scratch);
		str_add_bytes(scratch, json.p, (size_t)(value - json.p));
		str_add(scratch, "null");
		str_add_bytes(scratch, after, (size_t)(end - after));
		if (scratch->truncated)
			return json;
		return (struct slice){ scratch->p, scratch->n };
	}
	return json;
}
