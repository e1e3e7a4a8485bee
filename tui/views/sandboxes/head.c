// SPDX-License-Identifier: Apache-2.0
// What stands above the table of the sandbox list: counters, how fresh the data is, what is wrong with it, and what may
// not be read.
#include "tui/views/sandboxes/sandboxes.h"

#include "engine/base/clock.h"
#include "tui/widgets/meter.h"
#include "tui/widgets/middle.h"
#include "tui/widgets/wrap.h"

#include <stdio.h>
#include <string.h>

enum {
	SOURCES_MAX = 16,
	FORBIDDEN_SHARE = 9, /* of the rows that there are, for the rules that are missing */
	POOLS_MAX = 256,     /* that are looked at for the worst */
	POOL_CELLS = 5,
	POOL_NAME_COLS = 24,
	GAP_COLS = 2,
};

/* ---- counts by state */

/* States with rows, the unhealthy first if there are any, else the well. */
static int ordered_states(const struct views_list *list, const struct fleet_counters *counters,
	enum fleet_state out[FLEET_STATE_COUNT])
{
	int n = 0;
	bool is_any_bad = false;
	for (int state = 0; state < FLEET_STATE_COUNT; state++) {
		enum resource_tone tone = fleet_state_tone((enum fleet_state)state);
		bool is_shown =
			state != FLEET_WARM || resource_collection_shows_aside(list->rows);
		if (!counters->by_state[state] || !is_shown)
			continue;
		is_any_bad |= tone == RESOURCE_BAD || tone == RESOURCE_WARNING;
		int at = n++;
		for (; at > 0 && fleet_state_order(out[at - 1]) >
					 fleet_state_order((enum fleet_state)state);
			at--)
			out[at] = out[at - 1];
		out[at] = (enum fleet_state)state;
	}
	for (int i = 0; !is_any_bad && i < n; i++)
		if (out[i] == FLEET_READY) {
			memmove(out + 1, out, (size_t)i * sizeof *out);
			out[0] = FLEET_READY;
		}
	return n;
}

static int draw_states(struct views_list *list, struct draw_region r, int col,
	const struct fleet_counters *counters)
{
	struct view_host *host = list->view.host;
	struct views_sandboxes *self = sandboxes_of(list);
	enum fleet_state states[FLEET_STATE_COUNT];
	int n = ordered_states(list, counters, states);
	for (int i = 0; i < n; i++) {
		struct draw_style style = host_style(
			host, list->is_stale ? ROLE_DIM : view_host_state_role(states[i]));
		col += GAP_COLS;
		int cols = draw_region_textf(r, 0, col, r.cols - col, style, "%s %zu %s",
			fleet_state_glyph(states[i]), counters->by_state[states[i]],
			fleet_state_name(states[i]));
		self->places[self->n_places++] =
			(struct views_sandboxes_place){ col, cols, states[i] };
		col += cols;
	}
	return col;
}

static bool is_known(const struct views_list *list, size_t total)
{
	return total || fleet_is_synced(sandboxes_fleet(list));
}

/* How many there are, of which states, and what narrows them. Returns the columns. */
static int draw_counters(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	struct fleet_counters counters = fleet_counters_of(sandboxes_fleet(list));
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct draw_style accent = list->is_stale ? dim : host_style(host, ROLE_ACCENT);
	size_t shown = resource_collection_count(list->rows),
	       total = resource_collection_total(list->rows),
	       marked = resource_collection_marked_count(list->rows);
	const char *filter = resource_collection_filter_text(list->rows);
	if (!resource_collection_shows_aside(list->rows))
		total -= counters.by_state[FLEET_WARM];
	/* those that are no more are listed, and counted by themselves */
	bool is_all = shown == total;
	total -= counters.by_state[FLEET_DELETED];
	if (is_all)
		shown = total;
	if (!is_known(list, total)) /* nobody has said that there are none */
		return draw_region_text(r, 0, 0, r.cols, dim, "sandboxes: no answer yet");
	int col = shown == total ? draw_region_textf(r, 0, 0, r.cols, accent, "%zu sandbox%s",
					   shown, shown == 1 ? "" : "es")
				 : draw_region_textf(r, 0, 0, r.cols, accent,
					   "%zu of %zu sandboxes", shown, total);
	if (*filter)
		col += draw_region_textf(
			r, 0, col, r.cols - col, host_style(host, ROLE_TEXT), "  /%s", filter);
	if (marked)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_MARKED),
			"  %zu marked", marked);
	return draw_states(list, r, col, &counters);
}

/* ---- what runs out */

/* The pool that has least of what it should have ready. */
static bool worst_pool(const struct fleet *fleet, size_t n, struct fleet_pool *worst)
{
	bool is_any = false;
	for (size_t i = 0; i < n && i < POOLS_MAX; i++) {
		struct fleet_pool pool = fleet_pool_at(fleet, i);
		bool is_worse = !is_any || (int64_t)pool.ready * worst->desired <
						   (int64_t)worst->ready * pool.desired;
		if (pool.desired <= 0 || !is_worse)
			continue;
		*worst = pool;
		is_any = true;
	}
	return is_any;
}

/* At the right end, if there is room. Returns the columns that are left. */
static int draw_pool(struct views_list *list, struct draw_region r, int from, int to)
{
	struct view_host *host = list->view.host;
	const struct fleet *fleet = sandboxes_fleet(list);
	struct fleet_pool pool;
	size_t n = fleet_pool_count(fleet);
	char tail[64], more[32] = "";
	if (!worst_pool(fleet, n, &pool))
		return to;
	if (n > 1)
		snprintf(more, sizeof more, "  of %zu pools", n);
	snprintf(tail, sizeof tail, " %d/%d%s", pool.ready, pool.desired, more);
	int name_cols = draw_text_cols(pool.name);
	if (name_cols > POOL_NAME_COLS)
		name_cols = POOL_NAME_COLS;
	int most = pool.desired > pool.ready ? pool.desired : pool.ready;
	int cells = most < POOL_CELLS ? most : POOL_CELLS;
	int col = to - ((int)strlen("pool ") + name_cols + 1 + cells + (int)strlen(tail));
	if (col < from + GAP_COLS)
		return to;
	enum draw_theme_role role = list->is_stale              ? ROLE_DIM
				    : pool.ready <= 0           ? ROLE_ERROR
				    : pool.ready < pool.desired ? ROLE_WARNING
								: ROLE_OK;
	struct draw_style style = host_style(host, role), dim = host_style(host, ROLE_DIM);
	int at = col + draw_region_text(r, 0, col, to - col, dim, "pool ");
	at += widget_middle_draw(r, 0, at, name_cols, dim, pool.name) + 1;
	at += widget_meter_count(r, 0, at, POOL_CELLS, style, pool.ready, pool.desired);
	draw_region_text(r, 0, at, to - at, style, tail);
	return col - GAP_COLS;
}

static int draw_ends(struct views_list *list, struct draw_region r, int from, int to)
{
	struct fleet_counters counters = fleet_counters_of(sandboxes_fleet(list));
	char text[64], left[CLOCK_AGE_BYTES];
	int64_t left_ms = counters.next_end_ms - clock_wall_ms();
	if (!counters.expiring)
		return to;
	if (left_ms > 0)
		snprintf(text, sizeof text, "⏳ %zu end%s in %s", counters.expiring,
			counters.expiring == 1 ? "s" : ", the first",
			clock_format_age(left_ms, left));
	else
		snprintf(text, sizeof text, "⏳ %zu over", counters.expiring);
	int col = to - draw_text_cols(text);
	if (col < from + GAP_COLS)
		return to;
	list->shows_seconds = true;
	draw_region_text(r, 0, col, to - col,
		host_style(list->view.host, list->is_stale ? ROLE_DIM : ROLE_WARNING), text);
	return col - GAP_COLS;
}

/* ---- how fresh it is, and what is wrong with it */

static void add_trouble(struct str *trouble, const struct fleet_informer_state *source)
{
	const char *const told_elsewhere[] = { "live", "starting", "polled", "forbidden" };
	for (size_t i = 0; i < sizeof told_elsewhere / sizeof *told_elsewhere; i++)
		if (strcmp(source->state_name, told_elsewhere[i]) == 0)
			return;
	str_addf(trouble, "%s%s %s", trouble->n ? "  " : "! ", source->resource,
		source->state_name);
	if (source->error && *source->error)
		str_addf(trouble, ": %s", source->error);
}

/* A row of its own while something is not well: that it is asked, or what fails, and how old the data is. Returns how
 * many. */
static int draw_trouble(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	struct fleet_informer_state sources[SOURCES_MAX];
	size_t n = fleet_informers(sandboxes_fleet(list), sources, SOURCES_MAX);
	bool is_synced = fleet_is_synced(sandboxes_fleet(list));
	struct str trouble;
	int64_t age = 0;
	str_init(&trouble, 4096);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(sources[i].state_name, "forbidden") != 0)
			age = sources[i].age_ms > age ? sources[i].age_ms : age;
		if (!list->is_stale) /* else said in the row under the tabs, for all of them */
			add_trouble(&trouble, &sources[i]);
	}
	bool has_trouble = trouble.n > 0;
	if (has_trouble) {
		int age_cols = is_synced ? views_list_draw_age(list, r, age, true) : 0;
		draw_region_text(
			r, 0, 0, r.cols - age_cols, host_style(host, ROLE_WARNING), trouble.p);
	} else if (!is_synced) {
		draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_BUSY), "asking %s …",
			engine_server(host->engine));
	}
	str_deinit(&trouble);
	return has_trouble || !is_synced;
}

/* What may not be read, and the rule that is missing: a state of things, not a trouble that passes. Returns the rows. */
static int draw_forbidden(struct views_list *list, struct draw_region r, int row)
{
	struct view_host *host = list->view.host;
	struct draw_style disabled = host_style(host, ROLE_DISABLED);
	struct str what, fix;
	int first = row;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_forbidden_format(host->engine, &what, &fix);
	if (what.n) {
		int used = draw_region_text(
			r, row++, 0, r.cols, host_style(host, ROLE_WARNING), what.p);
		int room = r.rows / FORBIDDEN_SHARE;
		if (used + 3 + draw_text_cols(fix.p) <= r.cols) {
			draw_region_textf(
				r, row - 1, used, r.cols - used, disabled, " · %s", fix.p);
		} else if (room > 0) {
			struct draw_region rest = draw_region_sub(r, 0, row, r.cols, room);
			int wanted = widget_wrap_draw(rest, 0, 2, disabled, slice_of(fix.p));
			if (wanted > room)
				draw_region_text(rest, room - 1, r.cols - 1, 1, disabled, "…");
			row += wanted < room ? wanted : room;
		}
	}
	str_deinit(&what);
	str_deinit(&fix);
	return row - first;
}

int views_sandboxes_draw_head(struct views_list *list, struct draw_region r)
{
	sandboxes_of(list)->n_places = 0;
	int col = draw_counters(list, draw_region_sub(r, 0, 0, r.cols, 1));
	int end = draw_ends(list, r, col, r.cols - 1);
	draw_pool(list, r, col, end);
	int rows = 1 + draw_trouble(list, draw_region_sub(r, 0, 1, r.cols, 1));
	return rows + draw_forbidden(list, r, rows);
}
