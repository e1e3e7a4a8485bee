// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/arguments.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/num.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool daemon_arguments_refuse(const char *format, ...)
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
	       daemon_arguments_refuse("--%s wants a number from 0 to %lld, not '%s'", name,
		       (long long)max, text);
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
	       daemon_arguments_refuse("--%s wants a time like 10s, not '%s'", name, text);
}

static bool take_hash(struct daemon_arguments *args, const char *text)
{
	if (strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64)
		return daemon_arguments_refuse("--auth-token-sha256 wants 64 hex digits");
	memcpy(args->token_hex, text, 65);
	args->daemon.token_sha256 = args->token_hex;
	return true;
}

static bool take_token_file(struct daemon_arguments *args, const char *path)
{
	struct err err;
	size_t n;
	char *token = file_read(path, 64 << 10, &n, &err);
	if (token == NULL)
		return daemon_arguments_refuse("--auth-token-file: %s", err.msg);
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
	return ok || daemon_arguments_refuse("--auth-token-file: %s is empty", path);
}

enum daemon_option_id {
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

static bool take_jail_option(
	struct daemon_arguments *args, int id, const char *name, const char *value)
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
		return daemon_arguments_refuse("see --help");
	}
}

static bool take_option(
	struct daemon_arguments *args, int id, const char *name, const char *value)
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

int daemon_arguments_parse(struct daemon_arguments *args, int argc, char **argv)
{
	*args = (struct daemon_arguments){ .host = "127.0.0.1",
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
		daemon_arguments_refuse("unexpected argument '%s'", argv[optind]);
		return 2;
	}
	if ((args->rest_fd < 0) != (args->grpc_fd < 0)) {
		daemon_arguments_refuse("--rest-fd and --grpc-fd go together");
		return 2;
	}
	args->daemon.chunk_bytes = (size_t)args->chunk_bytes;
	args->jail.root_dir = args->daemon.root_dir;
	args->jail.filter_fd = (int)args->filter_fd;
	return -1;
}
