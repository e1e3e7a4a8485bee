// SPDX-License-Identifier: Apache-2.0
/* Scripts of what a person does and sees (script FOLDER [BEGINNING]): each file of the folder has steps ("> key j") and after each of them what has
 * changed on the screen. A run that shows anything else fails. SANDMUX_SCRIPTS_WRITE=1 writes what is shown now into
 * the files: read the difference before it is committed.
 *
 *   > key down          the step; "~" instead of ">": nothing is looked at, more is to come
 *    4| > name  Ready   row 4 is like this now
 *     |   kkkk  lllll   its roles, a letter each (picture.h); "b" the background's if another one, "a" attributes */
#include "tests/unit/tui/script/steps.h"

static const char *folder;
enum { SCRIPTS_MAX = 64, SCRIPT_BYTES_MAX = 1 << 20 };

static void run_step(struct stage *stage, const char *line, bool is_shown)
{
	char *copy = x_strdup(line), *args = strchr(copy, ' ');
	size_t n_steps = sizeof steps / sizeof steps[0], i = 0;
	args = args ? args : copy + strlen(copy);
	if (*args)
		*args++ = 0;
	while (i < n_steps && strcmp(steps[i].name, copy) != 0)
		i++;
	if (i == n_steps)
		fail_msg("there is no step '%s'", copy);
	stage->where = line;
	steps[i].run(stage, args);
	free(copy);
	if (stage->app && is_shown) {
		stage_compose(stage);
		picture_add(&stage->picture, stage->app->surface, stage->out);
	}
}

/* Comments, empty lines and steps as they are, and after each step what it shows. */
static char *perform(const char *script)
{
	struct str out;
	struct stage stage;
	str_init(&out, SCRIPT_BYTES_MAX);
	stage_init(&stage, &out);
	for (const char *line = script; *line;) {
		size_t n = strcspn(line, "\n");
		char *copy = x_strndup(line, n);
		if (n == 0 || strchr("#>~", *line))
			str_addf(&out, "%s\n", copy);
		if (*line == '>' || *line == '~')
			run_step(&stage, copy + 2, *line == '>');
		free(copy);
		line += n + (line[n] == '\n');
	}
	stage_deinit(&stage);
	char *text = str_take(&out);
	picture_settle_names(text);
	str_deinit(&out);
	return text;
}

/* The first line that differs, and the step before it. */
static void compare(const char *name, const char *want, const char *is)
{
	const char *step = want;
	size_t at = 0, line = 0;
	int number = 1;
	for (; want[at] && want[at] == is[at]; at++) {
		if (want[at] != '\n')
			continue;
		line = at + 1;
		number++;
		if (strchr(">~", want[line]))
			step = want + line;
	}
	if (want[at] == is[at])
		return;
	fail_msg("%s/%s:%d differs, after %.*s\nexpected: %.*s\nshown:    %.*s", folder, name,
		number, (int)strcspn(step, "\n"), step, (int)strcspn(want + line, "\n"),
		want + line, (int)strcspn(is + line, "\n"), is + line);
}

static void test_script(void **state)
{
	const char *name = *state;
	struct err err;
	size_t n;
	char *path = x_asprintf("%s/%s", folder, name);
	char *script = file_read(path, SCRIPT_BYTES_MAX, &n, &err);
	if (!script)
		fail_msg("%s", err.msg);
	char *shown = perform(script);
	if (getenv("SANDMUX_SCRIPTS_WRITE") != NULL)
		assert_true(file_write_atomic(path, slice_of(shown), 0644, &err));
	else
		compare(name, script, shown);
	free(shown);
	free(script);
	free(path);
}

static int is_script(const struct dirent *entry)
{
	return strstr(entry->d_name, ".txt") != NULL;
}

int main(int argc, char **argv)
{
	struct dirent **entries;
	struct CMUnitTest tests[SCRIPTS_MAX];
	size_t n_tests = 0;
	folder = argc > 1 ? argv[1] : ".";
	int n = scandir(folder, &entries, is_script, alphasort);
	if (n <= 0 || n > SCRIPTS_MAX)
		return 1;
	memset(tests, 0, sizeof tests);
	for (int i = 0; i < n; i++) {
		if (argc > 2 && strncmp(entries[i]->d_name, argv[2], strlen(argv[2])) != 0)
			continue;
		tests[n_tests++] = (struct CMUnitTest){ .name = entries[i]->d_name,
			.test_func = test_script,
			.initial_state = entries[i]->d_name };
	}
	int failed =
		n_tests ? _cmocka_run_group_tests("scripts", tests, n_tests, NULL, NULL) : 1;
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return failed;
}
