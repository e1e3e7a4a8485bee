// SPDX-License-Identifier: Apache-2.0
// Every key runs a command that exists where the key applies, and every command says what it does.
#include "tests/unit/unit.h"

#include "tui/app/internal.h"
#include "tui/client/internal.h"
#include "tui/workspace/internal.h"

#include <stdio.h>
#include <string.h>

static const struct view_class *const class_of_scope[SCOPE_COUNT] = {
	[SCOPE_LIST] = &view_sandboxes,
	[SCOPE_DETAIL] = &view_detail,
	[SCOPE_FILES] = &view_files,
	[SCOPE_LOG] = &view_log,
	[SCOPE_COPIES] = &view_copies,
	[SCOPE_HELP] = &view_help,
	[SCOPE_SCROLL] = &view_shell,
	[SCOPE_DEAD] = &view_shell,
	[SCOPE_SHELL] = &view_shell,
	[SCOPE_RESOURCES] = &view_resources,
	[SCOPE_TREE] = &view_tree,
	[SCOPE_LOGS] = &view_logs,
	[SCOPE_CONTEXTS] = &view_contexts,
	[SCOPE_BULK] = &view_bulk,
	[SCOPE_RESOURCE] = &view_resource,
	[SCOPE_YAML] = &view_yaml,
};

static struct workspace words; /* with nothing but the table of words */
static struct workspace_context context = { .workspace = &words };

struct look {
	const char *name;
	bool has_targets, found;
};

static void look_at(void *arg, const char *group, const struct view_command *command)
{
	struct look *look = arg;
	bool is_row_command = strcmp(group, "On sandboxes") == 0;
	if (strcmp(command->name, look->name) == 0 && (!is_row_command || look->has_targets))
		look->found = true;
}

static bool exists(enum view_key_scope scope, const char *line)
{
	char name[64];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(line, " "), line);
	const struct view_class *class = class_of_scope[scope];
	for (size_t i = 0; class && i < class->n_commands; i++)
		if (strcmp(class->commands[i].name, name) == 0)
			return true;
	/* global keys and those after the prefix act on any view: the shell's stand for all with a sandbox */
	for (size_t i = 0; scope == SCOPE_PREFIX && i < view_shell.n_commands; i++)
		if (strcmp(view_shell.commands[i].name, name) == 0)
			return true;
	struct look look = { name, !class || class->targets, false };
	workspace_command_each(&context.host, look_at, &look);
	return look.found;
}

static void test_every_key_has_its_command(void **state)
{
	(void)state;
	for (size_t i = 0; i < views_n_key_rows; i++)
		if (!exists(view_key_rows[i].scope, view_key_rows[i].command))
			fail_msg("%s: '%s' runs '%s', which does not exist",
				view_key_scope_title(view_key_rows[i].scope),
				view_key_rows[i].key, view_key_rows[i].command);
}

static void check_command(void *arg, const char *group, const struct view_command *command)
{
	(void)arg;
	assert_true(group && *group);
	assert_true(command->name && *command->name && command->help && *command->help);
	assert_non_null(command->args);
	assert_non_null(command->run);
	assert_null(strchr(command->name, ' '));
}

static void test_every_command_says_what_it_does(void **state)
{
	(void)state;
	workspace_command_each(&context.host, check_command, NULL);
	for (int scope = 0; scope < SCOPE_COUNT; scope++)
		for (size_t i = 0;
			class_of_scope[scope] && i < class_of_scope[scope]->n_commands; i++)
			check_command(NULL, class_of_scope[scope]->name,
				&class_of_scope[scope]->commands[i]);
}

/* ---- what else a row says */

struct taken {
	const char *word;
	size_t n;
};

static void count_word(void *arg, const char *group, const struct view_command *command)
{
	struct taken *taken = arg;
	(void)group;
	taken->n += strcmp(command->name, taken->word) == 0;
	const char *at = command->aliases ? strstr(command->aliases, taken->word) : NULL;
	size_t n = strlen(taken->word);
	for (; at; at = strstr(at + 1, taken->word))
		taken->n += (at == command->aliases || at[-1] == ' ') &&
			    (at[n] == 0 || at[n] == ' ');
}

static void check_aliases(void *arg, const char *group, const struct view_command *command)
{
	(void)arg;
	(void)group;
	char word[32];
	for (const char *at = command->aliases; at && *at; at += strspn(at, " ")) {
		snprintf(word, sizeof word, "%.*s", (int)strcspn(at, " "), at);
		at += strlen(word);
		struct taken taken = { word, 0 };
		workspace_command_each(&context.host, count_word, &taken);
		if (taken.n != 1)
			fail_msg("'%s' means %zu commands", word, taken.n);
	}
}

static void test_another_name_means_one_command(void **state)
{
	(void)state;
	struct taken taken = { "rm", 0 };
	workspace_command_each(&context.host, count_word, &taken);
	assert_int_equal(taken.n, 1);
	workspace_command_each(&context.host, check_aliases, NULL);
}

/* Where people type: a letter that leads away from there is one of those that have to stand alone. */
static void test_letters_of_panes_that_take_text(void **state)
{
	(void)state;
	size_t n = 0;
	for (size_t i = 0; i < views_n_key_rows; i++) {
		const struct view_key_row *row = &view_key_rows[i];
		if ((row->scope != SCOPE_SCROLL && row->scope != SCOPE_DEAD) || row->key[1])
			continue;
		char name[64];
		snprintf(name, sizeof name, "%.*s", (int)strcspn(row->command, " "),
			row->command);
		bool is_lone = false,
		     only_moves = !strcmp(name, "move") || !strcmp(name, "select");
		for (size_t k = 0; k < view_shell.n_commands; k++)
			if (strcmp(view_shell.commands[k].name, name) == 0)
				is_lone = view_shell.commands[k].is_lone;
		for (size_t k = 0; k < app_n_commands; k++)
			if (strcmp(app_commands[k].name, name) == 0)
				is_lone = app_commands[k].is_lone;
		if (is_lone == only_moves)
			fail_msg("'%s' runs '%s'", row->key, row->command);
		n += is_lone;
	}
	assert_int_equal(n, 4); /* y and q, r and x */
}

int main(void)
{
	words.opts.commands = app_commands;
	words.opts.n_commands = app_n_commands;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_has_its_command),
		cmocka_unit_test(test_every_command_says_what_it_does),
		cmocka_unit_test(test_another_name_means_one_command),
		cmocka_unit_test(test_letters_of_panes_that_take_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
