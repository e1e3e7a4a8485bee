// SPDX-License-Identifier: Apache-2.0
/* From a URL to a handler: authentication, then the fixed paths, then the resource paths
 * /api/v1 or /apis/GROUP/VERSION, [/namespaces/NS] /PLURAL [/NAME [/SUBRESOURCE]]. */
#include "local/server/api/api.h"

#include "engine/base/json.h"
#include "engine/base/log.h"
#include "engine/k8s/status.h"
#include "local/server/api/guard.h"
#include "local/server/server.h"

#include <event2/bufferevent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

static bool is_authorized(const struct api_request *req)
{
	const char *header = api_request_header(req, "Authorization");
	const char *token = req->server->token;
	if (!header || strncasecmp(header, "Bearer ", 7) != 0)
		return false;
	header += 7;
	while (*header == ' ')
		header++;
	return strlen(header) == strlen(token) &&
	       CRYPTO_memcmp(header, token, strlen(token)) == 0;
}

static void method_not_allowed(struct api_request *req)
{
	api_request_fail_take(req,
		k8s_status_new(K8S_METHOD_NOT_ALLOWED,
			"the server does not allow this method on the requested resource"));
}

static void on_subresource(struct api_request *req, const struct api_target *t)
{
	bool is_get = req->method == EVHTTP_REQ_GET;
	bool is_write = req->method == EVHTTP_REQ_PUT || req->method == EVHTTP_REQ_PATCH;
	if (t->r->has_status && strcmp(t->sub, "status") == 0) {
		if (is_get)
			api_get(req, t);
		else if (req->method == EVHTTP_REQ_PUT)
			api_update(req, t);
		else if (req->method == EVHTTP_REQ_PATCH)
			api_patch(req, t);
		else
			method_not_allowed(req);
	} else if (t->r->has_scale && strcmp(t->sub, "scale") == 0) {
		if (is_get || is_write)
			api_scale(req, t);
		else
			method_not_allowed(req);
	} else if (t->r->kind == KIND_POD && strcmp(t->sub, "log") == 0) {
		if (is_get)
			api_pod_log(req, t);
		else
			method_not_allowed(req);
	} else if (t->r->kind == KIND_POD && api_pod_connect(req, t)) {
		return;
	} else {
		api_request_fail_take(
			req, k8s_status_new(K8S_NOT_FOUND,
				     "the server could not find the requested resource"));
	}
}

static void on_resource(struct api_request *req, const struct api_target *t)
{
	if (req->accept == ACCEPT_NONE || req->accept == ACCEPT_DISCOVERY) {
		/* what a pod's subresources answer is no object */
		if (!t->sub || t->r->kind != KIND_POD || strcmp(t->sub, "status") == 0) {
			api_request_fail_take(
				req, k8s_status_new(K8S_NOT_ACCEPTABLE,
					     "only the following media types are accepted:"
					     " application/json"));
			return;
		}
	}
	if (t->sub) {
		on_subresource(req, t);
		return;
	}
	bool is_all = t->r->api->is_namespaced && !t->ns;
	switch (req->method) {
	case EVHTTP_REQ_GET:
		if (t->name)
			api_get(req, t);
		else if (api_request_query_bool(req, "watch"))
			api_watch(req, t);
		else
			api_list(req, t);
		return;
	case EVHTTP_REQ_POST:
		if (!t->name && !is_all) {
			api_create(req, t);
			return;
		}
		break;
	case EVHTTP_REQ_PUT:
		if (t->name) {
			api_update(req, t);
			return;
		}
		break;
	case EVHTTP_REQ_PATCH:
		if (t->name) {
			api_patch(req, t);
			return;
		}
		break;
	case EVHTTP_REQ_DELETE:
		if (t->name)
			api_delete(req, t);
		else if (!is_all)
			api_delete_collection(req, t);
		else
			method_not_allowed(req);
		return;
	default:
		break;
	}
	method_not_allowed(req);
}

/* What is left of the path after group and version. */
static bool parse_target(
	struct api_target *t, const char *group, const char *version, char **seg, size_t n)
{
	*t = (struct api_target){ 0 };
	/* /namespaces and /namespaces/NS are objects; /namespaces/NS/PLURAL is a scope */
	if (n >= 3 && strcmp(seg[0], "namespaces") == 0 &&
		!(strcmp(group, "") == 0 && strcmp(seg[2], "status") == 0)) {
		t->ns = seg[1];
		seg += 2;
		n -= 2;
	}
	if (n == 0 || n > 3)
		return false;
	t->r = store_resource_find(group, version, seg[0]);
	if (!t->r || (t->ns && !t->r->api->is_namespaced))
		return false;
	t->name = n > 1 ? seg[1] : NULL;
	t->sub = n > 2 ? seg[2] : NULL;
	return !(t->name && t->r->api->is_namespaced && !t->ns);
}

static void on_group_path(
	struct api_request *req, const char *group, const char *version, char **seg, size_t n)
{
	struct api_target t;
	if (n == 0)
		api_discovery_version(req, group, version);
	else if (n == 1 && strcmp(version, "v1") == 0 && api_review(req, group, seg[0]))
		return;
	else if (strcmp(group, "metrics.k8s.io") == 0 && strcmp(version, "v1beta1") == 0)
		api_metrics(req, seg, n);
	else if (parse_target(&t, group, version, seg, n))
		on_resource(req, &t);
	else
		api_request_reply_not_served(req);
}

static void on_openapi(struct api_request *req, char **seg, size_t n)
{
	if (n == 1 && strcmp(seg[0], "v2") == 0)
		api_openapi_v2(req);
	else if (n == 1 && strcmp(seg[0], "v3") == 0)
		api_openapi_v3(req);
	else if (n == 3 && strcmp(seg[1], "api") == 0)
		api_openapi_v3_group(req, "", seg[2]);
	else if (n == 4 && strcmp(seg[1], "apis") == 0)
		api_openapi_v3_group(req, seg[2], seg[3]);
	else
		api_request_reply_not_served(req);
}

static void on_root(struct api_request *req)
{
	static const char *const paths[] = { "/api", "/api/v1", "/apis",
		"/apis/agents.x-k8s.io/v1beta1", "/apis/extensions.agents.x-k8s.io/v1beta1",
		"/apis/coordination.k8s.io/v1", "/apis/discovery.k8s.io/v1",
		"/apis/events.k8s.io/v1", "/apis/metrics.k8s.io/v1beta1", "/healthz", "/livez",
		"/openapi/v2", "/openapi/v3", "/readyz", "/version" };
	cJSON *out = cJSON_CreateObject();
	cJSON_AddItemToObject(
		out, "paths", cJSON_CreateStringArray(paths, sizeof paths / sizeof paths[0]));
	api_request_reply_json_take(req, 200, out);
}

static bool is_health(const char *name)
{
	return strcmp(name, "healthz") == 0 || strcmp(name, "livez") == 0 ||
	       strcmp(name, "readyz") == 0;
}

static void route(struct api_request *req)
{
	char **seg = req->segments;
	size_t n = req->n_segments;
	if (!api_guard_is_host(api_request_header(req, "Host"))) {
		api_request_fail_take(
			req, k8s_status_new(K8S_MISDIRECTED,
				     "this server answers to 127.0.0.1 and localhost only"));
		return;
	}
	if (n == 1 && is_health(seg[0])) {
		api_request_reply_text(req, 200, "ok");
		return;
	}
	if (!is_authorized(req)) {
		api_request_fail_take(req, k8s_status_new(K8S_UNAUTHORIZED, "Unauthorized"));
		return;
	}
	api_guard_know(req->ev);
	if (req->body.n > REQUEST_MAX_BODY) {
		api_request_fail_take(req,
			k8s_status_new(K8S_TOO_LARGE, "Request entity too large: limit is %d",
				REQUEST_MAX_BODY));
		return;
	}
	if (n == 0)
		on_root(req);
	else if (n == 1 && strcmp(seg[0], "version") == 0)
		api_version(req);
	else if (n == 1 && strcmp(seg[0], "api") == 0)
		api_discovery_api(req);
	else if (n == 1 && strcmp(seg[0], "apis") == 0)
		api_discovery_apis(req);
	else if (n == 2 && strcmp(seg[0], "apis") == 0)
		api_discovery_group(req, seg[1]);
	else if (strcmp(seg[0], "openapi") == 0)
		on_openapi(req, seg + 1, n - 1);
	else if (n >= 2 && strcmp(seg[0], "api") == 0)
		on_group_path(req, "", seg[1], seg + 2, n - 2);
	else if (n >= 3 && strcmp(seg[0], "apis") == 0)
		on_group_path(req, seg[1], seg[2], seg + 3, n - 3);
	else
		api_request_reply_not_served(req);
}

/* Head and body of an answer are two writes: without this the second waits for the client's ACK (40 ms). */
static void send_at_once(struct evhttp_request *ev)
{
	struct evhttp_connection *con = evhttp_request_get_connection(ev);
	struct bufferevent *bev = con ? evhttp_connection_get_bufferevent(con) : NULL;
	int on = 1;
	if (bev)
		setsockopt(bufferevent_getfd(bev), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void api_handle(struct evhttp_request *ev, void *arg)
{
	struct api_request req;
	send_at_once(ev);
	if (api_request_init(&req, arg, ev)) {
		LOG("api", LOG_DEBUG, "%d %s", (int)req.method, evhttp_request_get_uri(ev));
		/* what a client is told has happened is there after a power cut */
		store_set_durable(req.server->store, true);
		route(&req);
		store_set_durable(req.server->store, false);
	} else {
		api_request_fail_take(&req, k8s_status_bad_request("the URL cannot be read"));
	}
	api_request_deinit(&req);
}
