// SPDX-License-Identifier: Apache-2.0
// Command lines: the words of the focused view, of rows, and of the application, in that order. Keys, palette,
// mouse and app_run() all end here.
#include "tui/workspace/internal.h"

#include "tui/widgets/fuzzy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 32, KINDS_MAX = 64 };

static const struct view_command *find(
	const struct view_command *table, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

static bool has_alias(const struct view_command *command, const char *typed)
{
	size_t n = strlen(typed);
	for (const char *at = command->aliases; at && *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");
		if (length == n && memcmp(at, typed, n) == 0)
			return true;
		at += length;
	}
	return false;
}

static const char *meant(const struct view_command *table, size_t n, const char *typed)
{
	for (size_t i = 0; i < n; i++)
		if (has_alias(&table[i], typed))
			return table[i].name;
	return NULL;
}

/* The command's name, what was typed for it translated; what follows it in the line. */
static const char *read_name(
	const struct workspace *ws, const char *line, char name[NAME_BYTES])
{
	line += strspn(line, " ");
	size_t n = strcspn(line, " ");
	snprintf(name, NAME_BYTES, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES), line);
	const char *other = meant(ws->opts.commands, ws->opts.n_commands, name);
	if (!other)
		other = meant(views_row_commands, views_n_row_commands, name);
	if (other)
		snprintf(name, NAME_BYTES, "%s", other);
	return line + n;
}

enum whose { OF_VIEW, OF_ROWS, OF_ALL };

static const struct view_command *find_in(const struct workspace *ws, const struct view *view,
	const char *name, enum whose *whose)
{
	const struct view_command *command =
		find(view->class->commands, view->class->n_commands, name);
	*whose = OF_VIEW;
	if (!command && view->class->targets) {
		command = find(views_row_commands, views_n_row_commands, name);
		*whose = OF_ROWS;
	}
	if (!command) {
		command = find(ws->opts.commands, ws->opts.n_commands, name);
		*whose = OF_ALL;
	}
	return command;
}

const struct view_command *workspace_command_find(
	const struct workspace *ws, const struct view *view, const char *line)
{
	char name[NAME_BYTES];
	enum whose whose;
	read_name(ws, line, name);
	return find_in(ws, view, name, &whose);
}

bool workspace_command_can(
	const struct workspace *ws, const struct view *view, const char *line, struct err *err)
{
	char name[NAME_BYTES];
	enum whose whose;
	read_name(ws, line, name);
	const struct view_command *command = find_in(ws, view, name, &whose);
	if (command && whose == OF_VIEW)
		return !view->class->can || view->class->can(view, name, err);
	if (!command || !command->has_right || !view->class->targets)
		return true;
	return views_actions_may(view, command->right, err);
}

bool workspace_command_fits(
	const struct workspace *ws, const struct view *view, const char *line)
{
	const struct view_command *command = workspace_command_find(ws, view, line);
	return !command || !command->fits || command->fits(view);
}

struct find_scope {
	enum view_key_scope scope;
	struct view *found;
};

static void look_for_scope(void *arg, struct view *view)
{
	struct find_scope *find = arg;
	if (!find->found && view_scope(view) == find->scope)
		find->found = view;
}

static struct view *view_before(const struct workspace *ws)
{
	const struct workspace_tab *from =
		workspace_tab(ws)->opener ? workspace_tab(ws)->opener : ws->tabs[0];
	return workspace_layout_data(from->focus);
}

int workspace_command_scope_before(const struct view_host *host)
{
	return (int)view_scope(view_before(workspace_of(host)));
}

bool workspace_command_can_in(
	const struct view_host *host, int scope, const char *line, struct err *err)
{
	struct workspace *ws = workspace_of(host);
	struct view *view = view_before(ws);
	bool is_any = scope == SCOPE_GLOBAL || scope == SCOPE_PREFIX;
	if (!is_any && view_scope(view) != (enum view_key_scope)scope) {
		struct find_scope other = { (enum view_key_scope)scope, NULL };
		workspace_tabs_each_view(ws, look_for_scope, &other);
		view = other.found;
	}
	return !view || workspace_command_can(ws, view, line, err);
}

/* A kind by its name: its list. */
static bool run_kind(void *self, const char *name, struct err *err)
{
	struct workspace *ws = self;
	const struct resource_kind *kind = engine_kind_find(name);
	const struct view_args args = { .kind = kind };
	if (!kind)
		return err_set(err, ERR_ARG_INVALID, "there is no command '%s' here", name);
	return workspace_tabs_open(
		ws, views_find(kind->resource ? "resources" : kind->name), &args, err);
}

/* Kinds as commands, for help and completion: those that have a list of their own as a command already are not among
 * them. */
static const struct view_command *kind_commands(size_t *n)
{
	static struct view_command rows[KINDS_MAX];
	size_t count = 0;
	for (size_t i = 0; engine_kinds[i] && count < KINDS_MAX; i++)
		if (engine_kinds[i]->resource)
			rows[count++] = (struct view_command){ engine_kinds[i]->word
								       ? engine_kinds[i]->word
								       : engine_kinds[i]->name,
				"", "the list of these", .run = run_kind };
	*n = count;
	return rows;
}

bool workspace_command_run(struct workspace *ws, const char *line, struct err *err)
{
	char name[NAME_BYTES];
	const char *args = read_name(ws, line, name);
	if (!name[0])
		return true;
	struct view *view = workspace_focused(ws);
	if (!workspace_command_can(ws, view, line, err))
		return false;
	args += strspn(args, " ");
	char *trimmed = x_strdup(args);
	for (size_t end = strlen(trimmed); end && trimmed[end - 1] == ' ';)
		trimmed[--end] = 0;
	enum whose whose;
	const struct view_command *command = find_in(ws, view, name, &whose);
	void *self = whose == OF_ALL ? (void *)ws->latest : (void *)view;
	bool ok = command && self ? command->run(self, trimmed, err) : run_kind(ws, name, err);
	free(trimmed);
	return ok;
}

void workspace_command_try(struct workspace *ws, const char *line)
{
	struct err err;
	if (workspace_command_run(ws, line, &err))
		return;
	/* what a person mistyped is no reason for a dialog */
	if (err.code == ERR_ARG_INVALID || err.code == ERR_OP_UNSUPPORTED ||
		err.code == ERR_OP_BUSY || err.code == ERR_CLAIM_UNCHANGED)
		view_host_notef(ws->host, NOTE_WARNING, "%s", err.msg);
	else
		view_host_failf(ws->host, &err, "Cannot %s", line);
}

/* ---- completion */

struct ranking {
	const struct view_command **out;
	int *scores;
	size_t n, max;
	const char *typed;
};

static int score_of(const struct view_command *command, const char *typed)
{
	int score = widget_fuzzy_score(typed, command->name);
	for (const char *at = command->aliases; at && *at; at += strspn(at, " ")) {
		char alias[NAME_BYTES];
		size_t n = strcspn(at, " ");
		snprintf(alias, sizeof alias, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES),
			at);
		int other = widget_fuzzy_score(typed, alias);
		score = *typed && other > score ? other : score;
		at += n;
	}
	return score;
}

/* Behind those that fit as well: the view's words come first. */
static void rank(struct ranking *ranking, const struct view_command *command)
{
	int score = score_of(command, ranking->typed);
	size_t at = ranking->n;
	for (size_t k = 0; k < ranking->n; k++)
		if (strcmp(ranking->out[k]->name, command->name) == 0)
			return;
	if (!score || (ranking->n == ranking->max && score <= ranking->scores[at - 1]))
		return;
	if (ranking->n < ranking->max)
		ranking->n++;
	else
		at--;
	for (; at > 0 && ranking->scores[at - 1] < score; at--) {
		ranking->out[at] = ranking->out[at - 1];
		ranking->scores[at] = ranking->scores[at - 1];
	}
	ranking->out[at] = command;
	ranking->scores[at] = score;
}

static void rank_all(struct ranking *ranking, const struct view_command *table, size_t n)
{
	for (size_t i = 0; i < n; i++)
		rank(ranking, &table[i]);
}

size_t workspace_command_complete(const struct workspace *ws, const char *typed,
	const struct view_command **out, size_t max)
{
	const struct view *view = workspace_focused(ws);
	int *scores = x_calloc(max, sizeof *scores);
	struct ranking ranking = { out, scores, 0, max, typed };
	size_t n_kinds;
	const struct view_command *kinds = kind_commands(&n_kinds);
	rank_all(&ranking, view->class->commands, view->class->n_commands);
	if (view->class->targets)
		rank_all(&ranking, views_row_commands, views_n_row_commands);
	rank_all(&ranking, ws->opts.commands, ws->opts.n_commands);
	rank_all(&ranking, kinds, n_kinds);
	free(scores);
	return ranking.n;
}

/* "on|off|toggle": all of them lower-case words, else they stand for something. */
static void add_words(
	const char *args, void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	size_t n = strlen(args);
	if (n && args[0] == '[')
		args++;
	for (const char *at = args; *at && *at != ']'; at += *at == '|') {
		char word[NAME_BYTES];
		size_t length = strcspn(at, "|]");
		bool is_word = length > 0 && length < sizeof word &&
			       strspn(at, "abcdefghijklmnopqrstuvwxyz-") == length;
		snprintf(word, sizeof word, "%.*s", (int)(is_word ? length : 0), at);
		if (is_word)
			add(add_arg, word);
		at += length;
	}
}

void workspace_command_complete_args(const struct workspace *ws, const char *line,
	void (*add)(void *add_arg, const char *candidate), void *add_arg)
{
	char name[NAME_BYTES];
	enum whose whose;
	struct view *view = workspace_focused(ws);
	const char *args = read_name(ws, line, name);
	const struct view_command *command = find_in(ws, view, name, &whose);
	void *self = whose == OF_ALL ? (void *)ws->latest : (void *)view;
	if (command && command->complete && self)
		command->complete(self, args + strspn(args, " "), add, add_arg);
	else if (command)
		add_words(command->args, add, add_arg);
}

void workspace_command_each(struct view_host *host,
	void (*fn)(void *arg, const char *group, const struct view_command *command), void *arg)
{
	const struct workspace *ws = workspace_of(host);
	for (size_t i = 0; i < ws->opts.n_commands; i++)
		fn(arg, "Everywhere", &ws->opts.commands[i]);
	size_t n_kinds;
	const struct view_command *kinds = kind_commands(&n_kinds);
	for (size_t i = 0; i < n_kinds; i++)
		fn(arg, "Everywhere", &kinds[i]);
	for (size_t i = 0; i < views_n_row_commands; i++)
		fn(arg, "On sandboxes", &views_row_commands[i]);
}

const char *workspace_command_help(const char *line)
{
	char name[NAME_BYTES];
	size_t n = strcspn(line, " "), n_kinds;
	snprintf(name, sizeof name, "%.*s", (int)(n < NAME_BYTES ? n : NAME_BYTES), line);
	const struct view_command *kinds = kind_commands(&n_kinds);
	const struct view_command *command =
		find(views_row_commands, views_n_row_commands, name);
	if (!command)
		command = find(kinds, n_kinds, name);
	for (size_t i = 0; i < views_n_rows && !command; i++)
		command = find(
			views_rows[i].class->commands, views_rows[i].class->n_commands, name);
	return command ? command->help : NULL;
}
