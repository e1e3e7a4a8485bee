// SPDX-License-Identifier: Apache-2.0
/* The command line: one file per verb, each ending in one const row; help and the parser come from the rows.
 * A contract (docs/cli.md): verbs and flags are added, never changed. Data goes to stdout, everything else to
 * stderr. A verb may block on its own stdout: that is the natural back-pressure of a pipeline. */
#pragma once

#include "cli/options.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cJSON;

struct cli {
	const struct cli_verb *const *verbs; /* all of them, NULL-terminated */
	int (*run)(int argc, char **argv);   /* the whole program, again: cli_main() */
	const char *program; /* how it is called: "sandmux", "kubectl sandbox" */
	struct cli_options opt;
	struct net_loop *loop;
	struct engine *engine;           /* after cli_open() */
	struct cli_row_order *row_order; /* rows.h; NULL: the usual one */
	int status;                      /* the exit status so far */
	bool is_finished;                /* cli_finish() was called */
	FILE *dry_run_out;               /* where a dry run's requests go; NULL */
	char *kubeconfig;                /* of the local backend, when it is used */
	struct net_watch_fatal *signals; /* after cli_open() */
	void (*on_signal)(void *arg, int signal_number); /* NULL: the verb just ends */
	void *on_signal_arg;
};

/* settings.c: the user's settings.yaml, before the options. */
bool cli_read_settings(struct err *err);
bool cli_read_keymap(struct err *err); /* keymap.yaml beside the settings */

/* program.c: the whole program; its exit status. */
int cli_main(int argc, char **argv);

/* session.c: engine for the context; lazy = one-shot verbs that need no watches of everything. Starts the local
 * backend if it is the context. */
bool cli_open(struct cli *cli, bool lazy, struct err *err);
bool cli_is_direct(const struct cli *cli);
/* Resolves NAME (NULL in direct mode) to a runtime, waiting for Ready up to the timeout, then calls
 * fn; runs the loop until cli_finish(). Returns the status. */
typedef void cli_runtime_fn(struct cli *cli, struct runtime *runtime, void *arg);
int cli_with_runtime(struct cli *cli, const char *name, cli_runtime_fn *fn, void *arg);
void cli_finish(struct cli *cli, int status); /* ends the loop, also one that has not begun */
int cli_run_loop(struct cli *cli);            /* until cli_finish(); returns its status */
/* A signal that ends a process (engine/base/fatal_signal.h) finishes the verb with cli_signal_status(), in order: every verb,
 * after cli_open(). A verb that has something to take back first says how; NULL: no more. The next such signal ends the
 * process at once, unless the verb asked for more patience. */
void cli_on_signal(struct cli *cli, void (*fn)(void *arg, int signal_number), void *arg);
int cli_signal_status(int signal_number); /* 128 + n, as a shell says it */
/* Before the engine goes: creates that were given up take their claims back, processes that are being killed end; 5 s at
 * most. */
void cli_settle(struct cli *cli);
/* Prints the error in the chosen form and returns its exit status. */
int cli_fail(struct cli *cli, const struct err *err);
int cli_fail_usage(struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* `name:path` → name (free()) and path (borrowed); name NULL when there is none (a local path). In direct mode
 * ":path" is the sandbox and name is "". */
bool cli_split_target(const char *text, char **name, const char **path);

/* dry_run.c: before the engine is opened; stdout is nobody's from then on */
bool cli_dry_run_begin(struct cli *cli, struct err *err);

/* output.c */
struct cli_table;
struct cli_table *cli_table_new(size_t columns, const char *const *titles);
void cli_table_cell(
	struct cli_table *table, const char *text); /* foreign text allowed; row by row */
/* In the colour of its tone, where cli_table_color() says so. */
void cli_table_toned(struct cli_table *table, enum resource_tone tone, const char *text);
void cli_table_color(struct cli_table *table, bool has_color);
/* A row of -o custom-columns. */
void cli_table_add_columns(struct cli_table *table, const struct cli_expression *expression,
	const struct cJSON *value);
bool cli_has_color(const struct cli *cli);                  /* of stdout */
void cli_table_print(struct cli_table *table, bool titles); /* and frees it */
void cli_print_json(const struct cJSON *value);             /* to stdout, with a line end */
void cli_print_yaml(const struct cJSON *value);
void cli_print_object(const struct cli *cli, const struct cJSON *value); /* by -o */
bool cli_is_structured(const struct cli
		*cli); /* not a table and not names: an object goes to cli_print_object() */
bool cli_is_table(const struct cli *cli); /* custom-columns is one too */
/* One of a stream of objects: a line, a document, a row. With an expression: its member "object", if it has one. */
void cli_print_item(const struct cli *cli, const struct cJSON *value);
bool cli_ask(const char *question);  /* on stderr, answered on stdin: y or not */
void cli_put_safe(const char *text); /* foreign text to stdout, one line */
void cli_note(
	const struct cli *cli, const char *format, ...) /* a remark on stderr, unless --quiet */
	__attribute__((format(printf, 2, 3)));
/* Foreign text or bytes, exactly. What no JSON text can hold (bytes that are not UTF-8, NUL) is replaced by U+FFFD, and
 * `<key>Base64` has the bytes then. */
void cli_json_text(struct cJSON *object, const char *key, const char *text);
void cli_json_bytes(struct cJSON *object, const char *key, struct slice bytes);
void cli_print_json_line(const struct cJSON *value); /* on one line */
/* Nobody reads our stdout any more: this ends in silence, with the status of a program that died of it. */
bool cli_is_reader_gone(void);
int cli_closed_status(void);
/* Stable schema, docs/cli.md. */
struct cJSON *cli_row_json(const struct resource_kind *kind, const void *row);
