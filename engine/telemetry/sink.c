// SPDX-License-Identifier: Apache-2.0
/* Each sink has a place in the store's list: the next record that it gets. */
#include "engine/telemetry/sink.h"

#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/telemetry/internal.h"

#include <stdlib.h>

struct telemetry_sink_handle {
	struct telemetry_sink_handle *prev, *next;
	struct telemetry_sink sink;
	struct telemetry_entry *at; /* NULL: it has all */
	struct telemetry_sink_counts counts;
};

static void deliver_to(struct telemetry_sink_handle *handle)
{
	while (handle->at != NULL) {
		enum telemetry_sink_result result =
			handle->sink.write(handle->sink.arg, handle->at->record);
		if (result == TELEMETRY_SINK_BUSY)
			return;
		*(result == TELEMETRY_SINK_TAKEN ? &handle->counts.taken
						 : &handle->counts.failed) += 1;
		handle->at = handle->at->next;
	}
}

void telemetry_sinks_deliver(struct telemetry *telemetry)
{
	struct telemetry_sink_handle *handle;
	telemetry->is_delivering = true;
	DL_FOREACH(telemetry->sinks, handle)
		deliver_to(handle);
	telemetry->is_delivering = false;
}

void telemetry_sinks_added(struct telemetry *telemetry, struct telemetry_entry *entry)
{
	struct telemetry_sink_handle *handle;
	DL_FOREACH(telemetry->sinks, handle)
		if (handle->at == NULL)
			handle->at = entry;
}

void telemetry_sinks_dropping(struct telemetry *telemetry, struct telemetry_entry *entry)
{
	struct telemetry_sink_handle *handle;
	DL_FOREACH(telemetry->sinks, handle) {
		if (handle->at != entry)
			continue;
		handle->at = entry->next;
		handle->counts.lost++;
	}
}

struct telemetry_sink_handle *telemetry_sink_add(
	struct telemetry *telemetry, const struct telemetry_sink *sink)
{
	struct telemetry_sink_handle *handle = x_calloc(1, sizeof *handle);
	handle->sink = *sink;
	handle->at = telemetry->entries;
	DL_APPEND(telemetry->sinks, handle);
	telemetry_sinks_deliver(telemetry);
	return handle;
}

void telemetry_sink_remove(struct telemetry *telemetry, struct telemetry_sink_handle *handle)
{
	if (handle == NULL)
		return;
	DL_DELETE(telemetry->sinks, handle);
	if (handle->sink.free != NULL)
		handle->sink.free(handle->sink.arg);
	free(handle);
}

void telemetry_sinks_free(struct telemetry *telemetry)
{
	telemetry->is_delivering = true; /* what they say on their way out is not kept */
	while (telemetry->sinks != NULL)
		telemetry_sink_remove(telemetry, telemetry->sinks);
}

struct telemetry_sink_counts telemetry_sink_counts(const struct telemetry_sink_handle *handle)
{
	return handle->counts;
}

bool telemetry_flush(struct telemetry *telemetry)
{
	struct telemetry_sink_handle *handle;
	bool is_empty = true;
	if (telemetry == NULL)
		return true;
	telemetry_sinks_deliver(telemetry);
	telemetry->is_delivering = true;
	DL_FOREACH(telemetry->sinks, handle) {
		bool is_flushed =
			handle->sink.flush == NULL || handle->sink.flush(handle->sink.arg);
		is_empty = is_empty && is_flushed && handle->at == NULL;
	}
	telemetry->is_delivering = false;
	return is_empty;
}
