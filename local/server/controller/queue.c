// SPDX-License-Identifier: Apache-2.0
/* The work queue. A key that is due is reconciled once, by the row of its kind, against the state of that moment, however
 * often it was put in. */
#include "local/server/controller/controller.h"

#include "engine/base/clock.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLICE = 64, KEY_BYTES = 560 };

struct controller_item {
	UT_hash_handle hh;
	enum store_kind kind;
	char *ns, *name;
	int64_t due_ms;
	char key[KEY_BYTES];
};

static void run_queue(struct controller *c);

static const struct controller_row *row_of(const struct controller *c, enum store_kind kind)
{
	for (const struct controller_row *row = c->rows; row->name; row++)
		if (row->reconcile && row->kind == kind)
			return row;
	return NULL;
}

static void on_kick(void *arg)
{
	struct controller *c = arg;
	c->is_kicked = false;
	if (c->is_freed)
		free(c);
	else
		run_queue(c);
}

void controller_kick(struct controller *c)
{
	if (c->is_kicked || c->is_stopping)
		return;
	c->is_kicked = true;
	net_loop_defer(c->server->loop, on_kick, c);
}

void controller_enqueue(struct controller *c, enum store_kind kind, const char *ns,
	const char *name, int64_t delay_ms)
{
	struct controller_item *it;
	char key[KEY_BYTES];
	int64_t due = clock_mono_ms() + delay_ms;
	if (!row_of(c, kind))
		return;
	snprintf(key, sizeof key, "%d/%s/%s", (int)kind, ns, name);
	HASH_FIND_STR(c->queue, key, it);
	if (!it) {
		it = x_calloc(1, sizeof *it);
		it->kind = kind;
		it->ns = x_strdup(ns);
		it->name = x_strdup(name);
		it->due_ms = due;
		memcpy(it->key, key, sizeof key);
		HASH_ADD_STR(c->queue, key, it);
	} else if (due < it->due_ms) {
		it->due_ms = due;
	}
	if (delay_ms <= 0)
		controller_kick(c);
	else if (c->next_ms == 0 || due < c->next_ms) {
		c->next_ms = due;
		net_loop_timer_arm(c->timer, delay_ms);
	}
}

static void item_free(struct controller *c, struct controller_item *it)
{
	HASH_DEL(c->queue, it);
	free(it->ns);
	free(it->name);
	free(it);
}

static void run_item(struct controller *c, struct controller_item *it)
{
	struct store_object *o = store_get(c->server->store, it->kind, it->ns, it->name);
	enum store_kind kind = it->kind;
	item_free(c, it);
	if (!o)
		return;
	store_object_ref(o);
	int64_t again = row_of(c, kind)->reconcile(c, o);
	if (again > 0)
		controller_enqueue(c, kind, o->ns, o->name, again);
	store_object_unref(o);
}

/* What the rows have to do that is no key. Whether there is more of it. */
static bool run_background(struct controller *c)
{
	bool is_more = false;
	for (const struct controller_row *row = c->rows; row->name; row++)
		is_more = (row->background && row->background(c)) || is_more;
	return is_more;
}

static void run_queue(struct controller *c)
{
	struct controller_item *it, *next;
	int64_t now = clock_mono_ms(), earliest = 0;
	int done = 0;
	bool is_more = run_background(c);
	HASH_ITER(hh, c->queue, it, next) {
		if (it->due_ms > now)
			continue;
		if (done == SLICE) {
			is_more = true;
			break;
		}
		done++;
		/* reconciling may add items, but never frees another one */
		run_item(c, it);
	}
	if (is_more) {
		controller_kick(c);
		return;
	}
	HASH_ITER(hh, c->queue, it, next) {
		if (earliest == 0 || it->due_ms < earliest)
			earliest = it->due_ms;
	}
	c->next_ms = earliest;
	if (earliest > 0)
		net_loop_timer_arm(c->timer, earliest > now ? earliest - now : 0);
}

static void on_timer(void *arg)
{
	struct controller *c = arg;
	c->next_ms = 0;
	if (!c->is_stopping)
		run_queue(c);
}

void controller_queue_open(struct controller *c, const struct controller_row *rows)
{
	c->rows = rows;
	c->timer = net_loop_timer_new(c->server->loop, on_timer, c);
}

void controller_queue_close(struct controller *c)
{
	struct controller_item *it, *next;
	HASH_ITER(hh, c->queue, it, next) {
		item_free(c, it);
	}
	net_loop_timer_free(c->timer);
	c->is_freed = true;
	if (!c->is_kicked)
		free(c);
}
