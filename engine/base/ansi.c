// SPDX-License-Identifier: Apache-2.0
#include "engine/base/ansi.h"

enum { ESC = 0x1b, BEL = 0x07 };

/* Behind a sequence that begins at `at` with ESC. */
static size_t skip_escape(struct slice text, size_t at)
{
	if (++at >= text.n)
		return text.n;
	unsigned char kind = (unsigned char)text.p[at++];
	if (kind == '[') { /* parameters and intermediates, then one final byte */
		while (at < text.n && (unsigned char)text.p[at] >= 0x20 &&
			(unsigned char)text.p[at] < 0x40)
			at++;
		return at < text.n && (unsigned char)text.p[at] >= 0x40 &&
				       (unsigned char)text.p[at] < 0x7f
			       ? at + 1
			       : at;
	}
	if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' || kind == '_') {
		for (; at < text.n; at++) { /* until BEL or ESC \ */
			if (text.p[at] == BEL)
				return at + 1;
			if (text.p[at] == ESC && at + 1 < text.n && text.p[at + 1] == '\\')
				return at + 2;
		}
		return at;
	}
	if (kind >= 0x20 && kind < 0x30) /* an intermediate, then one final byte */
		return at < text.n ? at + 1 : at;
	return at;
}

void ansi_strip(struct slice text, struct str *out)
{
	size_t from = 0, at = 0;
	while (at < text.n) {
		if (text.p[at] != ESC && text.p[at] != '\r') {
			at++;
			continue;
		}
		str_add_bytes(out, text.p + from, at - from);
		at = text.p[at] == ESC ? skip_escape(text, at) : at + 1;
		from = at;
	}
	str_add_bytes(out, text.p + from, text.n - from);
}
