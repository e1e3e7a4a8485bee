// SPDX-License-Identifier: Apache-2.0
#include "engine/k8s/name.h"

#include <string.h>

enum { MAX_NAME_BYTES = 63, MAX_SUBDOMAIN_BYTES = 253 };

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

bool k8s_is_dns_subdomain(const char *p, size_t n)
{
	if (n == 0 || n > MAX_SUBDOMAIN_BYTES)
		return false;
	char before = '.';
	for (size_t i = 0; i < n; i++) {
		char c = p[i];
		bool alnum = is_lower_alnum(c);
		if (!alnum && c != '-' && c != '.')
			return false;
		if (!alnum && (before == '.' || (c == '.' && before == '-')))
			return false;
		before = c;
	}
	return before != '.' && before != '-';
}

bool k8s_is_qualified_name(const char *p, size_t n)
{
	if (n == 0 || n > MAX_NAME_BYTES || !is_alnum(p[0]) || !is_alnum(p[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!is_alnum(p[i]) && p[i] != '-' && p[i] != '_' && p[i] != '.')
			return false;
	}
	return true;
}

bool k8s_is_label_key(const char *p, size_t n)
{
	const char *slash = memchr(p, '/', n);
	if (slash == NULL)
		return k8s_is_qualified_name(p, n);
	size_t prefix = (size_t)(slash - p);
	return k8s_is_dns_subdomain(p, prefix) &&
	       k8s_is_qualified_name(slash + 1, n - prefix - 1);
}

bool k8s_is_label_value(const char *p, size_t n)
{
	return n == 0 || k8s_is_qualified_name(p, n);
}
