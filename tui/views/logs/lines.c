// SPDX-License-Identifier: Apache-2.0
#include "tui/views/logs/lines.h"

#include "engine/base/mem.h"

#include <stdlib.h>
#include <string.h>

static size_t cost(size_t n)
{
	return sizeof(struct views_logs_line) + n + sizeof(struct views_logs_line *);
}

static size_t drop_oldest(struct views_logs_lines *lines)
{
	size_t n = 0;
	while (lines->n_bytes > VIEWS_LOGS_BYTES_MAX && lines->n > 1) {
		struct views_logs_line *oldest = lines->lines[lines->first++];
		lines->n_bytes -= cost(oldest->n);
		lines->n--;
		free(oldest);
		n++;
	}
	if (lines->first > lines->n + 1024) { /* their places are not needed any more */
		memmove(lines->lines, lines->lines + lines->first,
			lines->n * sizeof *lines->lines);
		lines->first = 0;
	}
	lines->n_dropped += n;
	return n;
}

size_t views_logs_add(struct views_logs_lines *lines, int64_t wall_ns, struct slice text,
	bool is_note, bool joins)
{
	struct views_logs_line *last =
		joins && lines->n ? lines->lines[lines->first + lines->n - 1] : NULL;
	size_t before = last ? last->n : 0;
	if (last && (last->is_note || before + text.n > VIEWS_LOGS_BYTES_MAX / 4))
		last = NULL, before = 0;
	struct views_logs_line *line = x_realloc(last, 1, sizeof *line + before + text.n);
	if (!last)
		*line = (struct views_logs_line){ .wall_ns = wall_ns, .is_note = is_note };
	memcpy(line->text + before, text.p, text.n);
	line->n = (uint32_t)(before + text.n);
	if (last) {
		lines->lines[lines->first + lines->n - 1] = line;
		lines->n_bytes += text.n;
	} else {
		array_grow(&lines->lines, &lines->capacity, lines->first + lines->n + 1,
			sizeof *lines->lines);
		lines->lines[lines->first + lines->n++] = line;
		lines->n_bytes += cost(text.n);
	}
	return drop_oldest(lines);
}

const struct views_logs_line *views_logs_at(const struct views_logs_lines *lines, size_t index)
{
	return lines->lines[lines->first + index];
}

void views_logs_clear(struct views_logs_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->lines[lines->first + i]);
	free(lines->lines);
	*lines = (struct views_logs_lines){ 0 };
}
