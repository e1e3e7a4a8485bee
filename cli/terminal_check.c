// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal_check.h"

#include "cli/tty.h"
#include "engine/base/clock.h"
#include "engine/base/safe_text.h"
#include "engine/base/str.h"

#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	ANSWER_MS = 500,
	ANSWER_BYTES = 512,
	WRONG_BYTES = 256,
	MODE_MOUSE_SGR = 1006,
	MODE_PASTE = 2004
};

struct check {
	void (*say)(void *arg, const struct engine_finding *finding);
	void *arg;
};

static void say(const struct check *check, enum engine_level level, const char *what,
	const char *found, const char *fix)
{
	const struct engine_finding finding = { level, what, found,
		level == ENGINE_OK ? "" : fix };
	check->say(check->arg, &finding);
}

/* ---- promises */

static void check_environment(const struct check *check)
{
	const char *term = getenv("TERM"), *color = getenv("COLORTERM");
	bool has_term = term != NULL && strcmp(term, "dumb") != 0 && term[0] != '\0';
	say(check, has_term ? ENGINE_OK : ENGINE_WARNING, "terminal", term ? term : "not set",
		"set TERM to what your terminal is");
	bool is_true =
		color && (strcmp(color, "truecolor") == 0 || strcmp(color, "24bit") == 0);
	bool is_enough = is_true || (term && strstr(term, "256color"));
	say(check, is_enough ? ENGINE_OK : ENGINE_WARNING, "colours",
		is_true ? "24-bit"
		: term  ? term
			: "not set",
		"a TERM with 256color, or COLORTERM=truecolor where the terminal has it");
	const char *charset = nl_langinfo(CODESET);
	say(check, strcmp(charset, "UTF-8") == 0 ? ENGINE_OK : ENGINE_WARNING, "characters",
		charset, "set LANG to a UTF-8 locale, such as C.UTF-8");
}

/* ---- answers */

/* Sends a question and reads until a byte that ends the last answer; false: it did not come in time. */
static bool ask(const char *question, char ending, char answer[ANSWER_BYTES])
{
	size_t n = 0, length = strlen(question);
	int64_t until = clock_mono_ms() + ANSWER_MS;
	answer[0] = '\0';
	if (write(STDOUT_FILENO, question, length) != (ssize_t)length)
		return false;
	while (n < ANSWER_BYTES - 1) {
		int64_t left = until - clock_mono_ms();
		struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
		if (left <= 0 || poll(&in, 1, (int)left) <= 0 ||
			read(STDIN_FILENO, answer + n, 1) != 1)
			return false;
		answer[++n] = '\0';
		if (answer[n - 1] == ending)
			return true;
	}
	return false;
}

/* DECRPM: CSI ? mode ; value $ y. -1: not answered; 0: not known; else set, reset or fixed. */
static int mode_of(const char *answer, int mode)
{
	char start[16];
	int value;
	snprintf(start, sizeof start, "\033[?%d;", mode);
	const char *at = strstr(answer, start);
	return at && sscanf(at + strlen(start), "%d$y", &value) == 1 ? value : -1;
}

static bool attributes_have(const char *answer, const char *number)
{
	const char *at = strrchr(answer, '?');
	size_t n = strlen(number);
	while (at != NULL && *at != '\0') {
		at++;
		if (strncmp(at, number, n) == 0 && (at[n] == ';' || at[n] == 'c'))
			return true;
		at = strchr(at, ';');
	}
	return false;
}

static void say_mode(const struct check *check, const char *what, int value)
{
	if (value < 0)
		say(check, ENGINE_SKIPPED, what, "the terminal does not tell", "");
	else
		say(check, value > 0 ? ENGINE_OK : ENGINE_WARNING, what,
			value > 0 ? "yes" : "the terminal does not know it",
			"another terminal, or work by keys alone");
}

static void check_clipboard(const struct check *check, const char *answer)
{
	const char *tmux = getenv("TMUX");
	if (tmux != NULL && tmux[0] != '\0')
		say(check, ENGINE_WARNING, "clipboard (OSC 52)", "inside tmux",
			"tmux passes it on only with: set -s set-clipboard on");
	else if (attributes_have(answer, "52"))
		say(check, ENGINE_OK, "clipboard (OSC 52)", "yes", "");
	else
		say(check, ENGINE_SKIPPED, "clipboard (OSC 52)",
			"the terminal does not tell; some want it allowed in their settings",
			"");
}

/* Where is the cursor after the text? We count as engine/base/width.h does, and so must the terminal. */
static bool check_width(const char *text, int *cols)
{
	char question[64], answer[ANSWER_BYTES];
	int row = 0, col = 0;
	snprintf(question, sizeof question, "\r%s\033[6n", text);
	bool ok = ask(question, 'R', answer);
	const char *at = ok ? strstr(answer, "\033[") : NULL;
	if (at == NULL || sscanf(at, "\033[%d;%dR", &row, &col) != 2)
		return false;
	*cols = col - 1;
	return true;
}

static bool measure(char wrong[WRONG_BYTES])
{
	static const struct {
		const char *text, *name;
	} samples[] = {
		{ "\u4e16", "CJK" },
		{ "e\u0301", "combining accent" },
		{ "\U0001F600", "emoji" },
		{ "\u2500", "line drawing" },
	};
	size_t used = 0;
	bool answers = true;
	for (size_t i = 0; answers && i < sizeof samples / sizeof *samples; i++) {
		int cols = 0;
		int ours = safe_text_cols(
			(struct slice){ samples[i].text, strlen(samples[i].text) });
		answers = check_width(samples[i].text, &cols);
		if (answers && cols != ours && used < WRONG_BYTES)
			used += (size_t)snprintf(wrong + used, WRONG_BYTES - used,
				"%s%s: %d columns instead of %d", used ? ", " : "",
				samples[i].name, cols, ours);
	}
	(void)!write(STDOUT_FILENO, "\r\033[K", 4);
	return answers;
}

static void check_widths(const struct check *check)
{
	char wrong[WRONG_BYTES] = "";
	bool answers = cli_tty_raw() && measure(wrong);
	cli_tty_restore();
	if (!answers)
		say(check, ENGINE_SKIPPED, "widths", "the terminal does not tell", "");
	else
		say(check, wrong[0] ? ENGINE_WARNING : ENGINE_OK, "widths",
			wrong[0] ? wrong : "as the C library counts",
			"a terminal and a C library of the same Unicode version; ambiguous width set to narrow");
}

void cli_terminal_check(
	void (*say_it)(void *arg, const struct engine_finding *finding), void *arg)
{
	const struct check check = { say_it, arg };
	char answer[ANSWER_BYTES] = "";
	check_environment(&check);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !cli_tty_raw())
		return;
	/* DA1 comes last and from nearly every terminal: when it is there, nothing more comes */
	bool answers = ask("\033[?1006$p\033[?2004$p\033[c", 'c', answer);
	cli_tty_restore();
	if (!answers) {
		say(&check, ENGINE_SKIPPED, "mouse, clipboard, widths",
			"the terminal answers no questions", "");
		return;
	}
	say_mode(&check, "mouse", mode_of(answer, MODE_MOUSE_SGR));
	say_mode(&check, "bracketed paste", mode_of(answer, MODE_PASTE));
	check_clipboard(&check, answer);
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		check_widths(&check);
}
