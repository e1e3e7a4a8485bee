// SPDX-License-Identifier: Apache-2.0
/* help: the pages of the program and of its verbs, made of the rows of the verbs and of the options. */
#include "cli/cli.h"
#include "cli/manual.h"
#include "cli/verbs.h"

#include "engine/base/str.h"
#include "tui/view/keymap.h"

#include <stdio.h>
#include <string.h>

static void print_option_rows(unsigned sets)
{
	for (const struct cli_option *row = NULL;
		(row = cli_options_each(row, sets)) != NULL;) {
		char left[64];
		snprintf(left, sizeof left, "%s%c%s--%s%s%s", row->letter ? "-" : " ",
			row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name,
			row->value ? " " : "", row->value ? row->value : "");
		printf("  %-34s %s\n", left, row->help);
	}
}

/* Text about "sandmux VERB", in the words of who calls it otherwise. */
static void print_as(const char *program, const char *text)
{
	static const char own[] = "sandmux ";
	for (const char *at; (at = strstr(text, own)) != NULL; text = at + sizeof own - 1)
		printf("%.*s%s ", (int)(at - text), text, program);
	fputs(text, stdout);
}

static void print_verb(const char *program, const struct cli_verb *verb)
{
	const unsigned own = verb->options & ~(unsigned)CLI_OPT_GLOBAL;
	printf("%s %s%s%s\n\n%s.\n", program, verb->name, verb->arguments[0] ? " " : "",
		verb->arguments, verb->help);
	if (verb->aliases != NULL)
		printf("Also: %s\n", verb->aliases);
	if (verb->examples != NULL) {
		printf("\nExamples:\n");
		print_as(program, verb->examples);
	}
	if (cli_options_each(NULL, own) != NULL) {
		printf("\nOptions:\n");
		print_option_rows(own);
	}
	printf("\nOptions of every verb: %s options\n", program);
}

void cli_print_help(
	const char *program, const struct cli_verb *const *verbs, const struct cli_verb *verb)
{
	if (verb != NULL && verb->name[0] != '\0') {
		print_verb(program, verb);
		return;
	}
	printf("sandmux: a terminal dashboard and multiplexer for Agent Sandboxes\n\n");
	printf("  %s %-46s the dashboard\n", program, "[OPTIONS]");
	for (const struct cli_verb *const *row = verbs + 1; *row != NULL; row++) {
		char left[80];
		if ((*row)->is_hidden)
			continue;
		snprintf(left, sizeof left, "%s %s", (*row)->name, (*row)->arguments);
		printf("  %s %-46s %s\n", program, left, (*row)->help);
	}
	printf("\nNAME is a claim, CLAIM.UID8, or sandbox/NAME. With --rest URL --grpc HOST:PORT "
	       "there is no NAME\nand paths are written :PATH.\n\n"
	       "  %s help VERB    its options, with examples\n"
	       "  %s options      the options of every verb\n\nOptions of the dashboard:\n",
		program, program);
	print_option_rows(CLI_OPT_TUI);
	printf("\nExit status: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not allowed, "
	       "5 timed out,\n6 unreachable, 7 refused by a rule of ours, 8 verification failed. run "
	       "and sh return the\nremote status; 124 time limit, 125 our own failure, 126 not executable, 127 not "
	       "found, 137 killed.\n");
}

/* Pages of the documentation that are made here; "man" and "codes" are for scripts/manual.py. */
static bool print_page(const struct cli *cli, const char *name)
{
	struct str page;
	str_init(&page, CLI_MANUAL_BYTES_MAX);
	if (strcmp(name, "keys") == 0)
		view_keymap_markdown(&page);
	else if (strcmp(name, "man") == 0)
		cli_manual_add_page(&page, cli->verbs);
	else if (strcmp(name, "codes") == 0)
		cli_manual_add_codes(&page);
	bool is_known = page.n != 0;
	fputs(page.p, stdout);
	str_deinit(&page);
	return is_known;
}

static int run_help(struct cli *cli, int argc, char **argv)
{
	struct err err;
	if (argc > 0 && strcmp(argv[0], "keys") == 0 && !cli_read_keymap(&err))
		return cli_fail(cli, &err);
	if (argc > 0 && print_page(cli, argv[0]))
		return EXIT_STATUS_OK;
	const struct cli_verb *verb = argc > 0 ? cli_verb_find(cli->verbs, argv[0]) : NULL;
	if (argc > 0 && verb == NULL)
		return cli_fail_usage(cli, "there is no page about '%s'", argv[0]);
	cli_print_help(cli->program, cli->verbs, verb);
	return EXIT_STATUS_OK;
}

static int run_options(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("Before or after every verb of %s; after -- nothing is an option.\n\n",
		cli->program);
	print_option_rows(CLI_OPT_GLOBAL);
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_options = { "options", "", "the options of every verb", 0, 0, 0,
	.run = run_options, .needs_no_settings = true };
const struct cli_verb cli_verb_help = { "help", "[VERB|keys]",
	"what a verb takes, or the keys of the dashboard", 0, 0, 1, .run = run_help,
	.needs_no_settings = true,
	.examples = "  sandmux help run\n"
		    "  sandmux help keys\n" };
