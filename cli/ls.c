// SPDX-License-Identifier: Apache-2.0
/* ls: what exists and how it is, once or as it changes. */
#include "cli/ls.h"

#include "cli/rows.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/map.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_TIMEOUT_MS = 30000, SETTLE_MS = 2000 };

struct cli_ls_list {
	struct cli *cli;
	const struct resource_kind *kind;
	struct kinds_informer *informer; /* NULL: the fleet has the rows */
	struct net_loop_timer *deadline, *settle;
	uint64_t printed; /* revision */
	bool is_first_done, is_unwatched_told, is_settling, is_late;
	struct shown *shown;
};

/* A row that has been printed, and how: only what looks otherwise is printed again, and only what was shown can go. */
struct shown {
	char uid[RESOURCE_UID_BYTES];
	char *name, *look;
	UT_hash_handle hh;
};

static struct resource_source source_of(const struct cli_ls_list *list)
{
	return list->informer ? kinds_informer_source(list->informer)
			      : fleet_source(engine_fleet(list->cli->engine));
}

void cli_ls_print_event(const struct cli *cli, const struct resource_kind *kind,
	const char *type, const char *uid, const void *row)
{
	cJSON *change = cJSON_CreateObject();
	cJSON_AddStringToObject(change, "type", type);
	if (row != NULL)
		cJSON_AddItemToObject(change, "object", cli_row_json(kind, row));
	else if (uid != NULL)
		cJSON_AddStringToObject(change, "uid", uid);
	cli_print_item(cli, change);
	cJSON_Delete(change);
}

static void print_event(
	const struct cli_ls_list *list, const char *type, const char *uid, const void *row)
{
	cli_ls_print_event(list->cli, list->kind, type, uid, row);
}

/* Everything that is printed of a row but its age. */
static char *look_of(const struct cli_ls_list *list, const void *row)
{
	if (list->cli->opt.output == CLI_NAME) /* said once */
		return x_strdup(cli_row_name(list->kind, row));
	cJSON *object = cli_row_shown(list->cli, list->kind, row);
	char *look = cJSON_PrintUnformatted(object);
	cJSON_Delete(object);
	return look;
}

/* True if it has to be printed. */
static bool note_shown(struct cli_ls_list *list, const char *uid, const void *row)
{
	struct shown *shown;
	HASH_FIND_STR(list->shown, uid, shown);
	char *look = look_of(list, row);
	if (shown != NULL && strcmp(shown->look, look) == 0) {
		free(look);
		return false;
	}
	if (shown == NULL) {
		shown = x_calloc(1, sizeof *shown);
		snprintf(shown->uid, sizeof shown->uid, "%s", uid);
		HASH_ADD_STR(list->shown, uid, shown);
	}
	free(shown->look);
	free(shown->name);
	shown->look = look;
	shown->name = x_strdup(cli_row_name(list->kind, row));
	return true;
}

static void forget(struct cli_ls_list *list, struct shown *shown)
{
	HASH_DEL(list->shown, shown);
	free(shown->look);
	free(shown->name);
	free(shown);
}

static void forget_all(struct cli_ls_list *list)
{
	struct shown *shown, *after;
	HASH_ITER(hh, list->shown, shown, after)
		forget(list, shown);
}

/* A row as it was last shown, and that it is gone. */
static void print_gone(struct cli_ls_list *list, struct shown *shown)
{
	struct cli *cli = list->cli;
	if (cli->opt.output == CLI_NAME)
		return; /* a name there means one that exists */
	if (!cli_is_table(cli)) {
		print_event(list, "DELETED", shown->uid, NULL);
		return;
	}
	cJSON *last = json_parse(slice_of(shown->look), NULL);
	struct cli_table *table = cli_rows_table(cli, list->kind);
	cli_rows_add_gone(table, cli, list->kind, shown->name, last);
	cli_table_print(table, false);
	cJSON_Delete(last);
}

static void note_first(void *arg, const char *uid, const void *row)
{
	struct cli_ls_list *list = arg;
	if (cli_row_is_listed(list->cli, list->kind, row))
		note_shown(list, uid, row);
}

static void print_all(struct cli_ls_list *list)
{
	const struct cli *cli = list->cli;
	const struct resource_source source = source_of(list);
	size_t n;
	const void **rows = cli_rows_sorted(cli, list->kind, &source, &n);
	if (cli->opt.watch)
		source.ops->each(source.self, note_first, list);
	if (cli->opt.watch && cli_is_structured(cli) && !cli_is_table(cli)) {
		for (size_t i = 0; i < n; i++)
			print_event(list, "CHANGED", NULL, rows[i]);
		fflush(stdout);
	} else if (n > 0 || cli_is_structured(cli)) {
		cli_rows_print(cli, list->kind, rows, n);
	} else if (cli->opt.engine.all_namespaces) {
		cli_note(cli, "No %s found.", list->kind->name);
	} else {
		cli_note(cli, "No %s found in namespace %s.", list->kind->name,
			engine_namespace(cli->engine));
	}
	free(rows);
}

static void print_change(void *arg, const char *uid, const void *row)
{
	struct cli_ls_list *list = arg;
	struct cli *cli = list->cli;
	if (uid == NULL) { /* more changes than are remembered: all anew */
		if (!cli_is_table(cli) && cli->opt.output != CLI_NAME)
			print_event(list, "RESET", NULL, NULL);
		forget_all(list);
		print_all(list);
		return;
	}
	struct shown *shown;
	HASH_FIND_STR(list->shown, uid, shown);
	bool is_listed = row != NULL && cli_row_is_listed(cli, list->kind, row);
	if (is_listed && !note_shown(list, uid, row))
		return;
	if (!is_listed && shown == NULL)
		return;
	if (!is_listed) {
		print_gone(list, shown);
		forget(list, shown);
	} else if (cli_is_structured(cli) && !cli_is_table(cli)) {
		print_event(list, "CHANGED", NULL, row);
	} else if (cli->opt.output == CLI_NAME) {
		cli_rows_print(cli, list->kind, &row, 1);
	} else {
		struct cli_table *table = cli_rows_table(cli, list->kind);
		cli_rows_add(table, cli, list->kind, row);
		cli_table_print(table, false);
	}
	fflush(stdout);
	if (ferror(stdout)) /* main() says why */
		cli_finish(cli, EXIT_STATUS_OK);
}

/* ---- the fleet */

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

/* False with *status: it cannot be listed; true: *is_settled says whether all has been read. */
static bool look_at_fleet(const struct cli_ls_list *list, bool *is_settled, int *status)
{
	struct cli *cli = list->cli;
	const struct err *failure = engine_source_failure(cli->engine);
	*is_settled = fleet_is_synced(engine_fleet(cli->engine));
	/* forbidden: the other one decides */
	bool waits = failure != NULL && failure->code == ERR_KUBE_FORBIDDEN &&
		     (!*is_settled || is_one_hidden(cli));
	if (failure == NULL || waits)
		return true;
	*status = cli_fail(cli, failure);
	return false;
}

/* ---- other kinds */

static bool look_at_informer(const struct cli_ls_list *list, bool *is_settled, int *status)
{
	struct kinds_informer_state state = kinds_informer_state_of(list->informer);
	struct str what, fix;
	*is_settled = state.is_synced;
	if (!state.is_forbidden && (state.is_synced || state.err == NULL))
		return true;
	struct err err = { 0 };
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_kind_forbidden_format(list->informer, &what, &fix);
	if (state.is_forbidden)
		err_set(&err, ERR_KUBE_FORBIDDEN, "%s; %s", what.p, fix.p);
	*status = cli_fail(list->cli, state.is_forbidden ? &err : state.err);
	str_deinit(&what);
	str_deinit(&fix);
	return false;
}

static void note_polled(struct cli_ls_list *list)
{
	struct str what, fix;
	if (list->is_unwatched_told || !kinds_informer_state_of(list->informer).is_polled)
		return;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_kind_forbidden_format(list->informer, &what, &fix);
	cli_note(list->cli, "%s; %s", what.p, fix.p);
	list->is_unwatched_told = true;
	str_deinit(&what);
	str_deinit(&fix);
}

/* ---- either */

/* Names and states are known; why a row is as it is may stand in pods and events, which come a moment later. */
static bool must_wait(struct cli_ls_list *list)
{
	struct cli *cli = list->cli;
	if (list->informer || list->is_late || cli->opt.output == CLI_NAME ||
		fleet_is_settled(engine_fleet(cli->engine)))
		return false;
	if (!list->is_settling)
		net_loop_timer_arm(list->settle, SETTLE_MS);
	list->is_settling = true;
	return true;
}

static void on_list_change(void *arg)
{
	struct cli_ls_list *list = arg;
	struct cli *cli = list->cli;
	const struct resource_source source = source_of(list);
	bool is_settled;
	int status;
	if (list->is_first_done) {
		if (list->informer)
			note_polled(list);
		else
			note_unwatched(list);
		source.ops->changes(source.self, list->printed, print_change, list);
		list->printed = resource_source_revision(&source);
		return;
	}
	if (!(list->informer ? look_at_informer : look_at_fleet)(list, &is_settled, &status)) {
		cli_finish(cli, status);
		return;
	}
	if (!is_settled || must_wait(list))
		return;
	net_loop_timer_disarm(list->deadline);
	net_loop_timer_disarm(list->settle);
	list->is_first_done = true;
	list->printed = resource_source_revision(&source);
	print_all(list);
	if (!list->informer)
		note_hidden(cli);
	if (!cli->opt.watch)
		cli_finish(cli, EXIT_STATUS_OK);
}

static void on_settle_deadline(void *arg)
{
	struct cli_ls_list *list = arg;
	list->is_late = true;
	on_list_change(list);
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

int cli_ls(struct cli *cli, const struct resource_kind *kind)
{
	struct err err = { 0 };
	struct cli_ls_list list = { .cli = cli, .kind = kind };
	bool is_fleet = list.kind == &fleet_sandbox_kind;
	if (!cli_rows_open(cli, list.kind, &err))
		return cli_fail(cli, &err);
	if (!cli_open(cli, !is_fleet, &err))
		return cli_fail(cli, &err);
	if (!is_fleet) {
		list.informer = engine_watch_kind(cli->engine, list.kind,
			engine_namespace(cli->engine), cli->opt.engine.label_selector, &err);
		if (list.informer == NULL)
			return cli_fail(cli, &err);
	}
	list.deadline = net_loop_timer_new(cli->loop, on_list_deadline, &list);
	net_loop_timer_arm(list.deadline, LIST_TIMEOUT_MS);
	list.settle = net_loop_timer_new(cli->loop, on_settle_deadline, &list);
	engine_on_change(cli->engine, on_list_change, &list);
	cli_run_loop(cli);
	engine_on_change(cli->engine, NULL, NULL);
	engine_unwatch_kind(cli->engine, list.informer);
	net_loop_timer_free(list.deadline);
	net_loop_timer_free(list.settle);
	forget_all(&list);
	return cli->status;
}

static int run_ls(struct cli *cli, int argc, char **argv)
{
	const struct resource_kind *kind =
		argc > 0 ? engine_kind_find(argv[0]) : &fleet_sandbox_kind;
	return kind != NULL ? cli_ls(cli, kind)
			    : cli_fail_usage(cli, "there is no kind '%s'", argv[0]);
}

const struct cli_verb cli_verb_ls = { "ls", "[KIND]",
	"claims and sandboxes, joined; or all of another kind", CLI_OPT_LIST | CLI_OPT_ROWS, 0,
	1, .run = run_ls, .only_cluster = "ls needs a cluster, not --rest/--grpc",
	.aliases = "list",
	.examples = "  sandmux ls -l team=blue -w\n"
		    "  sandmux ls -A --sort-by age --field-selector state!=Ready\n"
		    "  sandmux ls -o custom-columns=NAME:.claim,IP:.podIP,WHY:.why\n"
		    "  sandmux ls -o jq='.items[] | select(.restarts > 0) | .claim'\n" };
