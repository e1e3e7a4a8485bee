// SPDX-License-Identifier: Apache-2.0
#include "engine/kube/auth.h"

#include "engine/base/clock.h"
#include "engine/base/digest.h"
#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/log.h"
#include "engine/base/map.h"
#include "engine/kube/exec.h"
#include "engine/net/dial.h"
#include "engine/net/http.h"
#include "engine/net/loop.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	TOKEN_FILE_AGE_MS =
		60 * 1000, /* service account tokens rotate; client-go reads each minute */
	FORCED_RUN_GAP_MS = 5000,
};

struct kube_auth_wait {
	struct kube_auth *auth;
	void (*done)(void *arg, const struct err *err);
	void *arg;
	uint64_t batch;
	struct kube_auth_wait *prev, *next;
};

struct kube_auth {
	struct net_loop *loop;
	struct kube_config *config;
	const struct kube_credentials *credentials;
	bool sends_credentials; /* never in plaintext, as kubectl */
	struct kube_exec *exec;
	struct net_tls *exec_tls;
	uint64_t tls_generation, generation;
	char *file_token;
	int64_t file_read_ms; /* 0: never */
	int64_t forced_run_ms;
	int64_t login_began_ms, login_ms; /* the plugin at work: now, and before */
	struct kube_auth_wait *waits;
	uint64_t batch;
	struct net_loop_timer *kick;
	struct str authorization;
	char **extra_names; /* Impersonate-Extra-<key> */
};

/* ---- impersonation */

/* Header names are restricted to token characters: others are percent-encoded, as is '%'
 * (Kubernetes, "User impersonation": extra keys). */
static char *extra_name(const char *key)
{
	struct str name;
	str_init(&name, 1024);
	str_add(&name, "Impersonate-Extra-");
	for (const unsigned char *p = (const unsigned char *)key; *p; p++) {
		if (isalnum(*p) || strchr("!#$&'*+-.^_`|~", *p) != NULL)
			str_add_char(&name, (char)tolower(*p));
		else
			str_addf(&name, "%%%02X", *p);
	}
	return str_take(&name);
}

static size_t add_impersonation(
	const struct kube_auth *auth, struct net_http_header *out, size_t n, size_t max)
{
	const struct kube_credentials *c = auth->credentials;
	if (c->as == NULL)
		return n;
	if (n < max)
		out[n++] = (struct net_http_header){ "Impersonate-User", c->as };
	if (c->as_uid != NULL && n < max)
		out[n++] = (struct net_http_header){ "Impersonate-Uid", c->as_uid };
	for (size_t i = 0; i < c->n_as_groups && n < max; i++)
		out[n++] = (struct net_http_header){ "Impersonate-Group", c->as_groups[i] };
	for (size_t i = 0; i < c->n_as_extra && n < max; i++)
		out[n++] =
			(struct net_http_header){ auth->extra_names[i], c->as_extra[i].value };
	return n;
}

/* ---- the token file */

/* Reads it again when it is due. A file that vanished for a moment leaves the old token in use. */
static void refresh_file(struct kube_auth *auth, bool force)
{
	const char *path = auth->credentials->token_file;
	int64_t now = clock_mono_ms();
	if (path == NULL || (!force && auth->file_read_ms != 0 &&
				    now - auth->file_read_ms < TOKEN_FILE_AGE_MS))
		return;
	auth->file_read_ms = now > 0 ? now : 1;
	struct err err = { 0 };
	size_t n;
	char *token = file_read(path, KUBE_TOKEN_MAX_BYTES, &n, &err);
	if (token == NULL) {
		LOG("kube", LOG_WARN, "token file: %s", err.msg);
		return;
	}
	while (n > 0 && isspace((unsigned char)token[n - 1]))
		token[--n] = '\0';
	bool same = auth->file_token != NULL && strcmp(auth->file_token, token) == 0;
	if (n == 0 || same || !kube_is_header_value(token)) {
		if (!same)
			LOG("kube", LOG_WARN, "token file %s holds no token", path);
		x_free_secret(token);
		return;
	}
	x_free_secret(auth->file_token);
	auth->file_token = token;
	auth->generation++;
}

/* ---- the plugin */

static bool uses_exec(const struct kube_credentials *c)
{
	return c->exec != NULL && c->token == NULL && c->token_file == NULL &&
	       c->username == NULL && c->cert_pem == NULL;
}

static void finish_waits(struct kube_auth *auth, const struct err *err)
{
	/* those that a callback adds belong to the next batch */
	uint64_t batch = auth->batch++;
	struct kube_auth_wait *wait = auth->waits;
	while (wait != NULL) {
		if (wait->batch > batch) {
			wait = wait->next;
			continue;
		}
		void (*done)(void *, const struct err *) = wait->done;
		void *arg = wait->arg;
		kube_auth_wait_cancel(wait);
		done(arg, err);
		wait = auth->waits; /* the callback may have changed the list */
	}
}

/* A certificate of the plugin makes TLS settings of its own. */
static bool take_certificate(
	struct kube_auth *auth, const struct kube_exec_answer *answer, struct err *err)
{
	const struct net_tls *now = auth->exec_tls;
	if (answer->cert_pem == NULL || kube_config_tls(auth->config) == NULL)
		return true;
	if (now != NULL && strcmp(net_tls_opts(now)->client_cert_pem, answer->cert_pem) == 0)
		return true;
	const struct net_tls_opts opts = {
		.ca_pem = auth->config->ca_pem,
		.client_cert_pem = answer->cert_pem,
		.client_key_pem = answer->key_pem,
		.server_name = auth->config->tls_server_name,
		.insecure = auth->config->insecure,
	};
	struct net_tls *tls = net_tls_new(&opts, err);
	if (tls == NULL) {
		if (err != NULL)
			err->code = ERR_CONFIG_EXEC_PLUGIN;
		return err_prefix(err, "the certificate of the plugin");
	}
	if (auth->exec_tls != NULL)
		net_tls_unref(auth->exec_tls);
	auth->exec_tls = tls;
	auth->tls_generation++;
	return true;
}

static void on_exec_ready(void *arg, const struct err *err)
{
	struct kube_auth *auth = arg;
	struct err why = { 0 };
	const struct kube_exec_answer *answer = kube_exec_answer(auth->exec);
	auth->login_ms += clock_mono_ms() - auth->login_began_ms;
	auth->login_began_ms = 0;
	if (err == NULL && answer == NULL) {
		err_set(&why, ERR_CONFIG_EXEC_PLUGIN,
			"the plugin's credential had expired when it came");
		err = &why;
	} else if (err == NULL) {
		auth->generation++;
		if (!take_certificate(auth, answer, &why))
			err = &why;
	}
	finish_waits(auth, err);
}

static void on_kick(void *arg)
{
	struct kube_auth *auth = arg;
	struct err err = { 0 };
	if (auth->waits == NULL)
		return;
	if (kube_auth_is_ready(auth))
		finish_waits(auth, NULL);
	else if (!kube_exec_run(auth->exec, on_exec_ready, auth, &err))
		finish_waits(auth, &err);
	else
		auth->login_began_ms = clock_mono_ms();
}

bool kube_auth_is_logging_in(const struct kube_auth *auth)
{
	return auth->exec != NULL && kube_exec_is_running(auth->exec);
}

int64_t kube_auth_login_ms(const struct kube_auth *auth)
{
	int64_t began = auth->login_began_ms;
	return auth->login_ms + (began ? clock_mono_ms() - began : 0);
}

bool kube_auth_is_ready(const struct kube_auth *auth)
{
	return auth->exec == NULL || kube_exec_answer(auth->exec) != NULL;
}

struct kube_auth_wait *kube_auth_wait_start(
	struct kube_auth *auth, void (*done)(void *arg, const struct err *err), void *arg)
{
	struct kube_auth_wait *wait = x_calloc(1, sizeof *wait);
	wait->auth = auth;
	wait->done = done;
	wait->arg = arg;
	wait->batch = auth->batch;
	DL_APPEND(auth->waits, wait);
	net_loop_timer_arm(auth->kick, 0);
	return wait;
}

void kube_auth_wait_cancel(struct kube_auth_wait *wait)
{
	if (wait == NULL)
		return;
	DL_DELETE(wait->auth->waits, wait);
	free(wait);
}

/* ---- what requests need */

static const char *token_of(struct kube_auth *auth)
{
	if (auth->exec != NULL) {
		const struct kube_exec_answer *answer = kube_exec_answer(auth->exec);
		return answer ? answer->token : NULL;
	}
	refresh_file(auth, false);
	return auth->file_token ? auth->file_token : auth->credentials->token;
}

size_t kube_auth_headers(struct kube_auth *auth, struct net_http_header *out, size_t max)
{
	const struct kube_credentials *c = auth->credentials;
	size_t n = 0;
	if (!auth->sends_credentials) /* who we want to be is no secret, and leaving it out would change who acts */
		return add_impersonation(auth, out, n, max);
	const char *token = token_of(auth);
	if (auth->authorization.n > 0)
		explicit_bzero(auth->authorization.p, auth->authorization.n);
	str_clear(&auth->authorization);
	if (token != NULL) {
		str_addf(&auth->authorization, "Bearer %s", token);
	} else if (c->username != NULL) {
		char *pair = x_asprintf("%s:%s", c->username, c->password ? c->password : "");
		char *base64 = digest_base64_encode(pair, strlen(pair));
		str_addf(&auth->authorization, "Basic %s", base64);
		x_free_secret(pair);
		x_free_secret(base64);
	}
	if (auth->authorization.n > 0 && n < max)
		out[n++] = (struct net_http_header){ "Authorization", auth->authorization.p };
	return add_impersonation(auth, out, n, max);
}

struct net_tls *kube_auth_tls(struct kube_auth *auth)
{
	return auth->exec_tls ? auth->exec_tls : kube_config_tls(auth->config);
}

uint64_t kube_auth_tls_generation(const struct kube_auth *auth)
{
	return auth->tls_generation;
}

uint64_t kube_auth_generation(const struct kube_auth *auth)
{
	return auth->generation;
}

bool kube_auth_rejected(struct kube_auth *auth, uint64_t generation)
{
	if (generation != auth->generation)
		return true; /* a newer one is there already */
	if (auth->credentials->token_file != NULL) {
		refresh_file(auth, true);
		return generation != auth->generation;
	}
	if (auth->exec == NULL)
		return false;
	/* the 401 of another request has sent for a new one already */
	if (kube_exec_answer(auth->exec) == NULL)
		return true;
	int64_t now = clock_mono_ms();
	if (auth->forced_run_ms != 0 && now - auth->forced_run_ms < FORCED_RUN_GAP_MS)
		return false;
	auth->forced_run_ms = now;
	kube_exec_forget(auth->exec);
	return true;
}

struct kube_auth *kube_auth_new(struct net_loop *loop, struct kube_config *config)
{
	struct kube_auth *auth = x_calloc(1, sizeof *auth);
	auth->loop = loop;
	auth->config = kube_config_ref(config);
	auth->credentials = &config->credentials;
	auth->kick = net_loop_timer_new(loop, on_kick, auth);
	str_init(&auth->authorization, KUBE_TOKEN_MAX_BYTES * 2);
	auth->sends_credentials = strncasecmp(config->server, "https:", 6) == 0;
	if (auth->sends_credentials && uses_exec(auth->credentials))
		auth->exec = kube_exec_new(loop, auth->credentials->exec, &config->plugins);
	size_t n = auth->credentials->n_as_extra;
	auth->extra_names = x_calloc(n, sizeof *auth->extra_names);
	for (size_t i = 0; i < n; i++)
		auth->extra_names[i] = extra_name(auth->credentials->as_extra[i].key);
	return auth;
}

void kube_auth_free(struct kube_auth *auth)
{
	if (auth == NULL)
		return;
	while (auth->waits != NULL)
		kube_auth_wait_cancel(auth->waits);
	kube_exec_free(auth->exec);
	if (auth->exec_tls != NULL)
		net_tls_unref(auth->exec_tls);
	net_loop_timer_free(auth->kick);
	x_free_secret(auth->file_token);
	if (auth->authorization.n > 0)
		explicit_bzero(auth->authorization.p, auth->authorization.n);
	str_deinit(&auth->authorization);
	for (size_t i = 0; i < auth->credentials->n_as_extra; i++)
		free(auth->extra_names[i]);
	free(auth->extra_names);
	kube_config_unref(auth->config);
	free(auth);
}
