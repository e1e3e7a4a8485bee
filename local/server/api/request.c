// SPDX-License-Identifier: Apache-2.0
/* Taking requests apart and answering them. */
#include "local/server/api/request.h"

#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/json.h"
#include "engine/base/mem.h"
#include "engine/base/yaml.h"
#include "engine/k8s/status.h"
#include "local/server/api/protobuf.h"

#include <ctype.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

static bool split_path(struct api_request *req, const char *raw)
{
	size_t n = strlen(raw), used = 0;
	req->path = x_malloc(n + 1);
	for (const char *p = raw; *p;) {
		if (*p == '/') {
			p++;
			continue;
		}
		size_t part = strcspn(p, "/"), decoded_n;
		char *piece = x_strndup(p, part);
		char *decoded = evhttp_uridecode(piece, 0, &decoded_n);
		free(piece);
		bool ok = decoded && strlen(decoded) == decoded_n &&
			  req->n_segments < REQUEST_MAX_SEGMENTS && !strchr(decoded, '/');
		if (ok) {
			req->segments[req->n_segments++] = req->path + used;
			memcpy(req->path + used, decoded, decoded_n + 1);
			used += decoded_n + 1;
		}
		free(decoded);
		if (!ok)
			return false;
		p += part;
	}
	return true;
}

static bool has_parameter(const char *media, size_t n, const char *parameter)
{
	size_t m = strlen(parameter);
	for (size_t i = 0; i + m <= n; i++)
		if (strncasecmp(media + i, parameter, m) == 0 &&
			(i + m == n || strchr(";, ", media[i + m])))
			return true;
	return false;
}

static bool starts_with(const char *text, size_t n, const char *prefix)
{
	size_t m = strlen(prefix);
	return n >= m && strncasecmp(text, prefix, m) == 0;
}

/* The first of the client's media types that we can produce. */
static enum api_accept parse_accept(const char *header)
{
	if (!header || !*header)
		return ACCEPT_JSON;
	for (const char *p = header; *p;) {
		while (*p == ' ' || *p == ',')
			p++;
		size_t n = strcspn(p, ",");
		bool is_json = starts_with(p, n, "application/json");
		if (is_json && has_parameter(p, n, "as=Table") && has_parameter(p, n, "v=v1"))
			return ACCEPT_TABLE;
		if (is_json &&
			(has_parameter(p, n, "as=PartialObjectMetadata") ||
				has_parameter(p, n, "as=PartialObjectMetadataList")) &&
			has_parameter(p, n, "v=v1"))
			return ACCEPT_METADATA;
		if (is_json && has_parameter(p, n, "as=APIGroupDiscoveryList") &&
			has_parameter(p, n, "v=v2"))
			return ACCEPT_DISCOVERY;
		if ((is_json && !memmem(p, n, "as=", 3)) || starts_with(p, n, "*/*") ||
			starts_with(p, n, "application/*"))
			return ACCEPT_JSON;
		p += n;
	}
	return ACCEPT_NONE;
}

bool api_request_init(struct api_request *req, struct server *server, struct evhttp_request *ev)
{
	*req = (struct api_request){ .server = server, .ev = ev };
	req->method = evhttp_request_get_command(ev);
	req->warnings = cJSON_CreateArray();
	TAILQ_INIT(&req->query);
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(ev);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	const char *query = uri ? evhttp_uri_get_query(uri) : NULL;
	req->accept = parse_accept(api_request_header(req, "Accept"));
	struct evbuffer *in = evhttp_request_get_input_buffer(ev);
	req->body.n = evbuffer_get_length(in);
	if (req->body.n > 0 && req->body.n <= REQUEST_MAX_BODY)
		req->body.p = (const char *)evbuffer_pullup(in, -1);
	if (!path || !split_path(req, path))
		return false;
	return !query || evhttp_parse_query_str(query, &req->query) == 0;
}

void api_request_deinit(struct api_request *req)
{
	evhttp_clear_headers(&req->query);
	free(req->path);
	cJSON_Delete(req->warnings);
}

const char *api_request_query(const struct api_request *req, const char *name)
{
	return evhttp_find_header(&req->query, name);
}

bool api_request_query_bool(const struct api_request *req, const char *name)
{
	/* as the API server: "", "True" and "yes" are true */
	const char *value = api_request_query(req, name);
	return value && strcasecmp(value, "false") != 0 && strcmp(value, "0") != 0;
}

const char *api_request_header(const struct api_request *req, const char *name)
{
	return evhttp_find_header(evhttp_request_get_input_headers(req->ev), name);
}

const char *api_request_content_type(const struct api_request *req, char out[128])
{
	const char *header = api_request_header(req, "Content-Type");
	size_t n = header ? strcspn(header, "; ") : 0;
	if (n >= 128)
		n = 127;
	for (size_t i = 0; i < n; i++)
		out[i] = (char)tolower((unsigned char)header[i]);
	out[n] = '\0';
	return out;
}

cJSON *api_request_parse_body(const struct api_request *req, bool may_be_empty, cJSON **status)
{
	char type[128];
	struct err err = { 0 };
	cJSON *body;
	*status = NULL;
	if (req->body.n == 0) {
		if (!may_be_empty)
			*status = k8s_status_bad_request("the body of the request is empty");
		return NULL;
	}
	api_request_content_type(req, type);
	if (strcmp(type, "application/vnd.kubernetes.protobuf") == 0) {
		body = api_protobuf_namespace(req->body);
		if (body)
			return body;
	}
	if (strstr(type, "protobuf") || strstr(type, "cbor")) {
		*status = k8s_status_new(K8S_UNSUPPORTED_MEDIA_TYPE,
			"the body of the request was in an unknown format - accepted media types"
			" include: application/json, application/yaml");
		return NULL;
	}
	bool is_json = !strstr(type, "yaml");
	for (size_t i = 0; !is_json && i < req->body.n; i++) {
		if (isspace((unsigned char)req->body.p[i]))
			continue;
		is_json = req->body.p[i] == '{';
		break;
	}
	body = is_json ? json_parse(req->body, &err) : yaml_parse(req->body, &err);
	if (!body)
		*status = k8s_status_bad_request(
			"the body of the request cannot be read: %s", err.msg);
	return body;
}

void api_request_add_headers(struct api_request *req, const char *type)
{
	struct evkeyvalq *out = evhttp_request_get_output_headers(req->ev);
	char audit[33];
	const cJSON *w;
	digest_random_hex(audit, 32);
	evhttp_add_header(out, "Audit-Id", audit);
	evhttp_add_header(out, "Cache-Control", "no-cache, private");
	evhttp_add_header(out, "Content-Type", type);
	evhttp_add_header(out, "X-Content-Type-Options", "nosniff");
	cJSON_ArrayForEach(w, req->warnings)
	{
		struct str text;
		str_init(&text, 1024);
		str_add(&text, "299 - \"");
		for (const char *p = w->valuestring; *p; p++) {
			if (*p == '"' || *p == '\\')
				str_add_char(&text, '\\');
			str_add_char(&text, iscntrl((unsigned char)*p) ? ' ' : *p);
		}
		str_add(&text, "\"");
		evhttp_add_header(out, "Warning", text.p);
		str_deinit(&text);
	}
}

void api_request_reply_buffer(struct api_request *req, int code, struct evbuffer *body)
{
	api_request_add_headers(req, "application/json");
	evhttp_send_reply(req->ev, code, NULL, body);
}

void api_request_reply_bytes(
	struct api_request *req, int code, const char *type, const void *bytes, size_t n)
{
	struct evbuffer *body = evbuffer_new();
	evbuffer_add(body, bytes, n);
	api_request_add_headers(req, type);
	evhttp_send_reply(req->ev, code, NULL, body);
	evbuffer_free(body);
}

void api_request_reply_text(struct api_request *req, int code, const char *text)
{
	api_request_reply_bytes(req, code, "text/plain; charset=utf-8", text, strlen(text));
}

/* Pretty only for people's tools, as the API server does. */
static bool wants_pretty(const struct api_request *req)
{
	const char *agent = api_request_header(req, "User-Agent");
	const char *pretty = api_request_query(req, "pretty"); /* strconv.ParseBool */
	return (pretty && (strcmp(pretty, "1") == 0 || strcasecmp(pretty, "true") == 0)) ||
	       (agent && !api_request_query(req, "pretty") &&
		       (strncmp(agent, "curl/", 5) == 0 || strncmp(agent, "Wget/", 5) == 0));
}

void api_request_reply_json_take(struct api_request *req, int code, cJSON *json)
{
	char *text = wants_pretty(req) ? cJSON_Print(json) : cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	if (!text)
		abort();
	struct evbuffer *body = evbuffer_new();
	evbuffer_add(body, text, strlen(text));
	evbuffer_add(body, "\n", 1);
	free(text);
	api_request_reply_buffer(req, code, body);
	evbuffer_free(body);
}

void api_request_fail_take(struct api_request *req, cJSON *status)
{
	int code = k8s_status_code(status);
	int64_t retry = json_int(status, 0, "details", "retryAfterSeconds", NULL);
	if (retry > 0) {
		char text[24];
		snprintf(text, sizeof text, "%lld", (long long)retry);
		evhttp_add_header(
			evhttp_request_get_output_headers(req->ev), "Retry-After", text);
	}
	api_request_reply_json_take(req, code, status);
}

void api_request_reply_not_served(struct api_request *req)
{
	api_request_reply_text(req, 404, "404 page not found\n");
}
