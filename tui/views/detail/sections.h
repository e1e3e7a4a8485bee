// SPDX-License-Identifier: Apache-2.0
/* The parts of the detail view that fold. What is not fine opens itself; folded ones stand beside each other. */
#pragma once

#include "tui/draw/input.h"
#include "tui/views/detail/lines.h"

struct views_detail_folds {
	unsigned opened, closed; /* bits of enum views_detail_part, by the person */
	int current;             /* that enter turns; -1: none */
	struct {
		int row, col,
			cols; /* of its heading on the screen, when it was drawn last; cols 0: not there */
	} at[DETAIL_SECTIONS];
};

int views_detail_sections_draw(const struct view_host *host, struct draw_region region, int row,
	const struct views_detail_section sections[DETAIL_SECTIONS],
	struct views_detail_folds *folds);
/* The command `unfold`: "" turns the current one, or the first; a name; all, none; next, previous make another one current. */
bool views_detail_unfold(struct views_detail_folds *folds,
	const struct views_detail_section sections[DETAIL_SECTIONS], const char *args,
	struct err *err);
/* A click on a heading turns it. */
bool views_detail_sections_click(struct views_detail_folds *folds,
	const struct views_detail_section sections[DETAIL_SECTIONS],
	const struct draw_mouse *mouse);
