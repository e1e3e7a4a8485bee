// SPDX-License-Identifier: Apache-2.0
// The card: what the row under the cursor has no room for. As high as the screen allows, whatever it says, so that
// nothing jumps while the cursor moves.
#include "tui/views/sandboxes/sandboxes.h"

#include "engine/base/clock.h"
#include "tui/draw/border.h"
#include "tui/session/session.h"
#include "tui/term/term.h"
#include "tui/widgets/meter.h"
#include "tui/widgets/wrap.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
	ROOM_ROWS = 20, /* of the whole list: with less there is no card */
	RICH_ROWS = 40,
	CARD_ROWS = 6,
	CARD_ROWS_RICH = 8,
	SIDE_COLS = 1, /* blank beside the text */
	LIFE_CELLS = 16,
	LIFE_CELLS_NARROW = 8,
	LIFE_NARROW_COLS = 100,
	SHELLS_MAX = 16,
	STORY_MAX = 12,
	STORY_TIME_COLS = 5,
	DAY_MS = 24 * 3600 * 1000,
};

static const char OWN_PREFIX[] = "agents.x-k8s.io/";

int views_sandboxes_card_rows(const struct views_list *list, int rows)
{
	bool has_row = resource_collection_count(list->rows) > 0;
	if (!has_row || rows < ROOM_ROWS ||
		((const struct views_sandboxes *)list)->is_card_hidden)
		return 0;
	return rows < RICH_ROWS ? CARD_ROWS : CARD_ROWS_RICH;
}

/* ---- the first line */

/* At the right: how much of its life is left. Returns the columns that it takes. */
static int draw_lifetime(
	const struct views_list *list, struct draw_region r, const struct fleet_row *row)
{
	struct view_host *host = list->view.host;
	int64_t now = clock_wall_ms(), left = row->expires_ms - now,
		whole = row->expires_ms - row->created_ms;
	char age[CLOCK_AGE_BYTES], text[CLOCK_AGE_BYTES + 8];
	if (!row->expires_ms || left <= 0 || whole <= 0)
		return 0;
	int cells = r.cols < LIFE_NARROW_COLS ? LIFE_CELLS_NARROW : LIFE_CELLS;
	snprintf(text, sizeof text, " %s left", clock_format_age(left, age));
	int cols = (int)strlen("lifetime ") + cells + (int)strlen(text);
	if (cols > r.cols / 2)
		return 0;
	bool is_near = left < LIST_ENDS_SOON_MS;
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct draw_style style = host_style(host, list->is_stale ? ROLE_DIM
						   : is_near      ? ROLE_WARNING
								  : ROLE_TEXT);
	int col = r.cols - cols;
	col += draw_region_text(r, 0, col, cols, dim, "lifetime ");
	widget_meter_gauge(r, 0, col, cells, style, (int)(left * 1000 / whole));
	draw_region_text(r, 0, col + cells, r.cols - col - cells, style, text);
	return cols + 2;
}

static void add_fact(struct str *out, const char *name, const char *value)
{
	if (*value)
		str_addf(out, " · %s%s", name, value);
}

/* Those that people give: what the controllers and clients note for themselves stands in the detail. */
static void add_labels(struct str *out, const char *labels)
{
	bool is_first = true;
	for (const char *at = labels; *at;) {
		size_t n = strcspn(at, ",");
		if (strncmp(at, OWN_PREFIX, strlen(OWN_PREFIX)) != 0) {
			str_addf(out, "%s%.*s", is_first ? " · " : ",", (int)n, at);
			is_first = false;
		}
		at += n + (at[n] == ',');
	}
}

static void draw_state(
	const struct views_list *list, struct draw_region r, const struct fleet_row *row)
{
	struct view_host *host = list->view.host;
	struct draw_style style =
		host_style(host, list->is_stale ? ROLE_DIM : view_host_state_role(row->state));
	int room = r.cols - draw_lifetime(list, r, row);
	int col = draw_region_textf(r, 0, 0, room, style, "%s %s",
		fleet_state_glyph(row->state), fleet_state_name(row->state));
	struct str facts;
	str_init(&facts, 8192);
	if (row->restarts > 0)
		str_addf(&facts, " ↻%d", row->restarts);
	add_fact(&facts, "pool ", row->pool);
	add_fact(&facts, "", row->pod_ip);
	add_fact(&facts, "node ", row->node);
	add_labels(&facts, row->labels);
	draw_region_text(
		r, 0, col, room - col, host_style(host, ROLE_TEXT), facts.n ? facts.p : "");
	str_deinit(&facts);
}

/* ---- the story */

/* The hour of the last day, else the day. */
static void format_time(int64_t wall_ms, char out[STORY_TIME_COLS + 1])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm;
	bool is_old = clock_wall_ms() - wall_ms > DAY_MS;
	if (!localtime_r(&seconds, &tm) ||
		!strftime(out, STORY_TIME_COLS + 1, is_old ? "%d.%m" : "%H:%M", &tm))
		out[0] = 0;
}

/* ---- why */

static int draw_why(const struct views_list *list, struct draw_region r, int at, int room,
	const struct fleet_row *row)
{
	struct view_host *host = list->view.host;
	struct str text;
	char age[CLOCK_AGE_BYTES];
	if (!*row->why || room <= 0)
		return 0;
	int64_t since = clock_wall_ms() - row->why_since_ms;
	str_init(&text, 4096);
	str_add(&text, row->why);
	if (row->why_since_ms && since >= 0)
		str_addf(&text, " (%s ago)", clock_format_age(since, age));
	if (*row->next)
		str_addf(&text, ". Next: %s", row->next);
	struct draw_region place = draw_region_sub(r, 0, at, r.cols, room);
	struct draw_style style = host_style(host, list->is_stale ? ROLE_DIM : ROLE_TEXT);
	int wanted = widget_wrap_draw(place, 0, 0, style, slice_of(text.p));
	if (wanted > room)
		draw_region_text(place, room - 1, r.cols - 1, 1, style, "…");
	str_deinit(&text);
	return wanted < room ? wanted : room;
}

/* "13:09 ● adopted ── 13:12 ■ suspended ── now": as much of the end as there is room for. */
static int draw_story(const struct views_list *list, struct draw_region r, int at,
	const struct fleet_row *row)
{
	struct view_host *host = list->view.host;
	static const char joint[] = " ── ";
	struct fleet_story_entry entries[STORY_MAX];
	size_t n = fleet_story(sandboxes_fleet(list), row->uid, entries, STORY_MAX), first = n;
	int cols = 0, joint_cols = draw_text_cols(joint);
	int room = r.cols - joint_cols - (int)strlen("now");
	while (first > 0) {
		int wanted = STORY_TIME_COLS + 2 + draw_text_cols(entries[first - 1].text) +
			     (cols ? joint_cols : 0);
		if (cols + wanted > room)
			break;
		cols += wanted;
		first--;
	}
	if (first == n)
		return 0;
	int col = 0;
	struct draw_style dim = host_style(host, ROLE_DIM);
	for (size_t i = first; i < n; i++) {
		const struct fleet_story_entry *entry = &entries[i];
		struct draw_style style = host_style(
			host, list->is_stale ? ROLE_DIM
					     : view_tone_role(fleet_story_tone(entry->kind)));
		char time[STORY_TIME_COLS + 1];
		format_time(entry->wall_ms, time);
		col += draw_region_textf(r, at, col, r.cols - col, dim, "%s ", time);
		col += draw_region_textf(
			r, at, col, r.cols - col, style, "%s ", fleet_story_glyph(entry->kind));
		col += draw_region_text(r, at, col, r.cols - col,
			host_style(host, list->is_stale ? ROLE_DIM : ROLE_TEXT), entry->text);
		col += draw_region_text(r, at, col, r.cols - col, dim, joint);
	}
	draw_region_text(r, at, col, r.cols - col, dim, "now");
	return 1;
}

/* ---- shells */

struct shells {
	const struct view_host *host;
	const struct fleet_row *row;
	struct str text;
	size_t n, n_left_out;
};

static void add_shell(void *arg, struct session *session)
{
	struct shells *shells = arg;
	const char *uid = session_uid(session);
	if (!uid || strcmp(uid, shells->row->uid) != 0)
		return;
	if (shells->n++ >= SHELLS_MAX)
		return;
	const char *title = term_title(session_term(session));
	str_addf(&shells->text, "%s⌗ %s", shells->n > 1 ? "   " : "shells: ",
		title && *title ? title : session_program(session));
	size_t tab = shells->host->ops->tab_of
			     ? shells->host->ops->tab_of(shells->host, session)
			     : 0;
	if (tab)
		str_addf(&shells->text, " (tab %zu)", tab);
	if (session_state(session) == SESSION_ENDED)
		str_add(&shells->text, " (ended)");
}

static int draw_shells(const struct views_list *list, struct draw_region r, int at,
	const struct fleet_row *row)
{
	struct view_host *host = list->view.host;
	struct shells shells = { .host = host, .row = row };
	str_init(&shells.text, 4096);
	sessions_each(host->sessions, add_shell, &shells);
	if (shells.n > SHELLS_MAX)
		str_addf(&shells.text, "   and %zu more", shells.n - SHELLS_MAX);
	if (shells.n)
		draw_region_text(r, at, 0, r.cols, host_style(host, ROLE_TEXT), shells.text.p);
	str_deinit(&shells.text);
	return shells.n > 0;
}

/* What it is made of, where that is called something else. */
static int draw_identity(const struct views_list *list, struct draw_region r, int at,
	const struct fleet_row *row)
{
	struct str text;
	str_init(&text, 4096);
	const char *name = fleet_row_name(row);
	if (strcmp(row->sandbox, name) != 0)
		add_fact(&text,
			strcmp(row->sandbox, row->pod) == 0 ? "sandbox and pod " : "sandbox ",
			row->sandbox);
	if (strcmp(row->pod, row->sandbox) != 0)
		add_fact(&text, "pod ", row->pod);
	if (strcmp(row->template_, row->pool) != 0)
		add_fact(&text, "template ", row->template_);
	add_fact(&text, "namespace ", row->namespace_);
	add_fact(&text, "created by ", row->created_by);
	bool has_any = text.n > 0;
	if (has_any)
		draw_region_text(r, at, 0, r.cols, host_style(list->view.host, ROLE_DIM),
			text.p + strlen(" · "));
	str_deinit(&text);
	return has_any;
}

void views_sandboxes_draw_card(struct views_list *list, struct draw_region r)
{
	struct view_host *host = list->view.host;
	const struct fleet_row *row =
		*list->cursor ? views_list_find(list, list->cursor) : NULL;
	if (!row || r.rows < 3)
		return;
	struct draw_region inside = draw_border_box(r, host_style(host, ROLE_BORDER),
		host_style(host, list->is_stale ? ROLE_DIM : ROLE_TITLE), fleet_row_name(row));
	inside =
		draw_region_sub(inside, SIDE_COLS, 0, inside.cols - 2 * SIDE_COLS, inside.rows);
	draw_state(list, draw_region_sub(inside, 0, 0, inside.cols, 1), row);
	int at = 1;
	at += draw_why(list, inside, at, inside.rows - at - 1, row);
	at += draw_story(list, inside, at, row);
	at += draw_shells(list, inside, at, row);
	draw_identity(list, inside, at, row);
}
