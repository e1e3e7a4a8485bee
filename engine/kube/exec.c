// SPDX-License-Identifier: Apache-2.0
/* One run of a plugin:
 *
 *   posix_spawn (stdin /dev/null, own process group; or our terminal and group, if it may ask) ── stdout, stderr pipes on the loop
 *      └─ both at their end ─> waitpid polled ─> parse ─> ready
 *      └─ 60 s, or too much output ─> TERM, 2 s later KILL ─> ready with an error
 *
 * waitpid is polled by a timer (it is over within milliseconds after both pipes ended), so that no SIGCHLD
 * handler is needed that others would have to share. */
#include "engine/kube/exec.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/safe_text.h"
#include "engine/base/settings.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	KILL_AFTER_MS = 2000,
	POLL_MS = 5,
	MAX_OUTPUT_BYTES = 1 << 20,
	MAX_STDERR_BYTES = 4 << 10,
	MAX_HINTS_AN_HOUR = 10,
	SLOW_MS = 1000, /* until it is said that it is waited for */
};

extern char **environ;

struct kube_outlet { /* one pipe of the plugin */
	int fd;
	struct net_watch_fd *watch;
	struct str text;
	bool is_open;
};

struct kube_exec {
	struct net_loop *loop;
	const struct kube_exec_spec *spec;
	const struct kube_plugin_host *host;
	struct kube_exec_answer answer;
	bool has_answer;
	pid_t pid; /* 0: not running */
	struct kube_outlet out, errs;
	struct net_loop_timer *deadline, *poll, *slow;
	size_t said;    /* of its stderr */
	bool is_asking; /* it has our terminal */
	bool is_killed, is_overdue, is_flooded;
	void (*ready)(void *arg, const struct err *err);
	void *arg;
	int64_t hints_since_ms;
	int hints;
};

/* ---- spawning */

static char *exec_info(const struct kube_exec_spec *spec, bool is_interactive)
{
	return x_asprintf(
		"KUBERNETES_EXEC_INFO={\"kind\":\"ExecCredential\",\"apiVersion\":\"%s\","
		"\"spec\":{\"interactive\":%s%s%s}}",
		spec->api_version, is_interactive ? "true" : "false",
		spec->cluster_info ? ",\"cluster\":" : "",
		spec->cluster_info ? spec->cluster_info : "");
}

/* Ours, without what the spec replaces, then the spec's. Strings after `own` are to be freed. */
static char **make_environment(
	const struct kube_exec_spec *spec, bool is_interactive, size_t *own)
{
	size_t n = 0, n_old = 0;
	while (environ[n_old] != NULL)
		n_old++;
	char **env = x_calloc(n_old + spec->n_env + 2, sizeof *env);
	for (size_t i = 0; i < n_old; i++) {
		size_t name = strcspn(environ[i], "=");
		bool replaced = strncmp(environ[i], "KUBERNETES_EXEC_INFO=", 21) == 0;
		for (size_t j = 0; j < spec->n_env && !replaced; j++)
			replaced = strlen(spec->env[j].key) == name &&
				   strncmp(environ[i], spec->env[j].key, name) == 0;
		if (!replaced)
			env[n++] = environ[i];
	}
	*own = n;
	for (size_t i = 0; i < spec->n_env; i++)
		env[n++] = x_asprintf("%s=%s", spec->env[i].key, spec->env[i].value);
	env[n++] = exec_info(spec, is_interactive);
	return env;
}

static int spawn(struct kube_exec *exec, int out, int errs)
{
	const struct kube_exec_spec *spec = exec->spec;
	size_t n_args = 0, own;
	while (spec->args[n_args] != NULL)
		n_args++;
	char **argv = x_calloc(n_args + 2, sizeof *argv);
	argv[0] = spec->command;
	for (size_t i = 0; i < n_args; i++)
		argv[i + 1] = spec->args[i];
	char **env = make_environment(spec, exec->is_asking, &own);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, standard;
	sigemptyset(&none);
	sigemptyset(&standard);
	const int reset[] = { SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGTTIN, SIGTTOU,
		SIGCHLD, SIGWINCH };
	for (size_t i = 0; i < sizeof reset / sizeof *reset; i++)
		sigaddset(&standard, reset[i]);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (!exec->is_asking) {
		posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, errs, 2);
	}
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &standard);
	posix_spawnattr_setpgroup(&attr, 0); /* TERM and KILL reach its children too */
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	/* another group than ours could not read the terminal */
	if (!exec->is_asking)
		flags |= POSIX_SPAWN_SETPGROUP;
	posix_spawnattr_setflags(&attr, flags);
	int failed = posix_spawnp(&exec->pid, spec->command, &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	for (char **p = env + own; *p != NULL; p++)
		x_free_secret(*p);
	free(env);
	free(argv);
	if (failed != 0)
		exec->pid = 0;
	return failed;
}

/* ---- the run */

static void outlet_close(struct kube_outlet *outlet)
{
	net_watch_fd_free(outlet->watch);
	outlet->watch = NULL;
	if (outlet->is_open)
		close(outlet->fd);
	outlet->is_open = false;
}

static void outlet_wipe(struct kube_outlet *outlet)
{
	outlet_close(outlet);
	if (outlet->text.n > 0)
		explicit_bzero(outlet->text.p, outlet->text.n);
	str_deinit(&outlet->text);
}

static void send_signal(const struct kube_exec *exec, int number)
{
	if (exec->pid > 0)
		kill(exec->is_asking ? exec->pid : -exec->pid, number);
}

static void kill_plugin(struct kube_exec *exec)
{
	send_signal(exec, exec->is_killed ? SIGKILL : SIGTERM);
	exec->is_killed = true;
	net_loop_timer_arm(exec->deadline, KILL_AFTER_MS);
}

static void finish(struct kube_exec *exec, int status)
{
	struct err err = { 0 };
	const struct kube_exec_spec *spec = exec->spec;
	exec->pid = 0;
	net_loop_timer_disarm(exec->deadline);
	net_loop_timer_disarm(exec->slow);
	outlet_close(&exec->out);
	outlet_close(&exec->errs);
	if (exec->errs.text.n > 0) {
		safe_text_redact(exec->errs.text.p);
		LOG("kube", LOG_DEBUG, "exec plugin %s: %s", kube_exec_name(spec),
			exec->errs.text.p);
	}
	if (exec->is_overdue) {
		err_set(&err, ERR_CONFIG_EXEC_PLUGIN, "plugin %s did not end within %lld s",
			kube_exec_name(spec),
			(long long)setting_get(SETTING_EXEC_PLUGIN_TIMEOUT) / 1000);
	} else if (exec->is_flooded) {
		kube_exec_bad(spec, &err, "it wrote more than 1 MiB");
	} else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		if (WIFSIGNALED(status))
			err_set(&err, ERR_CONFIG_EXEC_PLUGIN, "plugin %s died of signal %d",
				kube_exec_name(spec), WTERMSIG(status));
		else
			err_set(&err, ERR_CONFIG_EXEC_PLUGIN,
				"plugin %s failed with status %d (its messages are in the log)",
				kube_exec_name(spec), WEXITSTATUS(status));
	} else {
		struct kube_exec_answer answer;
		struct slice output = { exec->out.text.p, exec->out.text.n };
		if (kube_exec_parse(spec, output, &answer, &err)) {
			kube_exec_answer_deinit(&exec->answer);
			exec->answer = answer;
			exec->has_answer = true;
		}
	}
	outlet_wipe(&exec->out);
	outlet_wipe(&exec->errs);
	void (*ready)(void *, const struct err *) = exec->ready;
	exec->ready = NULL;
	if (ready != NULL)
		ready(exec->arg, err.code != ERR_NONE ? &err : NULL);
}

static void on_poll(void *arg)
{
	struct kube_exec *exec = arg;
	int status = 0;
	pid_t ended = waitpid(exec->pid, &status, WNOHANG);
	if (ended == 0) {
		net_loop_timer_arm(exec->poll, POLL_MS);
		return;
	}
	if (ended < 0)
		status = 0x7f00; /* somebody else reaped it: we cannot know, so it failed */
	finish(exec, status);
}

static void on_deadline(void *arg)
{
	struct kube_exec *exec = arg;
	if (!exec->is_killed)
		exec->is_overdue = true;
	kill_plugin(exec);
	/* a child of the plugin may hold the pipes open for ever */
	outlet_close(&exec->out);
	outlet_close(&exec->errs);
	net_loop_timer_arm(exec->poll, POLL_MS);
}

static void say(const struct kube_exec *exec, const char *text)
{
	if (exec->host->say != NULL && text[0] != '\0')
		exec->host->say(exec->host->arg, text);
}

static void on_slow(void *arg)
{
	struct kube_exec *exec = arg;
	char *text =
		x_asprintf("waiting for the credential plugin %s", kube_exec_name(exec->spec));
	say(exec, text);
	free(text);
}

/* Whole lines of its stderr, for who waits: where to log in, what to type there; not what looks like a secret. */
static void say_lines(struct kube_exec *exec)
{
	const struct str *text = &exec->errs.text;
	const char *end;
	while ((end = memchr(text->p + exec->said, '\n', text->n - exec->said)) != NULL) {
		char *line =
			x_strndup(text->p + exec->said, (size_t)(end - text->p) - exec->said);
		exec->said = (size_t)(end - text->p) + 1;
		safe_text_redact(line);
		say(exec, line);
		x_free_secret(line);
	}
}

static void read_outlet(struct kube_exec *exec, struct kube_outlet *outlet)
{
	char bytes[8192];
	ssize_t n = read(outlet->fd, bytes, sizeof bytes);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		str_add_bytes(&outlet->text, bytes, (size_t)n);
		explicit_bzero(bytes, (size_t)n);
		if (outlet == &exec->errs)
			say_lines(exec);
		if (outlet == &exec->out && outlet->text.truncated && !exec->is_killed) {
			exec->is_flooded = true;
			kill_plugin(exec);
		}
		return;
	}
	outlet_close(outlet);
	if (!exec->out.is_open && !exec->errs.is_open)
		net_loop_timer_arm(exec->poll, 0);
}

static void on_out(void *arg, bool is_readable, bool is_writable)
{
	struct kube_exec *exec = arg;
	(void)is_writable;
	if (is_readable)
		read_outlet(exec, &exec->out);
}

static void on_errs(void *arg, bool is_readable, bool is_writable)
{
	struct kube_exec *exec = arg;
	(void)is_writable;
	if (is_readable)
		read_outlet(exec, &exec->errs);
}

static bool outlet_open(struct kube_exec *exec, struct kube_outlet *outlet, size_t max_bytes,
	net_watch_fd_fn *fn, int *child_end, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	outlet->fd = ends[0];
	outlet->is_open = true;
	*child_end = ends[1];
	str_init(&outlet->text, max_bytes);
	outlet->watch = net_watch_fd_new(exec->loop, outlet->fd, fn, exec, err);
	if (outlet->watch == NULL)
		return false;
	net_watch_fd_want(outlet->watch, true, false);
	return true;
}

static void spawn_err(struct kube_exec *exec, int failed, struct err *err)
{
	const struct kube_exec_spec *spec = exec->spec;
	int64_t now = clock_mono_ms();
	if (now - exec->hints_since_ms > 3600 * 1000) {
		exec->hints_since_ms = now;
		exec->hints = 0;
	}
	bool show = failed == ENOENT && spec->install_hint && exec->hints < MAX_HINTS_AN_HOUR;
	char *hint = show ? safe_text_dup(spec->install_hint, 300) : NULL;
	exec->hints += show;
	err_set(err, ERR_CONFIG_EXEC_PLUGIN, "plugin %s: %s%s%s", kube_exec_name(spec),
		failed == ENOENT ? "no such program" : strerror(failed), hint ? "; " : "",
		hint ? hint : "");
	free(hint);
}

bool kube_exec_run(struct kube_exec *exec, void (*ready)(void *arg, const struct err *err),
	void *arg, struct err *err)
{
	if (exec->pid > 0)
		return true;
	exec->is_asking = exec->host->may_ask &&
			  exec->spec->interactive != KUBE_INTERACTIVE_NEVER &&
			  isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
	if (exec->spec->interactive == KUBE_INTERACTIVE_ALWAYS && !exec->is_asking)
		return kube_exec_bad(exec->spec, err,
			"it wants to ask on a terminal (interactiveMode: Always): log in first, "
			"with kubectl or sandmux ls");
	int out = -1, errs = -1;
	bool ok = outlet_open(exec, &exec->out, MAX_OUTPUT_BYTES, on_out, &out, err) &&
		  (exec->is_asking || outlet_open(exec, &exec->errs, MAX_STDERR_BYTES, on_errs,
					      &errs, err));
	exec->said = 0;
	if (ok) {
		int failed = spawn(exec, out, errs);
		ok = failed == 0;
		if (!ok)
			spawn_err(exec, failed, err);
	}
	if (out >= 0)
		close(out);
	if (errs >= 0)
		close(errs);
	if (!ok) {
		outlet_wipe(&exec->out);
		outlet_wipe(&exec->errs);
		return false;
	}
	exec->is_killed = exec->is_overdue = exec->is_flooded = false;
	exec->ready = ready;
	exec->arg = arg;
	if (exec->is_asking) /* a person takes the time that a person takes */
		return true;
	net_loop_timer_arm(exec->deadline, setting_get(SETTING_EXEC_PLUGIN_TIMEOUT));
	net_loop_timer_arm(exec->slow, SLOW_MS);
	return true;
}

struct kube_exec *kube_exec_new(struct net_loop *loop, const struct kube_exec_spec *spec,
	const struct kube_plugin_host *host)
{
	struct kube_exec *exec = x_calloc(1, sizeof *exec);
	exec->loop = loop;
	exec->spec = spec;
	exec->host = host;
	str_init(&exec->out.text, MAX_OUTPUT_BYTES);
	str_init(&exec->errs.text, MAX_STDERR_BYTES);
	exec->deadline = net_loop_timer_new(loop, on_deadline, exec);
	exec->poll = net_loop_timer_new(loop, on_poll, exec);
	exec->slow = net_loop_timer_new(loop, on_slow, exec);
	return exec;
}

void kube_exec_free(struct kube_exec *exec)
{
	if (exec == NULL)
		return;
	if (exec->pid > 0) {
		send_signal(exec, SIGKILL);
		waitpid(exec->pid, NULL, 0);
	}
	outlet_wipe(&exec->out);
	outlet_wipe(&exec->errs);
	net_loop_timer_free(exec->deadline);
	net_loop_timer_free(exec->poll);
	net_loop_timer_free(exec->slow);
	kube_exec_answer_deinit(&exec->answer);
	free(exec);
}

const struct kube_exec_answer *kube_exec_answer(const struct kube_exec *exec)
{
	if (!exec->has_answer)
		return NULL;
	int64_t expires = exec->answer.expires_wall_ms;
	return expires == 0 || clock_wall_ms() < expires ? &exec->answer : NULL;
}

bool kube_exec_is_running(const struct kube_exec *exec)
{
	return exec->pid > 0;
}

void kube_exec_forget(struct kube_exec *exec)
{
	exec->has_answer = false;
}
