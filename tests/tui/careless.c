// SPDX-License-Identifier: Apache-2.0
// careless REST GRPC: the dashboard without the queue of surprises. What nobody asked for pops up as a dialog that takes
// the keyboard at once, as if it had been asked for; the control of the tests that type through it.
#include "engine/engine.h"
#include "tui/app/internal.h"
#include "tui/workspace/internal.h"

#include <locale.h>
#include <stdio.h>
#include <unistd.h>

void __wrap_workspace_surprise_push(struct workspace *workspace, struct widget_dialog *dialog);

void __wrap_workspace_surprise_push(struct workspace *workspace, struct widget_dialog *dialog)
{
	workspace->n_handling++;
	workspace_push_dialog(workspace, dialog);
	workspace->n_handling--;
}

static void on_quit(void *arg)
{
	net_loop_stop(arg);
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	setlocale(LC_CTYPE, "");
	if (argc != 3)
		return 2;
	struct net_loop *loop = net_loop_new(&err);
	const struct engine_opts engine_opts = { .connect.rest_url = argv[1],
		.connect.grpc_address = argv[2],
		.connect.mode = CONNECT_DIRECT };
	struct engine *engine = engine_new(loop, &engine_opts, &err);
	const struct app_opts opts = { .engine = engine,
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.term = "xterm-256color",
		.on_quit = on_quit,
		.arg = loop };
	struct app *app = engine ? app_new(loop, &opts, &err) : NULL;
	if (!app) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	net_loop_run(loop);
	app_free(app);
	engine_free(engine);
	net_loop_free(loop);
	return 0;
}
