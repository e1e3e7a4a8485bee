// SPDX-License-Identifier: Apache-2.0
/* The server's side of one WebSocket, by hand: it answers the handshake as told and takes frames apart. */
#pragma once

#include "engine/base/digest.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"
#include "engine/net/loop.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

struct raw_ws {
	struct evconnlistener *listener;
	struct bufferevent *bev;
	uint16_t port;
	const char *protocol; /* chosen; NULL: refused with `status`, once that is set */
	const char *status;
	struct str head, messages;  /* each message with '|' behind it, while they are few */
	size_t n_messages, n_bytes; /* n_bytes: after channel bytes */
	bool is_open, is_gone;
};

static inline void raw_ws_frame(struct raw_ws *ws, int opcode, const char *bytes, size_t n)
{
	unsigned char head[4] = { (unsigned char)(0x80 | opcode), (unsigned char)n };
	size_t head_n = 2;
	if (n > 125) {
		head[1] = 126;
		head[2] = (unsigned char)(n >> 8);
		head[3] = (unsigned char)n;
		head_n = 4;
	}
	bufferevent_write(ws->bev, head, head_n);
	bufferevent_write(ws->bev, bytes, n);
}

static inline void raw_ws_message(struct raw_ws *ws, const char *bytes, size_t n)
{
	raw_ws_frame(ws, 2, bytes, n);
}

static inline void raw_ws_answer(struct raw_ws *ws)
{
	static const char key_name[] = "Sec-WebSocket-Key: ";
	if (ws->protocol == NULL) {
		static const char body[] = "{\"kind\":\"Status\",\"message\":\"no way\"}";
		char *text = x_asprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s",
			ws->status, sizeof body - 1, body);
		bufferevent_write(ws->bev, text, strlen(text));
		free(text);
		return;
	}
	const char *key = strstr(ws->head.p, key_name) + sizeof key_name - 1;
	char *text = x_asprintf(
		"%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n;
	EVP_Digest(text, strlen(text), hash, &n, EVP_sha1(), NULL);
	free(text);
	char *accept = digest_base64_encode(hash, n);
	text = x_asprintf("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
			  "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"
			  "Sec-WebSocket-Protocol: %s\r\n\r\n",
		accept, ws->protocol);
	bufferevent_write(ws->bev, text, strlen(text));
	free(text);
	free(accept);
	ws->is_open = true;
}

/* One masked frame, if it is whole. */
static inline bool raw_ws_take(struct raw_ws *ws, struct evbuffer *in)
{
	size_t have = evbuffer_get_length(in), at = 6;
	unsigned char head[14];
	if (have < 6 || evbuffer_copyout(in, head, have < 14 ? have : 14) < 6)
		return false;
	size_t n = head[1] & 127;
	if (n == 126) {
		n = (size_t)head[2] << 8 | head[3];
		at = 8;
	}
	if (have < at + n)
		return false;
	unsigned char *bytes = x_malloc(at + n);
	evbuffer_remove(in, bytes, at + n);
	for (size_t i = 0; i < n; i++)
		bytes[at + i] ^= bytes[at - 4 + i % 4];
	if ((head[0] & 15) == 2) {
		ws->n_messages++;
		ws->n_bytes += n > 0 ? n - 1 : 0;
		if (ws->messages.n + n < 4096) {
			str_add_bytes(&ws->messages, bytes + at, n);
			str_add(&ws->messages, "|");
		}
	}
	free(bytes);
	return true;
}

static inline void raw_ws_on_read(struct bufferevent *bev, void *arg)
{
	struct raw_ws *ws = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	while (!ws->is_open) {
		size_t n;
		char *line = evbuffer_readln(in, &n, EVBUFFER_EOL_CRLF);
		if (line == NULL)
			return;
		str_add(&ws->head, line);
		str_add(&ws->head, "\r\n");
		free(line);
		if (n == 0 && (ws->protocol != NULL || ws->status != NULL))
			raw_ws_answer(ws);
	}
	while (raw_ws_take(ws, in))
		continue;
}

static inline void raw_ws_on_event(struct bufferevent *bev, short what, void *arg)
{
	struct raw_ws *ws = arg;
	(void)bev;
	if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR))
		ws->is_gone = true;
}

static inline void raw_ws_on_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int n, void *arg)
{
	struct raw_ws *ws = arg;
	(void)address;
	(void)n;
	ws->bev = bufferevent_socket_new(
		evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);
	bufferevent_setcb(ws->bev, raw_ws_on_read, NULL, raw_ws_on_event, ws);
	bufferevent_enable(ws->bev, EV_READ | EV_WRITE);
}

static inline void raw_ws_open(struct raw_ws *ws, struct net_loop *loop, const char *protocol)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof address;
	*ws = (struct raw_ws){ .protocol = protocol };
	str_init(&ws->head, 16 << 10);
	str_init(&ws->messages, 16 << 10);
	ws->listener = evconnlistener_new_bind(net_loop_base(loop), raw_ws_on_accept, ws,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, -1,
		(struct sockaddr *)(void *)&address, sizeof address);
	getsockname(
		evconnlistener_get_fd(ws->listener), (struct sockaddr *)(void *)&address, &n);
	ws->port = ntohs(address.sin_port);
}

static inline void raw_ws_cut(struct raw_ws *ws)
{
	bufferevent_free(ws->bev);
	ws->bev = NULL;
}

/* Reads no more. */
static inline void raw_ws_stop(struct raw_ws *ws, bool is_stopped)
{
	if (is_stopped)
		bufferevent_disable(ws->bev, EV_READ);
	else
		bufferevent_enable(ws->bev, EV_READ);
}

/* What could not be sent yet. */
static inline size_t raw_ws_waiting(struct raw_ws *ws)
{
	return evbuffer_get_length(bufferevent_get_output(ws->bev));
}

static inline void raw_ws_close(struct raw_ws *ws)
{
	if (ws->bev != NULL)
		bufferevent_free(ws->bev);
	if (ws->listener != NULL)
		evconnlistener_free(ws->listener);
	str_deinit(&ws->head);
	str_deinit(&ws->messages);
}
