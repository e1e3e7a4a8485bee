// SPDX-License-Identifier: Apache-2.0
/* Bytes of an API server to rows: the list pages, streaming lists and watches of all six collections, through the
 * reflector's parser into the store.
 *
 * The input is cut at lines that begin with '#': "#c" a watch of claims follows, "#C" a list of claims, "#+c" a
 * streaming list of claims; s pods' Sandboxes, p pods, w warm pools, t templates, e events likewise; "#!x" x is
 * forbidden from now on; "#?" hidden Sandboxes are looked at again. */
#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/fleet/store.h"
#include "engine/kube/reflector_internal.h"
#include "engine/net/loop.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 61, IDLE_MS = 1000 };

struct feed {
	struct fleet_store store;
	struct kube_reflector reflector;
	enum fleet_store_kind kind;
	size_t changes;
	bool is_listing;
};

static void on_change(void *arg)
{
	struct feed *feed = arg;
	feed->changes++;
}

static void on_object(void *arg, enum kube_change change, const cJSON *object)
{
	struct feed *feed = arg;
	fleet_store_apply(&feed->store, feed->kind, change, object);
}

static void on_sync(void *arg, bool begin)
{
	struct feed *feed = arg;
	feed->is_listing = begin;
	fleet_store_sync(&feed->store, feed->kind, begin);
}

static void on_timer(void *arg)
{
	(void)arg;
}

static void check(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "broken: %s\n", what);
	abort();
}

static void on_row(void *arg, const char *uid, const struct fleet_row *row)
{
	size_t *n = arg;
	check(uid == NULL || row == NULL || strcmp(uid, row->uid) == 0, "uid of a change");
	*n += row != NULL;
}

/* What must hold whatever came. */
static void check_store(struct feed *feed)
{
	struct fleet_store *store = &feed->store;
	size_t in_states = 0, told = 0;
	fleet_store_pack(store);
	for (size_t i = 0; i < FLEET_STATE_COUNT; i++)
		in_states += store->by_state[i];
	check(in_states == store->n_rows, "counters");
	for (size_t i = 0; i < store->n_rows; i++) {
		const struct fleet_store_row *row = store->rows[i];
		check(row->position == i, "position");
		check(row->claim != NULL || row->sandbox != NULL, "a row of nothing");
		check(row->claim == NULL || row->claim->row == row, "claim's row");
		check(row->sandbox == NULL || row->sandbox->row == row, "Sandbox's row");
		check(fleet_store_find(store, row->shown.uid) == row, "find");
		check(strlen(row->shown.why) <= 1024, "sentence");
		check(strlen(row->shown.next) <= 512, "next step");
	}
	fleet_store_changes(store, 0, on_row, &told);
	check(store->forgotten > 0 || told == store->n_rows, "changes");
	check(store->n_events <= STORE_MAX_EVENTS, "events");
}

static bool kind_of(char letter, enum fleet_store_kind *kind)
{
	static const char letters[] = "cspwte";
	const char *at = letter ? strchr(letters, tolower((unsigned char)letter)) : NULL;
	if (at == NULL)
		return false;
	*kind = (enum fleet_store_kind)(at - letters);
	return true;
}

static void feed_bytes(struct feed *feed, const char *p, size_t n)
{
	struct err err = { 0 };
	bool ok = true;
	for (size_t i = 0; ok && i < n; i += CHUNK)
		ok = kube_reflector_feed(&feed->reflector,
			(struct slice){ p + i, n - i < CHUNK ? n - i : CHUNK }, &err);
	check(ok || err.code != ERR_NONE, "a failure without an error");
	if (ok)
		json_split_finish(feed->reflector.split, &err);
}

/* A streaming list is complete, and then a watch, exactly from its end bookmark on. */
static void check_streamed(const struct feed *feed)
{
	bool is_complete = feed->reflector.phase == REFLECTOR_WATCH;
	check(feed->is_listing == !is_complete, "the end of a list");
	check((feed->reflector.revision.n > 0) == is_complete, "a revision to go on from");
}

static void play_body(
	struct feed *feed, enum kube_reflector_phase phase, const char *p, size_t n)
{
	feed->reflector.phase = phase;
	feed->reflector.split = kube_reflector_split_new(&feed->reflector, phase);
	str_clear(&feed->reflector.revision);
	if (phase != REFLECTOR_WATCH)
		on_sync(feed, true);
	feed_bytes(feed, p, n);
	if (phase == REFLECTOR_PAGE)
		on_sync(feed, false);
	if (phase == REFLECTOR_INITIAL)
		check_streamed(feed);
	json_split_free(feed->reflector.split);
	feed->reflector.split = NULL;
}

static void play(struct feed *feed, const char *p, size_t n)
{
	enum fleet_store_kind kind;
	if (n >= 2 && p[1] == '?') {
		fleet_store_show_hidden(&feed->store);
		return;
	}
	if (n >= 3 && p[1] == '!' && kind_of(p[2], &kind)) {
		fleet_store_set_forbidden(
			&feed->store, kind, islower((unsigned char)p[2]) != 0);
		return;
	}
	bool is_streamed = n >= 3 && p[1] == '+';
	if (n < 2 || !kind_of(p[is_streamed ? 2 : 1], &feed->kind))
		return;
	const char *line = memchr(p, '\n', n);
	if (line == NULL)
		return;
	enum kube_reflector_phase phase = is_streamed                    ? REFLECTOR_INITIAL
					  : isupper((unsigned char)p[1]) ? REFLECTOR_PAGE
									 : REFLECTOR_WATCH;
	play_body(feed, phase, line + 1, n - (size_t)(line + 1 - p));
}

static const struct kube_reflector_events events = { .initial_ended =
							     kube_reflector_initial_ended };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct net_loop *loop; /* one for all inputs: nothing is left in it */
	struct feed *feed = x_calloc(1, sizeof *feed);
	if (loop == NULL)
		loop = net_loop_new(NULL);
	const char *p = (const char *)data, *end = p + size;
	clock_set_for_tests(1000000000, (int64_t)1767225600 * 1000000000);
	fleet_store_init(&feed->store, on_change, feed);
	feed->reflector.idle = net_loop_timer_new(loop, on_timer, feed);
	feed->reflector.events = &events;
	feed->reflector.opts.read_idle_ms = IDLE_MS;
	feed->reflector.opts.on_object = on_object;
	feed->reflector.opts.on_sync = on_sync;
	feed->reflector.opts.arg = feed;
	str_init(&feed->reflector.revision, 256);
	str_init(&feed->reflector.list_revision, 256);
	str_init(&feed->reflector.token, 8192);
	str_init(&feed->reflector.scratch, JSON_MAX_BYTES);
	while (p < end) {
		const char *next = p + 1;
		while (next < end && !(next[0] == '#' && next[-1] == '\n'))
			next++;
		if (*p == '#')
			play(feed, p, (size_t)(next - p));
		check_store(feed);
		p = next;
	}
	fleet_store_deinit(&feed->store);
	net_loop_timer_free(feed->reflector.idle);
	str_deinit(&feed->reflector.revision);
	str_deinit(&feed->reflector.list_revision);
	str_deinit(&feed->reflector.token);
	str_deinit(&feed->reflector.scratch);
	free(feed);
	return 0;
}
