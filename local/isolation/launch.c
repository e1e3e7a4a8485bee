// SPDX-License-Identifier: Apache-2.0
#include "local/isolation/launch.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/child.h"
#include "local/isolation/libs.h"
#include "local/isolation/owner.h"
#include "local/isolation/seccomp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char inside_dir[] = "/run/sandmux", inside_daemon[] = "/run/sandmux/sandboxd";

static int bind_at(const char *address, uint16_t port, uint16_t *bound, struct err *err)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(port) };
	socklen_t n = sizeof in;
	int on = 1;
	if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		err_set(err, ERR_ARG_INVALID, "'%s' is not an IPv4 address", address);
		return -1;
	}
	if ((ntohl(in.sin_addr.s_addr) >> 24) != 127) {
		err_set(err, ERR_ARG_INVALID, "sandboxes listen on 127.0.0.0/8 only, not on %s",
			address);
		return -1;
	}
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
		bind(fd, (struct sockaddr *)&in, sizeof in) != 0 ||
		listen(fd, SOMAXCONN) != 0 ||
		getsockname(fd, (struct sockaddr *)&in, &n) != 0) {
		err_set_errno(err, errno, "cannot listen on %s:%u", address, port);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	*bound = ntohs(in.sin_port);
	return fd;
}

char *isolation_launch_find_daemon(const struct isolation_spawn_opts *opts, struct err *err)
{
	if (opts->daemon_path == NULL)
		return file_find_program("sandmux-sandboxd", err);
	char *real = realpath(opts->daemon_path, NULL);
	if (real == NULL)
		err_set_errno(err, errno, "%s", opts->daemon_path);
	return real;
}

char *isolation_launch_find_proxy(const struct isolation_spawn_opts *opts, struct err *err)
{
	static const char name[] = "sandmux-port-proxy";
	char *daemon = opts->daemon_path != NULL ? realpath(opts->daemon_path, NULL) : NULL;
	char *slash = daemon != NULL ? strrchr(daemon, '/') : NULL;
	char *path = NULL;
	if (slash != NULL) {
		*slash = 0;
		path = x_asprintf("%s/%s", daemon, name);
	}
	free(daemon);
	if (path != NULL && access(path, X_OK) == 0)
		return path;
	free(path);
	return file_find_program(name, err);
}

static void add_env(struct isolation_launch *launch, const char *variable)
{
	size_t name_n = strcspn(variable, "=");
	for (size_t i = 0; i < launch->n_env; i++) {
		if (strncmp(launch->env[i], variable, name_n) == 0 &&
			launch->env[i][name_n] == '=') {
			free(launch->env[i]);
			launch->env[i] = x_strdup(variable);
			return;
		}
	}
	array_grow(&launch->env, &launch->env_capacity, launch->n_env + 2, sizeof *launch->env);
	launch->env[launch->n_env++] = x_strdup(variable);
	launch->env[launch->n_env] = NULL;
}

static void make_env(struct isolation_launch *launch, const struct isolation_spawn_opts *opts,
	const char *home)
{
	static const char *const fixed[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8", "TERM=xterm-256color", "USER=sandbox", "LOGNAME=sandbox",
		"SHELL=/bin/bash"
	};
	for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
		add_env(launch, fixed[i]);
	char *variable = x_asprintf("HOME=%s", home);
	add_env(launch, variable);
	free(variable);
	for (const char *const *e = opts->env; e != NULL && *e != NULL; e++)
		if (strchr(*e, '=') != NULL)
			add_env(launch, *e);
}

static void add_number(struct isolation_bwrap_args *args, const char *option, uint64_t value)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)value);
	isolation_bwrap_add3(args, option, text, NULL);
}

static bool is_guarded(
	const struct isolation_spawn_opts *opts, enum isolation_spawn_guard guard)
{
	return (opts->unguarded >> guard & 1) == 0;
}

static void add_limits(struct isolation_bwrap_args *args,
	const struct isolation_spawn_limits *limits, bool has_cgroup_memory)
{
	if (limits->pids > 0)
		add_number(args, "--limit-processes", limits->pids);
	if (limits->open_files > 0)
		add_number(args, "--limit-open-files", limits->open_files);
	if (limits->file_bytes > 0)
		add_number(args, "--limit-file-size", limits->file_bytes);
	/* not the address space: Node, Go and Java reserve far more of that than they use */
	if (limits->memory_bytes > 0 && !has_cgroup_memory)
		add_number(args, "--limit-data", limits->memory_bytes);
}

static void add_daemon_args(struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, const char *program, const char *root,
	bool has_cgroup_memory)
{
	struct isolation_bwrap_args *args = &launch->args;
	isolation_bwrap_add(args, program);
	isolation_bwrap_add3(args, "--root-dir", root, NULL);
	if (opts->token_sha256 != NULL)
		isolation_bwrap_add3(args, "--auth-token-sha256", opts->token_sha256, NULL);
	add_limits(args, &opts->limits, has_cgroup_memory);
	if (launch->ready_write < 0) {
		add_number(args, "--rest-fd", (uint64_t)launch->rest_fd);
		add_number(args, "--grpc-fd", (uint64_t)launch->grpc_fd);
	}
}

/* What the daemon itself locks behind it (local/daemon/jail.h). */
static bool add_jail_args(struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, struct err *err)
{
	struct isolation_bwrap_args *args = &launch->args;
	isolation_bwrap_add(args, "--own-userns");
	if (is_guarded(opts, SPAWN_GUARD_CLOSED))
		isolation_bwrap_add(args, "--closed");
	if (is_guarded(opts, SPAWN_GUARD_LANDLOCK))
		isolation_bwrap_add(args, "--landlock");
	if (launch->ready_write >= 0) {
		isolation_bwrap_add3(args, "--socket-dir", inside_dir, NULL);
		add_number(args, "--ready-fd", (uint64_t)launch->ready_write);
	}
	if (!is_guarded(opts, SPAWN_GUARD_FILTER))
		return true;
	launch->filter_fd = isolation_syscall_filter_fd(err);
	if (launch->filter_fd < 0)
		return false;
	add_number(args, "--filter-fd", (uint64_t)launch->filter_fd);
	return true;
}

/* As seen by who runs bubblewrap: as root another user, who cannot walk to every path of ours. */
static const char *source(struct isolation_launch *launch, const char *path)
{
	return launch->host_uid != 0 ? isolation_stage_add(&launch->stage, path) : path;
}

static bool make_pipes(struct isolation_launch *launch, const struct isolation_spawn_opts *opts,
	struct err *err)
{
	int info[2], ready[2];
	if (pipe2(info, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	launch->info_read = info[0];
	launch->info_write = info[1];
	fcntl(info[0], F_SETFL, O_NONBLOCK);
	if (!is_guarded(opts, SPAWN_GUARD_PROXY))
		return true;
	if (pipe2(ready, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "pipe");
	launch->ready_read = ready[0];
	launch->ready_write = ready[1];
	fcntl(ready[0], F_SETFL, O_NONBLOCK);
	return true;
}

/* Who is root on the host is never in a sandbox, and neither is somebody else of this machine. */
static bool choose_user(struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, struct err *err)
{
	bool is_guarded_user = is_guarded(opts, SPAWN_GUARD_HOST_USER);
	launch->host_uid = geteuid() == 0 && is_guarded_user ? opts->host_uid : 0;
	if (geteuid() != 0 || !is_guarded_user || isolation_owner_is_ours(opts->host_uid))
		return true;
	return err_set(err, ERR_ARG_INVALID, "%lu is no user for a sandbox",
		(unsigned long)opts->host_uid);
}

static bool make_bwrap(struct isolation_launch *launch, struct isolation_cgroup *cgroup,
	const struct isolation_spawn_opts *opts, const char *program, struct err *err)
{
	struct isolation_bwrap_args *args = &launch->args;
	char hostname[HOST_NAME_MAX];
	snprintf(hostname, sizeof hostname, "%s", opts->name);
	if (!choose_user(launch, opts, err) || !make_pipes(launch, opts, err) ||
		!isolation_bwrap_base(args, hostname, opts->unguarded, err))
		return false;
	isolation_bwrap_add3(args, "--perms", "0755", NULL);
	isolation_bwrap_add3(args, "--dir", inside_dir, NULL);
	isolation_bwrap_add3(args, "--ro-bind", source(launch, program), inside_daemon);
	char **libs = isolation_libs_outside_system(program);
	for (size_t i = 0; libs[i] != NULL; i++)
		isolation_bwrap_add3(args, "--ro-bind", source(launch, libs[i]), libs[i]);
	isolation_libs_free(libs);
	isolation_bwrap_add3(args, "--bind", source(launch, opts->workspace), "/workspace");
	isolation_bwrap_seal(args);
	isolation_bwrap_add3(args, "--chdir", "/workspace", NULL);
	if (!isolation_bwrap_add_env(args, launch->env, err))
		return false;
	launch->is_env_inside = true;
	add_number(args, "--info-fd", (uint64_t)launch->info_write);
	isolation_bwrap_add(args, "--");
	add_daemon_args(launch, opts, inside_daemon, "/workspace",
		isolation_cgroup_has(cgroup, CGROUP_MEMORY));
	return add_jail_args(launch, opts, err);
}

struct isolation_launch_start {
	struct isolation_launch *launch;
	struct isolation_cgroup *cgroup;
};

/* When the machine runs out of memory a job goes first (exec_child.c raises it further), then its daemon, then the
 * backend. Anybody may raise it; what root has raised nobody else lowers. */
static void offer_to_oom_killer(void)
{
	static const char score[] = "300";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, score, sizeof score - 1) < 0)
		errno = 0; /* it is higher already */
	close(fd);
}

/* Between fork and exec. */
static void run_child(void *arg)
{
	static char *const no_env[] = { NULL };
	struct isolation_launch_start *start = arg;
	struct isolation_launch *launch = start->launch;
	isolation_cgroup_join(start->cgroup);
	offer_to_oom_killer();
	bool is_inside = launch->ready_write < 0; /* the sockets themselves go in */
	bool ok = (!is_inside || (isolation_child_pass(launch->rest_fd) &&
					 isolation_child_pass(launch->grpc_fd))) &&
		  isolation_child_pass(launch->info_write) &&
		  isolation_child_pass(launch->ready_write) &&
		  isolation_child_pass(launch->filter_fd);
	for (size_t i = 0; i < launch->args.n_fds; i++)
		ok = ok && isolation_child_pass(launch->args.fds[i]);
	ok = ok && (launch->host_uid == 0 || isolation_stage_enter(&launch->stage)) &&
	     isolation_child_become(launch->host_uid);
	if (ok)
		execve(launch->args.words[0], launch->args.words,
			launch->is_env_inside ? no_env : launch->env);
}

pid_t isolation_launch_fork(
	struct isolation_launch *launch, struct isolation_cgroup *cgroup, struct err *err)
{
	struct isolation_launch_start start = { launch, cgroup };
	return isolation_child_start(
		&(struct isolation_child_opts){ .name = launch->args.words[0],
			.log_fd = launch->log_fd,
			.keeps_keyring = launch->keeps_keyring,
			.may_dump_core = launch->may_dump_core,
			.run = run_child,
			.arg = &start },
		err);
}

/* A workspace belongs to the user of its sandbox. One that did not (an older backend made it, or the volume was another
 * sandbox's) is handed over, everything in it included. */
static bool own_workspace(const struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, const struct stat *st, struct err *err)
{
	if (launch->host_uid == 0 || st->st_uid == launch->host_uid)
		return true;
	return isolation_owner_change_tree(opts->workspace, launch->host_uid, err);
}

bool isolation_launch_prepare(struct isolation_launch *launch,
	const struct isolation_spawn_opts *opts, const char *program,
	struct isolation_cgroup *cgroup, struct err *err)
{
	struct stat st;
	if (stat(opts->workspace, &st) != 0)
		return err_set_errno(err, errno, "workspace %s", opts->workspace);
	if (!S_ISDIR(st.st_mode))
		return err_set_errno(err, ENOTDIR, "workspace %s", opts->workspace);
	launch->rest_fd = bind_at(opts->address, opts->rest_port, &launch->rest_port, err);
	if (launch->rest_fd < 0)
		return false;
	launch->grpc_fd = bind_at(opts->address, opts->grpc_port, &launch->grpc_port, err);
	if (launch->grpc_fd < 0)
		return false;
	if (opts->log_path != NULL) {
		launch->log_fd = open(opts->log_path,
			O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (launch->log_fd < 0)
			return err_set_errno(err, errno, "%s", opts->log_path);
	}
	bool is_plain = opts->mode == ISOLATION_NONE;
	launch->keeps_keyring = !is_guarded(opts, SPAWN_GUARD_KEYRING);
	launch->may_dump_core = !is_guarded(opts, SPAWN_GUARD_CORE);
	make_env(launch, opts, is_plain ? opts->workspace : "/workspace");
	if (!is_plain)
		return make_bwrap(launch, cgroup, opts, program, err) &&
		       own_workspace(launch, opts, &st, err);
	add_daemon_args(launch, opts, program, opts->workspace,
		isolation_cgroup_has(cgroup, CGROUP_MEMORY));
	return true;
}

void isolation_launch_init(struct isolation_launch *launch)
{
	*launch = (struct isolation_launch){ .rest_fd = -1,
		.grpc_fd = -1,
		.log_fd = -1,
		.filter_fd = -1,
		.info_read = -1,
		.info_write = -1,
		.ready_read = -1,
		.ready_write = -1 };
}

void isolation_launch_deinit(struct isolation_launch *launch)
{
	const int fds[] = { launch->rest_fd, launch->grpc_fd, launch->info_read,
		launch->info_write, launch->ready_read, launch->ready_write, launch->filter_fd,
		launch->log_fd };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (size_t i = 0; i < launch->n_env; i++)
		free(launch->env[i]);
	free(launch->env);
	isolation_stage_deinit(&launch->stage);
	isolation_bwrap_free(&launch->args);
}
