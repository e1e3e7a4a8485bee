// SPDX-License-Identifier: Apache-2.0
/* The certificate authority of one local backend and the certificate that it serves, both EC P-256, kept in
 * a folder of the state directory (private keys 0600). Made at first start, and the served one again when
 * it is about to expire. */
#pragma once

#include <stdbool.h>

struct err;

struct server_local_tls {
	void *ctx;    /* SSL_CTX *, server side, ALPN http/1.1 */
	char *ca_pem; /* what a kubeconfig needs */
};
bool server_local_tls_open(struct server_local_tls *tls, const char *dir, struct err *err);
void server_local_tls_close(struct server_local_tls *tls);
