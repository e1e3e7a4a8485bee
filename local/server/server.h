// SPDX-License-Identifier: Apache-2.0
/* The local backend as one object: store, API over TLS, controllers, and the sandboxes themselves. */
#pragma once

#include "local/server/store/samples.h"
#include "local/server/store/store.h"
#include "local/server/tls.h"

#include <stdbool.h>
#include <stdint.h>

struct controller;
struct err;
struct evhttp;
struct api_guard;
struct net_loop;
struct api_stream;
struct api_upgrade;

struct server_opts {
	const char *state_dir;
	uint16_t port;        /* 0: the one of last time, else a free one */
	bool daemon_auth;     /* each daemon wants its pod's token */
	bool is_isolated;     /* bubblewrap; false only when a person said so */
	const char *sandboxd; /* the daemon's program; NULL: found beside this one */
	size_t history_max;   /* see store_opts */
	int64_t history_ms;
	int64_t bookmark_ms; /* 0: a minute */
	int warm_replicas;   /* of the default pool at first start */
	uint64_t
		disk_floor; /* free bytes that are left to the machine; 0: 1 GiB, or 2 % of a small disk */
};

struct server;

/* Of each daemon. */
enum { SERVER_REST_PORT = 8080, SERVER_GRPC_PORT = 9090 };

/* How the API reaches what runs without knowing the kubelet. uid: of the pod. */
struct server_pods {
	bool (*is_running)(struct server *s, const char *uid);
	/* A socket on its way to a port of the pod's daemon; -1 with *err: ERR_CONN_REFUSED (it does not run, or this is no port
	 * of its daemon), errno. */
	int (*connect)(struct server *s, const char *uid, uint16_t port, struct err *err);
	/* What its daemon wants as a bearer token; free with x_free_secret(). */
	char *(*token)(struct server *s, const char *uid, struct err *err);
};

struct server {
	struct net_loop *loop;
	struct server_opts opts;
	struct store *store;
	struct store_samples samples; /* what pods use */
	struct server_local_tls tls;
	struct evhttp *http;
	struct api_guard *guard;      /* of its connections */
	struct api_stream *streams;   /* watches and followed logs in progress */
	struct api_upgrade *upgrades; /* port-forwards and executions */
	size_t n_upgrades;
	const struct server_pods *pods; /* NULL: nothing runs */
	struct controller *controller;
	void (*on_news)(struct server *s); /* wakes those who follow; NULL: nobody does */
	uint16_t port;
	char *token;      /* of the API; never logged */
	char *kubeconfig; /* path */
};

/* What is true of network policies here, in words. */
static inline const char *server_network_words(const struct server *s)
{
	return s->opts.is_isolated
		       ? "a local sandbox has no network at all, so nothing that egress allows is"
			 " reached, and what ingress names does not matter: programs of this"
			 " machine reach the ports of its daemon"
		       : "without isolation a sandbox uses this machine's network";
}

/* An object or a log has changed: how the controllers reach the watches without knowing the API. */
static inline void server_tell(struct server *s)
{
	if (s->on_news)
		s->on_news(s);
}

/* Opens everything, starts serving and starts the sandboxes that should run. Blocking (before the
 * loop runs). */
struct server *server_start(
	struct net_loop *loop, const struct server_opts *opts, struct err *err);
/* Ends watches, stops daemons (TERM, then KILL), closes the store. done is called once, when all
 * have ended. */
void server_stop(struct server *s, void (*done)(void *arg), void *arg);
void server_free(struct server *s);
