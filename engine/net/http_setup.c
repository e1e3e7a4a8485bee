// SPDX-License-Identifier: Apache-2.0
/* From the options of a request to those of a curl easy handle. */
#include "engine/net/http_internal.h"

#include "engine/base/clock.h"
#include "engine/net/dial.h"

#include <openssl/ssl.h>
#include <string.h>
#include <strings.h>

static bool has_line_end(const char *text)
{
	return strpbrk(text, "\r\n") != NULL;
}

static bool has_header(const struct net_http_opts *opts, const char *name)
{
	for (size_t i = 0; i < opts->n_headers; i++)
		if (strcasecmp(opts->headers[i].name, name) == 0)
			return true;
	return false;
}

static void add_line(struct net_http_req *req, const char *line)
{
	struct curl_slist *list = curl_slist_append(req->headers, line);
	if (list == NULL)
		abort();
	req->headers = list;
}

static bool set_headers(
	struct net_http_req *req, const struct net_http_opts *opts, struct err *err)
{
	for (size_t i = 0; i < opts->n_headers; i++) {
		const char *name = opts->headers[i].name, *value = opts->headers[i].value;
		if (has_line_end(name) || has_line_end(value) || name[0] == '\0' ||
			strpbrk(name, ": ") != NULL)
			return err_set(
				err, ERR_ARG_INVALID, "a header has characters it may not");
		/* for libcurl "Name;" is an empty value and "Name:" is no header */
		char *line = value[0] != '\0' ? x_asprintf("%s: %s", name, value)
					      : x_asprintf("%s;", name);
		add_line(req, line);
		free(line);
	}
	/* libcurl adds these by itself */
	if (!has_header(opts, "content-type"))
		add_line(req, "Content-Type:");
	if (!has_header(opts, "expect"))
		add_line(req, opts->expect_continue ? "Expect: 100-continue" : "Expect:");
	curl_easy_setopt(req->easy, CURLOPT_USERAGENT, "sandmux/" SANDMUX_VERSION);
	return true;
}

/* --- where to --- */

static char *url_part(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL;
	if (curl_url_get(url, part, &text, flags) != CURLUE_OK)
		return NULL;
	char *copy = x_strdup(text);
	curl_free(text);
	return copy;
}

/* Host without brackets, and the port; false if the URL has none. */
static bool host_and_port(CURLU *url, char **host, uint16_t *port)
{
	char *text = url_part(url, CURLUPART_HOST, 0);
	char *port_text = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	bool ok = text != NULL && text[0] != '\0' && port_text != NULL;
	if (ok) {
		size_t n = strlen(text);
		bool is_v6 = text[0] == '[' && text[n - 1] == ']';
		*host = is_v6 ? x_strndup(text + 1, n - 2) : x_strdup(text);
		*port = (uint16_t)strtoul(port_text, NULL, 10); /* checked by the parser */
	}
	free(text);
	free(port_text);
	return ok;
}

/* The name in the certificate is not the one that is dialled: libcurl is given a URL with the
 * certificate's name, told to connect to the other, and the Host header keeps the original. */
static bool use_server_name(
	struct net_http_req *req, CURLU *url, const struct net_http_opts *opts)
{
	const char *name = net_tls_opts(req->tls)->server_name;
	if (strcasecmp(name, req->host) == 0)
		return true;
	bool dial_v6 = strchr(req->host, ':') != NULL, name_v6 = strchr(name, ':') != NULL;
	char *entry = x_asprintf("::%s%s%s:%u", dial_v6 ? "[" : "", req->host,
		dial_v6 ? "]" : "", (unsigned)req->port);
	req->connect_to = curl_slist_append(NULL, entry);
	free(entry);
	curl_easy_setopt(req->easy, CURLOPT_CONNECT_TO, req->connect_to);
	if (!has_header(opts, "host")) {
		char *line = x_asprintf("Host: %s%s%s:%u", dial_v6 ? "[" : "", req->host,
			dial_v6 ? "]" : "", (unsigned)req->port);
		add_line(req, line);
		free(line);
	}
	char *host = x_asprintf("%s%s%s", name_v6 ? "[" : "", name, name_v6 ? "]" : "");
	bool ok = curl_url_set(url, CURLUPART_HOST, host, 0) == CURLUE_OK;
	free(host);
	return ok;
}

/* Without a port libcurl would take 1080 for every kind of proxy. */
static long default_proxy_port(CURLU *url)
{
	char *scheme = url_part(url, CURLUPART_SCHEME, 0);
	long port = scheme == NULL || strcasecmp(scheme, "http") == 0 ? 80
		    : strcasecmp(scheme, "https") == 0                ? 443
								      : 1080;
	free(scheme);
	return port;
}

static bool set_proxy(struct net_http_req *req, const char *proxy, struct err *err)
{
	/* the empty string keeps libcurl from reading the environment */
	curl_easy_setopt(req->easy, CURLOPT_PROXY, proxy ? proxy : "");
	curl_easy_setopt(req->easy, CURLOPT_NOPROXY, "");
	if (proxy == NULL)
		return true;
	curl_easy_setopt(req->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	CURLU *url = curl_url();
	bool ok = curl_url_set(url, CURLUPART_URL, proxy,
			  CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
	char *host = ok ? url_part(url, CURLUPART_HOST, 0) : NULL;
	char *port = ok ? url_part(url, CURLUPART_PORT, 0) : NULL;
	long number = port != NULL ? (long)strtoul(port, NULL, 10) : default_proxy_port(url);
	curl_easy_setopt(req->easy, CURLOPT_PROXYPORT, number);
	ok = host != NULL && host[0] != '\0';
	if (ok) { /* the proxy resolves the rest */
		size_t n = strlen(host);
		free(req->host);
		req->host = host[0] == '[' ? x_strndup(host + 1, n - 2) : x_strdup(host);
		req->port = (uint16_t)number;
	}
	free(host);
	free(port);
	curl_url_cleanup(url);
	return ok || err_set(err, ERR_ARG_INVALID, "this is not a proxy URL");
}

static bool set_url(struct net_http_req *req, const struct net_http_opts *opts, struct err *err)
{
	CURLU *url = curl_url();
	if (url == NULL)
		abort();
	char *scheme = NULL;
	/* the path goes out as it is: "/a/../b" is the server's business */
	bool ok = curl_url_set(url, CURLUPART_URL, opts->url, CURLU_PATH_AS_IS) == CURLUE_OK &&
		  (scheme = url_part(url, CURLUPART_SCHEME, 0)) != NULL &&
		  (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) &&
		  host_and_port(url, &req->host, &req->port);
	bool is_https = ok && strcmp(scheme, "https") == 0;
	free(scheme);
	if (ok && is_https && req->tls != NULL && net_tls_opts(req->tls)->server_name != NULL)
		ok = use_server_name(req, url, opts);
	if (ok)
		req->url = url_part(url, CURLUPART_URL, 0);
	curl_url_cleanup(url);
	if (!ok || req->url == NULL)
		return err_set(err, ERR_ARG_INVALID, "this is not an http or https URL");
	curl_easy_setopt(req->easy, CURLOPT_URL, req->url);
	curl_easy_setopt(req->easy, CURLOPT_PATH_AS_IS, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(req->easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(
		req->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	return set_proxy(req, opts->proxy, err);
}

/* --- the connection --- */

/* Called each time the request is about to be sent. libcurl sends it again on a new connection when
 * a kept one turns out to be dead; what changes something is never repeated by us. */
static int on_before_request(
	void *arg, char *remote, char *local, int remote_port, int local_port)
{
	(void)remote;
	(void)local;
	(void)remote_port;
	(void)local_port;
	struct net_http_req *req = arg;
	bool is_safe = strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0;
	if (++req->attempts > 1 && !is_safe) {
		err_set(&req->fail, ERR_CONN_LOST,
			"the server closed the connection before it answered");
		return CURL_PREREQFUNC_ABORT;
	}
	if (req->is_dead)
		return CURL_PREREQFUNC_ABORT;
	req->is_connected = true;
	req->last_byte_ms = req->last_sent_ms = clock_mono_ms();
	net_http_wait_update(req);
	return CURL_PREREQFUNC_OK;
}

static struct curl_blob blob_of(const char *text)
{
	struct curl_blob blob = { .len = strlen(text), .flags = CURL_BLOB_NOCOPY };
	memcpy(&blob.data, &text, sizeof text); /* lives as long as req->tls */
	return blob;
}

/* libcurl lets OpenSSL free its buffers after each read, 16 KiB; a watch reads a thousand times a second, and its
 * connections are few. */
static CURLcode keep_buffers(CURL *easy, void *ctx, void *arg)
{
	(void)easy;
	(void)arg;
	SSL_CTX_clear_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	return CURLE_OK;
}

static bool set_tls(struct net_http_req *req, struct err *err)
{
	CURL *easy = req->easy;
	const char *library = curl_version_info(CURLVERSION_NOW)->ssl_version;
	curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (library != NULL && strncmp(library, "OpenSSL/", 8) == 0) /* what ctx is */
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, keep_buffers);
	if (req->tls == NULL)
		return true;
	const struct net_tls_opts *opts = net_tls_opts(req->tls);
	CURLcode code = CURLE_OK;
	if (opts->ca_pem != NULL) {
		struct curl_blob blob = blob_of(opts->ca_pem);
		code = curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
		/* only these: not the system's folder as well */
		curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
	if (code == CURLE_OK && opts->client_cert_pem != NULL) {
		struct curl_blob cert = blob_of(opts->client_cert_pem);
		struct curl_blob key = blob_of(opts->client_key_pem);
		code = curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &cert);
		if (code == CURLE_OK)
			code = curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
		curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
		curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
	}
	if (opts->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	return code == CURLE_OK ||
	       err_set(err, ERR_CONN_TLS, "this libcurl: %s", curl_easy_strerror(code));
}

/* --- method and body --- */

static void set_body(struct net_http_req *req, const struct net_http_opts *opts)
{
	CURL *easy = req->easy;
	if (strcmp(req->method, "HEAD") == 0) {
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
		return;
	}
	bool wants_body = strcmp(req->method, "POST") == 0 || strcmp(req->method, "PUT") == 0 ||
			  strcmp(req->method, "PATCH") == 0;
	if (opts->read_body != NULL) {
		curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(easy, CURLOPT_READFUNCTION, net_http_on_upload);
		curl_easy_setopt(easy, CURLOPT_READDATA, req);
		curl_easy_setopt(
			easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)opts->upload_bytes);
		curl_easy_setopt(
			easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)HTTP_STREAM_BUFFER_BYTES);
	} else if (opts->body.n > 0 || wants_body) {
		req->body_copy = x_malloc(opts->body.n);
		if (opts->body.n > 0)
			memcpy(req->body_copy, opts->body.p, opts->body.n);
		curl_easy_setopt(easy, CURLOPT_POST, 1L);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)opts->body.n);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, req->body_copy);
	}
	if (strcmp(req->method, "GET") != 0 || opts->body.n > 0 || opts->read_body != NULL)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, req->method);
}

static void set_callbacks(struct net_http_req *req)
{
	CURL *easy = req->easy;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, req);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, req->curl_text);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, net_http_on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, req);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, net_http_on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, req);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_before_request);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, req);
	net_http_tunnel_setup(req);
}

bool net_http_setup(struct net_http_req *req, const struct net_http_opts *opts, struct err *err)
{
	if (opts->method == NULL || opts->url == NULL || opts->done == NULL ||
		opts->method[strspn(opts->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")] != '\0')
		return err_set(err, ERR_ARG_INVALID, "a request needs a method and a URL");
	req->opts = *opts;
	req->opts.headers = NULL; /* what is kept of these is in libcurl's hands */
	req->opts.method = req->opts.url = req->opts.proxy = req->opts.lane = NULL;
	req->opts.body = (struct slice){ NULL, 0 };
	req->method = x_strdup(opts->method);
	CURL *easy = req->easy;
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, (long)HTTP_IDLE_CONNECTION_S);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
		(long)(opts->connect_timeout_ms > 0 ? opts->connect_timeout_ms
						    : HTTP_DEFAULT_CONNECT_MS));
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		(long)(opts->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
		(long)(opts->piece_bytes ? opts->piece_bytes
			: opts->on_body  ? HTTP_STREAM_BUFFER_BYTES
					 : HTTP_SMALL_BUFFER_BYTES));
	if (opts->accept_gzip)
		curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
	set_callbacks(req);
	if (!set_headers(req, opts, err) || !set_url(req, opts, err) || !set_tls(req, err))
		return false;
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, req->headers);
	set_body(req, opts);
	return true;
}

void net_http_setup_free(struct net_http_req *req)
{
	net_http_tunnel_free(req);
	curl_slist_free_all(req->headers);
	curl_slist_free_all(req->resolved);
	curl_slist_free_all(req->connect_to);
	free(req->method);
	free(req->url);
	free(req->body_copy);
	free(req->host);
}
