// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/http1.h"

#include "engine/base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static const char *const field_names[] = {
#define X(id, name) name,
	HTTP1_FIELDS(X)
#undef X
};
_Static_assert(sizeof field_names / sizeof field_names[0] == HTTP1_FIELD_COUNT, "a name each");

enum { MAX_CHUNK_LINE = 4096, MAX_TRAILER_BYTES = 64 << 10 };

static bool is_token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!is_token_char(p[i]))
			return false;
	return n > 0;
}

static void bad(struct daemon_http1_request *request, int status, const char *detail)
{
	request->state = HTTP1_BAD;
	request->bad_status = status;
	request->bad_detail = detail;
}

void daemon_http1_request_init(struct daemon_http1_request *request)
{
	*request = (struct daemon_http1_request){ .bad_detail = "" };
	str_init(&request->line, HTTP1_MAX_HEAD_BYTES);
}

void daemon_http1_request_deinit(struct daemon_http1_request *request)
{
	for (int i = 0; i < HTTP1_FIELD_COUNT; i++)
		free(request->fields[i]);
	free(request->method);
	free(request->target);
	str_deinit(&request->line);
	*request = (struct daemon_http1_request){ .bad_detail = "" };
}

static void take_request_line(struct daemon_http1_request *request, const char *line, size_t n)
{
	const char *first = memchr(line, ' ', n);
	const char *last = memrchr(line, ' ', n);
	request->has_request_line = true;
	if (first == NULL || first == last || !is_token(line, (size_t)(first - line))) {
		bad(request, 400, "");
		return;
	}
	struct slice version = { last + 1, n - (size_t)(last + 1 - line) };
	struct slice target = { first + 1, (size_t)(last - first - 1) };
	if (version.n != 8 || memcmp(version.p, "HTTP/", 5) != 0 ||
		!isdigit((unsigned char)version.p[5]) || version.p[6] != '.' ||
		!isdigit((unsigned char)version.p[7])) {
		bad(request, 400, "");
		return;
	}
	if (version.p[5] != '1') {
		bad(request, 505, ": unsupported protocol version");
		return;
	}
	for (size_t i = 0; i < target.n; i++) {
		unsigned char c = (unsigned char)target.p[i];
		if (c <= ' ' || c == 0x7f) {
			bad(request, 400, "");
			return;
		}
	}
	if (target.n == 0) {
		bad(request, 400, "");
		return;
	}
	request->minor = version.p[7] - '0';
	request->method = x_strndup(line, (size_t)(first - line));
	request->target = x_strndup(target.p, target.n);
}

static void take_field(struct daemon_http1_request *request, const char *line, size_t n)
{
	const char *colon = memchr(line, ':', n);
	if (colon == NULL || colon == line) {
		bad(request, 400, "");
		return;
	}
	if (!is_token(line, (size_t)(colon - line))) {
		bad(request, 400, ": invalid header name");
		return;
	}
	const char *value = colon + 1;
	const char *end = line + n;
	while (value < end && (*value == ' ' || *value == '\t'))
		value++;
	while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	for (const char *p = value; p < end; p++) {
		if ((unsigned char)*p < ' ' && *p != '\t') {
			bad(request, 400, ": invalid header value");
			return;
		}
	}
	for (int i = 0; i < HTTP1_FIELD_COUNT; i++) {
		size_t name_n = (size_t)(colon - line);
		if (strlen(field_names[i]) != name_n ||
			strncasecmp(line, field_names[i], name_n) != 0)
			continue;
		char *text = x_strndup(value, (size_t)(end - value));
		if (request->fields[i] == NULL) {
			request->fields[i] = text;
			return;
		}
		/* the same length twice is harmless; of the rest the first counts, as in Go */
		bool is_same = strcmp(text, request->fields[i]) == 0;
		free(text);
		if (i == HTTP1_HOST)
			bad(request, 400, "");
		else if (i == HTTP1_TRANSFER_ENCODING)
			bad(request, 501, ": too many transfer encodings");
		else if (i == HTTP1_CONTENT_LENGTH && !is_same)
			bad(request, 400, "");
		return;
	}
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word);
	while (list != NULL && *list) {
		list += strspn(list, ", \t");
		size_t token = strcspn(list, ", \t");
		if (token == n && strncasecmp(list, word, n) == 0)
			return true;
		list += token;
	}
	return false;
}

static void finish_head(struct daemon_http1_request *request)
{
	char **fields = request->fields;
	request->state = HTTP1_READY;
	if (fields[HTTP1_HOST] == NULL && request->minor >= 1) {
		bad(request, 400, ": missing required Host header");
		return;
	}
	request->keep_alive =
		request->minor >= 1 && !has_word(fields[HTTP1_CONNECTION], "close");
	if (fields[HTTP1_TRANSFER_ENCODING] != NULL) {
		if (request->minor < 1 ||
			strcasecmp(fields[HTTP1_TRANSFER_ENCODING], "chunked") != 0) {
			bad(request, 501, ": unsupported transfer encoding");
			return;
		}
		/* two framings at once is how requests are smuggled (RFC 9112, 6.3) */
		if (fields[HTTP1_CONTENT_LENGTH] != NULL) {
			bad(request, 400, "");
			return;
		}
		request->is_chunked = true;
	}
	const char *length = fields[HTTP1_CONTENT_LENGTH];
	if (length != NULL) {
		enum { MAX_DIGITS = 18 };
		size_t n = strlen(length);
		if (n == 0 || n > MAX_DIGITS || strspn(length, "0123456789") != n) {
			bad(request, 400, "");
			return;
		}
		request->content_length = strtoull(length, NULL, 10);
	}
	if (fields[HTTP1_EXPECT] != NULL && request->minor >= 1) {
		if (!has_word(fields[HTTP1_EXPECT], "100-continue"))
			bad(request, 417, "");
		request->wants_continue = request->is_chunked || request->content_length > 0;
	}
}

static void take_line(struct daemon_http1_request *request)
{
	struct str *line = &request->line;
	if (line->n > 0 && line->p[line->n - 1] == '\r')
		line->p[--line->n] = 0;
	if (memchr(line->p, 0, line->n) != NULL || memchr(line->p, '\r', line->n) != NULL)
		bad(request, 400, "");
	else if (line->n == 0 && request->has_request_line)
		finish_head(request);
	else if (line->n == 0)
		bad(request, 400, "");
	else if (!request->has_request_line)
		take_request_line(request, line->p, line->n);
	else
		take_field(request, line->p, line->n);
	str_clear(line);
}

size_t daemon_http1_request_feed(
	struct daemon_http1_request *request, const char *bytes, size_t n)
{
	size_t used = 0;
	while (used < n && request->state == HTTP1_HEAD) {
		const char *end = memchr(bytes + used, '\n', n - used);
		size_t part = end ? (size_t)(end - (bytes + used)) : n - used;
		if (request->head_bytes + part + 1 > HTTP1_MAX_HEAD_BYTES) {
			bad(request, 431, "");
			return n;
		}
		str_add_bytes(&request->line, bytes + used, part);
		request->head_bytes += part + 1;
		used += part + (end != NULL);
		if (end != NULL)
			take_line(request);
	}
	return used;
}

/* Body. */

enum { CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_CR, CHUNK_LF, TRAILER };

void daemon_http1_body_init(
	struct daemon_http1_body *body, const struct daemon_http1_request *request)
{
	*body = (struct daemon_http1_body){ .is_chunked = request->is_chunked,
		.left = request->content_length };
	body->is_done = !request->is_chunked && request->content_length == 0;
}

static bool take_size_digit(struct daemon_http1_body *body, char c)
{
	const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;
	if (at == NULL || body->left >> 56 != 0)
		return false;
	body->left = body->left << 4 | (uint64_t)(at - digits);
	body->has_digit = true;
	return true;
}

static void end_size_line(struct daemon_http1_body *body)
{
	body->is_bad = !body->has_digit;
	body->stage = body->left > 0 ? CHUNK_DATA : TRAILER;
	body->has_digit = false;
	body->line_n = 0;
}

/* One byte of chunk framing. */
static void frame_byte(struct daemon_http1_body *body, char c)
{
	switch (body->stage) {
	case CHUNK_SIZE:
		if (c == '\n')
			end_size_line(body);
		else if (c == ';' || c == '\r' || c == ' ' || c == '\t')
			body->stage = CHUNK_EXTENSION;
		else
			body->is_bad = !take_size_digit(body, c);
		break;
	case CHUNK_EXTENSION:
		body->is_bad = ++body->line_n > MAX_CHUNK_LINE;
		if (c == '\n')
			end_size_line(body);
		break;
	case CHUNK_CR:
		body->is_bad = c != '\r';
		body->stage = CHUNK_LF;
		break;
	case CHUNK_LF:
		body->is_bad = c != '\n';
		body->stage = CHUNK_SIZE;
		break;
	default: /* trailer: lines until an empty one; has_digit: this line has text */
		body->is_bad = ++body->line_n > MAX_TRAILER_BYTES;
		if (c == '\n' && !body->has_digit)
			body->is_done = true;
		else if (c == '\n')
			body->has_digit = false;
		else if (c != '\r')
			body->has_digit = true;
		break;
	}
}

size_t daemon_http1_body_feed(
	struct daemon_http1_body *body, const char *bytes, size_t n, struct slice *piece)
{
	*piece = (struct slice){ bytes, 0 };
	size_t used = 0;
	while (used < n && !body->is_done && !body->is_bad) {
		if (body->is_chunked && body->stage != CHUNK_DATA) {
			frame_byte(body, bytes[used++]);
			continue;
		}
		size_t part = body->left < n - used ? (size_t)body->left : n - used;
		*piece = (struct slice){ bytes + used, part };
		body->left -= part;
		body->taken += part;
		if (body->left == 0) {
			body->stage = CHUNK_CR;
			body->is_done = !body->is_chunked;
		}
		return used + part;
	}
	return used;
}

/* Escapes. */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool daemon_http1_unescape(struct slice text, bool plus_is_space, char *out, size_t *out_n)
{
	size_t n = 0;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '%') {
			if (i + 2 >= text.n || hex(text.p[i + 1]) < 0 || hex(text.p[i + 2]) < 0)
				return false;
			c = (char)(hex(text.p[i + 1]) << 4 | hex(text.p[i + 2]));
			i += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		}
		out[n++] = c;
	}
	*out_n = n;
	return true;
}

char *daemon_http1_query_get(const char *query, const char *name)
{
	while (query != NULL && *query) {
		size_t n = strcspn(query, "&");
		struct slice pair = { query, n };
		query += n + (query[n] == '&');
		if (memchr(pair.p, ';', pair.n) != NULL)
			continue;
		const char *equals = memchr(pair.p, '=', pair.n);
		struct slice key = { pair.p, equals ? (size_t)(equals - pair.p) : pair.n };
		struct slice value = { equals ? equals + 1 : "",
			equals ? pair.n - key.n - 1 : 0 };
		char *text = x_malloc(pair.n + 1);
		size_t text_n;
		if (daemon_http1_unescape(key, true, text, &text_n) && text_n == strlen(name) &&
			memcmp(text, name, text_n) == 0 &&
			daemon_http1_unescape(value, true, text, &text_n)) {
			text[text_n] = 0;
			return text;
		}
		free(text);
	}
	return NULL;
}
