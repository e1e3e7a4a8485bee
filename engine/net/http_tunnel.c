// SPDX-License-Identifier: Apache-2.0
/* Connections of a tunnelled lane: libcurl owns one end of a connected pair, the caller's hook serves the other.
 *
 * libcurl before 8.0 cannot live with one end of a socketpair: 7.87 and 7.88 (Debian 12) call connect() even on
 * a socket that its options declare connected, and all of them take a connection whose peer has no name for
 * one that is still being resolved, and never use it again. They are given a socket and an address where
 * connect() succeeds at once: a Unix socket in the user's own folder, which exists only until this
 * connection is taken from it, in the next turn of the loop, and is taken only from this very process. */
#include "engine/net/http_internal.h"

#include "engine/base/digest.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct net_http_rendezvous {
	int listener;
	char *path; /* NULL: in the kernel's name space */
	struct event *event;
};

static bool keeps_connected_sockets(void)
{
	unsigned version = curl_version_info(CURLVERSION_NOW)->version_num;
	return version >= 0x080000;
}

void net_http_tunnel_free(struct net_http_req *req)
{
	struct net_http_rendezvous *meeting = req->rendezvous;
	if (meeting == NULL)
		return;
	req->rendezvous = NULL;
	if (meeting->event != NULL)
		event_free(meeting->event);
	if (meeting->listener >= 0)
		close(meeting->listener);
	if (meeting->path != NULL)
		unlink(meeting->path);
	free(meeting->path);
	free(meeting);
}

/* False: req->fail says why; fd is closed. */
static bool serve(struct net_http_req *req, int fd)
{
	if (req->opts.connect(req->opts.connect_arg, fd, &req->fail))
		return true;
	if (req->fail.code == ERR_NONE)
		err_set(&req->fail, ERR_CONN_LOST, "no tunnel");
	close(fd);
	return false;
}

static curl_socket_t open_pair(struct net_http_req *req)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
		err_set_errno(&req->fail, errno, "socketpair");
		return CURL_SOCKET_BAD;
	}
	if (serve(req, pair[0]))
		return pair[1];
	close(pair[1]);
	return CURL_SOCKET_BAD;
}

static bool is_own(int fd)
{
	struct ucred peer;
	socklen_t n = sizeof peer;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.pid == getpid();
}

static void on_meeting(evutil_socket_t listener, short what, void *arg)
{
	struct net_http_req *req = arg;
	(void)what;
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0)
		return;
	if (!is_own(fd)) {
		close(fd); /* a stranger: our own connection is still in the queue */
		return;
	}
	net_http_tunnel_free(req);
	serve(req, fd);
}

/* A name in the user's folder, or, where that cannot be, one that the kernel picks (unix(7), autobind). */
static bool bind_somewhere(struct net_http_rendezvous *meeting)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char random[17];
	char *folder = file_xdg_dir(FILE_RUNTIME, NULL);
	digest_random_hex(random, sizeof random - 1);
	char *path = folder != NULL ? x_asprintf("%s/t-%s", folder, random) : NULL;
	free(folder);
	if (path != NULL && strlen(path) < sizeof name.sun_path) {
		memcpy(name.sun_path, path, strlen(path));
		if (bind(meeting->listener, (struct sockaddr *)&name, sizeof name) == 0) {
			meeting->path = path;
			return true;
		}
	}
	free(path);
	return bind(meeting->listener, (struct sockaddr *)&name, sizeof name.sun_family) == 0;
}

static curl_socket_t open_rendezvous(struct net_http_req *req, struct curl_sockaddr *address)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	socklen_t n = sizeof name;
	struct net_http_rendezvous *meeting = x_calloc(1, sizeof *meeting);
	net_http_tunnel_free(req);
	req->rendezvous = meeting;
	int fd = -1;
	meeting->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (meeting->listener >= 0 && bind_somewhere(meeting) &&
		listen(meeting->listener, 4) == 0 &&
		getsockname(meeting->listener, (struct sockaddr *)&name, &n) == 0)
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		err_set_errno(&req->fail, errno, "tunnel");
		net_http_tunnel_free(req);
		return CURL_SOCKET_BAD;
	}
	meeting->event = event_new(net_loop_base(req->lane->http->loop), meeting->listener,
		EV_READ | EV_PERSIST, on_meeting, req);
	event_add(meeting->event, NULL);
	address->family = AF_UNIX;
	address->socktype = SOCK_STREAM;
	address->protocol = 0;
	address->addrlen = n;
	/* libcurl keeps a sockaddr_storage behind this member */
	memcpy(&address->addr, &name, n);
	return fd;
}

static curl_socket_t on_open_socket(
	void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct net_http_req *req = arg;
	(void)purpose;
	return keeps_connected_sockets() ? open_pair(req) : open_rendezvous(req, address);
}

static int on_socket_options(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)fd;
	(void)purpose;
	return keeps_connected_sockets() ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK;
}

void net_http_tunnel_setup(struct net_http_req *req)
{
	if (req->opts.connect == NULL)
		return;
	curl_easy_setopt(req->easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(req->easy, CURLOPT_OPENSOCKETDATA, req);
	curl_easy_setopt(req->easy, CURLOPT_SOCKOPTFUNCTION, on_socket_options);
}
