// SPDX-License-Identifier: Apache-2.0
/* doctor's questions to a terminal, and what is said of its answers. The terminal is ours: a pair, whose other end answers. */
#include "tests/unit/unit.h"

#include "cli/terminal_check.h"
#include "engine/base/clock.h"
#include "engine/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static int master, kept_in, kept_out;
static struct str said;
static const char *attributes; /* the answer to the first question; NULL: none */
static const int *widths;      /* the columns of each sample; NULL: no answer */
static char asked[4096];

/* "+ what: found > fix\n" */
static void say(void *arg, const struct engine_finding *finding)
{
	static const char levels[] = { [ENGINE_OK] = '+',
		[ENGINE_WARNING] = '!',
		[ENGINE_FAILURE] = 'x',
		[ENGINE_SKIPPED] = '-' };
	assert_ptr_equal(arg, &said);
	str_addf(&said, "%c %s: %s%s%s\n", levels[finding->level], finding->check,
		finding->found, finding->fix[0] ? " > " : "", finding->fix);
}

static void *terminal(void *arg)
{
	size_t n = 0, at = 0;
	int sample = 0;
	(void)arg;
	for (;;) {
		struct pollfd in = { .fd = master, .events = POLLIN };
		if (poll(&in, 1, 5000) <= 0)
			return NULL;
		ssize_t got = read(master, asked + n, sizeof asked - 1 - n);
		if (got <= 0)
			return NULL;
		n += (size_t)got;
		asked[n] = '\0';
		char answer[64] = "";
		if (strstr(asked + at, "\033[c") != NULL && attributes != NULL)
			snprintf(answer, sizeof answer, "%s", attributes);
		else if (strstr(asked + at, "\033[6n") != NULL && widths != NULL)
			snprintf(answer, sizeof answer, "\033[3;%dR", widths[sample++] + 1);
		else
			continue;
		at = n;
		if (write(master, answer, strlen(answer)) < 0)
			return NULL;
	}
}

static void check(const char *answer, const int *cols)
{
	int slave;
	pthread_t thread;
	attributes = answer;
	widths = cols;
	asked[0] = '\0';
	str_clear(&said);
	fflush(stdout);
	assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
	kept_in = dup(STDIN_FILENO);
	kept_out = dup(STDOUT_FILENO);
	dup2(slave, STDIN_FILENO);
	dup2(slave, STDOUT_FILENO);
	assert_int_equal(pthread_create(&thread, NULL, terminal, NULL), 0);
	cli_terminal_check(say, &said);
	dup2(kept_in, STDIN_FILENO);
	dup2(kept_out, STDOUT_FILENO);
	close(kept_in);
	close(kept_out);
	close(slave); /* ends the thread */
	pthread_join(thread, NULL);
	close(master);
}

static int set_up(void **state)
{
	(void)state;
	str_init(&said, 8192);
	str_add(&said, "");
	setenv("TERM", "xterm-256color", 1);
	unsetenv("COLORTERM");
	unsetenv("TMUX");
	setlocale(LC_ALL, "C.UTF-8");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	str_deinit(&said);
	return 0;
}

static void expect(const char *line)
{
	if (strstr(said.p, line) == NULL)
		fail_msg("no '%s' in\n%s", line, said.p);
}

static const int right[] = { 2, 1, 2, 1 };

static void a_good_terminal(void **state)
{
	(void)state;
	check("\033[?1006;2$y\033[?2004;1$y\033[?64;22;52c", right);
	assert_string_equal(said.p, "+ terminal: xterm-256color\n"
				    "+ colours: xterm-256color\n"
				    "+ characters: UTF-8\n"
				    "+ mouse: yes\n"
				    "+ bracketed paste: yes\n"
				    "+ clipboard (OSC 52): yes\n"
				    "+ widths: as the C library counts\n");
	static const char questions[] = "\033[?1006$p\033[?2004$p\033[c";
	assert_int_equal(strncmp(asked, questions, sizeof questions - 1), 0);
	assert_non_null(strstr(asked, "\r\u4e16\033[6n"));
}

static void one_that_counts_otherwise(void **state)
{
	static const int wrong[] = { 2, 2, 1, 2 };
	(void)state;
	check("\033[?1006;0$y\033[?62c", wrong);
	expect("! mouse: the terminal does not know it > another terminal, or work by keys alone\n");
	expect("- bracketed paste: the terminal does not tell\n");
	expect("- clipboard (OSC 52): the terminal does not tell; some want it allowed in their "
	       "settings\n");
	expect("! widths: combining accent: 2 columns instead of 1, emoji: 1 columns instead of 2, "
	       "line drawing: 2 columns instead of 1 > ");
}

static void one_that_does_not_answer(void **state)
{
	(void)state;
	int64_t began_ms = clock_mono_ms();
	check(NULL, NULL);
	assert_in_range(clock_mono_ms() - began_ms, 450, 4000);
	expect("- mouse, clipboard, widths: the terminal answers no questions\n");
	assert_null(strstr(said.p, "bracketed"));
	check("\033[?1006;1$y\033[?2004;0$y\033[?1;2c", NULL);
	expect("+ mouse: yes\n");
	expect("! bracketed paste: the terminal does not know it > ");
	expect("- widths: the terminal does not tell\n");
}

static void attributes_of_terminals(void **state)
{
	static const struct {
		const char *answer;
		bool has_clipboard;
	} rows[] = { { "\033[?52c", true }, { "\033[?52;1c", true }, { "\033[?1;52;4c", true },
		{ "\033[?152c", false }, { "\033[?521c", false }, { "\033[?5;2c", false },
		{ "\033[?1;2;520;52c", true } };
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		check(rows[i].answer, right);
		bool is = strstr(said.p, "+ clipboard (OSC 52): yes\n") != NULL;
		if (is != rows[i].has_clipboard)
			fail_msg("row %zu: %s", i, said.p);
	}
	setenv("TMUX", "/tmp/x", 1);
	check("\033[?52c", right);
	expect("! clipboard (OSC 52): inside tmux > tmux passes it on only with: set -s "
	       "set-clipboard on\n");
	setenv("TMUX", "", 1);
	check("\033[?52c", right);
	expect("+ clipboard (OSC 52): yes\n");
}

/* What the environment promises; stdin is no terminal, so that nothing is asked. */
static void promises(void **state)
{
	static const struct {
		const char *term, *color; /* NULL: not set */
		const char *lines[2];
	} rows[] = {
		{ NULL, NULL,
			{ "! terminal: not set > set TERM to what your terminal is\n",
				"! colours: not set > a TERM with 256color, or COLORTERM=truecolor" } },
		{ "dumb", NULL, { "! terminal: dumb > ", "! colours: dumb > " } },
		{ "", "truecolor", { "! terminal:  > ", "+ colours: 24-bit\n" } },
		{ "xterm", "24bit", { "+ terminal: xterm\n", "+ colours: 24-bit\n" } },
		{ "xterm", "yes", { "+ terminal: xterm\n", "! colours: xterm > " } },
		{ "tmux-256color", NULL,
			{ "+ terminal: tmux-256color\n", "+ colours: tmux-256color\n" } },
	};
	(void)state;
	int null = open("/dev/null", O_RDONLY), kept = dup(STDIN_FILENO);
	dup2(null, STDIN_FILENO);
	close(null);
	for (size_t i = 0; i < COUNT(rows); i++) {
		unsetenv("TERM");
		unsetenv("COLORTERM");
		if (rows[i].term != NULL)
			setenv("TERM", rows[i].term, 1);
		if (rows[i].color != NULL)
			setenv("COLORTERM", rows[i].color, 1);
		str_clear(&said);
		cli_terminal_check(say, &said);
		expect(rows[i].lines[0]);
		expect(rows[i].lines[1]);
		expect("+ characters: UTF-8\n");
		assert_null(strstr(said.p, "mouse"));
	}
	setlocale(LC_ALL, "C");
	str_clear(&said);
	cli_terminal_check(say, &said);
	expect("! characters: ANSI_X3.4-1968 > set LANG to a UTF-8 locale, such as C.UTF-8\n");
	dup2(kept, STDIN_FILENO);
	close(kept);
}

#define TERMINAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TERMINAL(a_good_terminal),
		TERMINAL(one_that_counts_otherwise),
		TERMINAL(one_that_does_not_answer),
		TERMINAL(attributes_of_terminals),
		TERMINAL(promises),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
