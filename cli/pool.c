// SPDX-License-Identifier: Apache-2.0
/* pool, template, lease: the kinds that have a verb of their own. pool scale: another number of warm sandboxes. */
#include "cli/ls.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <string.h>

static int run_only_ls(struct cli *cli, const char *verb, const char *sub)
{
	if (strcmp(sub, "ls") == 0)
		return cli_ls(cli, engine_kind_find(verb));
	return cli_fail_usage(cli, "%s has ls, not '%s'", verb, sub);
}

/* ---- scale */

struct scaling {
	struct cli *cli;
	const struct resource_kind *kind;
	const struct resource_action *action;
	const char *replicas; /* as typed */
	void *row;
	struct str plan;
};

static void print_scaled(const struct scaling *scaling)
{
	const struct cli *cli = scaling->cli;
	const struct resource_kind *kind = scaling->kind;
	const char *name = kind->columns[kind->name_column].value(scaling->row).text;
	int desired = resource_find_column(kind, "desired");
	if (cli_is_structured(cli)) {
		cJSON *object = cJSON_CreateObject();
		cli_json_text(object, "pool", name);
		cJSON_AddNumberToObject(object, "from",
			(double)kind->columns[desired].value(scaling->row).number);
		cJSON_AddRawToObject(object, "to", scaling->replicas);
		cli_print_object(cli, object);
		cJSON_Delete(object);
		return;
	}
	printf("%s/", kind->singular);
	cli_put_safe(name);
	if (cli->opt.output != CLI_NAME)
		printf(" scaled: %s", scaling->plan.p);
	putchar('\n');
	fflush(stdout);
}

static void on_scaled(void *arg, const struct err *err, const struct cJSON *object)
{
	struct scaling *scaling = arg;
	(void)object;
	if (!err)
		print_scaled(scaling);
	cli_finish(scaling->cli, err ? cli_fail(scaling->cli, err) : EXIT_STATUS_OK);
}

static void on_pool(void *arg, const struct err *err, const struct cJSON *object)
{
	struct scaling *scaling = arg;
	struct cli *cli = scaling->cli;
	struct err why = { 0 };
	if (err) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	scaling->row = engine_object_row(cli->engine, scaling->kind, object);
	if (!scaling->action->plan(scaling->row, scaling->replicas, &scaling->plan, &why) ||
		!engine_object_act(cli->engine, scaling->kind, scaling->action, scaling->row,
			scaling->replicas, on_scaled, scaling, &why))
		cli_finish(cli, cli_fail(cli, &why));
}

static int run_scale(struct cli *cli, const char *name, const char *replicas)
{
	struct err err = { 0 };
	const struct resource_kind *kind = engine_kind_find("pool");
	struct scaling scaling = { .cli = cli,
		.kind = kind,
		.action = resource_find_action(kind, "scale"),
		.replicas = replicas };
	const char *slash = strchr(name, '/'); /* as `ls -o name` prints it */
	name = slash ? slash + 1 : name;
	if (!cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	str_init(&scaling.plan, 1024);
	if (!engine_object_start(cli->engine, kind, engine_namespace(cli->engine), name,
		    on_pool, &scaling, &err))
		cli->status = cli_fail(cli, &err);
	else
		cli_run_loop(cli);
	engine_object_row_free(kind, scaling.row);
	str_deinit(&scaling.plan);
	return cli->status;
}

static int run_pool(struct cli *cli, int argc, char **argv)
{
	if (argc == 1 && strcmp(argv[0], "ls") == 0)
		return cli_ls(cli, engine_kind_find("pool"));
	if (argc == 3 && strcmp(argv[0], "scale") == 0)
		return run_scale(cli, argv[1], argv[2]);
	return cli_fail_usage(cli, "pool has ls and scale NAME N");
}

static int run_template(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	return run_only_ls(cli, "template", argv[0]);
}

static int run_lease(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	return run_only_ls(cli, "lease", argv[0]);
}

const struct cli_verb cli_verb_pool = { "pool", "ls|scale NAME N",
	"warm pools: how many are ready, and how many there shall be",
	CLI_OPT_LIST | CLI_OPT_ROWS | CLI_OPT_DRY_RUN, 1, 3, .run = run_pool,
	.examples = "  sandmux pool ls -w -o wide\n  sandmux pool scale local 5\n",
	.only_cluster = "pool needs a cluster, not --rest/--grpc" };
const struct cli_verb cli_verb_template = { "template", "ls",
	"templates: what sandboxes are made of", CLI_OPT_LIST | CLI_OPT_ROWS, 1, 1,
	.run = run_template, .examples = "  sandmux template ls -o wide\n",
	.only_cluster = "template needs a cluster, not --rest/--grpc" };
const struct cli_verb cli_verb_lease = { "lease", "ls",
	"binding keys: which claim has one, and whether it lives; others with -o wide",
	CLI_OPT_LIST | CLI_OPT_ROWS, 1, 1, .run = run_lease, .examples = "  sandmux lease ls\n",
	.only_cluster = "lease needs a cluster, not --rest/--grpc" };
