// SPDX-License-Identifier: Apache-2.0
/* Sources: xterm's "Control Sequences" (DECSET, DECSCUSR, modifyOtherKeys), and the kitty keyboard protocol. */
#include "cli/tty_modes.h"

#include <string.h>

enum { GROUND, ESCAPE, CHARSET, CSI, STRING, STRING_ESCAPE };
enum { MAX_PUSHES = 99, MAX_NUMBER = 99999 };

/* DEC private modes, in the order in which they are switched off: the alternate screen goes before the cursor is shown,
 * because it has saved one of its own. */
static const struct {
	int mode;
	bool is_on_at_first;
	const char *undo;
} private_modes[] = {
	{ 2026, false, "\033[?2026l" }, /* synchronized output */
	{ 9, false, "\033[?9l" },       /* mouse */
	{ 1000, false, "\033[?1000l" }, { 1001, false, "\033[?1001l" },
	{ 1002, false, "\033[?1002l" }, { 1003, false, "\033[?1003l" },
	{ 1005, false, "\033[?1005l" }, /* … and how it is told */
	{ 1006, false, "\033[?1006l" }, { 1015, false, "\033[?1015l" },
	{ 1016, false, "\033[?1016l" }, { 1004, false, "\033[?1004l" }, /* focus */
	{ 2004, false, "\033[?2004l" },                                 /* bracketed paste */
	{ 1, false, "\033[?1l" },                                       /* cursor keys */
	{ 5, false, "\033[?5l" },                                       /* reverse video */
	{ 7, true, "\033[?7h" },                                        /* wrapping */
	{ 47, false, "\033[?47l" },                                     /* alternate screen */
	{ 1047, false, "\033[?1047l" }, { 1049, false, "\033[?1049l" },
	{ 25, true, "\033[?25h" }, /* cursor */
};
enum { N_PRIVATE = sizeof private_modes / sizeof *private_modes };

/* The rest has a bit each behind those; switched off first, the keyboard before the screen that it may belong to. */
enum { OTHER_KEYS = N_PRIVATE, KEYPAD, CURSOR_SHAPE, COLOURS, REGION, LINES, INSERT, N_MODES };
static const char *const undo_other[] = { "\033[>4m", "\033>", "\033[0 q", "\033[m",
	"\0337\033[r\0338", "\017\033(B", "\033[4l" };
_Static_assert(N_MODES <= 32, "a bit for each");
_Static_assert(sizeof undo_other / sizeof *undo_other == N_MODES - N_PRIVATE, "one for each");

static void set(struct cli_tty_modes *modes, int bit, bool is_on)
{
	uint32_t mask = (uint32_t)1 << bit;
	modes->on = is_on ? modes->on | mask : modes->on & ~mask;
}

/* Digits up to what is none; what no mode has is cut off. */
static int take_number(const char **text)
{
	int number = 0;
	for (; **text >= '0' && **text <= '9'; (*text)++)
		number = number < MAX_NUMBER ? number * 10 + (**text - '0') : MAX_NUMBER;
	return number;
}

static void set_private(struct cli_tty_modes *modes, const char *list, bool is_set)
{
	while (*list != '\0') {
		int number = take_number(&list);
		for (int i = 0; i < N_PRIVATE; i++)
			if (private_modes[i].mode == number)
				set(modes, i, is_set != private_modes[i].is_on_at_first);
		if (*list != '\0')
			list++;
	}
}

/* A sequence is whole: text holds what stood between CSI and its last byte. */
static void take_csi(struct cli_tty_modes *modes, char last)
{
	const char *text = modes->text;
	bool is_plain = text[strspn(text, "0123456789;:")] == '\0';
	if (text[0] == '?' && (last == 'h' || last == 'l')) {
		set_private(modes, text + 1, last == 'h');
	} else if (strcmp(text, "4") == 0 && (last == 'h' || last == 'l')) {
		set(modes, INSERT, last == 'h');
	} else if (last == 'u' && text[0] == '>') {
		if (modes->keyboard_pushes < MAX_PUSHES)
			modes->keyboard_pushes++;
	} else if (last == 'u' && text[0] == '<') {
		const char *number = text + 1;
		int n = *number ? take_number(&number) : 1;
		modes->keyboard_pushes -=
			n < modes->keyboard_pushes ? n : modes->keyboard_pushes;
	} else if (last == 'm' && text[0] == '>' && text[1] == '4') {
		set(modes, OTHER_KEYS, text[2] == ';' && text[3] != '0' && text[3] != '\0');
	} else if (last == 'q' && modes->n > 0 && text[modes->n - 1] == ' ') {
		set(modes, CURSOR_SHAPE, text[0] != ' ' && text[0] != '0');
	} else if (last == 'm' && is_plain) {
		set(modes, COLOURS, text[0] != '\0' && strcmp(text, "0") != 0);
	} else if (last == 'r' && is_plain) {
		set(modes, REGION, text[0] != '\0');
	} else if (last == 'p' && strcmp(text, "!") == 0) { /* soft reset */
		modes->on &= (uint32_t)1 << (N_PRIVATE - 2);
	}
}

static void take_escape(struct cli_tty_modes *modes, char c)
{
	modes->state = GROUND;
	modes->n = 0;
	switch (c) {
	case '[':
		modes->state = CSI;
		break;
	case ']': /* OSC, DCS, APC, PM, SOS: a string until BEL or ST */
	case 'P':
	case '_':
	case '^':
	case 'X':
		modes->state = STRING;
		break;
	case '(':
		modes->state = CHARSET;
		break;
	case '=':
	case '>':
		set(modes, KEYPAD, c == '=');
		break;
	case 'c': /* reset */
		modes->on = 0;
		modes->keyboard_pushes = 0;
		break;
	default:
		break;
	}
}

static void take(struct cli_tty_modes *modes, char c)
{
	if (c == '\033') {
		modes->state = modes->state == STRING ? STRING_ESCAPE : ESCAPE;
		return;
	}
	switch (modes->state) {
	case ESCAPE:
		take_escape(modes, c);
		break;
	case STRING_ESCAPE: /* ST ends it; anything else begins another sequence */
		take_escape(modes, c);
		break;
	case CHARSET:
		set(modes, LINES, c == '0');
		modes->state = GROUND;
		break;
	case STRING:
		if (c == '\a' || c == '\030' || c == '\032')
			modes->state = GROUND;
		break;
	case CSI:
		if (c >= '@' && c <= '~') {
			modes->text[modes->n] = '\0';
			take_csi(modes, c);
			modes->state = GROUND;
		} else if (c == '\030' || c == '\032' || modes->n + 1 >= sizeof modes->text) {
			modes->state = GROUND;
		} else if (c >= ' ') {
			modes->text[modes->n++] = c;
		}
		break;
	default:
		if (c == '\016' || c == '\017')
			set(modes, LINES, c == '\016');
		break;
	}
}

bool cli_tty_modes_feed(struct cli_tty_modes *modes, const char *bytes, size_t n)
{
	uint32_t on = modes->on;
	int pushes = modes->keyboard_pushes;
	for (size_t i = 0; i < n; i++) {
		if (modes->state == GROUND) { /* most of it is text */
			const char *next = bytes + i;
			while (i < n && (unsigned char)*next >= ' ')
				next++, i++;
			if (i == n)
				break;
		}
		take(modes, bytes[i]);
	}
	return on != modes->on || pushes != modes->keyboard_pushes;
}

void cli_tty_modes_undo(const struct cli_tty_modes *modes, struct str *out)
{
	if (modes->keyboard_pushes > 0)
		str_addf(out, "\033[<%du", modes->keyboard_pushes);
	for (int i = N_PRIVATE; i < N_MODES; i++)
		if (modes->on & (uint32_t)1 << i)
			str_add(out, undo_other[i - N_PRIVATE]);
	for (int i = 0; i < N_PRIVATE; i++)
		if (modes->on & (uint32_t)1 << i)
			str_add(out, private_modes[i].undo);
}
