// SPDX-License-Identifier: Apache-2.0
// Spans and log lines, merged by time. A child is indented under its parent if that is in the picture too.
#include "tui/views/log/snapshot.h"

#include "engine/base/digest.h"
#include "engine/base/map.h"
#include "engine/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROWS_MAX = 20000, TEXT_BYTES = 8 << 10, DEPTH_MAX = 12 };

void views_log_snapshot_clear(struct views_log_snapshot *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->rows[i].name);
		free(rows->rows[i].code);
		free(rows->rows[i].text);
	}
	free(rows->rows);
	*rows = (struct views_log_snapshot){ 0 };
}

bool views_log_snapshot_row_is_bad(const struct views_log_snapshot_row *row)
{
	return row->is_span ? row->has_failed : row->level == LOG_ERROR;
}

static struct views_log_snapshot_row *add(struct views_log_snapshot *rows)
{
	array_grow(&rows->rows, &rows->capacity, rows->n + 1, sizeof *rows->rows);
	struct views_log_snapshot_row *row = &rows->rows[rows->n++];
	*row = (struct views_log_snapshot_row){ .duration_ns = -1 };
	return row;
}

static void take_span(struct views_log_snapshot *rows, struct views_log_snapshot_row *row,
	const struct telemetry_record *record)
{

	struct str text;
	str_init(&text, TEXT_BYTES);
	for (size_t i = 0; i < record->n_attrs; i++) {
		str_addf(&text, "%s%s=", i ? " " : "", record->attrs[i].key);
		telemetry_attr_add_text(&text, &record->attrs[i]);
	}
	row->is_span = true;
	row->duration_ns = record->duration_ns;
	row->is_open = record->duration_ns < 0;
	row->has_failed = record->status == TELEMETRY_STATUS_ERROR;
	row->name = x_strdup(record->name);
	row->code = x_strdup(record->status_text);
	row->text = str_take(&text);
	digest_hex(record->span_id, sizeof record->span_id, row->id);
	if (telemetry_id_is_set(record->parent_id, sizeof record->parent_id))
		digest_hex(record->parent_id, sizeof record->parent_id, row->parent);
	rows->n_spans++;
	rows->n_failed += row->has_failed;
	str_deinit(&text);
}

static bool on_record(void *arg, const struct telemetry_record *record)
{
	struct views_log_snapshot *rows = arg;
	if (rows->n >= ROWS_MAX)
		return false;
	struct views_log_snapshot_row *row = add(rows);
	row->wall_ns = record->wall_ns;
	row->sequence = record->sequence;
	if (record->kind == TELEMETRY_SPAN) {
		take_span(rows, row, record);
		return true;
	}
	row->level = telemetry_severity_log_level(record->severity);
	row->name = x_strdup(record->kind == TELEMETRY_EVENT ? record->name : record->scope);
	row->code = x_strdup("");
	row->text = x_strndup(record->body.p, record->body.n);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct views_log_snapshot_row *x = a, *y = b;
	if (x->wall_ns != y->wall_ns)
		return x->wall_ns < y->wall_ns ? -1 : 1;
	if (x->is_span != y->is_span)
		return x->is_span ? 1 : -1;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int by_badness(const void *a, const void *b)
{
	int order =
		(int)views_log_snapshot_row_is_bad(a) - (int)views_log_snapshot_row_is_bad(b);
	return order ? order : by_time(a, b);
}

struct known {
	const struct views_log_snapshot_row *row;
	UT_hash_handle hh;
};

static void find_depths(struct views_log_snapshot *rows)
{
	struct known *all = x_calloc(rows->n + 1, sizeof *all), *map = NULL, *found;
	for (size_t i = 0; i < rows->n; i++) {
		all[i].row = &rows->rows[i];
		if (rows->rows[i].is_span)
			HASH_ADD_KEYPTR(
				hh, map, rows->rows[i].id, strlen(rows->rows[i].id), &all[i]);
	}
	for (size_t i = 0; i < rows->n; i++) {
		const char *parent = rows->rows[i].parent;
		/* what foreign ids claim may be a circle: it ends at DEPTH_MAX */
		while (*parent && rows->rows[i].depth < DEPTH_MAX) {
			HASH_FIND(hh, map, parent, strlen(parent), found);
			if (!found)
				break;
			rows->rows[i].depth++;
			parent = found->row->parent;
		}
	}
	HASH_CLEAR(hh, map);
	free(all);
}

static bool has_text(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; *text; text++)
		if (strncasecmp(text, part, n) == 0)
			return true;
	return n == 0;
}

static void keep_fitting(struct views_log_snapshot *rows, const char *filter)
{
	size_t kept = 0;
	for (size_t i = 0; i < rows->n; i++) {
		struct views_log_snapshot_row *row = &rows->rows[i];
		if (has_text(row->name, filter) || has_text(row->code, filter) ||
			has_text(row->text, filter)) {
			rows->rows[kept++] = *row;
			continue;
		}
		free(row->name);
		free(row->code);
		free(row->text);
	}
	rows->n = kept;
}

void views_log_snapshot_take(struct views_log_snapshot *rows, const struct telemetry *telemetry,
	const char *filter, bool errors_first)
{
	views_log_snapshot_clear(rows);
	telemetry_each(telemetry, on_record, rows);
	if (*filter)
		keep_fitting(rows, filter);
	if (rows->n)
		qsort(rows->rows, rows->n, sizeof *rows->rows,
			errors_first ? by_badness : by_time);
	find_depths(rows);
}
