// SPDX-License-Identifier: Apache-2.0
// Themes: a YAML mapping of role to colours.
//
//   inherit: default            # optional: start from another theme instead of the built-in one
//   roles:
//     cursor: { fg: black, bg: "#88c0d0", bold: true }
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
	uint16_t attrs;
} role_table[] = {
#define X(id, name, fg, bg, attrs) { name, fg, bg, attrs },
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

void draw_theme_builtin(struct draw_theme *theme)
{
	memset(theme, 0, sizeof *theme);
	snprintf(theme->name, sizeof theme->name, "builtin");
	for (int i = 0; i < ROLE_COUNT; i++) {
		draw_color_parse(role_table[i].fg, &theme->roles[i].fg);
		draw_color_parse(role_table[i].bg, &theme->roles[i].bg);
		theme->roles[i].attrs = role_table[i].attrs;
	}
}

static bool load(struct draw_theme *theme, const char *name, int depth, struct err *err);

static bool read_color(const cJSON *role, const char *role_name, const char *key,
	draw_color *out, struct err *err)
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
	if (text && draw_color_parse(text, out))
		return true;
	return err_set(err, ERR_CONFIG_FILE,
		"%s.%s is no colour (a name, 0 to 255, or \"#rrggbb\")", role_name, key);
}

static bool read_role(struct draw_theme *theme, const cJSON *role, struct err *err)
{
	int index = 0;
	while (index < ROLE_COUNT && strcmp(role_table[index].name, role->string) != 0)
		index++;
	if (index == ROLE_COUNT)
		return err_set(err, ERR_CONFIG_FILE, "there is no role '%s'", role->string);
	struct draw_style *style = &theme->roles[index];
	if (!cJSON_IsObject(role))
		return err_set(err, ERR_CONFIG_FILE, "%s must be a mapping", role->string);
	style->attrs = 0;
	style->fg = style->bg = DRAW_COLOR_DEFAULT;
	if (!read_color(role, role->string, "fg", &style->fg, err) ||
		!read_color(role, role->string, "bg", &style->bg, err))
		return false;
	for (size_t i = 0; i < sizeof attr_table / sizeof attr_table[0]; i++)
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(role, attr_table[i].name)))
			style->attrs |= attr_table[i].attr;
	return true;
}

static bool apply(struct draw_theme *theme, const char *name, const cJSON *tree, int depth,
	struct err *err)
{
	struct draw_theme made;
	draw_theme_builtin(&made);
	const char *inherit = json_str(tree, "inherit", NULL);
	if (inherit && strcmp(inherit, "builtin") != 0) {
		if (depth >= INHERIT_DEPTH_MAX)
			return err_set(err, ERR_CONFIG_FILE, "inherit goes round in circles");
		if (!load(&made, inherit, depth + 1, err))
			return false;
	}
	const cJSON *roles = json_get(tree, "roles", NULL);
	if (!cJSON_IsObject(roles))
		return err_set(err, ERR_CONFIG_FILE, "there is no mapping 'roles'");
	const cJSON *role;
	cJSON_ArrayForEach(role, roles) if (!read_role(&made, role, err)) return false;
	snprintf(made.name, sizeof made.name, "%s", name);
	*theme = made;
	return true;
}

bool draw_theme_parse(
	struct draw_theme *theme, const char *name, struct slice yaml, struct err *err)
{
	cJSON *tree = yaml_parse(yaml, err);
	if (!tree)
		return false;
	bool ok = apply(theme, name, tree, 0, err);
	cJSON_Delete(tree);
	return ok;
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
	cJSON *tree = yaml_parse_file(path, THEME_FILE_BYTES_MAX, err);
	if (!tree)
		return false;
	bool ok = apply(theme, name, tree, depth, err);
	if (!ok)
		err_prefix(err, "%s", path);
	cJSON_Delete(tree);
	return ok;
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
