// SPDX-License-Identifier: Apache-2.0
/* The lines of the detail view: raw foreign text, made safe as it is drawn. Lists are cut at DETAIL_LINES_MAX. */
#pragma once

#include "engine/engine.h"
#include "tui/view/host.h"

enum { DETAIL_LINES_MAX = 2000, DETAIL_TEXT_BYTES = 16 << 10 };

struct views_detail_line {
	bool is_title;
	bool is_pair; /* drawn as label=text */
	char *label, *text;
	enum draw_theme_role role;
	int64_t when_ms; /* wall clock; 0: none */
};
struct views_detail_lines {
	struct views_detail_line *lines;
	size_t n, capacity;
};

void views_detail_clear(struct views_detail_lines *lines);
void views_detail_title(struct views_detail_lines *lines, const char *title);
void views_detail_add(struct views_detail_lines *lines, const char *label,
	enum draw_theme_role role, const char *text, int64_t when_ms);
void views_detail_addf(struct views_detail_lines *lines, const char *label,
	enum draw_theme_role role, int64_t when_ms, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void views_detail_append(
	struct views_detail_lines *to, const struct views_detail_lines *from); /* copies */

/* Parts of the page that fold, in the order in which they stand. */
enum views_detail_part {
	DETAIL_OBJECTS, /* those that cannot be read */
	DETAIL_CONDITIONS,
	DETAIL_SHELLS,
	DETAIL_CONTAINERS,
	DETAIL_DAEMON,
	DETAIL_EVENTS,
	DETAIL_LABELS,
	DETAIL_ANNOTATIONS,
	DETAIL_SECTIONS,
};
struct views_detail_section {
	struct views_detail_lines lines; /* what is not fine first */
	size_t n;                        /* things that it is about */
	size_t n_bad;                    /* of conditions: lines that stay when it is folded */
	bool is_bad;                     /* opens by itself */
};
/* Conditions, containers, labels and annotations of a row's objects, and which of these cannot be read. */
void views_detail_read_objects(struct views_detail_section sections[DETAIL_SECTIONS],
	const struct fleet_detail *objects);
/* Draws one from row on, folded; rows outside the region are left out. Returns the rows it takes in all. */
int views_detail_line_draw(const struct view_host *host, struct draw_region region, int row,
	const struct views_detail_line *line);
