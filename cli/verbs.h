// SPDX-License-Identifier: Apache-2.0
/* The verbs: one file ends in its const row (or two, where two verbs are one idea), and its name stands in CLI_VERBS. Parser,
 * help, completion and the tests walk the table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct str;

struct cli_verb {
	const char *name;
	const char *arguments; /* for help: "NAME…" */
	const char *help;      /* one line */
	unsigned options; /* enum cli_option_set bits: the rows of option_rows.c it takes */
	int min_args, max_args; /* -1: any */
	int (*run)(struct cli *cli, int argc, char **argv);
	const char *examples;     /* lines for its page of help; NULL: none */
	const char *only_cluster; /* why it does not go with --rest and --grpc; NULL: it does */
	bool needs_no_settings; /* about the program: runs also when settings.yaml is no good */
	const char *aliases;    /* other words for it, with blanks between; NULL: none */
	bool is_hidden;         /* for programs: no page of help names it */
};

#define CLI_NAME_NEEDS_CLUSTER "a name needs a cluster, not --rest/--grpc"

/* In the order in which help names them; the first one is for a line without a verb. */
#define CLI_VERBS(X)                                                                           \
	X(dashboard)                                                                           \
	X(ls)                                                                                  \
	X(top)                                                                                 \
	X(get)                                                                                 \
	X(describe)                                                                            \
	X(events)                                                                              \
	X(tree)                                                                                \
	X(pool)                                                                                \
	X(template)                                                                            \
	X(lease)                                                                               \
	X(edit)                                                                                \
	X(logs)                                                                                \
	X(context)                                                                             \
	X(create)                                                                              \
	X(rm)                                                                                  \
	X(suspend)                                                                             \
	X(resume)                                                                              \
	X(extend)                                                                              \
	X(lifetime)                                                                            \
	X(wait)                                                                                \
	X(run)                                                                                 \
	X(sh)                                                                                  \
	X(cp)                                                                                  \
	X(files)                                                                               \
	X(health)                                                                              \
	X(metadata)                                                                            \
	X(status)                                                                              \
	X(local)                                                                               \
	X(probe)                                                                               \
	X(doctor)                                                                              \
	X(settings)                                                                            \
	X(completion)                                                                          \
	X(complete)                                                                            \
	X(options)                                                                             \
	X(help)                                                                                \
	X(version)

#define CLI_VERB_DECLARE(name) extern const struct cli_verb cli_verb_##name;
CLI_VERBS(CLI_VERB_DECLARE)
#undef CLI_VERB_DECLARE
extern const struct cli_verb *const cli_verbs[]; /* NULL-terminated; struct cli has it too */

/* NULL: there is none of that name. */
const struct cli_verb *cli_verb_find(const struct cli_verb *const *verbs, const char *name);
/* program: how this one is called ("sandmux", "kubectl sandbox"). verb NULL: the whole program. */
void cli_print_help(
	const char *program, const struct cli_verb *const *verbs, const struct cli_verb *verb);
/* Edits between two words (Levenshtein); of long words, more than `most`. */
size_t cli_word_distance(const char *a, const char *b, size_t most);
/* What is meant by a word that is no verb: "did you mean …?", or what has it here. False: nobody knows. */
bool cli_verb_suggest(const struct cli_verb *const *verbs, const char *word, struct str *out);
