// SPDX-License-Identifier: Apache-2.0
/* sandmux-sandboxd: the daemon inside one sandbox. In a jail it makes Unix sockets, which a process outside serves at the
 * sandbox's address; without one, for tests and --isolation none, it has TCP sockets: bound here, or passed in. */
#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/num.h"
#include "engine/net/loop.h"
#include "engine/net/watch.h"
#include "local/daemon/daemon.h"
#include "local/daemon/jail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage[] =
	"usage: sandmux-sandboxd [options]\n"
	"The sandboxd API (REST files, gRPC processes) for one folder.\n"
	"\n"
	"  --root-dir DIR              what clients can reach (/workspace); made if missing\n"
	"  --socket-dir DIR            listen on DIR/rest.sock and DIR/grpc.sock\n"
	"  --rest-fd N --grpc-fd M     or: listening sockets that are open already\n"
	"  --listen-host HOST          or: bind here (127.0.0.1)\n"
	"  --rest-port P --grpc-port Q ports (8080, 9090; 0 = any), printed when ready\n"
	"  --auth-token-sha256 HEX     SHA-256 of the bearer token that clients must send\n"
	"  --auth-token-file FILE      or: a file with the token\n"
	"  --metadata-env-prefix TEXT  variables shown by /v1/metadata (SANDBOX_)\n"
	"  --shutdown-timeout TIME     longest orderly end (10s)\n"
	"  --http-idle-timeout TIME    idle REST connections are closed after it (60s)\n"
	"  --stream-chunk-size BYTES   longest output event (0 = 4096)\n"
	"  --limit-processes N         of the user that programs run as\n"
	"  --limit-open-files N --limit-file-size BYTES --limit-address-space BYTES\n"
	"  --limit-data BYTES          of each program\n"
	"  --ready-fd N                one byte is written there once it listens\n"
	"  --filter-fd N               a seccomp filter to load before anything runs\n"
	"  --landlock --own-userns --closed  more that is given away (local/daemon/jail.h)\n"
	"  --version, --help\n";

struct args {
	struct daemon_opts daemon;
	const char *host;
	const char *socket_dir;
	int64_t rest_fd, grpc_fd, rest_port, grpc_port, chunk_bytes, ready_fd, filter_fd;
	struct jail_opts jail;
	char token_hex[65];
};

__attribute__((format(printf, 1, 2))) static bool fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	fputs("sandmux-sandboxd: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return false;
}

static bool take_number(const char *name, const char *text, int64_t max, int64_t *out)
{
	return num_parse_i64(text, 0, max, out) ||
	       fail("--%s wants a number from 0 to %lld, not '%s'", name, (long long)max, text);
}

static bool take_limit(const char *name, const char *text, uint64_t *out)
{
	int64_t value;
	if (!take_number(name, text, INT64_MAX, &value))
		return false;
	*out = (uint64_t)value;
	return true;
}

static bool take_duration(const char *name, const char *text, int64_t *out)
{
	return clock_parse_duration(text, out) ||
	       fail("--%s wants a time like 10s, not '%s'", name, text);
}

static bool take_hash(struct args *args, const char *text)
{
	if (strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64)
		return fail("--auth-token-sha256 wants 64 hex digits");
	memcpy(args->token_hex, text, 65);
	args->daemon.token_sha256 = args->token_hex;
	return true;
}

static bool take_token_file(struct args *args, const char *path)
{
	struct err err;
	size_t n;
	char *token = file_read(path, 64 << 10, &n, &err);
	if (token == NULL)
		return fail("--auth-token-file: %s", err.msg);
	while (n > 0 && (token[n - 1] == '\n' || token[n - 1] == '\r'))
		n--;
	bool ok = n > 0;
	struct digest *digest = digest_new();
	digest_add(digest, token, n);
	digest_finish_hex(digest, args->token_hex);
	digest_free(digest);
	args->daemon.token_sha256 = args->token_hex;
	explicit_bzero(token, n);
	free(token);
	return ok || fail("--auth-token-file: %s is empty", path);
}

enum option_id {
	OPT_HELP = 1,
	OPT_VERSION,
	OPT_ROOT,
	OPT_REST_FD,
	OPT_GRPC_FD,
	OPT_HOST,
	OPT_REST_PORT,
	OPT_GRPC_PORT,
	OPT_TOKEN_SHA256,
	OPT_TOKEN_FILE,
	OPT_PREFIX,
	OPT_SHUTDOWN,
	OPT_IDLE,
	OPT_CHUNK,
	OPT_PROCESSES,
	OPT_OPEN_FILES,
	OPT_FILE_SIZE,
	OPT_ADDRESS_SPACE,
	OPT_SOCKET_DIR,
	OPT_READY_FD,
	OPT_FILTER_FD,
	OPT_LANDLOCK,
	OPT_OWN_USERNS,
	OPT_CLOSED,
	OPT_DATA,
};

static const struct option options[] = {
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "root-dir", required_argument, NULL, OPT_ROOT },
	{ "rest-fd", required_argument, NULL, OPT_REST_FD },
	{ "grpc-fd", required_argument, NULL, OPT_GRPC_FD },
	{ "listen-host", required_argument, NULL, OPT_HOST },
	{ "rest-port", required_argument, NULL, OPT_REST_PORT },
	{ "grpc-port", required_argument, NULL, OPT_GRPC_PORT },
	{ "auth-token-sha256", required_argument, NULL, OPT_TOKEN_SHA256 },
	{ "auth-token-file", required_argument, NULL, OPT_TOKEN_FILE },
	{ "metadata-env-prefix", required_argument, NULL, OPT_PREFIX },
	{ "shutdown-timeout", required_argument, NULL, OPT_SHUTDOWN },
	{ "http-idle-timeout", required_argument, NULL, OPT_IDLE },
	{ "stream-chunk-size", required_argument, NULL, OPT_CHUNK },
	{ "limit-processes", required_argument, NULL, OPT_PROCESSES },
	{ "limit-open-files", required_argument, NULL, OPT_OPEN_FILES },
	{ "limit-file-size", required_argument, NULL, OPT_FILE_SIZE },
	{ "limit-address-space", required_argument, NULL, OPT_ADDRESS_SPACE },
	{ "socket-dir", required_argument, NULL, OPT_SOCKET_DIR },
	{ "ready-fd", required_argument, NULL, OPT_READY_FD },
	{ "filter-fd", required_argument, NULL, OPT_FILTER_FD },
	{ "landlock", no_argument, NULL, OPT_LANDLOCK },
	{ "own-userns", no_argument, NULL, OPT_OWN_USERNS },
	{ "closed", no_argument, NULL, OPT_CLOSED },
	{ "limit-data", required_argument, NULL, OPT_DATA },
	{ NULL, 0, NULL, 0 },
};

enum { MAX_FD = 1 << 20, MAX_CHUNK = 1 << 20 };

static bool take_jail_option(struct args *args, int id, const char *name, const char *value)
{
	switch (id) {
	case OPT_SOCKET_DIR:
		args->socket_dir = value;
		return true;
	case OPT_READY_FD:
		return take_number(name, value, MAX_FD, &args->ready_fd);
	case OPT_FILTER_FD:
		return take_number(name, value, MAX_FD, &args->filter_fd);
	case OPT_LANDLOCK:
		args->jail.has_landlock = true;
		return true;
	case OPT_OWN_USERNS:
		args->jail.has_own_userns = true;
		return true;
	case OPT_CLOSED:
		args->jail.is_closed = true;
		return true;
	default:
		return fail("see --help");
	}
}

static bool take_option(struct args *args, int id, const char *name, const char *value)
{
	switch (id) {
	case OPT_ROOT:
		args->daemon.root_dir = value;
		return true;
	case OPT_REST_FD:
		return take_number(name, value, MAX_FD, &args->rest_fd);
	case OPT_GRPC_FD:
		return take_number(name, value, MAX_FD, &args->grpc_fd);
	case OPT_HOST:
		args->host = value;
		return true;
	case OPT_REST_PORT:
		return take_number(name, value, 65535, &args->rest_port);
	case OPT_GRPC_PORT:
		return take_number(name, value, 65535, &args->grpc_port);
	case OPT_TOKEN_SHA256:
		return take_hash(args, value);
	case OPT_TOKEN_FILE:
		return take_token_file(args, value);
	case OPT_PREFIX:
		args->daemon.metadata_env_prefix = *value ? value : "SANDBOX_";
		return true;
	case OPT_SHUTDOWN:
		return take_duration(name, value, &args->daemon.shutdown_timeout_ms);
	case OPT_IDLE:
		return take_duration(name, value, &args->daemon.idle_timeout_ms);
	case OPT_CHUNK:
		return take_number(name, value, MAX_CHUNK, &args->chunk_bytes);
	case OPT_PROCESSES:
		return take_limit(name, value, &args->daemon.limits.processes);
	case OPT_OPEN_FILES:
		return take_limit(name, value, &args->daemon.limits.open_files);
	case OPT_FILE_SIZE:
		return take_limit(name, value, &args->daemon.limits.file_bytes);
	case OPT_ADDRESS_SPACE:
		return take_limit(name, value, &args->daemon.limits.address_space_bytes);
	case OPT_DATA:
		return take_limit(name, value, &args->daemon.limits.data_bytes);
	default:
		return take_jail_option(args, id, name, value);
	}
}

/* −1 to go on, else the exit status. */
static int parse_args(struct args *args, int argc, char **argv)
{
	*args = (struct args){ .host = "127.0.0.1",
		.rest_fd = -1,
		.grpc_fd = -1,
		.ready_fd = -1,
		.filter_fd = -1,
		.rest_port = 8080,
		.grpc_port = 9090,
		.daemon = { .root_dir = "/workspace",
			.metadata_env_prefix = "SANDBOX_",
			.shutdown_timeout_ms = 10000,
			.idle_timeout_ms = 60000 } };
	int id, index = 0;
	while ((id = getopt_long(argc, argv, "", options, &index)) != -1) {
		if (id == OPT_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (id == OPT_VERSION) {
			puts("sandmux-sandboxd " SANDMUX_VERSION);
			return 0;
		}
		if (!take_option(args, id, id == '?' ? "" : options[index].name, optarg))
			return 2;
	}
	if (optind < argc) {
		fail("unexpected argument '%s'", argv[optind]);
		return 2;
	}
	if ((args->rest_fd < 0) != (args->grpc_fd < 0)) {
		fail("--rest-fd and --grpc-fd go together");
		return 2;
	}
	args->daemon.chunk_bytes = (size_t)args->chunk_bytes;
	args->jail.root_dir = args->daemon.root_dir;
	args->jail.filter_fd = (int)args->filter_fd;
	return -1;
}

static int listen_at(const char *host, int64_t port)
{
	char service[8];
	snprintf(service, sizeof service, "%d", (int)port);
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found;
	int rv = getaddrinfo(host, service, &hints, &found);
	if (rv != 0) {
		fail("%s: %s", host, gai_strerror(rv));
		return -1;
	}
	int on = 1;
	int fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
		  bind(fd, found->ai_addr, found->ai_addrlen) == 0 &&
		  listen(fd, SOMAXCONN) == 0;
	int errnum = errno;
	freeaddrinfo(found);
	if (ok)
		return fd;
	fail("cannot listen on %s:%s: %s", host, service, strerror(errnum));
	if (fd >= 0)
		close(fd);
	return -1;
}

static void print_address(const char *label, int fd)
{
	struct sockaddr_storage address;
	socklen_t n = sizeof address;
	char host[NI_MAXHOST], port[NI_MAXSERV];
	if (getsockname(fd, (struct sockaddr *)&address, &n) != 0 ||
		getnameinfo((struct sockaddr *)&address, n, host, sizeof host, port,
			sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	bool is_v6 = address.ss_family == AF_INET6;
	printf("%s=%s%s%s:%s", label, is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

/* A socket that nobody but the user of this sandbox may connect to. */
static int listen_in(const char *dir, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t room = sizeof address.sun_path;
	if (snprintf(address.sun_path, room, "%s/%s", dir, name) >= (int)room) {
		fail("--socket-dir: the name is too long");
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	mode_t before = umask(0177);
	bool ok = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
		  listen(fd, SOMAXCONN) == 0;
	umask(before);
	if (ok)
		return fd;
	fail("cannot listen on %s: %s", address.sun_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool open_sockets(struct args *args)
{
	if (args->socket_dir != NULL) {
		args->daemon.rest_fd = listen_in(args->socket_dir, "rest.sock");
		if (args->daemon.rest_fd < 0)
			return false;
		args->daemon.grpc_fd = listen_in(args->socket_dir, "grpc.sock");
		return args->daemon.grpc_fd >= 0;
	}
	if (args->rest_fd >= 0) {
		args->daemon.rest_fd = (int)args->rest_fd;
		args->daemon.grpc_fd = (int)args->grpc_fd;
		return true;
	}
	args->daemon.rest_fd = listen_at(args->host, args->rest_port);
	if (args->daemon.rest_fd < 0)
		return false;
	args->daemon.grpc_fd = listen_at(args->host, args->grpc_port);
	return args->daemon.grpc_fd >= 0;
}

/* 0, 1 and 2 exist, and nothing else is passed on to the processes of the sandbox. */
static void tidy_descriptors(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (fd = 3; fd < 1024; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

struct program {
	struct loop *loop;
	struct daemon *daemon;
	int signal_fd;
};

/* As pid 1 only a signal from outside counts: its sender has no pid in here. A job may end itself, not the daemon. */
static void on_stop_signal(void *arg, bool is_readable, bool is_writable)
{
	struct program *program = arg;
	struct signalfd_siginfo info;
	(void)is_readable;
	(void)is_writable;
	while (read(program->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		if (getpid() != 1 || info.ssi_pid == 0)
			daemon_shutdown(program->daemon);
}

static struct watch_fd *watch_signals(struct program *program, struct err *err)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	/* blocked here, and reset in each program that is started */
	sigprocmask(SIG_BLOCK, &set, NULL);
	program->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (program->signal_fd < 0) {
		err_set_errno(err, errno, "signalfd");
		return NULL;
	}
	struct watch_fd *watch =
		watch_fd_new(program->loop, program->signal_fd, on_stop_signal, program, err);
	if (watch != NULL)
		watch_fd_want(watch, true, false);
	return watch;
}

static void on_stopped(void *arg)
{
	struct program *program = arg;
	loop_stop(program->loop);
}

static bool say_ready(struct args *args)
{
	if (args->ready_fd >= 0) {
		ssize_t n = write((int)args->ready_fd, "1", 1);
		close((int)args->ready_fd);
		return n == 1 || fail("--ready-fd: %s", strerror(errno));
	}
	if (args->rest_fd < 0) {
		print_address("rest", args->daemon.rest_fd);
		print_address(" grpc", args->daemon.grpc_fd);
		putchar('\n');
		fflush(stdout);
	}
	return true;
}

static int serve(struct args *args)
{
	struct err err;
	struct program program = { .loop = loop_new(&err), .signal_fd = -1 };
	if (program.loop == NULL)
		return fail("%s", err.msg), 1;
	args->daemon.on_stopped = on_stopped;
	args->daemon.arg = &program;
	struct watch_fd *signals = watch_signals(&program, &err);
	if (signals != NULL)
		program.daemon = daemon_new(program.loop, &args->daemon, &err);
	int status = 0;
	if (program.daemon == NULL) {
		fail("%s", err.msg);
		status = 1;
	} else if (!say_ready(args)) {
		status = 1;
	} else {
		loop_run(program.loop);
	}
	daemon_free(program.daemon);
	watch_fd_free(signals);
	if (program.signal_fd >= 0)
		close(program.signal_fd);
	loop_free(program.loop);
	return status;
}

int main(int argc, char **argv)
{
	struct args args;
	int status = parse_args(&args, argc, argv);
	if (status >= 0)
		return status;
	tidy_descriptors();
	int death_signal = 0;
	prctl(PR_GET_PDEATHSIG, &death_signal);
	if (death_signal == 0) /* bubblewrap has set a harder one */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
	exec_child_raise_own_limits();
	log_set_stderr(true);
	struct err err;
	bool is_jailed = args.socket_dir != NULL || args.jail.has_own_userns;
	if (is_jailed && !jail_enter(&args.jail, &err))
		return fail("%s", err.msg), 1;
	if (!open_sockets(&args))
		return 1;
	return serve(&args);
}
