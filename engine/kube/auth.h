// SPDX-License-Identifier: Apache-2.0
/* The credentials of one client, as request headers and TLS settings: fixed ones, a token file that is read again
 * every minute, or an exec plugin. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct net_http_header;
struct kube_auth;
struct kube_config;
struct net_loop;
struct net_tls;

struct kube_auth *kube_auth_new(struct net_loop *loop, struct kube_config *config);
void kube_auth_free(struct kube_auth *auth);

/* Waits until credentials are at hand. kube_auth_is_ready() saves the wait where it can. done comes once, never from
 * inside. Errors: ERR_CONFIG_EXEC_PLUGIN. */
bool kube_auth_is_logging_in(const struct kube_auth *auth); /* a plugin is at work */
int64_t kube_auth_login_ms(const struct kube_auth *auth);   /* it has been, in all */
bool kube_auth_is_ready(const struct kube_auth *auth);
struct kube_auth_wait;
struct kube_auth_wait *kube_auth_wait_start(
	struct kube_auth *auth, void (*done)(void *arg, const struct err *err), void *arg);
void kube_auth_wait_cancel(struct kube_auth_wait *wait);

enum { KUBE_AUTH_MAX_HEADERS = 260 };
/* Fills out with headers whose strings live until the next call; returns their number. */
size_t kube_auth_headers(struct kube_auth *auth, struct net_http_header *out, size_t max);
struct net_tls *kube_auth_tls(struct kube_auth *auth); /* borrowed; NULL for http servers */
/* Rises whenever the client certificate changes: connections of the old one are to be left. */
uint64_t kube_auth_tls_generation(const struct kube_auth *auth);
/* Rises with every new credential. */
uint64_t kube_auth_generation(const struct kube_auth *auth);
/* The server said 401 to the credential of that generation. True: another one is there or can be had,
 * repeat once (after kube_auth_wait_start if not ready). */
bool kube_auth_rejected(struct kube_auth *auth, uint64_t generation);
