// SPDX-License-Identifier: Apache-2.0
/* Opening the engine for the chosen context, and the common shape of verbs that talk to one sandbox. */
#include "cli/cli.h"

#include "engine/base/clock.h"
#include "engine/base/fatal_signal.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/base/settings.h"
#include "local/control/control.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SETTLE_MS = 5000 };

bool cli_is_direct(const struct cli *cli)
{
	return connect_is_direct(&cli->opt.engine.connect);
}

static bool is_configured(const struct engine_opts *opts)
{
	const char *list = getenv("KUBECONFIG"); /* empty counts as unset, as for kubectl */
	if (opts->kubeconfig || opts->server || opts->in_cluster || (list && list[0]))
		return true;
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	if (host != NULL && host[0])
		return true;
	const char *home = getenv("HOME");
	char *path = x_asprintf("%s/.kube/config", home ? home : "");
	bool found = access(path, F_OK) == 0;
	free(path);
	return found;
}

static bool wants_local(const struct cli *cli)
{
	const struct engine_opts *opts = &cli->opt.engine;
	if (cli->opt.local)
		return true;
	if (opts->context != NULL && strcmp(opts->context, CONTROL_CONTEXT) == 0)
		return opts->kubeconfig == NULL;
	/* no cluster at hand: the embedded backend, unless something was asked for */
	return opts->context == NULL && !is_configured(opts);
}

static bool use_local(struct cli *cli, struct err *err)
{
	const struct control_opts control = {
		.state_dir = cli->opt.state_dir,
		.isolation = cli->opt.isolation,
	};
	struct control_status status;
	bool ok = cli->opt.no_start ? control_get_status(&control, &status, err)
				    : control_ensure_running(&control, &status, err);
	if (ok && !status.is_ready)
		ok = err_set(err, ERR_LOCAL_NOT_RUNNING, "it is not running");
	if (!ok)
		return err_prefix(err, "local backend");
	cli->kubeconfig = x_strdup(status.kubeconfig);
	cli->opt.engine.kubeconfig = cli->kubeconfig;
	cli->opt.engine.context = CONTROL_CONTEXT;
	return true;
}

static void on_plugin(void *arg, const char *text)
{
	cli_note(arg, "%s", text);
}

static void on_signal(void *arg, int signal_number)
{
	struct cli *cli = arg;
	if (cli->on_signal != NULL)
		cli->on_signal(cli->on_signal_arg, signal_number);
	else
		cli_finish(cli, cli_signal_status(signal_number));
}

void cli_on_signal(struct cli *cli, void (*fn)(void *arg, int signal_number), void *arg)
{
	cli->on_signal = fn;
	cli->on_signal_arg = arg;
}

/* Where --policy says nothing. */
static const char *policy_file(void)
{
	const char *path = getenv("SANDMUX_POLICY");
	if (path == NULL || !path[0])
		path = setting_text(SETTING_POLICY_FILE);
	return path[0] ? path : NULL;
}

bool cli_open(struct cli *cli, bool lazy, struct err *err)
{
	if (cli_is_direct(cli)) {
		if (cli->opt.local || cli->opt.engine.context || cli->opt.engine.kubeconfig)
			return err_set(err, ERR_ARG_INVALID,
				"--rest and --grpc name one daemon: no cluster options with them");
	} else if (wants_local(cli) && !use_local(cli, err)) {
		return false;
	}
	cli->loop = net_loop_new(err);
	if (cli->loop == NULL)
		return false;
	cli->signals = net_watch_fatal_new(cli->loop, 1, on_signal, cli, err);
	if (cli->signals == NULL)
		return false;
	if (cli->opt.engine.policy_file == NULL)
		cli->opt.engine.policy_file = policy_file();
	if (cli->opt.engine.dry_run != KUBE_DRY_RUN_OFF && !cli_dry_run_begin(cli, err))
		return false;
	cli->opt.engine.no_fleet = lazy;
	cli->opt.engine.telemetry_file = getenv("SANDMUX_TELEMETRY_FILE");
	if (cli->opt.engine.on_plugin == NULL) { /* the dashboard has said otherwise */
		cli->opt.engine.plugins_may_ask = true;
		cli->opt.engine.on_plugin = on_plugin;
		cli->opt.engine.on_plugin_arg = cli;
	}
	cli->engine = engine_new(cli->loop, &cli->opt.engine, err);
	return cli->engine != NULL;
}

void cli_finish(struct cli *cli, int status)
{
	cli->status = status;
	cli->is_finished = true;
	net_loop_stop(cli->loop);
}

int cli_run_loop(struct cli *cli)
{
	if (!cli->is_finished)
		net_loop_run(cli->loop);
	return cli->status;
}

void cli_settle(struct cli *cli)
{
	int64_t until = clock_mono_ms() + SETTLE_MS;
	while (engine_unfinished(cli->engine) > 0 && clock_mono_ms() < until)
		net_loop_run_once(cli->loop, 20);
}

struct with_runtime {
	struct cli *cli;
	cli_runtime_fn *fn;
	void *arg;
};

static void on_resolved(void *arg, const struct err *err, const char *uid)
{
	struct with_runtime *with = arg;
	struct cli *cli = with->cli;
	struct err own = { 0 };
	if (err != NULL) {
		cli_finish(cli, cli_fail(cli, err));
		return;
	}
	struct runtime *runtime = engine_runtime(cli->engine, uid, &own);
	if (runtime == NULL)
		cli_finish(cli, cli_fail(cli, &own));
	else
		with->fn(cli, runtime, with->arg);
}

int cli_with_runtime(struct cli *cli, const char *name, cli_runtime_fn *fn, void *arg)
{
	struct err err = { 0 };
	if (cli->engine == NULL && !cli_open(cli, true, &err))
		return cli_fail(cli, &err);
	struct with_runtime with = { cli, fn, arg };
	if (cli_is_direct(cli)) {
		struct runtime *runtime = engine_runtime(cli->engine, NULL, &err);
		if (runtime == NULL)
			return cli_fail(cli, &err);
		fn(cli, runtime, arg);
	} else {
		int64_t wait = cli->opt.timeout_ms > 0 ? cli->opt.timeout_ms
						       : setting_get(SETTING_READY_TIMEOUT);
		if (engine_resolve_start(cli->engine, name, wait, on_resolved, &with, &err) ==
			NULL)
			return cli_fail(cli, &err);
	}
	return cli_run_loop(cli);
}

static bool is_kind(struct slice word)
{
	static const char *const kinds[] = { "sandbox", "sandboxes", "sandboxclaim",
		"sandboxclaims" };
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (slice_equals(word, kinds[i]))
			return true;
	return false;
}

bool cli_split_target(const char *text, char **name, const char **path)
{
	const char *colon = strchr(text, ':');
	const char *slash = strchr(text, '/');
	/* "./a:b" and "/a:b" are local, "sandbox/NAME:path" and "sandboxclaim/NAME:path" are not */
	bool is_sandbox_form = slash != NULL && strncmp(text, "sandbox", 7) == 0 &&
			       memchr(text, ':', (size_t)(slash - text)) == NULL &&
			       is_kind((struct slice){ text, strcspn(text, "./") });
	if (colon == NULL || (slash != NULL && slash < colon && !is_sandbox_form)) {
		*name = NULL;
		*path = text;
		return false;
	}
	*name = x_strndup(text, (size_t)(colon - text));
	*path = colon + 1;
	return true;
}
