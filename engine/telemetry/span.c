// SPDX-License-Identifier: Apache-2.0
/* A ring of spans: open ones are kept until they end, finished ones until the ring is full and they are
 * the oldest. A record owns its strings; the names and attribute keys are copied, so callers may build them.
 *
 *   telemetry_span_start ─> open (in the list) ─> telemetry_span_end ─> finished (same place) ─> dropped, oldest first
 */
#include "engine/telemetry/span.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_ATTRS = 16,
	MAX_VALUE_BYTES = 256, /* values come from names and codes: longer ones are cut */
};

struct telemetry_span {
	struct telemetry *telemetry;
	struct telemetry_span *prev, *next;
	struct telemetry_span_record record;
	struct telemetry_span_attr attrs[MAX_ATTRS];
	char *name;
	int64_t start_mono_ns;
	bool open;
};

struct telemetry {
	struct telemetry_span *spans; /* oldest first */
	size_t count, max;            /* the newest stays, even with max 0 */
	uint64_t revision, dropped, sequence;
	bool paths;
};

static void span_free(struct telemetry_span *span)
{
	for (size_t i = 0; i < span->record.n_attrs; i++) {
		char *key, *value;
		memcpy(&key, &span->attrs[i].key, sizeof key);
		memcpy(&value, &span->attrs[i].value, sizeof value);
		free(key);
		free(value);
	}
	free(span->name);
	free(span);
}

struct telemetry *telemetry_new(size_t max_spans)
{
	struct telemetry *telemetry = x_calloc(1, sizeof *telemetry);
	telemetry->max = max_spans;
	return telemetry;
}

void telemetry_free(struct telemetry *telemetry)
{
	if (telemetry == NULL)
		return;
	struct telemetry_span *span, *after;
	DL_FOREACH_SAFE(telemetry->spans, span, after)
		span_free(span);
	free(telemetry);
}

void telemetry_set_paths(struct telemetry *telemetry, bool on)
{
	if (telemetry != NULL)
		telemetry->paths = on;
}

static void drop_oldest_finished(struct telemetry *telemetry)
{
	struct telemetry_span *span;
	DL_FOREACH(telemetry->spans, span) {
		if (span->open)
			continue;
		DL_DELETE(telemetry->spans, span);
		span_free(span);
		telemetry->count--;
		telemetry->dropped++;
		return;
	}
}

struct telemetry_span *telemetry_span_start(
	struct telemetry *telemetry, const char *name, const struct telemetry_span *parent)
{
	if (telemetry == NULL)
		return NULL;
	if (telemetry->count >= telemetry->max)
		drop_oldest_finished(telemetry);
	struct telemetry_span *span = x_calloc(1, sizeof *span);
	struct telemetry_span_record *record = &span->record;
	span->telemetry = telemetry;
	span->open = true;
	span->name = x_asprintf("sandmux.%s", name);
	span->start_mono_ns = clock_mono_ns();
	record->name = span->name;
	record->sequence = ++telemetry->sequence;
	record->start_wall_ns = clock_wall_ns();
	record->duration_ns = -1;
	record->error_code = "";
	record->attrs = span->attrs;
	digest_random_hex(record->span_id, 16);
	if (parent != NULL) {
		memcpy(record->trace_id, parent->record.trace_id, sizeof record->trace_id);
		memcpy(record->parent_id, parent->record.span_id, sizeof record->parent_id);
	} else {
		digest_random_hex(record->trace_id, 32);
	}
	DL_APPEND(telemetry->spans, span);
	telemetry->count++;
	telemetry->revision++;
	return span;
}

void telemetry_span_set_str(struct telemetry_span *span, const char *key, const char *value)
{
	if (span == NULL || !span->open || span->record.n_attrs == MAX_ATTRS || value == NULL)
		return;
	struct telemetry_span_attr *attr = &span->attrs[span->record.n_attrs++];
	attr->key = x_strdup(key);
	attr->value = x_strndup(value, MAX_VALUE_BYTES);
	span->telemetry->revision++;
}

void telemetry_span_set_int(struct telemetry_span *span, const char *key, int64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%" PRId64, value);
	telemetry_span_set_str(span, key, text);
}

void telemetry_span_set_path(struct telemetry_span *span, const char *key, const char *path)
{
	if (span != NULL && span->telemetry->paths)
		telemetry_span_set_str(span, key, path);
}

void telemetry_span_end(struct telemetry_span *span, const struct err *err)
{
	if (span == NULL || !span->open)
		return;
	if (err != NULL) {
		/* the static name: err_name() may be a passing buffer */
		span->record.failed = true;
		telemetry_span_set_str(span, "sandbox.error.code", err_name(err));
		span->record.error_code = err_code_name(err->code);
	}
	span->record.duration_ns = clock_mono_ns() - span->start_mono_ns;
	span->open = false;
	span->telemetry->revision++;
}

const char *telemetry_span_traceparent(
	const struct telemetry_span *span, char out[SPAN_TRACEPARENT_BYTES])
{
	out[0] = '\0';
	if (span != NULL)
		snprintf(out, SPAN_TRACEPARENT_BYTES, "00-%s-%s-01", span->record.trace_id,
			span->record.span_id);
	return out;
}

void telemetry_each(const struct telemetry *telemetry,
	bool (*fn)(void *arg, const struct telemetry_span_record *record), void *arg)
{
	if (telemetry == NULL || telemetry->spans == NULL)
		return;
	struct telemetry_span *newest =
		telemetry->spans->prev; /* utlist: head->prev is the tail */
	for (struct telemetry_span *span = newest;
		fn(arg, &span->record) && span != telemetry->spans; span = span->prev)
		;
}

uint64_t telemetry_revision(const struct telemetry *telemetry)
{
	return telemetry ? telemetry->revision : 0;
}

uint64_t telemetry_dropped(const struct telemetry *telemetry)
{
	return telemetry ? telemetry->dropped : 0;
}
