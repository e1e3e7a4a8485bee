// SPDX-License-Identifier: Apache-2.0
// The log of a container of a pod: the end of it first, and what comes, until one moves up; then the picture stands still and says how
// much has come since. (The log of sandmux itself is views/log.)
#include "engine/base/ansi.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "tui/views/logs/lines.h"
#include "tui/views/views.h"
#include "tui/widgets/dialog.h"
#include "tui/widgets/pager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TAIL_LINES = 5000,
	WHEEL_ROWS = 3,
	TIME_COLS = 24,
	SHOWN_BYTES = 1 << 20,
	SINCE_BYTES = 16
};

struct views_logs {
	struct view view;
	char *uid; /* of a sandbox; NULL */
	char *namespace_, *pod, *container;
	struct podlog *log;
	struct err start_err;
	bool is_previous, has_times;
	bool is_joining; /* the line before goes on */
	int64_t since_ms;
	char since[SINCE_BYTES];
	struct views_logs_lines lines;
	size_t n_new;     /* since the picture stands still */
	struct str shown; /* the line that is drawn */
	struct widget_pager pager;
};

static struct views_logs *logs_of(const struct view *view)
{
	return (struct views_logs *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_LOGS;
}

/* ---- lines as they are shown */

static struct slice line_of(void *arg, size_t index)
{
	struct views_logs *self = arg;
	const struct views_logs_line *line = views_logs_at(&self->lines, index);
	char time[CLOCK_RFC3339_BYTES];
	str_clear(&self->shown);
	if (self->has_times && line->wall_ns)
		str_addf(&self->shown, "%s ", clock_format_rfc3339(line->wall_ns, 3, time));
	ansi_strip((struct slice){ line->text, line->n }, &self->shown);
	return (struct slice){ self->shown.p, self->shown.n };
}

static struct draw_style style_of(
	void *arg, size_t index, struct slice text, size_t at, size_t *n)
{
	const struct views_logs *self = arg;
	struct view_host *host = self->view.host;
	const struct views_logs_line *line = views_logs_at(&self->lines, index);
	size_t time = self->has_times && line->wall_ns ? TIME_COLS : 0;
	*n = at < time ? time - at : text.n - at;
	return host_style(host, at < time       ? ROLE_DIM
				: line->is_note ? ROLE_WARNING
						: ROLE_TEXT);
}

static struct widget_pager_source source_of(struct views_logs *self)
{
	return (struct widget_pager_source){ self->lines.n, line_of, style_of, self };
}

/* ---- the log */

static void add(
	struct views_logs *self, int64_t wall_ns, struct slice text, bool is_note, bool joins)
{
	size_t gone = views_logs_add(&self->lines, wall_ns, text, is_note, joins);
	if (gone)
		widget_pager_dropped(&self->pager, gone);
	if (!self->pager.is_following)
		self->n_new++;
	host_dirty(self->view.host);
}

static void on_line(void *arg, const struct podlog_line *line)
{
	struct views_logs *self = arg;
	add(self, line->wall_ns, line->text, false, self->is_joining);
	self->is_joining = line->is_piece;
}

static void on_note(void *arg, const char *text)
{
	struct views_logs *self = arg;
	self->is_joining = false;
	add(self, 0, slice_of(text), true, false);
}

static void on_state(void *arg)
{
	host_dirty(((struct views_logs *)arg)->view.host);
}

static void begin(struct views_logs *self)
{
	const struct podlog_opts opts = {
		.namespace_ = self->namespace_,
		.pod = self->pod,
		.container = self->container,
		.is_following = !self->is_previous,
		.is_previous = self->is_previous,
		.since_ms = self->since_ms,
		.tail_lines = self->since_ms ? -1 : TAIL_LINES,
		.on_line = on_line,
		.on_note = on_note,
		.on_state = on_state,
		.arg = self,
	};
	podlog_stop(self->log);
	views_logs_clear(&self->lines);
	self->n_new = 0;
	self->is_joining = false;
	self->pager.top = (struct widget_pager_place){ 0 };
	self->pager.has_match = false;
	self->pager.is_following = true;
	self->log = engine_podlog_start(self->view.host->engine, &opts, &self->start_err);
	host_dirty(self->view.host);
}

/* ---- drawing */

static const char *state_text(const struct views_logs *self, enum draw_theme_role *role)
{
	const struct err *err = self->log ? podlog_err(self->log) : &self->start_err;
	enum podlog_state state = self->log ? podlog_state(self->log) : PODLOG_ENDED;
	*role = state == PODLOG_ENDED     ? (err ? ROLE_ERROR : ROLE_DIM)
		: state == PODLOG_WAITING ? ROLE_WARNING
					  : ROLE_BUSY;
	if (err)
		return err->msg;
	if (state == PODLOG_ENDED)
		return self->is_previous ? "as it was before the restart" : "it has ended";
	if (state != PODLOG_READING)
		return "asking …";
	*role = self->pager.is_following ? ROLE_OK : ROLE_WARNING;
	return self->pager.is_following ? "following" : "stands still";
}

static void draw_head(struct views_logs *self, struct draw_region r)
{
	struct view_host *host = self->view.host;
	struct draw_style dim = host_style(host, ROLE_DIM);
	const char *container = self->log ? podlog_container(self->log) : "";
	enum draw_theme_role role;
	const char *state = state_text(self, &role);
	int col = draw_region_textf(r, 0, 0, r.cols, host_style(host, ROLE_ACCENT), "%s%s%s",
		self->pod, *container ? " / " : "", container);
	if (self->is_previous)
		col += draw_region_text(
			r, 0, col, r.cols - col, host_style(host, ROLE_WARNING), "  previous");
	if (self->since_ms)
		col += draw_region_textf(
			r, 0, col, r.cols - col, dim, "  since %s", self->since);
	col += draw_region_textf(r, 0, col, r.cols - col, dim, "  %zu lines", self->lines.n);
	if (self->lines.n_dropped)
		col += draw_region_textf(r, 0, col, r.cols - col, dim,
			"  %zu older ones dropped", self->lines.n_dropped);
	col += draw_region_textf(
		r, 0, col, r.cols - col, host_style(host, role), "  %s", state);
	if (self->n_new && !self->pager.is_following)
		col += draw_region_textf(r, 0, col, r.cols - col,
			host_style(host, ROLE_WARNING), ", %zu more", self->n_new);
	if (!self->pager.needle)
		return;
	struct str found;
	str_init(&found, 64);
	widget_pager_format_search(&self->pager, &found);
	draw_region_textf(r, 0, col, r.cols - col, host_style(host, ROLE_TEXT), "  /%s  %s",
		self->pager.needle, found.p);
	str_deinit(&found);
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct views_logs *self = logs_of(view);
	struct view_host *host = view->host;
	struct widget_pager_source source = source_of(self);
	const struct widget_pager_styles styles = { host_style(host, ROLE_TEXT),
		host_style(host, ROLE_MARKED), host_style(host, ROLE_CURSOR),
		host_style(host, ROLE_DIM) };
	(void)is_focused;
	if (self->pager.is_following)
		self->n_new = 0;
	draw_head(self, draw_region_sub(r, 0, 0, r.cols, 1));
	struct draw_region rest = draw_region_sub(r, 0, 1, r.cols, r.rows - 1);
	widget_pager_draw(&self->pager, &source, &styles, rest);
	if (!self->lines.n && self->log && podlog_state(self->log) != PODLOG_ASKING &&
		!podlog_err(self->log))
		draw_region_text(rest, 0, 2, rest.cols - 2, host_style(host, ROLE_DIM),
			"It has written nothing.");
}

/* ---- hands */

static bool run_move(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	struct widget_pager_source source = source_of(self);
	bool ok = widget_pager_move(&self->pager, &source, args, err);
	if (ok && strcmp(args, "last") == 0)
		self->pager.is_following = true;
	host_dirty(self->view.host);
	return ok;
}

static bool run_next(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	struct widget_pager_source source = source_of(self);
	host_dirty(self->view.host);
	return widget_pager_next(&self->pager, &source, strcmp(args, "back") != 0, err);
}

static bool run_pause(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	(void)args;
	(void)err;
	self->pager.is_following = !self->pager.is_following;
	host_dirty(self->view.host);
	return true;
}

static bool run_fold(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	(void)args;
	(void)err;
	widget_pager_fold(&self->pager, !self->pager.is_folded);
	host_dirty(self->view.host);
	return true;
}

static bool run_times(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	(void)args;
	(void)err;
	self->has_times = !self->has_times;
	host_dirty(self->view.host);
	return true;
}

static bool run_previous(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	(void)args;
	(void)err;
	self->is_previous = !self->is_previous;
	begin(self);
	return true;
}

static bool run_since(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	int64_t ms = 0;
	if (strcmp(args, "all") != 0 && !clock_parse_duration(args, &ms))
		return err_set(err, ERR_ARG_INVALID, "since TIME, as 5m or 1h, or all");
	self->since_ms = ms;
	snprintf(self->since, sizeof self->since, "%s", args);
	begin(self);
	return true;
}

static bool run_container(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	size_t n = self->log ? podlog_n_containers(self->log) : 0, next = 0;
	for (size_t i = 0; i < n; i++) {
		const char *name = podlog_container_at(self->log, i);
		if (*args ? strcmp(name, args) == 0
			  : strcmp(name, podlog_container(self->log)) == 0)
			next = *args ? i + 1 : (i + 1) % n + 1;
	}
	if (!next)
		return err_set(err, ERR_ARG_INVALID,
			n ? "there is no container '%s'" : "its containers are not known%s",
			n ? args : "");
	char *name = x_strdup(podlog_container_at(self->log, next - 1));
	free(self->container);
	self->container = name;
	begin(self);
	return true;
}

/* ---- saving */

static void write_file(const struct views_logs *self, const char *path)
{
	struct view_host *host = self->view.host;
	struct err err = { 0 };
	struct str text;
	char time[CLOCK_RFC3339_BYTES];
	str_init(&text, (size_t)VIEWS_LOGS_BYTES_MAX * 2);
	for (size_t i = 0; i < self->lines.n; i++) {
		const struct views_logs_line *line = views_logs_at(&self->lines, i);
		if (line->is_note)
			continue;
		if (self->has_times && line->wall_ns)
			str_addf(&text, "%s ", clock_format_rfc3339(line->wall_ns, 9, time));
		str_add_bytes(&text, line->text, line->n);
		str_add_char(&text, '\n');
	}
	if (file_write_replace(path, (struct slice){ text.p, text.n }, 0600, &err))
		view_host_notef(host, NOTE_OK, "%zu lines are in %s", self->lines.n, path);
	else
		view_host_failf(host, &err, "Cannot save the log");
	str_deinit(&text);
}

struct saving {
	struct views_logs *self;
	char *path;
};

static void saving_free(void *arg)
{
	struct saving *saving = arg;
	free(saving->path);
	free(saving);
}

static void on_overwrite(void *arg, struct widget_dialog *dialog, int button)
{
	const struct saving *saving = arg;
	(void)dialog;
	if (button == 0)
		write_file(saving->self, saving->path);
}

static bool is_there(const char *path)
{
	struct err err = { 0 };
	size_t n;
	char *text = file_read(path, 0, &n, &err);
	free(text);
	return text || err.code != ERR_FILE_NOT_FOUND;
}

static bool run_save(void *arg, const char *args, struct err *err)
{
	struct views_logs *self = arg;
	struct view_host *host = self->view.host;
	if (!self->lines.n)
		return err_set(err, ERR_ARG_INVALID, "there is nothing to save yet");
	char *name = x_asprintf("%s.log", self->pod);
	char *path =
		*args == '/' ? x_strdup(args) : path_join(host->local_dir, *args ? args : name);
	free(name);
	if (!is_there(path)) {
		write_file(self, path);
		free(path);
		return true;
	}
	struct saving *saving = x_calloc(1, sizeof *saving);
	*saving = (struct saving){ self, path };
	struct widget_dialog *dialog =
		widget_dialog_new("Write over it?", on_overwrite, saving, saving_free);
	widget_dialog_set_owner(dialog, self);
	widget_dialog_add_textf(dialog, "%s is there already.", path);
	widget_dialog_add_button(dialog, "&Write");
	widget_dialog_focus_button(dialog, widget_dialog_add_button(dialog, "&Cancel"));
	host->ops->push_dialog(host, dialog);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last|left|right|start",
		"scroll; at the end it follows", .run = run_move },
	{ "next", "[back]", "the next place that is searched for, or the one before",
		.run = run_next },
	{ "pause", "", "stand still, or follow the newest", .run = run_pause },
	{ "previous", "", "of the container before it was started again, or now",
		.run = run_previous },
	{ "container", "[NAME]", "another container of the pod", .run = run_container },
	{ "since", "TIME|all", "only what is younger", .run = run_since },
	{ "timestamps", "", "show or hide when each line was written", .run = run_times },
	{ "fold", "", "fold long lines, or cut them", .run = run_fold },
	{ "save", "[FILE]", "to a file, as it was written (asks before it writes over one)",
		.run = run_save },
};

static void filter(struct view *view, const char *text)
{
	struct views_logs *self = logs_of(view);
	struct widget_pager_source source = source_of(self);
	widget_pager_search(&self->pager, &source, text);
	host_dirty(view->host);
}

static const char *filter_text(const struct view *view)
{
	const char *needle = logs_of(view)->pager.needle;
	return needle ? needle : "";
}

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct views_logs *self = logs_of(view);
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
	str_addf(out, "logs %s", logs_of(view)->pod);
}

static size_t targets(const struct view *view, const char **uids, size_t max)
{
	const struct views_logs *self = logs_of(view);
	if (!self->uid || !max)
		return 0;
	uids[0] = self->uid;
	return 1;
}

static bool shows(const struct view *view, const struct view_args *args)
{
	const struct views_logs *self = logs_of(view);
	if (args->uid && self->uid)
		return strcmp(self->uid, args->uid) == 0;
	return !args->uid == !self->uid && args->name && strcmp(args->name, self->pod) == 0 &&
	       args->namespace_ && strcmp(args->namespace_, self->namespace_) == 0;
}

/* ---- life */

static bool is_pods(const struct resource_kind *kind)
{
	return kind && strcmp(kind->name, "pods") == 0;
}

static void say_no_pod(const struct fleet_row *row, struct err *err)
{
	if (row == NULL)
		err_set(err, ERR_OP_UNSUPPORTED,
			"logs come from a pod, and none is known for it");
	else if (row->state == FLEET_SUSPENDED)
		err_set(err, ERR_SANDBOX_SUSPENDED,
			"it is suspended: it has no pod, and so no logs");
	else if (row->state == FLEET_READY) /* the watch has not told of it yet */
		err_set(err, ERR_SANDBOX_NOT_READY,
			"its pod is not known: its Sandbox has not been read yet");
	else
		err_set(err, ERR_SANDBOX_NOT_READY, "it has no pod, and so no logs");
}

static struct view *open_logs(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct fleet *fleet = engine_fleet(host->engine);
	const struct fleet_row *row = fleet && args->uid && !is_pods(args->kind)
					      ? fleet_find(fleet, args->uid)
					      : NULL;
	const char *pod = is_pods(args->kind) ? args->name : row ? row->pod : NULL;
	if (!pod || !*pod) {
		say_no_pod(row, err);
		return NULL;
	}
	struct views_logs *self = x_calloc(1, sizeof *self);
	self->view.class = &view_logs;
	self->view.host = host;
	self->uid = row ? x_strdup(args->uid) : NULL;
	self->namespace_ = x_strdup(row ? row->namespace_ : args->namespace_);
	self->pod = x_strdup(pod);
	str_init(&self->shown, SHOWN_BYTES);
	begin(self);
	return &self->view;
}

static void free_logs(struct view *view)
{
	struct views_logs *self = logs_of(view);
	podlog_stop(self->log);
	views_logs_clear(&self->lines);
	widget_pager_deinit(&self->pager);
	str_deinit(&self->shown);
	free(self->uid);
	free(self->namespace_);
	free(self->pod);
	free(self->container);
	free(self);
}

const struct view_class view_logs = {
	.name = "logs",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_logs,
	.free = free_logs,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.targets = targets,
	.filter = filter,
	.filter_text = filter_text,
	.shows = shows,
};
