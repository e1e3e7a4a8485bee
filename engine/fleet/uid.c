// SPDX-License-Identifier: Apache-2.0
#include "engine/base/digest.h"
#include "engine/base/map.h"
#include "engine/fleet/store.h"

#include <stdio.h>
#include <string.h>

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 8-4-4-4-12 lower-case hex digits, as Kubernetes writes them. */
static bool parse_uuid(const char *text, uint8_t bytes[16])
{
	size_t at = 0;
	if (strlen(text) != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (text[i] != '-')
				return false;
			continue;
		}
		int value = nibble(text[i]);
		if (value < 0)
			return false;
		if (at % 2 == 0)
			bytes[at / 2] = (uint8_t)(value << 4);
		else
			bytes[at / 2] = (uint8_t)(bytes[at / 2] | value);
		at++;
	}
	return true;
}

enum { MARK_AT = 8 };
_Static_assert(sizeof(const char *) <= MARK_AT, "a pointer fits before the mark");

static bool is_marked(const struct fleet_uid *uid)
{
	static const uint8_t mark[8] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	return memcmp(uid->bytes + MARK_AT, mark, sizeof mark) == 0;
}

static const char *odd_of(const struct fleet_uid *uid)
{
	const char *odd = NULL;
	if (is_marked(uid))
		memcpy(&odd, uid->bytes, sizeof odd);
	return odd;
}

/* One that is longer than any of Kubernetes is known by its hash, here and in all that is asked by it. */
static void shorten(const char *text, char out[FLEET_UID_BYTES])
{
	char hex[DIGEST_SHA256_HEX];
	struct digest *digest = digest_new();
	digest_add(digest, text, strlen(text));
	digest_finish_hex(digest, hex);
	digest_free(digest);
	snprintf(out, FLEET_UID_BYTES, "~%.*s", FLEET_UID_BYTES - 2, hex);
}

struct fleet_uid fleet_uid_parse(struct fleet_store *store, const char *text)
{
	char hashed[FLEET_UID_BYTES];
	struct fleet_uid uid;
	memset(&uid, 0, sizeof uid);
	if (text == NULL || text[0] == '\0' ||
		(parse_uuid(text, uid.bytes) && !is_marked(&uid)))
		return uid;
	if (strlen(text) >= FLEET_UID_BYTES) {
		shorten(text, hashed);
		text = hashed;
	}
	const char *odd = fleet_string_pool_get(&store->texts, text, FLEET_UID_BYTES - 1);
	memcpy(uid.bytes, &odd, sizeof odd);
	memset(uid.bytes + MARK_AT, 0xff, sizeof uid.bytes - MARK_AT);
	return uid;
}

void fleet_uid_drop(struct fleet_store *store, struct fleet_uid *uid)
{
	fleet_string_pool_unref(&store->texts, odd_of(uid));
	memset(uid, 0, sizeof *uid);
}

const char *fleet_uid_format(const struct fleet_uid *uid, char out[FLEET_UID_BYTES])
{
	const uint8_t *b = uid->bytes;
	if (fleet_uid_is_none(uid))
		out[0] = '\0';
	else if (odd_of(uid) != NULL)
		snprintf(out, FLEET_UID_BYTES, "%s", odd_of(uid));
	else
		snprintf(out, FLEET_UID_BYTES,
			"%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
			b[11], b[12], b[13], b[14], b[15]);
	return out;
}

bool fleet_uid_equals(const struct fleet_uid *a, const struct fleet_uid *b)
{
	return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool fleet_uid_is_none(const struct fleet_uid *uid)
{
	static const struct fleet_uid none;
	return fleet_uid_equals(uid, &none);
}

uint32_t fleet_uid_hash(const struct fleet_uid *uid)
{
	return map_hash(uid->bytes, sizeof uid->bytes);
}

/* Of interned texts: their own hashes, mixed. */
uint32_t fleet_name_hash(const char *namespace_, const char *name)
{
	uint32_t pair[2] = { fleet_string_pool_hash(namespace_), fleet_string_pool_hash(name) };
	return map_hash(pair, sizeof pair);
}
