// SPDX-License-Identifier: Apache-2.0
// attach_host REST GRPC FIFO: the dashboard in a process that outlives its terminal. It begins on its standard input
// and output; when that terminal goes it lives on, and takes the terminal whose path comes through the FIFO. What the
// session host will do, without the host.
#include "engine/engine.h"
#include "engine/net/watch.h"
#include "tui/app/app.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct host {
	struct net_loop *loop;
	struct app *app;
	struct net_watch_fd *watch;
	int fifo;
};

static void on_quit(void *arg)
{
	struct host *host = arg;
	net_loop_stop(host->loop);
}

static void on_gone(void *arg)
{
	(void)arg; /* the point: nothing ends */
}

static void on_path(void *arg, bool is_readable, bool is_writable)
{
	struct host *host = arg;
	char path[256];
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(host->fifo, path, sizeof path - 1);
	if (n <= 0)
		return;
	path[n] = 0;
	path[strcspn(path, "\n")] = 0;
	struct err err;
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || !app_attach(host->app, fd, fd, "xterm-256color", NULL, &err))
		fprintf(stderr, "cannot attach to %s\n", path);
}

int main(int argc, char **argv)
{
	struct host host = { 0 };
	struct err err = { 0 };
	setlocale(LC_CTYPE, "");
	signal(SIGHUP, SIG_IGN);
	if (argc != 4)
		return 2;
	host.loop = net_loop_new(&err);
	struct engine_opts engine_opts = { .connect.rest_url = argv[1],
		.connect.grpc_address = argv[2],
		.connect.mode = CONNECT_DIRECT };
	struct engine *engine = engine_new(host.loop, &engine_opts, &err);
	struct app_opts opts = { .engine = engine,
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.term = "xterm-256color",
		.on_quit = on_quit,
		.on_gone = on_gone,
		.arg = &host };
	host.app = engine ? app_new(host.loop, &opts, &err) : NULL;
	/* read and write: a FIFO without a writer would be readable for ever */
	host.fifo = open(argv[3], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	host.watch = host.app && host.fifo >= 0
			     ? net_watch_fd_new(host.loop, host.fifo, on_path, &host, &err)
			     : NULL;
	if (!host.watch) {
		fprintf(stderr, "%s %s\n", err.msg, strerror(errno));
		return 1;
	}
	net_watch_fd_want(host.watch, true, false);
	net_loop_run(host.loop);
	net_watch_fd_free(host.watch);
	app_free(host.app);
	engine_free(engine);
	net_loop_free(host.loop);
	return 0;
}
