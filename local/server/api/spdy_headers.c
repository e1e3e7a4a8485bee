// SPDX-License-Identifier: Apache-2.0
/* A header block, inflated: a count of four bytes, then name and value, each with its length in four bytes. */
#include "local/server/api/spdy.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* input is not written to */
#include <zlib.h>

enum { EMPTY_BLOCK_BYTES = 64, COUNT_BYTES = 4 };

struct api_spdy_blocks {
	z_stream in, out;
	unsigned char dictionary[SPDY_DICTIONARY_BYTES];
	unsigned char block[SPDY_MAX_HEADER_BYTES]; /* the one being read */
};

/* Each of the words with its length before it, then the rest as it is. */
static const char *const words[] = { "options", "head", "post", "put", "delete", "trace",
	"accept", "accept-charset", "accept-encoding", "accept-language", "accept-ranges",
	"age", "allow", "authorization", "cache-control", "connection", "content-base",
	"content-encoding", "content-language", "content-length", "content-location",
	"content-md5", "content-range", "content-type", "date", "etag", "expect", "expires",
	"from", "host", "if-match", "if-modified-since", "if-none-match", "if-range",
	"if-unmodified-since", "last-modified", "location", "max-forwards", "pragma",
	"proxy-authenticate", "proxy-authorization", "range", "referer", "retry-after",
	"server", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "vary", "via",
	"warning", "www-authenticate", "method", "get", "status", "200 OK", "version",
	"HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin" };
static const char rest[] =
	"100101201202205206300302303304305306307402405406407408409410411412413414415416417502504"
	"505"
	"203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
	"401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
	"503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, "
	"Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
	"application/xml,application/xhtml+xml,text/plain,text/javascript,public"
	"privatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.";

static void put_u32(unsigned char *out, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(value >> (24 - 8 * i));
}

static uint32_t get_u32(const unsigned char *in)
{
	return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

void api_spdy_dictionary(unsigned char out[SPDY_DICTIONARY_BYTES])
{
	size_t at = 0;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		size_t n = strlen(words[i]);
		put_u32(out + at, (uint32_t)n);
		memcpy(out + at + 4, words[i], n);
		at += 4 + n;
	}
	memcpy(out + at, rest, SPDY_DICTIONARY_BYTES - at);
}

struct api_spdy_blocks *api_spdy_blocks_new(void)
{
	struct api_spdy_blocks *b = x_calloc(1, sizeof *b);
	api_spdy_dictionary(b->dictionary);
	if (inflateInit(&b->in) != Z_OK || deflateInit(&b->out, Z_BEST_SPEED) != Z_OK ||
		deflateSetDictionary(&b->out, b->dictionary, sizeof b->dictionary) != Z_OK)
		abort(); /* out of memory, as elsewhere */
	return b;
}

void api_spdy_blocks_free(struct api_spdy_blocks *b)
{
	if (!b)
		return;
	inflateEnd(&b->in);
	deflateEnd(&b->out);
	free(b);
}

/* One block to the end; how much came out, or -1. */
static long inflate_block(struct api_spdy_blocks *b, const void *block, size_t n)
{
	z_stream *in = &b->in;
	in->next_in = block;
	in->avail_in = (uInt)n;
	in->next_out = b->block;
	in->avail_out = sizeof b->block;
	for (;;) {
		int rc = inflate(in, Z_SYNC_FLUSH);
		if (rc == Z_NEED_DICT &&
			inflateSetDictionary(in, b->dictionary, sizeof b->dictionary) == Z_OK)
			continue;
		if (rc != Z_OK && rc != Z_BUF_ERROR)
			return -1;
		if (in->avail_in > 0 || in->avail_out == 0)
			return -1; /* too long */
		return (long)(sizeof b->block - in->avail_out);
	}
}

static bool take_text(const unsigned char **at, const unsigned char *end,
	const unsigned char **text, size_t *n)
{
	if (end - *at < 4)
		return false;
	*n = get_u32(*at);
	*text = *at + 4;
	if (*n > (size_t)(end - *text))
		return false;
	*at = *text + *n;
	return true;
}

static void keep(struct api_spdy_headers *headers, const unsigned char *name, size_t name_n,
	const unsigned char *value, size_t n)
{
	const struct {
		const char *name;
		char *into;
	} rows[] = { { "streamtype", headers->type }, { "port", headers->port },
		{ "requestid", headers->request_id } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (strlen(rows[i].name) != name_n || memcmp(rows[i].name, name, name_n) != 0)
			continue;
		if (n >= SPDY_VALUE_BYTES)
			n = SPDY_VALUE_BYTES - 1;
		memcpy(rows[i].into, value, n);
		rows[i].into[n] = '\0';
	}
}

bool api_spdy_blocks_read(struct api_spdy_blocks *b, const void *block, size_t n,
	struct api_spdy_headers *headers, struct err *err)
{
	*headers = (struct api_spdy_headers){ 0 };
	long got = inflate_block(b, block, n);
	if (got < COUNT_BYTES)
		return err_set(err, ERR_PORTFWD_PROTOCOL, "a header block cannot be read");
	const unsigned char *at = b->block + COUNT_BYTES, *end = b->block + got;
	for (uint32_t left = get_u32(b->block); left > 0; left--) {
		const unsigned char *name, *value;
		size_t name_n, value_n;
		if (!take_text(&at, end, &name, &name_n) ||
			!take_text(&at, end, &value, &value_n))
			return err_set(
				err, ERR_PORTFWD_PROTOCOL, "a header block is cut short");
		keep(headers, name, name_n, value, value_n);
	}
	return true;
}

void api_spdy_blocks_write_empty(struct api_spdy_blocks *b, struct evbuffer *out)
{
	unsigned char none[COUNT_BYTES] = { 0 }, block[EMPTY_BLOCK_BYTES];
	b->out.next_in = none;
	b->out.avail_in = sizeof none;
	b->out.next_out = block;
	b->out.avail_out = sizeof block;
	if (deflate(&b->out, Z_SYNC_FLUSH) != Z_OK || b->out.avail_out == 0)
		abort(); /* four bytes always fit */
	evbuffer_add(out, block, sizeof block - b->out.avail_out);
}
