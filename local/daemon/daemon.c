// SPDX-License-Identifier: Apache-2.0
#include "local/daemon/daemon.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/net/loop.h"
#include "local/daemon/confine.h"
#include "local/daemon/h2.h"
#include "local/daemon/reaper.h"
#include "local/daemon/rest.h"
#include "local/daemon/service.h"

#include <event2/listener.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { TERM_GRACE_MS = 2000, ACCEPT_RETRY_MS = 100 };

enum phase { SERVING, ENDING_PROCESSES, ENDING_SERVERS, STOPPED };

struct daemon {
	struct net_loop *loop;
	struct daemon_opts opts;
	char *token_sha256;
	struct daemon_confine_root *root;
	struct daemon_reaper *reaper;
	struct daemon_service *service;
	struct daemon_h2_server *grpc;
	struct daemon_rest_server *rest;
	struct evconnlistener *rest_listener, *grpc_listener;
	struct net_loop_timer *accept_retry, *grace, *limit;
	enum phase phase;
	bool is_grpc_idle, is_rest_idle;
};

/* Constant time in the token: what is compared are hashes. */
static bool is_authorized(void *arg, struct slice authorization)
{
	struct daemon *daemon = arg;
	static const char scheme[] = "Bearer ";
	size_t n = sizeof scheme - 1;
	if (daemon->token_sha256 == NULL)
		return true;
	if (authorization.n <= n || strncasecmp(authorization.p, scheme, n) != 0)
		return false;
	char hex[DIGEST_SHA256_HEX];
	struct digest *digest = digest_new();
	digest_add(digest, authorization.p + n, authorization.n - n);
	digest_finish_hex(digest, hex);
	digest_free(digest);
	return strcasecmp(hex, daemon->token_sha256) == 0;
}

static void on_rest_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int address_n, void *arg)
{
	struct daemon *daemon = arg;
	(void)listener;
	(void)address;
	(void)address_n;
	daemon_rest_server_accept_take(daemon->rest, fd);
}

static void on_grpc_accept(struct evconnlistener *listener, evutil_socket_t fd,
	struct sockaddr *address, int address_n, void *arg)
{
	struct daemon *daemon = arg;
	(void)listener;
	(void)address;
	(void)address_n;
	daemon_h2_server_accept_take(daemon->grpc, fd);
}

static void on_accept_retry(void *arg)
{
	struct daemon *daemon = arg;
	if (daemon->rest_listener != NULL)
		evconnlistener_enable(daemon->rest_listener);
	if (daemon->grpc_listener != NULL)
		evconnlistener_enable(daemon->grpc_listener);
}

/* Out of descriptors: without a pause this would spin. */
static void on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct daemon *daemon = arg;
	evconnlistener_disable(listener);
	net_loop_timer_arm(daemon->accept_retry, ACCEPT_RETRY_MS);
}

static struct evconnlistener *listen_on(
	struct daemon *daemon, int fd, evconnlistener_cb on_accept, struct err *err)
{
	evutil_make_socket_nonblocking(fd);
	struct evconnlistener *listener = evconnlistener_new(net_loop_base(daemon->loop),
		on_accept, daemon, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (listener == NULL) {
		err_set(err, ERR_SYSTEM, "cannot listen on descriptor %d", fd);
		close(fd);
		return NULL;
	}
	evconnlistener_set_error_cb(listener, on_accept_error);
	return listener;
}

static void stop(void *arg)
{
	struct daemon *daemon = arg;
	if (daemon->phase == STOPPED)
		return;
	daemon->phase = STOPPED;
	if (daemon->opts.on_stopped != NULL)
		daemon->opts.on_stopped(daemon->opts.arg);
}

static void check_stopped(struct daemon *daemon)
{
	if (daemon->phase == ENDING_SERVERS && daemon->is_grpc_idle && daemon->is_rest_idle)
		stop(daemon);
}

static void on_grpc_idle(void *arg)
{
	struct daemon *daemon = arg;
	daemon->is_grpc_idle = true;
	check_stopped(daemon);
}

static void on_rest_idle(void *arg)
{
	struct daemon *daemon = arg;
	daemon->is_rest_idle = true;
	check_stopped(daemon);
}

static void close_listeners(struct daemon *daemon)
{
	if (daemon->rest_listener != NULL)
		evconnlistener_free(daemon->rest_listener);
	if (daemon->grpc_listener != NULL)
		evconnlistener_free(daemon->grpc_listener);
	daemon->rest_listener = daemon->grpc_listener = NULL;
}

static void end_servers(void *arg)
{
	struct daemon *daemon = arg;
	if (daemon->phase != ENDING_PROCESSES)
		return;
	daemon->phase = ENDING_SERVERS;
	daemon_service_signal_all(daemon->service, SIGKILL);
	close_listeners(daemon);
	daemon_rest_server_shutdown(daemon->rest);
	daemon_h2_server_shutdown(daemon->grpc);
}

void daemon_shutdown(struct daemon *daemon)
{
	if (daemon->phase != SERVING)
		return;
	daemon->phase = ENDING_PROCESSES;
	daemon_rest_server_set_ready(daemon->rest, false);
	net_loop_timer_arm(daemon->limit, daemon->opts.shutdown_timeout_ms);
	if (daemon_service_is_idle(daemon->service)) {
		end_servers(daemon);
		return;
	}
	daemon_service_on_idle(daemon->service, end_servers, daemon);
	daemon_service_signal_all(daemon->service, SIGTERM);
	net_loop_timer_arm(daemon->grace, TERM_GRACE_MS);
}

static void make_servers(struct daemon *daemon)
{
	struct daemon_service_opts service = { .root = daemon->root,
		.reaper = daemon->reaper,
		.limits = daemon->opts.limits,
		.chunk_bytes = daemon->opts.chunk_bytes };
	daemon->service = daemon_service_new(daemon->loop, &service);
	struct daemon_h2_server_opts grpc = { .service = daemon_service_name,
		.arg = daemon->service,
		.auth_arg = daemon,
		.is_authorized = is_authorized,
		.on_idle = on_grpc_idle };
	grpc.methods = daemon_service_methods(&grpc.n_methods);
	daemon->grpc = daemon_h2_server_new(daemon->loop, &grpc);
	struct daemon_rest_server_opts rest = { .root = daemon->root,
		.metadata_env_prefix = daemon->opts.metadata_env_prefix,
		.idle_timeout_ms = daemon->opts.idle_timeout_ms,
		.is_authorized = is_authorized,
		.is_open = daemon->token_sha256 == NULL,
		.on_idle = on_rest_idle,
		.arg = daemon };
	daemon->rest = daemon_rest_server_new(daemon->loop, &rest);
}

struct daemon *daemon_new(
	struct net_loop *loop, const struct daemon_opts *opts, struct err *err)
{
	struct daemon *daemon = x_calloc(1, sizeof *daemon);
	daemon->loop = loop;
	daemon->opts = *opts;
	daemon->token_sha256 = x_strdup(opts->token_sha256);
	daemon->accept_retry = net_loop_timer_new(loop, on_accept_retry, daemon);
	daemon->grace = net_loop_timer_new(loop, end_servers, daemon);
	daemon->limit = net_loop_timer_new(loop, stop, daemon);
	if (!file_make_dirs(opts->root_dir, 0755, err) ||
		(daemon->root = daemon_confine_root_open(opts->root_dir, err)) == NULL ||
		(daemon->reaper = daemon_reaper_new(loop, err)) == NULL)
		goto failed;
	make_servers(daemon);
	daemon->rest_listener = listen_on(daemon, opts->rest_fd, on_rest_accept, err);
	if (daemon->rest_listener == NULL)
		goto failed;
	daemon->grpc_listener = listen_on(daemon, opts->grpc_fd, on_grpc_accept, err);
	if (daemon->grpc_listener == NULL)
		goto failed;
	return daemon;
failed:
	daemon_free(daemon);
	return NULL;
}

void daemon_free(struct daemon *daemon)
{
	if (daemon == NULL)
		return;
	close_listeners(daemon);
	daemon_rest_server_free(daemon->rest);
	daemon_h2_server_free(daemon->grpc);
	daemon_service_free(daemon->service);
	daemon_reaper_free(daemon->reaper);
	daemon_confine_root_unref(daemon->root);
	net_loop_timer_free(daemon->accept_retry);
	net_loop_timer_free(daemon->grace);
	net_loop_timer_free(daemon->limit);
	free(daemon->token_sha256);
	free(daemon);
}
