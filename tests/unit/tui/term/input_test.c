// SPDX-License-Identifier: Apache-2.0
/* Keys, mouse, paste and focus as the process gets them. */
#include "tests/unit/tui/term/harness.h"

static struct rig rig;

static int setup(void **state)
{
	(void)state;
	rig_init(&rig, 100, 30, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rig_deinit(&rig);
	return 0;
}

static void expect_output(const char *want)
{
	assert_string_equal(rig.output.p, want);
	str_clear(&rig.output);
}

static void test_characters(void **state)
{
	(void)state;
	static const struct {
		uint32_t c;
		unsigned mods;
		const char *want;
	} keys[] = {
		{ 'a', 0, "a" },
		{ 'A', TERM_MOD_SHIFT, "A" },
		{ 0xe9, 0, "é" },
		{ 0x1f600, TERM_MOD_ALT, "\x1b😀" },
		{ 'c', TERM_MOD_CTRL, "\x03" },
		{ 'C', TERM_MOD_CTRL | TERM_MOD_SHIFT, "\x03" },
		{ 'i', TERM_MOD_CTRL, "\t" },
		{ 'm', TERM_MOD_CTRL, "\r" },
		{ '[', TERM_MOD_CTRL, "\x1b" },
		{ '\\', TERM_MOD_CTRL, "\x1c" },
		{ '/', TERM_MOD_CTRL, "\x1f" },
		{ '?', TERM_MOD_CTRL, "\x7f" },
		{ 'x', TERM_MOD_CTRL | TERM_MOD_ALT, "\x1b\x18" },
		{ 'b', TERM_MOD_ALT,
			"\x1b"
			"b" },
		{ '1', TERM_MOD_CTRL, "1" },
		{ 0xd800, 0, "" },
		{ 0x110000, 0, "" },
	};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		term_key_char(rig.t, keys[i].c, keys[i].mods);
		expect_output(keys[i].want);
	}
	term_key_char(rig.t, ' ', TERM_MOD_CTRL);
	assert_int_equal(rig.output.n, 1);
	assert_int_equal(rig.output.p[0], 0);
}

static void test_special_keys(void **state)
{
	(void)state;
	static const struct {
		const char *setup;
		enum term_key key;
		unsigned mods;
		const char *want;
	} keys[] = {
		{ "", TERM_KEY_ENTER, 0, "\r" },
		{ "", TERM_KEY_ENTER, TERM_MOD_ALT, "\x1b\r" },
		{ "\x1b[20h", TERM_KEY_ENTER, 0, "\r\n" },
		{ "\x1b[20l", TERM_KEY_TAB, 0, "\t" },
		{ "", TERM_KEY_TAB, TERM_MOD_SHIFT, "\x1b[Z" },
		{ "", TERM_KEY_BACKSPACE, 0, "\x7f" },
		{ "", TERM_KEY_BACKSPACE, TERM_MOD_CTRL, "\x08" },
		{ "", TERM_KEY_BACKSPACE, TERM_MOD_ALT, "\x1b\x7f" },
		{ "", TERM_KEY_ESCAPE, 0, "\x1b" },
		{ "", TERM_KEY_UP, 0, "\x1b[A" },
		{ "", TERM_KEY_LEFT, TERM_MOD_CTRL, "\x1b[1;5D" },
		{ "", TERM_KEY_RIGHT, TERM_MOD_SHIFT | TERM_MOD_ALT, "\x1b[1;4C" },
		{ "\x1b[?1h", TERM_KEY_UP, 0, "\x1bOA" },
		{ "", TERM_KEY_DOWN, TERM_MOD_SHIFT, "\x1b[1;2B" },
		{ "", TERM_KEY_HOME, 0, "\x1bOH" },
		{ "\x1b[?1l", TERM_KEY_END, 0, "\x1b[F" },
		{ "", TERM_KEY_INSERT, 0, "\x1b[2~" },
		{ "", TERM_KEY_DELETE, TERM_MOD_CTRL, "\x1b[3;5~" },
		{ "", TERM_KEY_PAGE_UP, 0, "\x1b[5~" },
		{ "", TERM_KEY_PAGE_DOWN, 0, "\x1b[6~" },
		{ "", TERM_KEY_F1, 0, "\x1bOP" },
		{ "", TERM_KEY_F1 + 3, TERM_MOD_SHIFT, "\x1b[1;2S" },
		{ "", TERM_KEY_F1 + 4, 0, "\x1b[15~" },
		{ "", TERM_KEY_F1 + 11, 0, "\x1b[24~" },
		{ "", TERM_KEY_F1 + 12, 0, "\x1b[1;2P" },
		{ "", TERM_KEY_F1 + 16, 0, "\x1b[15;2~" },
		{ "", TERM_KEY_F24, 0, "\x1b[24;2~" },
		{ "", TERM_KEY_KP_0 + 5, 0, "5" },
		{ "", TERM_KEY_KP_PLUS, 0, "+" },
		{ "", TERM_KEY_KP_ENTER, 0, "\r" },
		{ "\x1b=", TERM_KEY_KP_0 + 5, 0, "\x1bOu" },
		{ "", TERM_KEY_KP_ENTER, 0, "\x1bOM" },
		{ "\x1b>", TERM_KEY_KP_DIVIDE, 0, "/" },
	};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		rig_feed(&rig, keys[i].setup);
		term_key_sym(rig.t, keys[i].key, keys[i].mods);
		if (strcmp(rig.output.p, keys[i].want) != 0)
			print_error("key case %zu\n", i);
		expect_output(keys[i].want);
	}
	term_key_sym(rig.t, TERM_KEY_COUNT, 0);
	expect_output("");
}

static void test_mouse_is_silent_unless_asked(void **state)
{
	(void)state;
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 3, 4, 0));
	rig_feed(&rig, "\x1b[?1000h\x1b[?1000l");
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 3, 4, 0));
	expect_output("");
}

static void test_mouse_sgr(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[?1000;1006h");
	assert_true(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 0, 0, 0));
	expect_output("\x1b[<0;1;1M");
	assert_true(term_mouse(rig.t, TERM_MOUSE_RELEASE, 1, 99, 29, 0));
	expect_output("\x1b[<0;100;30m");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 3, 1, 2, TERM_MOD_SHIFT | TERM_MOD_CTRL);
	expect_output("\x1b[<22;2;3M");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 4, 1, 2, TERM_MOD_ALT);
	expect_output("\x1b[<72;2;3M");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 7, 1, 2, 0);
	expect_output("\x1b[<67;2;3M");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 8, 1, 2, 0);
	expect_output("\x1b[<128;2;3M");
	assert_true(term_mouse(rig.t, TERM_MOUSE_RELEASE, 4, 1, 2, 0));
	expect_output("");
	assert_false(term_mouse(rig.t, TERM_MOUSE_MOVE, 1, 1, 3, 0));
	/* outside, or not a button */
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 100, 0, 0));
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, -1, 0, 0));
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 0, 1, 0, 0));
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 12, 1, 0, 0));
	expect_output("");
}

static void test_mouse_motion(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[?1002;1006h");
	assert_false(term_mouse(rig.t, TERM_MOUSE_MOVE, 0, 1, 1, 0));
	assert_true(term_mouse(rig.t, TERM_MOUSE_MOVE, 1, 1, 1, 0));
	expect_output("\x1b[<32;2;2M");
	assert_true(term_mouse(rig.t, TERM_MOUSE_MOVE, 1, 1, 1, 0)); /* same cell */
	expect_output("");
	rig_feed(&rig, "\x1b[?1003h");
	assert_true(term_mouse(rig.t, TERM_MOUSE_MOVE, 0, 5, 1, 0));
	expect_output("\x1b[<35;6;2M");
	rig_feed(&rig, "\x1b[?1002l"); /* not the mode in use */
	assert_true(term_mouse(rig.t, TERM_MOUSE_MOVE, 0, 6, 1, 0));
	expect_output("\x1b[<35;7;2M");
}

static void test_mouse_in_bytes(void **state)
{
	(void)state;
	rig_feed(&rig, "\x1b[?1000h");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 2, 4, 5, TERM_MOD_CTRL);
	expect_output("\x1b[M1%&");
	term_mouse(rig.t, TERM_MOUSE_RELEASE, 2, 4, 5, 0);
	expect_output("\x1b[M#%&");
	rig_feed(&rig, "\x1b[?9h");
	term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 0, 0, TERM_MOD_CTRL);
	expect_output("\x1b[M !!");
	assert_false(term_mouse(rig.t, TERM_MOUSE_RELEASE, 1, 0, 0, 0));
	assert_false(term_mouse(rig.t, TERM_MOUSE_PRESS, 4, 0, 0, 0));
	/* a place that a byte cannot say */
	rig_feed(&rig, "\x1b[?1000h");
	term_resize(rig.t, 400, 30);
	term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 222, 0, 0);
	assert_int_equal(rig.output.n, 6);
	str_clear(&rig.output);
	assert_true(term_mouse(rig.t, TERM_MOUSE_PRESS, 1, 223, 0, 0));
	expect_output("");
}

static void paste(const char *text)
{
	term_paste(rig.t, text, strlen(text));
}

static void test_plain_paste(void **state)
{
	(void)state;
	paste("a\nb\r\nc\rd\te é你\x1b[31m\x07\x03\x7f\x9b z");
	expect_output("a\rb\rc\rd\te é你[31m z");
}

static void test_paste_cannot_break_out(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *want;
	} cases[] = {
		{ "ls\x1b[201~rm -rf\n", "lsrm -rf\r" },
		{ "a\x1b[200~b\x1b[201~", "ab" },
		{ "\x1b[20\x1b[201~1~x", "[201~x" },
		{ "\x1b\x1b[201~x", "x" },
		{ "\x1b[2\x1b[201~01~x", "[201~x" },
		{ "\xc2\x9b"
		  "201~x",
			"201~x" },
		{ "\x9b"
		  "201~x",
			"201~x" },
		{ "\x1b[202~", "[202~" },
		{ "\x1b[20", "[20" },
		{ "\x1b[201", "[201" },
		{ "\x1b", "" },
		{ "\xe4\xbd", "" },
		{ "\xe4\xbd\x1b[201~\xa0", "" },
		{ "\xc0\x9b\xed\xa0\x80\xf5\x80\x80\x80ok", "ok" },
	};
	rig_feed(&rig, "\x1b[?2004h");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char want[128];
		snprintf(want, sizeof want, "\x1b[200~%s\x1b[201~", cases[i].want);
		paste(cases[i].text);
		if (strcmp(rig.output.p, want) != 0)
			print_error("paste case %zu: %s\n", i, rig.output.p + 1);
		expect_output(want);
		/* and in pieces of one byte */
		term_paste_begin(rig.t);
		for (const char *p = cases[i].text; *p != '\0'; p++)
			term_paste_part(rig.t, p, 1);
		term_paste_end(rig.t);
		expect_output(want);
	}
}

static void test_long_paste_is_whole(void **state)
{
	(void)state;
	size_t n = 100000;
	char *text = x_malloc(n + 1);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 26);
	text[n] = '\0';
	term_paste(rig.t, text, n);
	assert_int_equal(rig.output.n, n);
	assert_memory_equal(rig.output.p, text, n);
	free(text);
}

static void test_focus(void **state)
{
	(void)state;
	term_focus(rig.t, true);
	expect_output("");
	rig_feed(&rig, "\x1b[?1004h");
	term_focus(rig.t, true);
	term_focus(rig.t, false);
	expect_output("\x1b[I\x1b[O");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_characters),
		CASE(test_special_keys),
		CASE(test_mouse_is_silent_unless_asked),
		CASE(test_mouse_sgr),
		CASE(test_mouse_motion),
		CASE(test_mouse_in_bytes),
		CASE(test_plain_paste),
		CASE(test_paste_cannot_break_out),
		CASE(test_long_paste_is_whole),
		CASE(test_focus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
