// SPDX-License-Identifier: Apache-2.0
// Bytes of a terminal to events: each case whole, and cut at every place.
#include "tests/unit/unit.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "tui/draw/input.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static char seen[8192];

static void add(const char *text)
{
	strncat(seen, text, sizeof seen - strlen(seen) - 1);
	strncat(seen, " ", sizeof seen - strlen(seen) - 1);
}

static void on_key(void *arg, const struct draw_key *key)
{
	char name[KEY_NAME_BYTES];
	(void)arg;
	if (key->keypad)
		strncat(seen, "kp:", sizeof seen - strlen(seen) - 1);
	add(draw_key_format(key, name));
}

static void on_mouse(void *arg, const struct draw_mouse *mouse)
{
	static const char *const names[] = { "press", "release", "drag", "move", "wheel-up",
		"wheel-down" };
	char text[64];
	(void)arg;
	snprintf(text, sizeof text, "%s%d@%d,%d%s%s%s%s", names[mouse->action], mouse->button,
		mouse->col, mouse->row, mouse->mods & MOD_SHIFT ? "+shift" : "",
		mouse->mods & MOD_ALT ? "+alt" : "", mouse->mods & MOD_CTRL ? "+ctrl" : "",
		mouse->clicks == 2 ? "+double" : "");
	add(text);
}

static size_t paste_bytes;
static bool paste_is_cut;

static void on_paste(void *arg, struct slice text, bool is_cut)
{
	char copy[256];
	(void)arg;
	paste_bytes = text.n;
	paste_is_cut = is_cut;
	snprintf(copy, sizeof copy, "paste(%.*s)%s", (int)text.n, text.p, is_cut ? "cut" : "");
	add(copy);
}

static void on_focus(void *arg, bool in)
{
	(void)arg;
	add(in ? "focus" : "blur");
}

static void on_answer(void *arg, struct slice text)
{
	char copy[INPUT_ANSWER_BYTES_MAX + 16];
	(void)arg;
	snprintf(copy, sizeof copy, "answer(%.*s)", (int)text.n, text.p);
	add(copy);
}

static const struct draw_input_callbacks callbacks = { on_key, on_mouse, on_paste, on_focus,
	on_answer, NULL };

static const struct {
	const char *bytes, *want;
} cases[] = {
	{ "a", "a " },
	{ "A\xc3\xa9\xe4\xbd\xa0", "A é 你 " },
	{ "\r\t\x7f", "enter tab backspace " },
	{ "\003\004\035", "ctrl-c ctrl-d ctrl-] " },
	{ "\033[A\033OB\033[C", "up down right " },
	{ "\033[1;5C\033[1;2D", "ctrl-right shift-left " },
	{ "\033[5~\033[6~\033[3~\033[2~\033[H\033[F",
		"pageup pagedown delete insert home end " },
	{ "\033OP\033[15~\033[19~", "F1 F5 F8 " },
	{ "\033[Z", "shift-tab " },
	{ "\033x", "alt-x " },
	{ "\033", "esc " },
	{ "\033[<0;5;7M\033[<32;6;7M\033[<0;6;7m", "press1@4,6 drag1@5,6 release1@5,6 " },
	{ "\033[<64;1;1M\033[<65;1;1M", "wheel-up4@0,0 wheel-down5@0,0 " },
	{ "\033[<16;300;200M", "press1@299,199+ctrl " },
	{ "\033[<2;1;2M\033[<2;1;2m", "press3@0,1 release3@0,1 " },
	{ "\033[I\033[O", "focus blur " },
	{ "\033[200~hi\r\nthere\033[201~x", "paste(hi\r\nthere) x " },
	{ "a\033[200~\033[31m\033[20\033[201~b", "a paste(\033[31m\033[20) b " },
	{ "\033[200~\033[201~", "paste() " },
	/* answers of the terminal are no keys, whatever they are */
	{ "\033]11;rgb:ff/ff/ff\033\\a", "answer(11;rgb:ff/ff/ff) a " },
	{ "\033]11;rgb:ff/ff/ff\aa", "answer(11;rgb:ff/ff/ff) a " },
	{ "a\033]52;c;eA==\ab", "a answer(52;c;eA==) b " },
	{ "\033]0\a\033]1\a", "answer(0) answer(1) " },
	{ "\033]1234567890\001", "ctrl-a " }, /* not ended, and a key that ends it */
	{ "\033]11;rgb\033[A", "up " },
	{ "\033]11;\xff\xc3\xa9\a", "answer(11;\xff\xc3\xa9) " },
	{ "\033]x", "alt-] x " }, /* Alt and ] */
	/* rxvt */
	{ "\033[a\033[b\033[c\033[d", "shift-up shift-down shift-right shift-left " },
	{ "\033Oa\033Ob\033Oc\033Od", "ctrl-up ctrl-down ctrl-right ctrl-left " },
	{ "\033[11^\033[11@", "ctrl-F1 ctrl-shift-F1 " },
	{ "\033[12^\033[12@", "ctrl-F2 ctrl-shift-F2 " },
	{ "\033[13^\033[13@", "ctrl-F3 ctrl-shift-F3 " },
	{ "\033[14^\033[14@", "ctrl-F4 ctrl-shift-F4 " },
	{ "\033[15^\033[15@", "ctrl-F5 ctrl-shift-F5 " },
	{ "\033[17^\033[17@", "ctrl-F6 ctrl-shift-F6 " },
	{ "\033[18^\033[18@", "ctrl-F7 ctrl-shift-F7 " },
	{ "\033[19^\033[19@", "ctrl-F8 ctrl-shift-F8 " },
	{ "\033[20^\033[20@", "ctrl-F9 ctrl-shift-F9 " },
	{ "\033[21^\033[21@", "ctrl-F10 ctrl-shift-F10 " },
	{ "\033[23^\033[23@", "ctrl-F11 ctrl-shift-F11 " },
	{ "\033[24^\033[24@", "ctrl-F12 ctrl-shift-F12 " },
	{ "\033[2^\033[2@", "ctrl-insert ctrl-shift-insert " },
	{ "\033[3^\033[3@", "ctrl-delete ctrl-shift-delete " },
	{ "\033[5^\033[5@", "ctrl-pageup ctrl-shift-pageup " },
	{ "\033[6^\033[6@", "ctrl-pagedown ctrl-shift-pagedown " },
	{ "\033[7^\033[7@", "ctrl-home ctrl-shift-home " },
	{ "\033[8^\033[8@", "ctrl-end ctrl-shift-end " },
	{ "\033[25^\033[25@", "ctrl-shift-F1 ctrl-shift-F1 " },
	{ "\033[26^\033[26@", "ctrl-shift-F2 ctrl-shift-F2 " },
	{ "\033[28^\033[28@", "ctrl-shift-F3 ctrl-shift-F3 " },
	{ "\033[29^\033[29@", "ctrl-shift-F4 ctrl-shift-F4 " },
	{ "\033[31^\033[31@", "ctrl-shift-F5 ctrl-shift-F5 " },
	{ "\033[32^\033[32@", "ctrl-shift-F6 ctrl-shift-F6 " },
	{ "\033[33^\033[33@", "ctrl-shift-F7 ctrl-shift-F7 " },
	{ "\033[34^\033[34@", "ctrl-shift-F8 ctrl-shift-F8 " },
	{ "\033[4^\033[9^\033[16^\033[35^\033[1;2^\033[^x", "x " },
	/* older xterms, PuTTY */
	{ "\033O5A\033O2P\033O8S\033O3H\033O6F",
		"ctrl-up shift-F1 ctrl-alt-shift-F4 alt-home ctrl-shift-end " },
	{ "\033O4D\033O7R\033O2B\033O2C\033O2Q",
		"alt-shift-left ctrl-alt-F3 shift-down shift-right shift-F2 " },
	/* the keypad in application mode */
	{ "\033Op\033Oq\033Or\033Os\033Ot", "kp:0 kp:1 kp:2 kp:3 kp:4 " },
	{ "\033Ou\033Ov\033Ow\033Ox\033Oy", "kp:5 kp:6 kp:7 kp:8 kp:9 " },
	{ "\033Ok\033Om\033Oj\033Oo\033Ol\033On\033OX", "kp:+ kp:- kp:* kp:/ kp:, kp:. kp:= " },
	{ "\033OM\033OE", "kp:enter begin " },
	{ "\033[1;2P\033[15;5~\033[24;8~\033[1;3Q",
		"shift-F1 ctrl-F5 ctrl-alt-shift-F12 alt-F2 " },
	{ "\033[1~\033[4~ \033 \000", "home end space alt-space " },
	{ "\033[<66;1;1M\033[<67;1;1Mx", "x " },
	{ "\033[<35;3;4M\033[<34;3;4M", "move0@2,3 drag3@2,3 " },
	{ "\033[<4;1;1M\033[<8;2;1M\033[<28;5;9M",
		"press1@0,0+shift press1@1,0+alt+double press1@4,8+shift+alt+ctrl " },
	{ "\033[<1;1;1M\033[<1;1;1m", "press2@0,0 release2@0,0 " },
	{ "\033[200~\033O5A\033Oa\033[201~", "paste(\033O5A\033Oa) " },
};

static void run(struct net_loop *loop, const char *bytes, size_t cut, const char *want)
{
	struct draw_input *input = draw_input_new(loop, "xterm-256color", &callbacks);
	size_t n = strlen(bytes);
	seen[0] = 0;
	draw_input_feed(input, (struct slice){ bytes, cut });
	draw_input_feed(input, (struct slice){ bytes + cut, n - cut });
	/* the timer of a lone Esc */
	for (int i = 0; i < 20 && strlen(seen) < strlen(want); i++)
		net_loop_run_once(loop, 10);
	if (strcmp(seen, want) != 0)
		fail_msg("cut at %zu gave '%s', not '%s'", cut, seen, want);
	draw_input_free(input);
}

static void test_events_whatever_the_pieces(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t cut = 0; cut < strlen(cases[i].bytes); cut++)
			run(loop, cases[i].bytes, cut, cases[i].want);
	net_loop_free(loop);
}

static void test_double_clicks(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	(void)state;
	run(loop, "\033[<0;5;7M\033[<0;5;7m\033[<0;5;7M\033[<0;5;7m\033[<0;5;7M", 0,
		"press1@4,6 release1@4,6 press1@4,6+double release1@4,6 press1@4,6 ");
	run(loop, "\033[<0;5;7M\033[<0;5;7m\033[<0;5;9M", 0,
		"press1@4,6 release1@4,6 press1@4,8 ");
	run(loop, "\033[<0;5;7M\033[<32;9;7M\033[<0;9;7m\033[<0;5;7M", 0,
		"press1@4,6 drag1@8,6 release1@8,6 press1@4,6 ");
	net_loop_free(loop);
}

static void click(
	struct net_loop *loop, int64_t at_ms, const char *bytes, struct draw_input *input)
{
	(void)loop;
	clock_set_for_tests(at_ms * 1000000, at_ms * 1000000);
	draw_input_feed(input, slice_of(bytes));
}

/* Two presses of one button are a double click within its time, and where they are near enough. */
static void test_how_far_a_double_click_goes(void **state)
{
	static const struct {
		int after_ms;
		const char *second;
		bool is_double;
	} rows[] = {
		{ 0, "\033[<0;5;7M", 1 },
		{ INPUT_DOUBLE_CLICK_MS - 1, "\033[<0;5;7M", 1 },
		{ INPUT_DOUBLE_CLICK_MS, "\033[<0;5;7M", 0 },
		{ 10, "\033[<0;6;7M", 1 },
		{ 10, "\033[<0;4;7M", 1 },
		{ 10, "\033[<0;7;7M", 0 },
		{ 10, "\033[<0;3;7M", 0 },
		{ 10, "\033[<0;5;8M", 0 },
		{ 10, "\033[<0;5;6M", 0 },
		{ 10, "\033[<2;5;7M", 0 },
	};
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_input *input = draw_input_new(loop, "xterm-256color", &callbacks);
		click(loop, 5000, "\033[<0;5;7M", input);
		seen[0] = 0;
		click(loop, 5000 + rows[i].after_ms, rows[i].second, input);
		if ((strstr(seen, "+double") != NULL) != rows[i].is_double)
			fail_msg("row %zu: %s", i, seen);
		draw_input_free(input);
	}
	clock_set_for_tests(-1, -1);
	net_loop_free(loop);
}

static void test_other_terminals(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	static const char *const terms[] = { "linux", "vt100", "no-such-terminal", NULL };
	/* what terminfo calls keys that no keyboard has are combinations */
	static const struct {
		const char *term, *bytes, *want;
	} rows[] = {
		{ "st-256color", "\033[3;5~", "ctrl-delete " },
		{ "st-256color", "\033[1;2F", "shift-end " },
		{ "st-256color", "\033[1;5F", "ctrl-end " },
		{ "xterm-256color", "\033OM", "kp:enter " },
		{ "xterm-256color", "\033[<0;1;1M", "press1@0,0 " },
	};
	(void)state;
	for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
		struct draw_input *input = draw_input_new(loop, terms[i], &callbacks);
		seen[0] = 0;
		draw_input_feed(input, slice_of("a\033[A"));
		if (i == 0) /* its F1 to F5, which come in pieces too */
			for (const char *p = "\033[[A\033[[E"; *p; p++)
				draw_input_feed(input, (struct slice){ p, 1 });
		assert_string_equal(seen, i == 0 ? "a up F1 F5 " : "a up ");
		draw_input_free(input);
	}
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct draw_input *input = draw_input_new(loop, rows[i].term, &callbacks);
		seen[0] = 0;
		draw_input_feed(input, slice_of(rows[i].bytes));
		assert_string_equal(seen, rows[i].want);
		draw_input_free(input);
	}
	draw_input_free(NULL);
	net_loop_free(loop);
}

static void test_esc_comes_within_its_time(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	struct draw_input *input = draw_input_new(loop, "xterm-256color", &callbacks);
	(void)state;
	seen[0] = 0;
	draw_input_feed(input, slice_of("\033"));
	assert_string_equal(seen, "");
	for (int i = 0; i < 10 && !seen[0]; i++)
		net_loop_run_once(loop, INPUT_ESC_MS);
	assert_string_equal(seen, "esc ");
	draw_input_free(input);
	net_loop_free(loop);
}

static void test_a_paste_has_a_limit(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	struct draw_input *input = draw_input_new(loop, "xterm-256color", &callbacks);
	static char block[1 << 20];
	(void)state;
	memset(block, 'x', sizeof block);
	seen[0] = 0;
	draw_input_feed(input, slice_of("\033[200~"));
	for (int i = 0; i < 10; i++)
		draw_input_feed(input, (struct slice){ block, sizeof block });
	draw_input_feed(input, slice_of("\033[201~"));
	assert_non_null(strstr(seen, "paste(xxx"));
	assert_int_equal(paste_bytes, INPUT_PASTE_BYTES_MAX);
	assert_true(paste_is_cut);
	/* exactly as much as there may be */
	draw_input_feed(input, slice_of("\033[200~"));
	for (int i = 0; i < 8; i++)
		draw_input_feed(input, (struct slice){ block, sizeof block });
	draw_input_feed(input, slice_of("\033[201~"));
	assert_int_equal(paste_bytes, INPUT_PASTE_BYTES_MAX);
	assert_false(paste_is_cut);
	seen[0] = 0;
	draw_input_feed(input, slice_of("a"));
	assert_string_equal(seen, "a ");
	draw_input_free(input);
	net_loop_free(loop);
}

static void test_garbage_does_not_stick(void **state)
{
	struct err err;
	struct net_loop *loop = net_loop_new(&err);
	struct draw_input *input = draw_input_new(loop, "xterm-256color", &callbacks);
	char bytes[6000];
	unsigned seed = 7;
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++) {
		seed = seed * 1103515245U + 12345U;
		bytes[i] = (char)(seed >> 16);
		if (i % 5 == 0)
			bytes[i] = "\033[<;P"[seed >> 8 & 3];
	}
	for (size_t at = 0; at < sizeof bytes; at += 37)
		draw_input_feed(
			input, (struct slice){ bytes + at,
				       sizeof bytes - at < 37 ? sizeof bytes - at : 37 });
	draw_input_feed(input, slice_of("\033[201~\030"));
	for (int i = 0; i < 5; i++)
		net_loop_run_once(loop, INPUT_ESC_MS);
	seen[0] = 0;
	draw_input_feed(input, slice_of("q"));
	for (int i = 0; i < 5 && !seen[0]; i++)
		net_loop_run_once(loop, INPUT_ESC_MS);
	assert_non_null(strchr(seen, 'q'));
	draw_input_free(input);
	net_loop_free(loop);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_whatever_the_pieces),
		cmocka_unit_test(test_double_clicks),
		cmocka_unit_test(test_how_far_a_double_click_goes),
		cmocka_unit_test(test_other_terminals),
		cmocka_unit_test(test_esc_comes_within_its_time),
		cmocka_unit_test(test_a_paste_has_a_limit),
		cmocka_unit_test(test_garbage_does_not_stick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
