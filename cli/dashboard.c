// SPDX-License-Identifier: Apache-2.0
/* sandmux without a verb: the dashboard on this terminal. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"
#include "local/control/control.h"
#include "tui/app/app.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dashboard {
	struct cli *cli;
	const char *kubeconfig; /* that was asked for; NULL */
	struct control_up *up;  /* the local backend is being started again; NULL */
	void (*done)(void *arg, const struct err *err);
	void *done_arg;
};

static void on_quit(void *arg)
{
	const struct dashboard *dashboard = arg;
	cli_finish(dashboard->cli, EXIT_STATUS_OK);
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

/* ---- the local backend, started again */

/* The engine follows it to another address, unless it is another one altogether. */
static bool is_same_address(
	const struct cli *cli, const struct control_status *status, struct err *err)
{
	char port[16];
	const char *server = engine_server(cli->engine), *colon = strrchr(server, ':');
	snprintf(port, sizeof port, ":%u", status->port);
	size_t n = strlen(port);
	if (colon != NULL && strncmp(colon, port, n) == 0 && (!colon[n] || colon[n] == '/'))
		return true;
	return err_set(err, ERR_LOCAL_NOT_RUNNING,
		"it listens on %u now and knows other credentials: leave sandmux and start it again",
		status->port);
}

static void on_up(void *arg, const struct err *err, const struct control_status *status)
{
	struct dashboard *dashboard = arg;
	struct err other;
	dashboard->up = NULL;
	engine_link_try(dashboard->cli->engine);
	if (err == NULL && !is_same_address(dashboard->cli, status, &other))
		err = &other;
	dashboard->done(dashboard->done_arg, err);
}

static bool start_backend(void *arg, void (*done)(void *done_arg, const struct err *err),
	void *done_arg, struct err *err)
{
	struct dashboard *dashboard = arg;
	const struct cli_options *opt = &dashboard->cli->opt;
	const struct control_opts opts = {
		.state_dir = opt->state_dir,
		.isolation = opt->isolation,
		.daemon_auth = opt->daemon_auth,
	};
	dashboard->done = done;
	dashboard->done_arg = done_arg;
	dashboard->up = control_up_start(dashboard->cli->loop, &opts, on_up, dashboard, err);
	return dashboard->up != NULL;
}

/* Another context: as the program was asked for, but for what named the first one. The embedded backend is started where it does not
 * run, as it is at the program's own start. */
static struct engine *open_engine(void *arg, const char *context, struct err *err)
{
	const struct dashboard *dashboard = arg;
	struct engine_opts opts = dashboard->cli->opt.engine;
	char *local = NULL;
	opts.cluster = opts.user = opts.server = opts.certificate_authority = opts.token = NULL;
	opts.namespace_ = NULL;
	opts.context = context;
	opts.kubeconfig = dashboard->kubeconfig;
	if (strcmp(context, CONTROL_CONTEXT) == 0 && opts.kubeconfig == NULL) {
		const struct control_opts control = {
			.state_dir = dashboard->cli->opt.state_dir,
			.isolation = dashboard->cli->opt.isolation,
		};
		struct control_status status;
		if (!control_ensure_running(&control, &status, err))
			return NULL;
		opts.kubeconfig = local = x_strdup(status.kubeconfig);
	}
	struct engine *engine = engine_new(dashboard->cli->loop, &opts, err);
	free(local);
	return engine;
}

/* NULL: nothing is to be remembered, or there is no place for it. */
static char *state_path(const struct cli *cli)
{
	if (cli->opt.no_remember || !setting_get(SETTING_REMEMBER))
		return NULL;
	char *folder = file_xdg_dir(FILE_STATE, NULL);
	char *path = folder ? x_asprintf("%s/dashboard.json", folder) : NULL;
	free(folder);
	return path;
}

static int run_dashboard(struct cli *cli, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	struct err err = { 0 };
	struct dashboard dashboard = { .cli = cli, .kubeconfig = cli->opt.engine.kubeconfig };
	const char *no_color = getenv("NO_COLOR");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		err_set(&err, ERR_TTY_NONE,
			"the dashboard needs a terminal; without one use a verb, such as sandmux ls");
		return cli_fail(cli, &err);
	}
	if (!cli_read_keymap(&err))
		return cli_fail(cli, &err);
	cli->opt.engine.on_plugin = on_plugin;
	cli->opt.engine.keeps_deleted = true;
	if (!cli_open(cli, false, &err))
		return cli_fail(cli, &err);
	char *remembered = state_path(cli);
	const struct app_opts opts = {
		.engine = cli->engine,
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.term = getenv("TERM"),
		.colorterm = getenv("COLORTERM"),
		.no_color = no_color != NULL && no_color[0] != '\0',
		.theme = cli->opt.theme,
		.no_mouse = cli->opt.no_mouse,
		.state_path = remembered,
		.on_quit = on_quit,
		.start_backend = start_backend,
		.open_engine = open_engine,
		.arg = &dashboard,
	};
	cli_on_signal(cli, on_signal, cli);
	struct app *app = app_new(cli->loop, &opts, &err);
	if (app == NULL || !app_handle_signals(app, &err)) {
		app_free(app);
		free(remembered);
		return cli_fail(cli, &err);
	}
	shown_app = app;
	cli_run_loop(cli);
	shown_app = NULL;
	control_up_cancel(dashboard.up); /* it comes up all the same */
	app_free(app);
	free(remembered);
	return cli->status;
}

const struct cli_verb cli_verb_dashboard = { "", "", "the dashboard",
	CLI_OPT_TUI | CLI_OPT_LIST, 0, 0, .run = run_dashboard };
