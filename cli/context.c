// SPDX-License-Identifier: Apache-2.0
/* context: which there are, and which one is current. `use` changes the kubeconfig, as kubectl's users expect it. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/json.h"

#include <string.h>

static void print_json(const struct cli *cli, const struct kube_contexts *all)
{
	cJSON *whole = cJSON_CreateObject();
	cJSON_AddStringToObject(whole, "apiVersion", "sandmux/v1");
	cJSON_AddStringToObject(whole, "kind", "ContextList");
	cJSON *items = cJSON_AddArrayToObject(whole, "items");
	for (size_t i = 0; i < kube_contexts_count(all); i++) {
		const struct kube_context *is = kube_contexts_at(all, i);
		cJSON *item = cJSON_CreateObject();
		cli_json_text(item, "name", is->name);
		cJSON_AddBoolToObject(item, "current", is->is_current);
		cli_json_text(item, "cluster", is->cluster);
		cli_json_text(item, "user", is->user);
		cli_json_text(item, "namespace", is->namespace_);
		cli_json_text(item, "server", is->server);
		cJSON_AddBoolToObject(
			item, "production", engine_context_is_production(is->name));
		cJSON_AddItemToArray(items, item);
	}
	cli_print_object(cli, whole);
	cJSON_Delete(whole);
}

static void print_table(const struct cli *cli, const struct kube_contexts *all)
{
	static const char *const titles[] = { "CURRENT", "NAME", "CLUSTER", "USER", "NAMESPACE",
		"SERVER" };
	bool is_name = cli->opt.output == CLI_NAME;
	struct cli_table *table = is_name ? NULL : cli_table_new(6, titles);
	for (size_t i = 0; i < kube_contexts_count(all); i++) {
		const struct kube_context *is = kube_contexts_at(all, i);
		if (is_name) {
			cli_put_safe(is->name);
			putchar('\n');
			continue;
		}
		cli_table_cell(table, is->is_current ? "*" : "");
		cli_table_cell(table, is->name);
		cli_table_cell(table, is->cluster);
		cli_table_cell(table, is->user);
		cli_table_cell(table, is->namespace_);
		cli_table_cell(table, is->server);
	}
	if (table != NULL)
		cli_table_print(table, !cli->opt.no_headers);
}

static int run_ls(struct cli *cli)
{
	struct err err = { 0 };
	struct kube_contexts *all = kube_contexts_read(cli->opt.engine.kubeconfig, &err);
	if (all == NULL)
		return cli_fail(cli, &err);
	if (cli_is_structured(cli))
		print_json(cli, all);
	else
		print_table(cli, all);
	kube_contexts_free(all);
	return EXIT_STATUS_OK;
}

static int run_use(struct cli *cli, const char *name)
{
	struct err err = { 0 };
	if (!kube_contexts_use(cli->opt.engine.kubeconfig, name, &err))
		return cli_fail(cli, &err);
	fputs("context ", stdout);
	cli_put_safe(name);
	puts(" is current now, for kubectl too");
	return EXIT_STATUS_OK;
}

static int run_context(struct cli *cli, int argc, char **argv)
{
	if (argc == 1 && strcmp(argv[0], "ls") == 0)
		return run_ls(cli);
	if (argc == 2 && strcmp(argv[0], "use") == 0)
		return run_use(cli, argv[1]);
	return cli_fail_usage(cli, "context ls, or context use NAME");
}

const struct cli_verb cli_verb_context = { "context", "ls|use NAME",
	"the contexts of the kubeconfig, and which one is current", CLI_OPT_ROWS, 1, 2,
	.run = run_context,
	.examples = "  sandmux context ls -o name\n  sandmux context use prod\n" };
