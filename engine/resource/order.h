// SPDX-License-Identifier: Apache-2.0
/* Items in order, as a sorted array in chunks of some hundred pointers: to insert, to remove and to find the place of an item
 * are a binary search and a move within one chunk; the item of a place is a binary search over the chunks. What stands
 * before a chunk is counted anew from the chunk that changed last on, when somebody asks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct resource_order;

/* Below 0: a stands before b; 0 only for the same item. It must not change between the insertion of an item and its
 * removal. */
typedef int resource_order_compare_fn(const void *arg, const void *a, const void *b);

struct resource_order *resource_order_new(resource_order_compare_fn *compare, const void *arg);
void resource_order_free(struct resource_order *order); /* the items are the owner's */
void resource_order_clear(struct resource_order *order);

size_t resource_order_count(const struct resource_order *order);
void *resource_order_at(struct resource_order *order, size_t position);
/* How many stand before it, whether it is among them or not. */
size_t resource_order_place(struct resource_order *order, const void *item);
void resource_order_insert(struct resource_order *order, void *item);
void resource_order_remove(
	struct resource_order *order, const void *item); /* it is among them */
/* These and no others, in any order; the array is sorted where it is. */
void resource_order_load(struct resource_order *order, void **items, size_t n);
/* Those that fn says true of stay. */
void resource_order_keep(
	struct resource_order *order, bool (*fn)(void *arg, void *item), void *arg);
