// SPDX-License-Identifier: Apache-2.0
// The sandbox list as a view.
#include "tui/views/sandboxes/sandboxes.h"

#include "engine/base/mem.h"
#include "engine/base/state_store.h"
#include "engine/base/str.h"
#include "tui/views/actions/actions.h"
#include "tui/views/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char CARD_KEY[] = "list.card";

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LIST;
}

/* Another namespace brings another fleet. */
static struct resource_source source(const struct views_list *list)
{
	return fleet_source(sandboxes_fleet(list));
}

/* ---- drawing */

static bool is_hidden(const struct views_list *list, enum fleet_kind kind)
{
	return fleet_forbidden(sandboxes_fleet(list), kind) != NULL;
}

static enum views_list_dark dark_of(const struct views_list *list, enum fleet_kind kind)
{
	return is_hidden(list, kind)                           ? LIST_HIDDEN
	       : !fleet_is_listed(sandboxes_fleet(list), kind) ? LIST_WAITED_FOR
							       : LIST_KNOWN;
}

static enum views_list_dark worse(enum views_list_dark a, enum views_list_dark b)
{
	return a > b ? a : b;
}

/* Columns that tell nothing, or less, because their source may not be read, or has not been yet: that is not that there
 * is nothing. */
static enum views_list_dark column_dark(const struct views_list *list, int column)
{
	enum views_list_dark dark = LIST_KNOWN;
	for (int kind = 0; kind < FLEET_KIND_COUNT; kind++)
		if (list->kind->columns[column].sources & FLEET_SOURCE_BIT(kind))
			dark = worse(dark, dark_of(list, (enum fleet_kind)kind));
	return dark;
}

static void draw_direct(struct views_list *list, struct draw_region r, bool is_focused)
{
	struct view_host *host = list->view.host;
	struct draw_style style =
		host_style(host, is_focused ? ROLE_CURSOR : ROLE_CURSOR_UNFOCUSED);
	if (list->is_stale)
		style = views_list_dimmed(list, style);
	draw_region_text(r, 0, 0, r.cols,
		host_style(host, list->is_stale ? ROLE_DIM : ROLE_ACCENT),
		"one sandbox, by its address");
	draw_region_text(r, 1, 2, r.cols - 2, host_style(host, ROLE_HEADER), "ADDRESS");
	draw_region_fill(draw_region_sub(r, 0, 2, r.cols, 1), style);
	draw_region_text(r, 2, 2, r.cols - 2, style, engine_context(host->engine));
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct err why;
	bool can = views_actions_may(&list->view, ACCESS_SHELL, &why);
	draw_region_text(r, 4, 2, r.cols - 2, dim,
		can ? "s shell   f files   d health and metadata" : "f files");
	if (!can)
		draw_region_text(r, 5, 2, r.cols - 2, host_style(host, ROLE_DISABLED), why.msg);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_list *list = list_of(view);
	list->shows_seconds = false;
	list->is_stale = view_host_is_stale(view->host);
	list->rows_shown = 0;
	if (!sandboxes_fleet(list)) {
		list->first_row = 2;
		draw_direct(list, r, is_focused);
		return;
	}
	const char *namespace_ = view->host->ops->namespace_(view->host);
	views_list_follow(list);
	views_sandboxes_follow_usage(list);
	resource_collection_namespace(list->rows, namespace_);
	views_list_keep_cursor(list);
	int column, head = views_sandboxes_draw_head(list, r);
	RESOURCE_EACH(column, list->kind->screen)
		list->is_dark[column] = column_dark(list, column);
	int card = views_sandboxes_card_rows(list, r.rows), above = r.rows - card;
	if (!views_list_draw(list, draw_region_sub(r, 0, 0, r.cols, above), head, !*namespace_,
		    is_focused))
		views_sandboxes_draw_empty(list, draw_region_sub(r, 0, list->first_row, r.cols,
							 r.rows - list->first_row));
	else if (card)
		views_sandboxes_draw_card(list, draw_region_sub(r, 0, above, r.cols, card));
	views_sandboxes_look_at_usage(list);
}

/* ---- hands */

static bool run_warm(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	(void)args;
	(void)err;
	resource_collection_show_aside(
		list->rows, !resource_collection_shows_aside(list->rows));
	views_list_keep_cursor(list);
	host_dirty(list->view.host);
	return true;
}

static bool run_usage(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	struct str text;
	(void)args;
	(void)err;
	str_init(&text, 512);
	engine_usage_format(list->view.host->engine, &text);
	list->view.host->ops->note(list->view.host, NOTE_OK, text.p);
	str_deinit(&text);
	return true;
}

/* Those that were deleted, as they were last. */
static bool run_tombstones(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	struct fleet *fleet = sandboxes_fleet(list);
	if (!fleet)
		return err_set(err, ERR_ARG_INVALID, "there is no cluster here");
	if (strcmp(args, "clear") == 0)
		fleet_tombstone_dismiss(fleet, NULL);
	else if (strcmp(args, "show") == 0 || strcmp(args, "hide") == 0)
		fleet_tombstones_show(fleet, args[0] == 's');
	else if (!*args)
		fleet_tombstones_show(fleet, !fleet_tombstones_are_shown(fleet));
	else
		return err_set(err, ERR_ARG_INVALID, "tombstones: show, hide or clear");
	host_dirty(list->view.host);
	return true;
}

static bool run_card(void *self, const char *args, struct err *err)
{
	struct views_sandboxes *sandboxes = sandboxes_of(self);
	(void)args;
	(void)err;
	sandboxes->is_card_hidden = !sandboxes->is_card_hidden;
	state_store_set_on(
		sandboxes->list.view.host->remembered, CARD_KEY, !sandboxes->is_card_hidden);
	host_dirty(sandboxes->list.view.host);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor",
		.run = views_list_move },
	{ "mark", "[all|none|FILTER]",
		"mark a sandbox, all that are shown, those that fit, or none",
		.run = views_list_mark, .complete = views_list_complete_mark },
	{ "sort", "COLUMN", "sort by a column; the same again reverses", .run = views_list_sort,
		.complete = views_list_complete_sort },
	{ "usage", "", "how old CPU and memory are, or why they are not known",
		.run = run_usage },
	{ "tombstones", "[show|hide|clear]", "show, hide or forget sandboxes that were deleted",
		.run = run_tombstones },
	{ "warm", "", "show or hide the warm sandboxes of the pools", .run = run_warm },
	{ "card", "", "show or hide the card of the selected sandbox", .run = run_card },
};

static void changed(struct view *view)
{
	if (views_list_is_behind(list_of(view)) ||
		views_sandboxes_is_usage_behind(list_of(view)))
		host_dirty(view->host);
}

/* A click on a count shows those of that state alone, and again all. */
static bool press_count(struct view *view, const struct draw_mouse *mouse)
{
	const struct views_sandboxes *self = sandboxes_of(list_of(view));
	char filter[64];
	if (mouse->action != MOUSE_PRESS || mouse->button != 1 || mouse->row != 0)
		return false;
	for (int i = 0; i < self->n_places; i++) {
		const struct views_sandboxes_place *place = &self->places[i];
		if (mouse->col < place->col || mouse->col >= place->col + place->cols)
			continue;
		snprintf(filter, sizeof filter, "state:%s", fleet_state_name(place->state));
		bool is_it = strcmp(filter, views_list_filter_text(view)) == 0;
		views_list_filter(view, is_it ? "" : filter);
		return true;
	}
	return false;
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	if (sandboxes_fleet(list_of(view)))
		return press_count(view, mouse) || views_list_mouse(view, mouse);
	if (mouse->action == MOUSE_PRESS && mouse->button == 1 && mouse->clicks == 2 &&
		mouse->row == list_of(view)->first_row)
		view->host->ops->run(view->host, "detail");
	return true;
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	return views_list_marked_or_cursor(list_of(view), uids, max);
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "sandboxes");
}

static struct view *open_list(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct views_sandboxes *self = x_calloc(1, sizeof *self);
	(void)args;
	(void)err;
	views_list_init(&self->list, host, &view_sandboxes, &fleet_sandbox_kind, source);
	views_sandboxes_add_shells(&self->list);
	self->is_card_hidden = !state_store_is_on(host->remembered, CARD_KEY, true);
	return &self->list.view;
}

static void free_list(struct view *view)
{
	views_list_deinit(list_of(view));
	free(view);
}

const struct view_class view_sandboxes = {
	.name = "sandboxes",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_list,
	.free = free_list,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.changed = changed,
	.targets = targets,
	.filter = views_list_filter,
	.filter_text = views_list_filter_text,
	.filter_error = views_list_filter_error,
	.filter_complete = views_list_filter_complete,
	.shows = view_is_the_only_one,
	.redraw_after_ms = views_list_redraw_after_ms,
};
