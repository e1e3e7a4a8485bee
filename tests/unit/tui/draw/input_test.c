// SPDX-License-Identifier: Apache-2.0
// Bytes of a terminal to events: each case whole, and cut at every place.
#include "tests/unit/unit.h"

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

static void on_key(void *arg, const struct key *key)
{
	char name[KEY_NAME_BYTES];
	(void)arg;
	add(key_format(key, name));
}

static void on_mouse(void *arg, const struct mouse *mouse)
{
	static const char *const names[] = { "press", "release", "drag", "move", "wheel-up",
		"wheel-down" };
	char text[64];
	(void)arg;
	snprintf(text, sizeof text, "%s%d@%d,%d%s%s", names[mouse->action], mouse->button,
		mouse->col, mouse->row, mouse->mods & MOD_CTRL ? "+ctrl" : "",
		mouse->clicks == 2 ? "+double" : "");
	add(text);
}

static void on_paste(void *arg, struct slice text, bool is_cut)
{
	char copy[256];
	(void)arg;
	snprintf(copy, sizeof copy, "paste(%.*s)%s", (int)text.n, text.p, is_cut ? "cut" : "");
	add(copy);
}

static void on_focus(void *arg, bool in)
{
	(void)arg;
	add(in ? "focus" : "blur");
}

static const struct input_callbacks callbacks = { on_key, on_mouse, on_paste, on_focus, NULL };

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
};

static void run(struct loop *loop, const char *bytes, size_t cut, const char *want)
{
	struct input *input = input_new(loop, "xterm-256color", &callbacks);
	size_t n = strlen(bytes);
	seen[0] = 0;
	input_feed(input, (struct slice){ bytes, cut });
	input_feed(input, (struct slice){ bytes + cut, n - cut });
	/* the timer of a lone Esc */
	for (int i = 0; i < 20 && strlen(seen) < strlen(want); i++)
		loop_run_once(loop, 10);
	if (strcmp(seen, want) != 0)
		fail_msg("cut at %zu gave '%s', not '%s'", cut, seen, want);
	input_free(input);
}

static void test_events_whatever_the_pieces(void **state)
{
	struct err err;
	struct loop *loop = loop_new(&err);
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t cut = 0; cut < strlen(cases[i].bytes); cut++)
			run(loop, cases[i].bytes, cut, cases[i].want);
	loop_free(loop);
}

static void test_double_clicks(void **state)
{
	struct err err;
	struct loop *loop = loop_new(&err);
	(void)state;
	run(loop, "\033[<0;5;7M\033[<0;5;7m\033[<0;5;7M\033[<0;5;7m\033[<0;5;7M", 0,
		"press1@4,6 release1@4,6 press1@4,6+double release1@4,6 press1@4,6 ");
	run(loop, "\033[<0;5;7M\033[<0;5;7m\033[<0;5;9M", 0,
		"press1@4,6 release1@4,6 press1@4,8 ");
	run(loop, "\033[<0;5;7M\033[<32;9;7M\033[<0;9;7m\033[<0;5;7M", 0,
		"press1@4,6 drag1@8,6 release1@8,6 press1@4,6 ");
	loop_free(loop);
}

static void test_esc_comes_within_its_time(void **state)
{
	struct err err;
	struct loop *loop = loop_new(&err);
	struct input *input = input_new(loop, "xterm-256color", &callbacks);
	(void)state;
	seen[0] = 0;
	input_feed(input, slice_of("\033"));
	assert_string_equal(seen, "");
	for (int i = 0; i < 10 && !seen[0]; i++)
		loop_run_once(loop, INPUT_ESC_MS);
	assert_string_equal(seen, "esc ");
	input_free(input);
	loop_free(loop);
}

static void test_a_paste_has_a_limit(void **state)
{
	struct err err;
	struct loop *loop = loop_new(&err);
	struct input *input = input_new(loop, "xterm-256color", &callbacks);
	static char block[1 << 20];
	(void)state;
	memset(block, 'x', sizeof block);
	seen[0] = 0;
	input_feed(input, slice_of("\033[200~"));
	for (int i = 0; i < 10; i++)
		input_feed(input, (struct slice){ block, sizeof block });
	input_feed(input, slice_of("\033[201~"));
	assert_non_null(strstr(seen, "paste(xxx"));
	seen[0] = 0;
	input_feed(input, slice_of("a"));
	assert_string_equal(seen, "a ");
	input_free(input);
	loop_free(loop);
}

static void test_garbage_does_not_stick(void **state)
{
	struct err err;
	struct loop *loop = loop_new(&err);
	struct input *input = input_new(loop, "xterm-256color", &callbacks);
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
		input_feed(input, (struct slice){ bytes + at,
					  sizeof bytes - at < 37 ? sizeof bytes - at : 37 });
	input_feed(input, slice_of("\033[201~\030"));
	for (int i = 0; i < 5; i++)
		loop_run_once(loop, INPUT_ESC_MS);
	seen[0] = 0;
	input_feed(input, slice_of("q"));
	for (int i = 0; i < 5 && !seen[0]; i++)
		loop_run_once(loop, INPUT_ESC_MS);
	assert_non_null(strchr(seen, 'q'));
	input_free(input);
	loop_free(loop);
}

int main(void)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_whatever_the_pieces),
		cmocka_unit_test(test_double_clicks),
		cmocka_unit_test(test_esc_comes_within_its_time),
		cmocka_unit_test(test_a_paste_has_a_limit),
		cmocka_unit_test(test_garbage_does_not_stick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
