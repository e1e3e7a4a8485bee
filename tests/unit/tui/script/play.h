// SPDX-License-Identifier: Apache-2.0
/* Scripts of what is done and what is seen (PROGRAM FOLDER [BEGINNING]): each file of the folder has steps ("> key j") and
 * after each of them what has changed. A run that shows anything else fails. SANDMUX_SCRIPTS_WRITE=1 writes what is
 * shown now into the files: read the difference before it is committed. "~" instead of ">": nothing is looked at, more
 * is to come. */
#pragma once

#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct play {
	void *(*begin)(struct str *out); /* a stage for one script; what is seen goes to out */
	void (*step)(void *stage, const char *line, bool is_shown);
	void (*end)(void *stage);
	void (*settle)(char *text); /* what differs in each run is made the same; may be NULL */
};

static const struct play *play;
static const char *play_folder;
enum { SCRIPTS_MAX = 128, SCRIPT_BYTES_MAX = 1 << 20 };

/* Comments, empty lines and steps as they are, and after each step what it shows. */
static inline char *play_perform(const char *script)
{
	struct str out;
	str_init(&out, SCRIPT_BYTES_MAX);
	void *stage = play->begin(&out);
	for (const char *line = script; *line;) {
		size_t n = strcspn(line, "\n");
		char *copy = x_strndup(line, n);
		if (n == 0 || strchr("#>~", *line))
			str_addf(&out, "%s\n", copy);
		if (*line == '>' || *line == '~')
			play->step(stage, copy + 2, *line == '>');
		free(copy);
		line += n + (line[n] == '\n');
	}
	play->end(stage);
	char *text = str_take(&out);
	if (play->settle)
		play->settle(text);
	str_deinit(&out);
	return text;
}

/* The first line that differs, and the step before it. */
static inline void play_compare(const char *name, const char *want, const char *is)
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
	fail_msg("%s/%s:%d differs, after %.*s\nexpected: %.*s\nshown:    %.*s", play_folder,
		name, number, (int)strcspn(step, "\n"), step, (int)strcspn(want + line, "\n"),
		want + line, (int)strcspn(is + line, "\n"), is + line);
}

static inline void play_test(void **state)
{
	const char *name = *state;
	struct err err;
	size_t n;
	char *path = x_asprintf("%s/%s", play_folder, name);
	char *script = file_read(path, SCRIPT_BYTES_MAX, &n, &err);
	if (!script)
		fail_msg("%s", err.msg);
	char *shown = play_perform(script);
	if (getenv("SANDMUX_SCRIPTS_WRITE") != NULL)
		assert_true(file_write_atomic(path, slice_of(shown), 0644, &err));
	else
		play_compare(name, script, shown);
	free(shown);
	free(script);
	free(path);
}

static inline int play_is_script(const struct dirent *entry)
{
	return strstr(entry->d_name, ".txt") != NULL;
}

static inline int play_main(const struct play *is, int argc, char **argv)
{
	struct dirent **entries;
	struct CMUnitTest tests[SCRIPTS_MAX];
	size_t n_tests = 0;
	play = is;
	play_folder = argc > 1 ? argv[1] : ".";
	int n = scandir(play_folder, &entries, play_is_script, alphasort);
	if (n <= 0 || n > SCRIPTS_MAX)
		return 1;
	memset(tests, 0, sizeof tests);
	for (int i = 0; i < n; i++) {
		if (argc > 2 && strncmp(entries[i]->d_name, argv[2], strlen(argv[2])) != 0)
			continue;
		tests[n_tests++] = (struct CMUnitTest){ .name = entries[i]->d_name,
			.test_func = play_test,
			.initial_state = entries[i]->d_name };
	}
	int failed =
		n_tests ? _cmocka_run_group_tests("scripts", tests, n_tests, NULL, NULL) : 1;
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	return failed;
}
