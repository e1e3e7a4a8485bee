// SPDX-License-Identifier: Apache-2.0
// The list of one kind: what is looked at is what is watched, the namespace that the person has chosen, for as long as the
// view is open.
#include "tui/views/list/list.h"
#include "engine/base/err.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "tui/views/edit/edit.h"
#include "tui/views/resources/act.h"
#include "tui/views/views.h"
#include "tui/widgets/wrap.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD_ROWS = 2,
	FORBIDDEN_SHARE = 9, /* of the rows that there are, for the rule that is missing */
	TARGETS_MAX = 20000,
};

struct views_resources {
	struct views_list list;          /* first */
	struct kinds_informer *informer; /* NULL: watch_err says why */
	struct err watch_err;
	struct views_resources_act *act; /* under way; NULL: none */
};

static struct views_resources *resources_of(const struct view *view)
{
	return (struct views_resources *)(uintptr_t)view;
}

static const char *word_of(const struct resource_kind *kind)
{
	return kind->word ? kind->word : kind->name;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_RESOURCES;
}

static struct resource_source source(const struct views_list *list)
{
	const struct views_resources *self = (const struct views_resources *)list;
	return self->informer ? kinds_informer_source(self->informer)
			      : (struct resource_source){ 0 };
}

/* The namespace that is looked at: another one is another informer. */
static void watch(struct views_resources *self)
{
	struct view_host *host = self->list.view.host;
	const struct resource_kind *kind = self->list.kind;
	bool has_any = kind->namespace_column != RESOURCE_NONE;
	const char *namespace_ = has_any ? host->ops->namespace_(host) : "";
	if (self->informer && strcmp(kinds_informer_namespace(self->informer), namespace_) == 0)
		return;
	struct kinds_informer *old = self->informer;
	self->informer =
		engine_watch_kind(host->engine, kind, namespace_, NULL, &self->watch_err);
	engine_unwatch_kind(host->engine, old);
	self->list.follower = (struct resource_follower){ 0 };
	resource_collection_clear(self->list.rows);
}

/* ---- drawing */

static void draw_counters(struct views_resources *self, struct draw_region r)
{
	const struct views_list *list = &self->list;
	struct view_host *host = list->view.host;
	struct kinds_informer_state state = kinds_informer_state_of(self->informer);
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct draw_style accent = list->is_stale ? dim : host_style(host, ROLE_ACCENT);
	size_t shown = resource_collection_count(list->rows),
	       total = resource_collection_total(list->rows),
	       marked = resource_collection_marked_count(list->rows);
	const char *filter = resource_collection_filter_text(list->rows);
	int col = !total && !state.is_synced ? draw_region_textf(r, 0, 0, r.cols, dim,
						       "%s: no answer yet", word_of(list->kind))
		  : shown == total ? draw_region_textf(r, 0, 0, r.cols, accent, "%zu %s", shown,
					     word_of(list->kind))
				   : draw_region_textf(r, 0, 0, r.cols, accent, "%zu of %zu %s",
					     shown, total, word_of(list->kind));
	if (state.n_dropped)
		col += draw_region_textf(r, 0, col, r.cols - col,
			host_style(host, ROLE_WARNING), "  %zu more are not kept",
			state.n_dropped);
	if (marked)
		col += draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_MARKED),
			"  %zu marked", marked);
	if (*filter)
		draw_region_textf(
			r, 0, col, r.cols - col, host_style(host, ROLE_TEXT), "  /%s", filter);
}

/* What may not be read, and the rule that is missing, from that row on. Returns the rows it takes. */
static int draw_forbidden(struct views_resources *self, struct draw_region r, int row, int cols)
{
	struct view_host *host = self->list.view.host;
	struct draw_style disabled = host_style(host, ROLE_DISABLED);
	struct str what, fix;
	int taken = 0, room = r.rows / FORBIDDEN_SHARE;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_kind_forbidden_format(self->informer, &what, &fix);
	if (what.n) {
		int used = draw_region_text(
			r, row, 0, cols, host_style(host, ROLE_WARNING), what.p);
		taken = 1;
		if (used + 3 + draw_text_cols(fix.p) <= cols) {
			draw_region_textf(r, row, used, cols - used, disabled, " · %s", fix.p);
		} else if (room > 0) {
			struct draw_region rest = draw_region_sub(r, 0, row + 1, r.cols, room);
			int wanted = widget_wrap_draw(rest, 0, 2, disabled, slice_of(fix.p));
			taken += wanted < room ? wanted : room;
		}
	}
	str_deinit(&what);
	str_deinit(&fix);
	return taken;
}

/* How fresh it is, and what is wrong. Returns the rows of all that stands above the table. */
static int draw_head(struct views_resources *self, struct draw_region r)
{
	struct views_list *list = &self->list;
	struct view_host *host = list->view.host;
	struct kinds_informer_state state = kinds_informer_state_of(self->informer);
	struct draw_region second = draw_region_sub(r, 0, 1, r.cols, 1);
	bool is_bad = state.is_synced && !state.is_live && !state.is_forbidden;
	draw_counters(self, draw_region_sub(r, 0, 0, r.cols, 1));
	int age_cols = state.is_synced && !state.is_forbidden
			       ? views_list_draw_age(list, second, state.age_ms, is_bad)
			       : 0;
	if (state.is_forbidden || state.is_polled)
		return HEAD_ROWS - 1 + draw_forbidden(self, r, 1, r.cols - age_cols);
	if (list->is_stale) /* said in the row under the tabs */
		return HEAD_ROWS;
	if (is_bad || (!state.is_synced && state.err))
		draw_region_textf(second, 0, 0, r.cols - age_cols,
			host_style(host, ROLE_WARNING), "! %s %s%s%s", word_of(list->kind),
			state.name, state.err ? ": " : "", state.err ? state.err->msg : "");
	else if (!state.is_synced)
		draw_region_textf(second, 0, 0, r.cols, host_style(host, ROLE_BUSY),
			"asking %s …", engine_server(host->engine));
	return HEAD_ROWS;
}

static void draw_empty(struct views_resources *self, struct draw_region r)
{
	const struct views_list *list = &self->list;
	struct draw_style dim = host_style(list->view.host, ROLE_DIM);
	struct kinds_informer_state state = kinds_informer_state_of(self->informer);
	const char *namespace_ = kinds_informer_namespace(self->informer);
	if (state.is_forbidden)
		draw_region_textf(r, 1, 2, r.cols - 2, dim, "%s may not be listed here.",
			word_of(list->kind));
	else if (!state.is_synced)
		draw_region_text(r, 1, 2, r.cols - 2, dim, "waiting for the first answer …");
	else if (*resource_collection_filter_text(list->rows))
		draw_region_text(
			r, 1, 2, r.cols - 2, dim, "Nothing fits the filter. Esc clears it.");
	else if (*namespace_)
		draw_region_textf(r, 1, 2, r.cols - 2, dim, "No %s in namespace %s.",
			word_of(list->kind), namespace_);
	else
		draw_region_textf(r, 1, 2, r.cols - 2, dim, "No %s.", word_of(list->kind));
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_resources *self = resources_of(view);
	struct views_list *list = &self->list;
	list->shows_seconds = false;
	list->is_stale = view_host_is_stale(view->host);
	list->rows_shown = 0;
	watch(self);
	if (!self->informer) {
		draw_region_text(r, 0, 0, r.cols, host_style(view->host, ROLE_WARNING),
			self->watch_err.msg);
		return;
	}
	views_list_follow(list);
	views_list_keep_cursor(list);
	int head = draw_head(self, r);
	if (!views_list_draw(
		    list, r, head, !*kinds_informer_namespace(self->informer), is_focused))
		draw_empty(self, draw_region_sub(r, 0, list->first_row, r.cols,
					 r.rows - list->first_row));
}

/* ---- hands */

/* The row under the cursor; it lives for this turn: whoever is given it copies. */
static bool row_args(const struct views_list *list, struct view_args *out, struct err *err)
{
	const struct resource_kind *kind = list->kind;
	const void *row = views_list_row(list);
	if (!row)
		return err_set(err, ERR_ARG_INVALID, "nothing is selected");
	*out = (struct view_args){
		.uid = list->cursor,
		.kind = kind,
		.namespace_ = kind->namespace_column == RESOURCE_NONE
				      ? ""
				      : kind->columns[kind->namespace_column].value(row).text,
		.name = kind->columns[kind->name_column].value(row).text,
	};
	return true;
}

static bool open_on_row(struct views_list *list, const char *view, struct err *err)
{
	struct view_args opts;
	if (!row_args(list, &opts, err))
		return false;
	list->view.host->ops->open(list->view.host, view, &opts);
	return true;
}

static bool run_logs(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_row(self, "logs", err);
}

static bool run_edit(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	struct view_args row;
	(void)args;
	if (!row_args(list, &row, err))
		return false;
	const struct engine_object_id id =
		engine_kind_object(row.kind, row.namespace_, row.name);
	return views_edits_start(list->view.host, &id, err);
}

static bool run_detail(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_row(self, "resource", err);
}

/* Of a namespace: it is looked at from now on. */
static bool run_enter(void *self, const char *args, struct err *err)
{
	struct views_list *list = self;
	struct view_args row;
	int64_t number;
	if (strcmp(list->kind->name, "namespaces") != 0)
		return run_detail(self, args, err);
	if (!row_args(list, &row, err))
		return false;
	if (strcmp(row.name, "all") == 0 || num_parse_i64(row.name, 0, INT64_MAX, &number))
		return err_set(err, ERR_ARG_INVALID,
			"the command means something else by '%s': start with -n %s", row.name,
			row.name);
	char *line = x_asprintf("namespace %s", row.name);
	list->view.host->ops->run(list->view.host, line);
	free(line);
	return true;
}

static bool run_yaml(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_row(self, "yaml", err);
}

static bool run_tree(void *self, const char *args, struct err *err)
{
	(void)args;
	return open_on_row(self, "tree", err);
}

static bool run_action(void *self, const char *args, struct err *err)
{
	struct views_resources *resources = self;
	struct views_list *list = self;
	if (!*args)
		return err_set(err, ERR_ARG_INVALID, "action NAME");
	if (!resources->informer) {
		err_copy(err, &resources->watch_err);
		return false;
	}
	const char **uids = x_calloc(TARGETS_MAX, sizeof *uids);
	size_t n = views_list_marked_or_cursor(list, uids, TARGETS_MAX);
	bool ok = views_resources_act_start(
		&list->view, &resources->act, resources->informer, args, uids, n, err);
	free(uids);
	return ok;
}

static bool run_delete(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_action(self, "delete", err);
}

static bool run_scale(void *self, const char *args, struct err *err)
{
	char *line = x_asprintf("scale %s", args);
	bool ok = run_action(self, line, err);
	free(line);
	return ok;
}

static bool run_aside(void *self, const char *args, struct err *err)
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

static bool fits_tree(const struct view *view)
{
	return list_of(view)->kind->relations != NULL;
}

static bool fits_scale(const struct view *view)
{
	return resource_find_action(list_of(view)->kind, "scale") != NULL;
}

static bool fits_delete(const struct view *view)
{
	return resource_find_action(list_of(view)->kind, "delete") != NULL;
}

static bool fits_aside(const struct view *view)
{
	return list_of(view)->kind->is_aside != NULL;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "move the cursor",
		.run = views_list_move },
	{ "mark", "[all|none|FILTER]", "mark one, all that are shown, those that fit, or none",
		.run = views_list_mark, .complete = views_list_complete_mark },
	{ "sort", "COLUMN", "sort by a column; the same again reverses", .run = views_list_sort,
		.complete = views_list_complete_sort },
	{ "detail", "", "everything about the one under the cursor", .run = run_detail,
		.aliases = "describe" },
	{ "enter", "", "everything about it; a namespace is looked at", .run = run_enter },
	{ "yaml", "", "the one under the cursor as YAML", .run = run_yaml },
	{ "logs", "", "the log of the pod under the cursor", .run = run_logs },
	{ "edit", "", "change the one under the cursor in your editor", .run = run_edit },
	{ "tree", "", "what belongs to it and whose it is", .run = run_tree,
		.fits = fits_tree },
	{ "aside", "", "show or hide those of others", .run = run_aside, .fits = fits_aside },
	{ "scale", "[N]", "how many warm sandboxes there shall be", .run = run_scale,
		.fits = fits_scale },
	{ "delete", "", "delete what is selected (asks)", .run = run_delete,
		.fits = fits_delete },
	{ "action", "NAME [ARG…]", "what its kind can do besides", .run = run_action },
};

static bool can(const struct view *view, const char *command, struct err *err)
{
	const struct resource_kind *kind = list_of(view)->kind;
	bool is_action = strcmp(command, "delete") == 0 || strcmp(command, "scale") == 0;
	if (strcmp(command, "aside") == 0)
		return kind->is_aside ||
		       err_set(err, ERR_OP_UNSUPPORTED, "%s are all shown", word_of(kind));
	return !is_action || views_resources_act_can(view->host, kind, command,
				     views_list_row(list_of(view)), err);
}

static bool escape(struct view *view)
{
	return views_list_clear_marks(list_of(view));
}

static const char *busy(const struct view *view, struct str *into)
{
	const struct views_resources *self = resources_of(view);
	if (!self->act)
		return NULL;
	views_resources_act_format(self->act, into);
	return into->p;
}

static void title(const struct view *view, struct str *out)
{
	str_add(out, word_of(list_of(view)->kind));
}

static bool shows(const struct view *view, const struct view_args *args)
{
	return args->kind == list_of(view)->kind;
}

static struct view *open_list(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	if (!args->kind || !args->kind->resource) {
		err_set(err, ERR_ARG_INVALID, "it is not said which kind");
		return NULL;
	}
	struct views_resources *self = x_calloc(1, sizeof *self);
	views_list_init(&self->list, host, &view_resources, args->kind, source);
	watch(self);
	if (self->informer)
		return &self->list.view;
	err_copy(err, &self->watch_err);
	self->list.view.class->free(&self->list.view);
	return NULL;
}

static void free_list(struct view *view)
{
	struct views_resources *self = resources_of(view);
	views_resources_act_cancel(self->act);
	engine_unwatch_kind(view->host->engine, self->informer);
	views_list_deinit(&self->list);
	free(self);
}

const struct view_class view_resources = {
	.name = "resources",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_list,
	.free = free_list,
	.title = title,
	.draw = draw,
	.mouse = views_list_mouse,
	.changed = views_list_changed,
	.can = can,
	.escape = escape,
	.busy = busy,
	.filter = views_list_filter,
	.filter_text = views_list_filter_text,
	.filter_error = views_list_filter_error,
	.filter_complete = views_list_filter_complete,
	.shows = shows,
	.redraw_after_ms = views_list_redraw_after_ms,
};
