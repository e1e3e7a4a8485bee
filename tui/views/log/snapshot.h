// SPDX-License-Identifier: Apache-2.0
/* A picture of the last spans and log lines on one time line, oldest first. */
#pragma once

#include "engine/base/log.h"
#include "engine/engine.h"

struct views_log_snapshot_row {
	int64_t wall_ns; /* of the start */
	bool is_span, has_failed, is_open;
	enum log_level level; /* of a log line */
	int depth;            /* of a span below its parents that are in the picture */
	int64_t duration_ns;  /* -1: open, or a log line */
	char *name; /* of a span; module of a line. Raw foreign text, as the following */
	char *code; /* error code of a span, "" */
	char *text; /* attributes, or the line */
	char id[17], parent[17];
	uint64_t sequence;
};
struct views_log_snapshot {
	struct views_log_snapshot_row *rows;
	size_t n, capacity;
	size_t n_spans, n_failed;
};

/* filter: a text that name, code or text must have (case ignored); "" all. errors_first: the failed and the lines of
 * level error come last, where one looks. Rows are new strings. */
void views_log_snapshot_take(struct views_log_snapshot *rows, const struct telemetry *telemetry,
	const char *filter, bool errors_first);
void views_log_snapshot_clear(struct views_log_snapshot *rows);
bool views_log_snapshot_row_is_bad(const struct views_log_snapshot_row *row);
