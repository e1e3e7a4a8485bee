// SPDX-License-Identifier: Apache-2.0
// The key table. Where k9s has a key for the same thing, it is that key.
//
// In a pane that scrolls letters only move and select, in one whose process has ended they do nothing: whoever types
// there may believe to be in the shell. Leaving, copying and running again take keys that no text has.
#include "tui/view/keys.h"

#include "engine/base/err.h"
#include "engine/base/settings.h"

#include <stdio.h>
#include <string.h>

/* Two, because no key is everywhere: Ctrl-] takes nothing from programs but a jump in vim and is known from telnet, and
 * where ] is behind AltGr (German, French, …) Ctrl-5 is the same byte in most terminals; F12 is a key of its own on every
 * keyboard. Letters with Ctrl are all taken by shells and editors. */
static struct {
	struct draw_key keys[KEY_PREFIXES_MAX];
	size_t n;
	char first[KEY_NAME_BYTES];
	char all[KEY_PREFIXES_BYTES * 2];
	char title[KEY_PREFIXES_BYTES * 2 + 64];
} prefix;

/* Keys that text and dialogs cannot do without; some of them are others' bytes (Ctrl-I is Tab). */
static bool may_be_prefix(const struct draw_key *key)
{
	if (key->sym != KEY_NONE)
		return key->sym >= KEY_SYM_F1 || (key->mods != 0 && key->mods != MOD_SHIFT);
	if (key->mods == MOD_CTRL)
		return strchr("imIMjJ[hHcC",
			       (int)(key->codepoint < 0x80 ? key->codepoint : 'i')) == NULL;
	return (key->mods & MOD_ALT) != 0;
}

bool view_keys_set_prefix(const char *names, struct err *err)
{
	struct draw_key keys[KEY_PREFIXES_MAX];
	size_t n = 0;
	char name[KEY_NAME_BYTES];
	for (const char *p = names + strspn(names, " "); *p != '\0'; p += strspn(p, " ")) {
		size_t length = strcspn(p, " ");
		if (n == KEY_PREFIXES_MAX || length >= sizeof name)
			return err_set(err, ERR_ARG_INVALID, "'%.40s': up to %d keys", names,
				(int)KEY_PREFIXES_MAX);
		memcpy(name, p, length);
		name[length] = '\0';
		p += length;
		if (!draw_key_parse(name, &keys[n]))
			return err_set(err, ERR_ARG_INVALID,
				"'%.40s' is no key; keys are written as ctrl-b, alt-a, F12 or ctrl-space",
				name);
		if (!may_be_prefix(&keys[n]))
			return err_set(err, ERR_ARG_INVALID,
				"'%.40s' is needed for typing; take one with ctrl or alt, or an F key",
				name);
		n++;
	}
	if (n == 0)
		return err_set(err, ERR_ARG_INVALID, "a key is wanted, such as ctrl-b or F12");
	memcpy(prefix.keys, keys, sizeof keys);
	prefix.n = n;
	draw_key_format(&keys[0], prefix.first);
	size_t used = 0;
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(prefix.all + used, sizeof prefix.all - used, "%s%s",
			i ? " or " : "", draw_key_format(&keys[i], name));
	snprintf(prefix.title, sizeof prefix.title, "After the prefix %s (twice sends it)",
		prefix.all);
	return true;
}

static void need_prefix(void)
{
	if (prefix.n == 0)
		view_keys_set_prefix(setting_text(SETTING_PREFIX_KEY), NULL);
}

const char *view_key_prefix_name(void)
{
	need_prefix();
	return prefix.first;
}

const char *view_key_prefix_names(void)
{
	need_prefix();
	return prefix.all;
}

const struct view_key_row view_key_rows[] = {
	{ SCOPE_GLOBAL, ":", "palette", "type a command", "cmd" },
	{ SCOPE_GLOBAL, "?", "help", "all keys and commands", "help" },
	{ SCOPE_GLOBAL, "F1", "help", "all keys and commands", NULL },
	{ SCOPE_GLOBAL, "/", "filter", "filter what is shown", "filter" },
	{ SCOPE_GLOBAL, "q", "back", "close this view; in the list: quit", NULL },
	{ SCOPE_GLOBAL, "esc", "escape", "clear the filter and the marks, then close this view",
		NULL },
	{ SCOPE_GLOBAL, "ctrl-c", "quit", "quit (asks while shells or copies are running)",
		NULL },
	{ SCOPE_GLOBAL, "ctrl-z", "stop", "suspend sandmux to the shell", NULL },
	{ SCOPE_GLOBAL, "tab", "focus next", "next pane", NULL },
	{ SCOPE_GLOBAL, "shift-tab", "focus previous", "previous pane", NULL },
	{ SCOPE_GLOBAL, "alt-1", "tab 1", "the first tab (2 … 9: the next ones)", NULL },
	{ SCOPE_GLOBAL, "alt-2", "tab 2", "the second tab", NULL },
	{ SCOPE_GLOBAL, "alt-3", "tab 3", "the third tab", NULL },
	{ SCOPE_GLOBAL, "alt-4", "tab 4", "the fourth tab", NULL },
	{ SCOPE_GLOBAL, "alt-5", "tab 5", "the fifth tab", NULL },
	{ SCOPE_GLOBAL, "alt-6", "tab 6", "the sixth tab", NULL },
	{ SCOPE_GLOBAL, "alt-7", "tab 7", "the seventh tab", NULL },
	{ SCOPE_GLOBAL, "alt-8", "tab 8", "the eighth tab", NULL },
	{ SCOPE_GLOBAL, "alt-9", "tab 9", "the ninth tab", NULL },
	{ SCOPE_GLOBAL, "l", "log strip", "show or hide the log strip; in lists: logs", "log" },
	{ SCOPE_GLOBAL, "F2", "log strip", "show or hide the log strip", NULL },
	{ SCOPE_GLOBAL, "L", "log", "the log in a tab of its own", NULL },
	{ SCOPE_GLOBAL, "C", "copies", "running and finished copies", NULL },
	{ SCOPE_GLOBAL, "ctrl-l", "redraw", "paint the whole screen again", NULL },
	{ SCOPE_GLOBAL, "ctrl-r", "resync", "list everything again", NULL },

	{ SCOPE_LIST, "enter", "detail", "everything about this sandbox", "detail" },
	{ SCOPE_LIST, "d", "detail", "everything about this sandbox", NULL },
	{ SCOPE_LIST, "s", "shell", "a shell in it", "shell" },
	{ SCOPE_LIST, "l", "logs", "the log of its pod", "logs" },
	{ SCOPE_LIST, "f", "files", "its files beside yours", "files" },
	{ SCOPE_LIST, "n", "create", "create a sandbox", "new" },
	{ SCOPE_LIST, "r", "resume", "resume it", "resume" },
	{ SCOPE_LIST, "e", "extend", "move its end of life", "lifetime" },
	{ SCOPE_LIST, "p", "suspend", "suspend it", "suspend" },
	{ SCOPE_LIST, "ctrl-d", "delete", "delete it (asks)", "delete" },
	{ SCOPE_LIST, "t", "tree", "what belongs to it and whose it is", NULL },
	{ SCOPE_LIST, "y", "yaml", "as YAML, as the server has it", "yaml" },
	{ SCOPE_LIST, "space", "mark", "mark it, and down", NULL },
	{ SCOPE_LIST, "ctrl-a", "mark all", "mark all that are shown", NULL },
	{ SCOPE_LIST, "w", "warm", "show or hide the warm ones of the pools", NULL },
	{ SCOPE_LIST, "z", "card", "show or hide the card of the selected sandbox", NULL },
	{ SCOPE_LIST, "0", "namespace all", "all namespaces", NULL },
	{ SCOPE_LIST, "1", "namespace 1", "the first namespace (2 … 9: the next ones)", NULL },
	{ SCOPE_LIST, "2", "namespace 2", "the second namespace", NULL },
	{ SCOPE_LIST, "3", "namespace 3", "the third namespace", NULL },
	{ SCOPE_LIST, "4", "namespace 4", "the fourth namespace", NULL },
	{ SCOPE_LIST, "5", "namespace 5", "the fifth namespace", NULL },
	{ SCOPE_LIST, "6", "namespace 6", "the sixth namespace", NULL },
	{ SCOPE_LIST, "7", "namespace 7", "the seventh namespace", NULL },
	{ SCOPE_LIST, "8", "namespace 8", "the eighth namespace", NULL },
	{ SCOPE_LIST, "9", "namespace 9", "the ninth namespace", NULL },
	{ SCOPE_LIST, "N", "sort name", "sort by name (again: reversed)", NULL },
	{ SCOPE_LIST, "P", "sort namespace", "sort by namespace", NULL },
	{ SCOPE_LIST, "S", "sort state", "sort by state, the unhealthy first", NULL },
	{ SCOPE_LIST, "A", "sort age", "sort by age", NULL },
	{ SCOPE_LIST, "E", "sort expires", "sort by end of life", NULL },
	{ SCOPE_LIST, "R", "sort restarts", "sort by restarts", NULL },
	{ SCOPE_LIST, "O", "sort pool", "sort by pool", NULL },
	{ SCOPE_LIST, "up", "move up", "up", NULL },
	{ SCOPE_LIST, "k", "move up", "up", NULL },
	{ SCOPE_LIST, "down", "move down", "down", NULL },
	{ SCOPE_LIST, "j", "move down", "down", NULL },
	{ SCOPE_LIST, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_LIST, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_LIST, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_LIST, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_LIST, "home", "move first", "to the first", NULL },
	{ SCOPE_LIST, "g", "move first", "to the first", NULL },
	{ SCOPE_LIST, "end", "move last", "to the last", NULL },
	{ SCOPE_LIST, "G", "move last", "to the last", NULL },

	{ SCOPE_DETAIL, "s", "shell", "a shell in it", "shell" },
	{ SCOPE_DETAIL, "f", "files", "its files beside yours", "files" },
	{ SCOPE_DETAIL, "l", "logs", "the log of its pod", NULL },
	{ SCOPE_DETAIL, "t", "tree", "what belongs to it and whose it is", NULL },
	{ SCOPE_DETAIL, "y", "yaml", "as YAML, as the server has it", NULL },
	{ SCOPE_DETAIL, "p", "suspend", "suspend it", NULL },
	{ SCOPE_DETAIL, "r", "resume", "resume it", NULL },
	{ SCOPE_DETAIL, "e", "extend", "move its end of life", NULL },
	{ SCOPE_DETAIL, "n", "create", "create a sandbox", NULL },
	{ SCOPE_DETAIL, "tab", "unfold next", "the next part", NULL },
	{ SCOPE_DETAIL, "shift-tab", "unfold previous", "the part before", NULL },
	{ SCOPE_DETAIL, "enter", "unfold", "open or close the part", "unfold" },
	{ SCOPE_DETAIL, "space", "unfold", "open or close the part", NULL },
	{ SCOPE_DETAIL, "+", "unfold all", "open all parts", NULL },
	{ SCOPE_DETAIL, "-", "unfold none", "close all parts", NULL },
	{ SCOPE_DETAIL, "u", "refresh", "fetch it again", NULL },
	{ SCOPE_DETAIL, "ctrl-d", "delete", "delete it (asks)", "delete" },
	{ SCOPE_DETAIL, "up", "move up", "scroll up", NULL },
	{ SCOPE_DETAIL, "k", "move up", "scroll up", NULL },
	{ SCOPE_DETAIL, "down", "move down", "scroll down", NULL },
	{ SCOPE_DETAIL, "j", "move down", "scroll down", NULL },
	{ SCOPE_DETAIL, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_DETAIL, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_DETAIL, "home", "move first", "to the top", NULL },
	{ SCOPE_DETAIL, "g", "move first", "to the top", NULL },
	{ SCOPE_DETAIL, "end", "move last", "to the end", NULL },
	{ SCOPE_DETAIL, "G", "move last", "to the end", NULL },

	{ SCOPE_FILES, "tab", "side", "the other side", "side" },
	{ SCOPE_FILES, "enter", "enter", "open the folder", NULL },
	{ SCOPE_FILES, "right", "enter", "open the folder", NULL },
	{ SCOPE_FILES, "backspace", "leave", "the folder above", NULL },
	{ SCOPE_FILES, "left", "leave", "the folder above", NULL },
	{ SCOPE_FILES, "F5", "copy",
		"copy what is marked (or under the cursor) to the other side", "copy" },
	{ SCOPE_FILES, "c", "copy",
		"copy what is marked (or under the cursor) to the other side", NULL },
	{ SCOPE_FILES, "F8", "delete", "delete it (asks)", "delete" },
	{ SCOPE_FILES, "ctrl-d", "delete", "delete it (asks)", NULL },
	{ SCOPE_FILES, "delete", "delete", "delete it (asks)", NULL },
	{ SCOPE_FILES, "space", "mark", "mark it, and down", "mark" },
	{ SCOPE_FILES, "insert", "mark", "mark it, and down", NULL },
	{ SCOPE_FILES, "*", "mark all", "mark all, or none", NULL },
	{ SCOPE_FILES, ".", "hidden", "show or hide dot files", NULL },
	{ SCOPE_FILES, "r", "refresh", "read both folders again", NULL },
	{ SCOPE_FILES, "ctrl-s", "search", "go to a name while it is typed", NULL },
	{ SCOPE_FILES, "p", "cd", "go to a path", NULL },
	{ SCOPE_FILES, "F7", "mkdir", "make a folder", NULL },
	{ SCOPE_FILES, "o", "connect", "the other side becomes another sandbox, or yours",
		NULL },
	{ SCOPE_FILES, "s", "shell", "a shell in this sandbox", "shell" },
	{ SCOPE_FILES, "N", "sort name", "sort by name (again: reversed)", NULL },
	{ SCOPE_FILES, "Z", "sort size", "sort by size", NULL },
	{ SCOPE_FILES, "T", "sort time", "sort by time", NULL },
	{ SCOPE_FILES, "up", "move up", "up", NULL },
	{ SCOPE_FILES, "k", "move up", "up", NULL },
	{ SCOPE_FILES, "down", "move down", "down", NULL },
	{ SCOPE_FILES, "j", "move down", "down", NULL },
	{ SCOPE_FILES, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_FILES, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_FILES, "home", "move first", "to the first", NULL },
	{ SCOPE_FILES, "g", "move first", "to the first", NULL },
	{ SCOPE_FILES, "end", "move last", "to the last", NULL },
	{ SCOPE_FILES, "G", "move last", "to the last", NULL },

	{ SCOPE_LOG, "enter", "show", "everything about this line", "show" },
	{ SCOPE_LOG, "space", "pause", "stand still, or follow again", "pause" },
	{ SCOPE_LOG, "e", "errors", "gather the errors at the end, or by time", "errors" },
	{ SCOPE_LOG, "up", "move up", "older", NULL },
	{ SCOPE_LOG, "k", "move up", "older", NULL },
	{ SCOPE_LOG, "down", "move down", "newer", NULL },
	{ SCOPE_LOG, "j", "move down", "newer", NULL },
	{ SCOPE_LOG, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_LOG, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_LOG, "home", "move first", "to the oldest", NULL },
	{ SCOPE_LOG, "g", "move first", "to the oldest", NULL },
	{ SCOPE_LOG, "end", "move last", "follow the newest", "follow" },
	{ SCOPE_LOG, "G", "move last", "follow the newest", NULL },

	{ SCOPE_COPIES, "up", "move up", "up", NULL },
	{ SCOPE_COPIES, "k", "move up", "up", NULL },
	{ SCOPE_COPIES, "down", "move down", "down", NULL },
	{ SCOPE_COPIES, "j", "move down", "down", NULL },
	{ SCOPE_COPIES, "x", "cancel", "cancel this copy", "cancel" },
	{ SCOPE_COPIES, "ctrl-d", "cancel", "cancel this copy", NULL },
	{ SCOPE_COPIES, "p", "pause", "pause it, or go on", "pause" },
	{ SCOPE_COPIES, "r", "retry", "copy again what has failed", "retry" },
	{ SCOPE_COPIES, "home", "move first", "to the newest", NULL },
	{ SCOPE_COPIES, "g", "move first", "to the newest", NULL },
	{ SCOPE_COPIES, "end", "move last", "to the oldest", NULL },
	{ SCOPE_COPIES, "G", "move last", "to the oldest", NULL },
	{ SCOPE_COPIES, "c", "clear", "forget the finished ones", "clear" },

	{ SCOPE_HELP, "up", "move up", "scroll up", NULL },
	{ SCOPE_HELP, "k", "move up", "scroll up", NULL },
	{ SCOPE_HELP, "down", "move down", "scroll down", NULL },
	{ SCOPE_HELP, "j", "move down", "scroll down", NULL },
	{ SCOPE_HELP, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_HELP, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_HELP, "space", "move page-down", "a page down", NULL },
	{ SCOPE_HELP, "home", "move first", "to the top", NULL },
	{ SCOPE_HELP, "g", "move first", "to the top", NULL },
	{ SCOPE_HELP, "end", "move last", "to the end", NULL },
	{ SCOPE_HELP, "G", "move last", "to the end", NULL },

	{ SCOPE_SCROLL, "up", "move up", "up", NULL },
	{ SCOPE_SCROLL, "k", "move up", "up", NULL },
	{ SCOPE_SCROLL, "down", "move down", "down", NULL },
	{ SCOPE_SCROLL, "j", "move down", "down", NULL },
	{ SCOPE_SCROLL, "left", "move left", "left", NULL },
	{ SCOPE_SCROLL, "h", "move left", "left", NULL },
	{ SCOPE_SCROLL, "right", "move right", "right", NULL },
	{ SCOPE_SCROLL, "l", "move right", "right", NULL },
	{ SCOPE_SCROLL, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_SCROLL, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_SCROLL, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_SCROLL, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_SCROLL, "home", "move start", "start of the line", NULL },
	{ SCOPE_SCROLL, "end", "move end", "end of the line", NULL },
	{ SCOPE_SCROLL, "g", "move first", "to the oldest line", NULL },
	{ SCOPE_SCROLL, "G", "move last", "to the newest line", NULL },
	{ SCOPE_SCROLL, "space", "select", "begin to select", "select" },
	{ SCOPE_SCROLL, "v", "select", "begin to select", NULL },
	{ SCOPE_SCROLL, "ctrl-v", "select block", "begin to select a rectangle", NULL },
	{ SCOPE_SCROLL, "enter", "yank", "copy the selection and leave", "copy" },
	{ SCOPE_SCROLL, "esc", "unscroll", "back to the program", "leave" },
	{ SCOPE_SCROLL, "ctrl-c", "unscroll", "back to the program", NULL },
	{ SCOPE_SCROLL, "y", "yank", "copy the selection and leave (alone, not in a word)",
		NULL },
	{ SCOPE_SCROLL, "q", "unscroll", "back to the program (alone, not in a word)", NULL },

	{ SCOPE_DEAD, "r", "again", "run it again (alone, not in a word)", "again" },
	{ SCOPE_DEAD, "x", "close", "close this pane (alone, not in a word)", "close" },
	{ SCOPE_DEAD, "pageup", "scroll", "look at what it said", "scroll" },

	{ SCOPE_PREFIX, "c", "shell", "another shell in the same sandbox, in a tab", "new" },
	{ SCOPE_PREFIX, "|", "split right", "another shell beside this one", "split" },
	{ SCOPE_PREFIX, "%", "split right", "another shell beside this one", NULL },
	{ SCOPE_PREFIX, "-", "split down", "another shell below this one", NULL },
	{ SCOPE_PREFIX, "\"", "split down", "another shell below this one", NULL },
	{ SCOPE_PREFIX, "n", "tab next", "next tab", "next" },
	{ SCOPE_PREFIX, "p", "tab previous", "previous tab", NULL },
	{ SCOPE_PREFIX, "1", "tab 1", "the first tab (2 … 9: the next ones)", NULL },
	{ SCOPE_PREFIX, "2", "tab 2", "the second tab", NULL },
	{ SCOPE_PREFIX, "3", "tab 3", "the third tab", NULL },
	{ SCOPE_PREFIX, "4", "tab 4", "the fourth tab", NULL },
	{ SCOPE_PREFIX, "5", "tab 5", "the fifth tab", NULL },
	{ SCOPE_PREFIX, "6", "tab 6", "the sixth tab", NULL },
	{ SCOPE_PREFIX, "7", "tab 7", "the seventh tab", NULL },
	{ SCOPE_PREFIX, "8", "tab 8", "the eighth tab", NULL },
	{ SCOPE_PREFIX, "9", "tab 9", "the ninth tab", NULL },
	{ SCOPE_PREFIX, "d", "sandboxes", "to the list; the shell goes on", "list" },
	{ SCOPE_PREFIX, "0", "sandboxes", "to the list; the shell goes on", NULL },
	{ SCOPE_PREFIX, "o", "focus next", "next pane", NULL },
	{ SCOPE_PREFIX, "left", "focus left", "the pane to the left", NULL },
	{ SCOPE_PREFIX, "right", "focus right", "the pane to the right", NULL },
	{ SCOPE_PREFIX, "up", "focus up", "the pane above", NULL },
	{ SCOPE_PREFIX, "down", "focus down", "the pane below", NULL },
	{ SCOPE_PREFIX, "ctrl-left", "grow left", "move the border left", NULL },
	{ SCOPE_PREFIX, "ctrl-right", "grow right", "move the border right", NULL },
	{ SCOPE_PREFIX, "ctrl-up", "grow up", "move the border up", NULL },
	{ SCOPE_PREFIX, "ctrl-down", "grow down", "move the border down", NULL },
	{ SCOPE_PREFIX, "z", "zoom", "this pane alone, or all again", "zoom" },
	{ SCOPE_PREFIX, "x", "close", "close this pane (asks while it runs)", "close" },
	{ SCOPE_PREFIX, "r", "again", "run what has ended in this pane again", NULL },
	{ SCOPE_PREFIX, "R", "backend start", "start the backend on this machine again", NULL },
	{ SCOPE_PREFIX, "a", "answer", "turn to the question that waits for an answer",
		"answer" },
	{ SCOPE_PREFIX, "[", "scroll", "scroll, search with the eyes, and copy", "scroll" },
	{ SCOPE_PREFIX, "pageup", "scroll", "scroll, search with the eyes, and copy", NULL },
	{ SCOPE_PREFIX, "f", "files", "the files of this sandbox", "files" },
	{ SCOPE_PREFIX, "i", "detail", "everything about this sandbox", NULL },
	{ SCOPE_PREFIX, "l", "log strip", "show or hide the log strip", NULL },
	{ SCOPE_PREFIX, "m", "mouse toggle", "give the mouse to the terminal, or take it",
		NULL },
	{ SCOPE_PREFIX, ":", "palette", "type a command", "cmd" },
	{ SCOPE_PREFIX, "?", "help", "all keys and commands", "help" },
	{ SCOPE_PREFIX, "q", "quit", "quit sandmux (asks)", NULL },
	{ SCOPE_PREFIX, "ctrl-z", "stop", "suspend sandmux to the shell", NULL },

	{ SCOPE_RESOURCES, "enter", "enter", "everything about it; a namespace is looked at",
		"detail" },
	{ SCOPE_RESOURCES, "d", "detail", "everything about it", NULL },
	{ SCOPE_RESOURCES, "e", "edit", "change it in your editor", NULL },
	{ SCOPE_RESOURCES, "l", "logs", "the log of its pod", NULL },
	{ SCOPE_RESOURCES, "t", "tree", "what belongs to it and whose it is", "tree" },
	{ SCOPE_RESOURCES, "s", "scale", "how many warm sandboxes there shall be", "scale" },
	{ SCOPE_RESOURCES, "w", "aside", "show or hide those of others", "others" },
	{ SCOPE_RESOURCES, "y", "yaml", "as YAML, as the server has it", NULL },
	{ SCOPE_RESOURCES, "ctrl-d", "delete", "delete it (asks)", "delete" },
	{ SCOPE_RESOURCES, "space", "mark", "mark it, and down", NULL },
	{ SCOPE_RESOURCES, "ctrl-a", "mark all", "mark all that are shown", NULL },
	{ SCOPE_RESOURCES, "0", "namespace all", "all namespaces", NULL },
	{ SCOPE_RESOURCES, "1", "namespace 1", "the first namespace (2 … 9: the next ones)",
		NULL },
	{ SCOPE_RESOURCES, "2", "namespace 2", "the second namespace", NULL },
	{ SCOPE_RESOURCES, "3", "namespace 3", "the third namespace", NULL },
	{ SCOPE_RESOURCES, "4", "namespace 4", "the fourth namespace", NULL },
	{ SCOPE_RESOURCES, "5", "namespace 5", "the fifth namespace", NULL },
	{ SCOPE_RESOURCES, "6", "namespace 6", "the sixth namespace", NULL },
	{ SCOPE_RESOURCES, "7", "namespace 7", "the seventh namespace", NULL },
	{ SCOPE_RESOURCES, "8", "namespace 8", "the eighth namespace", NULL },
	{ SCOPE_RESOURCES, "9", "namespace 9", "the ninth namespace", NULL },
	{ SCOPE_RESOURCES, "N", "sort name", "sort by name (again: reversed)", NULL },
	{ SCOPE_RESOURCES, "P", "sort namespace", "sort by namespace", NULL },
	{ SCOPE_RESOURCES, "S", "sort status", "sort by status", NULL },
	{ SCOPE_RESOURCES, "A", "sort age", "sort by age", NULL },
	{ SCOPE_RESOURCES, "up", "move up", "up", NULL },
	{ SCOPE_RESOURCES, "k", "move up", "up", NULL },
	{ SCOPE_RESOURCES, "down", "move down", "down", NULL },
	{ SCOPE_RESOURCES, "j", "move down", "down", NULL },
	{ SCOPE_RESOURCES, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_RESOURCES, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_RESOURCES, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_RESOURCES, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_RESOURCES, "home", "move first", "to the first", NULL },
	{ SCOPE_RESOURCES, "g", "move first", "to the first", NULL },
	{ SCOPE_RESOURCES, "end", "move last", "to the last", NULL },
	{ SCOPE_RESOURCES, "G", "move last", "to the last", NULL },

	{ SCOPE_RESOURCE, "enter", "open", "open what is chosen of what belongs to it",
		"open" },
	{ SCOPE_RESOURCE, "t", "tree", "what belongs to it and whose it is", "tree" },
	{ SCOPE_RESOURCE, "s", "scale", "how many warm sandboxes there shall be", "scale" },
	{ SCOPE_RESOURCE, "r", "refresh", "fetch it again", "refresh" },
	{ SCOPE_RESOURCE, "e", "edit", "change it in your editor", NULL },
	{ SCOPE_RESOURCE, "l", "logs", "the log of its pod", NULL },
	{ SCOPE_RESOURCE, "y", "yaml", "as YAML, as the server has it", NULL },
	{ SCOPE_RESOURCE, "ctrl-d", "delete", "delete it (asks)", "delete" },
	{ SCOPE_RESOURCE, "up", "move up", "scroll up", NULL },
	{ SCOPE_RESOURCE, "k", "move up", "scroll up", NULL },
	{ SCOPE_RESOURCE, "down", "move down", "scroll down", NULL },
	{ SCOPE_RESOURCE, "j", "move down", "scroll down", NULL },
	{ SCOPE_RESOURCE, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_RESOURCE, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_RESOURCE, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_RESOURCE, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_RESOURCE, "home", "move first", "to the top", NULL },
	{ SCOPE_RESOURCE, "g", "move first", "to the top", NULL },
	{ SCOPE_RESOURCE, "end", "move last", "to the end", NULL },
	{ SCOPE_RESOURCE, "G", "move last", "to the end", NULL },

	{ SCOPE_TREE, "enter", "open", "everything about it", "open" },
	{ SCOPE_TREE, "d", "open", "everything about it", NULL },
	{ SCOPE_TREE, "y", "yaml", "as YAML, as the server has it", "yaml" },
	{ SCOPE_TREE, "l", "logs", "the log of its pod", "logs" },
	{ SCOPE_TREE, "r", "refresh", "read it again", "refresh" },
	{ SCOPE_TREE, "up", "move up", "up", NULL },
	{ SCOPE_TREE, "k", "move up", "up", NULL },
	{ SCOPE_TREE, "down", "move down", "down", NULL },
	{ SCOPE_TREE, "j", "move down", "down", NULL },
	{ SCOPE_TREE, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_TREE, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_TREE, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_TREE, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_TREE, "home", "move first", "to the first", NULL },
	{ SCOPE_TREE, "g", "move first", "to the first", NULL },
	{ SCOPE_TREE, "end", "move last", "to the last", NULL },
	{ SCOPE_TREE, "G", "move last", "to the last", NULL },

	{ SCOPE_YAML, "n", "next", "the next place that is searched for", NULL },
	{ SCOPE_YAML, "N", "next back", "the one before", NULL },
	{ SCOPE_YAML, "tab", "object next", "claim, Sandbox or pod: the next", "object" },
	{ SCOPE_YAML, "e", "edit", "change it in your editor", "edit" },
	{ SCOPE_YAML, "w", "fold", "fold long lines, or cut them", "fold" },
	{ SCOPE_YAML, "x", "secrets", "show what is masked (asks), or mask it again",
		"secrets" },
	{ SCOPE_YAML, "m", "managed", "show or hide managedFields", NULL },
	{ SCOPE_YAML, "c", "copy", "the text to the clipboard", "copy" },
	{ SCOPE_YAML, "r", "refresh", "read it again", "refresh" },
	{ SCOPE_YAML, "up", "move up", "scroll up", NULL },
	{ SCOPE_YAML, "k", "move up", "scroll up", NULL },
	{ SCOPE_YAML, "down", "move down", "scroll down", NULL },
	{ SCOPE_YAML, "j", "move down", "scroll down", NULL },
	{ SCOPE_YAML, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_YAML, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_YAML, "left", "move left", "to the left", NULL },
	{ SCOPE_YAML, "right", "move right", "to the right", NULL },
	{ SCOPE_YAML, "home", "move first", "to the top", NULL },
	{ SCOPE_YAML, "g", "move first", "to the top", NULL },
	{ SCOPE_YAML, "end", "move last", "to the end", NULL },
	{ SCOPE_YAML, "G", "move last", "to the end", NULL },

	{ SCOPE_BULK, "x", "cancel", "begin no more of them", "cancel" },
	{ SCOPE_BULK, "ctrl-d", "cancel", "begin no more of them", NULL },
	{ SCOPE_BULK, "r", "retry", "those that failed or were not begun, once more", "retry" },
	{ SCOPE_BULK, "q", "close", "back to the list; it goes on", "close" },
	{ SCOPE_BULK, "up", "move up", "up", NULL },
	{ SCOPE_BULK, "k", "move up", "up", NULL },
	{ SCOPE_BULK, "down", "move down", "down", NULL },
	{ SCOPE_BULK, "j", "move down", "down", NULL },
	{ SCOPE_BULK, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_BULK, "ctrl-b", "move page-up", "a page up", NULL },
	{ SCOPE_BULK, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_BULK, "ctrl-f", "move page-down", "a page down", NULL },
	{ SCOPE_BULK, "home", "move first", "to the first", NULL },
	{ SCOPE_BULK, "g", "move first", "to the first", NULL },
	{ SCOPE_BULK, "end", "move last", "to the last", NULL },
	{ SCOPE_BULK, "G", "move last", "to the last", NULL },
	{ SCOPE_LOGS, "n", "next", "the next place that is searched for", NULL },
	{ SCOPE_LOGS, "N", "next back", "the one before", NULL },
	{ SCOPE_LOGS, "space", "pause", "stand still, or follow again", "pause" },
	{ SCOPE_LOGS, "p", "previous", "before the last restart, or now", "previous" },
	{ SCOPE_LOGS, "c", "container", "another container", "container" },
	{ SCOPE_LOGS, "t", "timestamps", "show or hide when each line was written", "times" },
	{ SCOPE_LOGS, "w", "fold", "fold long lines, or cut them", "fold" },
	{ SCOPE_LOGS, "s", "save", "save it to a file", "save" },
	{ SCOPE_LOGS, "0", "since all", "all there is", NULL },
	{ SCOPE_LOGS, "1", "since 1m", "the last minute", NULL },
	{ SCOPE_LOGS, "2", "since 5m", "the last five minutes", NULL },
	{ SCOPE_LOGS, "3", "since 1h", "the last hour", NULL },
	{ SCOPE_LOGS, "up", "move up", "scroll up", NULL },
	{ SCOPE_LOGS, "k", "move up", "scroll up", NULL },
	{ SCOPE_LOGS, "down", "move down", "scroll down", NULL },
	{ SCOPE_LOGS, "j", "move down", "scroll down", NULL },
	{ SCOPE_LOGS, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_LOGS, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_LOGS, "left", "move left", "to the left", NULL },
	{ SCOPE_LOGS, "right", "move right", "to the right", NULL },
	{ SCOPE_LOGS, "home", "move first", "to the oldest", NULL },
	{ SCOPE_LOGS, "g", "move first", "to the oldest", NULL },
	{ SCOPE_LOGS, "end", "move last", "follow the newest", "follow" },
	{ SCOPE_LOGS, "G", "move last", "follow the newest", NULL },
	{ SCOPE_CONTEXTS, "enter", "switch", "look at this context", "switch" },
	{ SCOPE_CONTEXTS, "r", "refresh", "read the kubeconfig again", "refresh" },
	{ SCOPE_CONTEXTS, "up", "move up", "up", NULL },
	{ SCOPE_CONTEXTS, "k", "move up", "up", NULL },
	{ SCOPE_CONTEXTS, "down", "move down", "down", NULL },
	{ SCOPE_CONTEXTS, "j", "move down", "down", NULL },
	{ SCOPE_CONTEXTS, "pageup", "move page-up", "a page up", NULL },
	{ SCOPE_CONTEXTS, "pagedown", "move page-down", "a page down", NULL },
	{ SCOPE_CONTEXTS, "g", "move first", "to the first", NULL },
	{ SCOPE_CONTEXTS, "G", "move last", "to the last", NULL },
};
const size_t views_n_key_rows = sizeof view_key_rows / sizeof view_key_rows[0];

static const struct {
	const char *name, *title;
} scopes[] = {
	[SCOPE_GLOBAL] = { "everywhere", "Everywhere (outside shells)" },
	[SCOPE_LIST] = { "list", "Sandbox list" },
	[SCOPE_DETAIL] = { "detail", "Detail" },
	[SCOPE_FILES] = { "files", "Files" },
	[SCOPE_LOG] = { "log", "Log" },
	[SCOPE_COPIES] = { "copies", "Copies" },
	[SCOPE_HELP] = { "help", "Help" },
	[SCOPE_SCROLL] = { "scroll", "Shell pane, scrolling" },
	[SCOPE_DEAD] = { "ended", "Shell pane, process ended" },
	[SCOPE_SHELL] = { "shell", "Shell pane" },
	[SCOPE_TYPING] = { "typing", "While a text is typed" },
	[SCOPE_PREFIX] = { "prefix", "" }, /* view_key_scope_title() knows */
	[SCOPE_RESOURCES] = { "resources", "Lists of other kinds" },
	[SCOPE_RESOURCE] = { "resource", "Detail of other kinds" },
	[SCOPE_YAML] = { "yaml", "YAML" },
	[SCOPE_BULK] = { "bulk", "Many at once" },
	[SCOPE_LOGS] = { "logs", "Logs of a pod" },
	[SCOPE_CONTEXTS] = { "contexts", "Contexts" },
	[SCOPE_TREE] = { "tree", "Tree" },
};
_Static_assert(sizeof scopes / sizeof scopes[0] == SCOPE_COUNT, "a row for each scope");

/* Of keymap.yaml; rows NULL: the table alone. */
static struct {
	struct view_key_row *rows;
	size_t n, n_builtin;
} own;

const struct view_key_row *view_keys(size_t *n)
{
	*n = own.rows ? own.n : views_n_key_rows;
	return own.rows ? own.rows : view_key_rows;
}

bool view_key_is_own(const struct view_key_row *row)
{
	return own.rows && row >= own.rows + own.n_builtin && row < own.rows + own.n;
}

void view_keys_swap(struct view_key_row *rows, size_t n, size_t n_builtin,
	struct view_key_row **old, size_t *n_old, size_t *n_old_builtin)
{
	*old = own.rows;
	*n_old = own.n;
	*n_old_builtin = own.n_builtin;
	own.rows = rows;
	own.n = n;
	own.n_builtin = n_builtin;
}

const char *view_key_scope_name(enum view_key_scope scope)
{
	return scopes[scope].name;
}

const char *view_key_scope_title(enum view_key_scope scope)
{
	if (scope != SCOPE_PREFIX)
		return scopes[scope].title;
	need_prefix();
	return prefix.title;
}

const char *view_key_lookup(enum view_key_scope scope, const struct draw_key *key)
{
	size_t n;
	const struct view_key_row *rows = view_keys(&n);
	for (size_t i = 0; i < n; i++) {
		struct draw_key bound;
		if (rows[i].scope == scope && draw_key_parse(rows[i].key, &bound) &&
			draw_key_equals(&bound, key))
			return rows[i].command;
	}
	return NULL;
}

const char *view_key_of_command(enum view_key_scope scope, const char *command)
{
	size_t n;
	const struct view_key_row *rows = view_keys(&n);
	for (size_t i = 0; i < n; i++)
		if ((rows[i].scope == scope || rows[i].scope == SCOPE_GLOBAL) &&
			strcmp(rows[i].command, command) == 0)
			return rows[i].key;
	return NULL;
}

bool view_key_is_prefix(const struct draw_key *key)
{
	need_prefix();
	for (size_t i = 0; i < prefix.n; i++)
		if (draw_key_equals(&prefix.keys[i], key))
			return true;
	return false;
}
