// SPDX-License-Identifier: Apache-2.0
/* The listing parser. The first byte says how large the pieces are; whole and in pieces must agree. */
#include "engine/runtime/listing.h"

#include "engine/base/err.h"
#include "engine/base/path.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct runtime_listing *parse(const uint8_t *data, size_t size, size_t piece)
{
	struct runtime_listing *listing = runtime_listing_new();
	struct err err;

	for (size_t at = 0; at < size; at += piece) {
		struct slice bytes = { (const char *)data + at,
			size - at < piece ? size - at : piece };
		if (!runtime_listing_feed(listing, bytes, &err))
			goto failed;
	}
	if (runtime_listing_finish(listing, &err))
		return listing;
failed:
	runtime_listing_free(listing);
	return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	size_t piece = (size_t)data[0] + 1;
	struct runtime_listing *whole = parse(data + 1, size - 1, size), *cut;
	size_t n, n_hidden, cut_n, cut_hidden;

	cut = parse(data + 1, size - 1, piece);
	if (!whole != !cut)
		abort();
	if (!whole)
		return 0;
	const struct runtime_entry *entries = runtime_listing_entries(whole, &n, &n_hidden);
	runtime_listing_entries(cut, &cut_n, &cut_hidden);
	if (n != cut_n || n_hidden != cut_hidden)
		abort();
	for (size_t i = 0; i < n; i++)
		if (!path_is_safe_name(entries[i].name, strlen(entries[i].name)) ||
			entries[i].size_bytes < -1 || entries[i].mode < -1 ||
			entries[i].mode > 07777)
			abort();
	runtime_listing_free(whole);
	runtime_listing_free(cut);
	return 0;
}
