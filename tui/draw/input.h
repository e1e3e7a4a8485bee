// SPDX-License-Identifier: Apache-2.0
/* Bytes of a terminal to events, by libtermkey: keys with modifiers, mouse (SGR), pasted text as one event,
 * focus. The loop reads; nothing here blocks. A lone Esc is told after INPUT_ESC_MS. */
#pragma once

#include "engine/base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct net_loop;
struct draw_input;

enum {
	INPUT_ESC_MS = 25,
	INPUT_PASTE_BYTES_MAX = 8 << 20, /* more is dropped and said in the event */
	INPUT_DOUBLE_CLICK_MS = 400,
	INPUT_ANSWER_BYTES_MAX = 256, /* of what is longer the rest is thrown away */
	INPUT_ANSWER_MS = 1000,       /* an answer that is not over by then is given up */
};

enum { MOD_SHIFT = 1, MOD_ALT = 2, MOD_CTRL = 4 };

enum draw_key_sym {
	KEY_NONE, /* a character: see codepoint */
	KEY_SYM_ENTER,
	KEY_SYM_TAB,
	KEY_SYM_BACKSPACE,
	KEY_SYM_ESCAPE,
	KEY_SYM_UP,
	KEY_SYM_DOWN,
	KEY_SYM_LEFT,
	KEY_SYM_RIGHT,
	KEY_SYM_INSERT,
	KEY_SYM_DELETE,
	KEY_SYM_HOME,
	KEY_SYM_END,
	KEY_SYM_PAGE_UP,
	KEY_SYM_PAGE_DOWN,
	KEY_SYM_BEGIN, /* the keypad's 5 without NumLock */
	KEY_SYM_F1,    /* F1 … F12 in order; F13 is what terminals send for Shift and F1 */
	KEY_SYM_F12 = KEY_SYM_F1 + 11,
	KEY_SYM_COUNT,
};

struct draw_key {
	enum draw_key_sym sym;
	uint32_t codepoint;
	unsigned mods; /* Shift is never set for a character that already shows it */
	bool keypad; /* of a keypad in application mode; for all but programs the key of that name */
};

enum draw_mouse_action {
	MOUSE_PRESS,
	MOUSE_RELEASE,
	MOUSE_DRAG, /* moved with a button held */
	MOUSE_MOVE, /* without; only when every motion was asked for */
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
};
struct draw_mouse {
	enum draw_mouse_action action;
	int button;   /* 1 left, 2 middle, 3 right */
	int col, row; /* of the screen, from 0 */
	unsigned mods;
	int clicks; /* 1, or 2 for the second press of a double click */
};

struct draw_input_callbacks {
	void (*on_key)(void *arg, const struct draw_key *key);
	void (*on_mouse)(void *arg, const struct draw_mouse *mouse);
	void (*on_paste)(void *arg, struct slice text, bool is_cut);
	void (*on_focus)(void *arg, bool in);
	/* What the terminal says by itself or when asked (OSC), without what begins and ends it: hostile text. May be NULL;
	 * none of it ever becomes a key. */
	void (*on_answer)(void *arg, struct slice text);
	void *arg;
};

struct draw_input *draw_input_new(
	struct net_loop *loop, const char *term, const struct draw_input_callbacks *callbacks);
void draw_input_free(struct draw_input *input);
void draw_input_feed(struct draw_input *input, struct slice bytes); /* may call the callbacks */

/* "ctrl-d", "F5", "shift-tab", "enter", "space", "?", "A": as key tables are written. */
bool draw_key_parse(const char *name, struct draw_key *out);
enum { KEY_NAME_BYTES = 32 };
const char *draw_key_format(const struct draw_key *key, char out[KEY_NAME_BYTES]);
bool draw_key_equals(const struct draw_key *a, const struct draw_key *b);
