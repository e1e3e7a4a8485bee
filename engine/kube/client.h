// SPDX-License-Identifier: Apache-2.0
/* Calls to the Kubernetes API server: credentials, JSON, Status errors (kube.* codes), retries of reads,
 * clock skew. Knows nothing about sandboxes.
 * Errors: ERR_CONFIG_EXEC_PLUGIN, ERR_INTERNAL, ERR_KUBE_PROTOCOL, ERR_OP_READ_ONLY, those of engine/k8s/status.h,
 * those of engine/kube/request.h, those of engine/kube/status.h, those of engine/net/dial.h. */
#pragma once

#include "engine/base/str.h"
#include "engine/kube/dry_run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cJSON;
struct err;
struct net_http;
struct k8s_resource;
struct kube_client;
struct kube_config;
struct net_loop;

struct kube_client_opts {
	struct kube_config *config; /* ref'd */
	bool read_only; /* every call that is not GET/HEAD (reviews excepted): ERR_OP_READ_ONLY */
	enum kube_dry_run dry_run;
	kube_write_fn *on_write; /* where the writes of a dry run go; NULL: nowhere */
	void *on_write_arg;
	const char *user_agent; /* "sandmux/<version>" */
	int64_t watch_idle_ms; /* a watch silent for so long is deaf; 0: 90 s (bookmarks come each minute) */
};
/* Errors: ERR_INTERNAL (no configuration). */
struct kube_client *kube_client_new(struct net_loop *loop, struct net_http *http,
	const struct kube_client_opts *opts, struct err *err);
bool kube_client_is_logging_in(
	const struct kube_client *client);                      /* an exec plugin is at work */
int64_t kube_client_login_ms(const struct kube_client *client); /* for so long, in all */
bool kube_client_is_dry_run(const struct kube_client *client);  /* nothing is changed */
void kube_client_free(struct kube_client *client);
const struct kube_config *kube_client_config(const struct kube_client *client);
/* Server time minus ours, ms, from the last Date header; 0 before the first answer. */
int64_t kube_client_clock_skew_ms(const struct kube_client *client);
int64_t kube_client_watch_idle_ms(const struct kube_client *client); /* 0: the default */

struct kube_call_opts {
	const char *method; /* GET POST PUT PATCH DELETE */
	const char
		*path; /* "/api/v1/namespaces/x/pods"; segments already safe, see kube_path() */
	const char *query;        /* already encoded, without '?', or NULL */
	const char *content_type; /* NULL: application/json */
	const char *accept;       /* NULL: application/json */
	struct slice body;        /* copied */
	int64_t timeout_ms;       /* 0: 10 s */
	const char *traceparent;
	/* Errors: ERR_KUBE_*, ERR_OP_TIMEOUT, ERR_CONFIG_EXEC_PLUGIN; object is the decoded answer (also a Status on failure), borrowed, may be NULL. */
	void (*done)(void *arg, const struct err *err, const struct cJSON *object);
	void *arg;
};
struct kube_call;
/* Errors: ERR_OP_READ_ONLY. */
struct kube_call *kube_call_start(
	struct kube_client *client, const struct kube_call_opts *opts, struct err *err);
void kube_call_cancel(struct kube_call *call);

/* A resource: where it is served. Constants for those we use are in kube/resources.h. */
/* Path of a collection (name NULL) or object, percent-encoded; namespace_ NULL or "" = all namespaces.
 * subresource may be NULL. free(). */
char *kube_path(const struct k8s_resource *resource, const char *namespace_, const char *name,
	const char *subresource);
/* Adds &key=value (encoded) to a query being built. */
void kube_query_add(struct str *query, const char *key, const char *value);
