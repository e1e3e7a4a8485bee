// SPDX-License-Identifier: Apache-2.0
/* Roles that views draw with, and the themes (YAML) that give them colours. A theme that cannot be read leaves
 * the built-in one in place.
 * Errors: ERR_CONFIG_FILE, ERR_FILE_NOT_FOUND, those of engine/base/yaml.h. */
#pragma once

#include "tui/draw/surface.h"

#include <stdbool.h>

struct err;

/* role, name in a theme file, built-in foreground, background, attributes */
#define THEME_ROLES(X)                                                                         \
	X(TEXT, "text", "default", "default", 0)                                               \
	X(DIM, "dim", "bright-black", "default", 0)                                            \
	X(DISABLED, "disabled", "bright-black", "default", 0)                                  \
	X(ACCENT, "accent", "cyan", "default", DRAW_BOLD)                                      \
	X(TITLE, "title", "default", "default", 0)                                             \
	X(TITLE_FOCUSED, "title-focused", "cyan", "default", DRAW_BOLD)                        \
	X(BORDER, "border", "bright-black", "default", 0)                                      \
	X(BORDER_FOCUSED, "border-focused", "cyan", "default", 0)                              \
	X(HEADER, "header", "cyan", "default", DRAW_BOLD)                                      \
	X(CURSOR, "cursor", "black", "cyan", 0)                                                \
	X(CURSOR_UNFOCUSED, "cursor-unfocused", "default", "default", DRAW_UNDERLINE)          \
	X(MARKED, "marked", "yellow", "default", DRAW_BOLD)                                    \
	X(BAR, "bar", "default", "default", DRAW_REVERSE)                                      \
	X(BAR_KEY, "bar-key", "default", "default", DRAW_REVERSE | DRAW_BOLD)                  \
	X(BAR_DISABLED, "bar-disabled", "default", "default", DRAW_REVERSE | DRAW_DIM)         \
	X(TAB, "tab", "default", "default", DRAW_REVERSE)                                      \
	X(TAB_ACTIVE, "tab-active", "cyan", "default", DRAW_BOLD)                              \
	X(INPUT, "input", "default", "default", 0)                                             \
	X(DIALOG, "dialog", "default", "default", 0)                                           \
	X(DIALOG_BORDER, "dialog-border", "cyan", "default", 0)                                \
	X(DIALOG_TITLE, "dialog-title", "cyan", "default", DRAW_BOLD)                          \
	X(BUTTON, "button", "default", "default", 0)                                           \
	X(BUTTON_ACTIVE, "button-active", "black", "cyan", 0)                                  \
	X(ERROR, "error", "red", "default", DRAW_BOLD)                                         \
	X(WARNING, "warning", "yellow", "default", 0)                                          \
	X(OK, "ok", "green", "default", 0)                                                     \
	X(BUSY, "busy", "blue", "default", 0)                                                  \
	X(GONE, "gone", "bright-black", "default", 0)                                          \
	X(DIRECTORY, "directory", "blue", "default", DRAW_BOLD)                                \
	X(LINK, "link", "cyan", "default", 0)                                                  \
	X(EXECUTABLE, "executable", "green", "default", 0)                                     \
	X(SELECTION, "selection", "default", "default", DRAW_REVERSE)                          \
	X(GHOST, "ghost", "black", "yellow", 0)                                                \
	X(DROP, "drop", "black", "green", 0)                                                   \
	X(PROGRESS, "progress", "black", "green", 0)                                           \
	X(PANE, "pane", "#e4e4e4", "#000000", 0) /* told to programs that ask; not painted */

enum draw_theme_role {
#define X(id, name, fg, bg, attrs) ROLE_##id,
	THEME_ROLES(X)
#undef X
		ROLE_COUNT,
};

enum { THEME_NAME_BYTES = 64 };
struct draw_theme {
	char name[THEME_NAME_BYTES];
	struct draw_style roles[ROLE_COUNT];
};

static inline struct draw_style theme_style(
	const struct draw_theme *theme, enum draw_theme_role role)
{
	return theme->roles[role];
}

void draw_theme_builtin(struct draw_theme *theme);
/* name: a theme's name (searched in ~/.config/sandmux/themes, the install prefix, the source tree) or a path to
 * a .yaml file. On failure (ERR_CONFIG_FILE, ERR_FILE_NOT_FOUND) *theme is untouched. */
bool draw_theme_load(struct draw_theme *theme, const char *name, struct err *err);
bool draw_theme_parse(
	struct draw_theme *theme, const char *name, struct slice yaml, struct err *err);
/* Calls fn for each theme's name that can be found, sorted, once each. */
void draw_theme_each(void (*fn)(void *arg, const char *name), void *arg);
