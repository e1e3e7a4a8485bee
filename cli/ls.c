// SPDX-License-Identifier: Apache-2.0
/* ls: what exists and how it is, once or as it changes. */
#include "cli/cli.h"
#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_TIMEOUT_MS = 30000 };

struct cli_ls_list {
	struct cli *cli;
	struct net_loop_timer *deadline;
	uint64_t printed; /* revision */
	bool is_first_done, is_unwatched_told;
	struct shown *shown;
};

/* A row that has been printed, and how: only what looks otherwise is printed again, and only what was shown can go. */
struct shown {
	char uid[FLEET_UID_BYTES];
	char *look;
	UT_hash_handle hh;
};

/* One JSON object a line, or one YAML document: what scripts read. */
static void print_event(
	const struct cli *cli, const char *type, const char *uid, const struct fleet_row *row)
{
	cJSON *change = cJSON_CreateObject();
	cJSON_AddStringToObject(change, "type", type);
	if (row != NULL)
		cJSON_AddItemToObject(change, "object", cli_row_json(row));
	else if (uid != NULL)
		cJSON_AddStringToObject(change, "uid", uid);
	if (cli->opt.output == CLI_YAML) {
		puts("---");
		cli_print_yaml(change);
	} else {
		cli_print_json_line(change);
	}
	cJSON_Delete(change);
}

/* Everything that is printed of a row but its age. */
static char *look_of(const struct cli *cli, const struct fleet_row *row)
{
	cJSON *object = cli_row_json(row);
	if (cli->opt.output == CLI_NAME) { /* said once */
		char *name = x_strdup(fleet_row_name(row));
		cJSON_Delete(object);
		return name;
	}
	if (!cli_is_structured(cli)) {
		static const char *const unseen[] = { "whySince", "createdAt", "expiresAt",
			"createdBy", "warmStart" };
		static const char *const wide[] = { "podIP", "pod", "node", "template",
			"restarts" };
		for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++)
			cJSON_DeleteItemFromObject(object, unseen[i]);
		for (size_t i = 0; cli->opt.output != CLI_WIDE && i < 5; i++)
			cJSON_DeleteItemFromObject(object, wide[i]);
	}
	char *look = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	return look;
}

/* True if it has to be printed. */
static bool note_shown(struct cli_ls_list *list, const struct fleet_row *row)
{
	struct shown *shown;
	HASH_FIND_STR(list->shown, row->uid, shown);
	char *look = look_of(list->cli, row);
	if (shown != NULL && strcmp(shown->look, look) == 0) {
		free(look);
		return false;
	}
	if (shown == NULL) {
		shown = x_calloc(1, sizeof *shown);
		snprintf(shown->uid, sizeof shown->uid, "%s", row->uid);
		HASH_ADD_STR(list->shown, uid, shown);
	}
	free(shown->look);
	shown->look = look;
	return true;
}

static void forget(struct cli_ls_list *list, struct shown *shown)
{
	HASH_DEL(list->shown, shown);
	free(shown->look);
	free(shown);
}

static void forget_all(struct cli_ls_list *list)
{
	struct shown *shown, *after;
	HASH_ITER(hh, list->shown, shown, after)
		forget(list, shown);
}

static const char *text_of(const cJSON *object, const char *key)
{
	const char *text = json_str(object, key, NULL);
	return text ? text : "";
}

/* A row as it was last shown, and that it is gone. */
static void print_gone(struct cli_ls_list *list, struct shown *shown)
{
	struct cli *cli = list->cli;
	if (cli->opt.output == CLI_NAME)
		return; /* a name there means one that exists */
	if (cli_is_structured(cli)) {
		print_event(cli, "DELETED", shown->uid, NULL);
		return;
	}
	cJSON *last = json_parse(slice_of(shown->look), NULL);
	const char *claim = text_of(last, "claim");
	const char *name = claim[0] ? claim : text_of(last, "sandbox");
	struct cli_table *table = cli_rows_table(cli);
	cli_rows_add_gone(table, cli,
		&(struct cli_gone){ .namespace_ = text_of(last, "namespace"),
			.name = name,
			.sandbox = text_of(last, "sandbox"),
			.pool = text_of(last, "pool") });
	cli_table_print(table, false);
	cJSON_Delete(last);
}

static void print_all(struct cli_ls_list *list)
{
	const struct cli *cli = list->cli;
	size_t n;
	const struct fleet_row **rows = cli_rows_sorted(cli, &n);
	for (size_t i = 0; cli->opt.watch && i < n; i++)
		note_shown(list, rows[i]);
	if (cli->opt.watch && cli_is_structured(cli)) {
		for (size_t i = 0; i < n; i++)
			print_event(cli, "CHANGED", NULL, rows[i]);
		fflush(stdout);
	} else if (n > 0 || cli_is_structured(cli)) {
		cli_rows_print(cli, rows, n);
	} else if (cli->opt.engine.all_namespaces) {
		cli_note(cli, "No sandboxes found.");
	} else {
		cli_note(cli, "No sandboxes found in namespace %s.",
			engine_namespace(cli->engine));
	}
	free(rows);
}

static void print_change(void *arg, const char *uid, const struct fleet_row *row)
{
	struct cli_ls_list *list = arg;
	struct cli *cli = list->cli;
	if (uid == NULL) { /* more changes than are remembered: all anew */
		if (cli_is_structured(cli))
			print_event(cli, "RESET", NULL, NULL);
		forget_all(list);
		print_all(list);
		return;
	}
	struct shown *shown;
	HASH_FIND_STR(list->shown, uid, shown);
	bool is_listed = row != NULL && cli_row_is_listed(cli, row);
	if (is_listed && !note_shown(list, row))
		return;
	if (!is_listed && shown == NULL)
		return;
	if (!is_listed) {
		print_gone(list, shown);
		forget(list, shown);
	} else if (cli_is_structured(cli)) {
		print_event(cli, "CHANGED", NULL, row);
	} else if (cli->opt.output == CLI_NAME) {
		cli_rows_print(cli, &row, 1);
	} else {
		struct cli_table *table = cli_rows_table(cli);
		cli_rows_add(table, cli, row);
		cli_table_print(table, false);
	}
	fflush(stdout);
	if (ferror(stdout)) /* main() says why */
		cli_finish(cli, EXIT_STATUS_OK);
}

/* One of the two may not be read: what the other tells is still worth a list. */
static bool is_one_hidden(const struct cli *cli)
{
	const struct fleet *fleet = engine_fleet(cli->engine);
	return (fleet_forbidden(fleet, FLEET_CLAIMS) == NULL) !=
	       (fleet_forbidden(fleet, FLEET_SANDBOXES) == NULL);
}

static bool is_any_undecided(const struct fleet *fleet)
{
	struct fleet_informer_state sources[8];
	size_t n = fleet_informers(fleet, sources, sizeof sources / sizeof *sources);
	for (size_t i = 0; i < n; i++) {
		const char *state = sources[i].state_name;
		if (strcmp(state, "live") != 0 && strcmp(state, "polled") != 0 &&
			strcmp(state, "forbidden") != 0)
			return true;
	}
	return false;
}

/* Changes will come late: said once, when it turns out. */
static void note_unwatched(struct cli_ls_list *list)
{
	struct str what, fix;
	const struct fleet *fleet = engine_fleet(list->cli->engine);
	bool is_any =
		fleet_unwatched(fleet, FLEET_CLAIMS) || fleet_unwatched(fleet, FLEET_SANDBOXES);
	if (!is_any || list->is_unwatched_told || is_any_undecided(fleet))
		return;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_forbidden_format(list->cli->engine, &what, &fix);
	cli_note(list->cli, "%s; %s", what.p, fix.p);
	list->is_unwatched_told = true;
	str_deinit(&what);
	str_deinit(&fix);
}

static void note_hidden(const struct cli *cli)
{
	const struct fleet *fleet = engine_fleet(cli->engine);
	const struct err *claims = fleet_forbidden(fleet, FLEET_CLAIMS);
	const struct err *sandboxes = fleet_forbidden(fleet, FLEET_SANDBOXES);
	if (claims != NULL)
		cli_note(cli, "Only Sandboxes are listed: %s", claims->msg);
	if (sandboxes != NULL)
		cli_note(cli, "Only claims are listed: %s", sandboxes->msg);
}

static void on_list_change(void *arg)
{
	struct cli_ls_list *list = arg;
	struct cli *cli = list->cli;
	struct fleet *fleet = engine_fleet(cli->engine);
	if (list->is_first_done) {
		note_unwatched(list);
		fleet_changes(fleet, list->printed, print_change, list);
		list->printed = fleet_revision(fleet);
		return;
	}
	const struct err *failure = engine_source_failure(cli->engine);
	bool is_settled = fleet_is_synced(fleet);
	/* forbidden: the other one decides */
	bool waits = failure != NULL && failure->code == ERR_KUBE_FORBIDDEN &&
		     (!is_settled || is_one_hidden(cli));
	if (failure != NULL && !waits) {
		cli_finish(cli, cli_fail(cli, failure));
		return;
	}
	if (!is_settled)
		return;
	net_loop_timer_disarm(list->deadline);
	list->is_first_done = true;
	list->printed = fleet_revision(fleet);
	print_all(list);
	note_hidden(cli);
	if (!cli->opt.watch)
		cli_finish(cli, EXIT_STATUS_OK);
}

static void on_list_deadline(void *arg)
{
	struct cli_ls_list *list = arg;
	struct err err = { 0 };
	if (engine_is_logging_in(list->cli->engine)) {
		net_loop_timer_arm(list->deadline, LIST_TIMEOUT_MS);
		return;
	}
	err_set(&err, ERR_OP_TIMEOUT, "no complete list from %s within %d s",
		engine_server(list->cli->engine), LIST_TIMEOUT_MS / 1000);
	cli_finish(list->cli, cli_fail(list->cli, &err));
}

static int run_ls(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct err err = { 0 };
	if (cli_is_direct(cli))
		return cli_fail_usage(cli, "ls needs a cluster, not --rest/--grpc");
	if (!cli_open(cli, false, &err))
		return cli_fail(cli, &err);
	struct cli_ls_list list = { .cli = cli };
	list.deadline = net_loop_timer_new(cli->loop, on_list_deadline, &list);
	net_loop_timer_arm(list.deadline, LIST_TIMEOUT_MS);
	engine_on_change(cli->engine, on_list_change, &list);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	net_loop_timer_free(list.deadline);
	forget_all(&list);
	return cli->status;
}

const struct cli_verb cli_verb_ls = { "ls", "", "claims and sandboxes, joined", CLI_OPT_LIST, 0,
	0, .run = run_ls };
