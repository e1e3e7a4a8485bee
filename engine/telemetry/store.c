// SPDX-License-Identifier: Apache-2.0
/* Finished records in a list, oldest first, each in one piece of memory; spans that are open beside it.
 *
 *   span starts ─> open ── ends ──┐
 *   telemetry_add, a log line ────┴─> newest … oldest ─> dropped, when there are too many or too many bytes
 */
#include "engine/telemetry/store.h"

#include "engine/base/clock.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"
#include "engine/telemetry/internal.h"

#include <stdlib.h>

enum {
	ENTRY_BYTES = sizeof(struct telemetry_entry) + 4 * sizeof(void *)
}; /* with malloc's own */

struct telemetry *telemetry_new(size_t max_records, size_t max_bytes)
{
	struct telemetry *telemetry = x_calloc(1, sizeof *telemetry);
	telemetry->max_records = max_records;
	telemetry->max_bytes = max_bytes;
	return telemetry;
}

static void take_out(struct telemetry *telemetry, struct telemetry_entry *entry)
{
	DL_DELETE(telemetry->entries, entry);
	telemetry->n_entries--;
	telemetry->bytes -= entry->bytes;
	free(entry->record);
	free(entry);
}

void telemetry_free(struct telemetry *telemetry)
{
	if (telemetry == NULL)
		return;
	if (telemetry->has_log)
		log_remove_receiver(&telemetry->log);
	telemetry_sinks_free(telemetry);
	while (telemetry->entries != NULL)
		take_out(telemetry, telemetry->entries);
	struct telemetry_open *open, *after;
	DL_FOREACH_SAFE(telemetry->open, open, after)
		open->free(open);
	free(telemetry);
}

static bool is_over(const struct telemetry *telemetry, size_t n_coming)
{
	return telemetry->n_entries + telemetry->n_open + n_coming > telemetry->max_records ||
	       telemetry->bytes > telemetry->max_bytes;
}

/* n_coming: about to come, so that even the newest may go. */
static void drop_oldest(struct telemetry *telemetry, size_t n_coming)
{
	while (telemetry->n_entries + n_coming > 1 && telemetry->n_entries != 0 &&
		is_over(telemetry, n_coming)) {
		telemetry_sinks_dropping(telemetry, telemetry->entries);
		take_out(telemetry, telemetry->entries);
		telemetry->dropped++;
	}
}

/* A change that a sink must not make while it runs. */
static bool is_refused(struct telemetry *telemetry)
{
	telemetry->dropped += telemetry->is_delivering;
	return telemetry->is_delivering;
}

static void append(struct telemetry *telemetry, const struct telemetry_record *record)
{
	struct telemetry_entry *entry = x_malloc(sizeof *entry);
	entry->record = telemetry_record_copy(record, &entry->bytes);
	entry->bytes += ENTRY_BYTES;
	DL_APPEND(telemetry->entries, entry);
	telemetry->n_entries++;
	telemetry->bytes += entry->bytes;
	telemetry->revision++;
	telemetry_sinks_added(telemetry, entry);
	telemetry_sinks_deliver(telemetry);
	drop_oldest(telemetry, 0);
}

void telemetry_add(struct telemetry *telemetry, const struct telemetry_record *record)
{
	if (telemetry == NULL || is_refused(telemetry))
		return;
	struct telemetry_record numbered = *record;
	numbered.sequence = ++telemetry->sequence;
	append(telemetry, &numbered);
}

void telemetry_open_begin(struct telemetry *telemetry, struct telemetry_open *open)
{
	if (!telemetry->is_delivering)
		drop_oldest(telemetry, 1);
	open->record.sequence = ++telemetry->sequence;
	DL_APPEND(telemetry->open, open);
	telemetry->n_open++;
	telemetry->revision++;
}

void telemetry_open_end(struct telemetry *telemetry, struct telemetry_open *open)
{
	DL_DELETE(telemetry->open, open);
	telemetry->n_open--;
	if (!is_refused(telemetry))
		append(telemetry, &open->record);
}

static void on_line(void *arg, const struct log_line *line)
{
	const struct telemetry_record record = {
		.kind = TELEMETRY_LOG,
		.wall_ns = line->wall_ns,
		.severity = telemetry_severity_of_log(line->level),
		.scope = line->module,
		.body = line->text,
	};
	telemetry_add(arg, &record);
}

void telemetry_add_log(struct telemetry *telemetry)
{
	telemetry->log = (struct log_receiver){ .fn = on_line, .arg = telemetry };
	telemetry->has_log = true;
	log_add_receiver(&telemetry->log);
}

void telemetry_each(const struct telemetry *telemetry,
	bool (*fn)(void *arg, const struct telemetry_record *record), void *arg)
{
	if (telemetry == NULL)
		return;
	/* utlist: head->prev is the tail */
	const struct telemetry_open *open = telemetry->open ? telemetry->open->prev : NULL;
	for (; open != NULL; open = open == telemetry->open ? NULL : open->prev)
		if (!fn(arg, &open->record))
			return;
	const struct telemetry_entry *entry =
		telemetry->entries ? telemetry->entries->prev : NULL;
	for (; entry != NULL; entry = entry == telemetry->entries ? NULL : entry->prev)
		if (!fn(arg, entry->record))
			return;
}

uint64_t telemetry_revision(const struct telemetry *telemetry)
{
	return telemetry ? telemetry->revision : 0;
}

uint64_t telemetry_dropped(const struct telemetry *telemetry)
{
	return telemetry ? telemetry->dropped : 0;
}

size_t telemetry_bytes(const struct telemetry *telemetry)
{
	return telemetry ? telemetry->bytes : 0;
}
