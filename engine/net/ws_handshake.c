// SPDX-License-Identifier: Apache-2.0
/* The opening handshake of RFC 6455, section 4.1. */
#include "engine/base/digest.h"
#include "engine/base/num.h"
#include "engine/net/http.h"
#include "engine/net/ws_internal.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <strings.h>

static bool is_line_safe(const char *text)
{
	return text == NULL || strpbrk(text, "\r\n") == NULL;
}

bool net_ws_handshake_start(struct net_ws *ws, const struct net_ws_opts *opts, struct err *err)
{
	unsigned char random[16];
	digest_random(random, sizeof random);
	char *key = digest_base64_encode(random, sizeof random);
	snprintf(ws->key, sizeof ws->key, "%s", key);
	free(key);
	bool ok = is_line_safe(opts->host) && is_line_safe(opts->protocols) &&
		  is_line_safe(opts->path) && strchr(opts->path, ' ') == NULL;
	for (size_t i = 0; i < opts->n_headers; i++)
		ok = ok && is_line_safe(opts->headers[i].name) &&
		     is_line_safe(opts->headers[i].value);
	if (!ok)
		return err_set(err, ERR_ARG_INVALID, "a header has characters it may not");
	struct evbuffer *out = bufferevent_get_output(ws->bev);
	evbuffer_add_printf(out,
		"GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n",
		opts->path, opts->host, ws->key);
	if (opts->protocols != NULL)
		evbuffer_add_printf(out, "Sec-WebSocket-Protocol: %s\r\n", opts->protocols);
	bool has_agent = false;
	for (size_t i = 0; i < opts->n_headers; i++) {
		has_agent |= strcasecmp(opts->headers[i].name, "user-agent") == 0;
		evbuffer_add_printf(
			out, "%s: %s\r\n", opts->headers[i].name, opts->headers[i].value);
	}
	if (!has_agent)
		evbuffer_add_printf(out, "User-Agent: sandmux/%s\r\n", SANDMUX_VERSION);
	evbuffer_add(out, "\r\n", 2);
	return true;
}

/* The value of a header in a block of lines that end with CRLF; n is SIZE_MAX if there is none. */
static struct slice find_header(struct slice block, const char *name)
{
	size_t name_bytes = strlen(name);
	const char *end = block.p + block.n;
	for (const char *line = block.p; line < end;) {
		const char *stop = memmem(line, (size_t)(end - line), "\r\n", 2);
		if (stop == NULL)
			stop = end;
		if ((size_t)(stop - line) > name_bytes && line[name_bytes] == ':' &&
			strncasecmp(line, name, name_bytes) == 0) {
			const char *value = line + name_bytes + 1;
			while (value < stop && (*value == ' ' || *value == '\t'))
				value++;
			while (stop > value && (stop[-1] == ' ' || stop[-1] == '\t'))
				stop--;
			return (struct slice){ value, (size_t)(stop - value) };
		}
		line = stop + 2;
	}
	return (struct slice){ "", SIZE_MAX };
}

static bool equals_folded(struct slice value, const char *word)
{
	return value.n == strlen(word) && strncasecmp(value.p, word, value.n) == 0;
}

/* "keep-alive, Upgrade" has the token "upgrade". */
static bool has_token(struct slice value, const char *word)
{
	for (size_t i = 0; value.n != SIZE_MAX && i < value.n;) {
		size_t n = 0;
		while (i + n < value.n && value.p[i + n] != ',')
			n++;
		struct slice token = { value.p + i, n };
		while (token.n > 0 && (token.p[0] == ' ' || token.p[0] == '\t'))
			token = (struct slice){ token.p + 1, token.n - 1 };
		while (token.n > 0 &&
			(token.p[token.n - 1] == ' ' || token.p[token.n - 1] == '\t'))
			token.n--;
		if (equals_folded(token, word))
			return true;
		i += n + 1;
	}
	return false;
}

/* Is it, letter by letter, one of "a, b"? */
static bool is_offered(const char *protocols, struct slice chosen)
{
	while (protocols != NULL && *protocols) {
		size_t n = strcspn(protocols, ",");
		if (n > 0 && n == chosen.n && memcmp(protocols, chosen.p, n) == 0)
			return true;
		protocols += n;
		protocols += strspn(protocols, ", ");
	}
	return false;
}

static bool accepts_key(const struct net_ws *ws, struct slice value)
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char *text = x_asprintf("%s%s", ws->key, guid);
	bool ok = EVP_Digest(text, strlen(text), hash, &n, EVP_sha1(), NULL) == 1;
	free(text);
	char *expected = digest_base64_encode(hash, n);
	ok = ok && value.n != SIZE_MAX && slice_equals(value, expected);
	free(expected);
	return ok;
}

static bool check_upgrade(struct net_ws *ws, struct slice block, struct err *err)
{
	struct slice protocol = find_header(block, "sec-websocket-protocol");
	struct slice extensions = find_header(block, "sec-websocket-extensions");
	if (!equals_folded(find_header(block, "upgrade"), "websocket") ||
		!has_token(find_header(block, "connection"), "upgrade") ||
		!accepts_key(ws, find_header(block, "sec-websocket-accept")))
		return err_set(
			err, ERR_PORTFWD_PROTOCOL, "the server did not switch to WebSocket");
	if (extensions.n != SIZE_MAX && extensions.n > 0)
		return err_set(err, ERR_PORTFWD_PROTOCOL,
			"the server chose an extension that was not offered");
	bool has_chosen = protocol.n != SIZE_MAX && protocol.n > 0;
	if (ws->protocols == NULL ? has_chosen
				  : !has_chosen || !is_offered(ws->protocols, protocol))
		return err_set(err, ERR_PORTFWD_PROTOCOL,
			"the server did not choose the subprotocol %s",
			ws->protocols ? ws->protocols : "(none)");
	if (has_chosen)
		ws->protocol = x_strndup(protocol.p, protocol.n);
	ws->state = WS_OPEN;
	return true;
}

/* The body of a refusal, as far as it is there; complete when is_end or all announced bytes came. */
static bool read_refusal(struct net_ws *ws, bool is_end, struct err *err)
{
	struct evbuffer *in = bufferevent_get_input(ws->bev);
	size_t n = evbuffer_get_length(in);
	if (!is_end && n < ws->refusal_bytes && n < WS_REFUSAL_BYTES)
		return true;
	char body[ERR_MESSAGE_BYTES];
	size_t room = sizeof body - 1;
	ev_ssize_t got = evbuffer_remove(in, body, n < room ? n : room);
	body[got > 0 ? got : 0] = '\0';
	err_set(err, ERR_HTTP_STATUS, "%s", body);
	if (err != NULL)
		err->sys = ws->refusal_status;
	return false;
}

bool net_ws_handshake_read(struct net_ws *ws, bool is_end, struct err *err)
{
	if (ws->state == WS_REFUSED)
		return read_refusal(ws, is_end, err);
	struct evbuffer *in = bufferevent_get_input(ws->bev);
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	if (end.pos < 0 && evbuffer_get_length(in) < WS_MAX_HEADER_BYTES)
		return !is_end ||
		       err_set(err, ERR_CONN_LOST,
			       "closed by the server during the WebSocket handshake");
	if (end.pos < 0 || end.pos > WS_MAX_HEADER_BYTES)
		return err_set(err, ERR_PORTFWD_PROTOCOL, "the handshake answer is too large");
	size_t n = (size_t)end.pos + 2;
	char *text = x_malloc(n + 1);
	evbuffer_remove(in, text, n);
	text[n] = '\0';
	evbuffer_drain(in, 2);
	const char *first_end = strstr(text, "\r\n");
	int64_t status = 0;
	char digits[4] = "";
	bool ok = first_end != NULL && strncmp(text, "HTTP/1.", 7) == 0 &&
		  first_end - text >= 12 && text[8] == ' ';
	if (ok)
		memcpy(digits, text + 9, 3);
	ok = ok && num_parse_i64(digits, 100, 999, &status);
	if (!ok) {
		err_set(err, ERR_PORTFWD_PROTOCOL, "the answer is not HTTP/1.1");
	} else if (status != 101) {
		struct slice block = { first_end + 2, n - (size_t)(first_end + 2 - text) };
		struct slice length = find_header(block, "content-length");
		uint64_t bytes;
		char number[24] = "";
		if (length.n < sizeof number)
			memcpy(number, length.p, length.n);
		ws->refusal_bytes =
			num_parse_u64(number, WS_REFUSAL_BYTES, &bytes) ? bytes : SIZE_MAX;
		ws->refusal_status = (int)status;
		ws->state = WS_REFUSED;
		ok = read_refusal(ws, is_end, err);
	} else {
		struct slice block = { first_end + 2, n - (size_t)(first_end + 2 - text) };
		ok = check_upgrade(ws, block, err);
	}
	free(text);
	return ok;
}
