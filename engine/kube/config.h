// SPDX-License-Identifier: Apache-2.0
/* Where the cluster is and who we are: kubeconfig files and the in-cluster service account, read once
 * and frozen (a reload is an action). Sources and precedence: KUBECONFIG (list, merged: the first file that
 * defines a name wins), else ~/.kube/config, else in-cluster; flags override. Source: Kubernetes
 * client-go clientcmd v1 Config.
 * Errors: ERR_ARG_INVALID, ERR_CONFIG_KUBECONFIG, ERR_CONFIG_NONE, those of engine/base/file.h, those of
 * engine/net/dial.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct err;
struct net_tls;

/* What an exec plugin finds here. All zero: nobody to ask, nobody who listens. */
struct kube_plugin_host {
	/* A plugin that wants to ask may use our stdin and stderr, if they are a terminal, for as long as it likes. */
	bool may_ask;
	/* What is being waited for: our words after a second, or a line that the plugin wrote to its stderr. Foreign text. */
	void (*say)(void *arg, const char *text);
	void *arg;
};

struct kube_config_opts {
	/* every field may be NULL / false: not given on the command line */
	const char *kubeconfig; /* one file, overrides KUBECONFIG */
	const char *context;
	const char *cluster;
	const char *user;
	const char *namespace_;
	const char *server;
	const char *certificate_authority;
	const char *token;
	const char *as;
	const char *const *as_groups; /* NULL-terminated */
	bool insecure_skip_tls_verify;
	bool in_cluster;
	int64_t request_timeout_ms; /* 0: default */
	struct kube_plugin_host plugins;
};

struct kube_config;
/* Errors: ERR_CONFIG_NONE (no configuration at all), ERR_CONFIG_KUBECONFIG (names file and field), ERR_ARG_INVALID (an
 * option). */
struct kube_config *kube_config_load(const struct kube_config_opts *opts, struct err *err);
/* Reads its files again: true if the server has another address there, all else (context, certificates, credentials) being
 * the same: then it has it here too. For a backend that may choose its port anew when it starts. */
bool kube_config_follow(struct kube_config *config);
struct kube_config *kube_config_ref(struct kube_config *config);
void kube_config_unref(struct kube_config *config);
void kube_config_plugins_may_ask(struct kube_config *config, bool may); /* from now */

/* Borrowed until unref. */
const char *kube_config_named_file(const struct kube_config *config); /* kubeconfig; or NULL */
const char *kube_config_server(const struct kube_config *config);     /* no trailing '/' */
const char *kube_config_context(const struct kube_config *config);    /* "" in-cluster */
const char *kube_config_namespace(const struct kube_config *config);  /* never "" */
const char *kube_config_user(const struct kube_config *config);
bool kube_config_is_insecure(const struct kube_config *config);
struct net_tls *kube_config_tls(const struct kube_config *config); /* NULL for http servers */
const char *kube_config_proxy(const struct kube_config *config);   /* or NULL */
/* The context's extension of that name as a JSON tree, or NULL ("sandmux": connectivity, daemon-token-file,
 * local). */
const struct cJSON *kube_config_extension(const struct kube_config *config, const char *name);
/* Names of all contexts, NULL-terminated array; free() the array only. */
const char **kube_config_contexts(const struct kube_config *config);
