// SPDX-License-Identifier: Apache-2.0
// Keys and commands, made from their tables, so that this page cannot be wrong.
#include "tui/view/keys.h"

#include "engine/base/mem.h"
#include "tui/views/views.h"
#include "tui/widgets/cursor_motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { KEY_COLS = 14, COMMAND_COLS = 34, LINES_MAX = 2000, FILTER_BYTES = 128 };

struct line {
	const char *key; /* NULL: a title */
	char *what;
	const char *command; /* of a key; NULL */
	enum view_key_scope scope;
};

struct help {
	struct view view;
	struct line *lines;
	size_t n, capacity;
	size_t top;
	int rows;
	char filter[FILTER_BYTES];
};

static struct help *help_of(const struct view *view)
{
	return (struct help *)(uintptr_t)view;
}

static enum view_key_scope scope(const struct view *view)
{
	(void)view;
	return SCOPE_HELP;
}

static void add(struct help *help, enum view_key_scope scope_, const char *key,
	const char *what, const char *command)
{
	if (help->n >= LINES_MAX)
		return;
	array_grow(&help->lines, &help->capacity, help->n + 1, sizeof *help->lines);
	help->lines[help->n++] = (struct line){ key, x_strdup(what), command, scope_ };
}

static bool has_text(const char *text, const char *part)
{
	size_t n = strlen(part);
	for (; *text; text++)
		if (strncasecmp(text, part, n) == 0)
			return true;
	return n == 0;
}

static bool fits(const struct help *help, const char *a, const char *b, const char *c)
{
	return has_text(a, help->filter) || has_text(b, help->filter) ||
	       has_text(c, help->filter);
}

static void add_keys(struct help *help)
{
	size_t n_rows;
	const struct view_key_row *rows = view_keys(&n_rows);
	for (int scope_at = 0; scope_at < SCOPE_COUNT; scope_at++) {
		bool has_title = false;
		for (size_t i = 0; i < n_rows; i++) {
			const struct view_key_row *row = &rows[i];
			if ((int)row->scope != scope_at ||
				!fits(help, row->key, row->help, row->command))
				continue;
			if (!has_title)
				add(help, row->scope, NULL, view_key_scope_title(row->scope),
					NULL);
			has_title = true;
			add(help, row->scope, row->key, row->help, row->command);
		}
	}
}

struct views_group {
	struct help *help;
	const char *name;
	enum view_key_scope scope;
};

static void add_command(void *arg, const char *name, const struct view_command *command)
{
	struct views_group *group = arg;
	char title[128];
	if (!fits(group->help, command->name, command->args, command->help))
		return;
	if (!group->name || strcmp(group->name, name) != 0) {
		snprintf(title, sizeof title, "Commands, after ':' (%s)", name);
		add(group->help, group->scope, NULL, title, NULL);
		group->name = name;
	}
	snprintf(title, sizeof title, "%s%s%s", command->name, *command->args ? " " : "",
		command->args);
	/* the line's text is the command, its help stands where a key's command does */
	add(group->help, group->scope, "", title, command->help);
}

static void clear(struct help *help)
{
	for (size_t i = 0; i < help->n; i++)
		free(help->lines[i].what);
	help->n = 0;
}

static void build(struct help *help)
{
	struct view_host *host = help->view.host;
	clear(help);
	add_keys(help);
	struct views_group group = { help, NULL, SCOPE_GLOBAL };
	if (host->ops->each_command)
		host->ops->each_command(host, add_command, &group);
	for (size_t i = 0; i < views_n_rows; i++) {
		const struct view_class *class = views_rows[i].class;
		group.scope = views_rows[i].scope;
		for (size_t k = 0; k < class->n_commands; k++)
			add_command(&group, class->name, &class->commands[k]);
	}
}

static void draw_line(
	const struct view_host *host, struct draw_region r, int row, const struct line *line)
{
	struct draw_style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	struct draw_style accent = host_style(host, ROLE_ACCENT);
	struct err why;
	const char *typed = line->key && *line->key ? line->command : line->what;
	bool can = !line->key || !host->ops->can ||
		   host->ops->can(host, (int)line->scope, typed, &why);
	if (!can)
		text = accent = host_style(host, ROLE_DISABLED);
	if (!line->key) {
		draw_region_text(
			r, row, 1, r.cols - 1, host_style(host, ROLE_HEADER), line->what);
	} else if (!*line->key) { /* a command */
		int cols = COMMAND_COLS < r.cols / 2 ? COMMAND_COLS : r.cols / 2;
		draw_region_text(r, row, 3, cols - 1, accent, line->what);
		draw_region_text(r, row, 3 + cols, r.cols - 3 - cols, text,
			can ? line->command : why.msg);
	} else {
		draw_region_text(r, row, 3, KEY_COLS - 1, accent, line->key);
		int col = 3 + KEY_COLS;
		col += draw_region_text(r, row, col, r.cols - col, text, line->what);
		int room = r.cols - col - 2;
		if (!can && room > 0)
			draw_region_text(r, row, col + 2, room, text, why.msg);
		else if (room > draw_text_cols(line->command) + 1)
			draw_region_textf(r, row, col + 2, room, dim, ":%s", line->command);
	}
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct help *help = help_of(view);
	(void)is_focused;
	help->rows = r.rows;
	size_t rows = (size_t)r.rows;
	if (help->top + rows > help->n)
		help->top = help->n > rows ? help->n - rows : 0;
	for (size_t i = 0; i < rows && help->top + i < help->n; i++)
		draw_line(view->host, r, (int)i, &help->lines[help->top + i]);
	if (!help->n)
		draw_region_text(r, 0, 1, r.cols - 1, host_style(view->host, ROLE_DIM),
			"Nothing fits the filter. Esc clears it.");
}

static void scroll_to(struct help *help, size_t top)
{
	size_t rows = (size_t)(help->rows > 0 ? help->rows : 1);
	size_t last = help->n > rows ? help->n - rows : 0;
	help->top = top < last ? top : last;
	host_dirty(help->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct help *help = self;
	size_t top = help->top;
	if (!widget_cursor_motion(args, help->rows, help->n, &top, err))
		return false;
	scroll_to(help, top);
	return true;
}

static const struct view_command commands[] = {
	{ "move", "up|down|page-up|page-down|first|last", "scroll", .run = run_move },
};

static bool mouse(struct view *view, const struct draw_mouse *mouse)
{
	struct help *help = help_of(view);
	if (mouse->action == MOUSE_WHEEL_UP)
		scroll_to(help, help->top > 3 ? help->top - 3 : 0);
	else if (mouse->action == MOUSE_WHEEL_DOWN)
		scroll_to(help, help->top + 3);
	return true;
}

static void filter(struct view *view, const char *text)
{
	struct help *help = help_of(view);
	snprintf(help->filter, sizeof help->filter, "%s", text);
	build(help);
	scroll_to(help, 0);
}

static const char *filter_text(const struct view *view)
{
	return help_of(view)->filter;
}

static void title(const struct view *view, struct str *out)
{
	(void)view;
	str_add(out, "help");
}

static struct view *open_help(
	struct view_host *host, const struct view_args *args, struct err *err)
{
	struct help *help = x_calloc(1, sizeof *help);
	(void)args;
	(void)err;
	help->view.class = &view_help;
	help->view.host = host;
	build(help);
	return &help->view;
}

static void free_help(struct view *view)
{
	struct help *help = help_of(view);
	clear(help);
	free(help->lines);
	free(help);
}

const struct view_class view_help = {
	.name = "help",
	.scope = scope,
	.commands = commands,
	.n_commands = sizeof commands / sizeof commands[0],
	.open = open_help,
	.free = free_help,
	.title = title,
	.draw = draw,
	.mouse = mouse,
	.filter = filter,
	.filter_text = filter_text,
	.shows = view_is_the_only_one,
};
