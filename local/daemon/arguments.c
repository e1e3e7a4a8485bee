// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/arguments.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/flags.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
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

/* ---- values that are more than a field */

static bool take_hash(void *into, const char *text)
{
	struct daemon_arguments *args = into;
	if (strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64)
		return daemon_arguments_refuse("--auth-token-sha256 wants 64 hex digits");
	memcpy(args->token_hex, text, 65);
	args->daemon.token_sha256 = args->token_hex;
	return true;
}

static bool take_token_file(void *into, const char *path)
{
	struct daemon_arguments *args = into;
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

static bool take_prefix(void *into, const char *text)
{
	struct daemon_arguments *args = into;
	args->daemon.metadata_env_prefix = *text ? text : "SANDBOX_";
	return true;
}

/* ---- the rows */

enum { MAX_FD = 1 << 20, MAX_CHUNK = 1 << 20 };

#define SWITCH(field) FLAG_SWITCH, FLAG_FIELD(bool, daemon_arguments, field)
#define TEXT(field) FLAG_TEXT, FLAG_FIELD(const char *, daemon_arguments, field)
#define NUMBER(field, most)                                                                    \
	FLAG_NUMBER, FLAG_FIELD(int64_t, daemon_arguments, field), .max = most, .unit = 1
#define LIMIT(field)                                                                           \
	FLAG_NUMBER, FLAG_FIELD(uint64_t, daemon_arguments, field), .max = INT64_MAX, .unit = 1
#define TIME(field) FLAG_TIME, FLAG_FIELD(int64_t, daemon_arguments, field)
#define TAKE(function) FLAG_TAKE, .take = function

static const struct flag rows[] = {
	{ "root-dir", TEXT(daemon.root_dir) },
	{ "socket-dir", TEXT(socket_dir) },
	{ "rest-fd", NUMBER(rest_fd, MAX_FD) },
	{ "grpc-fd", NUMBER(grpc_fd, MAX_FD) },
	{ "listen-host", TEXT(host) },
	{ "rest-port", NUMBER(rest_port, 65535) },
	{ "grpc-port", NUMBER(grpc_port, 65535) },
	{ "auth-token-sha256", TAKE(take_hash) },
	{ "auth-token-file", TAKE(take_token_file) },
	{ "metadata-env-prefix", TAKE(take_prefix) },
	{ "shutdown-timeout", TIME(daemon.shutdown_timeout_ms) },
	{ "http-idle-timeout", TIME(daemon.idle_timeout_ms) },
	{ "stream-chunk-size", NUMBER(chunk_bytes, MAX_CHUNK) },
	{ "limit-processes", LIMIT(daemon.limits.processes) },
	{ "limit-open-files", LIMIT(daemon.limits.open_files) },
	{ "limit-file-size", LIMIT(daemon.limits.file_bytes) },
	{ "limit-address-space", LIMIT(daemon.limits.address_space_bytes) },
	{ "limit-data", LIMIT(daemon.limits.data_bytes) },
	{ "ready-fd", NUMBER(ready_fd, MAX_FD) },
	{ "filter-fd", NUMBER(filter_fd, MAX_FD) },
	{ "landlock", SWITCH(jail.has_landlock) },
	{ "own-userns", SWITCH(jail.has_own_userns) },
	{ "closed", SWITCH(jail.is_closed) },
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0], OPT_HELP = 256, OPT_VERSION };
_Static_assert(ROW_COUNT < '?', "getopt's own answer is no row");

static const struct option last[] = { { "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION }, { 0 } };

static bool take_option(struct daemon_arguments *args, const struct flag *row, const char *text)
{
	if (flags_set(row, args, text))
		return true;
	if (row->kind == FLAG_NUMBER)
		daemon_arguments_refuse("--%s wants a number from 0 to %lld, not '%s'",
			row->name, (long long)row->max, text);
	else if (row->kind == FLAG_TIME)
		daemon_arguments_refuse(
			"--%s wants a time like 10s, not '%s'", row->name, text);
	return false;
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
	struct option options[ROW_COUNT + 3];
	int id;
	flags_options(rows, ROW_COUNT, last, options);
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == OPT_HELP) {
			fputs(usage, stdout);
			return 0;
		}
		if (id == OPT_VERSION) {
			puts("sandmux-sandboxd " SANDMUX_VERSION);
			return 0;
		}
		if (id == '?') {
			daemon_arguments_refuse("see --help");
			return 2;
		}
		if (!take_option(args, &rows[id], optarg))
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
