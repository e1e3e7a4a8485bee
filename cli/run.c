// SPDX-License-Identifier: Apache-2.0
/* run and sh: one process in a sandbox, its streams joined to ours.
 *
 *   stdin ── read ≤ 256 KiB ── runtime_process_write ── full? wait for on_drained
 *   on_output ── run_output ── runtime_process_consumed
 *
 * How it ends, whichever comes first: its exit; a signal or the time limit, sent on as far as the daemon knows it (SIGINT,
 * SIGTERM, SIGKILL) and followed by SIGKILL after kill-grace; its connection. Returns the remote status; 124 at the time limit,
 * 125 our own failure, 126 not executable, 127 not found, 128 + n when a signal n to us ended it, 137 killed by another. */
#include "cli/cli.h"
#include "cli/verbs.h"

#include "cli/execute.h"
#include "cli/run_once.h"
#include "cli/run_output.h"
#include "cli/tty.h"
#include "engine/base/clock.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	STDIN_CHUNK_BYTES = 256 << 10,
	WINDOW_BYTES = 1 << 20,
	CTRL_D = 4,
	AGAIN_MS = 100, /* … and twice that each time, up to */
	AGAIN_MAX_MS = 2000,
	KILLED_MS = 2000, /* a killed process says its exit */
	SIGNALS_TAKEN = 2,
};

struct cli_run {
	struct cli *cli;
	const char *name; /* NULL: not given */
	const char *const *argv;
	struct cli_list env;
	char *term_env, *color_env, *lang_env;
	bool is_pty, is_raw, is_stdin_ended, is_whole;
	struct runtime *runtime;
	bool is_shell; /* useless without input */
	int64_t limit_ms;
	struct runtime_process *process;
	struct cli_run_output output;
	struct net_watch_fd *stdin_watch;
	struct net_watch_signal *on_winch;
	struct cli_tty_escape escape;
	char *held; /* a chunk that found the queue full */
	size_t held_n;

	struct net_loop_timer *limit, *grace, *again;
	int64_t began_ms, again_ms;
	int signal_number; /* the last one that asked us to end; 0 */
	bool is_overdue, is_killed, has_exit;
	int exit_code;
	struct err exit_err, input_err;
};

/* ---- the end */

static int status_of_exit(const struct cli_run *run)
{
	if (run->exit_code >= 0)
		return run->exit_code;
	return run->signal_number ? cli_signal_status(run->signal_number) : STATUS_KILLED;
}

static int fail(struct cli_run *run, const struct err *err)
{
	if (run->is_raw)
		fputc('\n', stderr); /* after what may be a prompt */
	cli_fail(run->cli, err);
	return cli_execute_status(err);
}

static int fail_overdue(struct cli_run *run)
{
	struct err err = { 0 };
	/* what never began has its own reason */
	if (run->runtime == NULL)
		err_set(&err, ERR_SANDBOX_NOT_READY,
			"%s was not ready within %lld ms; nothing was started",
			run->name ? run->name : "the sandbox", (long long)run->limit_ms);
	else if (!runtime_trouble(run->runtime, &err))
		err_set(&err, ERR_OP_TIMEOUT, "it did not end within %lld ms and was killed",
			(long long)run->limit_ms);
	fail(run, &err);
	return STATUS_OVERDUE;
}

static int fail_input(struct cli_run *run)
{
	struct err err = run->input_err;
	err_set(&err, run->input_err.code,
		"its input could not be brought to it, and it was killed: %s",
		run->input_err.msg);
	return fail(run, &err);
}

static void conclude(struct cli_run *run)
{
	cli_tty_restore();
	bool is_lost = cli_run_output_is_lost(&run->output);
	bool has_code = run->has_exit && run->exit_err.code == ERR_NONE;
	if (cli_is_structured(run->cli) && run->process != NULL &&
		(has_code || is_lost || run->is_overdue))
		cli_run_output_print(&run->output,
			has_code && !is_lost && !run->is_overdue ? run->exit_code : -1,
			clock_mono_ms() - run->began_ms);
	int status;
	if (run->is_overdue)
		status = fail_overdue(run);
	else if (is_lost)
		status = cli_run_output_fail(&run->output);
	else if (run->input_err.code != ERR_NONE && run->exit_err.code == ERR_NONE)
		status = fail_input(run);
	else if (!run->has_exit)
		status = cli_signal_status(run->signal_number ? run->signal_number : SIGKILL);
	else if (run->exit_err.code != ERR_NONE)
		status = fail(run, &run->exit_err);
	else
		status = status_of_exit(run);
	cli_finish(run->cli, status);
}

static void on_exit_event(void *arg, const struct err *err, int exit_code)
{
	struct cli_run *run = arg;
	run->has_exit = true;
	run->exit_code = exit_code;
	if (err != NULL)
		run->exit_err = *err;
	if (!cli_run_output_is_waiting(&run->output))
		conclude(run);
	else if (run->signal_number != 0) /* whoever reads us has its time too */
		net_loop_timer_arm(run->grace, KILLED_MS);
}

static void on_flushed(void *arg)
{
	struct cli_run *run = arg;
	if (run->has_exit)
		conclude(run);
}

/* Now; and if it does not say its exit, without. */
static void kill_now(struct cli_run *run)
{
	run->is_killed = true;
	runtime_process_signal(run->process, RUNTIME_SIGKILL, NULL);
	net_loop_timer_arm(run->grace, KILLED_MS);
}

static void ask_to_end(struct cli_run *run)
{
	runtime_process_signal(run->process, RUNTIME_SIGTERM, NULL);
	net_loop_timer_arm(run->grace, setting_get(SETTING_KILL_GRACE));
}

static void on_grace(void *arg)
{
	struct cli_run *run = arg;
	if (run->has_exit || run->is_killed)
		conclude(run);
	else
		kill_now(run);
}

static void on_limit(void *arg)
{
	struct cli_run *run = arg;
	if (run->has_exit || run->is_killed)
		return;
	run->is_overdue = true;
	if (run->process != NULL)
		ask_to_end(run);
	else
		conclude(run);
}

static void on_lost(void *arg)
{
	kill_now(arg);
}

static void on_output(void *arg, int stream, struct slice bytes)
{
	struct cli_run *run = arg;
	cli_run_output_take(&run->output, stream, bytes);
	runtime_process_consumed(run->process, bytes.n);
}

/* The first one is the process's, as far as the daemon knows it; the second one kills it. A terminal that is gone has nobody
 * to wait for. */
static void on_signal(void *arg, int signal_number)
{
	struct cli_run *run = arg;
	bool is_first = run->signal_number == 0;
	run->signal_number = signal_number;
	if (run->process == NULL)
		conclude(run);
	else if (!is_first || (signal_number == SIGHUP && run->is_pty))
		kill_now(run);
	else if (signal_number == SIGINT)
		runtime_process_signal(run->process, RUNTIME_SIGINT, NULL);
	else
		ask_to_end(run);
}

/* ---- stdin */

/* A terminal has no end of file but this key, which a program may miss: while it sets its terminal up, or behind a line that
 * has no end yet. */
static void on_again(void *arg)
{
	struct cli_run *run = arg;
	const char end = CTRL_D;
	runtime_process_write(run->process, (struct slice){ &end, 1 }, NULL);
	net_loop_timer_arm(run->again, run->again_ms);
	if (run->again_ms < AGAIN_MAX_MS)
		run->again_ms *= 2;
}

static void end_stdin(struct cli_run *run)
{
	run->is_stdin_ended = true;
	net_watch_fd_want(run->stdin_watch, false, false);
	if (run->is_raw) {
		on_signal(run, SIGHUP); /* the terminal is no more */
	} else if (run->is_pty) {
		run->again_ms = AGAIN_MS;
		on_again(run);
	} else {
		runtime_process_eof(run->process, NULL);
	}
}

static void on_drained(void *arg)
{
	struct cli_run *run = arg;
	const struct err *lost = runtime_process_stdin_lost(run->process);
	if (lost != NULL) { /* it would wait for what never comes */
		run->input_err = *lost;
		net_watch_fd_want(run->stdin_watch, false, false);
		kill_now(run);
		return;
	}
	if (run->held != NULL) {
		struct slice held = { run->held, run->held_n };
		if (!runtime_process_write(run->process, held, NULL))
			return;
		free(run->held);
		run->held = NULL;
	}
	if (!run->is_stdin_ended)
		net_watch_fd_want(run->stdin_watch, true, false);
}

static void send_stdin(struct cli_run *run, const char *bytes, size_t n)
{
	struct err err = { 0 };
	if (runtime_process_write(run->process, (struct slice){ bytes, n }, &err))
		return;
	net_watch_fd_want(run->stdin_watch, false, false);
	if (err.code != ERR_LIMIT_UPLOAD)
		return; /* it is ending: the exit event tells */
	run->held = x_malloc(n);
	memcpy(run->held, bytes, n);
	run->held_n = n;
}

static void on_stdin(void *arg, bool is_readable, bool is_writable)
{
	struct cli_run *run = arg;
	(void)is_writable;
	if (!is_readable)
		return;
	static char bytes[STDIN_CHUNK_BYTES]; /* one process, one stdin */
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		end_stdin(run);
		return;
	}
	if (run->is_raw && cli_tty_escape_found(&run->escape, bytes, (size_t)n)) {
		cli_tty_restore();
		fprintf(stderr, "\nsandmux: left; the process is killed\n");
		cli_finish(run->cli, STATUS_OWN_FAILURE);
		return;
	}
	send_stdin(run, bytes, (size_t)n);
}

static void on_resize(void *arg)
{
	struct cli_run *run = arg;
	int cols, rows;
	if (run->process != NULL && cli_tty_size(&cols, &rows))
		runtime_process_resize(run->process, cols, rows);
}

/* ---- start */

static void on_init(void *arg, int pid)
{
	struct cli_run *run = arg;
	(void)pid;
	if (run->is_pty)
		on_resize(run);
}

static void add_terminal_env(struct cli_run *run)
{
	const char *term = getenv("TERM"), *color = getenv("COLORTERM"), *lang = getenv("LANG");
	run->term_env = x_asprintf("TERM=%s", term && term[0] ? term : "xterm-256color");
	cli_list_add(&run->env, run->term_env);
	if (color != NULL)
		cli_list_add(&run->env, run->color_env = x_asprintf("COLORTERM=%s", color));
	cli_list_add(&run->env, run->lang_env = x_asprintf("LANG=%s", lang ? lang : "C.UTF-8"));
}

static bool start_stdin(struct cli_run *run, struct err *err)
{
	run->stdin_watch = net_watch_fd_new(run->cli->loop, STDIN_FILENO, on_stdin, run, err);
	if (run->stdin_watch == NULL)
		return false;
	if (run->is_pty)
		net_watch_fd_set_urgent(run->stdin_watch);
	runtime_process_on_drained(run->process, on_drained);
	/* without -t a terminal is not read: a script run from a shell must not eat its input */
	bool is_wanted = run->is_pty || !isatty(STDIN_FILENO);
	if (run->cli->opt.no_stdin)
		run->is_stdin_ended = true;
	if (is_wanted && !run->cli->opt.no_stdin)
		net_watch_fd_want(run->stdin_watch, true, false);
	else if (!run->is_pty)
		runtime_process_eof(run->process, NULL);
	return true;
}

static void start(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct cli_run *run = arg;
	struct err err = { 0 };
	int cols = 0, rows = 0;
	if (run->is_pty && !cli_tty_size(&cols, &rows)) {
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
		/* what a pipe takes at once; a person at a terminal wants Ctrl-C to be soon */
		.window_bytes = run->is_pty ? 0 : WINDOW_BYTES,
		.on_init = on_init,
		.on_output = on_output,
		.on_exit = on_exit_event,
		.arg = run,
	};
	run->process = runtime_process_start(runtime, &opts, &err);
	if (run->process == NULL || !start_stdin(run, &err)) {
		cli_finish(cli, fail(run, &err));
		return;
	}
	if (run->is_pty && !cli->opt.no_stdin && isatty(STDIN_FILENO))
		run->is_raw = cli_tty_raw();
	if (run->is_raw)
		engine_plugins_may_ask(cli->engine, false);
	run->output.is_terminal = run->is_raw;
}

static void run_init(struct cli_run *run)
{
	struct cli *cli = run->cli;
	struct cli_run_output *output = &run->output;
	run->began_ms = clock_mono_ms();
	run->on_winch = net_watch_signal_new(cli->loop, SIGWINCH, on_resize, run, NULL);
	run->limit = net_loop_timer_new(cli->loop, on_limit, run);
	run->grace = net_loop_timer_new(cli->loop, on_grace, run);
	run->again = net_loop_timer_new(cli->loop, on_again, run);
	output->cli = cli;
	output->collects = cli_is_structured(cli);
	output->limit_bytes = cli->opt.output_limit_bytes;
	if (output->limit_bytes == 0 && output->collects)
		output->limit_bytes = setting_get(SETTING_OUTPUT_LIMIT);
	output->on_lost = on_lost;
	output->on_flushed = on_flushed;
	output->arg = run;
	cli_run_output_init(output);
	cli_on_signal(cli, on_signal, run);
	fatal_signal_set_patience(SIGNALS_TAKEN);
}

static void run_deinit(struct cli_run *run)
{
	cli_tty_restore();
	cli_on_signal(run->cli, NULL, NULL);
	net_watch_signal_free(run->on_winch);
	net_watch_fd_free(run->stdin_watch);
	runtime_process_free(run->process);
	runtime_unref(run->runtime);
	cli_run_output_deinit(&run->output);
	net_loop_timer_free(run->limit);
	net_loop_timer_free(run->grace);
	net_loop_timer_free(run->again);
	free(run->held);
	free(run->env.items);
	free(run->term_env);
	free(run->color_env);
	free(run->lang_env);
}

static void start_any(struct cli *cli, struct runtime *runtime, void *arg)
{
	struct cli_run *run = arg;
	run->runtime = runtime_ref(runtime);
	run->is_whole = !run->is_pty && !run->is_shell &&
			!runtime_can(runtime, RUNTIME_CAN_PROCESSES) &&
			runtime_can(runtime, RUNTIME_CAN_EXECUTE);
	int64_t left_ms = run->began_ms + run->limit_ms - clock_mono_ms();
	if (run->is_whole)
		cli_execute(cli, runtime, run->argv,
			run->limit_ms == 0 ? 0
			: left_ms > 1      ? left_ms
					   : 1);
	else
		start(cli, runtime, arg);
}

/* limit_ms: of all of it, from now; 0: none */
static int run_process(struct cli *cli, const char *name, const char *const *argv, bool is_pty,
	bool is_shell, int64_t limit_ms)
{
	struct cli_run run = { .cli = cli,
		.name = name,
		.argv = argv,
		.is_pty = is_pty,
		.is_shell = is_shell,
		.limit_ms = limit_ms };
	struct cli_once once = { 0 };
	struct err err = { 0 };
	/* an early failure (name, cluster) is ours too */
	cli->status = STATUS_OWN_FAILURE;
	if ((cli->opt.rm && !cli_once_read(cli, &once, &err)) || !cli_open(cli, true, &err)) {
		cli_fail(cli, &err);
		cli_create_wish_deinit(&once.wish);
		return STATUS_OWN_FAILURE;
	}
	run_init(&run);
	if (limit_ms > 0)
		net_loop_timer_arm(run.limit, limit_ms);
	int status = cli->opt.rm ? cli_once_run(&once, start_any, &run)
				 : cli_with_runtime(cli, name, start_any, &run);
	bool was_started = run.process != NULL || run.is_whole;
	run_deinit(&run);
	cli_once_end(&once);
	return was_started || status >= STATUS_OVERDUE ? status : STATUS_OWN_FAILURE;
}

static const char *const *rest_of(char **argv)
{
	const char *const *rest;
	memcpy(&rest, &argv, sizeof rest);
	return rest;
}

static int run_run(struct cli *cli, int argc, char **argv)
{
	int skip = cli_is_direct(cli) || cli->opt.rm ? 0 : 1;
	if (!cli->opt.rm && cli_create_is_wished(&cli->opt))
		return cli_fail_usage(cli, "run: options of a create go with --rm only");
	if (argc <= skip)
		return cli_fail_usage(
			cli, "usage: sandmux run %s[OPTIONS] -- ARGV…", skip ? "NAME " : "");
	int64_t limit_ms = cli->opt.timeout_ms;
	cli->opt.timeout_ms = 0; /* it is about all of it, not about getting ready */
	return run_process(cli, skip ? argv[0] : NULL, rest_of(argv + skip), cli->opt.tty,
		false, limit_ms);
}

static int run_sh(struct cli *cli, int argc, char **argv)
{
	static const char *const login[] = { "/bin/sh", "-c",
		"command -v bash >/dev/null 2>&1 && exec bash -l || exec sh -l", NULL };
	int skip = cli_is_direct(cli) || cli->opt.rm ? 0 : 1;
	if (!cli->opt.rm && cli_create_is_wished(&cli->opt))
		return cli_fail_usage(cli, "sh: options of a create go with --rm only");
	if (argc < skip)
		return cli_fail_usage(cli, "usage: sandmux sh NAME [-- ARGV…]");
	const char *const *command = argc > skip ? rest_of(argv + skip) : login;
	/* a script on stdin gets a shell without a terminal, as from ssh */
	bool is_pty = cli->opt.tty || isatty(STDIN_FILENO);
	return run_process(cli, skip ? argv[0] : NULL, command, is_pty, true, 0);
}

const struct cli_verb cli_verb_run = { "run", "NAME [-e K=V]… [--cwd DIR] [-t] -- ARGV…",
	"a process; its status is ours; no shell is added",
	CLI_OPT_RUN | CLI_OPT_CREATE | CLI_OPT_TIMEOUT, 0, -1, .run = run_run,
	.examples =
		"  sandmux run box -- sh -c 'uname -s; exit 7'\n"
		"  sandmux run box --timeout 30s -o json -- make test\n"
		"  sandmux run --rm --pool workers -- python3 -c 'print(6 * 7)'\n"
		"  # a loop keeps its input\n"
		"  sandmux ls -o name | while read -r name; do sandmux run --no-stdin \"$name\" -- uname -n; "
		"done\n",
	.aliases = "exec" };
const struct cli_verb cli_verb_sh = { "sh", "NAME [-- ARGV…]",
	"an interactive shell; Enter ~ . leaves at once",
	CLI_OPT_RUN | CLI_OPT_CREATE | CLI_OPT_TIMEOUT, 0, -1, .run = run_sh,
	.examples = "  sandmux sh box\n"
		    "  sandmux sh box -- python3 -q\n" };
