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

enum {
	KEY_COLS = 13,
	COMMAND_COLS = 34,
	LINES_MAX = 2000,
	FILTER_BYTES = 128,
	NARROWEST_KEY = 38, /* columns of keys are at least so wide, and of commands: */
	NARROWEST_COMMAND = 60,
	COLUMNS_MAX = 3,
};

struct line {
	char *key; /* NULL: a title; "": a command */
	char *what;
	const char *command; /* of a key; its help, of a command */
	enum view_key_scope scope;
};

struct help {
	struct view view;
	struct line *lines;
	size_t n, capacity;
	size_t top, n_rows; /* rows: of the last draw, all of them */
	int rows;
	int before; /* the scope that stands first */
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
	help->lines[help->n++] =
		(struct line){ key ? x_strdup(key) : NULL, x_strdup(what), command, scope_ };
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

/* One row for all keys of a command. */
static bool is_first(const struct view_key_row *rows, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (rows[i].scope == rows[at].scope &&
			strcmp(rows[i].command, rows[at].command) == 0)
			return false;
	return true;
}

/* Of "tab 1" to "tab 9" the first stands for all. */
static bool is_numbered(const struct view_key_row *row)
{
	size_t n = strlen(row->command);
	return n > 2 && row->command[n - 2] == ' ' && row->command[n - 1] >= '2' &&
	       row->command[n - 1] <= '9';
}

static void add_scope(struct help *help, int scope_at)
{
	size_t n;
	const struct view_key_row *rows = view_keys(&n);
	bool has_title = false;
	for (size_t i = 0; i < n; i++) {
		if ((int)rows[i].scope != scope_at || is_numbered(&rows[i]) ||
			!is_first(rows, i))
			continue;
		struct str keys;
		str_init(&keys, 1024);
		for (size_t k = i; k < n; k++)
			if (rows[k].scope == rows[i].scope &&
				strcmp(rows[k].command, rows[i].command) == 0)
				str_addf(&keys, "%s%s", k == i ? "" : " ", rows[k].key);
		if (fits(help, keys.p, rows[i].help, rows[i].command)) {
			if (!has_title)
				add(help, rows[i].scope, NULL,
					view_key_scope_title(rows[i].scope), NULL);
			has_title = true;
			add(help, rows[i].scope, keys.p, rows[i].help, rows[i].command);
		}
		str_deinit(&keys);
	}
}

/* Those of the view that help was opened from stand first. */
static void add_keys(struct help *help)
{
	if (help->before == SCOPE_SHELL || help->before == SCOPE_TYPING)
		help->before = SCOPE_PREFIX;
	if (help->before >= 0)
		add_scope(help, help->before);
	for (int scope_at = 0; scope_at < SCOPE_COUNT; scope_at++)
		if (scope_at != help->before)
			add_scope(help, scope_at);
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
	for (size_t i = 0; i < help->n; i++) {
		free(help->lines[i].key);
		free(help->lines[i].what);
	}
	help->n = 0;
}

static void build(struct help *help)
{
	struct view_host *host = help->view.host;
	clear(help);
	help->before = host->ops->scope_before ? host->ops->scope_before(host) : -1;
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

static bool can_now(const struct view_host *host, const struct line *line, struct err *why)
{
	const char *typed = *line->key ? line->command : line->what;
	return !host->ops->can || host->ops->can(host, (int)line->scope, typed, why);
}

/* What it does, or would do and why it cannot, within its own columns. */
static void draw_entry(
	const struct view_host *host, struct draw_region r, const struct line *line)
{
	struct draw_style text = host_style(host, ROLE_TEXT), dim = host_style(host, ROLE_DIM);
	struct draw_style accent = host_style(host, ROLE_ACCENT);
	struct err why;
	bool is_command = !*line->key, can = can_now(host, line, &why);
	if (!can)
		text = accent = host_style(host, ROLE_DISABLED);
	int cols = is_command ? COMMAND_COLS : KEY_COLS;
	cols = cols < r.cols / 2 ? cols : r.cols / 2;
	draw_region_text(r, 0, 0, cols - 1, accent, is_command ? line->what : line->key);
	int col = cols;
	if (is_command && !can) {
		draw_region_text(r, 0, col, r.cols - col, text, why.msg);
		return;
	}
	col += draw_region_text(
		r, 0, col, r.cols - col, text, is_command ? line->command : line->what);
	int room = r.cols - col - 2;
	if (!can && room > 0)
		draw_region_text(r, 0, col + 2, room, text, why.msg);
	else if (!is_command && room > draw_text_cols(line->command) + 1)
		draw_region_textf(r, 0, col + 2, room, dim, ":%s", line->command);
}

/* A title and what stands under it, in as many columns as there is room for, each read from above to below. Returns the
 * rows; draws those that are in the region, `row` being where the first one would be. */
static int draw_section(
	const struct help *help, struct draw_region r, int row, size_t from, size_t to)
{
	const struct view_host *host = help->view.host;
	bool is_command = from + 1 < to && !*help->lines[from + 1].key;
	int narrowest = is_command ? NARROWEST_COMMAND : NARROWEST_KEY;
	int columns = (r.cols - 2) / narrowest, n = (int)(to - from) - 1;
	columns = columns < 1 ? 1 : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
	int rows = (n + columns - 1) / columns, width = (r.cols - 2) / columns;
	if (row >= 0)
		draw_region_text(r, row, 1, r.cols - 1, host_style(host, ROLE_HEADER),
			help->lines[from].what);
	for (int i = 0; i < n; i++) {
		int at = row + 1 + i % rows;
		if (at >= 0 && at < r.rows)
			draw_entry(host,
				draw_region_sub(r, 2 + i / rows * width, at, width - 2, 1),
				&help->lines[from + 1 + (size_t)i]);
	}
	return rows + 2; /* and a blank one */
}

static int draw_sections(const struct help *help, struct draw_region r, int top)
{
	int row = -top;
	for (size_t from = 0, to; from < help->n; from = to) {
		to = from + 1;
		while (to < help->n && help->lines[to].key)
			to++;
		row += draw_section(help, r, row, from, to);
	}
	return row + top;
}

static void draw(struct view *view, struct draw_region r, bool is_focused)
{
	struct help *help = help_of(view);
	const struct view_host *host = view->host;
	(void)is_focused;
	/* it is known only once it is drawn: until then the view before is still in front */
	if (host->ops->scope_before && host->ops->scope_before(host) != help->before)
		build(help);
	help->rows = r.rows;
	help->n_rows = (size_t)draw_sections(help, draw_region_sub(r, 0, 0, r.cols, 0), 0);
	size_t rows = (size_t)r.rows;
	if (help->top + rows > help->n_rows)
		help->top = help->n_rows > rows ? help->n_rows - rows : 0;
	draw_sections(help, r, (int)help->top);
	if (!help->n)
		draw_region_text(r, 0, 1, r.cols - 1, host_style(view->host, ROLE_DIM),
			"Nothing fits the filter. Esc clears it.");
}

static void scroll_to(struct help *help, size_t top)
{
	size_t rows = (size_t)(help->rows > 0 ? help->rows : 1);
	size_t last = help->n_rows > rows ? help->n_rows - rows : 0;
	help->top = top < last ? top : last;
	host_dirty(help->view.host);
}

static bool run_move(void *self, const char *args, struct err *err)
{
	struct help *help = self;
	size_t top = help->top;
	if (!widget_cursor_motion(args, help->rows, help->n_rows, &top, err))
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
