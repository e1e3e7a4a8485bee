// SPDX-License-Identifier: Apache-2.0
// Places, rows and the picture; the search is at the end.
#include "tui/widgets/pager.h"

#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "tui/widgets/cursor_motion.h"
#include "tui/widgets/wrap.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TAB_COLS = 8, SIDE_COLS = 8, SCROLL_MANY = 1 << 20 };

void widget_pager_deinit(struct widget_pager *pager)
{
	free(pager->needle);
	*pager = (struct widget_pager){ 0 };
}

/* ---- rows */

static struct slice line_of(const struct widget_pager_source *source, size_t index)
{
	return index < source->n ? source->line(source->self, index) : (struct slice){ "", 0 };
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xC0) == 0x80;
}

/* Where the piece of a folded line ends that has that byte: the next one begins there. */
static size_t piece_end(struct slice text, size_t at)
{
	size_t end = (at / WIDGET_PAGER_PIECE_BYTES + 1) * WIDGET_PAGER_PIECE_BYTES;
	if (end >= text.n)
		return text.n;
	for (int i = 0; i < 3 && is_continuation(text.p[end]); i++)
		end--;
	return end > at ? end : at + 1;
}

static size_t piece_begin(struct slice text, size_t at)
{
	size_t begin = at / WIDGET_PAGER_PIECE_BYTES * WIDGET_PAGER_PIECE_BYTES;
	for (int i = 0; i < 3 && begin && begin < text.n && is_continuation(text.p[begin]); i++)
		begin--;
	return begin;
}

/* Where the row after that of a folded line begins; text.n: it was the last. */
static size_t row_after(const struct widget_pager *pager, struct slice text, size_t at)
{
	size_t skip, end = piece_end(text, at);
	const struct slice piece = { text.p + at, end - at };
	size_t next = at + widget_wrap_next(piece, pager->cols, &skip);
	return next + skip > end ? end : next + skip;
}

/* False: it is the last row. */
static bool go_down(const struct widget_pager *pager, const struct widget_pager_source *source,
	struct widget_pager_place *place)
{
	if (pager->is_folded) {
		struct slice text = line_of(source, place->line);
		size_t next = row_after(pager, text, place->at);
		if (next < text.n) {
			place->at = next;
			return true;
		}
	}
	if (place->line + 1 >= source->n)
		return false;
	*place = (struct widget_pager_place){ place->line + 1, 0 };
	return true;
}

/* The last row of the line that begins before `before`. */
static size_t last_row(const struct widget_pager *pager, struct slice text, size_t before)
{
	size_t at = before ? piece_begin(text, before - 1) : 0, next;
	while ((next = row_after(pager, text, at)) < before && next < text.n)
		at = next;
	return at;
}

static bool go_up(const struct widget_pager *pager, const struct widget_pager_source *source,
	struct widget_pager_place *place)
{
	if (place->at) {
		place->at = last_row(pager, line_of(source, place->line), place->at);
		return true;
	}
	if (!place->line)
		return false;
	place->line--;
	if (pager->is_folded) {
		struct slice text = line_of(source, place->line);
		place->at = last_row(pager, text, text.n);
	}
	return true;
}

static bool is_after(struct widget_pager_place a, struct widget_pager_place b)
{
	return a.line != b.line ? a.line > b.line : a.at > b.at;
}

/* The top that shows the last row at the bottom. */
static struct widget_pager_place last_top(
	const struct widget_pager *pager, const struct widget_pager_source *source)
{
	struct widget_pager_place place = { 0 };
	if (!source->n)
		return place;
	place.line = source->n - 1;
	if (pager->is_folded) {
		struct slice text = line_of(source, place.line);
		place.at = last_row(pager, text, text.n);
	}
	for (int i = 1; i < pager->rows && go_up(pager, source, &place); i++)
		;
	return place;
}

/* Rows from the top to the end are as many as the screen has. */
static bool fills(const struct widget_pager *pager, const struct widget_pager_source *source)
{
	struct widget_pager_place place = pager->top;
	if (place.line >= source->n)
		return false;
	for (int i = 1; i < pager->rows; i++)
		if (!go_down(pager, source, &place))
			return false;
	return true;
}

/* Inside of what there is, and a row begins there. */
static void settle(struct widget_pager *pager, const struct widget_pager_source *source)
{
	if (pager->is_following || !fills(pager, source)) {
		pager->top = last_top(pager, source);
	} else if (!pager->is_folded) {
		pager->top.at = 0;
	} else if (pager->top.at) {
		struct slice text = line_of(source, pager->top.line);
		size_t at = pager->top.at < text.n ? pager->top.at + 1 : text.n;
		pager->top.at = last_row(pager, text, at);
	}
}

/* ---- the picture */

static bool is_capital_free(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return false;
	return true;
}

/* The first match that begins at `from` or later; text.n: there is none. */
static size_t find(struct slice text, size_t from, const char *needle, bool any_case)
{
	size_t n = strlen(needle);
	if (!n || text.n < n)
		return text.n;
	for (size_t at = from; at + n <= text.n; at++) {
		if (!any_case) {
			const char *hit = memmem(text.p + at, text.n - at, needle, n);
			return hit ? (size_t)(hit - text.p) : text.n;
		}
		if (strncasecmp(text.p + at, needle, n) == 0)
			return at;
	}
	return text.n;
}

struct painter {
	const struct widget_pager *pager;
	const struct widget_pager_source *source;
	const struct widget_pager_styles *styles;
	struct draw_region region;
	size_t line;
	struct slice text;
	size_t hit, hit_end; /* the next match */
	struct draw_style style;
	size_t style_end;
	bool any_case;
};

static struct draw_style style_at(struct painter *p, size_t at)
{
	if (at >= p->style_end) {
		size_t n = p->text.n - at;
		p->style = p->source->style
				   ? p->source->style(p->source->self, p->line, p->text, at, &n)
				   : p->styles->text;
		p->style_end = at + (n ? n : 1);
	}
	if (p->pager->needle && at >= p->hit_end) {
		p->hit = find(p->text, at, p->pager->needle, p->any_case);
		p->hit_end = p->hit < p->text.n ? p->hit + strlen(p->pager->needle) : SIZE_MAX;
	}
	if (!p->pager->needle || at < p->hit || p->hit_end == SIZE_MAX)
		return p->style;
	const struct widget_pager_place *here = &p->pager->match;
	bool is_here = p->pager->has_match && here->line == p->line && here->at == p->hit;
	return is_here ? p->styles->match_here : p->styles->match;
}

/* The bytes from begin to end, into one row; what is left of `left` is not seen. */
static void paint_row(struct painter *p, int row, size_t begin, size_t end, int left)
{
	int col = -left, cols = p->region.cols;
	size_t at = begin;
	while (at < end && col < cols) {
		char unit[SAFE_UNIT_BYTES];
		size_t n;
		int width;
		struct draw_style style = style_at(p, at);
		if (p->text.p[at] == '\t' && !p->pager->is_folded) {
			width = TAB_COLS - (col + left) % TAB_COLS;
			for (int i = col < 0 ? 0 : col; i < col + width && i < cols; i++)
				draw_region_put(p->region, row, i, style, " ", 1, 1);
			col += width;
			at++;
			continue;
		}
		size_t eaten = safe_text_next_raw(
			(struct slice){ p->text.p + at, end - at }, unit, &n, &width);
		if (!eaten)
			break;
		bool is_itself = n == eaten && memcmp(unit, p->text.p + at, n) == 0;
		if (col >= 0 && is_itself && col + width <= cols)
			draw_region_put(p->region, row, col, style, unit, n, width);
		else if (col >= 0 && !is_itself)
			draw_region_slice(p->region, row, col, cols - col, style,
				(struct slice){ unit, n });
		col += width;
		at += eaten;
	}
	if (at < end && !p->pager->is_folded && cols > 0)
		draw_region_put(p->region, row, cols - 1, p->styles->end, "…", strlen("…"), 1);
}

void widget_pager_draw(struct widget_pager *pager, const struct widget_pager_source *source,
	const struct widget_pager_styles *styles, struct draw_region r)
{
	pager->rows = r.rows;
	pager->cols = r.cols > 0 ? r.cols : 1;
	if (r.rows <= 0 || r.cols <= 0)
		return;
	settle(pager, source);
	struct widget_pager_place place = pager->top;
	struct painter p = { .pager = pager, .source = source, .styles = styles, .region = r };
	p.any_case = pager->needle && is_capital_free(pager->needle);
	for (int row = 0; row < r.rows && place.line < source->n; row++) {
		p.line = place.line;
		p.text = line_of(source, place.line);
		p.hit_end = p.style_end = 0;
		if (pager->is_folded)
			paint_row(&p, row, place.at, row_after(pager, p.text, place.at), 0);
		else
			paint_row(&p, row, 0, p.text.n, pager->left);
		if (!go_down(pager, source, &place))
			break;
	}
}

/* ---- moving */

void widget_pager_scroll(
	struct widget_pager *pager, const struct widget_pager_source *source, int rows)
{
	settle(pager, source);
	pager->is_following = false;
	for (; rows < 0 && go_up(pager, source, &pager->top); rows++)
		;
	for (; rows > 0 && go_down(pager, source, &pager->top); rows--)
		;
	settle(pager, source);
}

static bool move_sideways(struct widget_pager *pager, const char *word)
{
	if (strcmp(word, "right") == 0 && !pager->is_folded)
		pager->left += SIDE_COLS;
	else if (strcmp(word, "left") == 0)
		pager->left -= pager->left < SIDE_COLS ? pager->left : SIDE_COLS;
	else if (strcmp(word, "start") == 0)
		pager->left = 0;
	else
		return strcmp(word, "right") == 0;
	return true;
}

bool widget_pager_move(struct widget_pager *pager, const struct widget_pager_source *source,
	const char *word, struct err *err)
{
	if (move_sideways(pager, word))
		return true;
	/* how many rows there are is not known, and not needed */
	size_t at = SCROLL_MANY;
	if (!widget_cursor_motion(word, pager->rows, 2 * (size_t)SCROLL_MANY, &at, err))
		return false;
	if (strcmp(word, "first") == 0) {
		pager->is_following = false;
		pager->top = (struct widget_pager_place){ 0 };
	} else if (strcmp(word, "last") == 0) {
		pager->top = last_top(pager, source);
	} else {
		widget_pager_scroll(pager, source, (int)at - SCROLL_MANY);
	}
	return true;
}

void widget_pager_fold(struct widget_pager *pager, bool is_folded)
{
	pager->is_folded = is_folded;
	pager->top.at = 0;
	pager->left = 0;
}

void widget_pager_dropped(struct widget_pager *pager, size_t n)
{
	pager->has_match = pager->has_match && pager->match.line >= n;
	pager->match.line -= pager->has_match ? n : 0;
	if (pager->top.line >= n)
		pager->top.line -= n;
	else
		pager->top = (struct widget_pager_place){ 0 };
}

/* ---- the search */

/* From that place on, the place itself included; false: there is none up to the end. */
static bool find_from(const struct widget_pager *pager,
	const struct widget_pager_source *source, struct widget_pager_place from,
	struct widget_pager_place *out)
{
	bool any_case = is_capital_free(pager->needle);
	for (size_t line = from.line; line < source->n; line++) {
		struct slice text = line_of(source, line);
		size_t at =
			find(text, line == from.line ? from.at : 0, pager->needle, any_case);
		if (at < text.n) {
			*out = (struct widget_pager_place){ line, at };
			return true;
		}
	}
	return false;
}

/* How many there are, the number of the one that is gone to, and the one before it. */
static bool count(struct widget_pager *pager, const struct widget_pager_source *source,
	struct widget_pager_place until, struct widget_pager_place *before)
{
	struct widget_pager_place at = { 0 }, found;
	bool has_before = false, has_last = false;
	struct widget_pager_place last = { 0 };
	pager->n_matches = pager->nth_match = 0;
	while (pager->n_matches < WIDGET_PAGER_MATCHES_MAX &&
		find_from(pager, source, at, &found)) {
		pager->n_matches++;
		if (is_after(until, found)) {
			*before = found;
			has_before = true;
		}
		if (!is_after(found, until))
			pager->nth_match = pager->n_matches;
		last = found;
		has_last = true;
		at = (struct widget_pager_place){ found.line,
			found.at + strlen(pager->needle) };
	}
	if (!has_before && has_last)
		*before = last;
	return has_before || has_last;
}

static void show_match(struct widget_pager *pager, const struct widget_pager_source *source)
{
	struct widget_pager_place place = pager->match;
	struct slice text = line_of(source, place.line);
	pager->is_following = false;
	if (pager->is_folded) {
		place.at = last_row(pager, text, place.at + 1);
	} else {
		int before = draw_slice_cols((struct slice){ text.p, place.at });
		int wide = draw_text_cols(pager->needle);
		if (before < pager->left || before + wide > pager->left + pager->cols)
			pager->left =
				before + wide > pager->cols ? before - pager->cols / 2 : 0;
		if (pager->left < 0)
			pager->left = 0;
		place.at = 0;
	}
	/* it stays where it is while the match is in sight */
	struct widget_pager_place at = pager->top;
	for (int i = 0; i < pager->rows; i++) {
		if (at.line == place.line && at.at == place.at)
			return;
		if (!go_down(pager, source, &at))
			break;
	}
	pager->top = place;
	for (int i = 0; i < pager->rows / 3 && go_up(pager, source, &pager->top); i++)
		;
	settle(pager, source);
}

static void go_to(struct widget_pager *pager, const struct widget_pager_source *source,
	struct widget_pager_place place)
{
	struct widget_pager_place before;
	pager->has_match = true;
	pager->match = place;
	count(pager, source, place, &before);
	show_match(pager, source);
}

void widget_pager_search(struct widget_pager *pager, const struct widget_pager_source *source,
	const char *needle)
{
	struct widget_pager_place found;
	free(pager->needle);
	pager->needle = *needle ? x_strdup(needle) : NULL;
	pager->has_match = false;
	pager->n_matches = pager->nth_match = 0;
	if (!pager->needle)
		return;
	struct widget_pager_place from = { pager->top.line, pager->top.at };
	if (find_from(pager, source, from, &found) ||
		find_from(pager, source, (struct widget_pager_place){ 0 }, &found))
		go_to(pager, source, found);
}

bool widget_pager_next(struct widget_pager *pager, const struct widget_pager_source *source,
	bool is_forward, struct err *err)
{
	struct widget_pager_place found, before;
	if (!pager->needle)
		return err_set(err, ERR_ARG_INVALID, "nothing is searched: / begins it");
	struct widget_pager_place from = pager->has_match ? pager->match : pager->top;
	if (!is_forward) {
		if (!count(pager, source, from, &before))
			return err_set(
				err, ERR_ARG_INVALID, "'%s' is not there", pager->needle);
		go_to(pager, source, before);
		return true;
	}
	from.at += pager->has_match ? strlen(pager->needle) : 0;
	if (!find_from(pager, source, from, &found) &&
		!find_from(pager, source, (struct widget_pager_place){ 0 }, &found))
		return err_set(err, ERR_ARG_INVALID, "'%s' is not there", pager->needle);
	go_to(pager, source, found);
	return true;
}

void widget_pager_format_search(const struct widget_pager *pager, struct str *out)
{
	if (!pager->needle)
		return;
	if (!pager->has_match)
		str_add(out, "not found");
	else if (pager->n_matches == WIDGET_PAGER_MATCHES_MAX)
		str_addf(out, "more than %d", WIDGET_PAGER_MATCHES_MAX);
	else
		str_addf(out, "%zu of %zu", pager->nth_match, pager->n_matches);
}
