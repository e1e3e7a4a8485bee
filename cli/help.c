// SPDX-License-Identifier: Apache-2.0
/* help: the pages of the program and of its verbs, made of the rows of the verbs and of the options. */
#include "cli/cli.h"
#include "cli/manual.h"
#include "cli/verbs.h"

#include "engine/base/str.h"
#include "tui/view/keys.h"

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

void cli_print_help(const struct cli_verb *const *verbs, const struct cli_verb *verb)
{
	if (verb != NULL && verb->name[0] != '\0') {
		printf("sandmux %s %s\n\n%s.\n\nOptions:\n", verb->name, verb->arguments,
			verb->help);
		print_option_rows(verb->options & ~(unsigned)CLI_OPT_GLOBAL);
		printf("\nEverywhere:\n");
		print_option_rows(CLI_OPT_GLOBAL);
		if (verb->examples != NULL)
			printf("\nExamples:\n%s", verb->examples);
		return;
	}
	printf("sandmux: a terminal dashboard and multiplexer for Agent Sandboxes\n\n"
	       "  sandmux [OPTIONS]                   the dashboard\n");
	for (const struct cli_verb *const *row = verbs + 1; *row != NULL; row++) {
		char left[80];
		snprintf(left, sizeof left, "%s %s", (*row)->name, (*row)->arguments);
		printf("  sandmux %-46s %s\n", left, (*row)->help);
	}
	printf("\nNAME is a claim, CLAIM.UID8, or sandbox/NAME. With --rest URL --grpc HOST:PORT "
	       "there is no NAME\nand paths are written :PATH.\n\nOptions:\n");
	print_option_rows(CLI_OPT_GLOBAL | CLI_OPT_TUI);
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
		view_keys_markdown(&page);
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
	if (argc > 0 && print_page(cli, argv[0]))
		return EXIT_STATUS_OK;
	const struct cli_verb *verb = argc > 0 ? cli_verb_find(cli->verbs, argv[0]) : NULL;
	if (argc > 0 && verb == NULL)
		return cli_fail_usage(cli, "there is no page about '%s'", argv[0]);
	cli_print_help(cli->verbs, verb);
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_help = { "help", "[VERB|keys]",
	"what a verb takes, or the keys of the dashboard", 0, 0, 1, .run = run_help,
	.needs_no_settings = true };
