// SPDX-License-Identifier: Apache-2.0
/* Lines of a log, the oldest of which go when they are more than VIEWS_LOGS_BYTES_MAX. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { VIEWS_LOGS_BYTES_MAX = 16 << 20 };

struct views_logs_line {
	int64_t wall_ns; /* 0: not known */
	uint32_t n;
	bool is_note; /* of ours, not of the container */
	char text[];
};

struct views_logs_lines {
	struct views_logs_line **lines; /* from `first` on */
	size_t first, n, capacity;
	size_t n_bytes, n_dropped;
};

/* Returns how many of the oldest have gone for it. joins: the text goes on the last line. */
size_t views_logs_add(struct views_logs_lines *lines, int64_t wall_ns, struct slice text,
	bool is_note, bool joins);
const struct views_logs_line *views_logs_at(const struct views_logs_lines *lines, size_t index);
void views_logs_clear(struct views_logs_lines *lines);
