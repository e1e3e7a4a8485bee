// SPDX-License-Identifier: Apache-2.0
// Names of keys, both ways. A character keeps its own case: "A" is what Shift and a give.
#include "engine/base/num.h"
#include "tui/draw/input.h"

#include <stdio.h>
#include <string.h>

static const char *const sym_names[KEY_SYM_F1] = {
	[KEY_NONE] = "",
	[KEY_SYM_ENTER] = "enter",
	[KEY_SYM_TAB] = "tab",
	[KEY_SYM_BACKSPACE] = "backspace",
	[KEY_SYM_ESCAPE] = "esc",
	[KEY_SYM_UP] = "up",
	[KEY_SYM_DOWN] = "down",
	[KEY_SYM_LEFT] = "left",
	[KEY_SYM_RIGHT] = "right",
	[KEY_SYM_INSERT] = "insert",
	[KEY_SYM_DELETE] = "delete",
	[KEY_SYM_HOME] = "home",
	[KEY_SYM_END] = "end",
	[KEY_SYM_PAGE_UP] = "pageup",
	[KEY_SYM_PAGE_DOWN] = "pagedown",
	[KEY_SYM_BEGIN] = "begin",
};

static bool decode_one(const char *text, uint32_t *out)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t n = strlen(text);
	uint32_t c;
	size_t need;
	if (p[0] < 0x80) {
		c = p[0];
		need = 1;
	} else if (p[0] >= 0xF0) {
		c = p[0] & 7U;
		need = 4;
	} else if (p[0] >= 0xE0) {
		c = p[0] & 15U;
		need = 3;
	} else {
		c = p[0] & 31U;
		need = 2;
	}
	if (n != need)
		return false;
	for (size_t i = 1; i < need; i++)
		c = c << 6 | (p[i] & 63U);
	*out = c;
	return true;
}

bool draw_key_parse(const char *name, struct draw_key *out)
{
	static const struct {
		const char *prefix;
		unsigned mod;
	} prefixes[] = { { "ctrl-", MOD_CTRL }, { "alt-", MOD_ALT }, { "shift-", MOD_SHIFT } };
	struct draw_key key = { 0 };
	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(prefixes[i].prefix);
		if (strncmp(name, prefixes[i].prefix, n) == 0 && name[n]) {
			key.mods |= prefixes[i].mod;
			name += n;
			i = (size_t)-1;
		}
	}
	if (strcmp(name, "space") == 0) {
		key.codepoint = ' ';
		*out = key;
		return true;
	}
	for (int sym = 1; sym < KEY_SYM_F1; sym++)
		if (strcmp(name, sym_names[sym]) == 0) {
			key.sym = (enum draw_key_sym)sym;
			*out = key;
			return true;
		}
	int64_t number;
	if (name[0] == 'F' && name[1] && num_parse_i64(name + 1, 1, 24, &number)) {
		key.sym = (enum draw_key_sym)(KEY_SYM_F1 + (int)(number - 1) % 12);
		key.mods |= number > 12 ? MOD_SHIFT : 0U;
		*out = key;
		return true;
	}
	if (!decode_one(name, &key.codepoint))
		return false;
	*out = key;
	return true;
}

static size_t encode(uint32_t c, char out[5])
{
	size_t n = 0;
	if (c < 0x80) {
		out[n++] = (char)c;
	} else if (c < 0x800) {
		out[n++] = (char)(0xC0 | c >> 6);
		out[n++] = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		out[n++] = (char)(0xE0 | c >> 12);
		out[n++] = (char)(0x80 | (c >> 6 & 63));
		out[n++] = (char)(0x80 | (c & 63));
	} else {
		out[n++] = (char)(0xF0 | c >> 18);
		out[n++] = (char)(0x80 | (c >> 12 & 63));
		out[n++] = (char)(0x80 | (c >> 6 & 63));
		out[n++] = (char)(0x80 | (c & 63));
	}
	out[n] = 0;
	return n;
}

const char *draw_key_format(const struct draw_key *key, char out[KEY_NAME_BYTES])
{
	char name[16];
	if (key->sym >= KEY_SYM_F1)
		snprintf(name, sizeof name, "F%d", (int)(key->sym - KEY_SYM_F1 + 1));
	else if (key->sym != KEY_NONE)
		snprintf(name, sizeof name, "%s", sym_names[key->sym]);
	else if (key->codepoint == ' ')
		snprintf(name, sizeof name, "space");
	else {
		char text[5];
		encode(key->codepoint, text);
		snprintf(name, sizeof name, "%s", text);
	}
	snprintf(out, KEY_NAME_BYTES, "%s%s%s%s", key->mods & MOD_CTRL ? "ctrl-" : "",
		key->mods & MOD_ALT ? "alt-" : "", key->mods & MOD_SHIFT ? "shift-" : "", name);
	return out;
}

bool draw_key_equals(const struct draw_key *a, const struct draw_key *b)
{
	return a->sym == b->sym && a->mods == b->mods &&
	       (a->sym != KEY_NONE || a->codepoint == b->codepoint);
}
