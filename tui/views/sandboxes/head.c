// SPDX-License-Identifier: Apache-2.0
// What stands above the table of the sandbox list: counters, how fresh the data is, what is wrong with it, and what may
// not be read.
#include "tui/views/sandboxes/sandboxes.h"

#include "tui/widgets/wrap.h"

#include <stdio.h>
#include <string.h>

enum {
	SOURCES_MAX = 16,
	HEAD_ROWS = 2,
	FORBIDDEN_SHARE = 9, /* of the rows that there are, for the rules that are missing */
};

static void draw_counters(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	struct fleet_counters counters = fleet_counters_of(sandboxes_fleet(list));
	struct draw_style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	struct draw_style accent = list->is_stale ? dim : host_style(host, ROLE_ACCENT);
	size_t shown = resource_collection_count(list->rows),
	       total = resource_collection_total(list->rows);
	if (!resource_collection_shows_aside(list->rows))
		total -= counters.by_state[FLEET_WARM];
	/* those that are no more are listed, and counted by themselves */
	bool is_all = shown == total;
	total -= counters.by_state[FLEET_DELETED];
	if (is_all)
		shown = total;
	if (!total && !fleet_is_synced(sandboxes_fleet(
			      list))) { /* nobody has said that there are none */
		draw_region_text(r, 0, 0, r.cols, dim, "sandboxes: no answer yet");
		return;
	}
	int col = shown == total ? draw_region_textf(r, 0, 0, r.cols, accent, "%zu sandbox%s",
					   shown, shown == 1 ? "" : "es")
				 : draw_region_textf(r, 0, 0, r.cols, accent,
					   "%zu of %zu sandboxes", shown, total);
	for (int state = 0; state < FLEET_STATE_COUNT; state++) {
		if (!counters.by_state[state])
			continue;
		col += draw_region_text(r, 0, col, r.cols - col, dim, "  ");
		col += draw_region_textf(r, 0, col, r.cols - col,
			list->is_stale ? dim
				       : host_style(host,
						 view_host_state_role((enum fleet_state)state)),
			"%zu %s", counters.by_state[state],
			fleet_state_name((enum fleet_state)state));
	}
	if (counters.expiring)
		col += draw_region_textf(r, 0, col, r.cols - col,
			host_style(host, ROLE_WARNING), "  %zu expiring", counters.expiring);
	size_t marked = resource_collection_marked_count(list->rows);
	if (marked)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_MARKED),
			"  %zu marked", marked);
	const char *filter = resource_collection_filter_text(list->rows);
	if (*filter)
		draw_region_textf(r, 0, col, r.cols - col, text, "  /%s", filter);
}

/* How fresh the data is, and what is wrong with it. Returns the columns that are free at the left: 0 while something is
 * said there. */
static int draw_freshness(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	struct draw_style warning = host_style(host, ROLE_WARNING);
	struct fleet_informer_state sources[SOURCES_MAX];
	size_t n = fleet_informers(sandboxes_fleet(list), sources, SOURCES_MAX);
	struct str trouble;
	int64_t age = 0;
	str_init(&trouble, 4096);
	for (size_t i = 0; i < n; i++) {
		const struct fleet_informer_state *s = &sources[i];
		if (strcmp(s->state_name, "forbidden") == 0) /* see draw_forbidden() */
			continue;
		age = s->age_ms > age ? s->age_ms : age;
		if (strcmp(s->state_name, "live") == 0 ||
			strcmp(s->state_name, "starting") == 0 ||
			strcmp(s->state_name, "polled") == 0) /* said there too */
			continue;
		if (list->is_stale) /* said in the row under the tabs, for all of them */
			continue;
		str_addf(&trouble, "%s%s %s", trouble.n ? "  " : "! ", s->resource,
			s->state_name);
		if (s->error && *s->error)
			str_addf(&trouble, ": %s", s->error);
	}
	int age_cols = fleet_is_synced(sandboxes_fleet(list))
			       ? views_list_draw_age(list, r, age, trouble.n > 0)
			       : 0;
	int free_cols = 0;
	if (trouble.n)
		draw_region_text(r, 0, 0, r.cols - age_cols, warning, trouble.p);
	else if (!fleet_is_synced(sandboxes_fleet(list)))
		draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_BUSY), "asking %s …",
			engine_server(host->engine));
	else
		free_cols = r.cols - age_cols;
	str_deinit(&trouble);
	return free_cols;
}

/* What may not be read, and the rule that is missing: a state of things, not a trouble that passes. Beside the age where
 * nothing else stands there, else in a row of its own. Returns the rows it takes below the first two. */
static int draw_forbidden(struct views_list *list, struct draw_region r, int free_cols)
{
	struct view_host *host = list->view.host;
	struct draw_style disabled = host_style(host, ROLE_DISABLED);
	struct str what, fix;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_forbidden_format(host->engine, &what, &fix);
	int row = free_cols > 0 ? HEAD_ROWS - 1 : HEAD_ROWS;
	int cols = free_cols > 0 ? free_cols : r.cols;
	if (what.n) {
		int used = draw_region_text(
			r, row++, 0, cols, host_style(host, ROLE_WARNING), what.p);
		int room = r.rows / FORBIDDEN_SHARE;
		if (used + 3 + draw_text_cols(fix.p) <= cols) {
			draw_region_textf(
				r, row - 1, used, cols - used, disabled, " · %s", fix.p);
		} else if (room > 0) {
			struct draw_region rest = draw_region_sub(r, 0, row, r.cols, room);
			int wanted = widget_wrap_draw(rest, 0, 2, disabled, slice_of(fix.p));
			if (wanted > room)
				draw_region_text(rest, room - 1, r.cols - 1, 1, disabled, "…");
			row += wanted < room ? wanted : room;
		}
	}
	bool has_any = what.n > 0;
	str_deinit(&what);
	str_deinit(&fix);
	return has_any ? row - HEAD_ROWS : 0;
}

int views_sandboxes_draw_head(struct views_list *list, struct draw_region r)
{
	draw_counters(list, draw_region_sub(r, 0, 0, r.cols, 1));
	int free_cols = draw_freshness(list, draw_region_sub(r, 0, 1, r.cols, 1));
	return HEAD_ROWS + draw_forbidden(list, r, free_cols);
}
