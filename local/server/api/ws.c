// SPDX-License-Identifier: Apache-2.0
/* wslay reads the frames and writes those of control; messages are written here, in one piece. */
#include "local/server/api/ws.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <event2/buffer.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wslay/wslay.h>

enum { KEY_BYTES = 16, LENGTH_16 = 126, LENGTH_64 = 127, FIN_BINARY = 0x82 };

struct api_ws {
	wslay_event_context_ptr frames;
	struct evbuffer *in; /* only while it is read */
	struct evbuffer *out;
	struct api_ws_callbacks callbacks;
	void *arg;
	bool is_begin, is_text, is_control; /* of the frame that comes */
	bool is_broken, is_closed;
};

bool api_ws_accept(const char *key, char out[WS_ACCEPT_BYTES])
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned hash_n;
	size_t n = 0;
	char *bytes = key ? digest_base64_decode(slice_of(key), &n) : NULL;
	free(bytes);
	if (!bytes || n != KEY_BYTES)
		return false;
	char *text = x_asprintf("%s%s", key, guid);
	bool ok = EVP_Digest(text, strlen(text), hash, &hash_n, EVP_sha1(), NULL) == 1;
	free(text);
	char *encoded = ok ? digest_base64_encode(hash, hash_n) : NULL;
	ok = encoded && strlen(encoded) < WS_ACCEPT_BYTES;
	if (ok)
		memcpy(out, encoded, strlen(encoded) + 1);
	free(encoded);
	return ok;
}

static ssize_t on_want_bytes(
	wslay_event_context_ptr frames, uint8_t *into, size_t room, int flags, void *arg)
{
	struct api_ws *ws = arg;
	(void)flags;
	int n = evbuffer_remove(ws->in, into, room);
	if (n > 0)
		return n;
	wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
	return -1;
}

static ssize_t on_have_bytes(
	wslay_event_context_ptr frames, const uint8_t *bytes, size_t n, int flags, void *arg)
{
	struct api_ws *ws = arg;
	(void)frames;
	(void)flags;
	evbuffer_add(ws->out, bytes, n);
	return (ssize_t)n;
}

static void on_frame(wslay_event_context_ptr frames,
	const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
	struct api_ws *ws = arg;
	(void)frames;
	ws->is_control = wslay_is_ctrl_frame(frame->opcode);
	if (ws->is_control)
		return;
	ws->is_begin = frame->opcode != WSLAY_CONTINUATION_FRAME;
	if (ws->is_begin)
		ws->is_text = frame->opcode == WSLAY_TEXT_FRAME;
	if (ws->is_begin)
		ws->callbacks.on_piece(ws->arg, "", 0, true, ws->is_text);
}

static void on_chunk(wslay_event_context_ptr frames,
	const struct wslay_event_on_frame_recv_chunk_arg *chunk, void *arg)
{
	struct api_ws *ws = arg;
	(void)frames;
	if (!ws->is_control && chunk->data_length > 0)
		ws->callbacks.on_piece(
			ws->arg, chunk->data, chunk->data_length, false, ws->is_text);
}

struct api_ws *api_ws_new(
	struct evbuffer *out, const struct api_ws_callbacks *callbacks, void *arg)
{
	static const struct wslay_event_callbacks events = { .recv_callback = on_want_bytes,
		.send_callback = on_have_bytes,
		.on_frame_recv_start_callback = on_frame,
		.on_frame_recv_chunk_callback = on_chunk };
	struct api_ws *ws = x_calloc(1, sizeof *ws);
	ws->out = out;
	ws->callbacks = *callbacks;
	ws->arg = arg;
	if (wslay_event_context_server_init(&ws->frames, &events, ws) != 0)
		abort(); /* out of memory, as elsewhere */
	wslay_event_config_set_no_buffering(ws->frames, 1);
	wslay_event_config_set_max_recv_msg_length(ws->frames, UINT64_MAX >> 1);
	return ws;
}

void api_ws_free(struct api_ws *ws)
{
	if (!ws)
		return;
	wslay_event_context_free(ws->frames);
	free(ws);
}

static bool broken(struct api_ws *ws, struct err *err)
{
	ws->is_broken = true;
	return err_set(err, ERR_PORTFWD_PROTOCOL, "a WebSocket frame cannot be read");
}

bool api_ws_receive(struct api_ws *ws, struct evbuffer *in, struct err *err)
{
	if (ws->is_broken)
		return broken(ws, err);
	ws->in = in;
	int rc = wslay_event_recv(ws->frames);
	ws->in = NULL;
	/* pongs, and the answer to a close */
	if (rc == 0 && wslay_event_want_write(ws->frames))
		rc = wslay_event_send(ws->frames);
	if (rc != 0)
		return broken(ws, err);
	if (wslay_event_get_close_received(ws->frames) && !ws->is_closed) {
		ws->is_closed = true;
		ws->callbacks.on_close(ws->arg);
	} else if (!wslay_event_get_read_enabled(ws->frames) && !ws->is_closed) {
		return broken(ws, err);
	}
	return true;
}

void api_ws_send(
	struct api_ws *ws, const void *head, size_t head_n, const void *bytes, size_t n)
{
	size_t all = head_n + n;
	unsigned char frame[10] = { FIN_BINARY };
	size_t length_n = all < LENGTH_16 ? 0 : all <= UINT16_MAX ? 2 : 8;
	if (ws->is_closed)
		return;
	frame[1] = (unsigned char)(length_n == 0 ? all : length_n == 2 ? LENGTH_16 : LENGTH_64);
	for (size_t i = 0; i < length_n; i++)
		frame[2 + i] = (unsigned char)((uint64_t)all >> 8 * (length_n - 1 - i));
	evbuffer_add(ws->out, frame, 2 + length_n);
	if (head_n > 0)
		evbuffer_add(ws->out, head, head_n);
	if (n > 0)
		evbuffer_add(ws->out, bytes, n);
}

void api_ws_close(struct api_ws *ws, unsigned code)
{
	if (ws->is_closed || ws->is_broken)
		return;
	ws->is_closed = true;
	wslay_event_queue_close(ws->frames, (uint16_t)code, NULL, 0);
	wslay_event_send(ws->frames);
}
