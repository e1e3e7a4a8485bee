// SPDX-License-Identifier: Apache-2.0
/* The proxy of the environment (rules of Go's golang.org/x/net/http/httpproxy, which kubectl follows):
 * HTTPS_PROXY for https servers, HTTP_PROXY for http; NO_PROXY is a comma list of "*", host names (with their
 * sub-domains; a leading dot means sub-domains only), addresses and CIDR blocks, each with an optional port.
 * Loopback is never sent to it. */
#include "engine/kube/config_internal.h"

#include "engine/base/mem.h"
#include "engine/base/num.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool kube_url_split(const char *url, char **host, int *port)
{
	const char *p;
	if (strncasecmp(url, "https://", 8) == 0)
		p = url + 8;
	else if (strncasecmp(url, "http://", 7) == 0)
		p = url + 7;
	else
		return false;
	size_t n = strcspn(p, "/?#");
	const char *at = memchr(p, '@', n);
	if (at != NULL) {
		n -= (size_t)(at + 1 - p);
		p = at + 1;
	}
	const char *end = p + n, *host_end = NULL;
	if (n > 0 && p[0] == '[') {
		p++;
		host_end = memchr(p, ']', (size_t)(end - p));
		if (host_end == NULL)
			return false;
		n = (size_t)(host_end - p);
		host_end++;
	} else {
		n = strcspn(p, ":/?#");
		host_end = p + n;
	}
	*port = 0;
	if (host_end < end) {
		char digits[8] = "";
		size_t length = (size_t)(end - host_end);
		uint64_t number;
		if (*host_end != ':' || length < 2 || length >= sizeof digits)
			return false;
		memcpy(digits, host_end + 1, length - 1);
		if (!num_parse_u64(digits, 65535, &number) || number == 0)
			return false;
		*port = (int)number;
	}
	if (n == 0)
		return false;
	*host = x_strndup(p, n);
	return true;
}

/* 16 bytes, IPv4 as v4-mapped. */
static bool parse_ip(const char *text, unsigned char ip[16])
{
	static const unsigned char mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	if (inet_pton(AF_INET, text, ip + 12) == 1) {
		memcpy(ip, mapped, sizeof mapped);
		return true;
	}
	return inet_pton(AF_INET6, text, ip) == 1;
}

bool kube_host_is_loopback(const char *host)
{
	static const unsigned char v6[16] = { [15] = 1 };
	unsigned char ip[16];
	if (strcasecmp(host, "localhost") == 0)
		return true;
	if (!parse_ip(host, ip))
		return false;
	return memcmp(ip, v6, 16) == 0 || (ip[10] == 0xff && ip[12] == 127);
}

static bool in_block(const unsigned char ip[16], const char *block)
{
	const char *slash = strchr(block, '/');
	char address[64];
	unsigned char base[16];
	int64_t bits;
	if (slash == NULL || (size_t)(slash - block) >= sizeof address)
		return false;
	memcpy(address, block, (size_t)(slash - block));
	address[slash - block] = '\0';
	bool is_v4 = strchr(address, ':') == NULL;
	if (!parse_ip(address, base) || !num_parse_i64(slash + 1, 0, is_v4 ? 32 : 128, &bits))
		return false;
	bits += is_v4 ? 96 : 0;
	for (int i = 0; i < 16 && bits > 0; i++, bits -= 8) {
		unsigned mask = bits >= 8 ? 0xff : 0xffu << (8 - bits) & 0xff;
		if (((unsigned)(ip[i] ^ base[i]) & mask) != 0)
			return false;
	}
	return true;
}

static bool name_matches(const char *host, const char *rule)
{
	size_t nh = strlen(host), nr;
	if (strncmp(rule, "*.", 2) == 0)
		rule++;
	bool subdomains_only = rule[0] == '.';
	nr = strlen(rule);
	if (!subdomains_only && strcasecmp(host, rule) == 0)
		return true;
	if (nh <= nr || strcasecmp(host + nh - nr, rule) != 0)
		return false;
	return subdomains_only || host[nh - nr - 1] == '.';
}

/* Cuts ":port" off a rule; 0 if there is none. Bare IPv6 addresses have colons but no port. */
static int cut_port(char *rule)
{
	char *colon = strrchr(rule, ':');
	uint64_t port;
	bool bracketed = rule[0] == '[';
	if (colon == NULL || (!bracketed && strchr(rule, ':') != colon) ||
		(bracketed && strchr(colon, ']') != NULL) ||
		!num_parse_u64(colon + 1, 65535, &port))
		port = 0;
	else
		*colon = '\0';
	if (bracketed) {
		size_t n = strlen(rule);
		memmove(rule, rule + 1, n);
		rule[strcspn(rule, "]")] = '\0';
	}
	return (int)port;
}

static bool rule_matches(char *rule, const char *host, int port)
{
	unsigned char ip[16], is[16];
	bool host_is_ip = parse_ip(host, ip);
	if (strcmp(rule, "*") == 0)
		return true;
	if (strchr(rule, '/') != NULL)
		return host_is_ip && in_block(ip, rule);
	int only_port = cut_port(rule);
	if (only_port != 0 && only_port != port)
		return false;
	if (parse_ip(rule, is))
		return host_is_ip && memcmp(ip, is, 16) == 0;
	return rule[0] != '\0' && name_matches(host, rule);
}

static bool is_excluded(const char *list, const char *host, int port)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		const char *p = list;
		size_t length = n;
		while (length > 0 && (*p == ' ' || *p == '\t'))
			p++, length--;
		while (length > 0 && (p[length - 1] == ' ' || p[length - 1] == '\t'))
			length--;
		char *rule = x_strndup(p, length);
		bool matches = length > 0 && rule_matches(rule, host, port);
		free(rule);
		if (matches)
			return true;
		list += n;
		list += *list == ',';
	}
	return false;
}

static const char *env_any(const char *upper, const char *lower)
{
	const char *value = getenv(upper);
	if (value == NULL || !value[0])
		value = getenv(lower);
	return value != NULL && value[0] ? value : NULL;
}

char *kube_proxy_normalize(const char *url)
{
	static const char *const known[] = { "http://", "https://", "socks5h://" };
	if (strncasecmp(url, "socks5://", 9) == 0)
		return x_asprintf("socks5h://%s", url + 9);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		if (strncasecmp(url, known[i], strlen(known[i])) == 0)
			return x_strdup(url);
	}
	return strstr(url, "://") != NULL ? NULL : x_asprintf("http://%s", url);
}

char *kube_proxy_from_env(const char *server)
{
	bool is_https = strncasecmp(server, "https:", 6) == 0;
	const char *proxy = is_https ? env_any("HTTPS_PROXY", "https_proxy")
				     : env_any("HTTP_PROXY", "http_proxy");
	char *host;
	int port;
	if (proxy == NULL || !kube_url_split(server, &host, &port))
		return NULL;
	const char *no_proxy = env_any("NO_PROXY", "no_proxy");
	if (port == 0)
		port = is_https ? 443 : 80;
	char *result = NULL;
	if (!kube_host_is_loopback(host) && !(no_proxy && is_excluded(no_proxy, host, port)))
		result = kube_proxy_normalize(proxy);
	free(host);
	return result;
}
