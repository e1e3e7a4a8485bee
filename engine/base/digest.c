// SPDX-License-Identifier: Apache-2.0
#include "engine/base/digest.h"

#include "engine/base/mem.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdlib.h>

static const char hex_digits_of[] = "0123456789abcdef";

struct digest {
	EVP_MD_CTX *ctx;
};

struct digest *digest_new(void)
{
	struct digest *d = x_calloc(1, sizeof *d);
	d->ctx = EVP_MD_CTX_new();
	if (d->ctx == NULL || EVP_DigestInit_ex(d->ctx, EVP_sha256(), NULL) != 1)
		abort();
	return d;
}

void digest_free(struct digest *d)
{
	if (d == NULL)
		return;
	EVP_MD_CTX_free(d->ctx);
	free(d);
}

void digest_add(struct digest *d, const void *bytes, size_t n)
{
	if (EVP_DigestUpdate(d->ctx, bytes, n) != 1)
		abort();
}

void digest_hex(const void *from, size_t n, char *out)
{
	const unsigned char *bytes = from;
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = hex_digits_of[bytes[i] >> 4];
		out[2 * i + 1] = hex_digits_of[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}

void digest_finish_hex(struct digest *d, char hex[DIGEST_SHA256_HEX])
{
	unsigned char bytes[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	if (EVP_DigestFinal_ex(d->ctx, bytes, &n) != 1 || n != DIGEST_SHA256_BYTES)
		abort();
	digest_hex(bytes, n, hex);
}

void digest_random(void *out, size_t n)
{
	unsigned char *p = out;
	while (n > 0) {
		int part = n > 4096 ? 4096 : (int)n;
		if (RAND_bytes(p, part) != 1) /* without randomness nothing here is safe */
			abort();
		p += part;
		n -= (size_t)part;
	}
}

void digest_random_hex(char *out, size_t hex_digits)
{
	for (size_t i = 0; i < hex_digits; i++) {
		unsigned char byte;
		digest_random(&byte, 1);
		out[i] = hex_digits_of[byte & 15];
	}
	out[hex_digits] = '\0';
}

uint32_t digest_fnv1a32(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * 16777619u;
	return hash;
}

char *digest_base64_encode(const void *bytes, size_t n)
{
	/* EVP_EncodeBlock counts in int: pieces that are whole groups of three */
	enum { PIECE = 3 << 20 };
	const unsigned char *p = bytes;
	size_t groups = n / 3 + 1;
	char *out = x_realloc(NULL, groups + 1, 4);
	size_t used = 0;
	while (n > 0) {
		int part = n > PIECE ? PIECE : (int)n;
		used += (size_t)EVP_EncodeBlock((unsigned char *)out + used, p, part);
		p += part;
		n -= (size_t)part;
	}
	out[used] = '\0';
	return out;
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

void *digest_base64_decode(struct slice text, size_t *n)
{
	unsigned char *out = x_malloc(text.n / 4 * 3 + 4);
	size_t used = 0, count = 0, padding = 0;
	uint32_t group = 0;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '\n' || c == '\r')
			continue;
		int value = c == '=' ? 0 : base64_value(c);
		/* '=' only as the last one or two of the last group */
		if (value < 0 || (padding > 0 && (c != '=' || count == 0)) ||
			(c == '=' && count < 2))
			goto bad;
		padding += c == '=';
		group = group << 6 | (uint32_t)value;
		if (++count < 4)
			continue;
		if (padding < 3) {
			out[used++] = (unsigned char)(group >> 16);
			if (padding < 2)
				out[used++] = (unsigned char)(group >> 8);
			if (padding < 1)
				out[used++] = (unsigned char)group;
		}
		count = 0;
		group = 0;
	}
	if (count != 0)
		goto bad;
	out[used] = '\0'; /* a courtesy for callers that expect text */
	*n = used;
	return out;
bad:
	free(out);
	return NULL;
}
