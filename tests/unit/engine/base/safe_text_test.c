// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "engine/base/safe_text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static const struct {
	const char *what;
	const char *raw;
	const char *safe; /* NULL: unchanged */
	int cols;         /* of the safe text */
} cases[] = {
	{ "nothing", "", NULL, 0 },
	{ "ASCII", "hello, world ~", NULL, 14 },
	{ "newline", "a\nb", "a^Jb", 4 },
	{ "tab and return", "a\tb\r", "a^Ib^M", 6 },
	{ "escape", "\x1B[31mred\x1B[0m", "^[[31mred^[[0m", 14 },
	{ "clear screen", "\x1B[2J\x1B[H", "^[[2J^[[H", 9 },
	{ "bell, DEL", "\a\x7F", "^G^?", 4 },
	{ "C1 as UTF-8",
		"\xC2\x9B"
		"31m",
		"<U+009B>31m", 11 },
	{ "C1 as bytes",
		"\x9B"
		"31m",
		"\\x9B31m", 7 },
	{ "umlaut", "\xC3\xBC", NULL, 1 },
	{ "wide", "\xE4\xBD\xA0\xE5\xA5\xBD", NULL, 4 },
	{ "combining", "e\xCC\x81x", NULL, 2 },
	{ "two marks", "e\xCC\x81\xCC\xA7", NULL, 1 },
	{ "mark without base", "\xCC\x81x", "<U+0301>x", 9 },
	{ "mark after an escape", "\x01\xCC\x81", "^A<U+0301>", 10 },
	{ "mark after a newline", "\n\xCC\x81", "^J<U+0301>", 10 },
	{ "too many marks", "e\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81\xCC\x81",
		"e\xCC\x81\xCC\x81\xCC\x81\xCC\x81<U+0301><U+0301>", 17 },
	{ "RLO",
		"a\xE2\x80\xAE"
		"b",
		"a<U+202E>b", 10 },
	{ "isolates", "\xE2\x81\xA6\xE2\x81\xA9", "<U+2066><U+2069>", 16 },
	{ "marks of direction", "\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C", "<U+200E><U+200F><U+061C>",
		24 },
	{ "ZWSP",
		"a\xE2\x80\x8B"
		"b",
		"a<U+200B>b", 10 },
	{ "ZWNJ",
		"a\xE2\x80\x8C"
		"b",
		"a<U+200C>b", 10 },
	{ "ZWJ between letters",
		"a\xE2\x80\x8D"
		"b",
		"a<U+200D>b", 10 },
	{ "word joiner", "\xE2\x81\xA0", "<U+2060>", 8 },
	{ "BOM", "\xEF\xBB\xBFx", "<U+FEFF>x", 9 },
	{ "soft hyphen",
		"a\xC2\xAD"
		"b",
		"a<U+00AD>b", 10 },
	{ "grapheme joiner", "a\xCD\x8F", "a<U+034F>", 9 },
	{ "tag", "\xF3\xA0\x81\x81", "<U+E0041>", 9 },
	{ "variation selector on a letter", "a\xEF\xB8\x8F", "a<U+FE0F>", 9 },
	{ "variation selector 17", "a\xF3\xA0\x84\x80", "a<U+E0100>", 10 },
	{ "hangul filler", "\xE3\x85\xA4", "<U+3164>", 8 },
	{ "line separator", "\xE2\x80\xA8", "<U+2028>", 8 },
	{ "private use", "\xEE\x82\xA0", "<U+E0A0>", 8 },
	{ "unassigned", "\xCD\xB8", "<U+0378>", 8 },
	{ "noncharacter", "\xEF\xBF\xBF", "<U+FFFF>", 8 },
	{ "interlinear", "\xEF\xBF\xB9", "<U+FFF9>", 8 },
	{ "heart with VS16", "\xE2\x9D\xA4\xEF\xB8\x8F", NULL, 1 },
	{ "emoji", "\xF0\x9F\x98\x80", NULL, 2 },
	{ "skin tone", "\xF0\x9F\x91\x8D\xF0\x9F\x8F\xBD", NULL, 4 },
	{ "couple with ZWJ", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB", NULL, 4 },
	{ "ZWJ at the end of an emoji", "\xF0\x9F\x91\xA9\xE2\x80\x8D",
		"\xF0\x9F\x91\xA9<U+200D>", 10 },
	{ "ZWJ from an emoji to a letter", "\xF0\x9F\x91\xA9\xE2\x80\x8Dx",
		"\xF0\x9F\x91\xA9<U+200D>x", 11 },
	{ "keycap", "1\xEF\xB8\x8F\xE2\x83\xA3", NULL, 1 },
	{ "digit with VS16 alone", "1\xEF\xB8\x8Fx", "1<U+FE0F>x", 10 },
	{ "hangul jamo", "\xE1\x84\x80\xE1\x85\xA1", NULL, 2 },
	{ "overlong slash", "\xC0\xAF", "\\xC0\\xAF", 8 },
	{ "surrogate", "\xED\xA0\x80", "\\xED\\xA0\\x80", 12 },
	{ "beyond Unicode", "\xF4\x90\x80\x80", "\\xF4\\x90\\x80\\x80", 16 },
	{ "cut short", "a\xE4\xBD", "a\\xE4\\xBD", 9 },
	{ "stray continuation",
		"\x80"
		"a",
		"\\x80a", 5 },
	{ "our own notation", "<U+202E>", NULL, 8 },
};

static char *safe_of(const char *raw, enum safe_newline newline)
{
	struct str out;
	str_init(&out, 10000);
	safe_text_add(&out, slice_of(raw), newline);
	return str_take(&out);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *expected = cases[i].safe ? cases[i].safe : cases[i].raw;
		char *safe = safe_of(cases[i].raw, SAFE_NEWLINE_ESCAPE);
		if (strcmp(safe, expected) != 0)
			fail_msg("%s: %s, not %s", cases[i].what, safe, expected);
		if (safe_text_cols(slice_of(safe)) != cases[i].cols)
			fail_msg("%s: %d columns, not %d", cases[i].what,
				safe_text_cols(slice_of(safe)), cases[i].cols);
		if (safe_text_is_clean(slice_of(cases[i].raw)) != (cases[i].safe == NULL))
			fail_msg("%s: is_clean is wrong", cases[i].what);
		free(safe);
	}
}

static void test_nul_inside(void **state)
{
	(void)state;
	struct str out;
	str_init(&out, 100);
	safe_text_add(&out, (struct slice){ "a\0b", 3 }, SAFE_NEWLINE_ESCAPE);
	assert_string_equal(out.p, "a^@b");
	str_deinit(&out);
}

static void test_newlines_can_be_kept(void **state)
{
	(void)state;
	char *safe = safe_of("a\nb\r\n", SAFE_NEWLINE_KEEP);
	assert_string_equal(safe, "a\nb^M\n");
	free(safe);
}

/* Both walks agree with each other, with wcswidth() and with the whole. */
static void check_walks(const char *raw, size_t n)
{
	struct str whole, by_unit;
	str_init(&whole, 100000);
	str_init(&by_unit, 100000);
	struct slice rest = { raw, n };
	safe_text_add(&whole, rest, SAFE_NEWLINE_ESCAPE);
	int cols_raw = 0, cols_safe = 0, cols;
	size_t step, out_n;
	char unit[SAFE_UNIT_BYTES];
	while ((step = safe_text_next_raw(rest, unit, &out_n, &cols)) > 0) {
		assert_true(step <= rest.n && out_n <= SAFE_UNIT_BYTES && cols > 0);
		str_add_bytes(&by_unit, unit, out_n);
		cols_raw += cols;
		rest = (struct slice){ rest.p + step, rest.n - step };
	}
	assert_int_equal(rest.n, 0);
	assert_string_equal(whole.p, by_unit.p);
	rest = (struct slice){ whole.p, whole.n };
	while ((step = safe_text_next(rest, &cols)) > 0) {
		assert_true(cols == 1 || cols == 2);
		cols_safe += cols;
		rest = (struct slice){ rest.p + step, rest.n - step };
	}
	assert_int_equal(cols_raw, cols_safe);
	wchar_t wide[4096];
	size_t wide_n = mbstowcs(wide, whole.p, COUNT(wide));
	assert_true(wide_n < COUNT(wide));
	assert_int_equal(wcswidth(wide, wide_n), cols_safe);
	assert_true(safe_text_is_clean((struct slice){ whole.p, whole.n }));
	str_deinit(&whole);
	str_deinit(&by_unit);
}

static void test_walks_agree(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (size_t n = 0; n <= strlen(cases[i].raw); n++)
			check_walks(cases[i].raw, n);
}

static size_t encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xC0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xE0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xF0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Every code point, after a letter: what is shown has columns or is a mark of that letter. */
static void test_every_code_point(void **state)
{
	(void)state;
	char raw[8] = "a";
	for (uint32_t c = 1; c < 0x110000; c++) {
		size_t n = 1 + encode(c, raw + 1);
		struct slice text = { raw, n };
		if (!safe_text_is_clean(text))
			continue;
		int width = wcwidth((wchar_t)c);
		if (width < 0 || width > 2)
			fail_msg("U+%04X has %d columns and is shown", (unsigned)c, width);
		if (safe_text_cols(text) != 1 + width)
			fail_msg("U+%04X: %d columns", (unsigned)c, safe_text_cols(text));
		if (c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x202A && c <= 0x202E) ||
			(c >= 0x2066 && c <= 0x2069) || (c >= 0xD800 && c < 0xE000))
			fail_msg("U+%04X is shown", (unsigned)c);
	}
}

static void test_random_bytes(void **state)
{
	(void)state;
	static const char *const bits[] = { "a", "\xCC\x81", "\xE2\x80\x8D", "\xEF\xB8\x8F",
		"\xF0\x9F\x91\xA9", "\xE4\xBD\xA0", "\xE2\x80\xAE", "\x1B", "\xFF", "\xE4", "1",
		"\xE2\x83\xA3", "\xE1\x84\x80", "\xE1\x85\xA1", "\n" };
	unsigned seed = 1;
	for (int round = 0; round < 20000; round++) {
		char raw[80];
		size_t n = 0;
		for (int i = 0; i < 12; i++) {
			seed = seed * 1103515245 + 12345;
			const char *bit = bits[(seed >> 16) % COUNT(bits)];
			memcpy(raw + n, bit, strlen(bit));
			n += strlen(bit);
		}
		check_walks(raw, n);
	}
}

static void test_dup_cuts_between_characters(void **state)
{
	(void)state;
	char *text = safe_text_dup("hello", 5);
	assert_string_equal(text, "hello");
	free(text);
	text = safe_text_dup("hello!", 5);
	assert_string_equal(text, "he\xE2\x80\xA6");
	free(text);
	static const char raw[] = "\xE4\xBD\xA0\xE5\xA5\xBD\x1B\xCC\x81z";
	for (size_t max = 0; max < 20; max++) {
		text = safe_text_dup(raw, max);
		assert_true(strlen(text) <= max);
		assert_true(safe_text_is_clean(slice_of(text)));
		free(text);
	}
}

/* A sandbox can name a file so that its bytes would not fit: nothing is cut inside a character. */
static void test_add_stops_at_the_maximum(void **state)
{
	(void)state;
	for (size_t max = 0; max < 12; max++) {
		struct str out;
		str_init(&out, max);
		safe_text_add(&out, slice_of("\xE4\xBD\xA0\x1B\xE5\xA5\xBD\xE2\x80\xAE"),
			SAFE_NEWLINE_ESCAPE);
		assert_true(out.n <= max);
		assert_true(out.truncated);
		assert_true(safe_text_is_clean((struct slice){ out.p, out.n }));
		str_deinit(&out);
	}
}

static void test_without_utf8_all_is_ascii(void **state)
{
	(void)state;
	setlocale(LC_CTYPE, "C");
	char *safe = safe_of("a\xC3\xBC\xE4\xBD\xA0", SAFE_NEWLINE_ESCAPE);
	char *cut = safe_text_dup("abcdefgh", 6);
	setlocale(LC_CTYPE, "C.UTF-8");
	assert_string_equal(safe, "a<U+00FC><U+4F60>");
	assert_string_equal(cut, "abc...");
	free(safe);
	free(cut);
}

static void test_what_looks_like_a_secret(void **state)
{
	(void)state;
	static const struct {
		const char *from, *to;
	} words[] = {
		{ "", "" },
		{ "please run: login-plugin login", "please run: login-plugin login" },
		{ "cannot open /home/someone/.config/plugin/cache.json",
			"cannot open /home/someone/.config/plugin/cache.json" },
		{ "got eyJhbGciOi.JIUzI1NiIs.InR5cCI6", "got ******************************" },
		{ "Authorization: Bearer abc, bye", "Authorization: Bearer ***, bye" },
		{ "{\"token\":\"x1\"}", "{\"token\":\"**\"}" },
		{ "PASSWORD=hunter2 ok", "PASSWORD=******* ok" },
		{ "token", "token" },
		{ "\xff\xfe", "\xff\xfe" },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		char text[128];
		snprintf(text, sizeof text, "%s", words[i].from);
		safe_text_redact(text);
		assert_string_equal(text, words[i].to);
	}
}

/* After each of these words even a short one is taken for a secret, in whatever case; 20 characters are one anywhere. */
static void test_every_word_before_a_secret(void **state)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "Bearer abc", "Bearer ***" },
		{ "token abc", "token ***" },
		{ "TOKEN=abc", "TOKEN=***" },
		{ "token:abc", "token:***" },
		{ "token: abc", "token: ***" },
		{ "\"token\":\"abc\"", "\"token\":\"***\"" },
		{ "password=abc", "password=***" },
		{ "password: abc", "password: ***" },
		{ "secret=abc", "secret=***" },
		{ "secret: abc", "secret: ***" },
		{ "a token is", "a token **" },
		{ "the abc token", "the abc token" },
		{ "tokens abc", "tokens abc" },
		{ "1234567890123456789", "1234567890123456789" },
		{ "12345678901234567890", "********************" },
		{ "abc/12345678901234567890/x", "abc/********************/x" },
		{ "a+b-c.d_e~f0123456789", "*********************" },
		{ "name=12345678901234567890", "name=********************" },
		{ "1234567890123456789==", "*********************" },
		{ "", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[100];
		snprintf(text, sizeof text, "%s", rows[i].text);
		safe_text_redact(text);
		assert_string_equal(text, rows[i].want);
	}
}

/* However little may be kept: it fits, and no joiner is left that would join what comes next. */
static void test_no_joiner_at_the_cut(void **state)
{
	static const char *const texts[] = {
		"ab\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7xyz",
		"\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 and more than that",
		"z\xe2\x80\x8d\xe2\x80\x8d\xe2\x80\x8d\xe2\x80\x8dxyz",
	};
	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		for (size_t max = 0; max < strlen(texts[i]) + 40; max++) {
			char *text = safe_text_dup(texts[i], max);
			assert_true(strlen(text) <= max);
			if (strstr(text, "\xe2\x80\x8d\xe2\x80\xa6") != NULL)
				fail_msg("text %zu, %zu bytes: '%s'", i, max, text);
			free(text);
		}
}

int main(void)
{
	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_nul_inside),
		cmocka_unit_test(test_newlines_can_be_kept),
		cmocka_unit_test(test_walks_agree),
		cmocka_unit_test(test_every_code_point),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_dup_cuts_between_characters),
		cmocka_unit_test(test_add_stops_at_the_maximum),
		cmocka_unit_test(test_what_looks_like_a_secret),
		cmocka_unit_test(test_without_utf8_all_is_ascii),
		cmocka_unit_test(test_no_joiner_at_the_cut),
		cmocka_unit_test(test_every_word_before_a_secret),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
