// SPDX-License-Identifier: Apache-2.0
/* run and sh: one process in a sandbox, its streams joined to ours.
 *
 *   stdin ── read ≤ 32 KiB ── runtime_process_write ── full? wait for on_drained
 *   on_output ── write to stdout/stderr (blocking) ── runtime_process_consumed
 *
 * Returns the remote status; 125 our own failure, 126 not executable, 127 not found, 137 killed. */
#include "cli/verbs.h"

#include "cli/execute.h"
#include "cli/tty.h"
#include "engine/base/mem.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STATUS_OWN_FAILURE = 125,
	STATUS_KILLED = 137,
	STDIN_CHUNK_BYTES = 32 << 10,
	CTRL_D = 4,
};

struct run {
	struct cli *cli;
	const char *const *argv;
	struct cli_list env;
	char *term_env, *color_env, *lang_env;
	bool is_pty, is_raw, is_stdin_ended, is_output_lost, is_started, is_whole;
	struct runtime_process *process;
	struct watch_fd *stdin_watch;
	struct watch_signal *on_int, *on_term, *on_hup, *on_winch;
	struct tty_escape escape;
	int interrupts;
	char *held; /* a chunk that found the queue full */
	size_t held_n;
};

static void finish(struct run *run, int status)
{
	tty_restore();
	cli_finish(run->cli, status);
}

static void fail(struct run *run, const struct err *err)
{
	tty_restore();
	if (run->is_raw)
		fputc('\n', stderr); /* after what may be a prompt */
	cli_fail(run->cli, err);
	cli_finish(run->cli, cli_execute_status(err));
}

/* ---- output */

static bool write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t written = write(fd, bytes, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		n -= (size_t)written;
	}
	return true;
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	struct run *run = arg;
	int fd = stream == 2 ? STDERR_FILENO : STDOUT_FILENO;
	/* whoever read our stdout is gone: the process would write for nobody */
	if (!run->is_output_lost && !write_all(fd, bytes.p, bytes.n)) {
		run->is_output_lost = true;
		runtime_process_signal(run->process, RUNTIME_SIGKILL, NULL);
	}
	runtime_process_consumed(run->process, bytes.n);
}

static void on_exit_event(void *arg, const struct err *err, int exit_code)
{
	struct run *run = arg;
	if (err != NULL)
		fail(run, err);
	else if (run->is_output_lost)
		finish(run, STATUS_OWN_FAILURE);
	else
		finish(run, exit_code < 0 ? STATUS_KILLED : exit_code);
}

/* ---- stdin */

static void end_stdin(struct run *run)
{
	run->is_stdin_ended = true;
	watch_fd_want(run->stdin_watch, false, false);
	if (run->is_pty) {
		/* a terminal has no end of file but this */
		const char end = CTRL_D;
		runtime_process_write(run->process, (struct slice){ &end, 1 }, NULL);
	} else {
		runtime_process_eof(run->process, NULL);
	}
}

static void on_drained(void *arg)
{
	struct run *run = arg;
	if (run->held != NULL) {
		struct slice held = { run->held, run->held_n };
		if (!runtime_process_write(run->process, held, NULL))
			return;
		free(run->held);
		run->held = NULL;
	}
	if (!run->is_stdin_ended)
		watch_fd_want(run->stdin_watch, true, false);
}

static void send_stdin(struct run *run, const char *bytes, size_t n)
{
	struct err err = { 0 };
	if (runtime_process_write(run->process, (struct slice){ bytes, n }, &err))
		return;
	watch_fd_want(run->stdin_watch, false, false);
	if (err.code != ERR_LIMIT_UPLOAD)
		return; /* it is ending: the exit event tells */
	run->held = x_malloc(n);
	memcpy(run->held, bytes, n);
	run->held_n = n;
}

static void on_stdin(void *arg, bool is_readable, bool is_writable)
{
	struct run *run = arg;
	(void)is_writable;
	if (!is_readable)
		return;
	char bytes[STDIN_CHUNK_BYTES];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		end_stdin(run);
		return;
	}
	if (run->is_raw && tty_escape_found(&run->escape, bytes, (size_t)n)) {
		tty_restore();
		fprintf(stderr, "\nsandmux: left; the process is killed\n");
		runtime_process_signal(run->process, RUNTIME_SIGKILL, NULL);
		cli_finish(run->cli, STATUS_OWN_FAILURE);
		return;
	}
	send_stdin(run, bytes, (size_t)n);
}

/* ---- signals */

static void on_interrupt(void *arg)
{
	struct run *run = arg;
	if (run->process == NULL || run->interrupts >= 2)
		finish(run, 128 + SIGINT);
	else
		runtime_process_signal(run->process,
			run->interrupts == 0 ? RUNTIME_SIGINT : RUNTIME_SIGKILL, NULL);
	run->interrupts++;
}

static void on_terminate(void *arg)
{
	struct run *run = arg;
	if (run->process == NULL || run->interrupts > 0)
		finish(run, 128 + SIGTERM);
	else
		runtime_process_signal(run->process, RUNTIME_SIGTERM, NULL);
	run->interrupts++;
}

static void on_hangup(void *arg)
{
	struct run *run = arg;
	if (run->process != NULL)
		runtime_process_signal(run->process, RUNTIME_SIGKILL, NULL);
	finish(run, 128 + SIGHUP);
}

static void on_resize(void *arg)
{
	struct run *run = arg;
	int cols, rows;
	if (run->process != NULL && tty_size(&cols, &rows))
		runtime_process_resize(run->process, cols, rows);
}

/* ---- start */

static void on_init(void *arg, int pid)
{
	struct run *run = arg;
	(void)pid;
	run->is_started = true;
	if (run->is_pty)
		on_resize(run);
}

static void add_terminal_env(struct run *run)
{
	const char *term = getenv("TERM"), *color = getenv("COLORTERM"), *lang = getenv("LANG");
	run->term_env = x_asprintf("TERM=%s", term && term[0] ? term : "xterm-256color");
	cli_list_add(&run->env, run->term_env);
	if (color != NULL)
		cli_list_add(&run->env, run->color_env = x_asprintf("COLORTERM=%s", color));
	cli_list_add(&run->env, run->lang_env = x_asprintf("LANG=%s", lang ? lang : "C.UTF-8"));
}

static bool start_stdin(struct run *run, struct err *err)
{
	run->stdin_watch = watch_fd_new(run->cli->loop, STDIN_FILENO, on_stdin, run, err);
	if (run->stdin_watch == NULL)
		return false;
	runtime_process_on_drained(run->process, on_drained);
	/* without -t a terminal is not read: a script run from a shell must not eat its input */
	bool is_wanted = run->is_pty || !isatty(STDIN_FILENO);
	if (is_wanted)
		watch_fd_want(run->stdin_watch, true, false);
	else
		runtime_process_eof(run->process, NULL);
	return true;
}

static void start(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct run *run = arg;
	struct err err = { 0 };
	int cols = 0, rows = 0;
	if (run->is_pty && !tty_size(&cols, &rows)) {
		cols = 80;
		rows = 24;
	}
	if (run->is_pty)
		add_terminal_env(run);
	for (size_t i = 0; i < cli->opt.env.n; i++)
		cli_list_add(&run->env, cli->opt.env.items[i]);
	const struct runtime_start_opts opts = {
		.argv = run->argv,
		.env = run->env.items,
		.cwd = cli->opt.cwd,
		.pty_cols = cols,
		.pty_rows = rows,
		.init_timeout_ms = cli->opt.timeout_given ? cli->opt.timeout_ms : 0,
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_event,
		.arg = run,
	};
	run->process = runtime_process_start(runtime, &opts, &err);
	if (run->process == NULL || !start_stdin(run, &err)) {
		fail(run, &err);
		return;
	}
	if (run->is_pty && isatty(STDIN_FILENO))
		run->is_raw = tty_raw();
}

static void watch_signals(struct run *run)
{
	struct loop *loop = run->cli->loop;
	run->on_int = watch_signal_new(loop, SIGINT, on_interrupt, run, NULL);
	run->on_term = watch_signal_new(loop, SIGTERM, on_terminate, run, NULL);
	run->on_hup = watch_signal_new(loop, SIGHUP, on_hangup, run, NULL);
	run->on_winch = watch_signal_new(loop, SIGWINCH, on_resize, run, NULL);
}

static void run_deinit(struct run *run)
{
	tty_restore();
	watch_signal_free(run->on_int);
	watch_signal_free(run->on_term);
	watch_signal_free(run->on_hup);
	watch_signal_free(run->on_winch);
	watch_fd_free(run->stdin_watch);
	runtime_process_free(run->process);
	free(run->held);
	free(run->env.items);
	free(run->term_env);
	free(run->color_env);
	free(run->lang_env);
}

/* The signals can be watched only once the loop is there, so this runs as the verb's first step. */
static void start_with_signals(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct run *run = arg;
	run->is_whole = !run->is_pty && !runtime_can(runtime, RUNTIME_CAN_PROCESSES) &&
			runtime_can(runtime, RUNTIME_CAN_EXECUTE);
	if (run->is_whole) {
		cli_execute(cli, runtime, run->argv);
		return;
	}
	watch_signals(arg);
	start(cli, runtime, arg);
}

static int run_process(struct cli *cli, const char *name, const char *const *argv, bool is_pty)
{
	struct run run = { .cli = cli, .argv = argv, .is_pty = is_pty };
	/* an early failure (name, cluster) is ours too */
	cli->status = STATUS_OWN_FAILURE;
	int status = cli_with_runtime(cli, name, start_with_signals, &run);
	bool was_started = run.process != NULL || run.is_whole;
	run_deinit(&run);
	return was_started || status > STATUS_OWN_FAILURE ? status : STATUS_OWN_FAILURE;
}

static const char *const *rest_of(char **argv)
{
	const char *const *rest;
	memcpy(&rest, &argv, sizeof rest);
	return rest;
}

static int run_run(struct cli *cli, int argc, char **argv)
{
	int skip = cli_is_direct(cli) ? 0 : 1;
	if (argc <= skip)
		return cli_fail_usage(
			cli, "usage: sandmux run %s[OPTIONS] -- ARGV…", skip ? "NAME " : "");
	return run_process(cli, skip ? argv[0] : NULL, rest_of(argv + skip), cli->opt.tty);
}

static int run_sh(struct cli *cli, int argc, char **argv)
{
	static const char *const login[] = { "/bin/sh", "-c",
		"command -v bash >/dev/null 2>&1 && exec bash -l || exec sh -l", NULL };
	int skip = cli_is_direct(cli) ? 0 : 1;
	if (argc < skip)
		return cli_fail_usage(cli, "usage: sandmux sh NAME [-- ARGV…]");
	const char *const *command = argc > skip ? rest_of(argv + skip) : login;
	return run_process(cli, skip ? argv[0] : NULL, command, true);
}

const struct cli_verb cli_verb_run = { "run", "NAME [-e K=V]… [--cwd DIR] [-t] -- ARGV…",
	"a process; its status is ours; no shell is added", CLI_OPT_RUN | CLI_OPT_TIMEOUT, 0,
	-1, run_run };
const struct cli_verb cli_verb_sh = { "sh", "NAME [-- ARGV…]",
	"an interactive shell; Enter ~ . leaves at once", CLI_OPT_RUN | CLI_OPT_TIMEOUT, 0, -1,
	run_sh };
