// SPDX-License-Identifier: Apache-2.0
/* What store.c, sink.c and span.c share. */
#pragma once

#include "engine/telemetry/record.h"
#include "engine/telemetry/sink.h"
#include "engine/telemetry/store.h"

#include "engine/base/log.h"

/* A finished record in its place, oldest first. */
struct telemetry_entry {
	struct telemetry_entry *prev, *next;
	struct telemetry_record *record;
	size_t bytes;
};

/* A span that has not ended: readers see it, sinks do not. It belongs to span.c. */
struct telemetry_open {
	struct telemetry_open *prev, *next;
	struct telemetry_record record;
	void (*free)(struct telemetry_open *open);
};

struct telemetry {
	struct telemetry_entry *entries; /* utlist: head->prev is the newest */
	struct telemetry_open *open;     /* in order of their starts */
	size_t n_entries, n_open, max_records;
	size_t bytes, max_bytes;
	uint64_t revision, dropped, sequence;
	struct telemetry_sink_handle *sinks;
	struct log_receiver log;
	bool has_log, is_delivering, with_paths;
};

/* sink.c */
void telemetry_sinks_deliver(struct telemetry *telemetry);
void telemetry_sinks_added(struct telemetry *telemetry, struct telemetry_entry *entry);
void telemetry_sinks_dropping(struct telemetry *telemetry, struct telemetry_entry *entry);
void telemetry_sinks_free(struct telemetry *telemetry);

/* store.c: a span begins (it makes room, gives the sequence) and ends (its record moves among the finished ones; open
 * itself stays with the caller). */
void telemetry_open_begin(struct telemetry *telemetry, struct telemetry_open *open);
void telemetry_open_end(struct telemetry *telemetry, struct telemetry_open *open);
