// SPDX-License-Identifier: Apache-2.0
// Everything about one object of a kind.
//
//   row:    from the informer of its list, which is kept while this is open
//   object: fetched when it opens and when the row changes, at most every FETCH_MS
//   kin:    the tree it stands in, read when the object is, at most every KIN_MS; its lines are what up and down choose from
#include "tui/views/detail/page.h"
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "tui/views/edit/edit.h"
#include "tui/views/resources/act.h"
#include "tui/views/resources/kin.h"
#include "tui/views/views.h"

#include <stdlib.h>
#include <string.h>

enum { FETCH_MS = 1000, KIN_MS = 3000, COLS_MIN = 8 };
#define NO_LINE ((size_t)-1)

struct views_resource {
	struct view view;
	const struct resource_kind *kind;
	char *uid, *namespace_, *name;
	struct kinds_informer *informer;
	uint64_t revision; /* of the informer, as far as it has been looked through */
	struct engine_object_call *fetch;
	cJSON *object; /* as fetched last; NULL: not yet */
	struct err fetch_err;
	int64_t fetched_mono_ms; /* 0: never */
	bool is_changed;         /* since it was fetched */
	struct views_resources_act *act;
	struct views_detail_lines known; /* of the row and the object, while there was a row */
	struct views_detail_page page;
	size_t kin_at; /* the line of the page that the tree stands before */
	struct views_resources_kin kin;
	size_t chosen; /* of the tree's lines; NO_LINE */
	int kin_row;   /* of the page, where they begin */
};

static struct views_resource *resource_of(const struct view *view)
{
	return (struct views_resource *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_RESOURCE;
}

/* ---- keeping it fresh */

static void look_at_change(void *arg, const char *uid, const void *row)
{
	struct views_resource *self = arg;
	(void)row;
	self->is_changed = self->is_changed || !uid || strcmp(uid, self->uid) == 0;
}

static void on_fetched(void *arg, const struct err *err, const cJSON *object)
{
	struct views_resource *self = arg;
	self->fetch = NULL;
	self->fetch_err = (struct err){ 0 };
	if (err) {
		self->fetch_err = *err;
	} else {
		cJSON_Delete(self->object);
		self->object = cJSON_Duplicate(object, true);
	}
	host_dirty(self->view.host);
}

static void keep_fresh(struct views_resource *self, bool is_there)
{
	struct resource_source source = kinds_informer_source(self->informer);
	uint64_t revision = resource_source_revision(&source);
	if (revision != self->revision)
		source.ops->changes(source.self, self->revision, look_at_change, self);
	self->revision = revision;
	int64_t now = clock_mono_ms();
	bool is_due = self->is_changed || !self->fetched_mono_ms;
	if (self->fetch || !is_due || (!is_there && self->fetched_mono_ms) ||
		(self->fetched_mono_ms && now - self->fetched_mono_ms < FETCH_MS))
		return;
	self->is_changed = false;
	self->fetched_mono_ms = now;
	views_resources_kin_refresh(&self->kin, KIN_MS);
	self->fetch = engine_object_start(self->view.host->engine, self->kind, self->namespace_,
		self->name, on_fetched, self, &self->fetch_err);
}

/* ---- drawing */

/* Lines of the page as they come; what the tree shows is not said twice. */
struct views_resource_writing {
	struct views_resource *self;
	const char *title; /* of a section that has no line yet */
	bool is_relations;
};

static void on_title(void *arg, const char *title)
{
	struct views_resource_writing *writing = arg;
	static const char *const after[] = { "Belongs to", "Conditions", "Labels",
		"Annotations" };
	struct views_resource *self = writing->self;
	writing->title = title;
	writing->is_relations = strcmp(title, after[0]) == 0;
	for (size_t i = 0; i < sizeof after / sizeof after[0]; i++)
		if (self->kin_at == NO_LINE && strcmp(title, after[i]) == 0)
			self->kin_at = self->known.n;
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	struct views_resource_writing *writing = arg;
	struct views_detail_lines *lines = &writing->self->known;
	if (writing->is_relations && engine_kind_of(label))
		return;
	if (writing->title)
		views_detail_title(lines, writing->title);
	writing->title = NULL;
	views_detail_add(lines, label, view_tone_role(tone), text, when_ms);
}

static void build(struct views_resource *self)
{
	struct views_detail_lines *lines = &self->page.lines;
	struct views_resource_writing writing = { .self = self };
	const struct resource_lines out = { on_title, on_line, &writing };
	struct resource_source source = kinds_informer_source(self->informer);
	struct kinds_informer_state state = kinds_informer_state_of(self->informer);
	const void *row = resource_source_find(&source, self->uid);
	keep_fresh(self, row != NULL);
	views_detail_clear(lines);
	views_detail_title(lines, self->name);
	if (!row && state.is_synced && !state.is_forbidden)
		views_detail_add(lines, "state", ROLE_GONE,
			"It is gone. What follows is the last that was known.", 0);
	if (self->fetch_err.code != ERR_NONE)
		views_detail_addf(lines, "object", ROLE_ERROR, 0, "%s: %s",
			err_name(&self->fetch_err), self->fetch_err.msg);
	else if (!self->object)
		views_detail_add(lines, "", ROLE_DIM, "reading the object …", 0);
	if (row || !self->known.n) {
		views_detail_clear(&self->known);
		self->kin_at = NO_LINE;
		kinds_page(self->kind, row, self->object, &out);
	}
	views_detail_append(lines, &self->known);
}

/* The tree says something: there is more in it than the object itself. */
static bool has_kin(const struct views_resource *self)
{
	return self->kin.n_lines > 1;
}

static int draw_kin(struct views_resource *self, struct draw_region r, int row)
{
	const struct view_host *host = self->view.host;
	if (!has_kin(self))
		return row;
	row++;
	if (row >= 0 && row < r.rows)
		draw_region_text(
			r, row, 0, r.cols, host_style(host, ROLE_HEADER), "Belongs together");
	self->kin_row = row + 1 + self->page.top;
	struct draw_region inner = draw_region_sub(r, 2, 0, r.cols - 2, r.rows);
	return row + 1 + views_resources_kin_draw(&self->kin, inner, row + 1, self->chosen);
}

static void draw_all(struct views_resource *self, struct draw_region r)
{
	const struct views_detail_lines *lines = &self->page.lines;
	size_t first = lines->n - self->known.n;
	size_t at = self->kin_at == NO_LINE ? lines->n : first + self->kin_at;
	int row = -self->page.top;
	for (size_t i = 0; i < lines->n; i++) {
		if (i == at)
			row = draw_kin(self, r, row);
		row += lines->lines[i].is_title && i;
		row += views_detail_line_draw(self->view.host, r, row, &lines->lines[i]);
	}
	if (at == lines->n)
		row = draw_kin(self, r, row);
	self->page.rows_in_all = row + self->page.top;
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_resource *self = resource_of(view);
	struct views_detail_page *page = &self->page;
	(void)is_focused;
	build(self);
	page->rows = r.rows;
	if (r.cols < COLS_MIN)
		return;
	if (!has_kin(self) || self->chosen >= self->kin.n_lines)
		self->chosen = NO_LINE;
	draw_all(self, r);
	int last = page->rows_in_all > r.rows ? page->rows_in_all - r.rows : 0;
	if (page->top > last) { /* it has become shorter */
		page->top = last;
		draw_region_fill(r, host_style(view->host, ROLE_TEXT));
		draw_all(self, r);
	}
	if (page->top < last)
		draw_region_text(
			r, r.rows - 1, r.cols - 1, 1, host_style(view->host, ROLE_DIM), "↓");
}

/* ---- hands */

static bool is_on_screen(const struct views_resource *self, size_t line)
{
	int row = self->kin_row + (int)line - self->page.top;
	return row >= 0 && row < self->page.rows;
}

/* Up and down go from line to line of the tree while that is on the screen, and scroll where it is not. True: done. */
static bool choose(struct views_resource *self, bool is_down)
{
	size_t n = has_kin(self) ? self->kin.n_lines : 0;
	size_t to = self->chosen == NO_LINE ? (is_down ? 0 : n - 1)
		    : is_down               ? self->chosen + 1
					    : self->chosen - 1;
	if (to >= n || !is_on_screen(self, to))
		return false;
	self->chosen = to;
	host_dirty(self->view.host);
	return true;
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_resource *resource = self;
	bool is_down = strcmp(args, "down") == 0;
	if ((is_down || strcmp(args, "up") == 0) && choose(resource, is_down))
		return true;
	return views_detail_page_move(resource->view.host, &resource->page, args, err);
}

static bool run_refresh(void *self, const char *args, struct err *err)
{
	struct views_resource *resource = self;
	(void)args;
	(void)err;
	resource->fetched_mono_ms = 0; /* the next frame asks */
	host_dirty(resource->view.host);
	return true;
}

static bool run_action(void *self, const char *args, struct err *err)
{
	struct views_resource *resource = self;
	const char *const uids[] = { resource->uid };
	if (!*args)
		return err_set(err, ERR_ARG_INVALID, "action NAME");
	return views_resources_act_start(
		&resource->view, &resource->act, resource->informer, args, uids, 1, err);
}

static bool open_as(const struct views_resource *self, const char *view)
{
	const struct view_args opts = { .uid = self->uid,
		.kind = self->kind,
		.namespace_ = self->namespace_,
		.name = self->name };
	self->view.host->ops->open(self->view.host, view, &opts);
	return true;
}

static bool run_yaml(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	return open_as(self, "yaml");
}

static bool run_logs(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	return open_as(self, "logs");
}

static bool run_edit(void *self, const char *args, struct err *err)
{
	const struct views_resource *resource = self;
	const struct engine_object_id id =
		engine_kind_object(resource->kind, resource->namespace_, resource->name);
	(void)args;
	return views_edits_start(resource->view.host, &id, err);
}

static bool run_open(void *arg, const char *args, struct err *err)
{
	struct views_resource *self = arg;
	(void)args;
	if (!has_kin(self))
		return err_set(err, ERR_ARG_INVALID, "nothing else is known to belong to it");
	if (self->chosen == NO_LINE)
		return err_set(err, ERR_ARG_INVALID,
			"choose what to open with up and down, or click it");
	return views_resources_kin_open(&self->kin, self->chosen, NULL, err);
}

static bool run_tree(void *self, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	return open_as(self, "tree");
}

static bool run_scale(void *self, const char *args, struct err *err)
{
	char *line = x_asprintf("scale %s", args);
	bool ok = run_action(self, line, err);
	free(line);
	return ok;
}

static bool run_delete(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_action(self, "delete", err);
}

static bool fits_tree(const struct view *view)
{
	return resource_of(view)->kind->relations != NULL;
}

static bool fits_scale(const struct view *view)
{
	return resource_find_action(resource_of(view)->kind, "scale") != NULL;
}

static bool fits_delete(const struct view *view)
{
	return resource_find_action(resource_of(view)->kind, "delete") != NULL;
}

static bool fits_open(const struct view *view)
{
	return has_kin(resource_of(view));
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "scroll", .run = run_move },
	{ "refresh", "", "fetch the object again", .run = run_refresh },
	{ "yaml", "", "it as YAML", .run = run_yaml },
	{ "logs", "", "the log of a pod", .run = run_logs },
	{ "edit", "", "change it in your editor", .run = run_edit },
	{ "open", "", "open what is chosen of what belongs to it", .run = run_open,
		.fits = fits_open },
	{ "tree", "", "what belongs to it and whose it is", .run = run_tree,
		.fits = fits_tree },
	{ "scale", "[N]", "how many warm sandboxes there shall be", .run = run_scale,
		.fits = fits_scale },
	{ "delete", "", "delete it (asks)", .run = run_delete, .fits = fits_delete },
	{ "action", "NAME [ARG…]", "what its kind can do besides", .run = run_action },
};

static bool can(const struct view *view, const char *command, struct err *err)
{
	const struct views_resource *self = resource_of(view);
	const struct resource_source source = kinds_informer_source(self->informer);
	bool is_action = strcmp(command, "delete") == 0 || strcmp(command, "scale") == 0;
	return !is_action || views_resources_act_can(view->host, self->kind, command,
				     resource_source_find(&source, self->uid), err);
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_resource *self = resource_of(view);
	int line = mouse->row + self->page.top - self->kin_row;
	views_detail_page_wheel(view->host, &self->page, mouse);
	if (mouse->action != MOUSE_PRESS || mouse->button != 1 || !has_kin(self) || line < 0 ||
		(size_t)line >= self->kin.n_lines)
		return true;
	self->chosen = (size_t)line;
	view->host->ops->run(view->host, "open");
	return true;
}

static void changed(struct view *view)
{
	host_dirty(view->host);
}

static void title(const struct view *view, struct str *out)
{
	str_add(out, resource_of(view)->name);
}

static bool shows(const struct view *view, const struct view_args *args)
{
	const struct views_resource *self = resource_of(view);
	return args->kind == self->kind && args->uid && strcmp(args->uid, self->uid) == 0;
}

static int64_t redraw_after_ms(const struct view *view)
{
	(void)view;
	return 1000; /* ages, and what is due to be asked again */
}

static struct view *open_page(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	if (!args->kind || !args->uid || !args->name) {
		err_set(err, ERR_ARG_INVALID, "nothing is selected");
		return NULL;
	}
	struct kinds_informer *informer = engine_watch_object(
		host->engine, args->kind, args->namespace_, args->name, err);
	if (!informer)
		return NULL;
	struct views_resource *self = x_calloc(1, sizeof *self);
	self->view.class = &view_resource;
	self->view.host = host;
	self->kind = args->kind;
	self->uid = x_strdup(args->uid);
	self->namespace_ = x_strdup(args->namespace_);
	self->name = x_strdup(args->name);
	self->informer = informer;
	self->chosen = self->kin_at = NO_LINE;
	views_resources_kin_init(&self->kin, host, args);
	return &self->view;
}

static void free_page(struct view *view)
{
	struct views_resource *self = resource_of(view);
	views_resources_act_cancel(self->act);
	engine_object_cancel(self->fetch);
	views_resources_kin_deinit(&self->kin);
	engine_unwatch_kind(view->host->engine, self->informer);
	cJSON_Delete(self->object);
	views_detail_clear(&self->known);
	views_detail_clear(&self->page.lines);
	free(self->uid);
	free(self->namespace_);
	free(self->name);
	free(self);
}

const struct view_class view_resource = {
	.name = "resource",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_page,
	.free = free_page,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.changed = changed,
	.can = can,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
