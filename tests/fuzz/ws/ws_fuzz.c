// SPDX-License-Identifier: Apache-2.0
/* Bytes of a server against the WebSocket client. First byte: 1 = the input begins with the answer to the
 * handshake, else a good answer is put before it; 2 = pause at each message; 4 = free in a message.
 * Second byte: size of the pieces. */
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"
#include "engine/net/ws.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW_ANSWER = 1, PAUSE = 2, FREE = 4 };

static struct net_ws *ws;
static unsigned flags, opened, closed;

static void on_open(void *arg)
{
	(void)arg;
	if (opened++ || closed)
		abort();
	net_ws_send(ws, "hello", 5);
}

static void on_message(void *arg, struct slice bytes)
{
	(void)arg;
	static char copy[65536];
	if (opened != 1 || closed || ws == NULL || bytes.n > sizeof copy)
		abort();
	if (bytes.n > 0)
		memcpy(copy, bytes.p, bytes.n);
	if (flags & PAUSE)
		net_ws_pause(ws, true);
	if (flags & FREE) {
		net_ws_free(ws);
		ws = NULL;
	}
}

static void on_closed(void *arg, const struct err *err, int code)
{
	(void)arg;
	(void)code;
	if (closed++ || (err != NULL && err->code == ERR_NONE))
		abort();
}

static void answer(struct bufferevent *peer)
{
	struct evbuffer *in = bufferevent_get_input(peer);
	char *head = x_calloc(1, evbuffer_get_length(in) + 1);
	evbuffer_copyout(in, head, evbuffer_get_length(in));
	const char *key = strstr(head, "Sec-WebSocket-Key: ");
	if (key == NULL)
		abort();
	key += strlen("Sec-WebSocket-Key: ");
	char *text = x_asprintf(
		"%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)strcspn(key, "\r"), key);
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n;
	EVP_Digest(text, strlen(text), hash, &n, EVP_sha1(), NULL);
	char *accept = digest_base64_encode(hash, n);
	evbuffer_add_printf(bufferevent_get_output(peer),
		"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\nSec-WebSocket-Protocol: p\r\n\r\n",
		accept);
	free(accept);
	free(text);
	free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct net_loop *loop = net_loop_new(NULL);
	struct bufferevent *pair[2];
	if (loop == NULL || bufferevent_pair_new(net_loop_base(loop), 0, pair) != 0)
		abort();
	flags = data[0];
	size_t piece = (size_t)data[1] + 1;
	opened = closed = 0;
	struct net_ws_opts opts = { .host = "h",
		.path = "/",
		.protocols = "q, p",
		.timeout_ms = 60000,
		.on_open = on_open,
		.on_message = on_message,
		.on_closed = on_closed };
	bufferevent_enable(pair[1], EV_READ | EV_WRITE);
	ws = net_ws_new_take(loop, pair[0], &opts, NULL);
	net_loop_run_once(loop, 0);
	if (!(flags & RAW_ANSWER))
		answer(pair[1]);
	for (size_t i = 2; i < size; i += piece) {
		evbuffer_drain(bufferevent_get_input(pair[1]), SIZE_MAX);
		bufferevent_write(pair[1], data + i, size - i < piece ? size - i : piece);
		net_loop_run_once(loop, 0);
		if (ws != NULL)
			net_ws_pause(ws, false);
	}
	bufferevent_flush(pair[1], EV_WRITE, BEV_FINISHED);
	for (int i = 0; i < 3; i++)
		net_loop_run_once(loop, 0);
	if (ws != NULL && closed != 1)
		abort();
	net_ws_free(ws);
	bufferevent_free(pair[1]);
	net_loop_free(loop);
	return 0;
}
