// SPDX-License-Identifier: Apache-2.0
/* The REST server and its routes: which endpoint a target means, redirects to the cleaned path, methods,
 * the token, health and metadata. Paths are judged as the Go library under sandboxd does it: cleaned
 * while still escaped, then decoded once. */
#include "local/daemon/rest_internal.h"

#include "engine/base/clock.h"
#include "engine/base/err.h"
#include "engine/base/map.h"
#include "engine/net/loop.h"
#include "engine/net/work_pool.h"
#include "local/daemon/quote.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

enum { MAX_METADATA_BYTES = 16 << 20 };

/* A name that may hold a secret is never shown, wherever the word is in it. */
static bool is_secret_name(const char *name, size_t n)
{
	static const char *const words[] = { "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CRED",
		"KEY", "AUTH", "BEARER", "PRIVATE", "CERT" };
	char *upper = x_strndup(name, n);
	for (char *c = upper; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	bool is_secret = false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		is_secret = is_secret || strstr(upper, words[i]) != NULL;
	free(upper);
	return is_secret;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *make_metadata(const char *prefix)
{
	size_t n = 0, n_chosen = 0;
	while (environ[n] != NULL)
		n++;
	char **chosen = x_calloc(n + 1, sizeof *chosen);
	for (size_t i = 0; i < n; i++) {
		size_t name_n = strcspn(environ[i], "=");
		if (environ[i][name_n] == '=' &&
			strncmp(environ[i], prefix, strlen(prefix)) == 0 &&
			!is_secret_name(environ[i], name_n))
			chosen[n_chosen++] = environ[i];
	}
	qsort(chosen, n_chosen, sizeof *chosen, by_text);
	struct str json;
	str_init(&json, MAX_METADATA_BYTES);
	str_add(&json, "{\"env\":{");
	for (size_t i = 0; i < n_chosen; i++) {
		size_t name_n = strcspn(chosen[i], "=");
		if (i > 0)
			str_add_char(&json, ',');
		daemon_quote_json(&json, (struct slice){ chosen[i], name_n });
		str_add_char(&json, ':');
		daemon_quote_json(&json, slice_of(chosen[i] + name_n + 1));
	}
	str_add(&json, "}}\n");
	free(chosen);
	char *text = str_take(&json);
	str_deinit(&json);
	return text;
}

static void free_server(void *arg)
{
	struct daemon_rest_server *server = arg;
	free(server->metadata);
	free(server);
}

void daemon_rest_server_free(struct daemon_rest_server *server)
{
	if (server == NULL)
		return;
	server->is_idle_told = true;
	net_work_cancel(server->sweep);
	while (server->conns != NULL)
		daemon_rest_conn_close(server->conns);
	net_loop_defer(server->loop, free_server, server); /* after its connections */
}

void daemon_rest_server_accept_take(struct daemon_rest_server *server, int fd)
{
	if (server->is_shutting_down)
		close(fd);
	else
		daemon_rest_conn_new_take(server, fd);
}

void daemon_rest_server_set_ready(struct daemon_rest_server *server, bool is_ready)
{
	server->is_ready = is_ready;
}

static void tell_idle(void *arg)
{
	struct daemon_rest_server *server = arg;
	server->opts.on_idle(server->opts.arg);
}

static void check_idle(struct daemon_rest_server *server)
{
	if (!server->is_shutting_down || server->conns != NULL || server->is_idle_told)
		return;
	server->is_idle_told = true;
	net_loop_defer(server->loop, tell_idle, server);
}

void daemon_rest_server_shutdown(struct daemon_rest_server *server)
{
	struct daemon_rest_conn *conn, *next;
	server->is_shutting_down = true;
	DL_FOREACH_SAFE(server->conns, conn, next)
		daemon_rest_conn_end_if_idle(conn);
	check_idle(server);
}

/* Paths. */

/* "." and ".." and doubled slashes removed, a trailing slash kept. */
static char *clean_path(const char *path)
{
	struct str out;
	str_init(&out, strlen(path) + 2);
	for (const char *p = path; *p;) {
		p += strspn(p, "/");
		size_t n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			char *slash = strrchr(out.p, '/');
			if (slash != NULL) {
				out.n = (size_t)(slash - out.p);
				*slash = 0;
			}
		} else if (n > 0 && !(n == 1 && p[0] == '.')) {
			str_add_char(&out, '/');
			str_add_bytes(&out, p, n);
		}
		p += n;
	}
	size_t path_n = strlen(path);
	if (out.n == 0 || (path_n > 0 && path[path_n - 1] == '/'))
		str_add_char(&out, '/');
	char *text = str_take(&out);
	str_deinit(&out);
	return text;
}

/* A path that the library would not have written so is escaped anew. */
static bool is_escaped_well(const char *path)
{
	for (const char *p = path; *p; p++)
		if (!isalnum((unsigned char)*p) && strchr("-._~!$&'()*+,;=:@/%[]", *p) == NULL)
			return false;
	return true;
}

static char *escape_path(struct slice path)
{
	struct str out;
	str_init(&out, path.n * 3);
	for (size_t i = 0; i < path.n; i++) {
		unsigned char c = (unsigned char)path.p[i];
		if (isalnum(c) || (c && strchr("-._~$&+,/:;=@", c) != NULL))
			str_add_char(&out, (char)c);
		else
			str_addf(&out, "%%%02X", c);
	}
	char *text = str_take(&out);
	str_deinit(&out);
	return text;
}

/* The path given is escaped once more, as sandboxd does. */
static void redirect(struct daemon_rest_conn *conn, const char *path)
{
	char *escaped = escape_path(slice_of(path));
	char *url = conn->query ? x_asprintf("%s?%s", escaped, conn->query) : x_strdup(escaped);
	char *headers = x_asprintf("Location: %s\r\n", url);
	const char *method = conn->request.method;
	bool is_get = strcmp(method, "GET") == 0;
	struct str body;
	str_init(&body, strlen(url) * 5 + 64);
	if (is_get) {
		str_add(&body, "<a href=\"");
		daemon_quote_html(&body, url);
		str_add(&body, "\">Temporary Redirect</a>.\n\n");
	}
	daemon_rest_answer(conn, 307,
		is_get || daemon_rest_is_head(conn) ? "text/html; charset=utf-8" : NULL,
		headers, (struct slice){ body.p, body.n });
	str_deinit(&body);
	free(headers);
	free(url);
	free(escaped);
}

/* Endpoints. */

static void answer_health(struct daemon_rest_conn *conn)
{
	if (!conn->server->is_ready) {
		daemon_rest_error(conn, 503, "UNAVAILABLE", "sandboxd is shutting down");
		return;
	}
	char body[80];
	snprintf(body, sizeof body, "{\"status\":\"ok\",\"uptime_seconds\":%lld}\n",
		(long long)((clock_mono_ms() - conn->server->start_ms) / 1000));
	daemon_rest_answer(conn, 200, "application/json", "", slice_of(body));
}

static void answer_metadata(struct daemon_rest_conn *conn)
{
	daemon_rest_answer(conn, 200, "application/json", "", slice_of(conn->server->metadata));
}

struct route {
	const char *path;
	bool is_tree;
	const char *allow;
	void (*get)(struct daemon_rest_conn *conn);
	void (*put)(struct daemon_rest_conn *conn);
	void (*del)(struct daemon_rest_conn *conn);
};

static const struct route routes[] = {
	{ "/v1/files/", true, "DELETE, GET, HEAD, PUT", daemon_rest_get, daemon_rest_put,
		daemon_rest_delete },
	{ "/v1/health", false, "GET, HEAD", answer_health, NULL, NULL },
	{ "/v1/metadata", false, "GET, HEAD", answer_metadata, NULL, NULL },
};

static void (*handler_of(const struct route *route, const char *method))(
	struct daemon_rest_conn *)
{
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return route->get;
	if (strcmp(method, "PUT") == 0)
		return route->put;
	return strcmp(method, "DELETE") == 0 ? route->del : NULL;
}

/* Whether path begins with the segments of a route, each decoded before it is compared; *rest is what
 * follows. */
static bool matches(const char *path, const char *route, const char **rest)
{
	char segment[16];
	while (*route) {
		if (*path != '/') /* also its end: nothing may be read behind that */
			return false;
		size_t path_n = strcspn(path + 1, "/"), route_n = strcspn(route + 1, "/");
		size_t n;
		if (path_n > sizeof segment ||
			!daemon_http1_unescape(
				(struct slice){ path + 1, path_n }, false, segment, &n) ||
			n != route_n || memcmp(segment, route + 1, n) != 0)
			return false;
		path += path_n + 1;
		route += route_n + 1;
		if (strcmp(route, "/") == 0) { /* a tree */
			*rest = path + 1;
			return *path == '/';
		}
	}
	*rest = path;
	return *path == 0;
}

static const struct route *find_route(const char *path, const char **rest)
{
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
		if (matches(path, routes[i].path, rest))
			return &routes[i];
	return NULL;
}

static void run_route(
	struct daemon_rest_conn *conn, const struct route *route, const char *tree_path)
{
	void (*handler)(struct daemon_rest_conn *) = handler_of(route, conn->request.method);
	if (handler == NULL) {
		char *headers = x_asprintf("Allow: %s\r\n", route->allow);
		daemon_rest_text(conn, 405, headers, "Method Not Allowed");
		free(headers);
		return;
	}
	if (route->is_tree) {
		struct slice rest = slice_of(tree_path);
		conn->path = x_malloc(rest.n + 1);
		daemon_http1_unescape(rest, false, conn->path, &conn->path_n);
		conn->path[conn->path_n] = 0;
	}
	handler(conn);
}

static bool is_allowed(struct daemon_rest_conn *conn, const struct route *route)
{
	const struct daemon_rest_server_opts *opts = &conn->server->opts;
	if (route == NULL || route->get == answer_health || opts->is_authorized == NULL ||
		opts->is_authorized(
			opts->arg, slice_of(conn->request.fields[HTTP1_AUTHORIZATION])))
		return true;
	daemon_rest_error(conn, 401, "UNAUTHENTICATED", "missing or invalid bearer token");
	return false;
}

static void route_path(struct daemon_rest_conn *conn, const char *escaped)
{
	const char *rest = "", *nothing;
	conn->is_routed = true;
	char *cleaned = clean_path(escaped);
	const struct route *route = find_route(cleaned, &rest);
	char *with_slash = x_asprintf("%s/", cleaned);
	bool is_tree_root = route == NULL && find_route(with_slash, &nothing) == &routes[0];
	const struct route *judged = is_tree_root ? &routes[0] : route;
	if (!is_allowed(conn, judged)) {
		/* answered */
	} else if (is_tree_root && handler_of(&routes[0], conn->request.method) != NULL) {
		redirect(conn, with_slash);
	} else if (strcmp(cleaned, escaped) != 0) {
		redirect(conn, cleaned);
	} else if (judged == NULL) {
		daemon_rest_text(conn, 404, "", "404 page not found");
	} else {
		run_route(conn, judged, rest);
	}
	free(with_slash);
	free(cleaned);
}

static void route_request(struct daemon_rest_conn *conn)
{
	char *target = conn->request.target;
	if (strncasecmp(target, "http://", 7) == 0) { /* absolute form (RFC 9112, 3.2.2) */
		char *path = strchr(target + 7, '/');
		target = path ? path : target + strlen(target);
	}
	char *question = strchr(target, '?');
	if (question != NULL) {
		*question = 0;
		conn->query = question + 1;
	}
	size_t n = strlen(target), decoded_n;
	char *decoded = x_malloc(n + 1);
	if (conn->server->opts.is_open && conn->is_local &&
		!daemon_rest_host_is_fine(conn->request.fields[HTTP1_HOST])) {
		conn->closes = true;
		daemon_rest_error(conn, 421, "PERMISSION_DENIED",
			"this Host is not served without a token");
	} else if (target[0] != '/' ||
		   !daemon_http1_unescape(slice_of(target), false, decoded, &decoded_n)) {
		conn->closes = true;
		daemon_rest_answer(conn, 400, "text/plain; charset=utf-8", "",
			slice_of("400 Bad Request"));
	} else if (is_escaped_well(target)) {
		route_path(conn, target);
	} else {
		char *escaped = escape_path((struct slice){ decoded, decoded_n });
		route_path(conn, escaped);
		free(escaped);
	}
	free(decoded);
}

/* What a connection tells. */

static void refuse_bad(struct daemon_rest_conn *conn)
{
	int status = conn->request.bad_status;
	char *text = status == 501 ? x_strdup("Unsupported transfer encoding")
				   : x_asprintf("%d %s%s", status, daemon_rest_reason(status),
					     conn->request.bad_detail);
	conn->closes = true;
	if (status == 417) {
		conn->is_routed = true;
		daemon_rest_answer(conn, status, NULL, "", (struct slice){ "", 0 });
	} else {
		daemon_rest_answer(
			conn, status, "text/plain; charset=utf-8", "", slice_of(text));
	}
	free(text);
}

static void refuse_body(struct daemon_rest_conn *conn, const char *why)
{
	conn->closes = true;
	daemon_rest_error(conn, 500, "INTERNAL", "failed to write file contents: %s", why);
}

static const struct daemon_rest_conn_calls calls = {
	.request = route_request,
	.bad_head = refuse_bad,
	.bad_body = refuse_body,
	.closed = check_idle,
};

struct daemon_rest_server *daemon_rest_server_new(
	struct net_loop *loop, const struct daemon_rest_server_opts *opts)
{
	struct daemon_rest_server *server = x_calloc(1, sizeof *server);
	server->loop = loop;
	server->opts = *opts;
	server->calls = &calls;
	net_work_keep_thread(loop); /* jobs may take the last one that the sandbox can have */
	server->metadata = make_metadata(opts->metadata_env_prefix);
	server->start_ms = clock_mono_ms();
	server->is_ready = true;
	daemon_rest_sweep_start(server);
	return server;
}
