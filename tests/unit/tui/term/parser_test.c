// SPDX-License-Identifier: Apache-2.0
/* Bytes to events: what is one run, what is cut anywhere, what is swallowed. Every input is fed whole and byte by byte:
 * but for how text is cut into runs, the events are the same. */
#include "tests/unit/unit.h"

#include "tui/term/parser.h"

#include <stdio.h>
#include <string.h>

static char said[2048];
static bool is_in_text;

static void say(bool is_text, const char *text)
{
	size_t n = strlen(said);
	const char *between = n == 0 || (is_text && is_in_text) ? "" : "|";
	snprintf(said + n, sizeof said - n, "%s%s", between, text);
	is_in_text = is_text;
}

static void on_text(const unsigned char *bytes, size_t n, void *arg)
{
	char text[512];
	assert_ptr_equal(arg, said);
	assert_true(n > 0);
	snprintf(text, sizeof text, "%.*s", (int)n, (const char *)bytes);
	say(true, text);
}

static void on_mark(uint32_t codepoint, void *arg)
{
	char text[32];
	(void)arg;
	snprintf(text, sizeof text, "mark %x", (unsigned)codepoint);
	say(false, text);
}

static void on_control(unsigned char c, void *arg)
{
	char text[32];
	(void)arg;
	snprintf(text, sizeof text, "control %02x", c);
	say(false, text);
}

static void on_esc(char intermediate, char final, void *arg)
{
	char text[32];
	(void)arg;
	snprintf(text, sizeof text, "esc %c%c", intermediate ? intermediate : ' ', final);
	say(false, text);
}

static void on_csi(const struct term_csi *csi, void *arg)
{
	char text[512];
	(void)arg;
	size_t n = (size_t)snprintf(text, sizeof text, "csi %c%c%c",
		csi->leader ? csi->leader : ' ', csi->intermediate ? csi->intermediate : ' ',
		csi->final);
	for (int i = 0; i < csi->count; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%c%d",
			csi->colons & 1u << i ? ':' : ' ', csi->params[i]);
	say(false, text);
}

static void on_string(char kind, char *string, size_t n, bool bell, void *arg)
{
	char text[128];
	(void)arg;
	assert_int_equal(string[n], 0);
	snprintf(text, sizeof text, "string %c %zu %.40s%s", kind, n, string,
		bell ? " bell" : "");
	say(false, text);
}

static const struct term_parser_events events = { on_text, on_mark, on_control, on_esc, on_csi,
	on_string };

static const char *parse(const char *input, size_t n, size_t step)
{
	struct term_parser parser;
	said[0] = '\0';
	is_in_text = false;
	term_parser_init(&parser, &events, said);
	for (size_t at = 0; at < n; at += step)
		term_parser_feed(&parser, (const unsigned char *)input + at,
			n - at < step ? n - at : step);
	term_parser_deinit(&parser);
	return said;
}

static const struct {
	const char *input;
	const char *events;
} cases[] = {
	{ "hello\r\n\tworld", "hello\r\n\tworld" },
	{ "h\u00e9\u4f60\U0001f600x", "h\u00e9\u4f60\U0001f600x" },
	{ "a\ab\x0e\x05\x7f"
	  "c",
		"a|control 07|b|control 0e|control 05|c" },
	{ "e\u0301\u0323x\u0301", "e|mark 301|mark 323|x|mark 301" },
	{ "a\u202e\ufeff"
	  "b",
		"ab" }, /* invisible */
	{ "\xff"
	  "a\xc3(\xed\xa0\x80\xf0\x9f\x98",
		"\ufffda\ufffd(\ufffd\ufffd\ufffd" },
	{ "\x9b"
	  "5n\xc2\x9b"
	  "6n",
		"\ufffd"
		"5n6n" }, /* C1 is never executed */
	{ "\x1b"
	  "7\x1b(0\x1b#8\x1b$(x",
		"esc  7|esc (0|esc #8" },
	{ "\x1b\x1b"
	  "D\x1b\x18"
	  "E",
		"esc  D|E" },
	{ "\x1b[m\x1b[1;;3H", "csi   m -1|csi   H 1 -1 3" },
	{ "\x1b[?25;1h\x1b[>c\x1b[ q\x1b[2 q", "csi ? h 25 1|csi > c -1|csi   q -1|csi   q 2" },
	{ "\x1b[38:2::1:2:3;4:3m", "csi   m 38:2:-1:1:2:3 4:3" },
	{ "\x1b[99999999999A", "csi   A 65535" },
	{ "\x1b[1\n2\aA", "control 0a|control 07|csi   A 12" },
	{ "\x1b[1?h\x1b[ 1q\x1b[??h\x1b[!!p\x1b[1\xc3p-", "-" }, /* malformed: swallowed */
	{ "\x1b[1\x18x\x1b[1\x1b[2A", "x|csi   A 2" },
	{ "\x1b]0;t\ax\x1b]2;u\x1b\\y", "string ] 3 0;t bell|x|string ] 3 2;u|y" },
	{ "\x1bP$qm\x1b\\\x1bP\ax\x1b\\", "string P 3 $qm|string P 1 x" },
	{ "\x1b_secret\x1b\\\x1b^more\x1b\\\x1bXyet\x1b\\z", "z" },
	{ "\x1b]0;cut\x18"
	  "a\x1b]0;cut\x1a"
	  "b\x1b]0;cut\x1b[1mc",
		"ab|csi   m 1|c" },
};

static void test_events_of_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t n = strlen(cases[i].input);
		for (size_t step = 1; step <= n; step++)
			assert_string_equal(parse(cases[i].input, n, step), cases[i].events);
	}
}

static void repeat(
	char out[256], const char *first, int count, const char *middle, const char *last)
{
	size_t n = (size_t)snprintf(out, 256, "%s", first);
	for (int i = 0; i < count; i++)
		n += (size_t)snprintf(out + n, 256 - n, "%s", middle);
	snprintf(out + n, 256 - n, "%s", last);
}

static void test_parameters_and_marks_are_limited(void **state)
{
	(void)state;
	char input[256] = "";
	char expected[256] = "";
	repeat(input, "\x1b[", 40, "1;", "1m");
	repeat(expected, "csi   m", CSI_PARAMS_MAX, " 1", "");
	assert_string_equal(parse(input, strlen(input), 7), expected);

	repeat(input, "x", 40, "\u0301", "");
	repeat(expected, "x", MARKS_IN_ROW_MAX, "|mark 301", "");
	assert_string_equal(parse(input, strlen(input), 3), expected);
}

static void feed_string(
	struct term_parser *parser, const char *begin, size_t n, const char *after)
{
	static unsigned char bytes[1024];
	memset(bytes, 'A', sizeof bytes);
	term_parser_feed(parser, (const unsigned char *)begin, strlen(begin));
	for (size_t at = 0; at < n; at += sizeof bytes)
		term_parser_feed(parser, bytes, n - at < sizeof bytes ? n - at : sizeof bytes);
	term_parser_feed(parser, (const unsigned char *)after, strlen(after));
}

static void test_strings_are_limited_by_what_they_are(void **state)
{
	(void)state;
	static const struct {
		const char *begin;
		size_t limit;
	} kinds[] = { { "\x1b]2;", OSC_BYTES }, { "\x1b]52;", OSC_CLIPBOARD_BYTES },
		{ "\x1bP$", DCS_BYTES } };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct term_parser parser;
		term_parser_init(&parser, &events, said);
		size_t room = kinds[i].limit - (strlen(kinds[i].begin) - 2);
		said[0] = '\0';
		feed_string(&parser, kinds[i].begin, room, "\x1b\\");
		assert_memory_equal(said, "string", 6);
		said[0] = '\0';
		feed_string(&parser, kinds[i].begin, room + 1, "\x1b\\x");
		assert_string_equal(said, "x");
		/* nothing of a large one is kept */
		assert_true(parser.string_capacity <= OSC_BYTES * 2);
		term_parser_deinit(&parser);
	}
}

static void test_a_reset_forgets_what_was_cut(void **state)
{
	(void)state;
	static const char *const cuts[] = { "\x1b", "\x1b[1;2", "\x1b]0;x", "\x1b]0;x\x1b",
		"\xe4\xbd", "\x1b(" };
	for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
		struct term_parser parser;
		said[0] = '\0';
		is_in_text = false;
		term_parser_init(&parser, &events, said);
		term_parser_feed(&parser, (const unsigned char *)cuts[i], strlen(cuts[i]));
		term_parser_reset(&parser);
		term_parser_feed(&parser, (const unsigned char *)"0A", 2);
		assert_string_equal(said, "0A");
		term_parser_deinit(&parser);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_of_bytes),
		cmocka_unit_test(test_parameters_and_marks_are_limited),
		cmocka_unit_test(test_strings_are_limited_by_what_they_are),
		cmocka_unit_test(test_a_reset_forgets_what_was_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
