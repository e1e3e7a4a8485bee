// SPDX-License-Identifier: Apache-2.0
/* get and describe, of objects of other kinds than sandboxes. */
#include "cli/rows.h"

#include "engine/base/mem.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cli_objects {
	struct cli *cli;
	const struct resource_kind *kind;
	char **names;
	int n, at, status;
	bool describe;
	const void **rows; /* those of a table, until the end */
	size_t n_rows;
	cJSON *list; /* of several as JSON */
};

static void next_object(struct cli_objects *all);

static void on_title(void *arg, const char *title)
{
	(void)arg;
	printf("%s\n", title);
}

static void on_line(void *arg, const char *label, enum resource_tone tone, const char *text,
	int64_t when_ms)
{
	(void)arg;
	(void)tone;
	(void)when_ms;
	fputs("  ", stdout);
	cli_put_safe(label);
	fputs(": ", stdout);
	cli_put_safe(text);
	putchar('\n');
}

/* True: the row is kept for the end. */
static bool show_object(struct cli_objects *all, void *row, const cJSON *object)
{
	const struct resource_lines lines = { on_title, on_line, NULL };
	struct cli *cli = all->cli;
	if (cli_is_structured(cli)) {
		cJSON *whole = cli_row_json(all->kind, row);
		cJSON_AddItemToObject(whole, "object", cJSON_Duplicate(object, true));
		if (all->list != NULL) {
			cJSON_AddItemToArray(cJSON_GetObjectItem(all->list, "items"), whole);
			return false;
		}
		cli_print_object(cli, whole);
		cJSON_Delete(whole);
		return false;
	}
	if (!all->describe) {
		all->rows[all->n_rows++] = row;
		return true;
	}
	if (all->at > 0)
		putchar('\n');
	cli_put_safe(cli_row_name(all->kind, row));
	putchar('\n');
	kinds_page(all->kind, row, object, &lines);
	return false;
}

/* The others are still shown. */
static void object_failed(struct cli_objects *all, const struct err *err)
{
	int status = cli_fail(all->cli, err);
	if (all->status == EXIT_STATUS_OK)
		all->status = status;
	all->at++;
	next_object(all);
}

static void on_object(void *arg, const struct err *err, const cJSON *object)
{
	struct cli_objects *all = arg;
	if (err != NULL) {
		object_failed(all, err);
		return;
	}
	void *row = engine_object_row(all->cli->engine, all->kind, object);
	if (!show_object(all, row, object))
		engine_object_row_free(all->kind, row);
	all->at++;
	next_object(all);
}

static void next_object(struct cli_objects *all)
{
	struct cli *cli = all->cli;
	struct err err = { 0 };
	if (all->at == all->n) {
		if (all->list != NULL)
			cli_print_object(cli, all->list);
		else if (all->n_rows > 0)
			cli_rows_print(cli, all->kind, all->rows, all->n_rows);
		cli_finish(cli, all->status);
		return;
	}
	const char *name = all->names[all->at], *slash = strchr(name, '/');
	name = slash != NULL ? slash + 1 : name;
	if (engine_object_start(cli->engine, all->kind, engine_namespace(cli->engine), name,
		    on_object, all, &err) == NULL)
		object_failed(all, &err);
}

/* NAME, or KIND/NAME of that kind, as kubectl takes it too. */
static bool is_name_of(const struct resource_kind *kind, const char *name)
{
	char prefix[64];
	const char *slash = strchr(name, '/');
	if (slash == NULL)
		return name[0] != '\0';
	snprintf(prefix, sizeof prefix, "%.*s", (int)(slash - name), name);
	return engine_kind_find(prefix) == kind && slash[1] != '\0' &&
	       strchr(slash + 1, '/') == NULL;
}

int cli_get_objects(struct cli *cli, const struct resource_kind *kind, char **names, int n,
	bool is_describe)
{
	struct err err = { 0 };
	for (int i = 0; i < n; i++)
		if (!is_name_of(kind, names[i]))
			return cli_fail_usage(
				cli, "'%s' is no name of one of the %s", names[i], kind->name);
	if (!cli_rows_open(cli, kind, &err) || !cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct cli_objects all = { .cli = cli, .kind = kind, .names = names, .n = n };
	all.describe = is_describe;
	all.rows = x_calloc((size_t)n, sizeof *all.rows);
	if (n > 1 && cli_is_structured(cli))
		all.list = cli_rows_list(kind);
	next_object(&all);
	cli_run_loop(cli);
	for (size_t i = 0; i < all.n_rows; i++)
		engine_object_row_free(kind, (void *)(uintptr_t)all.rows[i]);
	free(all.rows);
	cJSON_Delete(all.list);
	return cli->status;
}
