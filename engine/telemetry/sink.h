// SPDX-License-Identifier: Apache-2.0
/* Where records go besides the store's own readers: a file, an exporter. A sink never costs the store a record and never
 * makes it wait: it reads behind the writer, at its own pace, and what the store had to drop before it was taken is
 * counted as lost for that sink alone.
 *
 *   telemetry_add ─> the store ─┬─> readers (telemetry_each)
 *                               ├─> sink, all taken
 *                               └─> sink that is busy: goes on from where it is with the next record, or a flush
 *
 * A span is handed over when it has ended. A record that is made while a sink is running is dropped (and counted): a sink
 * that tells about itself would never come to an end. Single thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct telemetry;
struct telemetry_record;

enum telemetry_sink_result {
	TELEMETRY_SINK_TAKEN,
	TELEMETRY_SINK_BUSY,   /* not now: the same record comes again */
	TELEMETRY_SINK_FAILED, /* this one is lost, the next one is tried */
};

struct telemetry_sink {
	/* The record is borrowed for the call. Must not block. */
	enum telemetry_sink_result (*write)(void *arg, const struct telemetry_record *record);
	bool (*flush)(
		void *arg); /* passes on what it holds, without blocking; false: some is left. May be NULL */
	void (*free)(void *arg); /* with the store, or by remove. May be NULL */
	void *arg;
};

struct telemetry_sink_counts {
	uint64_t taken, failed, lost; /* lost: dropped by the store before it was taken */
};

/* It gets what the store holds, oldest first, then what comes. */
struct telemetry_sink_handle *telemetry_sink_add(
	struct telemetry *telemetry, const struct telemetry_sink *sink);
void telemetry_sink_remove(struct telemetry *telemetry, struct telemetry_sink_handle *handle);
struct telemetry_sink_counts telemetry_sink_counts(const struct telemetry_sink_handle *handle);
/* Hands over what waits, as far as it goes without blocking; false: some is left somewhere. */
bool telemetry_flush(struct telemetry *telemetry);
