// SPDX-License-Identifier: Apache-2.0
// jail_host [options] WORKSPACE: one sandbox, with the guards that are named switched off. No shipped program can do
// that: it is for showing what each guard is for. Prints a line of JSON when the sandbox listens and one when it has
// ended; the end of its standard input ends it.
#include "engine/base/err.h"
#include "engine/base/num.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/isolation/cgroup.h"
#include "local/isolation/spawn.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ENV = 16 };

struct host {
	struct net_loop *loop;
	struct isolation_spawn *spawn;
	struct isolation_spawn_opts opts;
	const char *env[MAX_ENV + 1];
	size_t n_env;
	bool is_over;
};

static const struct option options[] = {
	{ "off", required_argument, NULL, 'o' },
	{ "plain", no_argument, NULL, 'p' }, /* no isolation at all */
	{ "cgroup", required_argument, NULL, 'c' },
	{ "host-uid", required_argument, NULL, 'u' },
	{ "address", required_argument, NULL, 'a' },
	{ "daemon", required_argument, NULL, 'd' },
	{ "log", required_argument, NULL, 'l' },
	{ "token-sha256", required_argument, NULL, 't' },
	{ "env", required_argument, NULL, 'e' },
	{ "memory", required_argument, NULL, 'M' },
	{ "file-size", required_argument, NULL, 'S' },
	{ "pids", required_argument, NULL, 'P' },
	{ "open-files", required_argument, NULL, 'F' },
	{ "cpu-milli", required_argument, NULL, 'C' },
	{ NULL, 0, NULL, 0 },
};

static int usage(const char *what)
{
	fprintf(stderr, "jail_host: %s\n", what);
	return 2;
}

static bool switch_off(struct host *host, const char *name)
{
	for (int i = 0; i < SPAWN_GUARD_COUNT; i++) {
		if (strcmp(isolation_spawn_guard_name((enum isolation_spawn_guard)i), name) ==
			0) {
			host->opts.unguarded |= 1u << i;
			return true;
		}
	}
	return false;
}

static bool take_limit(struct isolation_spawn_limits *limits, int id, uint64_t value)
{
	switch (id) {
	case 'M':
		limits->memory_bytes = value;
		return true;
	case 'S':
		limits->file_bytes = value;
		return true;
	case 'P':
		limits->pids = (uint32_t)value;
		return true;
	case 'F':
		limits->open_files = (uint32_t)value;
		return true;
	case 'C':
		limits->cpu_milli = (uint32_t)value;
		return true;
	default:
		return false;
	}
}

static bool take_option(struct host *host, int id, const char *value)
{
	int64_t number = 0;
	switch (id) {
	case 'o':
		return switch_off(host, value);
	case 'p':
		host->opts.mode = ISOLATION_NONE;
		return true;
	case 'c':
		host->opts.uid = value;
		return true;
	case 'a':
		host->opts.address = value;
		return true;
	case 'd':
		host->opts.daemon_path = value;
		return true;
	case 'l':
		host->opts.log_path = value;
		return true;
	case 't':
		host->opts.token_sha256 = value;
		return true;
	case 'e':
		if (host->n_env < MAX_ENV)
			host->env[host->n_env++] = value;
		return true;
	default:
		if (value == NULL || !num_parse_i64(value, 1, INT64_MAX, &number))
			return false;
		if (id == 'u')
			host->opts.host_uid = (uid_t)number;
		return id == 'u' || take_limit(&host->opts.limits, id, (uint64_t)number);
	}
}

static void on_listening(void *arg)
{
	struct host *host = arg;
	const struct isolation_cgroup *cgroup = isolation_spawn_cgroup(host->spawn);
	printf("{\"address\":\"%s\",\"rest\":%u,\"grpc\":%u,\"pid\":%d,\"daemon\":%d,\"cgroups\":[",
		host->opts.address, isolation_spawn_rest_port(host->spawn),
		isolation_spawn_grpc_port(host->spawn), (int)isolation_spawn_pid(host->spawn),
		(int)isolation_spawn_daemon_pid(host->spawn));
	const char *comma = "";
	for (int i = 0; i < CGROUP_CONTROLLER_COUNT; i++) {
		pid_t pid = isolation_spawn_daemon_pid(host->spawn);
		if (!isolation_cgroup_has(cgroup, (enum isolation_cgroup_controller)i) ||
			!isolation_cgroup_holds(
				cgroup, (enum isolation_cgroup_controller)i, pid))
			continue;
		printf("%s\"%s\"", comma, isolation_cgroup_controller_names[i]);
		comma = ",";
	}
	puts("]}");
	fflush(stdout);
}

static void on_over(void *arg, int status, const char *reason)
{
	struct host *host = arg;
	host->spawn = NULL;
	host->is_over = true;
	printf("{\"status\":%d,\"reason\":\"%s\"}\n", status, reason);
	fflush(stdout);
	net_loop_stop(host->loop);
}

static void on_input(void *arg, bool is_readable, bool is_writable)
{
	struct host *host = arg;
	char bytes[64];
	(void)is_readable;
	(void)is_writable;
	ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		net_loop_stop(host->loop);
}

static int run(struct host *host)
{
	struct err err = { 0 };
	host->loop = net_loop_new(&err);
	struct net_watch_fd *input =
		host->loop ? net_watch_fd_new(host->loop, STDIN_FILENO, on_input, host, &err)
			   : NULL;
	if (input)
		host->spawn =
			isolation_spawn_start(host->loop, &host->opts, on_over, host, &err);
	if (!host->spawn) {
		fprintf(stderr, "jail_host: %s\n", err.msg);
		return 1;
	}
	net_watch_fd_want(input, true, false);
	/* who has the sockets himself answers from the start; who has not, says when */
	bool is_proxied = host->opts.mode == ISOLATION_BWRAP &&
			  (host->opts.unguarded >> SPAWN_GUARD_PROXY & 1) == 0;
	if (is_proxied)
		isolation_spawn_on_listening(host->spawn, on_listening);
	else if (host->opts.mode == ISOLATION_BWRAP)
		while (isolation_spawn_daemon_pid(host->spawn) == 0 && !host->is_over)
			net_loop_run_once(host->loop, 50);
	if (!is_proxied && !host->is_over)
		on_listening(host);
	if (!host->is_over)
		net_loop_run(host->loop);
	isolation_spawn_kill(host->spawn);
	net_watch_fd_free(input);
	net_loop_run_once(host->loop, 0); /* what was deferred */
	net_loop_free(host->loop);
	return 0;
}

int main(int argc, char **argv)
{
	struct host host = {
		.opts = { .name = "box", .address = "127.77.1.1", .mode = ISOLATION_BWRAP }
	};
	int id;
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (!take_option(&host, id, optarg))
			return usage(optarg ? optarg : "what is that?");
	if (optind + 1 != argc)
		return usage("one WORKSPACE, please");
	host.opts.workspace = argv[optind];
	host.opts.env = host.env;
	return run(&host);
}
