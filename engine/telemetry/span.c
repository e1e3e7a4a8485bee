// SPDX-License-Identifier: Apache-2.0
/* A span owns its strings until it ends; then the store has a copy. */
#include "engine/telemetry/span.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/telemetry/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_ATTRS = 16,
	MAX_VALUE_BYTES = 256, /* values come from names and codes: longer ones are cut */
};

struct telemetry_span {
	struct telemetry_open open; /* first: its address is the span's */
	struct telemetry *telemetry;
	struct telemetry_attr attrs[MAX_ATTRS];
	char *texts[2 * MAX_ATTRS + 1]; /* what is to be freed */
	size_t n_texts;
	int64_t start_mono_ns;
};

static const char *keep(struct telemetry_span *span, char *text)
{
	return span->texts[span->n_texts++] = text;
}

static void free_open(struct telemetry_open *open)
{
	struct telemetry_span *span = (struct telemetry_span *)open;
	for (size_t i = 0; i < span->n_texts; i++)
		free(span->texts[i]);
	free(span);
}

void telemetry_set_paths(struct telemetry *telemetry, bool on)
{
	if (telemetry != NULL)
		telemetry->with_paths = on;
}

struct telemetry_span *telemetry_span_start(
	struct telemetry *telemetry, const char *name, const struct telemetry_span *parent)
{
	if (telemetry == NULL)
		return NULL;
	struct telemetry_span *span = x_calloc(1, sizeof *span);
	struct telemetry_record *record = &span->open.record;
	span->open.free = free_open;
	span->telemetry = telemetry;
	span->start_mono_ns = clock_mono_ns();
	*record = (struct telemetry_record){
		.kind = TELEMETRY_SPAN,
		.span_kind = TELEMETRY_SPAN_INTERNAL,
		.name = keep(span, x_asprintf("sandmux.%s", name)),
		.scope = "",
		.service = "",
		.status_text = "",
		.body = { "", 0 },
		.wall_ns = clock_wall_ns(),
		.duration_ns = -1,
		.attrs = span->attrs,
	};
	digest_random(record->span_id, sizeof record->span_id);
	if (parent != NULL) {
		const struct telemetry_record *above = &parent->open.record;
		memcpy(record->trace_id, above->trace_id, sizeof record->trace_id);
		memcpy(record->parent_id, above->span_id, sizeof record->parent_id);
	} else {
		digest_random(record->trace_id, sizeof record->trace_id);
	}
	telemetry_open_begin(telemetry, &span->open);
	return span;
}

static struct telemetry_attr *add_attr(struct telemetry_span *span, const char *key)
{
	struct telemetry_record *record = &span->open.record;
	if (record->n_attrs == MAX_ATTRS) {
		record->n_dropped_attrs++;
		return NULL;
	}
	struct telemetry_attr *attr = &span->attrs[record->n_attrs++];
	attr->key = keep(span, x_strdup(key));
	span->telemetry->revision++;
	return attr;
}

void telemetry_span_set_str(struct telemetry_span *span, const char *key, const char *value)
{
	struct telemetry_attr *attr =
		span != NULL && value != NULL ? add_attr(span, key) : NULL;
	if (attr == NULL)
		return;
	attr->type = TELEMETRY_STRING;
	attr->string = slice_of(keep(span, x_strndup(value, MAX_VALUE_BYTES)));
}

void telemetry_span_set_int(struct telemetry_span *span, const char *key, int64_t value)
{
	struct telemetry_attr *attr = span != NULL ? add_attr(span, key) : NULL;
	if (attr == NULL)
		return;
	attr->type = TELEMETRY_INT;
	attr->integer = value;
}

void telemetry_span_set_path(struct telemetry_span *span, const char *key, const char *path)
{
	if (span != NULL && span->telemetry->with_paths)
		telemetry_span_set_str(span, key, path);
}

void telemetry_span_end(struct telemetry_span *span, const struct err *err)
{
	if (span == NULL)
		return;
	struct telemetry_record *record = &span->open.record;
	record->status = TELEMETRY_STATUS_OK;
	if (err != NULL) {
		/* the static name: err_name() may be a passing buffer */
		telemetry_span_set_str(span, "sandbox.error.code", err_name(err));
		record->status = TELEMETRY_STATUS_ERROR;
		record->status_text = err_code_name(err->code);
	}
	record->duration_ns = clock_mono_ns() - span->start_mono_ns;
	telemetry_open_end(span->telemetry, &span->open);
	free_open(&span->open);
}

const char *telemetry_span_traceparent(
	const struct telemetry_span *span, char out[SPAN_TRACEPARENT_BYTES])
{
	char trace[2 * TELEMETRY_TRACE_ID_BYTES + 1], id[2 * TELEMETRY_SPAN_ID_BYTES + 1];
	out[0] = '\0';
	if (span == NULL)
		return out;
	digest_hex(span->open.record.trace_id, TELEMETRY_TRACE_ID_BYTES, trace);
	digest_hex(span->open.record.span_id, TELEMETRY_SPAN_ID_BYTES, id);
	snprintf(out, SPAN_TRACEPARENT_BYTES, "00-%s-%s-01", trace, id);
	return out;
}
