// SPDX-License-Identifier: Apache-2.0
// The order against a plain sorted array: whatever is put in, moved, taken out, kept and loaded, both say the same.
#include "tests/unit/unit.h"

#include "engine/base/mem.h"
#include "engine/resource/order.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 6000, STEPS = 60000 };

struct item {
	int key, id;
	bool is_in;
};

static struct item items[ITEMS];

static int compare(const void *arg, const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	(void)arg;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* The naive model. */
static struct item *model[ITEMS];
static size_t n_model;

static size_t model_place(const struct item *item)
{
	size_t at = 0;
	while (at < n_model && compare(NULL, model[at], item) < 0)
		at++;
	return at;
}

static void model_insert(struct item *item)
{
	size_t at = model_place(item);
	memmove(model + at + 1, model + at, (n_model - at) * sizeof *model);
	model[at] = item;
	n_model++;
}

static void model_remove(const struct item *item)
{
	size_t at = model_place(item);
	n_model--;
	memmove(model + at, model + at + 1, (n_model - at) * sizeof *model);
}

static unsigned seed;

static int draw_below(int n)
{
	seed = seed * 1103515245u + 12345u;
	return (int)((seed >> 8) % (unsigned)n);
}

static void expect_equal(struct resource_order *order)
{
	assert_int_equal(resource_order_count(order), n_model);
	for (size_t i = 0; i < n_model; i++) {
		if (resource_order_at(order, i) != model[i])
			fail_msg("position %zu of %zu", i, n_model);
		assert_int_equal(resource_order_place(order, model[i]), i);
	}
}

static void toggle(struct resource_order *order, struct item *item)
{
	if (item->is_in) {
		resource_order_remove(order, item);
		model_remove(item);
	} else {
		resource_order_insert(order, item);
		model_insert(item);
	}
	item->is_in = !item->is_in;
}

static void move(struct resource_order *order, struct item *item, int key)
{
	if (item->is_in) {
		resource_order_remove(order, item);
		model_remove(item);
	}
	item->key = key;
	if (item->is_in) {
		resource_order_insert(order, item);
		model_insert(item);
	}
}

static bool keep_most(void *arg, void *item_)
{
	struct item *item = item_;
	const int *divisor = arg;
	item->is_in = item->id % *divisor != 0;
	return item->is_in;
}

static void keep(struct resource_order *order)
{
	int divisor = 2 + draw_below(5);
	resource_order_keep(order, keep_most, &divisor);
	size_t kept = 0;
	for (size_t i = 0; i < n_model; i++)
		if (model[i]->is_in)
			model[kept++] = model[i];
	n_model = kept;
}

static void load(struct resource_order *order)
{
	void **all = x_calloc(ITEMS, sizeof *all);
	size_t n = 0;
	n_model = 0;
	for (int i = 0; i < ITEMS; i++) {
		items[i].is_in = draw_below(3) != 0;
		if (!items[i].is_in)
			continue;
		all[n++] = &items[i];
		model_insert(&items[i]);
	}
	resource_order_load(order, all, n);
	free(all);
}

static void start(unsigned with)
{
	seed = with;
	n_model = 0;
	for (int i = 0; i < ITEMS; i++)
		items[i] = (struct item){ .key = draw_below(ITEMS / 4), .id = i };
}

static void any_steps_give_what_a_sorted_array_gives(void **state)
{
	(void)state;
	for (unsigned with = 1; with <= 3; with++) {
		struct resource_order *order = resource_order_new(compare, NULL);
		start(with);
		expect_equal(order);
		for (int step = 0; step < STEPS / 3; step++) {
			struct item *item = &items[draw_below(ITEMS)];
			int what = draw_below(10);
			if (what < 5)
				toggle(order, item);
			else
				move(order, item, draw_below(ITEMS / 4));
			/* now and then, between changes: what is counted lazily must not lag */
			if (n_model && step % 3 == 0) {
				size_t at = (size_t)draw_below((int)n_model);
				assert_ptr_equal(resource_order_at(order, at), model[at]);
				item = &items[draw_below(ITEMS)];
				assert_int_equal(
					resource_order_place(order, item), model_place(item));
			}
			if (step % 5000 == 4999)
				keep(order);
			if (step % 7000 == 6999)
				load(order);
			if (step % 2000 == 0)
				expect_equal(order);
		}
		expect_equal(order);
		resource_order_free(order);
	}
	resource_order_free(NULL);
}

/* In order, backwards, and out again from either end: chunks fill, split, empty and join. */
static void rising_and_falling(void **state)
{
	struct resource_order *order = resource_order_new(compare, NULL);
	(void)state;
	start(1);
	for (int i = 0; i < ITEMS; i++)
		move(order, &items[i], i);
	for (int i = 0; i < ITEMS / 2; i++)
		toggle(order, &items[i]);
	expect_equal(order);
	for (int i = ITEMS - 1; i >= ITEMS / 2; i--)
		toggle(order, &items[i]);
	expect_equal(order);
	for (int i = 0; i < ITEMS - 7; i++)
		toggle(order, &items[i]);
	expect_equal(order);
	for (int i = ITEMS - 8; i >= 0; i--)
		toggle(order, &items[i]);
	expect_equal(order);
	resource_order_clear(order);
	assert_int_equal(resource_order_count(order), 0);
	assert_int_equal(resource_order_place(order, &items[0]), 0);
	resource_order_insert(order, &items[3]);
	assert_ptr_equal(resource_order_at(order, 0), &items[3]);
	resource_order_free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_steps_give_what_a_sorted_array_gives),
		cmocka_unit_test(rising_and_falling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
