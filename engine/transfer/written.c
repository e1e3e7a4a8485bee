// SPDX-License-Identifier: Apache-2.0
/* Which local files this copy has written, by identity. Where names that differ in case, or in the form of an accent, are
 * one name (macOS, vfat), "Makefile" and "makefile" of a sandbox are one file here: the second would replace the first
 * without a word, though nobody meant that by "overwrite". The same goes for a listing that names a file twice.
 *
 * A set of 64-bit numbers, open addressing, at most half full: 16 bytes a file at the least, 32 at most. */
#include "engine/base/mem.h"
#include "engine/transfer/internal.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { FIRST_SLOTS = 64 };

static uint64_t key_of(const struct stat *st)
{
	uint64_t key = (uint64_t)st->st_ino ^ (uint64_t)st->st_dev * 0x9E3779B97F4A7C15u;

	return key ? key : 1; /* 0 is an empty slot */
}

static uint64_t *slot_of(const struct transfer_written *written, uint64_t key)
{
	size_t at = (size_t)(key * 0x9E3779B97F4A7C15u >> 32) & (written->n_slots - 1);

	while (written->slots[at] && written->slots[at] != key)
		at = (at + 1) & (written->n_slots - 1);
	return &written->slots[at];
}

static void grow(struct transfer_written *written)
{
	struct transfer_written larger = { .n_slots = written->n_slots ? written->n_slots * 2
								       : FIRST_SLOTS };

	larger.slots = x_calloc(larger.n_slots, sizeof *larger.slots);
	for (size_t i = 0; i < written->n_slots; i++)
		if (written->slots[i])
			*slot_of(&larger, written->slots[i]) = written->slots[i];
	larger.n = written->n;
	free(written->slots);
	*written = larger;
}

void transfer_written_add(struct transfer_written *written, const struct stat *st)
{
	if (2 * (written->n + 1) > written->n_slots)
		grow(written);
	uint64_t *slot = slot_of(written, key_of(st));
	written->n += *slot == 0;
	*slot = key_of(st);
}

bool transfer_written_has(const struct transfer_written *written, const struct stat *st)
{
	return written->n_slots && *slot_of(written, key_of(st)) != 0;
}
