// SPDX-License-Identifier: Apache-2.0
#include "local/server/store/samples.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>

struct store_samples_entry {
	UT_hash_handle hh;
	char uid[64];
	struct store_sample sample;
};

static struct store_samples_entry *find(const struct store_samples *samples, const char *uid)
{
	struct store_samples_entry *e;
	HASH_FIND_STR(samples->by_uid, uid, e);
	return e;
}

void store_samples_put(
	struct store_samples *samples, const char *uid, const struct store_sample *sample)
{
	struct store_samples_entry *e = find(samples, uid);
	if (!e) {
		e = x_calloc(1, sizeof *e);
		snprintf(e->uid, sizeof e->uid, "%s", uid);
		HASH_ADD_STR(samples->by_uid, uid, e);
	}
	e->sample = *sample;
}

const struct store_sample *store_samples_get(
	const struct store_samples *samples, const char *uid)
{
	const struct store_samples_entry *e = find(samples, uid);
	return e ? &e->sample : NULL;
}

void store_samples_drop(struct store_samples *samples, const char *uid)
{
	struct store_samples_entry *e = find(samples, uid);
	if (!e)
		return;
	HASH_DEL(samples->by_uid, e);
	free(e);
}

void store_samples_deinit(struct store_samples *samples)
{
	struct store_samples_entry *e, *next;
	HASH_ITER(hh, samples->by_uid, e, next) {
		HASH_DEL(samples->by_uid, e);
		free(e);
	}
}
