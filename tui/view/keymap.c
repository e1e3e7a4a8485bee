// SPDX-License-Identifier: Apache-2.0
// keymap.yaml over the built-in table: what is bound anew takes the place of what was on that key.
#include "tui/view/keymap.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { KEYMAP_BYTES_MAX = 64 << 10 };

struct keymap {
	struct view_key_row *rows; /* all that will be in force: built-in ones first */
	size_t n, capacity, n_builtin;
	struct slice yaml;
	view_keymap_help_fn *help_of;
	struct err *err;
};

static bool fail(const struct keymap *map, const char *scope, const char *key,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

static bool fail(
	const struct keymap *map, const char *scope, const char *key, const char *format, ...)
{
	const char *const keys[] = { scope, key, NULL };
	va_list args;
	va_start(args, format);
	err_vset(map->err, ERR_CONFIG_FILE, format, args);
	va_end(args);
	return err_prefix(map->err, "line %zu: %s%s%s", yaml_line_of(map->yaml, keys), scope,
		key ? "." : "", key ? key : "");
}

static bool find_scope(const char *name, enum view_key_scope *out)
{
	for (int i = 0; i < SCOPE_COUNT; i++)
		if (i != SCOPE_SHELL && i != SCOPE_TYPING &&
			strcmp(view_key_scope_name((enum view_key_scope)i), name) == 0) {
			*out = (enum view_key_scope)i;
			return true;
		}
	return false;
}

/* The row of that key among those from `from` on; n: there is none. */
static size_t find_row(const struct keymap *map, size_t from, enum view_key_scope scope,
	const struct draw_key *key)
{
	struct draw_key bound;
	size_t i = from;
	while (i < map->n &&
		!(map->rows[i].scope == scope && draw_key_parse(map->rows[i].key, &bound) &&
			draw_key_equals(&bound, key)))
		i++;
	return i;
}

static void remove_builtin(struct keymap *map, size_t at)
{
	memmove(&map->rows[at], &map->rows[at + 1], (map->n - at - 1) * sizeof *map->rows);
	map->n--;
	map->n_builtin--;
}

static bool read_binding(struct keymap *map, enum view_key_scope scope, const char *scope_name,
	const cJSON *value)
{
	struct draw_key key;
	const char *name = value->string;
	if (!draw_key_parse(name, &key))
		return fail(map, scope_name, name,
			"is no key; keys are written as x, ctrl-d, alt-1, F5, enter, space");
	size_t own = find_row(map, map->n_builtin, scope, &key);
	if (own < map->n)
		return fail(map, scope_name, name, "is the same key as %s", map->rows[own].key);
	if (!cJSON_IsString(value))
		return fail(map, scope_name, name, "is no command line");
	size_t old = find_row(map, 0, scope, &key);
	if (old < map->n_builtin)
		remove_builtin(map, old);
	if (strcmp(value->valuestring, "none") == 0)
		return true;
	const char *help = map->help_of(value->valuestring);
	if (!help)
		return fail(
			map, scope_name, name, "there is no command '%s'", value->valuestring);
	array_grow(&map->rows, &map->capacity, map->n + 1, sizeof *map->rows);
	map->rows[map->n++] = (struct view_key_row){ scope, x_strdup(name),
		x_strdup(value->valuestring), x_strdup(help), NULL };
	return true;
}

static bool read_scope(struct keymap *map, const cJSON *bindings)
{
	enum view_key_scope scope;
	const cJSON *value;
	if (!find_scope(bindings->string, &scope)) {
		struct str names;
		str_init(&names, 1024);
		for (int i = 0; i < SCOPE_COUNT; i++)
			if (i != SCOPE_SHELL && i != SCOPE_TYPING)
				str_addf(&names, "%s%s", names.n ? ", " : "",
					view_key_scope_name((enum view_key_scope)i));
		fail(map, bindings->string, NULL, "there is no such place (%s)", names.p);
		str_deinit(&names);
		return false;
	}
	if (!cJSON_IsObject(bindings))
		return fail(map, bindings->string, NULL, "is no mapping of keys to commands");
	cJSON_ArrayForEach(value, bindings)
	{
		if (!read_binding(map, scope, bindings->string, value))
			return false;
	}
	return true;
}

static void free_own(struct view_key_row *rows, size_t n_builtin, size_t n)
{
	for (size_t i = n_builtin; i < n; i++) {
		free((char *)(uintptr_t)rows[i].key);
		free((char *)(uintptr_t)rows[i].command);
		free((char *)(uintptr_t)rows[i].help);
	}
	free(rows);
}

static void put_in_force(struct view_key_row *rows, size_t n, size_t n_builtin)
{
	struct view_key_row *old;
	size_t n_old, n_old_builtin;
	view_keys_swap(rows, n, n_builtin, &old, &n_old, &n_old_builtin);
	free_own(old, n_old_builtin, n_old);
}

void view_keymap_reset(void)
{
	put_in_force(NULL, 0, 0);
}

bool view_keymap_parse(struct slice yaml, view_keymap_help_fn *help_of, struct err *err)
{
	struct keymap map = { .yaml = yaml, .help_of = help_of, .err = err };
	cJSON *tree = yaml_parse(yaml, err);
	const cJSON *bindings;
	if (!tree)
		return false;
	bool ok = cJSON_IsObject(tree) || cJSON_IsNull(tree) ||
		  err_set(err, ERR_CONFIG_FILE, "a keymap is a mapping of places");
	array_grow(&map.rows, &map.capacity, views_n_key_rows, sizeof *map.rows);
	memcpy(map.rows, view_key_rows, views_n_key_rows * sizeof *map.rows);
	map.n = map.n_builtin = views_n_key_rows;
	cJSON_ArrayForEach(bindings, tree)
	{
		ok = ok && read_scope(&map, bindings);
	}
	cJSON_Delete(tree);
	if (!ok) {
		free_own(map.rows, map.n_builtin, map.n);
		return false;
	}
	put_in_force(map.rows, map.n, map.n_builtin);
	return true;
}

bool view_keymap_read(const char *path, view_keymap_help_fn *help_of, struct err *err)
{
	size_t n;
	struct err unread;
	char *text = file_read(path, KEYMAP_BYTES_MAX, &n, &unread);
	if (!text && unread.code == ERR_FILE_NOT_FOUND)
		return true;
	if (!text) {
		err_copy(err, &unread);
		return false;
	}
	bool ok = view_keymap_parse((struct slice){ text, n }, help_of, err);
	free(text);
	return ok || err_prefix(err, "%s", path);
}

/* ---- what is in force */

bool view_keymap_conflict(const struct view_key_row *row, struct str *out)
{
	struct draw_key key, other;
	size_t n, before = out->n;
	const struct view_key_row *rows = view_keys(&n);
	if (!draw_key_parse(row->key, &key))
		return false;
	if (row->scope != SCOPE_PREFIX && view_key_is_prefix(&key)) {
		str_add(out, "never reached: it is the prefix");
		return true;
	}
	for (size_t i = 0; row->scope == SCOPE_GLOBAL && i < n; i++) {
		bool is_other = rows[i].scope != SCOPE_GLOBAL && rows[i].scope != SCOPE_PREFIX;
		if (is_other && draw_key_parse(rows[i].key, &other) &&
			draw_key_equals(&key, &other))
			str_addf(out, "%sin %s it is: %s", out->n == before ? "" : "; ",
				view_key_scope_name(rows[i].scope), rows[i].command);
	}
	return out->n > before;
}

static void add_row(struct str *out, const struct view_key_row *row)
{
	struct str conflict;
	str_init(&conflict, 4096);
	str_addf(out, "| `%s` | %s", strcmp(row->key, "|") == 0 ? "\\|" : row->key, row->help);
	if (view_key_is_own(row)) {
		str_add(out, " (keymap.yaml");
		if (view_keymap_conflict(row, &conflict))
			str_addf(out, "; %s", conflict.p);
		str_add(out, ")");
	}
	str_addf(out, " | `%s` |\n", row->command);
	str_deinit(&conflict);
}

void view_keymap_markdown(struct str *out)
{
	size_t n;
	const struct view_key_row *rows = view_keys(&n);
	view_keys_markdown_head(out);
	for (int scope = 0; scope < SCOPE_COUNT; scope++) {
		bool has_title = false;
		for (size_t i = 0; i < n; i++) {
			if ((int)rows[i].scope != scope)
				continue;
			if (!has_title)
				str_addf(out,
					"\n## %s\n\nIn keymap.yaml: `%s`\n\n| key | does | command |\n"
					"|---|---|---|\n",
					view_key_scope_title((enum view_key_scope)scope),
					view_key_scope_name((enum view_key_scope)scope));
			has_title = true;
			add_row(out, &rows[i]);
		}
	}
}
