// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/engine/net/raw_server.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

static void on_readable(struct bufferevent *bev, void *arg)
{
	struct raw_conn *conn = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	for (;;) {
		if (conn->body_bytes > 0) {
			char bytes[16384];
			size_t room = conn->body_bytes < sizeof bytes ? conn->body_bytes
								      : sizeof bytes;
			int n = evbuffer_remove(in, bytes, room);
			if (n <= 0)
				return;
			str_add_bytes(&conn->body, bytes, (size_t)n);
			conn->body_bytes -= (size_t)n;
			continue;
		}
		struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
		if (end.pos < 0)
			return;
		size_t n = (size_t)end.pos + 4;
		char *head = malloc(n);
		evbuffer_remove(in, head, n);
		str_clear(&conn->head);
		str_add_bytes(&conn->head, head, n);
		free(head);
		conn->requests++;
		conn->server->requests++;
		conn->server->handler(conn);
	}
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	(void)bev;
	struct raw_conn *conn = arg;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		conn->is_closed = true;
}

void raw_server_adopt(struct raw_server *server, int fd)
{
	if (server->accepted >= 64)
		abort();
	struct raw_conn *conn = &server->conns[server->accepted];
	*conn = (struct raw_conn){ .server = server, .number = server->accepted++ };
	str_init(&conn->head, 65536);
	str_init(&conn->body, 64 << 20);
	evutil_make_socket_nonblocking(fd);
	conn->bev = bufferevent_socket_new(server->base, fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(conn->bev, on_readable, NULL, on_event, conn);
	bufferevent_enable(conn->bev, EV_READ | EV_WRITE);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	(void)listener;
	(void)address;
	(void)n;
	raw_server_adopt(arg, fd);
}

void raw_server_start(struct raw_server *server, struct net_loop *loop, raw_handler_fn *handler)
{
	*server = (struct raw_server){ .handler = handler, .base = net_loop_base(loop) };
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;
	server->listener = evconnlistener_new_bind(server->base, on_accept, server,
		LEV_OPT_CLOSE_ON_FREE, -1, (struct sockaddr *)&address, sizeof address);
	if (server->listener == NULL || getsockname(evconnlistener_get_fd(server->listener),
						(struct sockaddr *)&address, &n) != 0)
		abort();
	server->port = ntohs(address.sin_port);
}

void raw_server_stop(struct raw_server *server)
{
	evconnlistener_free(server->listener);
	for (int i = 0; i < server->accepted; i++) {
		bufferevent_free(server->conns[i].bev);
		str_deinit(&server->conns[i].head);
		str_deinit(&server->conns[i].body);
	}
}

void raw_send(struct raw_conn *conn, const char *text)
{
	bufferevent_write(conn->bev, text, strlen(text));
}

static void on_drained(struct bufferevent *bev, void *arg)
{
	(void)arg;
	shutdown(bufferevent_getfd(bev), SHUT_WR);
}

void raw_close(struct raw_conn *conn)
{
	if (evbuffer_get_length(bufferevent_get_output(conn->bev)) == 0)
		on_drained(conn->bev, conn);
	else
		bufferevent_setcb(conn->bev, on_readable, on_drained, on_event, conn);
}

bool raw_head_has(const struct raw_conn *conn, const char *text)
{
	return strstr(conn->head.p, text) != NULL;
}
