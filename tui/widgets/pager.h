// SPDX-License-Identifier: Apache-2.0
/* Lines of foreign text to read: scrolled, folded or moved sideways, searched with the matches marked. Whoever has the lines keeps
 * them; a frame costs what is on the screen, however many lines there are and however long one of them is: a folded line is
 * broken anew every WIDGET_PAGER_PIECE_BYTES.
 * Errors: ERR_ARG_INVALID, those of tui/widgets/cursor_motion.h. */
#pragma once

#include "tui/draw/surface.h"

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { WIDGET_PAGER_PIECE_BYTES = 4096, WIDGET_PAGER_MATCHES_MAX = 9999 };

struct widget_pager_source {
	size_t n;
	/* Raw text of a line without its end; borrowed until the next call. */
	struct slice (*line)(void *self, size_t index);
	/* How its byte `at` looks, and in *n for how many from there on it does. NULL: plain. */
	struct draw_style (*style)(
		void *self, size_t index, struct slice text, size_t at, size_t *n);
	void *self;
};

struct widget_pager_styles {
	struct draw_style text, match, match_here, end;
};

struct widget_pager_place {
	size_t line, at; /* at: the byte that a row begins with; 0 where lines are not folded */
};

/* All zero: at the first line, cut at the right. */
struct widget_pager {
	struct widget_pager_place top;
	bool is_folded;
	bool is_following; /* the last line stays at the bottom */
	int left;          /* columns that are out of sight on the left */
	int rows, cols;    /* of the last draw */
	char *needle;      /* what is searched; NULL: nothing */
	bool has_match;
	struct widget_pager_place match; /* the one that was gone to */
	size_t n_matches, nth_match;     /* how many there are, up to the maximum; its number */
};

void widget_pager_deinit(struct widget_pager *pager);
void widget_pager_draw(struct widget_pager *pager, const struct widget_pager_source *source,
	const struct widget_pager_styles *styles, struct draw_region region);
/* up, down, page-up, page-down, first, last, left, right, start: ERR_ARG_INVALID for another word. */
bool widget_pager_move(struct widget_pager *pager, const struct widget_pager_source *source,
	const char *word, struct err *err);
void widget_pager_scroll(
	struct widget_pager *pager, const struct widget_pager_source *source, int rows);
void widget_pager_fold(struct widget_pager *pager, bool is_folded);
/* "" ends the search. Letters count as either case unless one is a capital. Goes to the first match from the top of the
 * screen on. */
void widget_pager_search(struct widget_pager *pager, const struct widget_pager_source *source,
	const char *needle);
/* The next match or the one before, around the end. False with *err: nothing is searched, or it is not there. */
bool widget_pager_next(struct widget_pager *pager, const struct widget_pager_source *source,
	bool is_forward, struct err *err);
/* "3 of 17", "not found", or nothing while nothing is searched. */
void widget_pager_format_search(const struct widget_pager *pager, struct str *out);
/* The first n lines are no more. */
void widget_pager_dropped(struct widget_pager *pager, size_t n);
