// SPDX-License-Identifier: Apache-2.0
// What one change costs in the order of a list, by the number of rows: a change that moves a row (the order is by state),
// one that moves none (by name), and the position of a row. Prints JSON lines with the ratio to the smallest list; no figure
// passes or fails.
#include "engine/base/mem.h"
#include "engine/fleet/kind.h"
#include "engine/resource/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHANGES = 20000, SIZES = 3 };

static struct fleet_row *rows;
static char (*names)[24];

static const void *row_of(void *arg, const char *uid)
{
	(void)arg;
	return &rows[strtol(uid, NULL, 10)];
}

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void make(int i, int n)
{
	struct fleet_row *row = &rows[i];
	snprintf(row->uid, sizeof row->uid, "%d", i);
	snprintf(names[i], sizeof names[i], "box-%07d", (int)((int64_t)i * 7919 % n));
	row->claim = names[i];
	row->namespace_ = "default";
	row->sandbox = row->pod = row->pool = row->template_ = row->node = row->why = "";
	row->pod_ip = row->service_fqdn = row->created_by = row->runtime_class = "";
	row->next = row->labels = "";
	row->state = i % 3 ? FLEET_READY : FLEET_PENDING;
}

struct cost {
	double move, stay, find;
};

static double change_all(struct resource_collection *collection, int n)
{
	double began = now_ns();
	for (int i = 0; i < CHANGES; i++) {
		struct fleet_row *row = &rows[(int64_t)i * 104729 % n];
		row->state = row->state == FLEET_READY ? FLEET_PENDING : FLEET_READY;
		resource_collection_update(collection, row->uid, row);
	}
	return (now_ns() - began) / CHANGES;
}

static struct cost measure(int n)
{
	struct cost cost;
	rows = x_calloc((size_t)n, sizeof *rows);
	names = x_calloc((size_t)n, sizeof *names);
	struct resource_collection *collection =
		resource_collection_new(&fleet_sandbox_kind, row_of, NULL);
	resource_collection_begin(collection);
	for (int i = 0; i < n; i++) {
		make(i, n);
		resource_collection_update(collection, rows[i].uid, &rows[i]);
	}
	resource_collection_end(collection);
	cost.stay = change_all(collection, n);
	resource_collection_sort(
		collection, resource_find_column(&fleet_sandbox_kind, "state"), false);
	cost.move = change_all(collection, n);
	double began = now_ns();
	size_t sum = 0;
	for (int i = 0; i < CHANGES; i++)
		sum += resource_collection_find(
			collection, rows[(int64_t)i * 15485863 % n].uid);
	cost.find = (now_ns() - began) / CHANGES;
	if (sum == 0)
		abort();
	resource_collection_free(collection);
	free(rows);
	free(names);
	return cost;
}

static void say(const char *what, const int *sizes, const double *ns)
{
	for (int i = 0; i < SIZES; i++)
		printf("{\"bench\": \"order\", \"what\": \"%s\", \"rows\": %d, \"ns\": %.0f, \"ratio\": %.1f}\n",
			what, sizes[i], ns[i], ns[i] / ns[0]);
}

int main(void)
{
	static const int sizes[SIZES] = { 1000, 10000, 100000 };
	double move[SIZES], stay[SIZES], find[SIZES];
	for (int i = 0; i < SIZES; i++) {
		struct cost cost = measure(sizes[i]);
		move[i] = cost.move;
		stay[i] = cost.stay;
		find[i] = cost.find;
	}
	say("moves", sizes, move);
	say("stays", sizes, stay);
	say("position", sizes, find);
	return 0;
}
