// SPDX-License-Identifier: Apache-2.0
/* Roles that views draw with, and the themes (YAML) that give them colours. A theme that cannot be read leaves
 * the built-in one in place.
 * Errors: ERR_CONFIG_FILE, ERR_FILE_NOT_FOUND, those of engine/base/yaml.h. */
#pragma once

#include "tui/draw/surface.h"

#include <stdbool.h>

struct err;

/* role, name in a theme file, built-in foreground, background, attributes, and attributes where there is no colour.
 * What is painted on a row under the cursor keeps the cursor's background: so each tone is readable there, too.
 * PANE is told to programs that ask, never painted. */
#define THEME_ROLES(X)                                                                         \
	X(TEXT, "text", "default", "default", 0, 0)                                            \
	X(DIM, "dim", "bright-black", "default", 0, DRAW_DIM)                                  \
	X(DISABLED, "disabled", "bright-black", "default", 0, DRAW_DIM)                        \
	X(ACCENT, "accent", "cyan", "default", DRAW_BOLD, DRAW_BOLD)                           \
	X(TITLE, "title", "default", "default", 0, 0)                                          \
	X(TITLE_FOCUSED, "title-focused", "cyan", "default", DRAW_BOLD, DRAW_BOLD)             \
	X(BORDER, "border", "bright-black", "default", 0, DRAW_DIM)                            \
	X(BORDER_FOCUSED, "border-focused", "cyan", "default", 0, DRAW_BOLD)                   \
	X(HEADER, "header", "cyan", "default", DRAW_BOLD, DRAW_BOLD | DRAW_UNDERLINE)          \
	X(CURSOR, "cursor", "default", "default", DRAW_REVERSE, DRAW_REVERSE)                  \
	X(CURSOR_UNFOCUSED, "cursor-unfocused", "default", "default", DRAW_UNDERLINE,          \
		DRAW_UNDERLINE)                                                                \
	X(MARKED, "marked", "yellow", "default", DRAW_BOLD, DRAW_BOLD)                         \
	X(BAR, "bar", "default", "default", DRAW_REVERSE, DRAW_REVERSE)                        \
	X(BAR_KEY, "bar-key", "default", "default", DRAW_REVERSE | DRAW_BOLD,                  \
		DRAW_REVERSE | DRAW_BOLD)                                                      \
	X(BAR_DISABLED, "bar-disabled", "default", "default", DRAW_REVERSE | DRAW_DIM,         \
		DRAW_REVERSE | DRAW_DIM)                                                       \
	X(TAB, "tab", "default", "default", DRAW_REVERSE, DRAW_REVERSE)                        \
	X(TAB_ACTIVE, "tab-active", "cyan", "default", DRAW_BOLD, DRAW_BOLD | DRAW_UNDERLINE)  \
	X(INPUT, "input", "default", "default", 0, DRAW_UNDERLINE)                             \
	X(DIALOG, "dialog", "default", "default", 0, 0)                                        \
	X(DIALOG_BORDER, "dialog-border", "cyan", "default", 0, DRAW_BOLD)                     \
	X(DIALOG_TITLE, "dialog-title", "cyan", "default", DRAW_BOLD, DRAW_BOLD)               \
	X(BUTTON, "button", "default", "default", 0, 0)                                        \
	X(BUTTON_ACTIVE, "button-active", "black", "cyan", 0, DRAW_REVERSE)                    \
	X(ERROR, "error", "red", "default", DRAW_BOLD, DRAW_BOLD | DRAW_REVERSE)               \
	X(WARNING, "warning", "yellow", "default", 0, DRAW_BOLD)                               \
	X(OK, "ok", "green", "default", 0, 0)                                                  \
	X(BUSY, "busy", "blue", "default", 0, DRAW_DIM)                                        \
	X(GONE, "gone", "bright-black", "default", 0, DRAW_DIM)                                \
	X(DIRECTORY, "directory", "blue", "default", DRAW_BOLD, DRAW_BOLD)                     \
	X(LINK, "link", "cyan", "default", 0, DRAW_ITALIC)                                     \
	X(EXECUTABLE, "executable", "green", "default", 0, DRAW_BOLD)                          \
	X(SELECTION, "selection", "default", "default", DRAW_REVERSE, DRAW_REVERSE)            \
	X(GHOST, "ghost", "black", "yellow", 0, DRAW_REVERSE | DRAW_BOLD)                      \
	X(DROP, "drop", "black", "green", 0, DRAW_REVERSE | DRAW_BOLD)                         \
	X(PROGRESS, "progress", "black", "green", 0, DRAW_REVERSE)                             \
	X(PANE, "pane", "#e4e4e4", "#000000", 0, 0)

enum draw_theme_role {
#define X(id, name, fg, bg, attrs, plain) ROLE_##id,
	THEME_ROLES(X)
#undef X
		ROLE_COUNT,
};

/* What terminals have: 24-bit colours, 256, 16, 8, none. */
enum draw_theme_level {
	THEME_FULL,
	THEME_256,
	THEME_16,
	THEME_8,
	THEME_NONE,
	THEME_LEVELS,
};

enum { THEME_NAME_BYTES = 64 };
struct draw_theme {
	char name[THEME_NAME_BYTES];
	struct draw_style roles[ROLE_COUNT]; /* of the level that was chosen */
	struct draw_style levels[THEME_LEVELS][ROLE_COUNT];
};

static inline struct draw_style theme_style(
	const struct draw_theme *theme, enum draw_theme_role role)
{
	return theme->roles[role];
}

/* With the roles of 24-bit colours, like all that follow. */
void draw_theme_builtin(struct draw_theme *theme);
/* The roles for a terminal of that many colours (draw_screen_colors()). */
void draw_theme_choose(struct draw_theme *theme, int colors);
enum draw_theme_level draw_theme_level_of(int colors);
/* name: a theme's name (searched in ~/.config/sandmux/themes, the install prefix, the source tree) or a path to
 * a .yaml file. On failure (ERR_CONFIG_FILE, ERR_FILE_NOT_FOUND) *theme is untouched, and the message names file, line and
 * key. */
bool draw_theme_load(struct draw_theme *theme, const char *name, struct err *err);
bool draw_theme_parse(
	struct draw_theme *theme, const char *name, struct slice yaml, struct err *err);
/* Calls fn for each theme's name that can be found, sorted, once each. */
void draw_theme_each(void (*fn)(void *arg, const char *name), void *arg);
const char *draw_theme_role_name(enum draw_theme_role role);
