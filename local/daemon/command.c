// SPDX-License-Identifier: Apache-2.0
/* A ProcessConfig: checked, its folder confined, its program found and started. The texts are those of
 * sandboxd (and of the Go library under it), because clients and people read them. */
#include "local/daemon/service_internal.h"

#include "engine/base/mem.h"
#include "local/daemon/exec_child.h"
#include "local/daemon/quote.h"

#include <errno.h>
#include <stdlib.h>

static bool refuse(
	struct daemon_command *command, enum daemon_rpc_status status, char *message_take)
{
	command->status = status;
	free(command->message);
	command->message = message_take;
	return false;
}

static bool find_dir(struct daemon_service *service, const Process__V1__ProcessConfig *config,
	struct daemon_command *command)
{
	const char *cwd = "";
	if (config->cwd_presence_case == PROCESS__V1__PROCESS_CONFIG__CWD_PRESENCE_CWD)
		cwd = config->cwd;
	daemon_confine_resolve(service->opts.root, slice_of(cwd), &command->dir);
	if (command->dir.state == CONFINE_ESCAPES) {
		struct str quoted;
		str_init(&quoted, 1024);
		daemon_quote_plain(&quoted, slice_of(cwd));
		refuse(command, RPC_PERMISSION_DENIED,
			x_asprintf("cwd: access denied: path %s: path escapes sandbox root",
				quoted.p));
		str_deinit(&quoted);
		return false;
	}
	if (command->dir.state == CONFINE_FAILED)
		return refuse(command, RPC_INTERNAL,
			x_asprintf(
				"cwd: failed to evaluate symlinks: %s", command->dir.message));
	return true;
}

static void make_env(const Process__V1__ProcessConfig *config, struct daemon_command *command)
{
	size_t n = config->n_env_vars;
	if (n == 0) {
		char *pwd = x_asprintf("PWD=%s", command->dir.path);
		command->env = daemon_exec_child_env(&pwd, 1);
		free(pwd);
		return;
	}
	char **extra = x_calloc(n, sizeof *extra);
	for (size_t i = 0; i < n; i++)
		extra[i] = x_asprintf(
			"%s=%s", config->env_vars[i]->key, config->env_vars[i]->value);
	command->env = daemon_exec_child_env(extra, n);
	for (size_t i = 0; i < n; i++)
		free(extra[i]);
	free(extra);
}

bool daemon_command_prepare(struct daemon_service *service,
	const Process__V1__ProcessConfig *config, struct daemon_command *command)
{
	*command = (struct daemon_command){ .dir = { .fd = -1, .parent_fd = -1 },
		.limits = &service->opts.limits };
	if (config == NULL || config->n_command == 0)
		return refuse(command, RPC_INVALID_ARGUMENT, x_strdup("command is required"));
	if (!find_dir(service, config, command))
		return false;
	command->argv_array = x_calloc(config->n_command + 1, sizeof *command->argv_array);
	for (size_t i = 0; i < config->n_command; i++)
		command->argv_array[i] = config->command[i];
	command->argv = command->argv_array;
	make_env(config, command);
	return true;
}

void daemon_command_deinit(struct daemon_command *command)
{
	daemon_confined_deinit(&command->dir);
	free(command->argv_array);
	daemon_exec_child_env_free(command->env);
	free(command->message);
}

static void refuse_errno(
	struct daemon_command *command, const char *what, const char *program, int errnum)
{
	const char *why = daemon_quote_errno(errnum);
	if (errnum == ENOENT)
		refuse(command, RPC_NOT_FOUND,
			x_asprintf("%s: command or path not found: fork/exec %s: %s", what,
				program, why));
	else if (errnum == EACCES || errnum == EPERM)
		refuse(command, RPC_PERMISSION_DENIED,
			x_asprintf(
				"%s: permission denied: fork/exec %s: %s", what, program, why));
	else
		refuse(command, RPC_INTERNAL,
			x_asprintf("%s: fork/exec %s: %s", what, program, why));
}

pid_t daemon_command_run(struct daemon_command *command, const char *what, const char *nul_in,
	int in, int out, int err, bool is_tty)
{
	const char *name = command->argv[0];
	if (!*name) {
		refuse(command, RPC_INTERNAL, x_asprintf("%s: exec: no command", what));
		return 0;
	}
	char *program = daemon_exec_child_find(name);
	if (program == NULL) {
		struct str quoted;
		str_init(&quoted, 1024);
		daemon_quote_plain(&quoted, slice_of(name));
		refuse(command, RPC_NOT_FOUND,
			x_asprintf("%s: command or path not found: exec: %s: executable file "
				   "not found in $PATH",
				what, quoted.p));
		str_deinit(&quoted);
		return 0;
	}
	pid_t pid = 0;
	if (nul_in != NULL && strcmp(nul_in, "ProcessConfig") != 0) {
		refuse(command, RPC_INTERNAL,
			x_asprintf("%s: exec: environment variable contains NUL", what));
	} else if (nul_in != NULL) {
		refuse_errno(command, what, program, EINVAL);
	} else if (command->dir.state != CONFINE_FOUND) {
		refuse_errno(command, what, program, ENOENT);
	} else {
		struct daemon_exec_child_opts opts = { .argv = command->argv,
			.env = command->env,
			.dir_fd = command->dir.fd,
			.in = in,
			.out = out,
			.err = err,
			.limits = command->limits,
			.is_tty = is_tty };
		pid = daemon_exec_child_start(program, &opts);
		if (pid < 0)
			refuse_errno(command, what, program, -pid);
	}
	free(program);
	return pid > 0 ? pid : 0;
}
