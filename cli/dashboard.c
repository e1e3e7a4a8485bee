// SPDX-License-Identifier: Apache-2.0
/* sandmux without a verb: the dashboard on this terminal. help: this program's pages. */
#include "cli/verbs.h"

#include "engine/base/safe_text.h"
#include "tui/app/app.h"
#include "tui/views/keys.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_quit(void *arg)
{
	cli_finish(arg, EXIT_STATUS_OK);
}

/* The window of this terminal was closed: one way of quitting. */
static bool is_terminal_gone(void)
{
	struct pollfd out = { STDOUT_FILENO, 0, 0 };
	return poll(&out, 1, 0) > 0 && (out.revents & (POLLHUP | POLLERR)) != 0;
}

static void on_signal(void *arg, int signal_number)
{
	bool is_quit = signal_number == SIGHUP && is_terminal_gone();
	cli_finish(arg, is_quit ? EXIT_STATUS_OK : cli_signal_status(signal_number));
}

static struct app *shown_app; /* once it is there */

static void on_plugin(void *arg, const char *text)
{
	(void)arg;
	char *safe = safe_text_dup(text, 512);
	if (shown_app != NULL)
		app_note(shown_app, safe);
	free(safe);
}

static int run_dashboard(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct err err = { 0 };
	const char *no_color = getenv("NO_COLOR");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&err, ERR_TTY_NONE,
			"the dashboard needs a terminal; without one use a verb, such as sandmux ls");
		return cli_fail(cli, &err);
	}
	cli->opt.engine.on_plugin = on_plugin;
	if (!cli_open(cli, false, &err))
		return cli_fail(cli, &err);
	const struct app_opts opts = {
		.engine = cli->engine,
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.term = getenv("TERM"),
		.colorterm = getenv("COLORTERM"),
		.no_color = no_color != NULL && no_color[0] != '\0',
		.theme = cli->opt.theme,
		.no_mouse = cli->opt.no_mouse,
		.on_quit = on_quit,
		.arg = cli,
	};
	cli_on_signal(cli, on_signal, cli);
	struct app *app = app_new(cli->loop, &opts, &err);
	if (app == NULL || !app_handle_signals(app, &err)) {
		app_free(app);
		return cli_fail(cli, &err);
	}
	shown_app = app;
	cli_run_loop(cli);
	shown_app = NULL;
	app_free(app);
	return cli->status;
}

static int run_help(struct cli *cli, int argc, char **argv)
{
	if (argc > 0 && strcmp(argv[0], "keys") == 0) {
		struct str page;
		str_init(&page, 1 << 20);
		keys_markdown(&page);
		fputs(page.p, stdout);
		str_deinit(&page);
		return EXIT_STATUS_OK;
	}
	for (const struct cli_verb *const *verb = cli_verbs; argc > 0 && *verb != NULL;
		verb++) {
		if (strcmp((*verb)->name, argv[0]) != 0)
			continue;
		cli_print_help(*verb);
		return EXIT_STATUS_OK;
	}
	if (argc > 0)
		return cli_fail_usage(cli, "there is no page about '%s'", argv[0]);
	cli_print_help(NULL);
	return EXIT_STATUS_OK;
}

const struct cli_verb cli_verb_dashboard = { "", "", "the dashboard",
	CLI_OPT_TUI | CLI_OPT_LIST, 0, 0, run_dashboard };
const struct cli_verb cli_verb_help = { "help", "[VERB|keys]",
	"what a verb takes, or the keys of the dashboard", 0, 0, 1, run_help };
