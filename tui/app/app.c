// SPDX-License-Identifier: Apache-2.0
// The application: one workspace, and one client that shows it on the terminal of the program.
#include "tui/app/internal.h"

#include "engine/base/mem.h"

#include <stdlib.h>

static void on_quit(void *arg)
{
	const struct app *app = arg;
	if (app->opts.on_quit)
		app->opts.on_quit(app->opts.arg);
}

static void on_gone(void *arg)
{
	struct app *app = arg;
	if (app->opts.on_gone)
		app->opts.on_gone(app->opts.arg);
	else
		workspace_quit_now(app->workspace);
}

static bool start_backend(void *arg, void (*done)(void *done_arg, const struct err *err),
	void *done_arg, struct err *err)
{
	const struct app *app = arg;
	return app->opts.start_backend(app->opts.arg, done, done_arg, err);
}

static struct engine *open_engine(void *arg, const char *context, struct err *err)
{
	const struct app *app = arg;
	return app->opts.open_engine(app->opts.arg, context, err);
}

struct app *app_new(struct net_loop *loop, const struct app_opts *opts, struct err *err)
{
	struct app *app = x_calloc(1, sizeof *app);
	app->opts = *opts;
	const struct workspace_opts workspace = { .engine = opts->engine,
		.local_dir = opts->local_dir,
		.state_path = opts->state_path,
		.commands = app_commands,
		.n_commands = app_n_commands,
		.on_quit = on_quit,
		.start_backend = opts->start_backend ? start_backend : NULL,
		.open_engine = opts->open_engine ? open_engine : NULL,
		.arg = app };
	const struct client_opts client = { .no_color = opts->no_color,
		.theme = opts->theme,
		.no_mouse = opts->no_mouse,
		.on_gone = on_gone,
		.arg = app };
	app->workspace = workspace_new(loop, &workspace, err);
	if (app->workspace)
		app->client = client_new(loop, app->workspace, &client, err);
	if (!app->client ||
		(opts->in_fd >= 0 && !client_attach(app->client, opts->in_fd, opts->out_fd,
					     opts->term, opts->colorterm, err))) {
		app_free(app);
		return NULL;
	}
	return app;
}

void app_free(struct app *app)
{
	if (!app)
		return;
	client_free(app->client);
	workspace_free(app->workspace);
	free(app);
}

bool app_attach(struct app *app, int in_fd, int out_fd, const char *term, const char *colorterm,
	struct err *err)
{
	return client_attach(app->client, in_fd, out_fd, term, colorterm, err);
}

void app_detach(struct app *app)
{
	client_detach(app->client);
}

bool app_is_attached(const struct app *app)
{
	return client_is_attached(app->client);
}

void app_resized(struct app *app)
{
	client_resized(app->client);
}

bool app_handle_signals(struct app *app, struct err *err)
{
	return client_handle_signals(app->client, err);
}

bool app_run(struct app *app, const char *command, struct err *err)
{
	workspace_begin_input(workspace_latest(app->workspace), false);
	bool ok = workspace_command_run(app->workspace, command, err);
	workspace_end_input(app->workspace);
	return ok;
}

void app_note(struct app *app, const char *text)
{
	struct view_host *host = workspace_host(app->workspace);
	host->ops->note(host, NOTE_INFO, text);
}
