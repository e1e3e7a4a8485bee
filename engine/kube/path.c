// SPDX-License-Identifier: Apache-2.0
/* The paths and queries that lead to resources. */
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/k8s/resource.h"
#include "engine/kube/client.h"

#include <string.h>

enum { PATH_MAX_BYTES = 4096, QUERY_MAX_BYTES = 16 << 10 };

/* Percent-encodes everything but the unreserved characters of RFC 3986 section 2.3. */
static void add_encoded(struct str *out, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			     (*p >= '0' && *p <= '9') || strchr("-._~", *p) != NULL;
		if (plain) {
			str_add_char(out, (char)*p);
		} else {
			str_add_char(out, '%');
			str_add_char(out, hex[*p >> 4]);
			str_add_char(out, hex[*p & 15]);
		}
	}
}

/* One segment. "." and ".." would be folded away by a URL parser: their dots are encoded too. */
static void add_segment(struct str *path, const char *text)
{
	str_add_char(path, '/');
	if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0) {
		for (; *text; text++)
			str_add(path, "%2E");
		return;
	}
	add_encoded(path, text);
}

char *kube_path(const struct k8s_resource *resource, const char *namespace_, const char *name,
	const char *subresource)
{
	struct str path;
	str_init(&path, PATH_MAX_BYTES);
	str_add(&path, resource->group[0] ? "/apis" : "/api");
	if (resource->group[0])
		add_segment(&path, resource->group);
	add_segment(&path, resource->version);
	if (namespace_ != NULL && namespace_[0]) {
		str_add(&path, "/namespaces");
		add_segment(&path, namespace_);
	}
	add_segment(&path, resource->plural);
	if (name != NULL && name[0])
		add_segment(&path, name);
	if (subresource != NULL && subresource[0])
		add_segment(&path, subresource);
	return str_take(&path);
}

void kube_query_add(struct str *query, const char *key, const char *value)
{
	if (query->n > 0)
		str_add_char(query, '&');
	add_encoded(query, key);
	str_add_char(query, '=');
	add_encoded(query, value);
}
