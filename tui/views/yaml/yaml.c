// SPDX-License-Identifier: Apache-2.0
// An object as the server has it, as YAML. Of a sandbox it is one of the objects that its row is joined from: a key goes to the
// next. What looks like a secret is masked until the person says otherwise, of this object and in this view alone.
//
//   object: fetched when it is turned to and on demand; the text is made of it anew when what is shown of it changes
#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "tui/views/edit/edit.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"
#include "tui/widgets/pager.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES_MAX = 64 << 20, WHEEL_ROWS = 3 };

struct views_yaml {
	struct view view;
	char *uid;                        /* of the row; NULL: none was given */
	const struct resource_kind *kind; /* NULL: a sandbox */
	struct engine_object_id targets[ENGINE_ROW_OBJECTS_MAX]; /* the texts are ours */
	size_t n_targets, at;
	struct engine_object_call *fetch;
	struct err fetch_err;
	int64_t read_mono_ms; /* 0: not yet */
	cJSON *object;
	struct engine_yaml_opts shown;
	size_t n_secrets;
	struct str text;
	size_t *lines; /* where each begins, and where the text ends */
	size_t n_lines, capacity;
	struct widget_pager pager;
};

static struct views_yaml *yaml_of(const struct view *view)
{
	return (struct views_yaml *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_YAML;
}

/* ---- the text */

static void build(struct views_yaml *self)
{
	str_deinit(&self->text);
	str_init(&self->text, TEXT_BYTES_MAX);
	self->n_lines = 0;
	self->n_secrets =
		self->object ? engine_object_yaml(self->object, &self->shown, &self->text) : 0;
	const char *text = self->text.p;
	for (size_t at = 0; at < self->text.n; self->n_lines++) {
		array_grow(
			&self->lines, &self->capacity, self->n_lines + 2, sizeof *self->lines);
		self->lines[self->n_lines] = at;
		const char *end = memchr(text + at, '\n', self->text.n - at);
		at = end ? (size_t)(end - text) + 1 : self->text.n + 1;
		self->lines[self->n_lines + 1] = at;
	}
	host_dirty(self->view.host);
}

static struct slice line_of(void *arg, size_t index)
{
	const struct views_yaml *self = arg;
	size_t from = self->lines[index], to = self->lines[index + 1] - 1;
	return (struct slice){ self->text.p + from, to - from };
}

/* Where the key of a line ends, its colon included; 0: it has none. */
static size_t key_end(struct slice text)
{
	size_t at = 0;
	while (at < text.n && (text.p[at] == ' ' || text.p[at] == '-'))
		at++;
	if (at < text.n && (text.p[at] == '"' || text.p[at] == '\'')) {
		const char *end = memchr(text.p + at + 1, text.p[at], text.n - at - 1);
		at = end ? (size_t)(end - text.p) + 1 : text.n;
	}
	for (; at < text.n; at++)
		if (text.p[at] == ':' && (at + 1 == text.n || text.p[at + 1] == ' '))
			return at + 1;
	return 0;
}

static struct draw_style style_of(
	void *arg, size_t index, struct slice text, size_t at, size_t *n)
{
	const struct views_yaml *self = arg;
	struct view_host *host = self->view.host;
	size_t key = key_end(text);
	(void)index;
	if (at < key) {
		*n = key - at;
		return host_style(host, ROLE_LINK);
	}
	*n = text.n - at;
	/* marks of the mask alone: a text that only has them inside is as it is */
	const char *mask = memmem(text.p + key, text.n - key, "********", 8);
	bool is_masked = mask && text.n - key == 11 && mask == text.p + key + 2;
	return host_style(
		host, is_masked && !self->shown.has_secrets ? ROLE_WARNING : ROLE_TEXT);
}

static struct widget_pager_source source_of(struct views_yaml *self)
{
	return (struct widget_pager_source){ self->n_lines, line_of, style_of, self };
}

/* ---- the object */

static void on_fetched(void *arg, const struct err *err, const cJSON *object)
{
	struct views_yaml *self = arg;
	self->fetch = NULL;
	self->fetch_err = (struct err){ 0 };
	self->read_mono_ms = clock_mono_ms();
	if (err) {
		self->fetch_err = *err;
	} else {
		cJSON_Delete(self->object);
		self->object = cJSON_Duplicate(object, true);
	}
	build(self);
}

static void fetch(struct views_yaml *self)
{
	engine_object_cancel(self->fetch);
	self->fetch_err = (struct err){ 0 };
	self->fetch = engine_object_read(self->view.host->engine, &self->targets[self->at],
		on_fetched, self, &self->fetch_err);
	host_dirty(self->view.host);
}

/* Another object: nothing of the one before stays, what was allowed to be seen neither. */
static void turn_to(struct views_yaml *self, size_t at)
{
	self->at = at;
	cJSON_Delete(self->object);
	self->object = NULL;
	self->read_mono_ms = 0;
	self->shown.has_secrets = false;
	self->pager.top = (struct widget_pager_place){ 0 };
	self->pager.has_match = false;
	build(self);
	fetch(self);
}

/* ---- drawing */

static void draw_head(struct views_yaml *self, struct draw_region r)
{
	struct view_host *host = self->view.host;
	const struct engine_object_id *id = &self->targets[self->at];
	struct draw_style dim = host_style(host, ROLE_DIM);
	struct str found;
	int col = draw_region_textf(
		r, 0, 0, r.cols, host_style(host, ROLE_ACCENT), "%s %s", id->word, id->name);
	if (self->n_targets > 1)
		col += draw_region_textf(r, 0, col, r.cols - col, dim, "  %zu of %zu",
			self->at + 1, self->n_targets);
	if (self->read_mono_ms) {
		char age[CLOCK_AGE_BYTES];
		col += draw_region_textf(r, 0, col, r.cols - col, dim, "  read %s ago",
			clock_format_age(clock_mono_ms() - self->read_mono_ms, age));
	}
	if (self->n_secrets)
		col += draw_region_textf(r, 0, col, r.cols - col,
			host_style(host, ROLE_WARNING), "  %zu secret%s %s", self->n_secrets,
			self->n_secrets == 1 ? "" : "s",
			self->shown.has_secrets ? "shown" : "masked");
	if (!self->pager.needle)
		return;
	str_init(&found, 64);
	widget_pager_format_search(&self->pager, &found);
	draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_TEXT), "  /%s  %s",
		self->pager.needle, found.p);
	str_deinit(&found);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_yaml *self = yaml_of(view);
	struct widget_pager_source source = source_of(self);
	struct view_host *host = view->host;
	const struct widget_pager_styles styles = { host_style(host, ROLE_TEXT),
		host_style(host, ROLE_MARKED), host_style(host, ROLE_CURSOR),
		host_style(host, ROLE_DIM) };
	int row = 1;
	(void)is_focused;
	draw_head(self, draw_region_sub(r, 0, 0, r.cols, 1));
	if (self->fetch_err.code != ERR_NONE)
		draw_region_textf(r, row++, 0, r.cols, host_style(host, ROLE_ERROR), "%s: %s",
			self->object ? "it cannot be read any more" : "it cannot be read",
			self->fetch_err.msg);
	else if (!self->object)
		draw_region_text(
			r, row++, 0, r.cols, host_style(host, ROLE_DIM), "reading it …");
	widget_pager_draw(&self->pager, &source, &styles,
		draw_region_sub(r, 0, row, r.cols, r.rows - row));
}

/* ---- hands */

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	struct widget_pager_source source = source_of(self);
	host_dirty(self->view.host);
	return widget_pager_move(&self->pager, &source, args, err);
}

static bool run_next(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	struct widget_pager_source source = source_of(self);
	host_dirty(self->view.host);
	return widget_pager_next(&self->pager, &source, strcmp(args, "back") != 0, err);
}

static bool run_fold(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	(void)args;
	(void)err;
	widget_pager_fold(&self->pager, !self->pager.is_folded);
	host_dirty(self->view.host);
	return true;
}

static bool run_copy(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	struct view_host *host = self->view.host;
	(void)args;
	if (!self->text.n)
		return err_set(err, ERR_ARG_INVALID, "there is nothing to copy yet");
	host->ops->copy_text(host, (struct slice){ self->text.p, self->text.n });
	view_host_notef(host, NOTE_OK, "copied %zu lines, as they are shown", self->n_lines);
	return true;
}

static bool run_refresh(void *arg, const char *args, struct err *err)
{
	(void)args;
	(void)err;
	fetch(arg);
	return true;
}

static bool run_object(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	for (size_t i = 0; i < self->n_targets; i++)
		if (*args && strcmp(args, self->targets[i].word) == 0) {
			turn_to(self, i);
			return true;
		}
	if (*args && strcmp(args, "next") != 0)
		return err_set(err, ERR_ARG_INVALID, "there is no '%s' here", args);
	if (self->n_targets > 1)
		turn_to(self, (self->at + 1) % self->n_targets);
	return true;
}

static bool run_managed(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	(void)args;
	(void)err;
	self->shown.has_managed_fields = !self->shown.has_managed_fields;
	build(self);
	return true;
}

static void on_reveal(void *arg, struct widget_dialog *dialog, int button)
{
	struct views_yaml *self = arg;
	(void)dialog;
	if (button != 0)
		return;
	self->shown.has_secrets = true;
	build(self);
}

static bool run_secrets(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	struct view_host *host = self->view.host;
	(void)args;
	if (!self->n_secrets)
		return err_set(err, ERR_ARG_INVALID, "nothing is masked here");
	if (self->shown.has_secrets) {
		self->shown.has_secrets = false;
		build(self);
		return true;
	}
	struct widget_dialog *dialog =
		widget_dialog_new("Show the secrets on the screen?", on_reveal, self, NULL);
	widget_dialog_set_owner(dialog, self);
	widget_dialog_add_textf(dialog, "%zu value%s of %s %s", self->n_secrets,
		self->n_secrets == 1 ? "" : "s", self->targets[self->at].word,
		self->targets[self->at].name);
	widget_dialog_add_text(
		dialog, "Whoever sees this terminal, or its recording, sees them too.");
	widget_dialog_add_button(dialog, "&Show");
	widget_dialog_focus_button(dialog, widget_dialog_add_button(dialog, "&Cancel"));
	host->ops->push_dialog(host, dialog);
	return true;
}

static bool run_edit(void *arg, const char *args, struct err *err)
{
	struct views_yaml *self = arg;
	(void)args;
	return views_edits_start(self->view.host, &self->targets[self->at], err);
}

static bool can(const struct view *view, const char *command, struct err *err)
{
	const struct views_yaml *self = yaml_of(view);
	return strcmp(command, "edit") != 0 ||
	       engine_object_may_verb(
		       view->host->engine, &self->targets[self->at], "patch", "", err);
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last|left|right|start", "scroll",
		.run = run_move },
	{ "next", "[back]", "the next place that is searched for, or the one before",
		.run = run_next },
	{ "fold", "", "fold long lines, or cut them", .run = run_fold },
	{ "copy", "", "the text to the clipboard, as it is shown", .run = run_copy },
	{ "refresh", "", "read it again", .run = run_refresh },
	{ "object", "[next|claim|sandbox|pod]", "another object of this sandbox",
		.run = run_object },
	{ "edit", "", "change it in your editor", .run = run_edit },
	{ "managed", "", "show or hide metadata.managedFields", .run = run_managed },
	{ "secrets", "", "show what is masked (asks), or mask it again", .run = run_secrets },
};

static void filter(struct view *view, const char *text)
{
	struct views_yaml *self = yaml_of(view);
	struct widget_pager_source source = source_of(self);
	widget_pager_search(&self->pager, &source, text);
	host_dirty(view->host);
}

static const char *filter_text(const struct view *view)
{
	const char *needle = yaml_of(view)->pager.needle;
	return needle ? needle : "";
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_yaml *self = yaml_of(view);
	struct widget_pager_source source = source_of(self);
	if (mouse->action == MOUSE_WHEEL_UP)
		widget_pager_scroll(&self->pager, &source, -WHEEL_ROWS);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		widget_pager_scroll(&self->pager, &source, WHEEL_ROWS);
	host_dirty(view->host);
	return true;
}

static void title(const struct view *view, struct str *out)
{
	const struct views_yaml *self = yaml_of(view);
	str_addf(out, "yaml %s", self->targets[self->at].name);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_yaml *self = yaml_of(view);
	if (self->kind || !self->uid || !max)
		return 0;
	uids[0] = self->uid;
	return 1;
}

static bool shows(const struct view *view, const struct view_args *args)
{
	const struct views_yaml *self = yaml_of(view);
	return self->uid && args->uid && strcmp(self->uid, args->uid) == 0;
}

static int64_t redraw_after_ms(const struct view *view)
{
	return yaml_of(view)->read_mono_ms ? 1000 : 0;
}

/* ---- life */

static void keep_target(struct views_yaml *self, const struct engine_object_id *id)
{
	struct engine_object_id *own = &self->targets[self->n_targets++];
	*own = *id;
	own->namespace_ = x_strdup(id->namespace_ ? id->namespace_ : "");
	own->name = x_strdup(id->name);
	own->word = x_strdup(id->word);
}

static struct view *open_yaml(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	bool is_kind = args->kind && args->kind->resource;
	struct engine_object_id found[ENGINE_ROW_OBJECTS_MAX];
	size_t n = 0;
	if (is_kind && args->name) {
		found[0] = engine_kind_object(args->kind, args->namespace_, args->name);
		n = 1;
	} else if (!is_kind && args->uid) {
		n = engine_row_objects(host->engine, args->uid, found);
	}
	if (!n) {
		err_set(err, ERR_ARG_INVALID,
			engine_fleet(host->engine)
				? "nothing is selected"
				: "there are no objects behind a direct URL");
		return NULL;
	}
	struct views_yaml *self = x_calloc(1, sizeof *self);
	self->view.class = &view_yaml;
	self->view.host = host;
	self->kind = is_kind ? args->kind : NULL;
	self->uid = x_strdup(args->uid);
	for (size_t i = 0; i < n; i++)
		keep_target(self, &found[i]);
	turn_to(self, 0);
	return &self->view;
}

static void free_yaml(struct view *view)
{
	struct views_yaml *self = yaml_of(view);
	engine_object_cancel(self->fetch);
	cJSON_Delete(self->object);
	str_deinit(&self->text);
	widget_pager_deinit(&self->pager);
	for (size_t i = 0; i < self->n_targets; i++) {
		free((char *)(uintptr_t)self->targets[i].namespace_);
		free((char *)(uintptr_t)self->targets[i].name);
		free((char *)(uintptr_t)self->targets[i].word);
	}
	free(self->lines);
	free(self->uid);
	free(self);
}

const struct view_class view_yaml = {
	.name = "yaml",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_yaml,
	.free = free_yaml,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.can = can,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.shows = shows,
	.redraw_after_ms = redraw_after_ms,
};
