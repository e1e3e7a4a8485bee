// SPDX-License-Identifier: Apache-2.0
/* A key from the person's terminal to the program in a pane: what each TERM sends must come out as xterm sends it, as
 * programs in panes are told TERM=xterm-256color. */
#include "tests/unit/unit.h"

#include "engine/base/err.h"
#include "engine/net/loop.h"
#include "tui/draw/input.h"
#include "tui/views/shell/shell.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

static struct term *pane;
static char sent[256];
static size_t n_sent;

static void on_output(const char *bytes, size_t n, void *arg)
{
	(void)arg;
	assert_true(n_sent + n < sizeof sent);
	memcpy(sent + n_sent, bytes, n);
	n_sent += n;
	sent[n_sent] = '\0';
}

static void on_key(void *arg, const struct draw_key *key)
{
	(void)arg;
	views_shell_send_key(pane, key);
}

static void on_mouse(void *arg, const struct draw_mouse *mouse)
{
	(void)arg;
	(void)mouse;
	fail();
}

static void on_paste(void *arg, struct slice text, bool is_cut)
{
	(void)arg;
	(void)text;
	(void)is_cut;
	fail();
}

static void on_focus(void *arg, bool in)
{
	(void)arg;
	(void)in;
	fail();
}

static const struct draw_input_callbacks callbacks = { on_key, on_mouse, on_paste, on_focus,
	NULL, NULL };

static void quote(const char *bytes, char *out, size_t size)
{
	size_t n = 0;
	for (; *bytes && n + 5 < size; bytes++)
		n += (size_t)(*bytes == '\033' ? snprintf(out + n, size - n, "ESC ")
					       : snprintf(out + n, size - n, "%c", *bytes));
	out[n] = '\0';
}

/* Whole, and cut at every place: a slow line must not change a key. */
static void expect(struct net_loop *loop, const char *term, const char *bytes, const char *want,
	size_t step)
{
	size_t n = strlen(bytes);
	for (size_t cut = 0; cut < n; cut += step) {
		struct draw_input *input = draw_input_new(loop, term, &callbacks);
		n_sent = 0;
		sent[0] = '\0';
		draw_input_feed(input, (struct slice){ bytes, cut });
		draw_input_feed(input, (struct slice){ bytes + cut, n - cut });
		for (int i = 0; i < 10 && strcmp(sent, want) != 0; i++)
			net_loop_run_once(loop, 10); /* a lone Esc has a time */
		if (strcmp(sent, want) != 0) {
			char a[128], b[128], c[128];
			quote(bytes, a, sizeof a);
			quote(sent, b, sizeof b);
			quote(want, c, sizeof c);
			fail_msg("%s: %s (cut at %zu) reached the program as %s, not %s", term,
				a, cut, b, c);
		}
		draw_input_free(input);
	}
}

static struct net_loop *start(void)
{
	struct err err;
	struct term_opts opts = {
		.cols = 80, .rows = 24, .callbacks = { .on_output = on_output }
	};
	setlocale(LC_CTYPE, "C.UTF-8");
	pane = term_new(&opts);
	return net_loop_new(&err);
}

static void stop(struct net_loop *loop)
{
	term_free(pane);
	net_loop_free(loop);
}

/* These send all but a few keys as xterm does: what comes in goes out. */
static const char *const like_xterm[] = { "xterm", "xterm-256color", "screen",
	"screen-256color", "tmux", "tmux-256color", "alacritty", "st-256color", "vte-256color",
	"konsole-256color", "linux", "rxvt-unicode-256color", "no-such-terminal" };

static void test_keys_with_modifiers(void **state)
{
	static const char letters[] = "ABCDFHPQRS"; /* arrows, End, Home, F1 to F4 */
	static const int numbers[] = { 2, 3, 5, 6, 15, 17, 18, 19, 20, 21, 23, 24 };
	(void)state;
	struct net_loop *loop = start();
	for (size_t t = 0; t < sizeof like_xterm / sizeof like_xterm[0]; t++)
		for (int modifier = 2; modifier <= 8; modifier++) {
			char bytes[16];
			for (const char *letter = letters; *letter; letter++) {
				snprintf(bytes, sizeof bytes, "\033[1;%d%c", modifier, *letter);
				expect(loop, like_xterm[t], bytes, bytes, 3);
			}
			for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
				snprintf(bytes, sizeof bytes, "\033[%d;%d~", numbers[i],
					modifier);
				expect(loop, like_xterm[t], bytes, bytes, 3);
			}
		}
	stop(loop);
}

static void test_keys_without(void **state)
{
	static const struct {
		const char *term, *bytes, *want;
	} cases[] = {
		{ "xterm", "\033OP", "\033OP" },
		{ "xterm", "\033OS", "\033OS" },
		{ "xterm", "\033[15~", "\033[15~" },
		{ "xterm", "\033[24~", "\033[24~" },
		{ "xterm", "\033[A", "\033[A" },
		{ "xterm", "\033OA",
			"\033[A" }, /* the pane's mode decides, not the terminal's */
		{ "xterm", "\033[H", "\033[H" },
		{ "xterm", "\033OF", "\033[F" },
		{ "xterm", "\033[2~", "\033[2~" },
		{ "xterm", "\033[3~", "\033[3~" },
		{ "xterm", "\033[5~", "\033[5~" },
		{ "xterm", "\033[6~", "\033[6~" },
		{ "xterm", "\033[Z", "\033[Z" },
		{ "xterm", "\033[E", "\033[E" },
		{ "xterm", "\033OE", "\033[E" },
		{ "xterm", "\033O5A", "\033[1;5A" }, /* older forms of modifiers */
		{ "xterm", "\033O2P", "\033[1;2P" },
		{ "putty", "\033[1~", "\033[H" },
		{ "putty", "\033[4~", "\033[F" },
		{ "screen", "\033[1~", "\033[H" },
		{ "tmux", "\033[4~", "\033[F" },
		{ "st-256color", "\033[H", "\033[H" },
		{ "linux", "\033[[A", "\033OP" },
		{ "linux", "\033[[E", "\033[15~" },
		{ "linux", "\033[17~", "\033[17~" },
		{ "linux", "\033[1~", "\033[H" },
		{ "linux", "\033[25~", "\033[1;2P" }, /* Shift and F1 is F13 there */
		{ "linux", "\033[26~", "\033[1;2Q" },
		{ "linux", "\033[34~", "\033[19;2~" },
		{ "rxvt-unicode", "\033[11~", "\033OP" },
		{ "rxvt-unicode", "\033[14~", "\033OS" },
		{ "rxvt-unicode", "\033[25~", "\033[1;2P" },
		{ "rxvt-unicode", "\033[7~", "\033[H" },
		{ "rxvt-unicode", "\033[8~", "\033[F" },
		{ "rxvt-unicode", "\033[11^", "\033[1;5P" },
		{ "rxvt-unicode", "\033[15^", "\033[15;5~" },
		{ "rxvt-unicode", "\033[24@", "\033[24;6~" },
		{ "rxvt-unicode", "\033[3^", "\033[3;5~" },
		{ "rxvt-unicode", "\033[7@", "\033[1;6H" },
		{ "rxvt-unicode", "\033[7$", "\033[1;2H" },
		{ "rxvt-unicode", "\033[a", "\033[1;2A" },
		{ "rxvt-unicode", "\033[d", "\033[1;2D" },
		{ "rxvt-unicode", "\033Oa", "\033[1;5A" },
		{ "rxvt-unicode", "\033Oc", "\033[1;5C" },
		{ "xterm", "\033\033OP", "\033[1;3P" }, /* Alt as an Esc in front */
		{ "xterm", "\033\033[A", "\033[1;3A" },
		{ "xterm", "\033x", "\033x" },
		{ "xterm", "\033O", "\033O" }, /* Alt and O */
		{ "xterm", "\035", "\035" },
	};
	(void)state;
	struct net_loop *loop = start();
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		expect(loop, cases[i].term, cases[i].bytes, cases[i].want, 1);
	stop(loop);
}

/* A keypad in application mode: a digit to a program that did not ask for more, SS3 to one that did. */
static void test_the_keypad(void **state)
{
	static const char codes[] = "jklmnopqrstuvwxyXM", chars[] = "*+,-./0123456789=\r";
	(void)state;
	struct net_loop *loop = start();
	for (size_t t = 0; t < sizeof like_xterm / sizeof like_xterm[0]; t++)
		for (size_t i = 0; codes[i]; i++) {
			char bytes[8], want[8];
			snprintf(bytes, sizeof bytes, "\033O%c", codes[i]);
			snprintf(want, sizeof want, "%c", chars[i]);
			term_feed(pane, "\033>", 2);
			expect(loop, like_xterm[t], bytes, want, 3);
			term_feed(pane, "\033=", 2);
			expect(loop, like_xterm[t], bytes, bytes, 3);
		}
	stop(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_with_modifiers),
		cmocka_unit_test(test_keys_without),
		cmocka_unit_test(test_the_keypad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
