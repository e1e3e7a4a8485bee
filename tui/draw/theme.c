// SPDX-License-Identifier: Apache-2.0
// Themes: YAML mappings of role to colours, one for each number of colours that a terminal may have.
//
//   inherit: default            # optional: start from another theme instead of the built-in one
//   roles:                      # 24-bit colours; those of 256 are the nearest ones, as long as nothing else is said
//     cursor: { fg: black, bg: "#88c0d0", bold: true }
//   roles-256: { cursor: { fg: 16, bg: 110 } }
//   roles-16: { cursor: { reverse: true } }
//   roles-8: { cursor: { reverse: true } }
//   roles-none: { cursor: { reverse: true } }
#include "tui/draw/theme.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/path.h"
#include "engine/base/yaml.h"
#include "tui/draw/color.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { THEME_FILE_BYTES_MAX = 64 << 10, INHERIT_DEPTH_MAX = 4, THEMES_MAX = 256 };

static const struct {
	const char *name, *fg, *bg;
	uint16_t attrs, plain;
} role_table[] = {
#define X(id, name, fg, bg, attrs, plain) { name, fg, bg, attrs, plain },
	THEME_ROLES(X)
#undef X
};
_Static_assert(sizeof role_table / sizeof role_table[0] == ROLE_COUNT, "a row for each role");

static const struct {
	const char *name;
	uint16_t attr;
} attr_table[] = {
	{ "bold", DRAW_BOLD },
	{ "dim", DRAW_DIM },
	{ "italic", DRAW_ITALIC },
	{ "underline", DRAW_UNDERLINE },
	{ "reverse", DRAW_REVERSE },
};

static const char *const sections[THEME_LEVELS] = {
	[THEME_FULL] = "roles",
	[THEME_256] = "roles-256",
	[THEME_16] = "roles-16",
	[THEME_8] = "roles-8",
	[THEME_NONE] = "roles-none",
};

const char *draw_theme_role_name(enum draw_theme_role role)
{
	return role_table[role].name;
}

enum draw_theme_level draw_theme_level_of(int colors)
{
	return colors >= 1 << 24 ? THEME_FULL
	       : colors >= 256   ? THEME_256
	       : colors >= 16    ? THEME_16
	       : colors >= 8     ? THEME_8
				 : THEME_NONE;
}

void draw_theme_choose(struct draw_theme *theme, int colors)
{
	memcpy(theme->roles, theme->levels[draw_theme_level_of(colors)], sizeof theme->roles);
}

void draw_theme_builtin(struct draw_theme *theme)
{
	memset(theme, 0, sizeof *theme);
	snprintf(theme->name, sizeof theme->name, "builtin");
	for (int i = 0; i < ROLE_COUNT; i++) {
		struct draw_style style = { .attrs = role_table[i].attrs };
		draw_color_parse(role_table[i].fg, &style.fg);
		draw_color_parse(role_table[i].bg, &style.bg);
		for (int level = 0; level < THEME_NONE; level++)
			theme->levels[level][i] = style;
		/* eight colours have no grey */
		if (style.fg == (DRAW_COLOR_INDEXED | 8))
			theme->levels[THEME_8][i] = (struct draw_style){ .attrs = DRAW_DIM };
		theme->levels[THEME_NONE][i] =
			(struct draw_style){ .attrs = role_table[i].plain };
	}
	draw_theme_choose(theme, 1 << 24);
}

/* ---- reading one */

struct theme_reading {
	struct draw_theme *theme; /* being made */
	struct slice yaml;
	struct err *err;
	int depth;
};

static bool load(struct draw_theme *theme, const char *name, int depth, struct err *err);

/* Where in the file, and what is wrong there. key may be NULL. */
static bool fail(const struct theme_reading *reading, const char *section, const char *role,
	const char *key, const char *what)
{
	const char *const keys[] = { section, role, key, NULL };
	return err_set(reading->err, ERR_CONFIG_FILE, "line %zu: %s%s%s%s%s: %s",
		yaml_line_of(reading->yaml, keys), section, role ? "." : "", role ? role : "",
		key ? "." : "", key ? key : "", what);
}

static bool read_color(const struct theme_reading *reading, const char *section,
	const cJSON *role, const char *key, draw_color *out)
{
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(role, key);
	if (!value)
		return true;
	char number[16];
	const char *text = cJSON_IsString(value) ? value->valuestring : NULL;
	if (cJSON_IsNumber(value)) {
		snprintf(number, sizeof number, "%d", value->valueint);
		text = number;
	}
	return (text && draw_color_parse(text, out)) ||
	       fail(reading, section, role->string, key,
		       "is no colour (a name, 0 to 255, or \"#rrggbb\")");
}

static bool read_key(const struct theme_reading *reading, const char *section,
	const cJSON *role, const cJSON *value, struct draw_style *style)
{
	if (strcmp(value->string, "fg") == 0)
		return read_color(reading, section, role, "fg", &style->fg);
	if (strcmp(value->string, "bg") == 0)
		return read_color(reading, section, role, "bg", &style->bg);
	for (size_t i = 0; i < sizeof attr_table / sizeof attr_table[0]; i++) {
		if (strcmp(attr_table[i].name, value->string) != 0)
			continue;
		if (!cJSON_IsBool(value))
			return fail(reading, section, role->string, value->string,
				"is neither true nor false");
		style->attrs |= cJSON_IsTrue(value) ? attr_table[i].attr : 0;
		return true;
	}
	return fail(reading, section, role->string, value->string,
		"is not known (fg, bg, bold, dim, italic, underline, reverse)");
}

static bool read_role(
	const struct theme_reading *reading, enum draw_theme_level level, const cJSON *role)
{
	int index = 0;
	while (index < ROLE_COUNT && strcmp(role_table[index].name, role->string) != 0)
		index++;
	if (index == ROLE_COUNT)
		return fail(
			reading, sections[level], role->string, NULL, "there is no such role");
	if (!cJSON_IsObject(role))
		return fail(reading, sections[level], role->string, NULL, "is no mapping");
	struct draw_style style = { 0 };
	const cJSON *value;
	cJSON_ArrayForEach(value, role)
	{
		if (!read_key(reading, sections[level], role, value, &style))
			return false;
	}
	reading->theme->levels[level][index] = style;
	if (level == THEME_FULL)
		reading->theme->levels[THEME_256][index] = style;
	return true;
}

static bool read_section(const struct theme_reading *reading, const cJSON *tree, int level)
{
	const cJSON *role, *roles = cJSON_GetObjectItemCaseSensitive(tree, sections[level]);
	if (!roles)
		return true;
	if (!cJSON_IsObject(roles))
		return fail(reading, sections[level], NULL, NULL, "is no mapping");
	cJSON_ArrayForEach(role, roles)
	{
		if (!read_role(reading, (enum draw_theme_level)level, role))
			return false;
	}
	return true;
}

static bool is_section(const char *key)
{
	for (int level = 0; level < THEME_LEVELS; level++)
		if (strcmp(sections[level], key) == 0)
			return true;
	return false;
}

/* Keys that nobody reads are mistyped ones. */
static bool check_keys(const struct theme_reading *reading, const cJSON *tree)
{
	const cJSON *value;
	bool has_section = false;
	cJSON_ArrayForEach(value, tree)
	{
		has_section = has_section || is_section(value->string);
		if (!is_section(value->string) && strcmp(value->string, "inherit") != 0)
			return fail(reading, value->string, NULL, NULL,
				"is not known (inherit, roles, roles-256, roles-16, roles-8, roles-none)");
	}
	return has_section ||
	       err_set(reading->err, ERR_CONFIG_FILE, "there is no mapping 'roles'");
}

static bool apply(const struct theme_reading *reading, const char *name, const cJSON *tree)
{
	if (!cJSON_IsObject(tree))
		return err_set(
			reading->err, ERR_CONFIG_FILE, "a theme is a mapping with 'roles'");
	if (!check_keys(reading, tree))
		return false;
	const char *inherit = json_str(tree, "inherit", NULL);
	if (inherit && strcmp(inherit, "builtin") != 0) {
		if (reading->depth >= INHERIT_DEPTH_MAX)
			return fail(reading, "inherit", NULL, NULL, "goes round in circles");
		if (!load(reading->theme, inherit, reading->depth + 1, reading->err))
			return false;
	}
	for (int level = 0; level < THEME_LEVELS; level++)
		if (!read_section(reading, tree, level))
			return false;
	snprintf(reading->theme->name, sizeof reading->theme->name, "%s", name);
	draw_theme_choose(reading->theme, 1 << 24);
	return true;
}

static bool parse(struct draw_theme *theme, const char *name, struct slice yaml, int depth,
	struct err *err)
{
	struct draw_theme made;
	const struct theme_reading reading = { &made, yaml, err, depth };
	cJSON *tree = yaml_parse(yaml, err);
	if (!tree)
		return false;
	draw_theme_builtin(&made);
	bool ok = apply(&reading, name, tree);
	cJSON_Delete(tree);
	if (ok)
		*theme = made;
	return ok;
}

bool draw_theme_parse(
	struct draw_theme *theme, const char *name, struct slice yaml, struct err *err)
{
	return parse(theme, name, yaml, 0, err);
}

/* Folders in the order of search; the caller frees the array's strings. */
static size_t folders(char *out[4])
{
	size_t n = 0;
	char *config = file_xdg_dir(FILE_CONFIG, NULL);
	if (config)
		out[n++] = path_join(config, "themes");
	free(config);
	const char *rest = SANDMUX_THEME_DIRS;
	while (*rest && n < 4) {
		size_t length = strcspn(rest, ":");
		out[n++] = x_strndup(rest, length);
		rest += length + (rest[length] == ':');
	}
	return n;
}

static bool load_file(struct draw_theme *theme, const char *path, const char *name, int depth,
	struct err *err)
{
	size_t n;
	char *text = file_read(path, THEME_FILE_BYTES_MAX, &n, err);
	if (!text)
		return false;
	bool ok = parse(theme, name, (struct slice){ text, n }, depth, err);
	free(text);
	return ok || err_prefix(err, "%s", path);
}

static bool load(struct draw_theme *theme, const char *name, int depth, struct err *err)
{
	size_t length = strlen(name);
	if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0))
		return load_file(theme, name, path_base(name), depth, err);
	if (strcmp(name, "builtin") == 0) {
		draw_theme_builtin(theme);
		return true;
	}
	char *dirs[4];
	size_t n = folders(dirs);
	bool found = false, ok = false;
	for (size_t i = 0; i < n; i++) {
		char *path = x_asprintf("%s/%s.yaml", dirs[i], name);
		struct err mine;
		if (!found) {
			FILE *probe = fopen(path, "re");
			found = probe != NULL;
			if (probe) {
				fclose(probe);
				ok = load_file(theme, path, name, depth, &mine);
				if (!ok)
					err_copy(err, &mine);
			}
		}
		free(path);
		free(dirs[i]);
	}
	if (!found)
		return err_set(err, ERR_FILE_NOT_FOUND, "there is no theme '%s'", name);
	return ok;
}

bool draw_theme_load(struct draw_theme *theme, const char *name, struct err *err)
{
	return load(theme, name, 0, err);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void draw_theme_each(void (*fn)(void *arg, const char *name), void *arg)
{
	char *names[THEMES_MAX];
	size_t n_names = 0;
	char *dirs[4];
	size_t n = folders(dirs);
	for (size_t i = 0; i < n; i++) {
		DIR *dir = opendir(dirs[i]);
		struct dirent *entry;
		while (dir && (entry = readdir(dir)) != NULL && n_names < THEMES_MAX) {
			size_t length = strlen(entry->d_name);
			if (length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0)
				names[n_names++] = x_strndup(entry->d_name, length - 5);
		}
		if (dir)
			closedir(dir);
		free(dirs[i]);
	}
	qsort(names, n_names, sizeof *names, by_name);
	for (size_t i = 0; i < n_names; i++)
		if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
			fn(arg, names[i]);
	for (size_t i = 0; i < n_names; i++)
		free(names[i]);
}
