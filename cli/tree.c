// SPDX-License-Identifier: Apache-2.0
/* tree: an object between those that own it and those that it owns. */
#include "cli/tree.h"

#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_BYTES = 1024, KIND_BYTES = 96 };

struct printing {
	struct cli_tree tree;
	struct cli_table *table; /* or */
	cJSON *items;
};

static void add_age(struct cli_table *table, const struct kinds_tree_line *line)
{
	char cell[RESOURCE_CELL_BYTES] = "";
	int age = line->row ? resource_find_column(line->kind, "age") : RESOURCE_NONE;
	cli_table_cell(table, age == RESOURCE_NONE ? ""
						   : resource_text(&line->kind->columns[age],
							     line->row, clock_wall_ms(), cell));
}

static void add_row(void *arg, const struct kinds_tree_line *line)
{
	struct printing *printing = arg;
	struct str text;
	str_init(&text, STATUS_BYTES);
	if (line->n_more)
		str_addf(&text, "%sand %zu more", line->prefix, line->n_more);
	else
		str_addf(&text, "%s%s/%s", line->prefix, line->api_kind, line->name);
	cli_table_cell(printing->table, text.p);
	str_clear(&text);
	enum resource_tone tone = line->n_more ? RESOURCE_DIM : kinds_tree_brief(line, &text);
	cli_table_toned(printing->table, tone, text.p);
	add_age(printing->table, line);
	str_deinit(&text);
}

static void add_text(cJSON *object, const char *key, const char *text)
{
	if (text && *text)
		cli_json_text(object, key, text);
	else
		cJSON_AddNullToObject(object, key);
}

static void add_item(void *arg, const struct kinds_tree_line *line)
{
	struct printing *printing = arg;
	struct str status;
	cJSON *item = cJSON_CreateObject();
	cJSON_AddItemToArray(printing->items, item);
	cJSON_AddNumberToObject(item, "depth", line->depth);
	if (line->n_more) {
		cJSON_AddNumberToObject(item, "more", (double)line->n_more);
		return;
	}
	str_init(&status, STATUS_BYTES);
	if (!line->problem)
		kinds_tree_brief(line, &status);
	add_text(item, "kind", line->api_kind);
	add_text(item, "namespace", line->namespace_);
	add_text(item, "name", line->name);
	add_text(item, "uid", line->uid);
	add_text(item, "status", status.p);
	add_text(item, "problem", line->problem);
	cJSON_AddBoolToObject(item, "isReference", line->is_reference);
	cJSON_AddBoolToObject(item, "isAsked", line->is_asked);
	str_deinit(&status);
}

static void print_name(void *arg, const struct kinds_tree_line *line)
{
	(void)arg;
	if (line->n_more || line->problem)
		return;
	printf("%s/", line->kind ? line->kind->singular : "?");
	cli_put_safe(line->name);
	putchar('\n');
}

static void print_tree(struct printing *printing)
{
	static const char *const titles[] = { "OBJECT", "STATUS", "AGE" };
	const struct cli *cli = printing->tree.cli;
	const struct kinds_tree *tree = printing->tree.tree;
	if (cli->opt.output == CLI_NAME) {
		kinds_tree_each(tree, print_name, printing);
		fflush(stdout);
	} else if (cli_is_structured(cli)) {
		cJSON *list = cJSON_CreateObject();
		cJSON_AddStringToObject(list, "apiVersion", "sandmux/v1");
		cJSON_AddStringToObject(list, "kind", "Tree");
		printing->items = cJSON_AddArrayToObject(list, "items");
		kinds_tree_each(tree, add_item, printing);
		cli_print_object(cli, list);
		cJSON_Delete(list);
	} else {
		printing->table = cli_table_new(3, titles);
		cli_table_color(printing->table, cli_has_color(cli));
		kinds_tree_each(tree, add_row, printing);
		cli_table_print(printing->table, !cli->opt.no_headers);
	}
}

static void on_tree(void *arg, const struct err *err)
{
	struct printing *printing = arg;
	struct cli *cli = printing->tree.cli;
	if (!err)
		print_tree(printing);
	cli_finish(cli, err ? cli_fail(cli, err) : EXIT_STATUS_OK);
}

/* ---- what is meant */

static void on_read(void *arg, const struct err *err)
{
	struct cli_tree *tree = arg;
	tree->done(tree->arg, err);
}

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct cli_tree *tree = arg;
	struct err why = { 0 };
	if (!err)
		tree->tree = engine_tree_of_row(tree->cli->engine, uid, on_read, tree, &why);
	if (!tree->tree)
		tree->done(tree->arg, err ? err : &why);
}

/* "pool/local": a kind that has a resource, and the name. NULL: a sandbox. */
static const struct resource_kind *read_kind(const char *text, const char **name)
{
	char prefix[KIND_BYTES];
	const char *slash = strchr(text, '/');
	snprintf(prefix, sizeof prefix, "%.*s", slash ? (int)(slash - text) : 0, text);
	const struct resource_kind *kind = slash ? engine_kind_find(prefix) : NULL;
	*name = slash ? slash + 1 : text;
	return kind && kind->resource && strcmp(prefix, "sandboxclaim") != 0 ? kind : NULL;
}

bool cli_tree_start(struct cli_tree *tree, const char *text, struct err *err)
{
	const char *name;
	struct engine *engine = tree->cli->engine;
	const struct resource_kind *kind = read_kind(text, &name);
	if (!kind)
		return engine_resolve_start(engine, text, 0, on_resolved, tree, err) != NULL;
	tree->tree = engine_tree_start(
		engine, kind, engine_namespace(engine), name, on_read, tree, err);
	return tree->tree != NULL;
}

void cli_tree_free(struct cli_tree *tree)
{
	engine_tree_free(tree->tree);
	tree->tree = NULL;
}

static int run_tree(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	struct printing printing = { .tree = { .cli = cli, .done = on_tree } };
	(void)argc;
	printing.tree.arg = &printing;
	if (!cli_open(cli, true, &err) || !cli_tree_start(&printing.tree, argv[0], &err))
		return cli_fail(cli, &err);
	cli_run_loop(cli);
	cli_tree_free(&printing.tree);
	return cli->status;
}

const struct cli_verb cli_verb_tree = { "tree", "NAME|KIND/NAME",
	"what owns it and what it owns, with the state of each", 0, 1, 1, .run = run_tree,
	.examples =
		"  sandmux tree box\n  sandmux tree pool/local\n  sandmux tree template/local\n",
	.only_cluster = CLI_NAME_NEEDS_CLUSTER };
