// SPDX-License-Identifier: Apache-2.0
/* settings: every limit and timeout, what it is now, and where to change it. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "tui/app/app.h"
#include "tui/view/keymap.h"

#include <stdio.h>
#include <stdlib.h>

static char *config_path(const char *name)
{
	char *folder = file_xdg_path(FILE_CONFIG, NULL);
	char *path = folder ? x_asprintf("%s/%s", folder, name) : NULL;
	free(folder);
	return path;
}

bool cli_read_settings(struct err *err)
{
	setting_on_text(SETTING_PREFIX_KEY, view_keys_set_prefix);
	char *path = config_path("settings.yaml");
	bool ok = path == NULL || setting_read_file(path, err);
	free(path);
	return ok;
}

bool cli_read_keymap(struct err *err)
{
	char *path = config_path("keymap.yaml");
	bool ok = path == NULL || view_keymap_read(path, app_command_help, err);
	free(path);
	return ok;
}

static void print_table(const char *path)
{
	static const char *const titles[] = { "NAME", "VALUE", "DEFAULT", "LIMITS" };
	char now[SETTING_TEXT_BYTES], initial[SETTING_TEXT_BYTES];
	struct cli_table *table = cli_table_new(4, titles);
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_row *row = setting_row((enum setting)i);
		const char *text = setting_initial_text((enum setting)i);
		cli_table_cell(table, row->name);
		cli_table_cell(table,
			setting_format((enum setting)i, setting_get((enum setting)i), now));
		cli_table_cell(table,
			text ? text : setting_format((enum setting)i, row->initial, initial));
		cli_table_cell(table, row->help);
	}
	cli_table_print(table, true);
	printf("\nChange one with --set NAME=VALUE, or for good with a line NAME: VALUE in\n%s\n",
		path ? path : "sandmux/settings.yaml of the configuration folder");
}

static void print_structured(struct cli *cli)
{
	static const char *const units[] = { "ms", "bytes", "count", "count", "text",
		"switch" };
	_Static_assert(
		sizeof units / sizeof *units == SETTING_UNIT_COUNT, "a name for each unit");
	cJSON *object = cJSON_CreateObject();
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting_row *row = setting_row((enum setting)i);
		cJSON *each = cJSON_AddObjectToObject(object, row->name);
		const char *text = setting_initial_text((enum setting)i);
		if (text) {
			cJSON_AddStringToObject(each, "value", setting_text((enum setting)i));
			cJSON_AddStringToObject(each, "default", text);
		} else {
			cJSON_AddNumberToObject(
				each, "value", (double)setting_get((enum setting)i));
			cJSON_AddNumberToObject(each, "default", (double)row->initial);
		}
		cJSON_AddStringToObject(each, "unit", units[row->unit]);
	}
	cli_print_object(cli, object);
	cJSON_Delete(object);
}

static int run_settings(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	char *path = config_path("settings.yaml");
	if (cli_is_structured(cli))
		print_structured(cli);
	else
		print_table(path);
	free(path);
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_settings = { "settings", "",
	"every limit and timeout, and how to change it", 0, 0, 0, .run = run_settings,
	.examples = "  sandmux settings\n"
		    "  sandmux ls --set kube-timeout=20s\n" };
