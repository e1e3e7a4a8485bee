// SPDX-License-Identifier: Apache-2.0
/* Inside of kube_config, for the files of this room only. Everything here may be secret. */
#pragma once

#include "engine/base/json.h"
#include "engine/kube/config.h"

enum { KUBE_CONFIG_MAX_BYTES = 64 << 20, KUBE_TOKEN_MAX_BYTES = 64 << 10 };

struct kube_pair {
	char *key, *value;
};

enum kube_interactive {
	KUBE_INTERACTIVE_NEVER,
	KUBE_INTERACTIVE_IF_AVAILABLE,
	KUBE_INTERACTIVE_ALWAYS
};

/* users[].user.exec, checked. */
struct kube_exec_spec {
	char *api_version;
	char *command;
	char **args; /* NULL-terminated, without the command */
	struct kube_pair *env;
	size_t n_env;
	char *install_hint;
	enum kube_interactive interactive;
	char *cluster_info; /* JSON of spec.cluster, or NULL without provideClusterInfo */
};

struct kube_credentials {
	char *token, *token_file; /* the file beats the token */
	char *username, *password;
	char *cert_pem, *key_pem;
	char *as, *as_uid;
	char **as_groups;
	size_t n_as_groups;
	struct kube_pair *as_extra;
	size_t n_as_extra;
	struct kube_exec_spec *exec;
};

struct kube_config {
	int refs;
	char *file;      /* --kubeconfig; NULL: not given */
	bool is_pointed; /* options name the server, the cluster or the user */
	char *server, *context, *namespace_, *user;
	char *ca_pem, *tls_server_name, *proxy;
	bool insecure, disable_compression;
	int64_t request_timeout_ms;
	struct kube_plugin_host plugins;
	struct net_tls *tls;
	struct kube_credentials credentials;
	cJSON *extensions; /* name -> tree */
	char **contexts;
	size_t n_contexts;
};

/* ---- config_file.c: kubeconfig files, merged by name */
struct kube_entry { /* one named cluster, user or context */
	char *name;
	const cJSON *value; /* in the file's tree */
	const struct kube_file *file;
	struct kube_entry *next;
};
struct kube_file {
	char *path, *dir;
	cJSON *tree;
	struct kube_file *next;
};
struct kube_merged {
	struct kube_file *files;
	struct kube_entry *clusters, *users, *contexts;
	char *current_context; /* or NULL */
	char *missing;         /* a file that was named and is not there; the first, or NULL */
};
/* paths: must they exist? A missing file is skipped unless must_exist. */
bool kube_merged_add(
	struct kube_merged *merged, const char *path, bool must_exist, struct err *err);
/* config.c: the file of the options, else KUBECONFIG's, else ~/.kube/config */
bool kube_merged_read(
	struct kube_merged *merged, const struct kube_config_opts *opts, struct err *err);
void kube_merged_deinit(struct kube_merged *merged);
const struct kube_entry *kube_entry_find(const struct kube_entry *list, const char *name);
/* A string field of an entry: *out NULL if absent; ERR_CONFIG_KUBECONFIG if it is something else. */
bool kube_entry_str(const struct kube_entry *entry, const cJSON *object, const char *field,
	const char **out, struct err *err);
bool kube_entry_bool(
	const struct kube_entry *entry, const char *field, bool *out, struct err *err);
/* Content of `<field>-data` (base64) or of the file `<field>`; *out NULL if neither. */
bool kube_entry_pem(
	const struct kube_entry *entry, const char *field, char **out, struct err *err);
/* path as seen from the file that names it; free() */
char *kube_entry_path(const struct kube_entry *entry, const char *path);
bool kube_entry_fail(const struct kube_entry *entry, const char *field, struct err *err,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- config_user.c */
bool kube_user_read(struct kube_credentials *out, const struct kube_entry *user,
	const struct kube_entry *cluster, struct err *err);
void kube_credentials_deinit(struct kube_credentials *credentials);
/* A header value must not smuggle another header in: printable, no control bytes. */
bool kube_is_header_value(const char *text);

/* ---- config_in_cluster.c: the service account of the pod we run in */
bool kube_in_cluster_exists(void);
bool kube_in_cluster_read(struct kube_config *config, struct err *err);

/* ---- config_proxy.c */
/* The environment's proxy for that server URL, by HTTPS_PROXY / HTTP_PROXY / NO_PROXY; NULL: none. free() */
char *kube_proxy_from_env(const char *server);
/* A proxy-url as libcurl wants it (socks5 resolves at the proxy, as Go does); NULL if the scheme is
 * unknown. free() */
char *kube_proxy_normalize(const char *url);
/* Host and port of an http(s) URL; port 0 if none stands there. False if it is no such URL. */
bool kube_url_split(const char *url, char **host, int *port);
bool kube_host_is_loopback(const char *host);
