// SPDX-License-Identifier: Apache-2.0
/* Which Host a daemon without a token answers to on this machine's own addresses.
 *
 * A web page can make its own name point to 127.x.y.z (DNS rebinding); the browser then lets its script talk to the
 * daemon, with that name as Host. A token stops that already, since the page does not know it, so with one
 * any Host is taken, as sandboxd does. Without one, names that anybody can own are refused on connections from
 * this machine: everything but addresses, localhost, names without a dot and those of cluster services. What
 * comes through a pod's own address (routers, gateways, with any public name) is not judged. */
#include "local/daemon/rest_internal.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { NAME_BYTES = 256 };

bool daemon_rest_host_is_local(int fd)
{
	struct sockaddr_storage own = { 0 };
	socklen_t n = sizeof own;
	if (getsockname(fd, (struct sockaddr *)&own, &n) != 0)
		return true;
	if (own.ss_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)&own;
		return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
	}
	if (own.ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)&own;
		return IN6_IS_ADDR_LOOPBACK(&in->sin6_addr);
	}
	return true; /* a Unix socket: the port proxy of this machine */
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n > m && strcasecmp(text + n - m, end) == 0;
}

bool daemon_rest_host_is_fine(const char *host)
{
	char name[NAME_BYTES];
	struct in_addr address;
	if (host == NULL) /* HTTP/1.0 */
		return true;
	size_t n = strcspn(host, ":"); /* of an IPv6 address it leaves nothing with a dot */
	if (n >= sizeof name)
		return false;
	memcpy(name, host, n);
	name[n] = 0;
	return inet_pton(AF_INET, name, &address) == 1 || strchr(name, '.') == NULL ||
	       ends_with(name, ".localhost") || ends_with(name, ".svc") ||
	       ends_with(name, ".svc.cluster.local");
}
