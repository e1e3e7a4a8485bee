// SPDX-License-Identifier: Apache-2.0
#include "tui/views/detail/frames.h"

#include "engine/base/clock.h"
#include "engine/base/str.h"
#include "tui/draw/border.h"
#include "tui/widgets/wrap.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	BOXES_FROM_COLS = 78, /* narrower: one under the other, without frames */
	KEYS_FROM_COLS = 100,
	BOX_ROWS_MAX = 64,
	SENTENCE_COL = 3,
	STORY_GAP = 4,
	STORY_TEXT_BYTES = FLEET_STORY_TEXT_BYTES + 64,
};

/* As of earlier: dim, whatever it says. */
static struct draw_style style_of(const struct view_host *host, enum draw_theme_role role)
{
	struct draw_style style = host_style(host, role);
	if (!view_host_is_stale(host))
		return style;
	style.fg = host_style(host, ROLE_DIM).fg;
	style.attrs |= DRAW_DIM;
	return style;
}

static const char *clock_text(int64_t wall_ms, char out[32])
{
	time_t seconds = (time_t)(wall_ms / 1000), now = (time_t)(clock_wall_ms() / 1000);
	struct tm tm, today;
	if (!localtime_r(&seconds, &tm) || !localtime_r(&now, &today))
		return "";
	bool is_today = tm.tm_yday == today.tm_yday && tm.tm_year == today.tm_year;
	strftime(out, 32, is_today ? "%H:%M:%S" : "%Y-%m-%d %H:%M", &tm);
	return out;
}

/* ---- the title */

/* Since when it is as it is: the last thing that made it so, else the evidence for why it is not well. 0: not known. */
static int64_t state_since(const struct views_detail_head *head)
{
	static const unsigned makers[FLEET_STATE_COUNT] = {
		[FLEET_READY] = 1u << FLEET_STORY_READY | 1u << FLEET_STORY_RESUMED,
		[FLEET_SUSPENDED] = 1u << FLEET_STORY_SUSPENDED,
		[FLEET_EXPIRED] = 1u << FLEET_STORY_EXPIRED,
		[FLEET_FAILED] = 1u << FLEET_STORY_ENDED,
		[FLEET_FINISHED] = 1u << FLEET_STORY_ENDED,
		[FLEET_TERMINATING] = 1u << FLEET_STORY_DELETED,
		[FLEET_DELETED] = 1u << FLEET_STORY_DELETED,
	};
	for (size_t i = head->n_story; i-- > 0;)
		if (makers[head->row->state] & 1u << head->story[i].kind)
			return head->story[i].wall_ms;
	return head->row->why_since_ms;
}

int views_detail_title_draw(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head)
{
	static const char keys[] = "[s]hell [f]iles [e] lifetime [p] suspend [r]esume [y]aml";
	char at[32], age[CLOCK_AGE_BYTES];
	if (row < 0 || row >= r.rows)
		return 1;
	struct draw_style dim = host_style(host, ROLE_DIM);
	if (!head->row) {
		draw_region_text(
			r, row, 1, r.cols - 1, style_of(host, ROLE_HEADER), head->name);
		return 1;
	}
	struct draw_style state = style_of(host, view_host_state_role(head->row->state));
	int64_t since = state_since(head);
	int col = 1 + draw_region_text(r, row, 1, r.cols - 1, state,
			      fleet_state_glyph(head->row->state));
	col += 1 + draw_region_text(r, row, col + 1, r.cols - col - 1,
			   style_of(host, ROLE_HEADER), head->name);
	col += 2;
	col += draw_region_text(
		r, row, col, r.cols - col, state, fleet_state_name(head->row->state));
	if (since) {
		int64_t ago = clock_wall_ms() - since;
		col += draw_region_textf(r, row, col, r.cols - col, dim, " since %s (%s)",
			clock_text(since, at), clock_format_age(ago > 0 ? ago : 0, age));
	}
	if (head->row->state != FLEET_DELETED && r.cols >= KEYS_FROM_COLS &&
		col + 2 + (int)strlen(keys) <= r.cols)
		draw_region_text_right(r, row, 0, r.cols - 1, dim, keys);
	return 1;
}

int views_detail_why_draw(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head)
{
	int rows = 0;
	char age[CLOCK_AGE_BYTES];
	if (!head->row)
		return widget_wrap_draw(r, row, SENTENCE_COL, style_of(host, ROLE_GONE),
			slice_of("It is gone. What follows is the last that was known."));
	if (*head->row->why) {
		struct str text;
		int64_t ago = clock_wall_ms() - head->row->why_since_ms;
		str_init(&text, 4096);
		str_add(&text, head->row->why);
		if (head->row->why_since_ms)
			str_addf(&text, " · %s", clock_format_age(ago > 0 ? ago : 0, age));
		enum draw_theme_role role =
			view_tone_role(fleet_state_tone(head->row->state)) == ROLE_ERROR
				? ROLE_ERROR
			: head->row->state == FLEET_DELETED ? ROLE_GONE
							    : ROLE_WARNING;
		rows += widget_wrap_draw(r, row, SENTENCE_COL, style_of(host, role),
			(struct slice){ text.p, text.n });
		str_deinit(&text);
	}
	if (*head->row->next) {
		if (row + rows >= 0 && row + rows < r.rows)
			draw_region_text(r, row + rows, 1, 1, style_of(host, ROLE_ACCENT), "→");
		rows += widget_wrap_draw(r, row + rows, SENTENCE_COL,
			style_of(host, ROLE_ACCENT), slice_of(head->row->next));
	}
	return rows;
}

/* ---- boxes */

static int label_cols(const struct views_detail_lines *lines, int cols)
{
	int most = 0;
	for (size_t i = 0; i < lines->n; i++) {
		int is = draw_text_cols(lines->lines[i].label);
		most = is > most ? is : most;
	}
	return most + 2 < cols / 2 ? most + 2 : cols / 2;
}

/* Lines under each other, their texts in one column. Returns the rows. */
static int draw_lines(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_lines *lines)
{
	int labels = label_cols(lines, r.cols), rows = 0;
	for (size_t i = 0; i < lines->n; i++) {
		const struct views_detail_line *line = &lines->lines[i];
		if (row + rows >= 0 && row + rows < r.rows)
			draw_region_text(r, row + rows, 0, labels - 1,
				host_style(host, ROLE_DIM), line->label);
		rows += widget_wrap_draw(r, row + rows, labels, style_of(host, line->role),
			slice_of(line->text));
	}
	return rows;
}

static int draw_entry(const struct view_host *host, struct draw_region r, int row, int col,
	const struct fleet_story_entry *entry)
{
	char at[32];
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct draw_style tone = style_of(host, view_tone_role(fleet_story_tone(entry->kind)));
	bool is_in = row >= 0 && row < r.rows;
	clock_text(entry->wall_ms, at);
	int text_col = col + (int)strlen(at) + 3;
	if (is_in) {
		draw_region_text(r, row, col, r.cols - col, dim, at);
		draw_region_text(r, row, text_col - 2, 1, tone, fleet_story_glyph(entry->kind));
	}
	return widget_wrap_draw(
		r, row, text_col, style_of(host, ROLE_TEXT), slice_of(entry->text));
}

/* Beside each other as far as they fit, oldest first; on a narrow screen one a row. */
static int draw_story(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head)
{
	int col = 0, rows = 0;
	char at[32];
	bool flows = r.cols >= BOXES_FROM_COLS - 4;
	for (size_t i = 0; i < head->n_story; i++) {
		const struct fleet_story_entry *entry = &head->story[i];
		int cols = (int)strlen(clock_text(entry->wall_ms, at)) + 3 +
			   draw_text_cols(entry->text);
		if (col > 0 && (!flows || col + cols > r.cols)) {
			rows++;
			col = 0;
		}
		int took = draw_entry(host, r, row + rows, col, entry);
		if (took > 1) {
			rows += took;
			col = 0;
		} else {
			col += cols + STORY_GAP;
		}
	}
	return col > 0 ? rows + 1 : rows;
}

static int draw_plain(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head, const struct views_detail_lines *use,
	const struct views_detail_lines *identity)
{
	struct draw_region inside = draw_region_sub(r, 1, 0, r.cols - 1, r.rows);
	int rows = draw_lines(host, inside, row, use);
	rows += draw_lines(host, inside, row + rows, identity);
	if (head->n_story && row + rows >= 0 && row + rows < r.rows)
		draw_region_text(inside, row + rows, 0, inside.cols,
			host_style(host, ROLE_HEADER), "Story");
	if (head->n_story)
		rows += 1 + draw_story(host, inside, row + rows + 1, head);
	return rows;
}

static int rows_of(
	const struct view_host *host, int cols, const struct views_detail_lines *lines)
{
	struct draw_region nowhere = { .cols = cols };
	return draw_lines(host, nowhere, 0, lines);
}

static struct draw_region box(const struct view_host *host, struct draw_region r, int col,
	int row, int cols, int rows, const char *title)
{
	struct draw_region inside = draw_border_box(draw_region_sub(r, col, row, cols, rows),
		host_style(host, ROLE_BORDER), host_style(host, ROLE_HEADER), title);
	return draw_region_sub(inside, 1, 0, inside.cols - 2, inside.rows);
}

/* Boxes are drawn aside and copied: what is scrolled out has no place on the screen. */
static int draw_boxes(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head, const struct views_detail_lines *use,
	const struct views_detail_lines *identity)
{
	int left = use->n ? r.cols / 2 : 0, right = r.cols - left;
	int upper = rows_of(host, right - 4, identity);
	int used = left ? rows_of(host, left - 4, use) : 0;
	struct draw_region nowhere = { .cols = r.cols - 4 };
	int lower = head->n_story ? draw_story(host, nowhere, 0, head) : 0;
	upper = (upper > used ? upper : used) + 2;
	upper = upper < BOX_ROWS_MAX ? upper : BOX_ROWS_MAX;
	lower = lower ? (lower < BOX_ROWS_MAX ? lower : BOX_ROWS_MAX) + 2 : 0;
	struct draw_surface *aside = draw_surface_new(r.cols, upper + lower);
	struct draw_region whole = draw_region_whole(aside);
	draw_region_fill(whole, host_style(host, ROLE_TEXT));
	if (left)
		draw_lines(host, box(host, whole, 0, 0, left, upper, "Use"), 0, use);
	draw_lines(host, box(host, whole, left, 0, right, upper, "Identity"), 0, identity);
	if (lower)
		draw_story(host, box(host, whole, 0, upper, r.cols, lower, "Story"), 0, head);
	draw_region_copy(r, row, 0, aside);
	draw_surface_free(aside);
	return upper + lower;
}

int views_detail_boxes_draw(const struct view_host *host, struct draw_region r, int row,
	const struct views_detail_head *head)
{
	struct views_detail_lines use = { 0 }, identity = { 0 };
	int rows = 0;
	if (head->row) {
		views_detail_add_use(
			&use, head->row, r.cols < BOXES_FROM_COLS ? r.cols : r.cols / 2 - 4);
		views_detail_add_identity(&identity, engine_fleet(host->engine), head->row);
	}
	if (r.cols < BOXES_FROM_COLS)
		rows = draw_plain(host, r, row, head, &use, &identity);
	else if (identity.n || head->n_story)
		rows = draw_boxes(host, r, row, head, &use, &identity);
	views_detail_clear(&use);
	views_detail_clear(&identity);
	return rows;
}
