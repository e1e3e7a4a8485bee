// SPDX-License-Identifier: Apache-2.0
/* events: of a namespace, or of one object and everything that belongs to it, joined: of a sandbox its claim, Sandbox, pod,
 * volumes and pool. The server is asked for those of each name alone; where there are many names, for all of the namespace.
 * The latest first; with -w the latest last, and those that come after them. */
#include "cli/ls.h"
#include "cli/rows.h"
#include "cli/tree.h"
#include "cli/verbs.h"

#include "engine/base/json.h"
#include "engine/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHES_MAX = 8, OBJECTS_MAX = KINDS_TREE_NODES_MAX, EVENTS_MS = 30000 };

struct cli_events {
	struct cli *cli;
	const struct resource_kind *kind;
	int object_column;
	struct cli_tree tree;
	char *objects[OBJECTS_MAX]; /* "Pod/box" */
	char *names[OBJECTS_MAX];   /* each once */
	size_t n_objects, n_names;
	char *namespace_;
	struct {
		struct kinds_informer *informer;
		uint64_t printed; /* revision */
	} watches[WATCHES_MAX];
	size_t n_watches;
	bool is_first_done;
	struct net_loop_timer *deadline;
};

/* ---- which ones */

static bool has_text(char *const *texts, size_t n, const char *text)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(texts[i], text) == 0)
			return true;
	return false;
}

/* A template is of many and has no events. */
static void note_object(void *arg, const struct kinds_tree_line *line)
{
	struct cli_events *events = arg;
	if (line->n_more || events->n_objects == OBJECTS_MAX ||
		strcmp(line->api_kind, "SandboxTemplate") == 0)
		return;
	char *object = x_asprintf("%s/%s", line->api_kind, line->name);
	if (has_text(events->objects, events->n_objects, object))
		free(object);
	else
		events->objects[events->n_objects++] = object;
	if (!has_text(events->names, events->n_names, line->name))
		events->names[events->n_names++] = x_strdup(line->name);
	if (!events->namespace_ && *line->namespace_)
		events->namespace_ = x_strdup(line->namespace_);
}

static bool is_wanted(const struct cli_events *events, const void *row)
{
	const char *about = events->kind->columns[events->object_column].value(row).text;
	return has_text(events->objects, events->n_objects, about) &&
	       cli_row_is_listed(events->cli, events->kind, row);
}

/* ---- the first time: all of them as one source */

struct passing {
	const struct cli_events *events;
	resource_change_fn *fn;
	void *arg;
};

static void pass_wanted(void *arg, const char *uid, const void *row)
{
	const struct passing *passing = arg;
	if (is_wanted(passing->events, row))
		passing->fn(passing->arg, uid, row);
}

static void each(const void *self, resource_change_fn *fn, void *arg)
{
	const struct cli_events *events = self;
	struct passing passing = { events, fn, arg };
	for (size_t i = 0; i < events->n_watches; i++) {
		const struct resource_source source =
			kinds_informer_source(events->watches[i].informer);
		source.ops->each(source.self, pass_wanted, &passing);
	}
}

static const struct resource_source_ops ops = { .each = each };

static void print_row(const struct cli_events *events, const void *row)
{
	struct cli *cli = events->cli;
	if (cli_is_structured(cli)) {
		cli_ls_print_event(cli, events->kind, "CHANGED", NULL, row);
	} else if (cli->opt.output == CLI_NAME) {
		cli_rows_print(cli, events->kind, &row, 1);
	} else {
		struct cli_table *table = cli_rows_table(cli, events->kind);
		cli_rows_add(table, cli, events->kind, row);
		cli_table_print(table, false);
	}
}

static void print_first(struct cli_events *events)
{
	struct cli *cli = events->cli;
	const struct resource_source source = { &ops, events };
	size_t n;
	const void **rows = cli_rows_sorted(cli, events->kind, &source, &n);
	for (size_t i = 0; cli->opt.watch && i < n / 2; i++) {
		const void *row = rows[i];
		rows[i] = rows[n - 1 - i];
		rows[n - 1 - i] = row;
	}
	if (cli->opt.watch && cli_is_structured(cli))
		for (size_t i = 0; i < n; i++)
			print_row(events, rows[i]);
	else if (n > 0 || cli_is_structured(cli))
		cli_rows_print(cli, events->kind, rows, n);
	else
		cli_note(cli, "No events are kept about it.");
	fflush(stdout);
	free(rows);
}

/* ---- as they come */

/* Events go by themselves after an hour: that says nothing. */
static void print_change(void *arg, const char *uid, const void *row)
{
	(void)uid;
	if (row && is_wanted(arg, row))
		print_row(arg, row);
}

static bool fail_if_unreadable(struct cli_events *events, struct kinds_informer *informer)
{
	struct kinds_informer_state state = kinds_informer_state_of(informer);
	struct str what, fix;
	struct err err = { 0 };
	if (!state.is_forbidden && (state.is_synced || !state.err))
		return false;
	str_init(&what, 512);
	str_init(&fix, 1024);
	engine_kind_forbidden_format(informer, &what, &fix);
	if (state.is_forbidden)
		err_set(&err, ERR_KUBE_FORBIDDEN, "%s; %s", what.p, fix.p);
	cli_finish(events->cli, cli_fail(events->cli, state.is_forbidden ? &err : state.err));
	str_deinit(&what);
	str_deinit(&fix);
	return true;
}

static void on_change(void *arg)
{
	struct cli_events *events = arg;
	bool is_synced = true;
	for (size_t i = 0; i < events->n_watches && !events->is_first_done; i++) {
		struct kinds_informer *informer = events->watches[i].informer;
		if (fail_if_unreadable(events, informer))
			return;
		is_synced = is_synced && kinds_informer_state_of(informer).is_synced;
	}
	if (!is_synced || !events->n_watches)
		return;
	if (!events->is_first_done)
		print_first(events);
	for (size_t i = 0; i < events->n_watches; i++) {
		const struct resource_source source =
			kinds_informer_source(events->watches[i].informer);
		if (events->is_first_done)
			source.ops->changes(
				source.self, events->watches[i].printed, print_change, events);
		events->watches[i].printed = resource_source_revision(&source);
	}
	events->is_first_done = true;
	net_loop_timer_disarm(events->deadline);
	fflush(stdout);
	if (!events->cli->opt.watch || ferror(stdout)) /* main() says why */
		cli_finish(events->cli, EXIT_STATUS_OK);
}

static void on_deadline(void *arg)
{
	struct cli_events *events = arg;
	struct err err = { 0 };
	err_set(&err, ERR_OP_TIMEOUT, "no complete list from %s within %d s",
		engine_server(events->cli->engine), EVENTS_MS / 1000);
	cli_finish(events->cli, cli_fail(events->cli, &err));
}

static void on_tree(void *arg, const struct err *err)
{
	struct cli_events *events = arg;
	struct cli *cli = events->cli;
	struct engine *engine = cli->engine;
	struct err why = { 0 };
	if (err) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	kinds_tree_each(events->tree.tree, note_object, events);
	const char *namespace_ =
		events->namespace_ ? events->namespace_ : engine_namespace(engine);
	bool is_whole = events->n_names > WATCHES_MAX;
	for (size_t i = 0; i < (is_whole ? 1 : events->n_names); i++) {
		struct kinds_informer *informer =
			is_whole ? engine_watch_kind(
					   engine, events->kind, namespace_, NULL, &why)
				 : engine_watch_events_of(
					   engine, namespace_, events->names[i], &why);
		if (!informer) {
			cli_finish(cli, cli_fail(cli, &why));
			return;
		}
		events->watches[events->n_watches++].informer = informer;
	}
	net_loop_timer_arm(events->deadline, EVENTS_MS);
	engine_on_change(engine, on_change, events);
}

static void events_free(struct cli_events *events)
{
	struct engine *engine = events->cli->engine;
	engine_on_change(engine, NULL, NULL);
	for (size_t i = 0; i < events->n_watches; i++)
		engine_unwatch_kind(engine, events->watches[i].informer);
	for (size_t i = 0; i < events->n_objects; i++)
		free(events->objects[i]);
	for (size_t i = 0; i < events->n_names; i++)
		free(events->names[i]);
	cli_tree_free(&events->tree);
	net_loop_timer_free(events->deadline);
	free(events->namespace_);
	free(events);
}

static int run_events(struct cli *cli, int argc, char **argv)
{
	struct err err = { 0 };
	const struct resource_kind *kind = engine_kind_find("events");
	if (!argc)
		return cli_ls(cli, kind);
	if (!cli_rows_open(cli, kind, &err) || !cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct cli_events *events = x_calloc(1, sizeof *events);
	events->cli = cli;
	events->kind = kind;
	events->object_column = resource_find_column(kind, "object");
	events->tree = (struct cli_tree){ .cli = cli, .done = on_tree, .arg = events };
	events->deadline = net_loop_timer_new(cli->loop, on_deadline, events);
	if (cli_tree_start(&events->tree, argv[0], &err))
		cli_run_loop(cli);
	else
		cli->status = cli_fail(cli, &err);
	events_free(events);
	return cli->status;
}

const struct cli_verb cli_verb_events = { "events", "[NAME|KIND/NAME]",
	"what happened to it and to all that belongs to it; or in the namespace",
	CLI_OPT_LIST | CLI_OPT_ROWS, 0, 1, .run = run_events,
	.examples = "  sandmux events box\n  sandmux events pool/local -w\n"
		    "  sandmux events --field-selector type=Warning\n",
	.only_cluster = CLI_NAME_NEEDS_CLUSTER };
