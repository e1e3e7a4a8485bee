// SPDX-License-Identifier: Apache-2.0
#include "engine/resource/order.h"

#include "engine/base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512, CHUNK_LOADED = 384, CHUNK_FEW = 128 };

struct resource_chunk {
	size_t n; /* never 0 */
	void *items[CHUNK];
};

struct resource_order {
	resource_order_compare_fn *compare;
	const void *arg;
	size_t n;
	struct resource_chunk **chunks;
	size_t n_chunks, capacity;
	size_t *before; /* as many as chunks; right for the first n_counted */
	size_t n_counted;
	size_t before_capacity;
};

struct resource_place {
	size_t chunk, at;
};

/* ---- where something is */

static void count_chunks(struct resource_order *order)
{
	for (size_t i = order->n_counted; i < order->n_chunks; i++)
		order->before[i] = i ? order->before[i - 1] + order->chunks[i - 1]->n : 0;
	order->n_counted = order->n_chunks;
}

/* The number of items in chunk `at` is another one. */
static void chunk_changed(struct resource_order *order, size_t at)
{
	if (order->n_counted > at + 1)
		order->n_counted = at + 1;
}

/* The first that is not before the item, in the last chunk that could hold it. There is one at least. */
static struct resource_place place_of(const struct resource_order *order, const void *item)
{
	size_t low = 1, high = order->n_chunks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (order->compare(order->arg, order->chunks[middle]->items[0], item) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	struct resource_place place = { low - 1, 0 };
	const struct resource_chunk *chunk = order->chunks[place.chunk];
	high = chunk->n;
	while (place.at < high) {
		size_t middle = place.at + (high - place.at) / 2;
		if (order->compare(order->arg, chunk->items[middle], item) < 0)
			place.at = middle + 1;
		else
			high = middle;
	}
	return place;
}

size_t resource_order_place(struct resource_order *order, const void *item)
{
	if (!order->n_chunks)
		return 0;
	struct resource_place place = place_of(order, item);
	count_chunks(order);
	return order->before[place.chunk] + place.at;
}

void *resource_order_at(struct resource_order *order, size_t position)
{
	assert(position < order->n);
	count_chunks(order);
	size_t low = 1, high = order->n_chunks;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (order->before[middle] <= position)
			low = middle + 1;
		else
			high = middle;
	}
	return order->chunks[low - 1]->items[position - order->before[low - 1]];
}

size_t resource_order_count(const struct resource_order *order)
{
	return order->n;
}

/* ---- chunks */

static struct resource_chunk *add_chunk(struct resource_order *order, size_t at)
{
	array_grow(
		&order->chunks, &order->capacity, order->n_chunks + 1, sizeof *order->chunks);
	array_grow(&order->before, &order->before_capacity, order->n_chunks + 1,
		sizeof *order->before);
	memmove(order->chunks + at + 1, order->chunks + at,
		(order->n_chunks - at) * sizeof *order->chunks);
	order->n_chunks++;
	if (order->n_counted > at)
		order->n_counted = at;
	order->chunks[at] = x_malloc(sizeof **order->chunks);
	order->chunks[at]->n = 0;
	return order->chunks[at];
}

static void drop_chunk(struct resource_order *order, size_t at)
{
	free(order->chunks[at]);
	order->n_chunks--;
	memmove(order->chunks + at, order->chunks + at + 1,
		(order->n_chunks - at) * sizeof *order->chunks);
	if (order->n_counted > at)
		order->n_counted = at;
}

/* In halves, or at its end, where most new ones come that are added in order. */
static struct resource_place split(struct resource_order *order, struct resource_place place)
{
	size_t kept = place.at == CHUNK ? CHUNK - CHUNK_FEW : CHUNK / 2;
	struct resource_chunk *next = add_chunk(order, place.chunk + 1);
	struct resource_chunk *full = order->chunks[place.chunk];
	next->n = full->n - kept;
	memcpy(next->items, full->items + kept, next->n * sizeof *next->items);
	full->n = kept;
	chunk_changed(order, place.chunk);
	return place.at <= kept ? place
				: (struct resource_place){ place.chunk + 1, place.at - kept };
}

/* With the one behind it, where both are small. */
static void join(struct resource_order *order, size_t at)
{
	struct resource_chunk *chunk = order->chunks[at];
	if (at + 1 >= order->n_chunks || chunk->n + order->chunks[at + 1]->n > CHUNK_LOADED)
		return;
	const struct resource_chunk *next = order->chunks[at + 1];
	memcpy(chunk->items + chunk->n, next->items, next->n * sizeof *next->items);
	chunk->n += next->n;
	drop_chunk(order, at + 1);
	chunk_changed(order, at);
}

/* ---- changes */

void resource_order_insert(struct resource_order *order, void *item)
{
	if (!order->n_chunks)
		add_chunk(order, 0);
	struct resource_place place = place_of(order, item);
	if (order->chunks[place.chunk]->n == CHUNK)
		place = split(order, place);
	struct resource_chunk *chunk = order->chunks[place.chunk];
	memmove(chunk->items + place.at + 1, chunk->items + place.at,
		(chunk->n - place.at) * sizeof *chunk->items);
	chunk->items[place.at] = item;
	chunk->n++;
	order->n++;
	chunk_changed(order, place.chunk);
}

void resource_order_remove(struct resource_order *order, const void *item)
{
	assert(order->n_chunks);
	struct resource_place place = place_of(order, item);
	struct resource_chunk *chunk = order->chunks[place.chunk];
	assert(place.at < chunk->n && chunk->items[place.at] == item);
	chunk->n--;
	order->n--;
	memmove(chunk->items + place.at, chunk->items + place.at + 1,
		(chunk->n - place.at) * sizeof *chunk->items);
	chunk_changed(order, place.chunk);
	if (!chunk->n) {
		drop_chunk(order, place.chunk);
	} else if (chunk->n < CHUNK_FEW) {
		join(order, place.chunk);
		if (place.chunk)
			join(order, place.chunk - 1);
	}
}

void resource_order_clear(struct resource_order *order)
{
	for (size_t i = 0; i < order->n_chunks; i++)
		free(order->chunks[i]);
	order->n_chunks = order->n_counted = order->n = 0;
}

static _Thread_local const struct resource_order *sorting; /* qsort has no argument for it */

static int compare_items(const void *a, const void *b)
{
	return sorting->compare(sorting->arg, *(void *const *)a, *(void *const *)b);
}

void resource_order_load(struct resource_order *order, void **items, size_t n)
{
	resource_order_clear(order);
	sorting = order;
	if (n)
		qsort(items, n, sizeof *items, compare_items);
	sorting = NULL;
	for (size_t at = 0; at < n; at += CHUNK_LOADED) {
		struct resource_chunk *chunk = add_chunk(order, order->n_chunks);
		chunk->n = n - at < CHUNK_LOADED ? n - at : CHUNK_LOADED;
		memcpy(chunk->items, items + at, chunk->n * sizeof *items);
	}
	order->n = n;
}

void resource_order_keep(
	struct resource_order *order, bool (*fn)(void *arg, void *item), void *arg)
{
	for (size_t i = order->n_chunks; i-- > 0;) {
		struct resource_chunk *chunk = order->chunks[i];
		size_t kept = 0;
		for (size_t j = 0; j < chunk->n; j++)
			if (fn(arg, chunk->items[j]))
				chunk->items[kept++] = chunk->items[j];
		order->n -= chunk->n - kept;
		chunk->n = kept;
		if (!kept)
			drop_chunk(order, i);
		else
			join(order, i);
	}
	order->n_counted = 0;
}

struct resource_order *resource_order_new(resource_order_compare_fn *compare, const void *arg)
{
	struct resource_order *order = x_calloc(1, sizeof *order);
	order->compare = compare;
	order->arg = arg;
	return order;
}

void resource_order_free(struct resource_order *order)
{
	if (!order)
		return;
	resource_order_clear(order);
	free(order->chunks);
	free(order->before);
	free(order);
}
