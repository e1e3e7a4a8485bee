// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/kube/client.h"
#include "engine/kube/request.h"

struct kube_bucket { /* tokens may go below zero: that is a queue */
	double tokens, per_second, burst;
	int64_t last_ms;
};

struct kube_client {
	struct net_loop *loop;
	struct net_http *http;
	struct kube_config *config;
	struct kube_auth *auth;
	char *user_agent;
	bool read_only;
	enum kube_dry_run dry_run;
	kube_write_fn *on_write;
	void *on_write_arg;
	int64_t watch_idle_ms;
	int64_t no_streams_until_ms; /* monotonic */
	int64_t clock_skew_ms;
	bool has_skew;
	uint64_t pool_key, tls_generation;
	char lane[64];
	struct kube_bucket person, background;
	struct kube_request *requests;
	struct kube_call *calls;
};

/* ms to wait before a request of that class may go. */
int64_t kube_client_rate_limit(struct kube_client *client, enum kube_rate rate);
/* Date, Warning and Audit-Id of an answer. */
void kube_client_note_reply(struct kube_client *client, const char *what,
	const struct net_http_reply *reply, int64_t sent_wall_ms);
const char *kube_client_lane(struct kube_client *client);
bool kube_client_may(const struct kube_client *client, const char *method, const char *path,
	struct err *err);
