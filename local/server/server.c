// SPDX-License-Identifier: Apache-2.0
/* Start and stop of the whole backend. The state directory:
 *
 *   lock, pid        one backend a directory
 *   objects.db       store.c
 *   tls/             the CA and the served certificate
 *   token, kubeconfig   0600
 *   pods/UID/        workspace without a claim, the daemon's log and token
 *   volumes/UID/     what volumeClaimTemplates asked for
 *   limits.json      what holds the limits of sandboxes (kubelet/limits.c)
 *   …/UID.json       whose folder this is (manifest.c)
 *   quarantine/      files whose object is not known
 *   trash/           on its way out */
#include "local/server/server.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/base/mem.h"
#include "engine/base/num.h"
#include "engine/base/path.h"
#include "engine/net/loop.h"
#include "local/server/api/api.h"
#include "local/server/api/guard.h"
#include "local/server/api/stream.h"
#include "local/server/api/upgrade.h"
#include "local/server/defaults.h"
#include "local/server/kubelet/volumes.h"
#include "local/server/manager/manager.h"
#include "local/server/node.h"
#include "local/server/token.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/http.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MAX = 65536, RECEIVE_BYTES = 128 << 10, IDLE_SECONDS = 120 };

/* ---- tokens ---- */

static bool tokens_open(struct server *s, struct err *err)
{
	char *path = path_join(s->opts.state_dir, "token");
	s->token = server_token_load(path, err);
	free(path);
	return s->token != NULL;
}

/* ---- listening ---- */

static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct server *s = arg;
	return api_guard_accept(s->guard, base, s->tls.ctx);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	/* inherited: what the kernel takes for a connection before anybody has looked at it */
	int one = 1, receive = RECEIVE_BYTES;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive, sizeof receive);
	if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 128) == 0)
		return fd;
	close(fd);
	return -1;
}

static uint16_t last_port(struct server *s)
{
	int64_t port = 0;
	char *text = store_meta_get(s->store, "port");
	if (text && !num_parse_i64(text, 1, 65535, &port))
		port = 0;
	free(text);
	return (uint16_t)port;
}

/* The port asked for, else that of last time, else any. */
static bool listen_open(struct server *s, struct err *err)
{
	struct sockaddr_in address;
	socklen_t n = sizeof address;
	char text[16];
	int fd = listen_on(s->opts.port ? s->opts.port : last_port(s));
	if (fd < 0 && !s->opts.port)
		fd = listen_on(0);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot listen on 127.0.0.1:%d", s->opts.port);
	struct evhttp_bound_socket *bound = NULL;
	if (getsockname(fd, (struct sockaddr *)&address, &n) == 0)
		bound = evhttp_accept_socket_with_handle(s->http, fd);
	if (!bound) {
		close(fd);
		return err_set(err, ERR_SYSTEM, "cannot accept connections");
	}
	api_guard_pause_on_error(s->guard, evhttp_bound_socket_get_listener(bound));
	s->port = ntohs(address.sin_port);
	snprintf(text, sizeof text, "%u", s->port);
	return store_meta_set(s->store, "port", text, err);
}

static bool http_open(struct server *s, struct err *err)
{
	s->guard = api_guard_new(s->loop, s->token, err);
	if (!s->guard)
		return false;
	s->http = evhttp_new(net_loop_base(s->loop));
	if (!s->http)
		return err_set(err, ERR_SYSTEM, "cannot make an HTTP server");
	evhttp_set_allowed_methods(s->http, EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_PUT |
						    EVHTTP_REQ_PATCH | EVHTTP_REQ_DELETE |
						    EVHTTP_REQ_HEAD);
	/* a little more than we take, so that most oversized bodies get a Status for an answer */
	evhttp_set_max_body_size(s->http, 2 * REQUEST_MAX_BODY);
	evhttp_set_max_headers_size(s->http, HEADERS_MAX);
	evhttp_set_timeout(s->http, IDLE_SECONDS);
	evhttp_set_default_content_type(s->http, NULL);
	evhttp_set_bevcb(s->http, on_connection, s);
	evhttp_set_gencb(s->http, api_handle, s);
	return listen_open(s, err);
}

/* ---- kubeconfig ---- */

static bool kubeconfig_write(struct server *s, struct err *err)
{
	struct str text;
	char *ca = digest_base64_encode(s->tls.ca_pem, strlen(s->tls.ca_pem));
	s->kubeconfig = path_join(s->opts.state_dir, "kubeconfig");
	str_init(&text, 65536);
	str_addf(&text,
		"apiVersion: v1\n"
		"kind: Config\n"
		"clusters:\n"
		"- name: sandmux-local\n"
		"  cluster:\n"
		"    server: https://127.0.0.1:%u\n"
		"    certificate-authority-data: %s\n"
		"users:\n"
		"- name: sandmux-local\n"
		"  user:\n"
		"    token: \"%s\"\n"
		"contexts:\n"
		"- name: sandmux-local\n"
		"  context:\n"
		"    cluster: sandmux-local\n"
		"    user: sandmux-local\n"
		"    namespace: default\n"
		"    extensions:\n"
		"    - name: sandmux\n"
		"      extension:\n"
		"        connectivity: in-cluster-pod-ip\n"
		"        local: true\n",
		s->port, ca, s->token);
	if (s->opts.daemon_auth) {
		char *file = path_join(s->opts.state_dir, "pods/{pod-uid}/daemon-token");
		cJSON *path = cJSON_CreateString(file);
		char *quoted = cJSON_PrintUnformatted(path);
		str_addf(&text, "        daemon-token-file: %s\n", quoted);
		free(quoted);
		cJSON_Delete(path);
		free(file);
	}
	str_add(&text, "current-context: sandmux-local\n");
	bool ok = file_write_atomic(s->kubeconfig, (struct slice){ text.p, text.n }, 0600, err);
	free(ca);
	str_deinit(&text);
	return ok;
}

/* ---- all of it ---- */

struct server *server_start(
	struct net_loop *loop, const struct server_opts *opts, struct err *err)
{
	struct server *s = x_calloc(1, sizeof *s);
	s->loop = loop;
	s->opts = *opts;
	s->on_news = api_stream_wake_all;
	if (s->opts.bookmark_ms <= 0)
		s->opts.bookmark_ms = 60000;
	char *db = path_join(opts->state_dir, "objects.db");
	char *tls_dir = path_join(opts->state_dir, "tls");
	struct store_opts store_opts = {
		.path = db,
		.history_max = opts->history_max,
		.history_ms = opts->history_ms,
		.must_exist = kubelet_volumes_are_there(opts->state_dir),
	};
	bool ok = file_make_dirs(opts->state_dir, 0700, err) &&
		  (s->store = store_open(&store_opts, err)) != NULL &&
		  server_local_tls_open(&s->tls, tls_dir, err) && tokens_open(s, err) &&
		  server_defaults_create(s, err) && server_node_update(s, err) &&
		  (s->controller = manager_start(s, err)) != NULL && http_open(s, err) &&
		  kubeconfig_write(s, err);
	free(db);
	free(tls_dir);
	if (ok)
		return s;
	server_free(s);
	return NULL;
}

void server_stop(struct server *s, void (*done)(void *arg), void *arg)
{
	api_stream_finish_all(s);
	api_upgrade_finish_all(s);
	manager_stop(s->controller, done, arg);
}

void server_free(struct server *s)
{
	if (!s)
		return;
	api_stream_finish_all(s);
	api_upgrade_finish_all(s);
	manager_free(s->controller);
	if (s->http)
		evhttp_free(s->http);
	api_guard_free(s->guard);
	server_local_tls_close(&s->tls);
	store_close(s->store);
	store_samples_deinit(&s->samples);
	free(s->token);
	free(s->kubeconfig);
	free(s);
}
