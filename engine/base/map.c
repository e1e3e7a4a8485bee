// SPDX-License-Identifier: Apache-2.0
/* SipHash-1-3 (Aumasson and Bernstein), keyed once per process. */
#include "engine/base/map.h"

#include "engine/base/digest.h"

#include <string.h>

struct state {
	uint64_t a, b, c, d;
};

static uint64_t rotate(uint64_t x, unsigned by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(struct state *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = rotate(s->b, 13) ^ s->a;
	s->d = rotate(s->d, 16) ^ s->c;
	s->a = rotate(s->a, 32);
	s->c += s->b;
	s->a += s->d;
	s->b = rotate(s->b, 17) ^ s->c;
	s->d = rotate(s->d, 21) ^ s->a;
	s->c = rotate(s->c, 32);
}

uint32_t map_hash(const void *key, size_t n)
{
	static uint64_t seed[2];
	static int is_seeded;
	if (!is_seeded) {
		digest_random(seed, sizeof seed);
		is_seeded = 1;
	}
	struct state s = {
		seed[0] ^ 0x736f6d6570736575u,
		seed[1] ^ 0x646f72616e646f6du,
		seed[0] ^ 0x6c7967656e657261u,
		seed[1] ^ 0x7465646279746573u,
	};
	const unsigned char *p = key;
	uint64_t last = (uint64_t)n << 56;
	for (; n >= 8; n -= 8, p += 8) {
		uint64_t word; /* the byte order does not matter within one process */
		memcpy(&word, p, 8);
		s.d ^= word;
		sip_round(&s);
		s.a ^= word;
	}
	for (size_t i = 0; i < n; i++)
		last |= (uint64_t)p[i] << (8 * i);
	s.d ^= last;
	sip_round(&s);
	s.a ^= last;
	s.c ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	uint64_t hash = s.a ^ s.b ^ s.c ^ s.d;
	return (uint32_t)(hash ^ hash >> 32);
}
