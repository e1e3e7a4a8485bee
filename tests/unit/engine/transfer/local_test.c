// SPDX-License-Identifier: Apache-2.0
#include "engine/transfer/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void renamed_names_keep_their_ending(void **state)
{
	static const struct {
		const char *name;
		int serial;
		const char *is;
	} cases[] = {
		{ "a.txt", 1, "a (1).txt" },
		{ "a.tar.gz", 2, "a.tar (2).gz" },
		{ "plain", 3, "plain (3)" },
		{ ".hidden", 1, ".hidden (1)" },
		{ "x.", 1, "x (1)." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *got = transfer_local_rename_candidate(cases[i].name, cases[i].serial);
		assert_string_equal(got, cases[i].is);
		free(got);
	}
}

static void long_names_stay_names(void **state)
{
	char name[256];

	(void)state;
	memset(name, 'n', 255);
	name[255] = 0;
	memcpy(name + 251, ".txt", 4);
	char *got = transfer_local_rename_candidate(name, 12);
	assert_int_equal(strlen(got), 255);
	assert_string_equal(got + 246, " (12).txt");
	free(got);
	/* the ending alone is too long */
	memset(name, 'e', 255);
	name[1] = '.';
	got = transfer_local_rename_candidate(name, 1);
	assert_true(strlen(got) <= 255);
	free(got);
	/* no half character: 127 of two bytes and one letter */
	for (int i = 0; i < 254; i += 2)
		memcpy(name + i, "\xc3\xbc", 2);
	name[254] = 'x';
	got = transfer_local_rename_candidate(name, 1);
	assert_true(strlen(got) <= 255);
	assert_int_equal((unsigned char)got[strlen(got) - 5], 0xbc);
	free(got);
}

static void paths_split_as_for_cp(void **state)
{
	static const struct {
		const char *path, *dir, *base;
	} cases[] = {
		{ "a", "", "a" },
		{ "a/b", "a", "b" },
		{ "a/b/", "a", "b" },
		{ "a//b///", "a", "b" },
		{ "/a", "/", "a" },
		{ "/", "/", "" },
		{ "", "", "" },
		{ ".", ".", "" },
		{ "a/.", "a/.", "" },
		{ "..", "..", "" },
		{ "a/..", "a/..", "" },
		{ "a/..x", "a", "..x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *dir, *base;
		transfer_local_split(cases[i].path, &dir, &base);
		if (strcmp(base, cases[i].base) != 0 ||
			(*base && strcmp(dir, cases[i].dir) != 0))
			fail_msg("%s: %s | %s", cases[i].path, dir, base);
		free(dir);
		free(base);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(renamed_names_keep_their_ending),
		cmocka_unit_test(long_names_stay_names),
		cmocka_unit_test(paths_split_as_for_cp),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
