// SPDX-License-Identifier: Apache-2.0
// Help shows every key and every command of the views, and the key table only binds commands that exist.
#include "tests/unit/tui/views/fake.h"

#include "tui/view/keys.h"
#include "tui/views/actions/actions.h"

static char *help_of(struct fake *fake, const char *filter)
{
	struct err err;
	struct view_args args = { 0 };
	struct view *view = view_help.open(&fake->host, &args, &err);
	assert_non_null(view);
	if (filter)
		view->class->filter(view, filter);
	char *text = fake_draw(view, 400, 500);
	view->class->free(view);
	return text;
}

/* "tab 2" to "tab 9" are said by the first of them. */
static bool is_numbered(const char *command)
{
	size_t n = strlen(command);
	return n > 2 && command[n - 2] == ' ' && command[n - 1] >= '2' && command[n - 1] <= '9';
}

static bool is_first_of_command(size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (view_key_rows[i].scope == view_key_rows[at].scope &&
			strcmp(view_key_rows[i].command, view_key_rows[at].command) == 0)
			return false;
	return true;
}

static void test_everything_is_there(void **state)
{
	struct fake *fake = fake_new(false);
	char *text = help_of(fake, NULL);
	(void)state;
	for (size_t i = 0; i < views_n_key_rows; i++)
		if (!is_numbered(view_key_rows[i].command) && is_first_of_command(i) &&
			!strstr(text, view_key_rows[i].help))
			fail_msg("'%s' is not in the help", view_key_rows[i].help);
	for (size_t i = 0; i < views_n_rows; i++) {
		const struct view_class *class = views_rows[i].class;
		for (size_t k = 0; k < class->n_commands; k++)
			if (!strstr(text, class->commands[k].help))
				fail_msg("%s of %s is not in the help", class->commands[k].name,
					class->name);
	}
	free(text);
	text = help_of(fake, "no such key at all");
	assert_non_null(strstr(text, "Nothing fits the filter."));
	free(text);
	text = help_of(fake, "SCROLL UP");
	assert_non_null(strstr(text, "scroll up"));
	assert_null(strstr(text, "follow the newest"));
	free(text);
	fake_free(fake);
}

static bool has_command(const struct view_class *class, const char *line)
{
	size_t n = strcspn(line, " ");
	for (size_t i = 0; i < class->n_commands; i++)
		if (strlen(class->commands[i].name) == n &&
			strncmp(class->commands[i].name, line, n) == 0)
			return true;
	for (size_t i = 0; class->targets && i < views_n_row_commands; i++)
		if (strlen(views_row_commands[i].name) == n &&
			strncmp(views_row_commands[i].name, line, n) == 0)
			return true;
	return false;
}

static void test_keys_of_these_views_bind_their_commands(void **state)
{
	static const struct {
		enum view_key_scope scope;
		const struct view_class *class;
	} cases[] = {
		{ SCOPE_DETAIL, &view_detail },
		{ SCOPE_FILES, &view_files },
		{ SCOPE_LOG, &view_log },
		{ SCOPE_COPIES, &view_copies },
		{ SCOPE_HELP, &view_help },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t k = 0; k < views_n_key_rows; k++)
			if (view_key_rows[k].scope == cases[i].scope &&
				!has_command(cases[i].class, view_key_rows[k].command))
				fail_msg("%s: nothing runs '%s'", view_key_rows[k].key,
					view_key_rows[k].command);
}

static void test_views_are_found_by_their_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < views_n_rows; i++)
		assert_ptr_equal(views_find(views_rows[i].class->name), views_rows[i].class);
	assert_null(views_find("no such view"));
	assert_null(views_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_there),
		cmocka_unit_test(test_views_are_found_by_their_names),
		cmocka_unit_test(test_keys_of_these_views_bind_their_commands),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
