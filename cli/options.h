// SPDX-License-Identifier: Apache-2.0
/* The options: what each is called, takes and means is a row (option_rows.c); the parser, the pages of help and whoever else
 * tells of them walk the rows. Options may stand before and after the verb; after "--" nothing is an option. */
#pragma once

#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_verb;
struct cli_expression;

enum cli_output {
	CLI_TABLE,
	CLI_WIDE,
	CLI_JSON,
	CLI_YAML,
	CLI_NAME,
	CLI_EXPRESSION, /* jsonpath=, jq= */
	CLI_COLUMNS,    /* custom-columns= */
	CLI_OUTPUT_COUNT,
};

enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };

/* A growing list of borrowed arguments, NULL-terminated. */
struct cli_list {
	const char **items;
	size_t n, capacity;
};
void cli_list_add(struct cli_list *list, const char *item);

/* What was on the command line. Strings are borrowed from argv. */
struct cli_options {
	struct engine_opts engine;
	enum cli_output output;
	struct cli_list as_groups, labels, annotations, env, pod_labels, pod_annotations,
		volumes;
	struct cli_expression *expression; /* of the last two forms */
	enum cli_color color;
	const char *sort_by, *field_selector;
	bool no_headers, show_labels, no_start, stdin_;
	const char *cwd, *pool, *theme, *isolation, *state_dir, *daemon_auth;
	const char *conflict;
	const char *network;
	const char *file, *template_, *binding_key, *shutdown_policy;
	int64_t timeout_ms, shutdown_after_ms, output_limit_bytes; /* 0: not given */
	int64_t ttl_ms; /* with has_ttl: 0 is a time */
	bool watch, no_wait, adopt, yes, tty, recursive, verify, local, help, quiet, no_mouse,
		no_remember;
	bool no_stdin, no_delete_wait, has_ttl, no_ttl, never, all, mine, rm;
	int64_t end_in_ms, end_at_ms; /* of a life; 0: not given */
	struct fleet_delete_opts deletion;
	const char *wait_for;
	/* logs */
	bool follow, previous, timestamps, has_tail;
	const char *container, *since_time;
	int64_t since_ms, tail, limit_bytes;
};
void cli_options_deinit(struct cli_options *opt);

/* Which verbs take it. */
enum cli_option_set {
	CLI_OPT_GLOBAL = 1 << 0,  /* cluster, output, help */
	CLI_OPT_LIST = 1 << 1,    /* -l -w */
	CLI_OPT_CREATE = 1 << 2,  /* --pool … */
	CLI_OPT_RUN = 1 << 3,     /* -e --cwd -t */
	CLI_OPT_COPY = 1 << 4,    /* -r --conflict --verify */
	CLI_OPT_DELETE = 1 << 5,  /* --yes */
	CLI_OPT_FILES = 1 << 6,   /* -r */
	CLI_OPT_LOCAL = 1 << 7,   /* --isolation --state-dir */
	CLI_OPT_TUI = 1 << 8,     /* --theme --no-mouse --no-remember */
	CLI_OPT_TIMEOUT = 1 << 9, /* --timeout */
	CLI_OPT_LIFE = 1 << 11,   /* --in --at --never … */
	CLI_OPT_WAIT = 1 << 12,   /* --for */
	CLI_OPT_DRY_RUN = 1 << 16,
	CLI_OPT_LOGS = 1 << 17, /* -f -p -c … */
	CLI_OPT_ROWS = 1 << 10, /* --sort-by --no-headers --show-labels --field-selector */
};

/* What its value is, and so the type of the field that takes it. */
enum cli_option_kind {
	CLI_OPTION_SWITCH,     /* bool: no value */
	CLI_OPTION_SWITCH_OFF, /* bool: set by "=false"; no value, or "=true", changes nothing */
	CLI_OPTION_TEXT,       /* const char * */
	CLI_OPTION_LIST,       /* struct cli_list: may repeat */
	CLI_OPTION_PAIRS,      /* struct cli_list of KEY=VALUE: may repeat */
	CLI_OPTION_TIME,       /* int64_t, ms, above 0 */
	CLI_OPTION_SIZE,       /* int64_t, bytes, above 0 */
	CLI_OPTION_SETTER,     /* a function of its own */
};

struct cli_option {
	const char *name;
	char letter;       /* 0: none */
	const char *value; /* its name in help; NULL: a switch */
	unsigned sets;     /* enum cli_option_set bits */
	const char *help;
	enum cli_option_kind kind;
	size_t at; /* of the field in struct cli_options */
	bool (*set)(struct cli_options *opt, const char *value, struct err *err);
};
/* The first row of these sets (after NULL), the next one, NULL at the end. */
const struct cli_option *cli_options_each(const struct cli_option *after, unsigned sets);
enum { CLI_OPTIONS_MAX = 128 };

/* Parses argv into opt. verbs is NULL-terminated, the first one is for a line without a verb. On success *verb_out is the verb
 * and argv[*first…] its arguments, reordered in place. ERR_ARG_INVALID, and what a setting refuses. */
bool cli_parse(struct cli_options *opt, int argc, char **argv,
	const struct cli_verb *const *verbs, const struct cli_verb **verb_out, int *first,
	int *count, struct err *err);
