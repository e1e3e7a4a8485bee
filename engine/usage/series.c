// SPDX-License-Identifier: Apache-2.0
// The ring holds numbers of four bits and an exponent, memory in KiB: as a byte they go up to 2^33 and are off by a sixteenth
// at most.
#include "engine/usage/series.h"

#include <string.h>

enum { UNKNOWN = 255, STEPS = 8, OCTAVES = 29, KIB = 1024, IDLE_UNIT_S = 8 };

static uint8_t pack(int64_t value)
{
	int octave = 0;
	if (value < STEPS)
		return value > 0 ? (uint8_t)value : 0;
	while (value >> octave >= 2 * STEPS && octave < OCTAVES)
		octave++;
	if (value >> octave >= 2 * STEPS)
		return UNKNOWN - 1;
	return (uint8_t)(STEPS * octave + (value >> octave));
}

/* The middle of what it may have been. */
static int64_t unpack(uint8_t code)
{
	if (code == UNKNOWN)
		return -1;
	int octave = code < 2 * STEPS ? 0 : code / STEPS - 1;
	int64_t low = (int64_t)(code - STEPS * octave) << octave;
	return low + ((int64_t)1 << octave) / 2;
}

static void push(struct usage_series *series, uint8_t cpu, uint8_t memory)
{
	series->cpu[series->next] = cpu;
	series->memory[series->next] = memory;
	series->next = (uint8_t)((series->next + 1) % USAGE_HISTORY);
	if (series->n < USAGE_HISTORY)
		series->n++;
}

static void count_idle(struct usage_series *series, const struct usage_sample *sample)
{
	const struct usage_sample *last = &series->last;
	bool has_written = last->at_s && last->disk_bytes >= 0 && sample->disk_bytes >= 0 &&
			   last->disk_bytes != sample->disk_bytes;
	if (!last->at_s || has_written || sample->cpu_milli >= USAGE_IDLE_MILLI) {
		series->idle_units = 0;
		return;
	}
	uint32_t units = sample->at_s / IDLE_UNIT_S - last->at_s / IDLE_UNIT_S;
	uint32_t sum = series->idle_units + (units < UINT16_MAX ? units : UINT16_MAX);
	series->idle_units = sum < UINT16_MAX ? (uint16_t)sum : UINT16_MAX;
}

int64_t usage_series_idle_s(const struct usage_series *series)
{
	return (int64_t)series->idle_units * IDLE_UNIT_S;
}

bool usage_series_add(
	struct usage_series *series, const struct usage_sample *sample, uint32_t gap_s)
{
	uint32_t last_s = series->last.at_s;
	if (sample->at_s <= last_s || sample->at_s <= series->since_s)
		return false;
	if (last_s && sample->at_s - last_s > gap_s)
		push(series, UNKNOWN, UNKNOWN);
	push(series, pack(sample->cpu_milli), pack(sample->memory_bytes / KIB));
	count_idle(series, sample);
	series->last = *sample;
	return true;
}

void usage_series_restart(struct usage_series *series, uint32_t now_s)
{
	memset(series, 0, sizeof *series);
	series->since_s = now_s;
}

int usage_series_history(
	const struct usage_series *series, enum usage_resource resource, int64_t *out, int max)
{
	if (resource == USAGE_DISK)
		return 0;
	const uint8_t *ring = resource == USAGE_CPU ? series->cpu : series->memory;
	int n = series->n < max ? series->n : max;
	for (int i = 0; i < n; i++) {
		int at = (series->next + USAGE_HISTORY - n + i) % USAGE_HISTORY;
		int64_t value = unpack(ring[at]);
		out[i] = resource == USAGE_MEMORY && value > 0 ? value * KIB : value;
	}
	return n;
}
