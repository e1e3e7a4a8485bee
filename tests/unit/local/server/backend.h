// SPDX-License-Identifier: Apache-2.0
/* A whole backend in the test's own loop, asked over TLS. Header-only; JSON is written with ' for ". */
#pragma once

#include "tests/unit/engine/net/http_harness.h"

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/path.h"
#include "engine/net/dial.h"
#include "local/server/server.h"

#include <string.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define ALL_LEASES "/apis/coordination.k8s.io/v1/leases"
#define CLAIMS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxclaims"
#define POOLS "/apis/extensions.agents.x-k8s.io/v1beta1/namespaces/default/sandboxwarmpools"
#define JSON_PATCH "application/json-patch+json"
#define MERGE_PATCH "application/merge-patch+json"
#define APPLY_PATCH "application/apply-patch+yaml"

static struct net_loop *loop;
static struct net_http *http;
static struct server *backend;
static struct net_tls *tls;
static char folder[64];
static bool has_stopped;

static void on_stopped(void *arg)
{
	(void)arg;
	has_stopped = true;
}

static struct server_opts serve_opts = { .sandboxd = "/bin/false", .bookmark_ms = 100 };

static inline void serve(void)
{
	struct err err = { 0 };
	struct server_opts opts = serve_opts;
	opts.state_dir = folder;
	backend = server_start(loop, &opts, &err);
	if (backend == NULL)
		fail_msg("%s", err.msg);
}

static void stop(void)
{
	has_stopped = false;
	server_stop(backend, on_stopped, NULL);
	TURN_UNTIL(loop, has_stopped);
	server_free(backend);
	backend = NULL;
}

static int set_up(void **state)
{
	struct err err = { 0 };
	(void)state;
	loop = net_loop_new(&err);
	http = net_http_new(loop, &err);
	snprintf(folder, sizeof folder, "/tmp/sandmux-server-XXXXXX");
	assert_non_null(mkdtemp(folder));
	serve();
	size_t n;
	char *path = path_join(folder, "tls/ca.pem"), *ca = file_read(path, 65536, &n, &err);
	assert_non_null(ca);
	tls = net_tls_new(&(struct net_tls_opts){ .ca_pem = ca }, &err);
	assert_non_null(tls);
	free(ca);
	free(path);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	net_http_free(http);
	net_loop_run_once(loop, 0);
	if (backend != NULL)
		stop();
	net_tls_unref(tls);
	net_loop_run_once(loop, 0);
	net_loop_free(loop);
	if (fork() == 0) {
		execlp("rm", "rm", "-rf", folder, (char *)NULL);
		_exit(127);
	}
	return 0;
}

static inline char *url_to(const char *path)
{
	static char url[4][2048];
	static unsigned next;
	char *out = url[next++ % 4];
	snprintf(out, sizeof url[0], "https://127.0.0.1:%u%s", (unsigned)backend->port, path);
	return out;
}

static void ask_start(struct got *got, const char *method, const char *path, const char *body,
	const char *type, struct net_http_opts opts)
{
	char authorization[200];
	snprintf(authorization, sizeof authorization, "Bearer %s", backend->token);
	struct net_http_header headers[] = { { "Authorization", authorization },
		{ *body ? "Content-Type" : "Accept", type ? type : "application/json" } };
	char *copy = strdup(body);
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	got_init(got);
	opts.method = method;
	opts.url = url_to(path);
	opts.body = slice_of(copy);
	opts.headers = headers;
	opts.n_headers = 2;
	opts.tls = tls;
	got_start(got, http, opts);
	free(copy);
}

static inline struct got ask(
	const char *method, const char *path, const char *body, const char *type)
{
	struct got got;
	ask_start(&got, method, path, body, type, (struct net_http_opts){ .timeout_ms = 8000 });
	TURN_UNTIL(loop, got.done);
	if (got.err.code != ERR_NONE)
		fail_msg("%s %s: %s", method, path, got.err.msg);
	return got;
}

struct row {
	const char *method, *path, *body, *type;
	int status;
	const char *answer; /* found in it, ' for "; NULL: anything */
};

static inline void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct got got = ask(rows[i].method, rows[i].path, rows[i].body, rows[i].type);
		char wanted[1000];
		snprintf(wanted, sizeof wanted, "%s", rows[i].answer ? rows[i].answer : "");
		for (char *p = wanted; *p; p++)
			if (*p == '\'')
				*p = '"';
		if (got.status != rows[i].status ||
			strstr(got.body.p ? got.body.p : "", wanted) == NULL)
			fail_msg("row %zu, %s %s: %d %s", i, rows[i].method, rows[i].path,
				got.status, got.body.p);
		str_deinit(&got.body);
	}
}
#define CHECK(...)                                                                             \
	do {                                                                                   \
		static const struct row rows_[] = { __VA_ARGS__ };                             \
		check(rows_, COUNT(rows_));                                                    \
	} while (0)

#define POST(path, body, status, answer)                                                       \
	{                                                                                      \
		"POST", path, body, NULL, status, answer                                       \
	}
#define GET(path, status, answer)                                                              \
	{                                                                                      \
		"GET", path, "", NULL, status, answer                                          \
	}
#define PUT(path, body, status, answer)                                                        \
	{                                                                                      \
		"PUT", path, body, NULL, status, answer                                        \
	}
#define DELETE(path, body, status, answer)                                                     \
	{                                                                                      \
		"DELETE", path, body, NULL, status, answer                                     \
	}
