// SPDX-License-Identifier: Apache-2.0
/* From options, environment and files to one frozen kube_config.
 *
 *   --in-cluster ─────────────────────────────────────────> service account
 *   --kubeconfig | KUBECONFIG list | ~/.kube/config ─> merged ─> context ─> cluster + user
 *   nothing found ─> service account, else ERR_CONFIG_NONE
 *   flags (--server, --token, --as …) are laid over the result */
#include "engine/kube/config_internal.h"

#include "engine/base/err.h"
#include "engine/base/file.h"
#include "engine/base/mem.h"
#include "engine/net/dial.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool kube_merged_read(
	struct kube_merged *merged, const struct kube_config_opts *opts, struct err *err)
{
	if (opts->kubeconfig != NULL)
		return kube_merged_add(merged, opts->kubeconfig, true, err);
	const char *list = getenv("KUBECONFIG");
	if (list != NULL && list[0]) {
		while (*list) {
			size_t n = strcspn(list, ":");
			char *path = x_strndup(list, n);
			bool ok = n == 0 || kube_merged_add(merged, path, false, err);
			free(path);
			if (!ok)
				return false;
			list += n;
			list += *list == ':';
		}
		return true;
	}
	const char *home = getenv("HOME");
	if (home == NULL || !home[0])
		return true;
	char *path = x_asprintf("%s/.kube/config", home);
	bool ok = kube_merged_add(merged, path, false, err);
	free(path);
	return ok;
}

static bool fail_with_names(const struct kube_merged *merged, const char *what,
	const struct kube_entry *known, struct err *err)
{
	struct str names;
	str_init(&names, 200);
	for (; known != NULL; known = known->next)
		str_addf(&names, "%s%s", names.n ? ", " : "", known->name);
	err_set(err, ERR_CONFIG_KUBECONFIG, "%s (there are: %s%s)", what,
		names.n ? names.p : "none", names.truncated ? "…" : "");
	str_deinit(&names);
	if (merged->files != NULL && merged->files->next == NULL)
		err_prefix(err, "%s", merged->files->path);
	if (merged->missing != NULL)
		err_prefix(err, "%s does not exist", merged->missing);
	return false;
}

static bool missing(const struct kube_merged *merged, const char *kind, const char *name,
	const struct kube_entry *known, struct err *err)
{
	char *what = x_asprintf("no %s is called '%s'", kind, name);
	fail_with_names(merged, what, known, err);
	free(what);
	return false;
}

static bool no_current(const struct kube_merged *merged, struct err *err)
{
	return fail_with_names(merged, "no current-context is set: choose one with --context",
		merged->contexts, err);
}

static bool read_cluster(
	struct kube_config *config, const struct kube_entry *cluster, struct err *err)
{
	const char *server, *name, *proxy;
	if (!kube_entry_str(cluster, cluster->value, "server", &server, err) ||
		!kube_entry_str(cluster, cluster->value, "tls-server-name", &name, err) ||
		!kube_entry_str(cluster, cluster->value, "proxy-url", &proxy, err) ||
		!kube_entry_bool(cluster, "insecure-skip-tls-verify", &config->insecure, err) ||
		!kube_entry_bool(
			cluster, "disable-compression", &config->disable_compression, err) ||
		!kube_entry_pem(cluster, "certificate-authority", &config->ca_pem, err))
		return false;
	config->server = x_strdup(server);
	config->tls_server_name = x_strdup(name);
	if (proxy != NULL) {
		config->proxy = kube_proxy_normalize(proxy);
		if (config->proxy == NULL)
			return kube_entry_fail(cluster, "proxy-url", err,
				"must begin with http://, https:// or socks5://");
	}
	if (config->insecure && config->ca_pem != NULL)
		return kube_entry_fail(cluster, "insecure-skip-tls-verify", err,
			"cannot stand beside a certificate-authority");
	return true;
}

static void read_extensions(struct kube_config *config, const struct kube_entry *context)
{
	const cJSON *item;
	cJSON_ArrayForEach(item, json_get(context->value, "extensions", NULL))
	{
		const char *name = json_str(item, "name", NULL);
		const cJSON *value = json_get(item, "extension", NULL);
		if (name == NULL || value == NULL || json_get(config->extensions, name, NULL))
			continue;
		cJSON_AddItemToObject(config->extensions, name, cJSON_Duplicate(value, true));
	}
}

static bool read_context(struct kube_config *config, const struct kube_merged *merged,
	const struct kube_config_opts *opts, struct err *err)
{
	const char *name = opts->context ? opts->context : merged->current_context;
	const char *cluster = NULL, *user = NULL, *namespace_ = NULL;
	const struct kube_entry *context = NULL;
	if (name != NULL) {
		context = kube_entry_find(merged->contexts, name);
		if (context == NULL)
			return missing(merged, "context", name, merged->contexts, err);
		if (!kube_entry_str(context, context->value, "cluster", &cluster, err) ||
			!kube_entry_str(context, context->value, "user", &user, err) ||
			!kube_entry_str(context, context->value, "namespace", &namespace_, err))
			return false;
		read_extensions(config, context);
	} else if (opts->cluster == NULL && opts->server == NULL) {
		return no_current(merged, err);
	}
	config->context = x_strdup(name ? name : "");
	config->namespace_ = x_strdup(namespace_);
	cluster = opts->cluster ? opts->cluster : cluster;
	user = opts->user ? opts->user : user;
	const struct kube_entry *cluster_entry =
		cluster ? kube_entry_find(merged->clusters, cluster) : NULL;
	if (cluster != NULL && cluster_entry == NULL)
		return missing(merged, "cluster", cluster, merged->clusters, err);
	if (cluster_entry == NULL && opts->server == NULL)
		return err_set(err, ERR_CONFIG_KUBECONFIG, "context '%s' names no cluster",
			name ? name : "");
	if (cluster_entry != NULL && !read_cluster(config, cluster_entry, err))
		return false;
	const struct kube_entry *user_entry =
		user ? kube_entry_find(merged->users, user) : NULL;
	if (user != NULL && user_entry == NULL)
		return missing(merged, "user", user, merged->users, err);
	config->user = x_strdup(user ? user : "");
	const struct kube_entry none = { .name = x_strdup(""), .file = merged->files };
	bool ok = user_entry == NULL || kube_user_read(&config->credentials, user_entry,
						cluster_entry ? cluster_entry : &none, err);
	free(none.name);
	return ok;
}

/* What the command line gives beats what the files say. */
static bool apply_flags(
	struct kube_config *config, const struct kube_config_opts *opts, struct err *err)
{
	struct kube_credentials *c = &config->credentials;
	if (opts->server != NULL) {
		free(config->server);
		config->server = x_strdup(opts->server);
	}
	if (opts->namespace_ != NULL) {
		free(config->namespace_);
		config->namespace_ = x_strdup(opts->namespace_);
	}
	if (opts->insecure_skip_tls_verify) {
		if (opts->certificate_authority != NULL)
			return err_set(err, ERR_ARG_INVALID,
				"--insecure-skip-tls-verify and --certificate-authority exclude "
				"each other");
		config->insecure = true;
		free(config->ca_pem);
		config->ca_pem = NULL;
	}
	if (opts->certificate_authority != NULL) {
		size_t n;
		free(config->ca_pem);
		config->insecure = false;
		config->ca_pem =
			file_read(opts->certificate_authority, KUBE_CONFIG_MAX_BYTES, &n, err);
		if (config->ca_pem == NULL)
			return err_prefix(err, "--certificate-authority");
	}
	if (opts->token != NULL) {
		for (const char *p = opts->token; *p || p == opts->token; p++) {
			if (*p <= ' ' || *p > '~')
				return err_set(err, ERR_ARG_INVALID,
					"--token must be printable ASCII without spaces");
		}
		x_free_secret(c->token);
		free(c->token_file);
		c->token_file = NULL;
		c->token = x_strdup(opts->token);
	}
	if (opts->as != NULL) {
		if (!opts->as[0] || !kube_is_header_value(opts->as))
			return err_set(err, ERR_ARG_INVALID, "--as needs a user name");
		free(c->as);
		c->as = x_strdup(opts->as);
	}
	for (size_t i = 0; opts->as_groups != NULL && opts->as_groups[i] != NULL; i++) {
		if (!kube_is_header_value(opts->as_groups[i]))
			return err_set(err, ERR_ARG_INVALID, "--as-group needs a group name");
		c->as_groups =
			x_realloc(c->as_groups, c->n_as_groups + 1, sizeof *c->as_groups);
		c->as_groups[c->n_as_groups++] = x_strdup(opts->as_groups[i]);
	}
	if (c->n_as_groups > 0 && c->as == NULL)
		return err_set(err, ERR_ARG_INVALID, "--as-group needs --as");
	return true;
}

static bool finish(struct kube_config *config, struct err *err)
{
	if (config->namespace_ == NULL || !config->namespace_[0]) {
		free(config->namespace_);
		config->namespace_ = x_strdup("default");
	}
	char *host;
	int port;
	if (config->server == NULL)
		return err_set(err, ERR_CONFIG_KUBECONFIG, "the cluster has no server");
	if (strstr(config->server, "://") == NULL) { /* kubectl adds it too */
		char *full = x_asprintf("https://%s", config->server);
		free(config->server);
		config->server = full;
	}
	size_t n = strlen(config->server);
	while (n > 0 && config->server[n - 1] == '/')
		config->server[--n] = '\0';
	if (!kube_is_header_value(config->server) || strpbrk(config->server, " ?#") != NULL ||
		!kube_url_split(config->server, &host, &port))
		return err_set(err, ERR_CONFIG_KUBECONFIG,
			"server '%s' is not an http:// or https:// URL", config->server);
	free(host);
	if (config->proxy == NULL)
		config->proxy = kube_proxy_from_env(config->server);
	if (strncasecmp(config->server, "https:", 6) != 0) {
		config->insecure = false;
		return true;
	}
	const struct net_tls_opts tls = {
		.ca_pem = config->ca_pem,
		.client_cert_pem = config->credentials.cert_pem,
		.client_key_pem = config->credentials.key_pem,
		.server_name = config->tls_server_name,
		.insecure = config->insecure,
	};
	config->tls = net_tls_new(&tls, err);
	if (config->tls != NULL)
		return true;
	if (err != NULL)
		err->code = ERR_CONFIG_KUBECONFIG;
	return err_prefix(err, "TLS settings of %s", config->server);
}

static bool load(
	struct kube_config *config, const struct kube_config_opts *opts, struct err *err)
{
	struct kube_merged merged = { 0 };
	bool ok = false;
	if (opts->in_cluster) {
		ok = kube_in_cluster_read(config, err);
		goto out;
	}
	if (!kube_merged_read(&merged, opts, err))
		goto out;
	for (const struct kube_entry *entry = merged.contexts; entry; entry = entry->next) {
		config->contexts = x_realloc(
			config->contexts, config->n_contexts + 1, sizeof *config->contexts);
		config->contexts[config->n_contexts++] = x_strdup(entry->name);
	}
	bool is_empty = merged.contexts == NULL && merged.clusters == NULL &&
			merged.users == NULL && merged.current_context == NULL;
	if (!is_empty || opts->kubeconfig || opts->context || opts->cluster || opts->server) {
		ok = read_context(config, &merged, opts, err);
		goto out;
	}
	if (kube_in_cluster_exists()) {
		ok = kube_in_cluster_read(config, err);
		goto out;
	}
	err_set(err, ERR_CONFIG_NONE, "no Kubernetes configuration found%s%s%s",
		merged.missing ? ": " : "", merged.missing ? merged.missing : "",
		merged.missing ? " does not exist" : "");
out:
	kube_merged_deinit(&merged);
	return ok;
}

struct kube_config *kube_config_load(const struct kube_config_opts *opts, struct err *err)
{
	struct kube_config *config = x_calloc(1, sizeof *config);
	config->refs = 1;
	config->extensions = cJSON_CreateObject();
	config->request_timeout_ms = opts->request_timeout_ms;
	config->plugins = opts->plugins;
	config->file = x_strdup(opts->kubeconfig);
	config->is_pointed = opts->server || opts->cluster || opts->user || opts->token ||
			     opts->certificate_authority || opts->in_cluster;
	if (load(config, opts, err) && apply_flags(config, opts, err) && finish(config, err))
		return config;
	kube_config_unref(config);
	return NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool is_same_but_for_its_address(
	const struct kube_config *a, const struct kube_config *b)
{
	const struct kube_credentials *ours = &a->credentials, *theirs = &b->credentials;
	return is_same(a->ca_pem, b->ca_pem) &&
	       is_same(a->tls_server_name, b->tls_server_name) && is_same(a->user, b->user) &&
	       is_same(ours->token, theirs->token) &&
	       is_same(ours->token_file, theirs->token_file) &&
	       is_same(ours->cert_pem, theirs->cert_pem) &&
	       is_same(ours->key_pem, theirs->key_pem) && a->insecure == b->insecure &&
	       (a->tls == NULL) == (b->tls == NULL);
}

bool kube_config_follow(struct kube_config *config)
{
	const struct kube_config_opts opts = { .kubeconfig = config->file,
		.context = config->context };
	if (config->is_pointed)
		return false;
	struct kube_config *now = kube_config_load(&opts, NULL);
	bool is_moved = now != NULL && !is_same(now->server, config->server) &&
			is_same_but_for_its_address(now, config);
	if (is_moved) {
		free(config->server);
		config->server = x_strdup(now->server);
	}
	kube_config_unref(now);
	return is_moved;
}

struct kube_config *kube_config_ref(struct kube_config *config)
{
	config->refs++;
	return config;
}

void kube_config_unref(struct kube_config *config)
{
	if (config == NULL || --config->refs > 0)
		return;
	if (config->tls != NULL)
		net_tls_unref(config->tls);
	kube_credentials_deinit(&config->credentials);
	free(config->file);
	free(config->server);
	free(config->context);
	free(config->namespace_);
	free(config->user);
	free(config->ca_pem);
	free(config->tls_server_name);
	x_free_secret(config->proxy);
	cJSON_Delete(config->extensions);
	for (size_t i = 0; i < config->n_contexts; i++)
		free(config->contexts[i]);
	free(config->contexts);
	free(config);
}

void kube_config_plugins_may_ask(struct kube_config *config, bool may)
{
	config->plugins.may_ask = may;
}

const char *kube_config_named_file(const struct kube_config *config)
{
	return config->file;
}

const char *kube_config_server(const struct kube_config *config)
{
	return config->server;
}

const char *kube_config_context(const struct kube_config *config)
{
	return config->context;
}

const char *kube_config_namespace(const struct kube_config *config)
{
	return config->namespace_;
}

const char *kube_config_user(const struct kube_config *config)
{
	return config->user;
}

bool kube_config_is_insecure(const struct kube_config *config)
{
	return config->insecure;
}

struct net_tls *kube_config_tls(const struct kube_config *config)
{
	return config->tls;
}

const char *kube_config_proxy(const struct kube_config *config)
{
	return config->proxy;
}

const struct cJSON *kube_config_extension(const struct kube_config *config, const char *name)
{
	return json_get(config->extensions, name, NULL);
}

const char **kube_config_contexts(const struct kube_config *config)
{
	const char **names = x_calloc(config->n_contexts + 1, sizeof *names);
	for (size_t i = 0; i < config->n_contexts; i++)
		names[i] = config->contexts[i];
	return names;
}
