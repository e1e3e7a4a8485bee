// SPDX-License-Identifier: Apache-2.0
/* The lines of the detail view: raw foreign text, made safe as it is drawn. Lists are cut at DETAIL_LINES_MAX. */
#pragma once

#include "engine/engine.h"
#include "tui/views/host.h"

enum { DETAIL_LINES_MAX = 2000, DETAIL_TEXT_BYTES = 16 << 10 };

struct detail_line {
	bool is_title;
	bool is_pair; /* drawn as label=text */
	char *label, *text;
	enum theme_role role;
	int64_t when_ms; /* wall clock; 0: none */
};
struct detail_lines {
	struct detail_line *lines;
	size_t n, capacity;
};

void detail_clear(struct detail_lines *lines);
void detail_title(struct detail_lines *lines, const char *title);
void detail_add(struct detail_lines *lines, const char *label, enum theme_role role,
	const char *text, int64_t when_ms);
void detail_addf(struct detail_lines *lines, const char *label, enum theme_role role,
	int64_t when_ms, const char *format, ...) __attribute__((format(printf, 5, 6)));
void detail_append(struct detail_lines *to, const struct detail_lines *from); /* copies */
/* Conditions, containers, labels and annotations of a row's objects. */
void detail_add_objects(struct detail_lines *lines, const struct fleet_detail *objects);
/* Draws one from row on, folded; rows outside the region are left out. Returns the rows it takes in all. */
int detail_line_draw(
	const struct host *host, struct region region, int row, const struct detail_line *line);
