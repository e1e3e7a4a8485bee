// SPDX-License-Identifier: Apache-2.0
// Bytes of a terminal to events.
//
//   feed ─▶ paste filter ─▶ libtermkey ─▶ events
//
// libtermkey does not know bracketed paste, so the filter takes ESC[200~ … ESC[201~ out before it, and holds back
// an end of input that could be the beginning of one; INPUT_ESC_MS later what was held is what it looks like (an
// Esc key, most often).
#include "tui/draw/input.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termkey.h>

static const char paste_begin[] = "\033[200~";
static const char paste_end[] = "\033[201~";
enum {
	MARK_BYTES = 6,
	BUFFER_BYTES = 4096,
	MOTION = 32 /* a bit of SGR mouse's first number */
};

struct draw_input {
	TermKey *termkey;
	struct draw_input_callbacks callbacks;
	struct net_loop_timer *timer;
	char held[MARK_BYTES];
	size_t n_held;
	bool is_pasting, is_cut;
	char *paste;
	size_t n_paste, capacity;
	int64_t last_press_ms;
	struct draw_mouse last_press;
	int clicks;
	/* an answer of the terminal (OSC): ESC ] … BEL or ESC \\ */
	bool is_answer;
	char answer[INPUT_ANSWER_BYTES_MAX];
	size_t n_answer;
};

static enum draw_key_sym sym_of(TermKeySym sym)
{
	switch (sym) {
	case TERMKEY_SYM_BACKSPACE:
	case TERMKEY_SYM_DEL:
		return KEY_SYM_BACKSPACE;
	case TERMKEY_SYM_TAB:
		return KEY_SYM_TAB;
	case TERMKEY_SYM_ENTER:
	case TERMKEY_SYM_KPENTER:
		return KEY_SYM_ENTER;
	case TERMKEY_SYM_ESCAPE:
		return KEY_SYM_ESCAPE;
	case TERMKEY_SYM_UP:
		return KEY_SYM_UP;
	case TERMKEY_SYM_DOWN:
		return KEY_SYM_DOWN;
	case TERMKEY_SYM_LEFT:
		return KEY_SYM_LEFT;
	case TERMKEY_SYM_RIGHT:
		return KEY_SYM_RIGHT;
	case TERMKEY_SYM_INSERT:
		return KEY_SYM_INSERT;
	case TERMKEY_SYM_DELETE:
		return KEY_SYM_DELETE;
	case TERMKEY_SYM_HOME:
	case TERMKEY_SYM_FIND:
		return KEY_SYM_HOME;
	case TERMKEY_SYM_END:
	case TERMKEY_SYM_SELECT:
		return KEY_SYM_END;
	case TERMKEY_SYM_PAGEUP:
		return KEY_SYM_PAGE_UP;
	case TERMKEY_SYM_PAGEDOWN:
		return KEY_SYM_PAGE_DOWN;
	case TERMKEY_SYM_BEGIN:
		return KEY_SYM_BEGIN;
	default:
		return KEY_NONE;
	}
}

static unsigned mods_of(int modifiers)
{
	return (modifiers & TERMKEY_KEYMOD_SHIFT ? MOD_SHIFT : 0U) |
	       (modifiers & TERMKEY_KEYMOD_ALT ? MOD_ALT : 0U) |
	       (modifiers & TERMKEY_KEYMOD_CTRL ? MOD_CTRL : 0U);
}

static void tell_mouse(struct draw_input *in, const TermKeyKey *tk)
{
	TermKeyMouseEvent event;
	int button = 0, line = 0, col = 0;
	if (termkey_interpret_mouse(in->termkey, tk, &event, &button, &line, &col) !=
		TERMKEY_RES_KEY)
		return;
	struct draw_mouse mouse = { .button = button,
		.col = col > 0 ? col - 1 : 0,
		.row = line > 0 ? line - 1 : 0,
		.mods = mods_of(tk->modifiers),
		.clicks = 1 };
	switch (event) {
	case TERMKEY_MOUSE_PRESS:
		mouse.action = button == 4   ? MOUSE_WHEEL_UP
			       : button == 5 ? MOUSE_WHEEL_DOWN
					     : MOUSE_PRESS;
		if (button > 5)
			return;
		break;
	case TERMKEY_MOUSE_DRAG:
		mouse.action = MOUSE_DRAG;
		break;
	case TERMKEY_MOUSE_RELEASE:
		/* libtermkey says this of a motion without a button too */
		mouse.action =
			(tk->code.mouse[0] & MOTION) && !button ? MOUSE_MOVE : MOUSE_RELEASE;
		break;
	default:
		return;
	}
	if (mouse.action == MOUSE_DRAG)
		in->clicks = 0; /* what was dragged is not half of a double click */
	if (mouse.action == MOUSE_PRESS) {
		int64_t now = clock_mono_ms();
		bool again =
			in->clicks == 1 && now - in->last_press_ms < INPUT_DOUBLE_CLICK_MS &&
			in->last_press.button == button && in->last_press.row == mouse.row &&
			abs(in->last_press.col - mouse.col) <= 1;
		in->clicks = mouse.clicks = again ? 2 : 1;
		in->last_press_ms = now;
		in->last_press = mouse;
	}
	in->callbacks.on_mouse(in->callbacks.arg, &mouse);
}

/* The keypad in application mode: each key is the character on it, and says where it comes from. */
static uint32_t keypad_char(TermKeySym sym)
{
	static const struct {
		TermKeySym sym;
		char c;
	} chars[] = { { TERMKEY_SYM_KPPLUS, '+' }, { TERMKEY_SYM_KPMINUS, '-' },
		{ TERMKEY_SYM_KPMULT, '*' }, { TERMKEY_SYM_KPDIV, '/' },
		{ TERMKEY_SYM_KPCOMMA, ',' }, { TERMKEY_SYM_KPPERIOD, '.' },
		{ TERMKEY_SYM_KPEQUALS, '=' } };
	if (sym >= TERMKEY_SYM_KP0 && sym <= TERMKEY_SYM_KP9)
		return (uint32_t)('0' + (int)(sym - TERMKEY_SYM_KP0));
	for (size_t i = 0; i < sizeof chars / sizeof chars[0]; i++)
		if (chars[i].sym == sym)
			return (uint32_t)chars[i].c;
	return 0;
}

/* terminfo calls F1 with Shift F13, with Ctrl F25, with both F37, with Alt F49, with Alt and Shift F61. */
static bool take_function(int number, struct draw_key *key)
{
	static const unsigned mods[] = { 0, MOD_SHIFT, MOD_CTRL, MOD_CTRL | MOD_SHIFT, MOD_ALT,
		MOD_ALT | MOD_SHIFT };
	if (number < 1 || number > 63)
		return false;
	key->sym = (enum draw_key_sym)(KEY_SYM_F1 + (number - 1) % 12);
	key->mods |= mods[(number - 1) / 12];
	return true;
}

/* rxvt's own forms: CSI a … d are arrows with Shift, CSI n ^ is with Ctrl, CSI n @ with both. */
static bool take_rxvt(unsigned long command, const long *args, size_t n, struct draw_key *key)
{
	static const int functions[] = { [11] = 1,
		[12] = 2,
		[13] = 3,
		[14] = 4,
		[15] = 5,
		[17] = 6,
		[18] = 7,
		[19] = 8,
		[20] = 9,
		[21] = 10,
		[23] = 11,
		[24] = 12,
		[25] = 13,
		[26] = 14,
		[28] = 15,
		[29] = 16,
		[31] = 17,
		[32] = 18,
		[33] = 19,
		[34] = 20 };
	static const enum draw_key_sym named[] = { [2] = KEY_SYM_INSERT,
		[3] = KEY_SYM_DELETE,
		[5] = KEY_SYM_PAGE_UP,
		[6] = KEY_SYM_PAGE_DOWN,
		[7] = KEY_SYM_HOME,
		[8] = KEY_SYM_END };
	static const enum draw_key_sym arrows[] = { KEY_SYM_UP, KEY_SYM_DOWN, KEY_SYM_RIGHT,
		KEY_SYM_LEFT };
	if (command >= 'a' && command <= 'd' && n == 0) {
		key->sym = arrows[command - 'a'];
		key->mods |= MOD_SHIFT;
		return true;
	}
	if ((command != '^' && command != '@') || n != 1 || args[0] < 0)
		return false;
	key->mods |= command == '@' ? MOD_CTRL | MOD_SHIFT : MOD_CTRL;
	size_t number = (size_t)args[0];
	if (number < sizeof named / sizeof named[0] && named[number] != KEY_NONE)
		key->sym = named[number];
	else if (number < sizeof functions / sizeof functions[0])
		return take_function(functions[number], key);
	return key->sym != KEY_NONE;
}

static void tell_csi(struct draw_input *in, const TermKeyKey *tk)
{
	long args[16];
	size_t n = sizeof args / sizeof args[0];
	unsigned long command = 0;
	if (termkey_interpret_csi(in->termkey, tk, args, &n, &command) != TERMKEY_RES_KEY)
		return;
	struct draw_key key = { .mods = mods_of(tk->modifiers) };
	if (command == 'I' || command == 'O')
		in->callbacks.on_focus(in->callbacks.arg, command == 'I');
	else if (take_rxvt(command, args, n, &key))
		in->callbacks.on_key(in->callbacks.arg, &key);
}

static void tell(struct draw_input *in, const TermKeyKey *tk)
{
	struct draw_key key = { .mods = mods_of(tk->modifiers) };
	switch (tk->type) {
	case TERMKEY_TYPE_UNICODE:
		key.codepoint = (uint32_t)tk->code.codepoint;
		if (key.mods == MOD_SHIFT)
			key.mods = 0;
		break;
	case TERMKEY_TYPE_FUNCTION:
		if (!take_function(tk->code.number, &key))
			return;
		break;
	case TERMKEY_TYPE_KEYSYM:
		key.sym = sym_of(tk->code.sym);
		key.keypad =
			tk->code.sym >= TERMKEY_SYM_KP0 && tk->code.sym <= TERMKEY_SYM_KPEQUALS;
		if (tk->code.sym == TERMKEY_SYM_SPACE)
			key.codepoint = ' ';
		else if (keypad_char(tk->code.sym) != 0)
			key.codepoint = keypad_char(tk->code.sym);
		else if (key.sym == KEY_NONE)
			return;
		break;
	case TERMKEY_TYPE_MOUSE:
		tell_mouse(in, tk);
		return;
	case TERMKEY_TYPE_UNKNOWN_CSI:
		tell_csi(in, tk);
		return;
	default:
		return;
	}
	in->callbacks.on_key(in->callbacks.arg, &key);
}

static void drain(struct draw_input *in, bool force)
{
	TermKeyKey tk;
	for (;;) {
		TermKeyResult result = force ? termkey_getkey_force(in->termkey, &tk)
					     : termkey_getkey(in->termkey, &tk);
		if (result != TERMKEY_RES_KEY)
			return;
		tell(in, &tk);
	}
}

static void push(struct draw_input *in, const char *bytes, size_t n)
{
	while (n) {
		size_t taken = termkey_push_bytes(in->termkey, bytes, n);
		if (taken == (size_t)-1)
			return;
		if (taken == 0) { /* full of something unfinished: let it be what it is */
			size_t before = termkey_get_buffer_remaining(in->termkey);
			drain(in, true);
			if (termkey_get_buffer_remaining(in->termkey) == before)
				return;
			continue;
		}
		bytes += taken;
		n -= taken;
		drain(in, false);
	}
}

static void paste_add(struct draw_input *in, const char *bytes, size_t n)
{
	if (in->n_paste + n > INPUT_PASTE_BYTES_MAX) {
		n = INPUT_PASTE_BYTES_MAX - in->n_paste;
		in->is_cut = true;
	}
	array_grow(&in->paste, &in->capacity, in->n_paste + n + 1, 1);
	memcpy(in->paste + in->n_paste, bytes, n);
	in->n_paste += n;
}

static void paste_tell(struct draw_input *in)
{
	in->is_pasting = false;
	struct slice text = { in->paste, in->n_paste };
	char *kept = in->paste;
	in->paste = NULL;
	in->n_paste = in->capacity = 0;
	in->callbacks.on_paste(in->callbacks.arg, text, in->is_cut);
	in->is_cut = false;
	free(kept);
}

/* SS3 with a modifier (ESC O 5 A: older xterm, PuTTY), and rxvt's arrows with Ctrl (ESC O a): libtermkey would take
 * them for Alt, O and text. They become the CSI form that it knows. Returns the bytes of such a key, 0 if it is none;
 * out is empty while it may become one. */
static size_t translate_ss3(const char *bytes, size_t n, char out[8])
{
	out[0] = '\0';
	if (n == 3 && memcmp(bytes, "\033[[", 3) == 0)
		return n; /* the Linux console's F1 to F5, which it does not wait for */
	if (n < 2 || bytes[0] != '\033' || bytes[1] != 'O')
		return 0;
	if (n == 2)
		return n;
	if (bytes[2] >= 'a' && bytes[2] <= 'd') {
		snprintf(out, 8, "\033[1;5%c", bytes[2] - 'a' + 'A');
		return 3;
	}
	if (bytes[2] < '2' || bytes[2] > '8')
		return 0;
	if (n == 3)
		return n;
	if (strchr("ABCDEFHPQRS", bytes[3]) == NULL)
		return 0;
	snprintf(out, 8, "\033[1;%c%c", bytes[2], bytes[3]);
	return 4;
}

/* ESC ] and a digit: the terminal says something. Whoever presses Alt and ] is not that fast. *is_open: it may become one. */
static bool begins_answer(const char *bytes, size_t n, bool *is_open)
{
	*is_open = n == 2 && bytes[0] == '\033' && bytes[1] == ']';
	return n > 2 && bytes[0] == '\033' && bytes[1] == ']' && bytes[2] >= '0' &&
	       bytes[2] <= '9';
}

static void hold(struct draw_input *in, const char *bytes, size_t n)
{
	memcpy(in->held, bytes, n);
	in->n_held = n;
}

static void answer_over(struct draw_input *in, bool is_whole)
{
	in->is_answer = false;
	if (is_whole && in->callbacks.on_answer)
		in->callbacks.on_answer(
			in->callbacks.arg, (struct slice){ in->answer, in->n_answer });
}

/* Returns the bytes that belong to the answer. Any other control character ends it: whoever types gets out of one that
 * does not end. */
static size_t take_answer(struct draw_input *in, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)bytes[i];
		if (c == '\033' && i + 1 == n) {
			hold(in, bytes + i, 1);
			return n;
		}
		if (c < 0x20) {
			bool is_string_end = c == '\033' && bytes[i + 1] == '\\';
			answer_over(in, is_string_end || c == '\a');
			return is_string_end ? i + 2 : c == '\a' ? i + 1 : i;
		}
		if (in->n_answer < sizeof in->answer)
			in->answer[in->n_answer++] = (char)c;
	}
	return n;
}

/* Bytes up to the mark (or to what may be its beginning, which is held) are passed on. Returns those eaten. */
static size_t pass_until(struct draw_input *in, const char *bytes, size_t n, const char *mark)
{
	size_t i = 0, end = n;
	bool found = false;
	char key[8];
	for (; i < n; i++) {
		if (bytes[i] != '\033')
			continue;
		bool is_open = false;
		if (!in->is_pasting && begins_answer(bytes + i, n - i, &is_open)) {
			push(in, bytes, i);
			in->is_answer = true;
			in->n_answer = 0;
			return i + 2;
		}
		if (!in->is_pasting && is_open) {
			push(in, bytes, i);
			hold(in, bytes + i, n - i);
			return n;
		}
		size_t taken = in->is_pasting ? 0 : translate_ss3(bytes + i, n - i, key);
		if (taken > 0) {
			push(in, bytes, i);
			if (key[0] != '\0')
				push(in, key, strlen(key));
			else
				hold(in, bytes + i, taken);
			return i + taken;
		}
		size_t match = n - i < MARK_BYTES ? n - i : (size_t)MARK_BYTES;
		if (memcmp(bytes + i, mark, match) != 0)
			continue;
		end = i;
		if (match == MARK_BYTES)
			found = true;
		else {
			hold(in, bytes + i, match);
		}
		break;
	}
	if (in->is_pasting)
		paste_add(in, bytes, end);
	else
		push(in, bytes, end);
	if (!found)
		return n;
	if (in->is_pasting)
		paste_tell(in);
	else
		in->is_pasting = true;
	return end + MARK_BYTES;
}

void draw_input_feed(struct draw_input *in, struct slice bytes)
{
	char *joined = NULL;
	const char *p = bytes.p;
	size_t n = bytes.n;
	net_loop_timer_disarm(in->timer);
	if (in->n_held) {
		joined = x_malloc(in->n_held + n);
		memcpy(joined, in->held, in->n_held);
		memcpy(joined + in->n_held, bytes.p, n);
		n += in->n_held;
		p = joined;
		in->n_held = 0;
	}
	while (n) {
		size_t eaten = in->is_answer
				       ? take_answer(in, p, n)
				       : pass_until(in, p, n,
						 in->is_pasting ? paste_end : paste_begin);
		p += eaten;
		n -= eaten;
	}
	free(joined);
	net_loop_timer_arm(in->timer, in->is_answer ? INPUT_ANSWER_MS : INPUT_ESC_MS);
}

static void on_quiet(void *arg)
{
	struct draw_input *in = arg;
	if (in->is_answer)
		answer_over(in, false);
	if (in->is_pasting)
		return; /* the rest of a paste may take its time */
	size_t n = in->n_held;
	in->n_held = 0;
	push(in, in->held, n);
	drain(in, true);
}

/* terminfo's kmous is "\\E[<" for today's xterm entries, which libtermkey takes for the old three-byte form: SGR mouse
 * is decoded by its CSI parser, so this entry must not reach its table. Nor those of keys that no keyboard has: they stand
 * for combinations (st: key_clear is Ctrl and Delete) that the parser tells apart; key_enter is the keypad's. */
static const char *on_terminfo(const char *name, const char *value, void *data)
{
	(void)data;
	static const char *const hidden[] = { "key_mouse", "key_clear", "key_eol", "key_eos",
		"key_cancel", "key_close", "key_command", "key_copy", "key_enter", "key_exit",
		"key_help", "key_mark", "key_message", "key_move", "key_next", "key_open",
		"key_options", "key_previous", "key_print", "key_redo", "key_reference",
		"key_refresh", "key_replace", "key_restart", "key_resume", "key_save",
		"key_suspend", "key_undo" };
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
		if (strcmp(name, hidden[i]) == 0)
			return NULL;
	return value;
}

static TermKey *make_termkey(const char *term)
{
	TermKey *tk =
		termkey_new_abstract(term, TERMKEY_FLAG_UTF8 | TERMKEY_FLAG_NOTERMIOS |
						   TERMKEY_FLAG_CTRLC | TERMKEY_FLAG_NOSTART);
	if (!tk)
		return NULL;
	termkey_hook_terminfo_getstr(tk, on_terminfo, NULL);
	if (termkey_start(tk))
		return tk;
	termkey_destroy(tk);
	return NULL;
}

struct draw_input *draw_input_new(
	struct net_loop *loop, const char *term, const struct draw_input_callbacks *callbacks)
{
	struct draw_input *in = x_calloc(1, sizeof *in);
	in->callbacks = *callbacks;
	in->timer = net_loop_timer_new(loop, on_quiet, in);
	net_loop_timer_set_urgent(in->timer);
	in->termkey = make_termkey(term ? term : "xterm");
	if (!in->termkey)
		in->termkey = make_termkey("xterm");
	if (!in->termkey)
		in->termkey = make_termkey("vt100");
	if (in->termkey) {
		termkey_set_buffer_size(in->termkey, BUFFER_BYTES);
		termkey_set_canonflags(in->termkey, TERMKEY_CANON_DELBS);
	}
	return in;
}

void draw_input_free(struct draw_input *in)
{
	if (!in)
		return;
	net_loop_timer_free(in->timer);
	if (in->termkey)
		termkey_destroy(in->termkey);
	free(in->paste);
	free(in);
}
