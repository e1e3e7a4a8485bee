// SPDX-License-Identifier: Apache-2.0
/* The one store of records: spans of our own operations, our own log, and what others send. Bounded in bytes and in
 * number; the oldest finished one goes first, and is counted. Open spans stay, however many: each is an operation in
 * flight. Single thread. */
#pragma once

#include "engine/telemetry/record.h"

struct telemetry;

/* The newest record always stays, whatever the limits. */
struct telemetry *telemetry_new(size_t max_records, size_t max_bytes);
/* Open spans go too: their pointers are dead. */
void telemetry_free(struct telemetry *telemetry);
/* Copies it. NULL telemetry is fine. */
void telemetry_add(struct telemetry *telemetry, const struct telemetry_record *record);
/* Our own log (engine/base/log.h) becomes a source until the store is freed: each line one record. */
void telemetry_add_log(struct telemetry *telemetry);

/* Open spans first, then finished records, each newest first; fn returns false to stop. Records are borrowed for the call,
 * in which none may be made. */
void telemetry_each(const struct telemetry *telemetry,
	bool (*fn)(void *arg, const struct telemetry_record *record), void *arg);
uint64_t telemetry_revision(const struct telemetry *telemetry); /* rises with every change */
uint64_t telemetry_dropped(const struct telemetry *telemetry);
size_t telemetry_bytes(const struct telemetry *telemetry); /* of the finished ones */
