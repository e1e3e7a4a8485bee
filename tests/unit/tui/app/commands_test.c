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
	[SCOPE_RESOURCE] = &view_resource,
};

static struct workspace words; /* with nothing but the table of words */

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
	workspace_command_each(&words.host, look_at, &look);
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
	workspace_command_each(&words.host, check_command, NULL);
	for (int scope = 0; scope < SCOPE_COUNT; scope++)
		for (size_t i = 0;
			class_of_scope[scope] && i < class_of_scope[scope]->n_commands; i++)
			check_command(NULL, class_of_scope[scope]->name,
				&class_of_scope[scope]->commands[i]);
}

int main(void)
{
	words.opts.commands = app_commands;
	words.opts.n_commands = app_n_commands;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_key_has_its_command),
		cmocka_unit_test(test_every_command_says_what_it_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
