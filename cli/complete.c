// SPDX-License-Identifier: Apache-2.0
/* __complete: what may stand where the cursor is. Verbs, options and their words come from the rows; names come from the
 * cluster, asked by a process of its own that has a short time and may ask nobody. Also the program that kubectl runs for
 * its plugin (kubectl_complete-sandbox). */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/clock.h"
#include "engine/base/mem.h"
#include "engine/base/str.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	ASK_MS = 3000,
	ANSWER_BYTES = 1 << 20,
	WORDS_MAX = 256,
	TOKEN_BYTES = 64,
	NO_SPACE = 2, /* flags of the last line, as kubectl reads them */
	NO_FILES = 4,
};

struct completing {
	struct cli *cli;
	const char *last;   /* the word under the cursor, or its value in "--option=value" */
	const char *before; /* what stands before that value in the word */
	int n_before;
	char *context[WORDS_MAX]; /* options that say which cluster, for whoever is asked */
	int n_context;
	int flags;
};

/* Foreign names too: they are one word of a shell, so nothing else is a candidate. */
static void offer(const struct completing *c, const char *candidate, const char *what)
{
	static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789-_.:=@+,/";
	if (strncmp(candidate, c->last, strlen(c->last)) == 0 &&
		candidate[strspn(candidate, word)] == '\0')
		printf("%.*s%s%s%s\n", c->n_before, c->before, candidate, what[0] ? "\t" : "",
			what);
}

/* Alternatives: "a|b|c". */
static void offer_words(const struct completing *c, const char *words)
{
	for (const char *at = words; *at != '\0';) {
		size_t n = strcspn(at, "|");
		char *word = x_strndup(at, n);
		offer(c, word, "");
		free(word);
		at += n + (at[n] == '|');
	}
}

/* ---- names, from the cluster */

/* In the child: ls or context, whose output is the pipe. */
static void run_child(const struct completing *c, int out, const char *const *question)
{
	char *argv[WORDS_MAX + 16];
	int argc = 0, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	argv[argc++] = (char *)(uintptr_t) "sandmux";
	for (int i = 0; i < c->n_context; i++)
		argv[argc++] = c->context[i];
	for (; *question != NULL; question++)
		argv[argc++] = (char *)(uintptr_t)*question;
	argv[argc] = NULL;
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
		dup2(null, STDERR_FILENO) < 0)
		_exit(EXIT_STATUS_FAILED);
	int status = c->cli->run(argc, argv);
	fflush(stdout);
	_exit(status);
}

static void read_answer(int in, struct str *answer)
{
	char bytes[4096];
	const int64_t until = clock_mono_ms() + ASK_MS;
	for (;;) {
		int64_t left = until - clock_mono_ms();
		struct pollfd ready = { in, POLLIN, 0 };
		if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
			return;
		ssize_t n = read(in, bytes, sizeof bytes);
		if (n <= 0)
			return;
		str_add_bytes(answer, bytes, (size_t)n);
	}
}

static void ask(const struct completing *c, const char *const *question, struct str *answer)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		run_child(c, ends[1], question);
	close(ends[1]);
	if (pid > 0) {
		read_answer(ends[0], answer);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	close(ends[0]);
}

/* The names that a question has for an answer, "kind/NAME" a line, with something behind each. */
static void offer_names(
	const struct completing *c, const char *const *question, const char *suffix)
{
	struct str answer;
	str_init(&answer, ANSWER_BYTES);
	ask(c, question, &answer);
	for (const char *at = answer.p; *at != '\0';) {
		size_t n = strcspn(at, "\n");
		char *line = x_strndup(at, n), *slash = strchr(line, '/');
		char *name = x_asprintf("%s%s", slash ? slash + 1 : line, suffix);
		if (n > 0)
			offer(c, name, "");
		free(name);
		free(line);
		at += n + (at[n] == '\n');
	}
	str_deinit(&answer);
}

static void offer_kind(const struct completing *c, const char *kind, const char *suffix)
{
	const char *const question[] = { "ls", kind, "-o", "name", "-q", "--no-start", NULL };
	offer_names(c, question, suffix);
}

static void offer_kinds(const struct completing *c)
{
	for (size_t i = 0; engine_kinds[i] != NULL; i++)
		offer(c, engine_kinds[i]->name, "");
}

/* ---- what a word of a usage stands for */

static void offer_token(struct completing *c, const char *token)
{
	static const char *const contexts[] = { "context", "ls", "-o", "name", "-q", NULL };
	static const struct {
		const char *token, *kind;
	} kinds[] = { { "NAME", "sandboxes" }, { "POOL", "sandboxwarmpools" },
		{ "TEMPLATE", "sandboxtemplates" }, { "NS", "namespaces" } };
	if (strchr(token, '|') != NULL) {
		offer_words(c, token);
		c->flags |= NO_FILES;
		return;
	}
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(token, kinds[i].token) == 0) {
			offer_kind(c, kinds[i].kind, "");
			c->flags |= NO_FILES;
			return;
		}
	if (strcmp(token, "CONTEXT") == 0) {
		offer_names(c, contexts, "");
		c->flags |= NO_FILES;
	} else if (strcmp(token, "KIND") == 0) {
		offer_kinds(c);
		c->flags |= NO_FILES;
	} else if (strcmp(token, "NAME:PATH") == 0 || strcmp(token, "SRC") == 0 ||
		   strcmp(token, "DST") == 0) {
		/* a path in a sandbox is nobody's to guess; one on this machine is the shell's */
		if (strchr(c->last, '/') == NULL && strchr(c->last, ':') == NULL)
			offer_kind(c, "sandboxes", ":");
		c->flags |= NO_SPACE | (token[0] == 'N' ? NO_FILES : 0);
	} else if (strcmp(token, "VERB") == 0) {
		for (const struct cli_verb *const *v = c->cli->verbs + 1; *v != NULL; v++)
			if (!(*v)->is_hidden)
				offer(c, (*v)->name, "");
		c->flags |= NO_FILES;
	} else if (strcmp(token, "FILE") != 0) {
		c->flags |= NO_FILES;
	}
}

/* The nth word of a usage ("[-r] SRC DST", "NAME… "); what repeats stands for all that follow. */
static bool usage_token(const char *usage, int n, char token[TOKEN_BYTES])
{
	char word[TOKEN_BYTES] = "";
	for (const char *at = usage; *at != '\0';) {
		size_t length =
			*at == '[' && at[1] == '-' ? strcspn(at, "]") + 1 : strcspn(at, " ");
		bool is_option = *at == '[' && at[1] == '-';
		if (!is_option && length > 0 && length < sizeof word) {
			const char *end = at + length;
			const char *start = at + strspn(at, "[");
			size_t used = 0;
			for (; start < end && strchr("]", *start) == NULL; start++)
				if ((unsigned char)*start < 0x80) /* not the ellipsis */
					word[used++] = *start;
			word[used] = '\0';
			bool repeats = memchr(at, '\xe2', length) != NULL; /* U+2026 */
			if (n-- == 0 || repeats) {
				snprintf(token, TOKEN_BYTES, "%s", word);
				return true;
			}
		}
		at += length;
		at += strspn(at, "\xe2\x80\xa6 ");
	}
	return false;
}

/* ---- the words before */

static const struct cli_option *option_named(const char *word, unsigned sets)
{
	const size_t n = strcspn(word, "=");
	for (const struct cli_option *row = NULL;
		(row = cli_options_each(row, sets)) != NULL;) {
		if (word[1] == '-' ? strlen(row->name) == n - 2 &&
					     strncmp(row->name, word + 2, n - 2) == 0
				   : row->letter != 0 && row->letter == word[1] && n == 2)
			return row;
	}
	return NULL;
}

static bool takes_next(const struct cli_option *row, const char *word)
{
	return row != NULL && row->value != NULL && row->kind != CLI_OPTION_SWITCH_OFF &&
	       strchr(word, '=') == NULL;
}

static void offer_value(struct completing *c, const struct cli_option *row)
{
	static const struct {
		const char *option, *token;
	} known[] = { { "namespace", "NS" }, { "pool", "POOL" }, { "context", "CONTEXT" },
		{ "template", "TEMPLATE" },
		{ "output", "table|wide|json|yaml|name|jsonpath=|jq=|custom-columns=" },
		{ "color", "auto|always|never" },
		{ "theme", "default|light|high-contrast|mono" },
		{ "connectivity",
			"port-forward|in-cluster-service|in-cluster-pod-ip|gateway|router" },
		{ "runtime", "auto|sandboxd|legacy" }, { "gateway-scheme", "http|https" },
		{ "conflict", "overwrite|skip|rename|fail" }, { "isolation", "bwrap|none" },
		{ "daemon-auth", "token|off" }, { "wait", "true|false" },
		{ "dry-run", "client|server" },
		{ "shutdown-policy", "Delete|DeleteForeground|Retain" } };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strcmp(known[i].option, row->name) == 0) {
			offer_token(c, known[i].token);
			return;
		}
	if (strcmp(row->value, "FILE") != 0 && strcmp(row->value, "DIR") != 0)
		c->flags |= NO_FILES;
}

static void offer_options(const struct completing *c, unsigned sets)
{
	char name[64];
	for (const struct cli_option *row = NULL;
		(row = cli_options_each(row, sets)) != NULL;) {
		snprintf(name, sizeof name, "--%s", row->name);
		offer(c, name, row->help);
	}
}

/* Options before the cursor: those that say which cluster are kept. Returns the verb, and how many words stand after it. */
static const struct cli_verb *read_words(struct completing *c, int argc, char **argv,
	const struct cli_option **pending, int *n_arguments, const char **first)
{
	const struct cli_verb *verb = NULL;
	*pending = NULL;
	*n_arguments = 0;
	*first = NULL;
	for (int i = 0; i < argc; i++) {
		unsigned sets =
			CLI_OPT_GLOBAL | (verb ? verb->options : CLI_OPT_TUI | CLI_OPT_LIST);
		if (argv[i][0] != '-' || argv[i][1] == '\0') {
			if (verb == NULL) {
				verb = cli_verb_find(c->cli->verbs, argv[i]);
				if (verb == NULL) {
					*n_arguments = 1; /* nobody knows what follows */
					return NULL;
				}
			} else if ((*n_arguments)++ == 0) {
				*first = argv[i];
			}
			continue;
		}
		const struct cli_option *row = option_named(argv[i], sets);
		bool is_kept = row != NULL && (row->sets & CLI_OPT_GLOBAL) != 0 &&
			       strcmp(row->name, "output") != 0 &&
			       strcmp(row->name, "help") != 0 && c->n_context + 2 < WORDS_MAX;
		if (is_kept)
			c->context[c->n_context++] = argv[i];
		if (!takes_next(row, argv[i]))
			continue;
		if (i + 1 == argc) {
			*pending = row;
			c->n_context -= is_kept;
		} else if (is_kept) {
			c->context[c->n_context++] = argv[i + 1];
		}
		i++;
	}
	return verb;
}

static void complete_argument(
	struct completing *c, const struct cli_verb *verb, int n, const char *first)
{
	char token[TOKEN_BYTES];
	const struct resource_kind *kind = first ? engine_kind_find(first) : NULL;
	bool has_kind = strncmp(verb->arguments, "[KIND] NAME", 11) == 0;
	c->flags |= NO_FILES;
	if (has_kind && n == 0) {
		offer_kinds(c);
		offer_kind(c, "sandboxes", "");
	} else if (has_kind) {
		offer_kind(c, kind ? kind->name : "sandboxes", "");
	} else if (usage_token(verb->arguments, n, token)) {
		c->flags &= ~NO_FILES;
		offer_token(c, token);
	}
}

static void complete_verb(struct completing *c)
{
	for (const struct cli_verb *const *v = c->cli->verbs + 1; *v != NULL; v++)
		if (!(*v)->is_hidden)
			offer(c, (*v)->name, (*v)->help);
}

/* The word under the cursor is --option=value. */
static const struct cli_option *split_value(struct completing *c, unsigned sets)
{
	const char *equals = c->last[0] == '-' ? strchr(c->last, '=') : NULL;
	const struct cli_option *row = equals ? option_named(c->last, sets) : NULL;
	if (row == NULL || row->value == NULL)
		return NULL;
	c->before = c->last;
	c->n_before = (int)(equals - c->last) + 1;
	c->last = equals + 1;
	return row;
}

static int run_complete(struct cli *cli, int argc, char **argv)
{
	struct completing c = { .cli = cli, .last = argc > 0 ? argv[argc - 1] : "" };
	const struct cli_option *pending;
	const char *first;
	int n;
	argc -= argc > 0;
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--") == 0) { /* a program of the sandbox's */
			printf(":%d\n", NO_FILES);
			return EXIT_STATUS_OK;
		}
	const struct cli_verb *verb = read_words(&c, argc, argv, &pending, &n, &first);
	unsigned sets = CLI_OPT_GLOBAL | (verb ? verb->options : CLI_OPT_TUI | CLI_OPT_LIST);
	if (pending == NULL)
		pending = split_value(&c, sets);
	if (pending != NULL) {
		offer_value(&c, pending);
	} else if (c.last[0] == '-') {
		offer_options(&c, sets);
		c.flags = NO_FILES;
	} else if (verb != NULL) {
		complete_argument(&c, verb, n, first);
	} else {
		c.flags = NO_FILES;
		if (n == 0)
			complete_verb(&c);
	}
	printf(":%d\n", c.flags);
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_complete = { "__complete", "WORD…", "candidates, for a shell", 0,
	0, -1, .run = run_complete, .needs_no_settings = true, .is_hidden = true };
