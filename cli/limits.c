// SPDX-License-Identifier: Apache-2.0
#include "cli/limits.h"

#include "cli/cli.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *cli_limits_of(const cJSON *object)
{
	const char *text =
		json_str(object, "metadata", "annotations", "sandmux.local/limits", NULL);
	cJSON *rows = text ? json_parse(slice_of(text), NULL) : NULL;
	if (cJSON_IsArray(rows))
		return rows;
	cJSON_Delete(rows);
	return NULL;
}

static const char *words_of(const char *how)
{
	static const struct {
		const char *how, *words;
	} words[] = { { "cgroup", "the kernel, by a cgroup" },
		{ "rlimit", "the kernel, by a resource limit" },
		{ "tmpfs", "the kernel, by the size of the mount" }, { "watched", "watching" },
		{ "namespace", "the kernel, by a namespace" }, { "none", "NOTHING" } };
	for (size_t i = 0; how != NULL && i < sizeof words / sizeof words[0]; i++)
		if (strcmp(words[i].how, how) == 0)
			return words[i].words;
	return how;
}

void cli_limits_print(const char *title, const cJSON *rows)
{
	static const char *const titles[] = { "  WHAT", "LIMIT", "HELD BY", "" };
	if (!cJSON_IsArray(rows) || rows->child == NULL)
		return;
	printf("%s\n", title);
	struct cli_table *table = cli_table_new(4, titles);
	for (const cJSON *row = rows->child; row != NULL; row = row->next) {
		const char *what = json_str(row, "what", NULL);
		const char *value = json_str(row, "value", NULL);
		char *name = x_asprintf("  %s", what ? what : "");
		cli_table_cell(table, name);
		free(name);
		cli_table_cell(table, value);
		cli_table_cell(table, words_of(json_str(row, "how", NULL)));
		cli_table_cell(table, json_str(row, "why", NULL));
	}
	cli_table_print(table, true);
}
