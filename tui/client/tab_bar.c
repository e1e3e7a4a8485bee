// SPDX-License-Identifier: Apache-2.0
// The tab bar: the names of the tabs that fit around the current one, how many do not on either side, and where we are.
//
//    sandmux ‹3♪ │ 4 box │ 5 web-1 ● │ ›2                                 context · namespace
//
// A number is shown where it can be pressed (1 … 9). Marks tell what happened where nobody looked: ♪ a bell, ● output;
// those of tabs that do not fit stand at their counter.
#include "tui/client/internal.h"

#include "engine/base/safe_text.h"

#include <stdlib.h>
#include <string.h>

enum { TITLE_COLS_MAX = 26, NUMBERS_MAX = 9, COUNTER_COLS = 5, TAB_COLS_MIN = 6 };

static size_t n_tabs(const struct client *client)
{
	return workspace_n_tabs(client->workspace);
}

static size_t current(const struct client *client)
{
	return workspace_current(client->workspace);
}

/* Output of the current tab is being looked at; a bell of one of its panes is not, until that has the focus. */
static unsigned marks_of(const struct client *client, size_t index)
{
	unsigned marks = workspace_tab_marks(client->workspace, index);
	return index == current(client) ? marks & ~(unsigned)VIEW_OUTPUT : marks;
}

static const char *mark_text(unsigned marks)
{
	return marks & VIEW_BELL ? "♪" : marks & VIEW_OUTPUT ? "●" : "";
}

static void add_cut(struct str *out, struct slice text, int room)
{
	bool is_whole = safe_text_cols(text) <= room;
	while (text.n > 0) {
		int cols;
		size_t n = safe_text_next(text, &cols);
		room -= cols;
		if (!is_whole && room < 1) {
			str_add(out, "…");
			return;
		}
		str_add_bytes(out, text.p, n);
		text = (struct slice){ text.p + n, text.n - n };
	}
}

/* A pane's name and what its program calls itself: neither takes the room of the other. */
static void add_title(struct str *out, const char *title, int room)
{
	static const char seam[] = " · ";
	const char *at = strstr(title, seam);
	if (at == NULL || draw_text_cols(title) <= room) {
		str_add(out, title);
		return;
	}
	struct slice name = { title, (size_t)(at - title) }, told = slice_of(at + strlen(seam));
	int both = room - draw_text_cols(seam), half = both / 2;
	int of_name = safe_text_cols(name), of_told = safe_text_cols(told);
	int for_name = of_name <= half ? of_name : of_told <= half ? both - of_told : half;
	add_cut(out, name, for_name);
	str_add(out, seam);
	add_cut(out, told, both - for_name);
}

static void label_of(const struct client *client, size_t index, struct str *out)
{
	struct view *view = workspace_tab_view(client->workspace, index);
	const char *mark = mark_text(marks_of(client, index));
	str_add_char(out, ' ');
	if (index < NUMBERS_MAX)
		str_addf(out, "%zu ", index + 1);
	if (*mark) /* in front: a long title is cut at its end */
		str_addf(out, "%s ", mark);
	struct str title;
	str_init(&title, 4096);
	workspace_view_title(client->workspace, view, &title);
	char *safe = safe_text_dup(title.p, 4096);
	add_title(out, safe, TITLE_COLS_MAX - 1 - draw_text_cols(out->p));
	free(safe);
	str_deinit(&title);
}

static int label_cols(const struct client *client, size_t index)
{
	struct str label;
	str_init(&label, 512);
	label_of(client, index, &label);
	int cols = draw_text_cols(label.p) + 1;
	str_deinit(&label);
	return cols < TITLE_COLS_MAX ? cols : TITLE_COLS_MAX;
}

/* How many tabs from `first` on fit into the columns. */
static size_t fitting(const struct client *client, size_t first, int cols)
{
	size_t n = 0;
	for (size_t i = first; i < n_tabs(client); i++, n++) {
		int after = i + 1 < n_tabs(client) ? COUNTER_COLS : 0;
		int wanted = label_cols(client, i);
		if (n && wanted > cols - after)
			break;
		cols -= wanted + 1;
	}
	return n;
}

/* The first tab to show, so that the current one is there. */
static size_t first_shown(const struct client *client, int cols)
{
	size_t first = 0;
	while (first < current(client) &&
		first + fitting(client, first, cols - (first ? COUNTER_COLS : 0)) <=
			current(client))
		first++;
	return first;
}

static void draw_counter(struct client *client, struct draw_region bar, int col,
	const char *arrow, struct client_tabs_beside *beside, size_t from, size_t to)
{
	unsigned marks = 0;
	for (size_t i = from; i < to; i++)
		marks |= marks_of(client, i);
	struct draw_style style = theme_style(&client->theme, marks ? ROLE_BAR_KEY : ROLE_TAB);
	beside->n = to - from;
	beside->col = col;
	beside->cols = draw_region_textf(bar, 0, col, COUNTER_COLS, style, "%s%zu%s", arrow,
		beside->n, mark_text(marks));
}

/* Right: where we are. Returns the columns left of it. */
static int draw_where(struct client *client, struct draw_region bar)
{
	struct engine *engine = workspace_host(client->workspace)->engine;
	const char *namespace_ = workspace_namespace(client->workspace);
	struct str where;
	str_init(&where, 512);
	if (engine_is_insecure(engine))
		str_add(&where, "TLS NOT VERIFIED  ");
	if (engine_is_read_only(engine))
		str_add(&where, "read-only  ");
	str_add(&where, engine_context(engine));
	if (engine_fleet(engine))
		str_addf(&where, " · %s", *namespace_ ? namespace_ : "all namespaces");
	int cols = draw_text_cols(where.p);
	int room = bar.cols - cols - 2;
	if (room < bar.cols / 2) {
		room = bar.cols / 2;
		cols = bar.cols - room - 2;
	}
	draw_region_text_right(bar, 0, bar.cols - cols - 1, cols,
		theme_style(
			&client->theme, engine_is_insecure(engine) ? ROLE_BAR_KEY : ROLE_TAB),
		where.p);
	str_deinit(&where);
	return room;
}

static int draw_tab(
	struct client *client, struct draw_region bar, size_t index, int col, int room)
{
	struct client_bar_place *tab = &client->tab_places[index];
	struct draw_style style = theme_style(
		&client->theme, index == current(client) ? ROLE_TAB_ACTIVE : ROLE_TAB);
	struct str label;
	str_init(&label, 512);
	label_of(client, index, &label);
	int cols = label_cols(client, index);
	cols = col + cols > room ? room - col : cols;
	struct draw_region place = draw_region_sub(bar, col, 0, cols, 1);
	draw_region_fill(place, style);
	draw_region_text(place, 0, 0, cols - 1, style, label.p);
	str_deinit(&label);
	*tab = (struct client_bar_place){ workspace_tab_id(client->workspace, index), col,
		cols };
	return col + cols + 1;
}

void client_tab_bar_draw(struct client *client, struct draw_region bar)
{
	draw_region_fill(bar, theme_style(&client->theme, ROLE_TAB));
	int room = draw_where(client, bar);
	int col = 2 + draw_region_text(bar, 0, 1, bar.cols - 1,
			      theme_style(&client->theme, ROLE_BAR_KEY), "sandmux");
	size_t first = first_shown(client, room - col);
	client->before = client->after = (struct client_tabs_beside){ 0 };
	memset(client->tab_places, 0, sizeof client->tab_places);
	if (first) {
		draw_counter(client, bar, col, "‹", &client->before, 0, first);
		client->before.nearest = first - 1;
		col += COUNTER_COLS;
	}
	size_t end = first + fitting(client, first, room - col);
	for (size_t i = first; i < end && col + TAB_COLS_MIN <= room; i++)
		col = draw_tab(
			client, bar, i, col, room - (end < n_tabs(client) ? COUNTER_COLS : 0));
	if (end < n_tabs(client)) {
		int at = col + COUNTER_COLS < room ? col : room - COUNTER_COLS;
		draw_counter(client, bar, at, "›", &client->after, end, n_tabs(client));
		client->after.nearest = end;
	}
}

/* ---- the mouse */

/* What was drawn there, wherever that tab is by now. */
static bool shown_at(const struct client *client, int col, size_t *index)
{
	size_t n = n_tabs(client);
	for (size_t i = 0; i < WORKSPACE_TABS_MAX; i++) {
		const struct client_bar_place *place = &client->tab_places[i];
		if (!place->cols || col < place->col || col >= place->col + place->cols)
			continue;
		for (*index = 0; *index < n; ++*index)
			if (workspace_tab_id(client->workspace, *index) == place->tab)
				return true;
	}
	return false;
}

size_t client_tab_bar_at(const struct client *client, int col)
{
	const struct client_tabs_beside *const beside[] = { &client->before, &client->after };
	size_t index;
	if (shown_at(client, col, &index))
		return index;
	for (int i = 0; i < 2; i++)
		if (beside[i]->n && col >= beside[i]->col &&
			col < beside[i]->col + beside[i]->cols)
			return beside[i]->nearest;
	return n_tabs(client);
}

void client_tab_bar_press(struct client *client, const struct draw_mouse *mouse)
{
	size_t index = client_tab_bar_at(client, mouse->col), shown;
	if (index >= n_tabs(client))
		return;
	/* what is only counted is not closed unseen */
	if (mouse->button == 2 && shown_at(client, mouse->col, &shown))
		workspace_tabs_ask_close_all(client->workspace, index);
	else if (mouse->button == 1)
		workspace_tabs_select(client->workspace, index);
}
