// SPDX-License-Identifier: Apache-2.0
// What stands in the place of the rows while there are none: why, and what can be done about it.
#include "tui/views/sandboxes/sandboxes.h"

#include "tui/draw/border.h"
#include "tui/views/actions/actions.h"
#include "tui/widgets/wrap.h"

#include <string.h>

enum { CARD_COLS = 66, CARD_SIDE = 2, LINES_MAX = 4 };

static bool is_hidden(const struct views_list *list, enum fleet_kind kind)
{
	return fleet_forbidden(sandboxes_fleet(list), kind) != NULL;
}

static int warm_ones(const struct views_list *list)
{
	const struct fleet_counters counters = fleet_counters_of(sandboxes_fleet(list));
	return (int)counters.by_state[FLEET_WARM];
}

/* The lines of the card. */
struct card {
	const char *title;
	struct str lines[LINES_MAX];
	int n;
};

static struct str *next_line(struct card *card)
{
	return &card->lines[card->n < LINES_MAX ? card->n++ : LINES_MAX - 1];
}

static void add_how_many(const struct views_list *list, struct card *card)
{
	const char *namespace_ = list->view.host->ops->namespace_(list->view.host);
	struct str *line = next_line(card);
	int warm = warm_ones(list);
	if (*namespace_)
		str_addf(line, "No sandboxes in namespace %s", namespace_);
	else
		str_add(line, "No sandboxes");
	if (warm > 0)
		str_addf(line, "; %d %s warm, so a new one takes a moment", warm,
			warm == 1 ? "is" : "are");
	else if (fleet_is_listed(sandboxes_fleet(list), FLEET_POOLS) &&
		 !fleet_pool_count(sandboxes_fleet(list)))
		str_add(line, "; there is no warm pool either");
	str_add(line, ".");
}

static void add_keys(const struct views_list *list, struct card *card)
{
	struct err why;
	bool may_create = views_actions_may(&list->view, ACCESS_CREATE, &why);
	struct err no_shell;
	const struct fleet *fleet = sandboxes_fleet(list);
	bool has_pool = fleet_pool_count(fleet) > 0 || !fleet_is_listed(fleet, FLEET_POOLS);
	bool has_shell = has_pool && views_actions_may(&list->view, ACCESS_SHELL, &no_shell);
	if (may_create && has_shell) {
		str_add(next_line(card),
			"[n] new sandbox   [:shell] create one and open a shell");
		str_add(next_line(card), "[?] all keys and commands");
	} else if (may_create)
		str_add(next_line(card), "[n] new sandbox   [?] all keys and commands");
	else
		str_add(next_line(card), why.msg);
	if (engine_is_local(list->view.host->engine))
		str_add(next_line(card), "Local backend on this machine; nothing leaves it.");
}

static void fill(const struct views_list *list, struct card *card)
{
	card->title = "";
	if (!fleet_is_synced(sandboxes_fleet(list))) {
		str_add(next_line(card), "waiting for the first answer …");
	} else if (*resource_collection_filter_text(list->rows)) {
		str_add(next_line(card), "Nothing fits the filter. Esc clears it.");
	} else if (is_hidden(list, FLEET_CLAIMS)) {
		str_add(next_line(card),
			is_hidden(list, FLEET_SANDBOXES)
				? "Neither sandboxclaims nor sandboxes may be listed here."
				: "There are no Sandboxes; sandboxclaims may not be listed here.");
	} else {
		add_how_many(list, card);
		add_keys(list, card);
	}
}

/* Only what a person can act upon is worth a frame. */
static void draw_card(struct views_list *list, struct draw_region r, const struct card *card)
{
	struct view_host *host = list->view.host;
	int cols = r.cols < CARD_COLS ? r.cols : CARD_COLS, inner = cols - 2 - 2 * CARD_SIDE;
	int rows = 0;
	for (int i = 0; i < card->n; i++)
		rows += widget_wrap_rows(slice_of(card->lines[i].p), inner);
	int gap = card->n > 1 && rows + 4 + card->n - 1 <= r.rows ? 1 : 0;
	rows += 2 + gap * (card->n - 1);
	bool has_frame = card->n > 1 && rows <= r.rows && inner > 0;
	struct draw_region inside =
		draw_region_sub(r, CARD_SIDE, 1, r.cols - CARD_SIDE, r.rows - 1);
	if (has_frame) {
		struct draw_region box = draw_region_sub(
			r, (r.cols - cols) / 2, (r.rows - rows) / 3, cols, rows);
		inside = draw_border_box(box, host_style(host, ROLE_BORDER),
			host_style(host, ROLE_TITLE), card->title);
		inside = draw_region_sub(
			inside, CARD_SIDE, 0, inside.cols - 2 * CARD_SIDE, inside.rows);
	}
	int at = 0;
	for (int i = 0; i < card->n; i++) {
		struct draw_style style =
			host_style(host, has_frame && i == 0 ? ROLE_TEXT : ROLE_DIM);
		at += widget_wrap_draw(inside, at, 0, style, slice_of(card->lines[i].p));
		at += has_frame ? gap : 0;
	}
}

void views_sandboxes_draw_empty(struct views_list *list, struct draw_region r)
{
	struct card card = { 0 };
	for (int i = 0; i < LINES_MAX; i++)
		str_init(&card.lines[i], 1024);
	fill(list, &card);
	draw_card(list, r, &card);
	for (int i = 0; i < LINES_MAX; i++)
		str_deinit(&card.lines[i]);
}
