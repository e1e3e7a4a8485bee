// SPDX-License-Identifier: Apache-2.0
// What docs/keys.md says above its tables.
#include "tui/view/keys.h"

#include "engine/base/str.h"

void view_keys_markdown_head(struct str *out)
{
	str_add(out,
		"# Keys\n\n"
		"This page is made from the key table (tui/view/keys.c); a test compares them.\n"
		"In a live shell pane every key goes to the program, except the prefix.\n"
		"The setting `prefix-key` (docs/settings.md) names other keys for it, up to three: `--set "
		"'prefix-key=ctrl-b'`.\nBy default there are two, because no key is on every keyboard: Ctrl-] "
		"takes next to nothing from programs (where `]` needs AltGr,\nas on German and French keyboards, "
		"Ctrl-5 is the same in most terminals), and F12 can be typed everywhere.\n\n"
		"Keys of your own are in `~/.config/sandmux/keymap.yaml`: a place, a key, a command line, or `none`. "
		"`sandmux help keys` shows\nwhat is in force, and which of yours are out of reach.\n\n"
		"```yaml\nlist:\n  x: delete\n  ctrl-d: none\neverywhere:\n  F2: theme light\n```\n");
}
