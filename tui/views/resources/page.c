// SPDX-License-Identifier: Apache-2.0
// Everything about one object of a kind.
//
//   row:    from the informer of its list, which is kept while this is open
//   object: fetched when it opens and when the row changes, at most every FETCH_MS
#include "tui/views/detail/page.h"
#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "tui/views/edit/edit.h"
#include "tui/views/resources/act.h"
#include "tui/views/views.h"

#include <stdlib.h>
#include <string.h>

enum { FETCH_MS = 1000 };

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
	self->fetch = engine_object_start(self->view.host->engine, self->kind, self->namespace_,
		self->name, on_fetched, self, &self->fetch_err);
}

/* ---- drawing */

static void on_title(void *arg, const char *title)
{
	views_detail_title(arg, title);
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	views_detail_add(arg, label, view_tone_role(tone), text, when_ms);
}

static void build(struct views_resource *self)
{
	struct views_detail_lines *lines = &self->page.lines;
	const struct resource_lines out = { on_title, on_line, &self->known };
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
		kinds_page(self->kind, row, self->object, &out);
	}
	views_detail_append(lines, &self->known);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_resource *self = resource_of(view);
	(void)is_focused;
	build(self);
	views_detail_page_draw(view->host, &self->page, r);
}

/* ---- hands */

static bool run_move(void *self, const char *args, struct err *err)
{
	struct views_resource *resource = self;
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
	return views_resources_act_start(&resource->view, &resource->act, resource->kind,
		kinds_informer_namespace(resource->informer), args, uids, 1, err);
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

static bool run_delete(void *self, const char *args, struct err *err)
{
	(void)args;
	return run_action(self, "delete", err);
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "scroll", .run = run_move },
	{ "refresh", "", "fetch the object again", .run = run_refresh },
	{ "yaml", "", "it as YAML", .run = run_yaml },
	{ "logs", "", "the log of a pod", .run = run_logs },
	{ "edit", "", "change it in your editor", .run = run_edit },
	{ "delete", "", "delete it (asks)", .run = run_delete },
	{ "action", "NAME [ARG…]", "what its kind can do besides", .run = run_action },
};

static bool can(const struct view *view, const char *command, struct err *err)
{
	const struct views_resource *self = resource_of(view);
	const struct resource_source source = kinds_informer_source(self->informer);
	return strcmp(command, "delete") != 0 ||
	       views_resources_act_can(view->host, self->kind, command,
		       resource_source_find(&source, self->uid), err);
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	views_detail_page_wheel(view->host, &resource_of(view)->page, mouse);
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
	if (!args->kind || !args->uid) {
		err_set(err, ERR_ARG_INVALID, "nothing is selected");
		return NULL;
	}
	const char *looked_at = host->ops->namespace_(host);
	struct kinds_informer *informer =
		engine_watch_kind(host->engine, args->kind, looked_at, NULL, err);
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
	return &self->view;
}

static void free_page(struct view *view)
{
	struct views_resource *self = resource_of(view);
	views_resources_act_cancel(self->act);
	engine_object_cancel(self->fetch);
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
