// SPDX-License-Identifier: Apache-2.0
/* The whole program in a child process, while this one is the cluster and the daemon that it talks to. */
#pragma once

#include "cli/cli.h"
#include "tests/unit/engine/cluster.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { PROGRAM_MS = 20000, PROGRAM_WORDS = 30 };

struct program {
	pid_t pid;
	int in, out_fd, err_fd;
	struct str out, err;
	int status; /* -n: signal n */
	/* before program_start(): its stdout is a pipe that somebody has made non-blocking */
	bool never_blocks;
};

void __gcov_dump(void) __attribute__((weak)); /* of a build that counts what runs */

static inline void program_child(struct cluster *c, int argc, char **argv)
{
	char *config = x_asprintf("%s/config", c->api.dir);
	setenv("HOME", c->api.dir, 1);
	setenv("XDG_CONFIG_HOME", c->api.dir, 1);
	setenv("XDG_STATE_HOME", c->api.dir, 1);
	setenv("XDG_RUNTIME_DIR", c->api.dir, 1);
	setenv("KUBECONFIG", config, 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	free(config);
	int status = cli_main(argc, argv);
	if (__gcov_dump)
		__gcov_dump();
	_exit(status); /* what our parent holds is no leak of the program's */
}

/* line: the arguments, separated by single spaces; in an argument '_' stands for a space. */
static inline void program_start(struct cluster *c, struct program *program, const char *line)
{
	int in[2], out[2], err[2];
	char *text = x_asprintf("sandmux %s", line), *argv[PROGRAM_WORDS + 1] = { 0 };
	int argc = 0;
	char *rest;
	for (char *word = strtok_r(text, " ", &rest); word != NULL;
		word = strtok_r(NULL, " ", &rest)) {
		for (char *p = word; *p; p++)
			*p = *p == '_' ? ' ' : *p;
		argv[argc++] = word;
	}
	assert_in_range(argc, 1, PROGRAM_WORDS);
	bool never_blocks = program->never_blocks;
	memset(program, 0, sizeof *program);
	assert_int_equal(
		pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC) | pipe2(err, O_CLOEXEC), 0);
	if (never_blocks)
		fcntl(out[1], F_SETFL, O_NONBLOCK);
	fflush(NULL);
	program->pid = fork();
	assert_true(program->pid >= 0);
	if (program->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(in[1]);
		/* whatever this test was started with */
		static const int standard[] = { SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTERM };
		for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
			signal(standard[i], SIG_DFL);
		program_child(c, argc, argv);
	}
	close(in[0]);
	close(out[1]);
	close(err[1]);
	free(text);
	program->in = in[1];
	program->out_fd = out[0];
	program->err_fd = err[0];
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	str_init(&program->out, 1 << 20);
	str_init(&program->err, 1 << 20);
	str_add(&program->out, "");
	str_add(&program->err, "");
}

/* False at the end. */
static inline bool program_read(int fd, struct str *into)
{
	char bytes[4096];
	ssize_t n;
	while ((n = read(fd, bytes, sizeof bytes)) > 0)
		str_add_bytes(into, bytes, (size_t)n);
	return n < 0;
}

/* One turn of the cluster's loop. True while both streams are open. */
static inline bool program_turn(struct cluster *c, struct program *program)
{
	net_loop_run_once(c->api.loop, 5);
	bool is_out = program_read(program->out_fd, &program->out);
	bool is_err = program_read(program->err_fd, &program->err);
	return is_out || is_err;
}

static inline void program_end(struct cluster *c, struct program *program)
{
	int64_t until = clock_mono_ms() + PROGRAM_MS;
	int status;
	if (program->in >= 0)
		close(program->in);
	program->in = -1;
	while (program_turn(c, program))
		if (clock_mono_ms() > until) {
			kill(program->pid, SIGKILL);
			fail_msg("it does not end: '%s' '%s'", program->out.p, program->err.p);
		}
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	program->status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	close(program->out_fd);
	close(program->err_fd);
	/* the cluster sees that its watcher is gone */
	for (size_t i = 0; i < COLLECTIONS; i++)
		API_UNTIL(&c->api, c->collections[i].watches == 0, PROGRAM_MS);
}

static inline void program_free(struct program *program)
{
	str_deinit(&program->out);
	str_deinit(&program->err);
}

/* Turns until the text is there. */
static inline void program_until(
	struct cluster *c, struct program *program, const struct str *where, const char *text)
{
	int64_t until = clock_mono_ms() + PROGRAM_MS;
	while (strstr(where->p, text) == NULL)
		if (!program_turn(c, program) || clock_mono_ms() > until) {
			kill(program->pid, SIGKILL);
			fail_msg("'%s' never came: '%s' '%s'", text, program->out.p,
				program->err.p);
		}
}

/* `out` and `err` are what is written, whole; a leading '~' asks for a part of it. NULL: whatever. */
static inline void program_check(
	const char *line, const char *stream, const char *is, const char *want)
{
	if (want == NULL)
		return;
	bool ok = want[0] == '~' ? strstr(is, want + 1) != NULL : strcmp(is, want) == 0;
	if (!ok)
		fail_msg("%s, %s:\n%s\ninstead of\n%s", line, stream, is, want);
}

static inline void program_expect(struct cluster *c, const char *line, const char *input,
	int status, const char *out, const char *err)
{
	struct program program = { 0 };
	program_start(c, &program, line);
	if (input != NULL)
		assert_int_equal(write(program.in, input, strlen(input)), strlen(input));
	program_end(c, &program);
	if (program.status != status)
		fail_msg("%s: %d instead of %d\n%s\n%s", line, program.status, status,
			program.out.p, program.err.p);
	program_check(line, "stdout", program.out.p, out);
	program_check(line, "stderr", program.err.p, err);
	program_free(&program);
}

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define SEE_HELP "; see --help\n"
#define NONE "; see sandmux ls -A\n"

/* One call of the program; out and err as for program_expect(). */
struct row {
	const char *line;
	int status;
	const char *out, *err;
};

static inline void expect_all(struct cluster *c, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		program_expect(c, rows[i].line, NULL, rows[i].status, rows[i].out, rows[i].err);
}

#define WITH_CLUSTER(test)                                                                     \
	cmocka_unit_test_setup_teardown(test, cluster_set_up, cluster_tear_down)
