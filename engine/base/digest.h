// SPDX-License-Identifier: Apache-2.0
/* Hashes, base64, random: thin, over OpenSSL 3. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_SHA256_BYTES = 32, DIGEST_SHA256_HEX = 65 };
struct digest; /* incremental SHA-256 */
struct digest *digest_new(void);
void digest_free(struct digest *d);
void digest_add(struct digest *d, const void *bytes, size_t n);
void digest_finish_hex(
	struct digest *d, char hex[DIGEST_SHA256_HEX]); /* ends d; still free it */
void digest_random(void *out, size_t n);
void digest_random_hex(char *out, size_t hex_digits);    /* writes hex_digits + NUL */
void digest_hex(const void *bytes, size_t n, char *out); /* 2n digits + NUL */
uint32_t digest_fnv1a32(
	const void *bytes, size_t n); /* names hashed into labels by Agent Sandbox */
/* Base64 (RFC 4648), decode refuses other characters except line ends; free() the result. */
char *digest_base64_encode(const void *bytes, size_t n);
void *digest_base64_decode(struct slice text, size_t *n);
