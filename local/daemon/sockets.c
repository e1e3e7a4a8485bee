// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/sockets.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *host, int64_t port)
{
	char service[8];
	snprintf(service, sizeof service, "%d", (int)port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	int rv = getaddrinfo(host, service, &hints, &found);
	if (rv != 0) {
		daemon_arguments_refuse("%s: %s", host, gai_strerror(rv));
		return -1;
	}
	int on = 1;
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
		  bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
		  listen(fd, SOMAXCONN) == 0;
	int errnum = errno;
	freeaddrinfo(found);
	if (ok)
		return fd;
	daemon_arguments_refuse("cannot listen on %s:%s: %s", host, service, strerror(errnum));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void print_address(const char *label, int fd)
{
	struct sockaddr_storage address;
	socklen_t n = sizeof address;
	char host[NI_MAXHOST], port[NI_MAXSERV];
	if (getsockname(fd, (struct sockaddr *)&address, &n) != 0 ||
		getnameinfo((struct sockaddr *)&address, n, host, sizeof host, port,
			sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	bool is_v6 = address.ss_family == AF_INET6;
	printf("%s=%s%s%s:%s", label, is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

/* A socket that nobody but the user of this sandbox may connect to. */
static int listen_in(const char *dir, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t room = sizeof address.sun_path;
	if (snprintf(address.sun_path, room, "%s/%s", dir, name) >= (int)room) {
		daemon_arguments_refuse("--socket-dir: the name is too long");
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t before = umask(0177);
	bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
		  listen(fd, SOMAXCONN) == 0;
	umask(before);
	if (ok)
		return fd;
	daemon_arguments_refuse("cannot listen on %s: %s", address.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

bool daemon_sockets_open(struct daemon_arguments *args)
{
	if (args->socket_dir != NULL) {
		args->daemon.rest_fd = listen_in(args->socket_dir, "rest.sock");
		if (args->daemon.rest_fd < 0)
			return false;
		args->daemon.grpc_fd = listen_in(args->socket_dir, "grpc.sock");
		return args->daemon.grpc_fd >= 0;
	}
	if (args->rest_fd >= 0) {
		args->daemon.rest_fd = (int)args->rest_fd;
		args->daemon.grpc_fd = (int)args->grpc_fd;
		return true;
	}
	args->daemon.rest_fd = listen_at(args->host, args->rest_port);
	if (args->daemon.rest_fd < 0)
		return false;
	args->daemon.grpc_fd = listen_at(args->host, args->grpc_port);
	return args->daemon.grpc_fd >= 0;
}

void daemon_sockets_print(const struct daemon_arguments *args)
{
	print_address("rest", args->daemon.rest_fd);
	print_address(" grpc", args->daemon.grpc_fd);
	putchar('\n');
	fflush(stdout);
}
